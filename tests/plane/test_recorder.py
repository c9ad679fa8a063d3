"""What is recorded of whatever programs do: it agrees with what the tables have counted."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plans import Plan, plans
from small_plane import RPC, SmallPlane, Step

from xc40io.plane import recorder
from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op
from xc40io.plane.recorder import LOGS, Records

some = settings(max_examples=40)
anything = plans(Op.READ, Op.WRITE, Op.FSYNC, Op.STAT, Op.THINK, Op.OPEN)
SIZE = 1 << 20  # of the files at first


def recorded(plan: Plan, *, direct: bool = False) -> tuple[SmallPlane, dict[str, Records]]:
    """Run the programs of a plan; return the plane and what it has recorded."""
    plane = plan.plane(size=SIZE, direct=direct, record=True)
    plane.run(plan.programs)
    logs = plane.plane.take_records()
    assert logs is not None
    return plane, logs


@some
@given(anything, st.booleans())
def test_every_operation_has_its_records(plan: Plan, direct: bool) -> None:
    _, logs = recorded(plan, direct=direct)
    for number, program in enumerate(plan.programs):
        mine = logs["calls"][logs["calls"]["program"] == number]
        mine = mine[np.argsort(mine["start"], kind="stable")]
        expected = [(step.kind, step.file) for step in program for _ in range(step.count)]
        files = [file if kind != Op.THINK else -1 for kind, file in expected]
        assert mine["op"].tolist() == [kind for kind, _ in expected]
        assert mine["file"].tolist() == files
        assert all(one["end"] <= other["start"] for one, other in pairwise(mine))
    written = logs["calls"]["bytes"][logs["calls"]["op"] == Op.WRITE]
    assert written.sum() == plan.written()


@some
@given(anything, st.booleans())
def test_logs_have_what_was_counted(plan: Plan, direct: bool) -> None:
    plane, logs = recorded(plan, direct=direct)
    _, rpcs, moved = plane.plane.counts.tolist()
    assert (len(logs["rpcs"]), logs["rpcs"]["bytes"].sum()) == (rpcs, moved)
    assert np.isfinite(logs["rpcs"]["ended"]).all(), "the plane is at rest"
    locks = logs["locks"]
    assert len(locks) == plane.stat(Stat.ENQUEUES)
    assert np.isfinite(locks["returned"]).sum() == plane.stat(Stat.CANCELS)
    glimpses = np.count_nonzero(logs["requests"]["kind"] == 4)
    assert glimpses == plane.stat(Stat.GLIMPSES)


@some
@given(anything, st.booleans())
def test_spans_of_a_program_follow_each_other_and_sum_to_its_waits(
    plan: Plan, direct: bool
) -> None:
    plane, logs = recorded(plan, direct=direct)
    spans, waits = logs["spans"], plane.tables.programs.waits
    summed = np.zeros_like(waits)
    np.add.at(summed, (spans["cause"], spans["program"]), spans["until"] - spans["since"])
    np.testing.assert_allclose(summed, waits, rtol=1e-9, atol=1e-14)
    order = np.lexsort((spans["since"], spans["program"]))
    for one, other in pairwise(spans[order]):
        assert one["program"] < other["program"] or one["until"] <= other["since"] + 1e-12


@some
@given(anything, st.sampled_from([1, 3, 70]))
def test_how_often_logs_are_put_aside_changes_nothing(plan: Plan, rows: int) -> None:
    _, whole = recorded(plan)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(recorder, "_LOG_ROWS", rows)
        _, pieces = recorded(plan)
    for name in LOGS:
        np.testing.assert_array_equal(pieces[name], whole[name])


@given(anything)
@settings(max_examples=20)
def test_what_is_recorded_is_what_happens_anyway(plan: Plan) -> None:
    plain = plan.plane(size=SIZE)
    plain.run(plan.programs)
    recording, _ = recorded(plan)
    np.testing.assert_array_equal(recording.tables.programs.waits, plain.tables.programs.waits)
    np.testing.assert_array_equal(recording.plane.counts, plain.plane.counts)
    np.testing.assert_array_equal(recording.plane.stats, plain.plane.stats)
    assert recording.plane.now == plain.plane.now
    assert plain.plane.take_records() is None


def test_many_operations_of_one_event_all_have_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads behind the end of a file take no time but the question where that is."""
    monkeypatch.setattr(recorder, "_LOG_ROWS", 1)
    plane = SmallPlane(1, 1, record=True)
    (file,) = plane.add_files(size=RPC)
    read = Step(Op.READ, file, 0, RPC, 1)
    nothing = Step(Op.UNTIL, seconds=0.0)  # past: no event comes between
    plane.run([[read, *[nothing] * 5000, read]])
    logs = plane.plane.take_records()
    assert logs is not None
    assert len(logs["calls"]) == 5002
    assert np.count_nonzero(logs["calls"]["op"] == Op.UNTIL) == 5000


def test_the_time_of_an_operation_is_its_own() -> None:
    plane = SmallPlane(1, 1, record=True)
    plane.run([[Step(Op.THINK, seconds=0.25), Step(Op.WORK, seconds=0.5)]])
    logs = plane.plane.take_records()
    assert logs is not None
    calls, spans = logs["calls"], logs["spans"]
    assert calls["op"].tolist() == [Op.THINK, Op.WORK]
    assert (calls["end"] - calls["start"]).tolist() == [0.25, 0.5]
    assert spans["since"].tolist() == calls["start"].tolist()
    assert spans["until"].tolist() == calls["end"].tolist()
