"""The kernel of reading threads at work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sim.engine.types import Integers
from sim.plane.batch import Batch
from sim.plane.operations import Op
from sim.workloads.job import Job
from sim.workloads.pread_threads import PreadThreads

if TYPE_CHECKING:
    from sim.workloads.job import Waiting

_OPEN, _READ, _CLOSE, _END = range(4)  # marks


def run(kernel: PreadThreads, job: Job) -> Waiting:
    """Open, read, close."""
    yield from PreadThreadsRun(kernel, job).run()


class PreadThreadsRun:
    """One run of the kernel.

    Parameters
    ----------
    options
        What it is to do.
    job
        Where.
    """

    def __init__(self, options: PreadThreads, job: Job) -> None:
        self._options = options
        self._job = job

    def run(self) -> Waiting:
        """Open, read, close."""
        options, job = self._options, self._job
        files = 1 if options.shared else job.ranks
        size = options.size * (job.ranks if options.shared else 1)
        job.files["data"] = made = job.filesystem.allocate(
            files, job.striping, size=size, direct=options.direct
        )
        ranks = np.arange(job.ranks)
        file = made.first + (0 * ranks if options.shared else ranks)
        begin = ranks * options.size if options.shared else 0 * ranks
        batch = job.batch(ranks)
        batch.add(Op.MARK, ranks, mark=_OPEN)
        batch.add(Op.OPEN, ranks, file=file)
        batch.add(Op.MARK, ranks, mark=_READ)
        self._read(batch, file, begin)
        batch.add(Op.MARK, ranks, mark=_CLOSE)
        batch.add(Op.CLOSE, ranks, file=file)
        batch.add(Op.MARK, ranks, mark=_END)
        yield from job.do(batch, "read")
        times = job.marks()
        job.record("-", "open", times[:, _OPEN], times[:, _READ])
        job.record("-", "read", times[:, _READ], times[:, _CLOSE], options.size * job.ranks)
        job.record("-", "close", times[:, _CLOSE], times[:, _END])

    def _read(self, batch: Batch, file: Integers, begin: Integers) -> None:
        """Add the threads: they wait for their rank, read their calls, and meet it again."""
        options, job = self._options, self._job
        ranks, pool = job.ranks, options.pool
        rank = np.repeat(np.arange(ranks), pool)
        turn = np.tile(np.arange(pool), ranks)
        thread = ranks + np.arange(ranks * pool)
        meeting = job.meetings(ranks)
        everyone = np.concatenate([np.arange(ranks), thread])
        where = np.concatenate([meeting, meeting[rank]])
        calls = options.size // options.transfer
        first = turn * calls // pool
        count = (turn + 1) * calls // pool - first
        batch.add(Op.MEET, everyone, meeting=where, members=pool + 1)
        busy = count > 0
        batch.add(
            Op.READ,
            thread[busy],
            file=file[rank[busy]],
            offset=(begin[rank] + first * options.transfer)[busy],
            length=options.transfer,
            stride=options.transfer,
            count=count[busy],
        )
        batch.add(Op.MEET, everyone, meeting=where, members=pool + 1)
