"""The HDF5 files of a configuration: made once, and known by name to later benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from xc40io.engine.types import Floats
from xc40io.libraries.hdf5 import Dataset, Hdf5File, Hdf5Properties
from xc40io.libraries.hdf5_objects import Group
from xc40io.machine.filesystem import FileSet
from xc40io.mpi.communicator import Collectives
from xc40io.mpi.file import MpiFile
from xc40io.mpi.hints import InForce, resolve
from xc40io.mpi.stats import MpiRecord
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op
from xc40io.workloads.h5bench.configuration import Configuration
from xc40io.workloads.job import Job, Waiting

MARKS = range(5)
"""The marks that a batch of a benchmark may use."""


@dataclass
class Written:
    """What a benchmark has written: its file, and the datasets of each time step."""

    file: Hdf5File  # as the library keeps it in mind
    # group and datasets of each time step
    steps: list[tuple[Group, list[Dataset]]] = field(default_factory=list)


class OpenFile:
    """One HDF5 file in the hands of a benchmark.

    Parameters
    ----------
    job
        Whose ranks do it.
    configuration
        Says the striping, where the job does not.
    name
        Of the file.
    files
        Its place on Lustre; made unless given.
    """

    def __init__(
        self, job: Job, configuration: Configuration, name: str, files: FileSet | None
    ) -> None:
        self._job = job
        self.name = name
        told, asked = configuration.striping, job.striping
        count = told.count if asked.count is None else asked.count
        size = told.size if asked.size is None else asked.size
        striping = replace(asked, count=count, size=size)
        self._in_force: InForce = resolve(
            job.environment, file_name=name, striping=striping, machine=job.machine
        )
        self.files = files or job.filesystem.allocate(1, self._in_force.striping)
        job.files[name] = self.files
        self.mpi = MpiFile(
            self.files.first,
            self.files.layout(),
            job.world,
            self._in_force.hints,
            job.machine,
            job.filesystem.meetings(),
        )
        self.mpi.set_flags(job.filesystem.plane.files)
        self._timers = job.filesystem.timers(job.programs)
        self._barrier = Collectives(job.machine.mpi, job.world.nodes, job.world.size).barrier()

    def library(self, properties: Hdf5Properties) -> Hdf5File:
        """Return the file as HDF5 has it, yet to be created."""
        return Hdf5File(self.mpi, self._job.machine.mpi, properties)

    def barrier(self, batch: Batch) -> None:
        """Let all ranks meet."""
        world = self._job.world
        batch.add(
            Op.MEET,
            world.owners,
            meeting=world.meeting,
            members=world.size,
            seconds=self._barrier,
        )

    def do(self, calls: list[Callable[[Batch], object]], label: str, think: float = 0.0) -> Waiting:
        """Let all ranks make calls one after the other, and note the time around each."""
        job = self._job
        batch = job.batch()
        batch.add(Op.MARK, job.world.owners, mark=MARKS[0])
        for mark, call in zip(MARKS[1:], calls, strict=False):
            call(batch)
            batch.add(Op.MARK, job.world.owners, mark=mark)
        yield from job.do(batch, label, think=think)

    def seconds(self, calls: int) -> Floats:
        """Return how long each call of the latest :meth:`do` took: float64 (ranks, calls)."""
        spans: Floats = np.diff(self._job.marks()[:, : calls + 1], axis=1)
        return spans

    def tell(self, step: str, *, writing: bool) -> None:
        """Keep what MPI-IO has to tell of the file."""
        job, before = self._job, self._timers
        self._timers = job.filesystem.timers(job.programs)
        record = MpiRecord(
            file_name=self.name,
            files=1,
            writing=writing,
            given={},
            in_force=self._in_force,
            communicator=job.world,
            aggregators=self.mpi.aggregators if writing else self.mpi.read_aggregators,
            counts=self.mpi.counts,
            timers=self._timers - before,
        )
        job.mpi_records.append((step, record))
