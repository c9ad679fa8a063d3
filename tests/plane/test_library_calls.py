"""Which operations are part of which call of a library, and what the call asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from digests import IOR, scenarios
from hypothesis import given
from hypothesis import strategies as st

from xc40io.plane.batch import Batch
from xc40io.plane.library_calls import ALONE, OWN, LibraryCall, LibraryOp, Pieces
from xc40io.plane.operations import Op
from xc40io.run.recording import Recording
from xc40io.run.result import Result
from xc40io.run.simulate import simulate

PROGRAMS = np.array([40, 50, 60, 70])

pieces = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 1000), st.integers(1, 50)), max_size=12
)


def call_of(listed: list[tuple[int, int, int]], *, collective: bool) -> LibraryCall:
    """Return a write of all programs, of (member, offset, length)."""
    columns = np.array(sorted(listed), np.int64).reshape(-1, 3).T
    return LibraryCall(LibraryOp.WRITE, 7, np.arange(4), collective, Pieces(*columns))


@given(pieces, st.booleans())
def test_parts_have_what_each_program_asked_for(
    listed: list[tuple[int, int, int]], collective: bool
) -> None:
    parts = call_of(listed, collective=collective).parts(PROGRAMS, 3)
    asked = {member for member, _, _ in listed}
    members = range(4) if collective else sorted(asked)
    assert parts["program"].tolist() == [int(PROGRAMS[member]) for member in members]
    for part, member in zip(parts, members, strict=True):
        mine = [(offset, length) for owner, offset, length in listed if owner == member]
        assert part["pieces"] == len(mine)
        assert part["bytes"] == sum(length for _, length in mine)
        assert part["offset"] == min((offset for offset, _ in mine), default=0)
        assert (part["tag"], part["file"], part["collective"]) == (3, 7, collective)


def test_a_call_that_others_repeat_is_on_files_of_their_own() -> None:
    one = LibraryCall(
        LibraryOp.READ, 7, np.array([0]), True, Pieces(*np.array([[0, 0], [10, 90], [5, 6]]))
    )
    parts = one.repeated(np.arange(4), np.array([7, 8, 9, 10])).parts(PROGRAMS, 1)
    assert parts["file"].tolist() == [7, 8, 9, 10]
    assert parts["bytes"].tolist() == [11] * 4
    assert parts["offset"].tolist() == [10] * 4
    assert parts["pieces"].tolist() == [2] * 4


def test_operations_added_within_a_call_have_its_tag() -> None:
    batch = Batch(PROGRAMS)
    batch.add(Op.OPEN, file=1)
    for _ in range(2):
        with batch.calling(call_of([], collective=True)):
            batch.add(Op.WORK, np.array([2, 3]), seconds=1.0)
    with batch.calling():
        batch.add(Op.FSYNC, np.array([3]), file=1)
    batch.add(Op.CLOSE, np.array([3]), file=1)
    operations, bounds = batch.listing()
    tags = np.split(operations["tag"], bounds[1:-1])
    assert [part.tolist() for part in tags] == [
        [OWN],
        [OWN],
        [OWN, 1, 2],
        [OWN, 1, 2, ALONE, OWN],
    ]


OVER_MPI = [name for name, case in IOR.items() if "MPIIO" in str(case)]
SCENARIOS = dict(scenarios())


@pytest.fixture(scope="module", params=OVER_MPI)
def recorded(request: pytest.FixtureRequest) -> Result:
    return simulate(SCENARIOS[request.param], record=True)


def recording_of(result: Result) -> Recording:
    assert result.recording is not None
    return result.recording


def asked(recording: Recording, op: LibraryOp, plain: Op) -> int:
    """Return the bytes that ranks asked MPI-IO for."""
    parts, calls = recording.library_calls, recording.calls
    single: Any = calls[(calls["tag"] == ALONE) & (calls["op"] == plain)]
    return int(parts["bytes"][parts["op"] == op].sum() + single["bytes"].sum())


def test_library_calls_ask_for_what_the_phases_have_moved(recorded: Result) -> None:
    recording = recording_of(recorded)
    for phase, op, plain in (
        ("write", LibraryOp.WRITE, Op.WRITE),
        ("read", LibraryOp.READ, Op.READ),
    ):
        moved = sum(row.bytes for row in recorded.rows if row.phase == phase)
        assert asked(recording, op, plain) == moved


def test_the_operations_of_a_call_lie_between_those_before_and_after(recorded: Result) -> None:
    calls = recording_of(recorded).calls
    tagged = calls[calls["tag"] > 0]
    order = np.lexsort((tagged["start"], tagged["program"]))
    program, tag = tagged["program"][order], tagged["tag"][order]
    same = program[1:] == program[:-1]
    assert (tag[1:][same] >= tag[:-1][same]).all()


def test_every_tag_is_that_of_a_call(recorded: Result) -> None:
    recording = recording_of(recorded)
    tags = set(np.unique(recording.calls["tag"]).tolist()) - {OWN, ALONE}
    assert tags <= set(recording.library_calls["tag"].tolist())
