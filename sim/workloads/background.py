"""A thread beside each rank of a job, which does the operations that the rank hands over, in order.

The rank goes on meanwhile, and waits for them when it wants to: as with HDF5's asynchronous
connector, whose thread takes the calls of the library from a queue, or with ``MPI_File_iwrite_at``
where ROMIO hands it to the thread of POSIX's asynchronous I/O. Where the thread runs is for the job
to say: on the core of its rank, which then computes longer, or on one of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op

if TYPE_CHECKING:
    from xc40io.engine.types import Integers
    from xc40io.workloads.job import Job

CHECK = 600e-6
"""Seconds that the thread of HDF5's asynchronous connector waits before each call, to see that the
application makes no more calls: both would want the library's one lock (vol-async of December 2024,
``ASYNC_APP_CHECK_SLEEP_TIME``)."""


class Background:
    """The threads of one batch: the ranks', at the positions behind theirs, one of each.

    A job has them if its workload says one helper for each rank.
    """

    def __init__(self, job: Job) -> None:
        self._ranks = np.arange(job.ranks)
        self._of_ranks, self.threads = job.programs, job.programs + 1
        self._copy_rate = job.machine.mpi.copy_rate
        self._handed = self._waited = 0
        self.counted = 0
        """How far the threads have counted what they have done."""
        self.batch = job.batch(self._ranks)

    @contextmanager
    def handing_over(self, copied: Integers | None = None, checked: float = 0.0) -> Iterator[None]:
        """Make what the ranks are given meanwhile the work of their threads, when it is its turn.

        Parameters
        ----------
        copied
            int64 (ranks,): bytes that each rank first copies to a buffer of the thread's, so that
            its own is free again.
        checked
            Seconds that the thread waits before it begins.
        """
        batch, ranks = self.batch, self._ranks
        if copied is not None:
            batch.add(Op.WORK, ranks, seconds=copied / self._copy_rate)
        batch.add(Op.POST, ranks)
        self._handed += 1
        with batch.behind(len(ranks)):
            batch.add(Op.AWAIT, ranks, program=self._of_ranks, count=self._handed)
            batch.add(Op.THINK, ranks, seconds=checked)
            yield
            self.count()

    def count(self) -> None:
        """Let the threads count one up, behind what they were handed so far."""
        self.batch.add(Op.POST, self._ranks)
        self.counted += 1

    def wait(self, counted: int) -> None:
        """Let the ranks wait until their threads have counted so far."""
        if counted > self._waited:
            self.batch.add(Op.AWAIT, self._ranks, program=self.threads, count=counted)
            self._waited = counted

    def finish(self) -> Batch:
        """Return the batch; threads that were handed nothing have at least something to do."""
        with self.batch.behind(len(self._ranks)):
            self.count()
        return self.batch
