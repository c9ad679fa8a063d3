"""Threads of a rank that read with ``pread``, to find how many streams a core needs.

After the test with which E. Slaughter (Stanford) measured Cori's KNL nodes (NERSC, Optimizing I/O
on Cori KNL): the tasks of a Legion program, each of which reads its part of a file by itself. The
threads of a rank share its core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.units import Size
from xc40io.engine.types import Integers
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op
from xc40io.workloads.kernels.kernel import MOST_PROGRAMS, Kernel, check_capacity

if TYPE_CHECKING:
    from xc40io.workloads.job import Job, Waiting

_OPEN, _READ, _CLOSE, _END = range(4)  # marks


class PreadThreads(Kernel):
    """Every rank opens a file, and each of its threads reads a contiguous part of it.

    The file was there before, and nothing of it is in memory.
    """

    name: ClassVar[str] = "pread-threads"

    pool: Annotated[int, Field(ge=1)] = Field(16, description="Threads of each rank.")
    size: Size = Field(256 * 2**20, description="What a rank's threads read, all together.")
    transfer: Size = Field(2**20, description="Bytes of a call.")
    shared: bool = Field(True, description="One file for all ranks, not one for each.")
    direct: bool = Field(False, description="Direct I/O, past the page cache.")

    def helpers(self) -> int:
        """Return how many helper threads each rank has."""
        return self.pool

    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes that all ranks read."""
        return ranks * self.size

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless whole calls make up the size, and the threads can be held."""
        ranks = scenario.nodes * scenario.ppn
        if self.size % self.transfer:
            raise InputError(
                f"kernel pread-threads: size = {self.size} is not a multiple of transfer = "
                f"{self.transfer}"
            )
        if ranks * (self.pool + 1) > MOST_PROGRAMS:
            raise InputError(
                f"kernel pread-threads: {ranks:,} ranks with pool = {self.pool} make too many "
                f"threads to simulate; right would be at most {MOST_PROGRAMS:,} in all"
            )
        check_capacity(ranks * self.size, machine, "kernel pread-threads: the files take")

    def run(self, job: Job) -> Waiting:
        """Open, read, close."""
        files = 1 if self.shared else job.ranks
        size = self.size * (job.ranks if self.shared else 1)
        job.files["data"] = made = job.filesystem.allocate(
            files, job.striping, size=size, direct=self.direct
        )
        ranks = np.arange(job.ranks)
        file = made.first + (0 * ranks if self.shared else ranks)
        begin = ranks * self.size if self.shared else 0 * ranks
        batch = job.batch(ranks)
        batch.add(Op.MARK, ranks, mark=_OPEN)
        batch.add(Op.OPEN, ranks, file=file)
        batch.add(Op.MARK, ranks, mark=_READ)
        self._read(job, batch, file, begin)
        batch.add(Op.MARK, ranks, mark=_CLOSE)
        batch.add(Op.CLOSE, ranks, file=file)
        batch.add(Op.MARK, ranks, mark=_END)
        yield from job.do(batch, "read")
        times = job.marks()
        job.record("-", "open", times[:, _OPEN], times[:, _READ])
        job.record("-", "read", times[:, _READ], times[:, _CLOSE], self.size * job.ranks)
        job.record("-", "close", times[:, _CLOSE], times[:, _END])

    def _read(self, job: Job, batch: Batch, file: Integers, begin: Integers) -> None:
        """Add the threads: they wait for their rank, read their calls, and meet it again."""
        ranks, pool = job.ranks, self.pool
        rank = np.repeat(np.arange(ranks), pool)
        turn = np.tile(np.arange(pool), ranks)
        thread = ranks + np.arange(ranks * pool)
        meeting = job.meetings(ranks)
        everyone = np.concatenate([np.arange(ranks), thread])
        where = np.concatenate([meeting, meeting[rank]])
        calls = self.size // self.transfer
        first = turn * calls // pool
        count = (turn + 1) * calls // pool - first
        batch.add(Op.MEET, everyone, meeting=where, members=pool + 1)
        busy = count > 0
        batch.add(
            Op.READ,
            thread[busy],
            file=file[rank[busy]],
            offset=(begin[rank] + first * self.transfer)[busy],
            length=self.transfer,
            stride=self.transfer,
            count=count[busy],
        )
        batch.add(Op.MEET, everyone, meeting=where, members=pool + 1)
