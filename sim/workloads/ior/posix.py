"""IOR's backends without MPI-IO: every rank, or each of its I/O threads, by itself.

MMAP maps the file into memory, and calls copy from and to it. Who touches a page for the first time
takes a page fault. The Lustre client serves each fault as a small call of its own: it takes the
extent lock, has the page read unless it is cached, and marks it dirty if it is written to
(vvp_io.c, CIT_FAULT). So a call of IOR is as many reads or writes here as it has pages. ``-e`` and
``-Y`` call msync, which writes back what is dirty, as fsync does.

Two things are simpler than on a machine. A page that is written to is read first only where the
file was there before: in a new one it is a hole, which costs the servers no disk. And each page
faults in each phase, also where the kernel would find it mapped from a call before.

DUMMY has no file and no I/O; each call sleeps as long as it is told (aiori-DUMMY.c).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from xc40io.engine.page import PAGE
from xc40io.engine.types import Floats, Integers
from xc40io.plane.batch import Batch
from xc40io.plane.long_calls import calls_for
from xc40io.plane.operations import Op, mix_operations
from xc40io.workloads.ior.backend import Backend, Task, add_calls
from xc40io.workloads.job import LAST_MARK


class PosixBackend(Backend):
    """The calls of POSIX."""

    @property
    def counted(self) -> bool:
        """Whether the data plane counts the calls: always."""
        return True

    def __init__(self, task: Task) -> None:
        self._task = task
        self.pieces = calls_for(task.test.transfer_size)

    def open(self, batch: Batch) -> None:
        """Let every rank open its file; whoever is first to open a new one creates it."""
        task = self._task
        creates = np.zeros(len(task.file), bool)
        if task.fresh:
            creates[np.unique(task.file, return_index=True)[1]] = True
        batch.add(np.where(creates, Op.CREATE, Op.OPEN), task.ranks.all, file=task.file)

    def transfer(
        self, batch: Batch, begin: Integers, end: Integers, *, limit: float | None = None
    ) -> None:
        """Let rank r make its calls ``begin[r]`` to ``end[r] - 1``, by itself or by its threads."""
        task = self._task
        ranks, threads = len(task.ranks), task.ranks.threads
        rank, turn, offset = task.calls(begin, end)
        workers = np.arange(ranks) if threads == 1 else np.arange(ranks, ranks * (1 + threads))
        worker = rank if threads == 1 else ranks + rank * threads + turn % threads
        if limit is not None:
            batch.add(Op.LIMIT, workers, seconds=limit)
        if threads > 1:
            batch.add(Op.FORK, task.ranks.all, count=threads)
        order = np.argsort(worker, kind="stable")
        add_calls(batch, task, worker[order], task.file[rank[order]], offset[order])
        if threads > 1:
            batch.add(Op.JOIN, task.ranks.all)

    def sync(self, batch: Batch) -> None:
        """Let every rank call fsync."""
        batch.add(Op.FSYNC, self._task.ranks.all, file=self._task.file)

    def close(self, batch: Batch) -> None:
        """Let every rank close its file."""
        batch.add(Op.CLOSE, self._task.ranks.all, file=self._task.file)


class MappedBackend(PosixBackend):
    """The calls of MMAP."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._reads_first = task.writes and not task.fresh
        self.pieces = task.test.transfer_size // PAGE * (2 if self._reads_first else 1)

    def open(self, batch: Batch) -> None:
        """Open the file; before a write every rank gives it the size of all data, and maps it."""
        super().open(batch)
        task = self._task
        if task.writes:
            size = task.test.aggregate_bytes(len(task.ranks))
            batch.add(Op.TRUNCATE, task.ranks.all, file=task.file, offset=size)

    def transfer(
        self, batch: Batch, begin: Integers, end: Integers, *, limit: float | None = None
    ) -> None:
        """Let rank r make its calls ``begin[r]`` to ``end[r] - 1``: page by page."""
        task = self._task
        rank, _, offset = task.calls(begin, end)
        if limit is not None:
            batch.add(Op.LIMIT, task.ranks.all, seconds=limit)
        file = task.file[rank]
        add_calls(batch, task, rank, file, offset, piece=PAGE, reads_first=self._reads_first)


class DummyBackend(Backend):
    """The calls of DUMMY."""

    @property
    def counted(self) -> bool:
        """Whether the data plane counts the calls: always."""
        return True

    def __init__(self, task: Task) -> None:
        self._task = task

    def open(self, batch: Batch) -> None:
        """Sleep if the file would be created; every rank does that before it writes."""
        if self._task.writes:
            self._sleep(batch, self._task.test.dummy_create)

    def transfer(
        self, batch: Batch, begin: Integers, end: Integers, *, limit: float | None = None
    ) -> None:
        """Let rank r sleep through its calls ``begin[r]`` to ``end[r] - 1``."""
        task, test = self._task, self._task.test
        rank, turn, _ = task.calls(begin, end)
        syncs = test.dummy_sync if test.fsync_per_write and task.writes else 0.0
        seconds = self._delays(test.dummy_transfer + syncs) + test.call_delay
        calls = np.maximum(end - begin, 0)
        left = 2 * (calls[rank] - turn) - 1  # operations of the rank behind the one that counts
        kind = np.tile(np.array([Op.ITEM, Op.THINK], np.int64), len(rank))
        columns: dict[Op, dict[str, npt.ArrayLike]] = {
            Op.ITEM: {
                "mark": LAST_MARK,
                "seconds": np.inf if limit is None else limit,
                "count": np.repeat(left, 2),
            },
            Op.THINK: {"seconds": np.repeat(seconds[rank], 2)},
        }
        batch.add(Op.MARK, task.ranks.all, mark=LAST_MARK)
        batch.add_operations(mix_operations(kind, columns), np.repeat(rank, 2))

    def sync(self, batch: Batch) -> None:
        """Sleep as for an fsync."""
        self._sleep(batch, self._task.test.dummy_sync)

    def close(self, batch: Batch) -> None:
        """Sleep as for a close."""
        self._sleep(batch, self._task.test.dummy_close)

    def _sleep(self, batch: Batch, seconds: float) -> None:
        batch.add(Op.THINK, self._task.ranks.all, seconds=self._delays(seconds))

    def _delays(self, seconds: float) -> Floats:
        """Return how long each rank sleeps: float64 (ranks,)."""
        ranks = self._task.ranks.all
        if self._task.test.dummy_first_only:
            return np.where(ranks == 0, seconds, 0.0)
        return np.full(len(ranks), seconds)
