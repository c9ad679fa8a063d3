"""The HDF5 files of a configuration: made once, and known by name to later benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from xc40io.engine.types import Floats
from xc40io.libraries.hdf5 import Dataset, Hdf5File, Hdf5Properties
from xc40io.libraries.hdf5_objects import Group
from xc40io.machine.filesystem import FileSet
from xc40io.mpi.hints import resolve
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op
from xc40io.workloads.h5bench.configuration import Configuration
from xc40io.workloads.job import Job, Waiting
from xc40io.workloads.kernels.shared_file import SharedFile, mpi_file
from xc40io.workloads.kernels.subfiled import batch_of, of_stub, place_of


@dataclass
class BenchmarkFile:
    """What a benchmark has written: its file, and the datasets of each time step."""

    file: Hdf5File  # as the library keeps it in mind
    # group and datasets of each time step
    steps: list[tuple[Group, list[Dataset]]] = field(default_factory=list)


class OpenFile(SharedFile):
    """One HDF5 file in the hands of a benchmark, on Lustre where one before it has made it.

    The configuration says the striping, where the job does not.
    """

    def __init__(
        self,
        job: Job,
        configuration: Configuration,
        name: str,
        files: FileSet | None,
        *,
        subfiling: bool = False,
    ) -> None:
        told, asked = configuration.striping, job.striping
        count = told.count if asked.count is None else asked.count
        size = told.size if asked.size is None else asked.size
        striping = replace(asked, count=count, size=size)
        in_force = resolve(job.environment, file_name=name, striping=striping, machine=job.machine)
        super().__init__(job, name, in_force, files)
        self._place = place_of(job, in_force.striping) if subfiling else None
        if subfiling:
            self.mpi = mpi_file(job, self.files, in_force.hints, of_stub(job))

    def library(self, properties: Hdf5Properties) -> Hdf5File:
        """Return the file as HDF5 has it, yet to be created."""
        file = Hdf5File(self.mpi, self._job.machine.mpi, properties, self._place)
        for end, made in file.beside.items():
            self._job.files[f"{self._name}.{end}"] = made
        return file

    def do(self, calls: list[Callable[[Batch], object]], label: str, think: float = 0.0) -> Waiting:
        """Let all ranks make calls one after the other, and note the time around each."""
        job = self._job
        batch = batch_of(job, self._place)
        batch.add(Op.MARK, job.world.owners, mark=0)
        for mark, call in enumerate(calls, 1):
            call(batch)
            batch.add(Op.MARK, job.world.owners, mark=mark)
        yield from job.do(batch, label, think=think)

    def seconds(self, calls: int) -> Floats:
        """Return how long each call of the latest :meth:`do` took: float64 (ranks, calls)."""
        spans: Floats = np.diff(self._job.marks()[:, : calls + 1], axis=1)
        return spans
