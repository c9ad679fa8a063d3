"""A pattern of h5bench at work: time step after time step.

Ranks meet at the end of each time step here, which h5bench leaves to the calls themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import simpy

from xc40io.engine.types import Floats
from xc40io.libraries.hdf5 import Dataset, Hdf5Properties
from xc40io.libraries.hdf5_header import FLOAT, INTEGER, compound
from xc40io.libraries.hdf5_objects import Group
from xc40io.libraries.hdf5_transfer import TransferProperties
from xc40io.libraries.selections import Hyperslab
from xc40io.plane.batch import Batch
from xc40io.workloads.h5bench.benchmarks import (
    ELEMENT,
    OPENED,
    PARTICLE,
    SIZED,
    VARIABLES,
    Pattern,
    PatternTimes,
)
from xc40io.workloads.h5bench.open_file import BenchmarkFile, OpenFile
from xc40io.workloads.job import Job, Waiting
from xc40io.workloads.job_results import Figure

_CONVERTED = (1 << 20) // PARTICLE
"""Particles whose type is converted at a time: HDF5's buffer for that is 1 MiB by default."""

_PARTICLE_TYPE = compound({name: INTEGER if name == "id_1" else FLOAT for name in VARIABLES})

_MEASURED = Generator[simpy.Event, Any, tuple[PatternTimes, BenchmarkFile]]
_CALLS = list[Callable[[Batch], object]]


