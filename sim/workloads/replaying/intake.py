"""Taking a trace in: from rows in any order to what each rank does, and what all do together.

This is the one pass over a trace. It joins runs of equal calls, parts collective calls from what
the ranks do by themselves, and counts everything on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from sim.config.errors import InputError
from sim.config.kept import kept
from sim.engine.types import Floats, Integers
from sim.mpi.accesses import Accesses
from sim.mpi.runs import runs_of
from sim.workloads.replaying.calls import ALONE, FIRST_BARRIER, Beginnings, Calls
from sim.workloads.replaying.order import order_of
from sim.workloads.replaying.store import Rows, Store
from sim.workloads.trace.block import Trace, TraceBlock, TraceOp, join_blocks, take_rows

Timing = Literal["think", "start", "asap"]

CHUNK = 1 << 20
"""Rows that are sorted and joined together."""

ROW = np.dtype(  # what a rank does by itself: runs of equal calls
    [
        ("op", "i1"),
        ("mpi", "i1"),
        ("file", "i4"),
        ("offset", "i8"),
        ("length", "i8"),
        ("stride", "i8"),
        ("count", "i4"),
        ("seconds", "f8"),  # of computing before it, or when it begins, as the timing is
    ],
    align=True,
)

_RUN = np.dtype([("rank", "i4"), *((name, ROW[name]) for name in ROW.names or ())], align=True)
_MARK = -1  # the operation of a row that stands for a collective call

PIECE = np.dtype([("rank", "i4"), ("offset", "i8"), ("length", "i8")], align=True)

POSIX, INDEPENDENT, COLLECTIVE = range(3)
"""Ways of making a call, as :class:`Totals` tells them apart."""


@kept
@dataclass(eq=False)
class Totals:
    """What a trace amounts to.

    Attributes
    ----------
    calls, bytes
        int64 (files, operations, 3): calls and their bytes, for each file and
        :class:`~sim.workloads.trace.block.TraceOp`: through POSIX, by MPI-IO independently and
        collectively, where the call of one rank counts as one.
    by_rank
        int64 (ranks, 2): bytes that each rank reads and writes.
    read_end
        int64 (files,): the end of the last byte that is read of each file.
    rows
        Rows of the trace.
    started
        Whether any row says when it began.
    """

    calls: Integers
    bytes: Integers
    by_rank: Integers
    read_end: Integers
    rows: int = 0
    started: bool = False

    @classmethod
    def none(cls) -> Totals:
        """Return the totals of an empty trace."""
        table = np.zeros((0, len(TraceOp), 3), np.int64)
        return cls(table, table.copy(), np.zeros((0, 2), np.int64), np.zeros(0, np.int64))

    def add(self, block: TraceBlock, way: Integers, counted: npt.NDArray[np.bool_]) -> None:
        """Count rows; of a collective call's rows only those ``counted`` are calls."""
        files, ranks = int(block.file.max(initial=-1)) + 1, int(block.rank.max(initial=-1)) + 1
        self._grow(files, ranks)
        self.rows += len(block.rank)
        self.started = self.started or bool((~np.isnan(block.start)).any())
        on_file = block.file >= 0
        key = (block.file.astype(np.int64) * len(TraceOp) + block.op) * 3 + way
        size = len(self.calls) * len(TraceOp) * 3
        calls = np.bincount(key[on_file & counted], minlength=size)
        self.calls += calls.reshape(self.calls.shape)
        moves = on_file & (block.op <= TraceOp.WRITE)
        self.bytes += _summed(key[moves], block.length[moves], size).reshape(self.bytes.shape)
        key = block.rank[moves].astype(np.int64) * 2 + block.op[moves]
        self.by_rank += _summed(key, block.length[moves], self.by_rank.size).reshape(-1, 2)
        reads = on_file & (block.op == TraceOp.READ)
        ends = (block.offset + block.length)[reads]
        np.maximum.at(self.read_end, block.file[reads], ends)

    def _grow(self, files: int, ranks: int) -> None:
        more = max(0, files - len(self.calls))
        if more:
            empty = np.zeros((more, *self.calls.shape[1:]), np.int64)
            self.calls = np.concatenate([self.calls, empty])
            self.bytes = np.concatenate([self.bytes, empty])
            self.read_end = np.concatenate([self.read_end, np.zeros(more, np.int64)])
        if ranks > len(self.by_rank):
            empty = np.zeros((ranks - len(self.by_rank), 2), np.int64)
            self.by_rank = np.concatenate([self.by_rank, empty])

    def complete(self, files: int, ranks: int) -> None:
        """Have a row for every file and rank."""
        self._grow(files, ranks)


