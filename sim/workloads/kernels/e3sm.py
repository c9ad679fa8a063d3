"""E3SM-like output: records of a climate model, of which every rank has many small parts.

After the I/O kernel E3SM-IO (Parallel-NetCDF/E3SM-IO; in h5bench too): the columns of the globe, a
cubed sphere, are dealt to the ranks along a space-filling curve, so that a rank's columns are many
short runs of an array's last dimension. Each variable has a slice in every record of a PnetCDF
file, and the slices of one variable lie a whole record apart.

With a rearranger ranks do not call PnetCDF: they hand what they have to I/O tasks of PIO
(:mod:`xc40io.libraries.pio`), as the model itself does. Variables without levels and those with
levels are two decompositions, each with a buffer that is written when it is full and at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.units import Count, Seconds
from xc40io.libraries.pio import BUFFER, Rearrangement, io_tasks, rearranged
from xc40io.libraries.pnetcdf import PnetcdfFile, PnetcdfProperties, Variable
from xc40io.libraries.selections import Hyperslab, Storage, file_pieces
from xc40io.mpi.alltoallv import Messages, alltoallv
from xc40io.plane.operations import Op
from xc40io.workloads.kernels.kernel import TRIED, Kernel, KernelRun, Natural, check_capacity
from xc40io.workloads.kernels.shared_file import SharedFile, in_force_of

if TYPE_CHECKING:
    from xc40io.engine.types import Integers
    from xc40io.plane.batch import Batch
    from xc40io.workloads.job import Job, Waiting

_FLOAT = 4  # bytes of an element
_MOST_PIECES = 20_000_000
_FILE = "history.nc"
_OPEN, _WRITE, _CLOSE, _END = range(4)  # marks


class E3sm(Kernel):
    """Ranks that write variables of columns, and of levels by columns, one collective call each.

    The F case of E3SM-IO has 323 variables of columns and 63 with levels; the defaults are a tenth
    of that. Columns are dealt to the ranks in turn, a run at a time.
    """

    name: ClassVar[str] = "e3sm"

    columns: Count = Field(48_602, description="Columns of the globe: 48,602 of ne30's grid.")
    levels: Count = Field(72, description="Vertical levels of the variables that have levels.")
    variables_2d: Natural = Field(32, description="Variables with one value a column.")
    variables_3d: Natural = Field(6, description="Variables with levels, by columns.")
    records: Count = Field(1, description="Records, one after the other.")
    compute: Seconds = Field(0.0, description="Computing before each record but the first.")
    run_length: Count = Field(
        16, description="Columns of a rank that lie next to each other in the file."
    )
    rearranger: Literal["none", "box", "subset"] = Field(
        "none",
        description="Of PIO: how ranks hand columns to its I/O tasks; none: each calls PnetCDF.",
        json_schema_extra={TRIED: True},
    )
    io_stride: Natural = Field(
        0, description="One rank in so many is an I/O task of PIO; 0: one of each node's."
    )

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
        check_capacity(written, machine, "kernel e3sm: the records take")

    def run(self, job: Job) -> Waiting:
        """Create the file, write the records, close it."""
        yield from _Run(self, job).run()


class _Run(KernelRun[E3sm]):
    """One run of the kernel."""

    def run(self) -> Waiting:
        """Create the file, write the records, close it."""
        job, options = self._job, self._options
        self._plans: dict[tuple[int, ...], Rearrangement] = {}
        self._meetings: dict[tuple[int, ...], Integers] = {}
        stride = options.io_stride or -(-job.ranks // job.world.nodes)
        self._tasks = io_tasks(job.ranks, 1 if options.rearranger == "none" else stride)
        ranks = None if options.rearranger == "none" else job.communicator(self._tasks)
        in_force = in_force_of(job, _FILE, pnetcdf=True)
        shared = SharedFile(job, _FILE, in_force, ranks=ranks)
        file = PnetcdfFile(shared.mpi, job.machine.mpi, PnetcdfProperties(version=5))
        batch, every = job.batch(), job.world.owners
        batch.add(Op.MARK, every, mark=_OPEN)
        file.create(batch)
        variables = self._define(file)
        file.end_define(batch)
        batch.add(Op.MARK, every, mark=_WRITE)
        yield from job.do(batch, "metadata")
        times = job.marks()
        job.record("-", "open", times[:, _OPEN], times[:, _WRITE])
        shared.start_timers()
        for record in range(self._options.records):
            yield from self._record(file, variables, record)
        batch = job.batch()
        batch.add(Op.MARK, every, mark=_CLOSE)
        file.close(batch)
        batch.add(Op.MARK, every, mark=_END)
        yield from job.do(batch, "metadata")
        times = job.marks()
        job.record("-", "close", times[:, _CLOSE], times[:, _END])
        shared.tell("-", writing=True)

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
            if options.rearranger == "none":
                for variable in own:
                    file.put(batch, variable, self._part(job.ranks, variable, record))
            elif own:
                self._hand_over(batch, file, own, record)
            batch.add(Op.MARK, every, mark=2 * kind + 1)
        yield from job.do(batch, "write")
        times = job.marks()
        slices = (options.variables_2d, options.variables_3d * options.levels)
        for kind, phase in enumerate(("write 2d", "write 3d")):
            moved = slices[kind] * options.whole_columns * _FLOAT
            if moved:
                first = 2 * kind
                job.record(str(record), phase, times[:, first], times[:, first + 1], moved)

    def _hand_over(
        self, batch: Batch, file: PnetcdfFile, variables: list[Variable], record: int
    ) -> None:
        """Let ranks hand variables of one shape to the I/O tasks, which write them."""
        job, plan = self._job, self._plan(variables[0])
        meetings = self._meetings[variables[0].shape]
        largest = int(np.bincount(plan.written.rank, plan.written.length).max())
        at_once = max(1, BUFFER // largest)
        for first in range(0, len(variables), at_once):
            some = variables[first : first + at_once]
            sender, receiver, size = plan.messages
            messages = Messages(sender, receiver, size * len(some))
            pieces = plan.pieces * len(some)
            mpi = job.machine.mpi
            alltoallv(batch, job.world, mpi, messages, plan.group, meetings, pieces)
            file.put_together(batch, some, record, plan.written)

    def _plan(self, variable: Variable) -> Rearrangement:
        """Return how the variables of a shape are rearranged, which is worked out once."""
        how, ranks = self._options.rearranger, self._job.ranks
        if variable.shape not in self._plans and how != "none":
            part = self._part(ranks, variable, 0)
            start, stride, count, block = (
                column[:, 1:] for column in (part.start, part.stride, part.count, part.block)
            )
            within = Hyperslab(start, stride, count, block, part.rank)
            storage = Storage(variable.shape, _FLOAT, variable.shape, np.zeros(1, np.int64))
            own = file_pieces(within, storage).accesses(within.rank)
            plan = rearranged(how, own, variable.shape, _FLOAT, ranks, self._tasks)
            self._plans[variable.shape] = plan
            self._meetings[variable.shape] = self._job.meetings(int(plan.group.max()) + 1)
        return self._plans[variable.shape]

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
            file.define_variable(f"v{len(shape)}d{number:04d}", shape, _FLOAT)
            for count, shape in kinds
            for number in range(count)
        ]
