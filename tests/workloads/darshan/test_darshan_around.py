"""What ranks did around the calls that DXT recorded: syncs, opens, closes and barriers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.workloads.darshan.call_rows import Rows, join, make_rows, sorted_by_rank, syncs_after
from xc40io.workloads.darshan.module_counters import SHARED, Counters
from xc40io.workloads.darshan.posix_rows import rows_around
from xc40io.workloads.trace import TraceOp, take_rows

RANKS = 3


def record_of(rank: int = SHARED, **values: float) -> Counters:
    """Return one record of POSIX."""
    integers = {name: value for name, value in values.items() if not name.startswith("F_")}
    floats = {name: value for name, value in values.items() if name.startswith("F_")}
    tables = np.array([list(integers.values())], np.int64), np.array([list(floats.values())])
    number, ranks = np.array([1], np.uint64), np.array([rank])
    return Counters.of("POSIX", number, ranks, tables, [*integers, *floats])


def data_of(*calls: tuple[int, TraceOp, float, float]) -> Rows:
    """Return calls of (rank, operation, start, end), sorted by rank and time."""
    rank, op, start, end = (np.array(column) for column in zip(*calls, strict=True))
    rows = make_rows(rank=rank, op=op, start=start, took=end - start, length=8)
    return sorted_by_rank(rows)


@st.composite
def writes(draw: st.DrawFn) -> Rows:
    """Draw reads and writes of some ranks, each rank's one after the other."""
    calls: list[tuple[int, TraceOp, float, float]] = []
    for rank in range(RANKS):
        clock = 0.0
        for _ in range(draw(st.integers(0, 4))):
            clock += draw(st.integers(0, 20)) / 8
            took = draw(st.integers(1, 8)) / 8
            calls.append(
                (rank, draw(st.sampled_from([TraceOp.READ, TraceOp.WRITE])), clock, clock + took)
            )
            clock += took
    return data_of(*(calls or [(0, TraceOp.WRITE, 0.0, 1.0)]))


def of_rank(rows: Rows, rank: int) -> Any:
    mine = take_rows(rows, rows.rank == rank)
    return take_rows(mine, np.argsort(mine.start, kind="stable"))


@given(writes(), st.integers(0, 7), st.integers(0, 64))
def test_syncs_follow_writes_and_take_no_more_than_there_is(
    data: Rows, count: int, eighths: int
) -> None:
    written = data.op == TraceOp.WRITE
    spent = float(data.took[written].sum())
    syncs = join(syncs_after(data, np.arange(RANKS), count, spent + eighths / 8))
    wrote = len(np.unique(data.rank[written]))
    assert len(syncs.rank) == (count if count >= RANKS or wrote else 0)
    assert float(syncs.took.sum()) <= eighths / 8 + 1e-9
    ends = (data.start + data.took)[written]
    for rank, start in zip(syncs.rank.tolist(), syncs.start.tolist(), strict=True):
        mine = ends[data.rank[written] == rank]
        assert start in mine if len(mine) else start == (data.start + data.took).max()


def test_syncs_of_one_file_end_together() -> None:
    data = data_of((0, TraceOp.WRITE, 0, 1), (1, TraceOp.WRITE, 0, 2), (2, TraceOp.WRITE, 0, 3))
    (syncs,) = syncs_after(data, np.arange(3), 3, 6.0 + 6.0)
    assert (syncs.start + syncs.took).tolist() == pytest.approx([4.0] * 3)
    (syncs,) = syncs_after(data, np.arange(3), 3, 6.0 + 6.0, slowest=(2, 4.0))
    assert (syncs.start + syncs.took).tolist() == pytest.approx([2.5, 2.5, 7.0])


def test_a_sync_is_over_when_the_rank_goes_on() -> None:
    data = data_of((0, TraceOp.WRITE, 0, 1), (0, TraceOp.READ, 1.5, 2), (1, TraceOp.WRITE, 0, 1))
    (syncs,) = syncs_after(data, np.arange(2), 2, 2.0 + 3.0)
    assert syncs.took.tolist() == pytest.approx([0.5, 2.5])