def _summed(key: Integers, value: Integers, size: int) -> Integers:
    """Return the sums of values by key: int64 (size,), exact."""
    sums = np.zeros(size, np.int64)
    np.add.at(sums, key, value)
    return sums


@dataclass(eq=False)
class Together:
    """The collective calls of a trace, barriers among them.

    Attributes
    ----------
    op, file
        int64 (calls,): what is done to which file; file -1 for barriers. An open that creates the
        file at any rank is a ``CREATE``.
    place
        int64 (calls,): the place of each in an order that all ranks keep.
    rank, call
        int64 (pairs,): who takes part in which, sorted by rank and then in its order.
    position
        int64 (pairs,): how many rows of what the rank does by itself come before.
    seconds
        float64 (pairs,): of computing before it, or when it begins, as the timing is.
    """

    op: Integers
    file: Integers
    place: Integers
    rank: Integers
    call: Integers
    position: Integers
    seconds: Floats


@dataclass(eq=False)
class Intake:
    """A trace taken in.

    Attributes
    ----------
    trace
        The trace.
    rows
        ``ROW`` by rank: what each does by itself.
    pieces
        ``PIECE`` by collective call.
    together
        Those calls.
    totals
        What it all amounts to.
    """

    trace: Trace
    rows: Store
    pieces: Store
    together: Together
    totals: Totals

    def close(self) -> None:
        """Forget the rows."""
        self.rows.close()
        self.pieces.close()


def take_in(trace: Trace, timing: Timing, place: str) -> Intake:
    """Read a trace from front to back.

    Parameters
    ----------
    trace
        The trace.
    timing
        What is kept of its times: computing before calls, starts, or nothing.
    place
        What messages call it.

    Raises
    ------
    InputError
        If collective calls do not fit together, or starts are wanted and there are none.
    """
    taking = _Taking(timing, place)
    for block in _chunks(trace):
        taking.add(block)
    totals = taking.totals
    _check_numbers(trace, totals, place)
    totals.complete(len(trace.files), trace.ranks)
    if timing == "start" and not totals.started:
        raise InputError(
            f"{place}: timing = start, but no row says when it began; right would be "
            "a trace with times of start, or timing = think or asap"
        )
    return Intake(trace, taking.rows, taking.pieces, taking.together(trace), totals)


def _check_numbers(trace: Trace, totals: Totals, place: str) -> None:
    """Raise InputError if rows name ranks or files that the trace does not have."""
    for what, found, known in (
        ("rank", len(totals.by_rank), trace.ranks),
        ("file", len(totals.calls), len(trace.files)),
    ):
        if found > known:
            raise InputError(
                f"{place}: {what} = {found - 1}; right would be a number below {known}, "
                f"for the trace has {known} {what}s"
            )


def _chunks(trace: Trace) -> Iterator[TraceBlock]:
    """Yield the rows of a trace in chunks of much the same size."""
    waiting: list[TraceBlock] = []
    rows = 0
    for block in trace.blocks():
        for first in range(0, len(block.rank), CHUNK):
            part = take_rows(block, slice(first, first + CHUNK))
            waiting.append(part)
            rows += len(part.rank)
            if rows >= CHUNK:
                yield join_blocks(waiting)
                waiting, rows = [], 0
    if waiting:
        yield join_blocks(waiting)


