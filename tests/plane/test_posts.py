"""Programs that work side by side: they tell each other how far they are, and share cores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_plane import KIB, Program, SmallPlane, Step

from xc40io.plane.causes import Cause
from xc40io.plane.operations import Op

seconds = st.integers(0, 50).map(lambda ticks: ticks / 1024)


@given(st.lists(st.tuples(seconds, seconds), min_size=1, max_size=12), st.integers(1, 4))
def test_a_reader_ahead_by_a_depth_goes_by_the_recurrence(items, depth):
    reader: list[Step] = []
    rank: list[Step] = []
    loaded, taken, used = [0.0], [], [0.0]
    for number, (load, use) in enumerate(items):
        reader += [
            Step(Op.AWAIT, program=0, count=max(number - depth + 1, 0)),
            Step(Op.THINK, seconds=load),
            Step(Op.POST),
        ]
        rank += [
            Step(Op.AWAIT, program=1, count=number + 1),
            Step(Op.POST),
            Step(Op.THINK, seconds=use),
        ]
        begin = max(loaded[-1], taken[number - depth] if number >= depth else 0.0)
        loaded.append(begin + load)
        taken.append(max(loaded[-1], used[-1]))
        used.append(taken[-1] + use)
    plane = SmallPlane(1, 2)
    assert plane.run([rank, reader]).tolist() == [used[-1], loaded[-1]]
    waited = sum(take - before for take, before in zip(taken, used, strict=False))
    assert plane.plane.waited([0]).doing[0, Cause.THREADS] == pytest.approx(waited)


def test_all_who_await_a_count_go_on_when_it_is_there():
    late: Program = [Step(Op.THINK, seconds=0.5), Step(Op.POST), Step(Op.POST)]
    others: list[Program] = [[Step(Op.AWAIT, program=0, count=count)] for count in (2, 1, 0)]
    assert SmallPlane(1, 4).run([late, *others]).tolist() == [0.5, 0.5, 0.5, 0.0]


@pytest.mark.parametrize("shared", [True, False])
@given(st.integers(1, 12), st.integers(1, 64), st.floats(1.0, 2.0))
def test_computing_takes_longer_by_what_others_take_of_its_core(shared, calls, pages, computing):
    """Whatever they do: the core was busy for just as long as the computing was late."""
    plane = SmallPlane(1, 2)
    (file,) = plane.add_files()
    programs = plane.tables.programs
    if shared:
        programs.rows.core[1] = programs.rows.core[0]
    write = Step(Op.WRITE, file, 0, pages * 4 * KIB, calls, pages * 4 * KIB)
    took, wrote = plane.run([[Step(Op.COMPUTE, seconds=computing)], [write]])
    assert wrote < computing, "all of it happens meanwhile"
    stations = programs.network.stations
    busy = float(stations.busy[programs.rows.core[0]])
    assert took - computing == pytest.approx(busy, abs=1e-12)
    alone = float(stations.busy[programs.rows.core[1]])
    assert shared or busy < alone
    waits = plane.plane.waited([0]).doing[0]
    assert waits[Cause.THINK] == computing
    assert waits[Cause.CORE] == pytest.approx(busy, abs=1e-12)


def test_computing_goes_on_until_nothing_more_is_taken():
    """A second writer comes while the first one's time is made up for."""
    plane = SmallPlane(1, 3)
    (file,) = plane.add_files()
    rows = plane.tables.programs.rows
    rows.core[1:] = rows.core[0]
    writes = [Step(Op.WRITE, file, 0, 256 * KIB), Step(Op.WRITE, file, 256 * KIB, 256 * KIB)]
    late = [Step(Op.THINK, seconds=0.1), writes[1]]
    took = plane.run([[Step(Op.COMPUTE, seconds=0.1)], [writes[0]], late])
    busy = plane.tables.programs.network.stations.busy[rows.core[0]]
    assert took[0] == pytest.approx(0.1 + busy)
    first = SmallPlane(1, 3)
    first.add_files()
    rows = first.tables.programs.rows
    rows.core[1:] = rows.core[0]
    alone = first.run([[Step(Op.COMPUTE, seconds=0.1)], [writes[0]]])
    assert 0.1 < alone[0] < took[0]
