"""Taking a trace in: from rows in any order to what each rank does, and what all do together.

This is the one pass over a trace. It joins runs of equal calls, parts collective calls from what
the ranks do by themselves, and counts everything on the way.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, Literal

import numpy as np
import numpy.typing as npt

from xc40io.config.errors import InputError
from xc40io.config.kept import kept
from xc40io.engine.types import Floats, Integers
from xc40io.mpi.accesses import Accesses, runs_of
from xc40io.workloads.replay.collectives import ALONE, FIRST_BARRIER, Calls
from xc40io.workloads.trace import RowBefore, Trace, TraceBlock, TraceOp, join_blocks, take_rows

Rows = npt.NDArray[Any]

IN_MEMORY = 192 * 2**20
"""Bytes of a store that are kept in memory."""


class Store:
    """Rows by key: written once from front to back, read key by key.

    A trace comes in whatever order it was written in, and each rank takes its rows at its own pace.
    So the rows are kept in chunks, each sorted by key, with an index of where the rows of each key
    are: in memory up to a limit in bytes, beyond it in a temporary file, which costs one read for
    each key and chunk.
    """

    def __init__(self, layout: np.dtype[Any], in_memory: int = IN_MEMORY) -> None:
        self._layout = layout
        self._room = in_memory
        self._chunks: list[Rows | None] = []  # None: in the file
        self._bounds: list[Integers] = []  # of the keys in each chunk, in rows
        self._first: list[int] = []  # first byte of each chunk in the file
        self._file: IO[bytes] | None = None
        self._end = 0
        self._cursors: dict[int, tuple[int, int]] = {}  # chunk, rows of the key taken of it

    def add(self, key: npt.NDArray[Any], rows: Rows) -> None:
        """Add a chunk; ``key`` (rows,) is ascending, 0 or more. Rows of a key keep their order."""
        if not len(rows):
            return
        self._bounds.append(np.searchsorted(key, np.arange(int(key[-1]) + 2)))
        self._first.append(self._end)
        if rows.nbytes <= self._room:
            self._room -= rows.nbytes
            self._chunks.append(rows)
            return
        self._room = 0  # what follows goes to the file too
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="xc40io-trace-")  # noqa: SIM115
        rows.tofile(self._file)
        self._end += rows.nbytes
        self._chunks.append(None)

    def counts(self, keys: int) -> Integers:
        """Return how many rows there are of each of so many keys: int64 (keys,)."""
        counts = np.zeros(keys, np.int64)
        for bounds in self._bounds:
            counts[: len(bounds) - 1] += np.diff(bounds)
        return counts

    def take(self, key: int, limit: int) -> Rows:
        """Return up to ``limit`` rows of a key: those that follow the ones taken before."""
        found: list[Rows] = []
        chunk, skip = self._cursors.get(key, (0, 0))
        while limit > 0 and chunk < len(self._bounds):
            bounds = self._bounds[chunk]
            start, stop = bounds[key : key + 2].tolist() if key < len(bounds) - 1 else (0, 0)
            start += skip
            taken = min(stop - start, limit)
            if taken > 0:
                found.append(self._read(chunk, start, start + taken))
                limit -= taken
                skip += taken
            if start + taken >= stop:
                chunk, skip = chunk + 1, 0
        self._cursors[key] = chunk, skip
        return np.concatenate(found) if found else np.zeros(0, self._layout)

    def close(self) -> None:
        """Forget everything."""
        self._chunks.clear()
        self._bounds.clear()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _read(self, chunk: int, start: int, stop: int) -> Rows:
        rows = self._chunks[chunk]
        if rows is not None:
            return rows[start:stop]
        assert self._file is not None
        self._file.seek(self._first[chunk] + start * self._layout.itemsize)
        return np.frombuffer(self._file.read((stop - start) * self._layout.itemsize), self._layout)


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
    """What a trace amounts to."""

    # Calls of each file and TraceOp, through POSIX, by MPI-IO independently and collectively (where
    # the call of one rank counts as one): int64 (files, operations, 3).
    calls: Integers
    bytes: Integers  # of these calls, likewise
    by_rank: Integers  # int64 (ranks, 2): bytes that each rank reads and writes
    read_end: Integers  # int64 (files,): the end of the last byte that is read of each file
    rows: int = 0  # rows of the trace
    started: bool = False  # whether any row says when it began

    @classmethod
    def none(cls) -> Totals:
        """Return the totals of an empty trace."""
        table = np.zeros((0, len(TraceOp), 3), np.int64)
        return cls(table, table.copy(), np.zeros((0, 2), np.int64), np.zeros(0, np.int64))

    def add(self, block: TraceBlock, way: Integers, counted: npt.NDArray[np.bool_]) -> None:
        """Count rows; of a collective call's rows only those ``counted`` are calls."""
        self.complete(int(block.file.max(initial=-1)) + 1, int(block.rank.max(initial=-1)) + 1)
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
        np.maximum.at(self.read_end, block.file[reads], (block.offset + block.length)[reads])

    def complete(self, files: int, ranks: int) -> None:
        """Have a row for each of so many files and ranks, or more."""
        self.calls, self.bytes = longer(self.calls, files), longer(self.bytes, files)
        self.read_end, self.by_rank = longer(self.read_end, files), longer(self.by_rank, ranks)