class PatternRun:
    """One benchmark of particles at work.

    Parameters
    ----------
    task, job, file, step
        What to do, where, with which file, and what its rows are called.
    before
        What an earlier benchmark has written.
    """

    def __init__(
        self, task: Pattern, job: Job, file: OpenFile, step: str, before: BenchmarkFile | None
    ) -> None:
        self._task, self._job, self._open, self._step = task, job, file, step
        self._writes = task.operation != "read"
        if task.makes or before is None:
            before = BenchmarkFile(file.library(_properties(task)))
        else:
            before.file.properties = _properties(task)
            before.file.attach(file.mpi)
        self._written, self._file = before, before.file
        self._raw = self._metadata = 0.0

    def run(self) -> _MEASURED:
        """Open or create, go through the time steps, flush and close; return what came of it.

        That are its times, and what is in the file now.
        """
        task, job, file = self._task, self._job, self._open
        began = float(job.filesystem.environment.now)
        yield from file.do([self._begin, job.barrier], "metadata")
        create = self._row("H5Fcreate" if task.makes else "H5Fopen", file.seconds(1)[:, 0])
        yield from self._time_steps()
        yield from file.do([self._flush, self._file.close, job.barrier], "metadata")
        spans = file.seconds(3)
        flush = self._row("H5Fflush", spans[:, 0]) if task.makes else 0.0
        close = self._row("H5Fclose", spans[:, 1])
        file.tell(self._step, writing=self._writes)
        times = PatternTimes(
            size=task.steps * task.moved * job.ranks,
            raw=self._raw,
            metadata=self._metadata,
            create=create,
            flush=flush,
            close=close,
            observed=float(job.filesystem.environment.now) - began,
        )
        return times, self._written

    def _begin(self, batch: Batch) -> None:
        if self._task.makes:
            self._file.create(batch)
            return
        self._file.open(batch, writing=self._writes)
        group, datasets = self._written.steps[0]
        self._file.open_group(batch, group)
        sized = VARIABLES.index(SIZED) if len(datasets) > 1 else 0
        self._file.open_dataset(batch, datasets[sized])

    def _flush(self, batch: Batch) -> None:
        """Flush what was written, and meet, as the benchmarks that create files do."""
        if self._task.makes:
            self._file.flush(batch)
            self._job.barrier(batch)

    def _calls(self, number: int) -> _CALLS:
        """Return what makes or opens group and datasets of a time step, and what moves the data."""
        task = self._task
        group, datasets = (None, []) if task.makes else self._written.steps[number]
        if len(datasets) > 1:
            datasets = [datasets[VARIABLES.index(name)] for name in OPENED]

        def prepare(batch: Batch) -> None:
            nonlocal group, datasets
            if group is None:
                group = self._file.create_group(batch, f"Timestep_{number}")
                datasets = self._datasets(batch, group)
                self._written.steps.append((group, datasets))
                return
            self._file.open_group(batch, group)
            for dataset in datasets:
                self._file.open_dataset(batch, dataset, together=task.operation == "read")

        return [prepare, lambda batch: self._move(batch, datasets)]

    @property
    def _label(self) -> str:
        """What the time steps do."""
        return "write" if self._writes else "read"

    def _time_steps(self) -> Waiting:
        """Go through the time steps."""
        task, name = self._task, "H5Dwrite" if self._writes else "H5Dread"
        for number in range(task.steps):
            compute = 0.0 if number + 1 == task.steps else task.compute
            yield from self._open.do(self._calls(number), self._label, compute)
            spans = self._open.seconds(2)
            self._metadata += self._row(f"metadata {number}", spans[:, 0], quiet=True)
            moved = task.moved * self._job.ranks
            self._raw += self._row(name, spans[:, 1], moved, skip=spans[:, 0])

    def _datasets(self, batch: Batch, group: Group) -> list[Dataset]:
        """Create the datasets of a time step."""
        task = self._task
        dims = (task.dims[0] * self._job.ranks, *task.dims[1:])
        apart = task.datasets > 1
        names = VARIABLES if apart else ("particles",)
        size, described = (ELEMENT, FLOAT) if apart else (PARTICLE, _PARTICLE_TYPE)
        return [
            self._file.create_dataset(
                batch, name, dims, size, chunk=task.chunk, group=group, type_size=described
            )
            for name in names
        ]

    def _move(self, batch: Batch, datasets: list[Dataset]) -> None:
        """Write or read the datasets.

        Where the types of memory and file differ, HDF5 converts a buffer at a time, which it does
        in independent transfers only. Types with members are converted onto what the file has: each
        buffer is read before it is written. So a single variable of a particle in the file takes
        whole particles, once for each variable.
        """
        task, file = self._task, self._file
        if task.memory == task.file or task.file == "STRIDED":
            for dataset in datasets:
                self._transfer(batch, dataset, self._selection())
            return
        buffers, kept = self._in_buffers(), file.properties
        alone = replace(kept.transfer, collective=False)
        file.properties = replace(kept, transfer=alone)
        for dataset in datasets * (len(VARIABLES) if task.datasets == 1 else 1):
            for pieces in buffers:
                file.read(batch, dataset, pieces)
                file.write(batch, dataset, pieces)
        file.properties = kept

    def _transfer(self, batch: Batch, dataset: Dataset, selection: Hyperslab) -> None:
        move = self._file.write if self._writes else self._file.read
        move(batch, dataset, selection)

    def _selection(self) -> Hyperslab:
        """Return what each rank takes of a dataset."""
        task, ranks = self._task, self._job.ranks
        start = np.zeros((ranks, len(task.dims)), np.int64)
        first = self._written_dims()
        start[:, 0] = np.arange(ranks) * first
        if task.file == "STRIDED":
            return Hyperslab.of(start, task.block, stride=task.stride, count=task.blocks)
        block = (task.partial,) if task.partial else task.dims
        return Hyperslab.of(start, np.array(block))

    def _written_dims(self) -> int:
        """Return the particles along the first dimension that lie between two ranks."""
        if self._task.makes or len(self._task.dims) > 1:
            return self._task.dims[0]
        return self._written.steps[0][1][0].storage.dims[0] // self._job.ranks

    def _in_buffers(self) -> list[Hyperslab]:
        """Return the same as :meth:`_selection`, in parts of as much as one buffer converts."""
        task, ranks = self._task, self._job.ranks
        rows, inner = task.dims[0], prod(task.dims[1:])
        each = max(_CONVERTED // inner, 1)
        parts = []
        for begin in range(0, rows, each):
            start = np.zeros((ranks, len(task.dims)), np.int64)
            start[:, 0] = np.arange(ranks) * rows + begin
            parts.append(Hyperslab.of(start, (min(rows - begin, each), *task.dims[1:])))
        return parts

    def _row(
        self,
        name: str,
        seconds: Floats,
        moved: int = 0,
        *,
        skip: Floats | None = None,
        quiet: bool = False,
    ) -> float:
        """Add a row, unless ``quiet``; return what rank 0 has measured, in seconds."""
        if not quiet:
            began = self._job.marks()[:, 0] + (0.0 if skip is None else skip)
            rate = Figure(moved / float(seconds.max()), "bytes/s") if moved else None
            figures = {"raw rate": rate} if rate else None
            self._job.record(self._step, name, began, began + seconds, moved, figures)
        return float(seconds[0])


def _properties(task: Pattern) -> Hdf5Properties:
    """Return how the benchmark has HDF5 access the file."""
    together = task.collective_metadata or not task.makes
    return Hdf5Properties(
        release="1.10.2",
        alignment=task.alignment,
        alignment_threshold=task.threshold,
        collective_metadata_reads=together,
        collective_metadata_writes=together,
        transfer=TransferProperties(collective=task.collective and task.operation != "overwrite"),
    )
