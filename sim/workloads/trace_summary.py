"""A summary of a trace, taken in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sim.engine.types import Integers
from sim.workloads.replaying.calls import Beginnings
from sim.workloads.replaying.intake import Totals
from sim.workloads.trace.block import Trace, TraceBlock, TraceFile, TraceOp, take_rows

SIZE_BINS = (100, 1000, 10**4, 10**5, 10**6, 4 * 10**6, 10**7, 10**8, 10**9)
"""Sizes up to which calls are counted together, in bytes: the bins of Darshan."""

_MOVES = (TraceOp.READ, TraceOp.WRITE)


@dataclass(frozen=True, eq=False, kw_only=True)
class TraceSummary:
    """What a trace amounts to.

    Attributes
    ----------
    rows, ranks, nodes, ppn
        How many there are; nodes and ranks on a node where the trace knows.
    files
        The files.
    totals
        Calls and bytes by file, operation and way, see :class:`~.Totals`.
    collective_calls, barriers
        How many there are, however many ranks take part.
    sizes
        int64 (2, bins): read and write calls by size, the last bin for anything above.
    smallest, largest
        int64 (2,): read and write calls, in bytes; 0 if there are none.
    consecutive, sequential
        int64 (2,): calls that begin right where the rank's call of this kind before ended in the
        file; and all that begin there or beyond.
    think
        Seconds of computing between calls, of all ranks together.
    span
        First and last start, in seconds; NaN where no row says.
    """

    rows: int
    ranks: int
    nodes: int | None
    ppn: int | None
    files: Sequence[TraceFile]
    totals: Totals
    collective_calls: int
    barriers: int
    sizes: Integers
    smallest: Integers
    largest: Integers
    consecutive: Integers
    sequential: Integers
    think: float
    span: tuple[float, float]


def summarise(trace: Trace) -> TraceSummary:
    """Read a trace from front to back and sum it up."""
    summing = _Summing()
    for block in trace.blocks():
        summing.add(block)
    summing.totals.complete(len(trace.files), trace.ranks)
    names = np.unique(np.concatenate([np.zeros(0, np.int64), *summing.calls]))
    return TraceSummary(
        rows=summing.totals.rows,
        ranks=trace.ranks,
        nodes=trace.nodes,
        ppn=trace.ppn,
        files=trace.files,
        totals=summing.totals,
        collective_calls=len(names),
        barriers=int(summing.barriers.max(initial=0)),
        sizes=summing.sizes,
        smallest=np.where(summing.largest > 0, summing.smallest, 0),
        largest=summing.largest,
        consecutive=summing.consecutive,
        sequential=summing.sequential,
        think=summing.think,
        span=summing.span,
    )


@dataclass(eq=False)
class _Summing:
    """A trace that is being summed up."""

    totals: Totals = field(default_factory=Totals.none)
    calls: list[Integers] = field(default_factory=list)
    barriers: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    sizes: Integers = field(default_factory=lambda: np.zeros((2, len(SIZE_BINS) + 1), np.int64))
    smallest: Integers = field(default_factory=lambda: np.full(2, np.iinfo(np.int64).max))
    largest: Integers = field(default_factory=lambda: np.zeros(2, np.int64))
    consecutive: Integers = field(default_factory=lambda: np.zeros(2, np.int64))
    sequential: Integers = field(default_factory=lambda: np.zeros(2, np.int64))
    think: float = 0.0
    span: tuple[float, float] = (np.nan, np.nan)

    def __post_init__(self) -> None:
        self._beginnings = Beginnings()
        self._keys = np.zeros(0, np.int64)  # rank, file and operation that have been met,
        self._ends = np.zeros(0, np.int64)  # and where the last call of each ended

    def add(self, block: TraceBlock) -> None:
        """Sum up a block."""
        block = take_rows(block, np.argsort(block.rank, kind="stable"))
        together = block.coll >= 0
        begins = self._beginnings.of(block.rank, block.coll)
        way = np.where(together, 2, block.mpi).astype(np.int64)
        self.totals.add(block, way, begins | ~together)
        self.calls.append(np.unique(block.coll[together]))
        met = np.bincount(block.rank[block.op == TraceOp.BARRIER])
        size = max(len(met), len(self.barriers))
        self.barriers = np.pad(self.barriers, (0, size - len(self.barriers)))
        self.barriers[: len(met)] += met
        self.think += float(np.nansum(block.think))
        starts = block.start[~np.isnan(block.start)]
        if len(starts):
            low, high = float(starts.min()), float(starts.max())
            self.span = (np.fmin(self.span[0], low), np.fmax(self.span[1], high))
        for op in _MOVES:
            length = block.length[block.op == op]
            if len(length):
                bins = np.searchsorted(SIZE_BINS, length, side="right")
                self.sizes[op] += np.bincount(bins, minlength=len(SIZE_BINS) + 1)
                self.smallest[op] = min(self.smallest[op], length.min())
                self.largest[op] = max(self.largest[op], length.max())
        self._order(take_rows(block, block.op <= TraceOp.WRITE))

    def _order(self, block: TraceBlock) -> None:
        """Count the calls that go on where the one before ended, or further on."""
        file = block.file.astype(np.int64)
        key = ((file << 25) + block.rank) * 2 + block.op
        order = np.argsort(key, kind="stable")
        key, offset, op = key[order], block.offset[order], block.op[order].astype(np.int64)
        end = offset + block.length[order]
        first = np.append(True, key[1:] != key[:-1])[: len(key)]
        before = np.append(0, end[:-1])[: len(key)]
        before[first] = self._known(key[first])
        for counts, which in (
            (self.consecutive, offset == before),
            (self.sequential, (offset >= before) & (before >= 0)),
        ):
            counts += np.bincount(op[which], minlength=2)
        last = np.append(first[1:], True)[: len(key)]
        self._learn(key[last], end[last])

    def _known(self, keys: Integers) -> Integers:
        """Return where the last calls ended; -1 where there has been none."""
        if not len(self._keys):
            return np.full(len(keys), -1)
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[place] == keys, self._ends[place], -1)

    def _learn(self, keys: Integers, ends: Integers) -> None:
        """Note where the last calls ended."""
        every = np.concatenate([keys, self._keys])
        self._keys, first = np.unique(every, return_index=True)
        self._ends = np.concatenate([ends, self._ends])[first]