def longer(table: Integers, rows: int) -> Integers:
    """Return a table with so many rows, or more; new ones are 0."""
    more = max(0, rows - len(table))
    return np.pad(table, [(0, more), *[(0, 0)] * (table.ndim - 1)]) if more else table


def _summed(key: Integers, value: Integers, size: int) -> Integers:
    """Return the sums of values by key: int64 (size,), exact."""
    sums = np.zeros(size, np.int64)
    np.add.at(sums, key, value)
    return sums


@dataclass(eq=False)
class Together:
    """The collective calls of a trace, barriers among them."""

    op: Integers  # int64 (calls,): TraceOp; an open that creates the file at any rank is a CREATE
    file: Integers  # int64 (calls,); -1 for barriers
    place: Integers  # int64 (calls,): the place of each in an order that all ranks keep
    rank: Integers  # int64 (pairs,): who takes part, ascending,
    call: Integers  # int64 (pairs,): in which call; each rank's in its order
    position: Integers  # int64 (pairs,): how many rows of what the rank does by itself come before
    seconds: Floats  # float64 (pairs,): of computing before it, or when it begins, as the timing is


@dataclass(eq=False)
class Intake:
    """A trace taken in."""

    trace: Trace
    rows: Store  # ROW by rank: what each does by itself
    pieces: Store  # PIECE by collective call
    together: Together
    totals: Totals

    def close(self) -> None:
        """Forget the rows."""
        self.rows.close()
        self.pieces.close()


def take_in(trace: Trace, timing: Timing, place: str) -> Intake:
    """Read a trace from front to back.

    ``timing`` is what is kept of its times: computing before calls, starts, or nothing; ``place``
    what messages call it.

    Raises
    ------
    InputError
        If collective calls do not fit together, or starts are wanted and there are none.
    """
    taking = _Taking(timing, place)
    for block in _chunks(trace):
        taking.add(block)
    totals = taking.totals
    for what, found, known in (
        ("rank", len(totals.by_rank), trace.ranks),
        ("file", len(totals.calls), len(trace.files)),
    ):
        if found > known:
            raise InputError(
                f"{place}: {what} = {found - 1}; right would be a number below {known}, "
                f"for the trace has {known} {what}s"
            )
    totals.complete(len(trace.files), trace.ranks)
    if timing == "start" and not totals.started:
        raise InputError(
            f"{place}: timing = start, but no row says when it began; right would be "
            "a trace with times of start, or timing = think or asap"
        )
    return Intake(trace, taking.rows, taking.pieces, taking.together(trace), totals)


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
        self.totals = Totals.none()
        self.rows, self.pieces = Store(ROW), Store(PIECE)
        self._calls = Calls(place)
        self._done = np.zeros(0, np.int64)  # rows of each rank so far
        self._barriers = np.zeros(0, np.int64)  # and barriers
        self._before = RowBefore(ALONE)  # collective call of the rank's row before
        self._pairs: list[tuple[Integers, Integers, Integers, Floats]] = []

    def add(self, block: TraceBlock) -> None:
        """Take in one chunk."""
        turn = np.argsort(block.rank, kind="stable")
        block = take_rows(block, turn)
        self._done = longer(self._done, int(block.rank[-1]) + 1)
        self._barriers = longer(self._barriers, len(self._done))
        name = self._names(block)
        together = name != ALONE
        begins = together & (name != self._before.of(block.rank, name))
        way = np.where(together & (block.op != TraceOp.BARRIER), COLLECTIVE, block.mpi)
        self.totals.add(block, way.astype(np.int64), begins | ~together)
        seconds = self._seconds(block)
        staying = begins | (~together & _does_anything(block, seconds))
        runs = _joined(take_rows(block, staying), seconds[staying], together[staying])
        marks = runs["op"] == _MARK
        rank = runs["rank"].astype(np.int64)
        before = np.cumsum(~marks) - ~marks
        first = np.searchsorted(rank, np.arange(len(self._done)))
        position = before - np.append(before, 0)[first][rank] + self._done[rank]
        if together.any():
            call = self._calls.add(block, name, together, turn)
            pieces = together & (block.length > 0) & (block.op <= TraceOp.WRITE)
            self._add_pieces(take_rows(block, pieces), call[pieces[together]])
            self._pairs.append(
                (rank[marks], call[begins[together]], position[marks], runs["seconds"][marks])
            )
        alone = runs[~marks]
        self.rows.add(rank[~marks], alone[list(ROW.names or ())].astype(ROW))
        self._done += np.bincount(rank[~marks], minlength=len(self._done))

    def together(self, trace: Trace) -> Together:
        """Return the collective calls of all chunks; InputError if they do not fit together."""
        empty = (np.zeros(0, np.int64),) * 3 + (np.zeros(0),)
        columns = [np.concatenate(parts) for parts in zip(*([empty, *self._pairs]), strict=True)]
        order = np.argsort(columns[0], kind="stable")
        rank, call, position, seconds = (column[order] for column in columns)
        self._calls.check(rank, call, trace)
        place = self._calls.order(rank, call)
        return Together(*self._calls.kinds, place, rank, call, position, seconds)

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
    """Join runs of equal calls, one right after the other, of each rank: ``_RUN`` rows.

    Those that begin a collective call have the operation ``_MARK``.
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