WRITTEN_AND_READ = data_of(
    *((rank, TraceOp.WRITE, 1.0 + rank, 2.0 + rank) for rank in range(RANKS)),
    *((rank, TraceOp.READ, 10.0 + rank / 8, 11.0) for rank in range(RANKS)),
)
TWO_SESSIONS = {
    "OPENS": 2 * RANKS,
    "F_OPEN_START_TIMESTAMP": 0.5,
    "F_OPEN_END_TIMESTAMP": 10.0,
    "F_CLOSE_START_TIMESTAMP": 2.0,
    "F_CLOSE_END_TIMESTAMP": 11.5,
    "F_WRITE_START_TIMESTAMP": 1.0,
    "F_WRITE_END_TIMESTAMP": 4.0,
    "F_READ_START_TIMESTAMP": 10.0,
    "F_READ_END_TIMESTAMP": 11.0,
}


def opened_and_closed(**more: float) -> tuple[Rows, Rows]:
    record = record_of(**TWO_SESSIONS, **more)
    return rows_around(WRITTEN_AND_READ, record, RANKS, creates=True)


def test_ranks_close_and_open_a_file_in_their_longest_pauses() -> None:
    before, after = opened_and_closed(F_META_TIME=0.6)
    for rank in range(RANKS):
        opens = of_rank(take_rows(before, before.op != TraceOp.BARRIER), rank)
        closes = of_rank(take_rows(after, after.op == TraceOp.CLOSE), rank)
        assert opens.op.tolist() == [TraceOp.OPEN if rank else TraceOp.CREATE, TraceOp.OPEN]
        assert opens.start[0] == 0.5
        assert closes.start[0] == 2.0 + rank
        assert closes.start[0] < opens.start[1] <= 10.0 + rank / 8
        assert closes.start[1] >= 11.0


def test_ranks_meet_where_nobody_went_on_before_all_had_closed_the_file() -> None:
    before, _ = opened_and_closed(F_META_TIME=0.6)
    barriers = take_rows(before, before.op == TraceOp.BARRIER)
    assert sorted(barriers.rank.tolist()) == list(range(RANKS))
    again = before.start[before.op == TraceOp.OPEN].max()
    assert (barriers.start + barriers.took).tolist() == pytest.approx([again] * RANKS)
    record = record_of(**TWO_SESSIONS, F_META_TIME=0.6)
    apart, _ = rows_around(WRITTEN_AND_READ, record, RANKS, creates=True, meets=False)
    assert not (apart.op == TraceOp.BARRIER).any()


def test_opens_last_until_the_first_call_if_there_was_that_much_time() -> None:
    first = {rank: 0.5 + rank for rank in range(RANKS)}  # seconds from its open to its first call
    for seconds, long in ((0.6, False), (60.0, True)):
        before, _ = opened_and_closed(F_META_TIME=seconds)
        mine = take_rows(before, (before.start == 0.5) & (before.op != TraceOp.BARRIER))
        took = dict(zip(mine.rank.tolist(), mine.took.tolist(), strict=True))
        assert (took == pytest.approx(first)) is long


@given(writes(), st.integers(1, 3))
def test_every_open_has_its_close_and_no_call_comes_before(data: Rows, each: int) -> None:
    end = float((data.start + data.took).max())
    record = record_of(
        OPENS=each * RANKS,
        F_OPEN_START_TIMESTAMP=1e-9,
        F_OPEN_END_TIMESTAMP=end,
        F_CLOSE_START_TIMESTAMP=1e-9,
        F_CLOSE_END_TIMESTAMP=end + 1.0,
        F_META_TIME=0.0,
    )
    before, after = rows_around(data, record, RANKS, creates=False)
    assert (before.op == TraceOp.OPEN).sum() == (after.op == TraceOp.CLOSE).sum() == each * RANKS
    for rank in np.unique(data.rank).tolist():
        calls = of_rank(data, rank)
        opens = of_rank(take_rows(before, before.op == TraceOp.OPEN), rank)
        closes = of_rank(take_rows(after, after.op == TraceOp.CLOSE), rank)
        assert opens.start[0] <= calls.start[0] + 1e-9
        assert closes.start[-1] >= (calls.start + calls.took).max()


@pytest.mark.parametrize("seconds", [0.0, 0.6, 60.0])
def test_a_file_is_closed_before_it_is_opened_again(seconds: float) -> None:
    before, after = opened_and_closed(F_META_TIME=seconds)
    for rank in range(RANKS):
        again = of_rank(take_rows(before, before.op == TraceOp.OPEN), rank).start[-1]
        assert again > of_rank(take_rows(after, after.op == TraceOp.CLOSE), rank).start[0]
