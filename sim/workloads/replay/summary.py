"""A summary of a trace, taken in one pass."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from xc40io.engine.types import Integers
from xc40io.workloads.replay.collectives import ALONE
from xc40io.workloads.replay.intake import COLLECTIVE, Totals, longer
from xc40io.workloads.trace import RowBefore, Trace, TraceBlock, TraceFile, TraceOp, take_rows

SIZE_BINS = (100, 1000, 10**4, 10**5, 10**6, 4 * 10**6, 10**7, 10**8, 10**9)
"""Sizes up to which calls are counted together, in bytes: the bins of Darshan."""


def _pair() -> Integers:
    return np.zeros(2, np.int64)


@dataclass(eq=False)
class TraceSummary:
    """What a trace amounts to."""

    rows: int = 0
    ranks: int = 0
    nodes: int | None = None  # where the trace knows
    ppn: int | None = None
    files: tuple[TraceFile, ...] = ()
    totals: Totals = field(default_factory=Totals.none)
    collective_calls: int = 0  # however many ranks take part
    barriers: int = 0
    # Read and write calls by size, the last bin for anything above: int64 (2, bins).
    sizes: Integers = field(default_factory=lambda: np.zeros((2, len(SIZE_BINS) + 1), np.int64))
    # Reads and writes that begin right where the rank's last one ended in the file: int64 (2,).
    consecutive: Integers = field(default_factory=_pair)
    sequential: Integers = field(default_factory=_pair)  # and all that begin there or beyond
    think: float = 0.0  # seconds of computing between calls, of all ranks together
    # First and last start, in seconds; NaN where no row says.
    span: tuple[float, float] = (np.nan, np.nan)


def summarise(trace: Trace) -> TraceSummary:
    """Read a trace from front to back and sum it up."""
    summing = _Summing()
    for block in trace.blocks():
        summing.add(take_rows(block, np.argsort(block.rank, kind="stable")))
    found = summing.found
    found.totals.complete(len(trace.files), trace.ranks)
    found.rows, found.ranks, found.files = found.totals.rows, trace.ranks, tuple(trace.files)
    found.nodes, found.ppn = trace.nodes, trace.ppn
    found.collective_calls = len(np.unique(np.concatenate([_pair()[:0], *summing.calls])))
    found.barriers = int(summing.barriers.max(initial=0))
    return found


class _Summing:
    """A trace that is being summed up, block by block."""

    def __init__(self) -> None:
        self.found = TraceSummary()
        self.calls: list[Integers] = []  # numbers of collective calls
        self.barriers = np.zeros(0, np.int64)  # of each rank
        self._before = RowBefore(ALONE)  # collective call of the rank's row before
        self._keys = np.zeros(0, np.int64)  # rank, file and operation that have been met,
        self._ends = np.zeros(0, np.int64)  # and where the last call of each ended

    def add(self, block: TraceBlock) -> None:
        """Sum up a block whose rows are sorted by rank."""
        found, alone = self.found, block.coll < 0
        begins = ~alone & (block.coll != self._before.of(block.rank, block.coll))
        way = np.where(alone, block.mpi, COLLECTIVE).astype(np.int64)
        found.totals.add(block, way, begins | alone)
        self.calls.append(np.unique(block.coll[~alone]))
        met = np.bincount(block.rank[block.op == TraceOp.BARRIER])
        self.barriers = longer(self.barriers, len(met))
        self.barriers[: len(met)] += met
        found.think += float(np.nansum(block.think))
        starts = block.start[~np.isnan(block.start)]
        if len(starts):
            low, high = float(starts.min()), float(starts.max())
            found.span = (np.fmin(found.span[0], low), np.fmax(found.span[1], high))
        for op in (TraceOp.READ, TraceOp.WRITE):
            bins = np.searchsorted(SIZE_BINS, block.length[block.op == op], side="right")
            found.sizes[op] += np.bincount(bins, minlength=len(SIZE_BINS) + 1)
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
        self.found.consecutive += np.bincount(op[offset == before], minlength=2)
        ahead = (offset >= before) & (before >= 0)
        self.found.sequential += np.bincount(op[ahead], minlength=2)
        last = np.append(first[1:], True)[: len(key)]
        every = np.concatenate([key[last], self._keys])
        self._keys, newest = np.unique(every, return_index=True)
        self._ends = np.concatenate([end[last], self._ends])[newest]

    def _known(self, keys: Integers) -> Integers:
        """Return where the last calls ended; -1 where there has been none."""
        if not len(self._keys):
            return np.full(len(keys), -1)
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[place] == keys, self._ends[place], -1)
