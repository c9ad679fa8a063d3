"""What a job did, sorted by sets of files that belong together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from xc40io.config.errors import InputError
from xc40io.engine.types import Floats, Integers
from xc40io.workloads.trace import Trace, TraceBlock, TraceFile, TraceOp, join_blocks, take_rows

_MOST_ROWS = 20_000_000
_PAUSE = 0.1  # seconds; computing for longer than that separates two steps...
_PAUSES = 20.0  # ...if it is also so many times longer than it usually is between two calls

_FAR_MORE = 4.0  # times the bytes of another shared file of its series

_NEARLY_ALL = 0.95  # of the bytes

DATA = (TraceOp.READ, TraceOp.WRITE)


@dataclass(frozen=True, eq=False)
class FileUse:
    """What was done to a set of files."""

    name: str  # of the files, with ``#`` for the numbers in which they differ
    files: list[TraceFile]
    rows: TraceBlock  # what was done to them, in the order of the ranks and of time
    index: Integers  # int64 (rows,): which of the files
    ranks: int  # how many ranks the job has

    def count(self, op: TraceOp) -> int:
        """Return how often ranks did one thing."""
        return int((self.rows.op == op).sum())

    def moved(self, op: TraceOp) -> int:
        """Return the bytes of all reads, or of all writes."""
        return int(self.rows.length[self.rows.op == op].sum())

    @property
    def bytes(self) -> int:
        """Bytes that were read and written."""
        return sum(self.moved(op) for op in DATA)

    @cached_property
    def users(self) -> Integers:
        """The ranks that did anything: int64, ascending."""
        return np.unique(self.rows.rank).astype(np.int64)

    @cached_property
    def is_shared(self) -> bool:
        """Whether any file was read or written by several ranks."""
        pairs = np.unique(self.index * self.ranks + self.rows.rank)
        return len(pairs) > len(np.unique(self.index))

    @cached_property
    def step(self) -> Integers:
        """The step that every row belongs to: int64 (rows,).

        A rank begins a new step with each new file of the set, and after each long pause.
        """
        rank = self.rows.rank
        fresh = np.append(True, rank[1:] != rank[:-1])
        other = np.append(False, self.index[1:] != self.index[:-1])
        begins = (other | self._pauses) & ~fresh
        steps = np.cumsum(begins)
        first = np.flatnonzero(fresh)
        step: Integers = steps - np.repeat(steps[first], np.diff(first, append=len(rank)))
        return step

    @cached_property
    def _pauses(self) -> npt.NDArray[np.bool_]:
        """Whether the computing before a row is a long pause."""
        think = np.nan_to_num(self.rows.think)
        usual = np.median(think[think > 0.0]) if (think > 0.0).any() else 0.0
        return (think > _PAUSE) & (think > _PAUSES * min(usual, _PAUSE / 2))

    @property
    def steps(self) -> int:
        """Steps of a rank; of most ranks, where they differ."""
        last = np.flatnonzero(np.append(self.rows.rank[1:] != self.rows.rank[:-1], True))
        return int(np.median(self.step[last])) + 1

    @property
    def pause(self) -> float:
        """Seconds of computing between two steps, the median."""
        think = np.nan_to_num(self.rows.think)[np.append(False, np.diff(self.step) > 0)]
        return float(np.median(think)) if len(think) else 0.0

    def movers(self, op: TraceOp) -> Integers:
        """Return the ranks that read, or that wrote: int64, ascending.

        Where few ranks moved nearly all bytes, it is these few alone; what the others did is
        headers and metadata.
        """
        chosen = (self.rows.op == op) & (self.rows.length > 0)
        moved = np.bincount(self.rows.rank[chosen], self.rows.length[chosen], self.ranks)
        order = np.argsort(-moved, kind="stable")
        enough = int(np.searchsorted(np.cumsum(moved[order]), _NEARLY_ALL * moved.sum())) + 1
        every = np.flatnonzero(moved)
        few = np.sort(order[:enough])
        return few if len(few) <= len(every) // 2 else every

    def sizes(self, op: TraceOp) -> Floats:
        """Return the bytes of each of its movers in each step: float64, none of them zero."""
        chosen = (self.rows.op == op) & np.isin(self.rows.rank, self.movers(op))
        key = self.rows.rank[chosen].astype(np.int64) * (int(self.step.max()) + 1)
        _, inverse = np.unique(key + self.step[chosen], return_inverse=True)
        total = np.bincount(inverse, self.rows.length[chosen]).astype(np.float64)
        return total[total > 0]


def sets_of(trace: Trace) -> list[FileUse]:
    """Return the sets of files that a job used, in the order in which it first did.

    Files belong together if their names differ in digits only.

    Raises
    ------
    InputError
        If the trace is too long to be looked at as a whole, or nothing is read or written.
    """
    blocks, rows = [], 0
    for block in trace.blocks():
        rows += len(block.rank)
        if rows > _MOST_ROWS:
            raise InputError(
                f"more than {_MOST_ROWS:,} calls; a kernel is fitted to a part of them: right "
                "would be a trace of some of the steps"
            )
        blocks.append(block)
    every = join_blocks(blocks)
    if not np.isin(every.op, DATA).any():
        raise InputError("nothing is read or written: there is no kernel to fit")
    every = take_rows(every, np.argsort(every.rank, kind="stable"))
    names = [_pattern(file) for file in trace.files]
    found = []
    for name in dict.fromkeys(names):
        numbers = np.array([index for index, other in enumerate(names) if other == name])
        chosen = np.isin(every.file, numbers)
        if chosen.any():
            part = take_rows(every, chosen)
            index = np.searchsorted(numbers, part.file)
            files = [trace.files[number] for number in numbers]
            found += _alike(FileUse(name[0], files, part, index, trace.ranks))
    return sorted(found, key=_first_use)


def _alike(use: FileUse) -> list[FileUse]:
    """Return a set of shared files as several, if some hold far more than others.

    What ranks write to files of their own may well differ so much; the files of a series do not.
    """
    if not use.is_shared:
        return [use]
    moved = np.bincount(use.index, use.rows.length, len(use.files))
    order = np.argsort(moved, kind="stable")
    steps = moved[order][1:] > _FAR_MORE * moved[order][:-1]
    kind = np.empty(len(moved), np.int64)
    kind[order] = np.append(0, np.cumsum(steps))
    parts = []
    for number in range(int(kind.max()) + 1):
        chosen = kind[use.index] == number
        if chosen.any():
            numbers, index = np.unique(use.index[chosen], return_inverse=True)
            files = [use.files[one] for one in numbers.tolist()]
            parts.append(FileUse(use.name, files, take_rows(use.rows, chosen), index, use.ranks))
    return parts


def _pattern(file: TraceFile) -> tuple[str, bool]:
    """Return what files of one set have in common."""
    return re.sub(r"\d+", "#", file.name), file.mpi


def _first_use(use: FileUse) -> float:
    start = use.rows.start
    return float(np.nanmin(start)) if not np.isnan(start).all() else 0.0
