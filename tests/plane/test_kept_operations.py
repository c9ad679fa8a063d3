"""Operations that are done are forgotten; programs find all others where they are told."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from xc40io.engine.types import Table, make_table
from xc40io.plane.operations import OPERATION, Op, keep_operations
from xc40io.plane.programs import PROGRAM


class Progress(NamedTuple):
    """Where a program is among its operations, counted from the first."""

    count: int
    loop: int  # after its latest MARK
    timed: int | None
    op: int
    active: bool


@st.composite
def progresses(draw: st.DrawFn) -> Progress:
    count = draw(st.integers(1, 6))
    op = draw(st.integers(0, count))
    loop = draw(st.integers(0, op))
    timed = draw(st.none() | st.integers(loop, min(op, count - 1)) if loop < count else st.none())
    return Progress(count, loop, timed, op, draw(st.booleans()))


def tables_of(programs: list[Progress], *, repeats: bool) -> tuple[Table, Table]:
    """Return the programs, and their operations one behind the other: each has its own timer."""
    rows = PROGRAM.table(len(programs))
    total = sum(program.count for program in programs)
    operations = make_table(OPERATION, total)
    operations.kind = Op.THINK
    operations.timer = range(total)
    operations.kind[total - 1 :] = Op.REPEAT if repeats else Op.THINK
    first = 0
    for row, program in zip(rows, programs, strict=True):
        row.active, row.op, row.loop = program.active, first + program.op, first + program.loop
        row.timed = -1 if program.timed is None else first + program.timed
        first += program.count
        row.stop = first
    return rows, operations


def seen(programs: Table, operations: Table, *, repeats: bool) -> list[list[int]]:
    """Return what active programs may still look at: what they are timed at, and what follows."""
    looks = []
    for program in programs[programs.active == 1]:
        begin = program.loop if repeats else program.op
        timed = operations.timer[program.timed] if program.timed >= 0 else -1
        looks.append([int(timed), *operations.timer[begin : program.stop].tolist()])
        looks.append(operations.timer[program.op : program.stop].tolist())
    return looks


@given(st.lists(progresses(), max_size=5), st.booleans())
def test_programs_go_on_as_if_nothing_had_been_dropped(
    progress: list[Progress], repeats: bool
) -> None:
    programs, operations = tables_of(progress, repeats=repeats)
    before = seen(programs, operations, repeats=repeats)
    rows = keep_operations(programs, operations)
    assert seen(programs, operations[rows], repeats=repeats) == before


@given(st.lists(progresses(), max_size=5), st.booleans())
def test_what_nobody_looks_at_again_is_dropped(progress: list[Progress], repeats: bool) -> None:
    programs, operations = tables_of(progress, repeats=repeats)
    wanted = sum(
        one.count - (one.loop if repeats else one.op if one.timed is None else one.timed)
        for one in progress
        if one.active
    )
    rows = keep_operations(programs, operations)
    assert len(set(rows.tolist())) == len(rows) == wanted
