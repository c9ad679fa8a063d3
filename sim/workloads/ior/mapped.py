"""IOR's MMAP backend: the file is mapped into memory, and calls copy from and to it.

Who touches a page for the first time takes a page fault. The Lustre client serves each fault as a
small call of its own: it takes the extent lock, has the page read unless it is cached, and marks
it dirty if it is written to (vvp_io.c, CIT_FAULT). So a call of IOR is as many reads or writes
here as it has pages. ``-e`` and ``-Y`` call msync, which writes back what is dirty, as fsync does.

Two things are simpler than on a machine. A page that is written to is read first only where the
file was there before: in a new one it is a hole, which costs the servers no disk. And each page
faults in each phase, also where the kernel would find it mapped from a call before.
"""

from __future__ import annotations

from sim.engine.types import Integers
from sim.plane.batch import Batch
from sim.plane.operations import Op
from sim.workloads.ior.backend import Task, add_calls
from sim.workloads.ior.parameters import PAGE
from sim.workloads.ior.posix import PosixBackend


class MappedBackend(PosixBackend):
    """The calls of MMAP.

    Parameters
    ----------
    task
        What to do.
    """

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
