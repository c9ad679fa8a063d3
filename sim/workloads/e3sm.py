"""E3SM-like output: records of a climate model, of which every rank has many small parts.

After the I/O kernel E3SM-IO (Parallel-NetCDF/E3SM-IO; in h5bench too): the columns of the globe, a
cubed sphere, are dealt to the ranks along a space-filling curve, so that a rank's columns are many
short runs of an array's last dimension. Each variable has a slice in every record of a PnetCDF
file, and the slices of one variable lie a whole record apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.units import Count, Seconds
from sim.workloads.kernel import Kernel

if TYPE_CHECKING:
    from sim.config.scenario import Scenario
    from sim.engine.types import Floats
    from sim.libraries.pnetcdf import PnetcdfFile, Variable
    from sim.libraries.selections import Hyperslab
    from sim.mpi.hints import InForce
    from sim.workloads.job import Job, Waiting

_FILE = "history.nc"
_FLOAT = 4
_MOST_PIECES = 20_000_000
_OPEN, _WRITE, _CLOSE, _END = range(4)  # marks


class E3sm(Kernel):
    """Ranks that write variables of columns, and of levels by columns, one collective call each.

    The F case of E3SM-IO has 323 variables of columns and 63 with levels; the defaults are a tenth
    of that. Columns are dealt to the ranks in turn, a run at a time.
    """

    name: ClassVar[str] = "e3sm"

    columns: Count = Field(48_602, description="Columns of the globe: 48,602 of ne30's grid.")
    levels: Count = Field(72, description="Levels of the variables that have some.")
    variables_2d: Annotated[int, Field(ge=0)] = Field(32, description="Variables of columns.")
    variables_3d: Annotated[int, Field(ge=0)] = Field(
        6, description="Variables of levels by columns."
    )
    records: Count = Field(1, description="Records, one after the other.")
    compute: Seconds = Field(0.0, description="Computing before each record but the first.")
    run_length: Count = Field(16, description="Columns of a rank that lie together.")

    @property
    def whole_columns(self) -> int:
        """The columns, made up to whole runs."""
        return -(-self.columns // self.run_length) * self.run_length

    def bytes_to_move(self, ranks: int) -> int:  # noqa: ARG002
        """Return the bytes of all records."""
        slices = self.variables_2d + self.variables_3d * self.levels
        return self.records * slices * self.whole_columns * _FLOAT

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless there is something to write, and not too much of it."""
        if self.variables_2d + self.variables_3d == 0:
            raise InputError("kernel e3sm: variables_2d and variables_3d are 0: nothing to write")
        pieces = self.whole_columns // self.run_length * self.levels
        if pieces > _MOST_PIECES:
            raise InputError(
                f"kernel e3sm: {pieces:,} pieces in one call; right would be at most "
                f"{_MOST_PIECES:,}, by a longer run_length"
            )
        written = self.bytes_to_move(scenario.nodes * scenario.ppn)
        if written > machine.lustre.capacity:
            raise InputError(
                f"kernel e3sm: the records take {written / 1e15:.1f} PB; the file system of "
                f"{machine.name} holds {machine.lustre.capacity / 1e15:.1f} PB"
            )

    def run(self, job: Job) -> Waiting:
        """Create the file, write the records, close it."""
        from sim.lustre.tables import Op

        in_force, file = self._new(job)
        batch, every = job.batch(), job.world.owners
        batch.add(Op.MARK, every, offset=_OPEN)
        file.create(batch)
        variables = self._define(file)
        file.end_define(batch)
        batch.add(Op.MARK, every, offset=_WRITE)
        yield from job.do(batch, "metadata")
        times = job.marks()
        job.record("-", "open", times[:, _OPEN], times[:, _WRITE])
        before = job.filesystem.timers(job.programs)
        for record in range(self.records):
            yield from self._record(job, file, variables, record)
        batch = job.batch()
        batch.add(Op.MARK, every, offset=_CLOSE)
        file.close(batch)
        batch.add(Op.MARK, every, offset=_END)
        yield from job.do(batch, "metadata")
        times = job.marks()
        job.record("-", "close", times[:, _CLOSE], times[:, _END])
        spent = job.filesystem.timers(job.programs) - before
        self._tell(job, in_force, file, spent)

    def _record(
        self, job: Job, file: PnetcdfFile, variables: list[Variable], record: int
    ) -> Waiting:
        """Compute, and write all variables of a record, one after the other."""
        from sim.lustre.tables import Op

        batch, every = job.batch(), job.world.owners
        if record and self.compute:
            batch.add(Op.THINK, every, seconds=self.compute)
        for kind, own in enumerate(
            (variables[: self.variables_2d], variables[self.variables_2d :])
        ):
            batch.add(Op.MARK, every, offset=2 * kind)
            for variable in own:
                file.put(batch, variable, self._part(job.ranks, variable, record))
            batch.add(Op.MARK, every, offset=2 * kind + 1)
        yield from job.do(batch, "write")
        times = job.marks()
        slices = (self.variables_2d, self.variables_3d * self.levels)
        for kind, phase in enumerate(("write 2d", "write 3d")):
            moved = slices[kind] * self.whole_columns * _FLOAT
            if moved:
                first = 2 * kind
                job.record(str(record), phase, times[:, first], times[:, first + 1], moved)

    def _part(self, ranks: int, variable: Variable, record: int) -> Hyperslab:
        """Return what each rank has of a variable: every so many columns a run."""
        import numpy as np

        from sim.libraries.selections import Hyperslab

        rank, run = np.arange(ranks), self.run_length
        runs = self.whole_columns // run
        count = np.maximum(-(-(runs - rank) // ranks), 0)
        same = np.ones_like(rank)
        start, block = [record * same], [same]
        stride, counts = [same], [same]
        if len(variable.shape) > 1:
            start.append(0 * rank)
            for column in (block, stride):
                column.append(self.levels * same)
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
        time = file.define_dimension("time", None)
        level = file.define_dimension("lev", self.levels)
        column = file.define_dimension("ncol", self.whole_columns)
        kinds = ((self.variables_2d, [time, column]), (self.variables_3d, [time, level, column]))
        return [
            file.define_variable(f"v{len(shape)}d{number:04d}", shape, _FLOAT)
            for count, shape in kinds
            for number in range(count)
        ]

    def _new(self, job: Job) -> tuple[InForce, PnetcdfFile]:
        """Return the hints in force and the file, yet to be created (CDF-5)."""
        from sim.libraries.pnetcdf import PnetcdfFile, PnetcdfProperties
        from sim.mpi.file import MpiFile
        from sim.mpi.hints import resolve

        in_force = resolve(
            job.environment, file_name=_FILE, striping=job.striping, machine=job.machine
        )
        job.notes.extend(in_force.ignored)
        job.files[_FILE] = files = job.filesystem.allocate(1, in_force.striping)
        file = MpiFile(
            files.first,
            files.stripe_count,
            files.stripe_size,
            job.world,
            in_force.hints,
            job.machine,
            job.filesystem.meetings(),
        )
        file.set_flags(job.filesystem.plane.tables.files)
        properties = PnetcdfProperties(version=5)
        return in_force, PnetcdfFile(file, job.machine.mpi, properties, files.stripe_size)

    def _tell(self, job: Job, in_force: InForce, file: PnetcdfFile, spent: Floats) -> None:
        """Keep what MPI-IO has to tell."""
        from sim.mpi.record import MpiRecord

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