class _Taking:
    """A trace that is being taken in."""

    def __init__(self, timing: Timing, place: str) -> None:
        self._timing: Timing = timing
        self._place = place
        self.totals = Totals.none()
        self.rows, self.pieces = Store(ROW), Store(PIECE)
        self._calls = Calls(place)
        self._done = np.zeros(0, np.int64)  # rows of each rank so far
        self._barriers = np.zeros(0, np.int64)  # and barriers
        self._beginnings = Beginnings()
        self._pairs: list[tuple[Integers, Integers, Integers, Floats]] = []

    def add(self, block: TraceBlock) -> None:
        """Take in one chunk."""
        turn = np.argsort(block.rank, kind="stable")
        block = take_rows(block, turn)
        self._grow(int(block.rank[-1]) + 1)
        name = self._names(block)
        together = name != ALONE
        begins = self._beginnings.of(block.rank, name)
        way = np.where(together & (block.op != TraceOp.BARRIER), COLLECTIVE, block.mpi)
        self.totals.add(block, way.astype(np.int64), begins | ~together)
        seconds = self._seconds(block)
        moves = block.length > 0
        kept = begins | (~together & _does_anything(block, seconds))
        runs = _joined(take_rows(block, kept), seconds[kept], together[kept])
        marks = runs["op"] == _MARK
        rank = runs["rank"].astype(np.int64)
        before = np.cumsum(~marks) - ~marks
        first = np.searchsorted(rank, np.arange(len(self._done)))
        position = before - np.append(before, 0)[first][rank] + self._done[rank]
        if together.any():
            call = self._calls.add(block, name, together, turn)
            pieces = together & moves & (block.op <= TraceOp.WRITE)
            self._add_pieces(take_rows(block, pieces), call[pieces[together]])
            self._pairs.append(
                (rank[marks], call[begins[together]], position[marks], runs["seconds"][marks])
            )
        alone = runs[~marks]
        self.rows.add(rank[~marks], alone[list(ROW.names or ())].astype(ROW))
        self._done += np.bincount(rank[~marks], minlength=len(self._done))

    def together(self, trace: Trace) -> Together:
        """Return the collective calls, when all chunks have been taken in.

        Raises
        ------
        InputError
            If they do not fit together.
        """
        empty = (np.zeros(0, np.int64),) * 3 + (np.zeros(0),)
        columns = [np.concatenate(parts) for parts in zip(*([empty, *self._pairs]), strict=True)]
        order = np.argsort(columns[0], kind="stable")
        rank, call, position, seconds = (column[order] for column in columns)
        self._calls.check(rank, call, trace)
        place = order_of(rank, call, self._calls.names, self._place)
        op, file = self._calls.kinds
        return Together(op, file, place, rank, call, position, seconds)

    def _grow(self, ranks: int) -> None:
        """Make room for so many ranks."""
        more = max(0, ranks - len(self._done))
        self._done = np.append(self._done, np.zeros(more, np.int64))
        self._barriers = np.append(self._barriers, np.zeros(more, np.int64))

    def _names(self, block: TraceBlock) -> Integers:
        """Return the name of each row's collective call: its number, or that of a barrier.

        The n-th barrier of one rank is the n-th of every other.
        """
        barrier = block.op == TraceOp.BARRIER
        name = np.where(barrier, ALONE, block.coll)
        rank = block.rank[barrier].astype(np.int64)
        if len(rank):
            first = np.searchsorted(rank, np.arange(len(self._barriers)))
            number = np.arange(len(rank)) - first[rank] + self._barriers[rank]
            name[barrier] = FIRST_BARRIER - number
            self._barriers += np.bincount(rank, minlength=len(self._barriers))
        return name

    def _seconds(self, block: TraceBlock) -> Floats:
        """Return what is kept of the times of rows; 0 where there is nothing to wait for."""
        if self._timing == "asap":
            return np.zeros(len(block.rank))
        times = block.think if self._timing == "think" else block.start
        if self._timing == "start":
            times = np.where(block.op == TraceOp.COMPUTE, np.nan, times)
        return np.where(times > 0.0, times, 0.0)  # NaN: unknown

    def _add_pieces(self, block: TraceBlock, call: Integers) -> None:
        """Keep what ranks access in collective calls."""
        order = np.argsort(call, kind="stable")
        pieces = np.empty(len(order), PIECE)
        for column in PIECE.names or ():
            pieces[column] = getattr(block, column)[order]
        self.pieces.add(call[order], pieces)


def _does_anything(block: TraceBlock, seconds: Floats) -> npt.NDArray[np.bool_]:
    """Tell which rows do anything: no reads or writes of nothing, no computing for no time."""
    idle = (block.op == TraceOp.COMPUTE) | ((block.op <= TraceOp.WRITE) & (block.length == 0))
    does: npt.NDArray[np.bool_] = ~idle | (seconds > 0.0)
    return does


def _joined(block: TraceBlock, seconds: Floats, marks: npt.NDArray[np.bool_]) -> Rows:
    """Join runs of equal calls, one right after the other, of each rank.

    Returns ``RUN`` rows; those that begin a collective call have the operation ``_MARK``.
    """
    moves = (block.op <= TraceOp.WRITE) & (block.length > 0) & ~marks
    breaks = np.append(True, ~(moves[1:] & moves[:-1]) | (seconds[1:] > 0.0))[: len(moves)]
    for values in (block.rank, block.op, block.file, block.mpi):
        breaks[1:] |= values[1:] != values[:-1]
    runs = runs_of(Accesses(np.cumsum(breaks), block.offset, block.length))
    first = np.cumsum(runs.count) - runs.count
    rows = np.empty(len(first), _RUN)
    for column in ("rank", "op", "mpi", "file"):
        rows[column] = getattr(block, column)[first]
    for column in ("offset", "length", "stride", "count"):
        rows[column] = getattr(runs, column)
    rows["seconds"] = seconds[first]
    empty = (rows["op"] <= TraceOp.WRITE) & (rows["length"] == 0)
    rows["op"][empty] = TraceOp.COMPUTE
    rows["op"][marks[first]] = _MARK
    return rows
