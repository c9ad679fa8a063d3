"""The E3SM kernel at work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sim.engine.types import Floats
from sim.libraries.pnetcdf import PnetcdfFile, PnetcdfProperties, Variable
from sim.libraries.selections import Hyperslab
from sim.mpi.file import MpiFile
from sim.mpi.hints import InForce, resolve
from sim.mpi.record import MpiRecord
from sim.plane.operations import Op
from sim.workloads.e3sm import FLOAT, E3sm
from sim.workloads.job import Job

if TYPE_CHECKING:
    from sim.workloads.job import Waiting

_FILE = "history.nc"
_OPEN, _WRITE, _CLOSE, _END = range(4)  # marks


def run(kernel: E3sm, job: Job) -> Waiting:
    """Create the file, write the records, close it."""
    yield from E3smRun(kernel, job).run()


class E3smRun:
    """One run of the E3SM kernel.

    Parameters
    ----------
    options
        What it is to do.
    job
        Where.
    """

    def __init__(self, options: E3sm, job: Job) -> None:
        self._options = options
        self._job = job

    def run(self) -> Waiting:
        """Create the file, write the records, close it."""
        job = self._job
        in_force, file = self._new()
        batch, every = job.batch(), job.world.owners
        batch.add(Op.MARK, every, mark=_OPEN)
        file.create(batch)
        variables = self._define(file)
        file.end_define(batch)
        batch.add(Op.MARK, every, mark=_WRITE)
        yield from job.do(batch, "metadata")
        times = job.marks()
        job.record("-", "open", times[:, _OPEN], times[:, _WRITE])
        before = job.filesystem.timers(job.programs)
        for record in range(self._options.records):
            yield from self._record(file, variables, record)
        batch = job.batch()
        batch.add(Op.MARK, every, mark=_CLOSE)
        file.close(batch)
        batch.add(Op.MARK, every, mark=_END)
        yield from job.do(batch, "metadata")
        times = job.marks()
        job.record("-", "close", times[:, _CLOSE], times[:, _END])
        spent = job.filesystem.timers(job.programs) - before
        self._tell(in_force, file, spent)

    def _record(self, file: PnetcdfFile, variables: list[Variable], record: int) -> Waiting:
        """Compute, and write all variables of a record, one after the other."""
        options, job = self._options, self._job
        batch, every = job.batch(), job.world.owners
        if record and options.compute:
            batch.add(Op.THINK, every, seconds=options.compute)
        for kind, own in enumerate(
            (variables[: options.variables_2d], variables[options.variables_2d :])
        ):
            batch.add(Op.MARK, every, mark=2 * kind)
            for variable in own:
                file.put(batch, variable, self._part(job.ranks, variable, record))
            batch.add(Op.MARK, every, mark=2 * kind + 1)
        yield from job.do(batch, "write")
        times = job.marks()
        slices = (options.variables_2d, options.variables_3d * options.levels)
        for kind, phase in enumerate(("write 2d", "write 3d")):
            moved = slices[kind] * options.whole_columns * FLOAT
            if moved:
                first = 2 * kind
                job.record(str(record), phase, times[:, first], times[:, first + 1], moved)

    def _part(self, ranks: int, variable: Variable, record: int) -> Hyperslab:
        """Return what each rank has of a variable: every so many columns a run."""
        options = self._options
        rank, run = np.arange(ranks), options.run_length
        runs = options.whole_columns // run
        count = np.maximum(-(-(runs - rank) // ranks), 0)
        same = np.ones_like(rank)
        start, block = [record * same], [same]
        stride, counts = [same], [same]
        if len(variable.shape) > 1:
            start.append(0 * rank)
            for column in (block, stride):
                column.append(options.levels * same)
            counts.append(same)
        start.append(np.where(count > 0, rank * run, 0))
        block.append(run * same)
        stride.append(run * ranks * same)
        counts.append(count)
        columns = (np.stack(column, axis=1) for column in (start, block, stride, counts))
        first, blocks, strides, many = columns
        return Hyperslab.of(first, blocks, stride=strides, count=many)

    def _define(self, file: PnetcdfFile) -> list[Variable]:
        """Define the dimensions and variables: those without levels first."""
        options = self._options
        time = file.define_dimension("time", None)
        level = file.define_dimension("lev", options.levels)
        column = file.define_dimension("ncol", options.whole_columns)
        kinds = (
            (options.variables_2d, [time, column]),
            (options.variables_3d, [time, level, column]),
        )
        return [
            file.define_variable(f"v{len(shape)}d{number:04d}", shape, FLOAT)
            for count, shape in kinds
            for number in range(count)
        ]

    def _new(self) -> tuple[InForce, PnetcdfFile]:
        """Return the hints in force and the file, yet to be created (CDF-5)."""
        job = self._job
        in_force = resolve(
            job.environment, file_name=_FILE, striping=job.striping, machine=job.machine
        )
        job.notes.extend(in_force.ignored)
        job.files[_FILE] = files = job.filesystem.allocate(1, in_force.striping)
        file = MpiFile(
            files.first,
            files.layout(),
            job.world,
            in_force.hints,
            job.machine,
            job.filesystem.meetings(),
        )
        file.set_flags(job.filesystem.plane.files)
        properties = PnetcdfProperties(version=5)
        return in_force, PnetcdfFile(file, job.machine.mpi, properties)

    def _tell(self, in_force: InForce, file: PnetcdfFile, spent: Floats) -> None:
        """Keep what MPI-IO has to tell."""
        job = self._job
        job.mpi_records.append(
            (
                "-",
                MpiRecord(
                    file_name=_FILE,
                    files=1,
                    writing=True,
                    given={},
                    in_force=in_force,
                    communicator=job.world,
                    aggregators=file.file.aggregators,
                    counts=file.file.counts,
                    timers=spent,
                ),
            )
        )
