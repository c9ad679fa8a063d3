"""The ADIOS kernel: a simulation that writes its state through ADIOS 1 every now and then.

It stands for kernels as Skel generates them: the ranks compute, and write blocks that are not all
of one size, which an application with particles, adaptive meshes or walkers has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.units import Bytes, Count, Seconds, Size, format_bytes
from xc40io.engine.randomness import stream
from xc40io.engine.types import Integers
from xc40io.libraries.adios_aggregate import (
    MOST_GATHERED,
    MOST_HOPS,
    WARNED,
    AggregateOptions,
    MpiAggregate,
)
from xc40io.libraries.adios_format import group_sizes
from xc40io.libraries.adios_output import Method, Posix, Variables, Writers
from xc40io.mpi.stats import Timer
from xc40io.plane.operations import Op
from xc40io.workloads.job_results import Figure
from xc40io.workloads.kernels.kernel import Kernel, KernelRun, Share, check_capacity

if TYPE_CHECKING:
    from xc40io.workloads.job import Job, Waiting

_WORD = 8  # the blocks are of doubles
_OPEN, _WRITE, _CLOSE, _END = range(4)  # marks
_PARAMETERS = (
    *("num_aggregators", "num_ost", "osts_to_skip", "random_offset"),
    *("aggregation_type", "threading", "have_metadata_file"),
)
"""Of MPI_AGGREGATE, by their names in ADIOS."""


def _aggregation(value: object) -> object:
    """Read the type of aggregation by the number that ADIOS's XML file gives it."""
    return {"1": "all-gather", "2": "brigade"}.get(str(value), value)


def _osts(value: object) -> object:
    """Read one number as a list of OSTs."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class AdiosKernel(Kernel):
    """Ranks that write an output through ADIOS 1 in every step.

    The striping of the job is that of the subfiles; with MPI_AGGREGATE they have one stripe of
    1 MiB, as in ADIOS, unless it is given.
    """

    name: ClassVar[str] = "adios"

    method: Literal["POSIX", "MPI_AGGREGATE"] = Field(
        "MPI_AGGREGATE", description="A subfile for each rank, or for each group of ranks."
    )
    steps: Count = Field(15, description="Outputs, one after the other.")
    compute: Seconds = Field(1.0, description="Computing between two outputs.")
    size: Size = Field(2_400_000, description="What a rank writes in a step, on average.")
    distribution: Literal["fixed", "uniform", "normal", "exponential"] = Field(
        "uniform", description="How the sizes of the ranks are distributed, anew in each step."
    )
    spread: Share = Field(
        0.5,
        description="Half the width of the uniform distribution, or the standard deviation of the "
        "normal one, as a share of the mean.",
    )
    variables: Count = Field(1, description="Variables that a rank writes in a step.")
    entry: Size | None = Field(
        None,
        description="Bytes of a variable's entry in the index; unless given, what ADIOS 1.13 "
        "writes for a three-dimensional array of doubles.",
    )
    headers: Annotated[Bytes, Field(ge=0)] | None = Field(
        None,
        description="What a rank writes beside its data: headers of variables, maps of them; "
        "unless given, as ADIOS 1.13.",
    )
    buffer_growth: Annotated[float, Field(gt=1)] | None = Field(
        None,
        description="Factor by which a rank's buffer grows when it is full, 1.05 in ADIOS 2; "
        "unless given, the buffer is large enough from the start.",
    )
    num_aggregators: Count | None = Field(
        None, description="Groups of ranks, each with a subfile; as many as OSTs unless given."
    )
    num_ost: Count | None = Field(
        None, description="Subfile g begins on OST g mod num_ost; all OSTs unless given."
    )
    osts_to_skip: Annotated[str, BeforeValidator(_osts)] = Field(
        "", description="OSTs to leave out, as in 3,7-9."
    )
    random_offset: bool = Field(False, description="The file system chooses the OSTs instead.")
    aggregation_type: Annotated[Literal["all-gather", "brigade"], BeforeValidator(_aggregation)] = (
        Field("brigade", description="How a group's data come to its aggregator.")
    )
    threading: bool = Field(
        True, description="A thread of each aggregator opens its subfile and writes."
    )
    have_metadata_file: bool = Field(True, description="Rank 0 writes a global index.")

    def helpers(self) -> int:
        """Return how many helper threads each rank has."""
        return int(self.method == "MPI_AGGREGATE" and self.threading)

    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes of all steps, about."""
        return ranks * self.size * self.steps

    @property
    def lays_out(self) -> bool:
        """Whether its files ask for stripes of their own where the job asks for none."""
        return self.method == "MPI_AGGREGATE"

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless the machine has the OSTs and the memory that are needed."""
        if self.method == "MPI_AGGREGATE":
            self._check_placing(scenario, machine)
        ranks = scenario.nodes * scenario.ppn
        written = self.bytes_to_move(ranks) + int(self.beside(ranks).sum()) * self.steps
        check_capacity(written, machine, "kernel adios: the steps make")
        for step in range(self.steps):
            self._check_memory(scenario, machine, step)

    def _check_placing(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless the subfiles can be dealt to OSTs as asked for."""
        osts, options = machine.lustre.osts, self.aggregation(machine.lustre.osts)
        if self.num_ost is not None and self.num_ost > osts:
            raise InputError(
                f"kernel adios: num_ost = {self.num_ost} is more than the {osts} OSTs of "
                f"{machine.name}"
            )
        if not len(options.usable(osts)):
            raise InputError(f"kernel adios: osts_to_skip = {self.osts_to_skip} leaves no OST")
        if scenario.striping.offset >= 0:
            raise InputError(
                f"stripe offset {scenario.striping.offset}: ADIOS begins subfile g on OST g mod "
                "num_ost; right would be num_ost and osts_to_skip, or random_offset"
            )
        size = options.groups(scenario.nodes * scenario.ppn, osts).size
        hops = int((size * (size - 1) // 2).sum())
        if options.brigade and hops > MOST_HOPS:
            raise InputError(
                f"kernel adios: with {len(size):,} aggregators a brigade makes {hops:,} messages "
                f"a step, too many to simulate; right would be at most {MOST_HOPS:,}, by more "
                "aggregators, or aggregation_type = all-gather"
            )

    def _check_memory(self, scenario: Scenario, machine: Machine, step: int) -> None:
        """Raise InputError unless what a step needs fits into messages and into the nodes."""
        ranks = scenario.nodes * scenario.ppn
        size = self.block_sizes(ranks, step, scenario.seed) + self.beside(ranks)
        needed = self.buffer_memory(size, machine.lustre.osts)
        if self.method == "MPI_AGGREGATE" and self.aggregation_type == "all-gather":
            most, what = int(needed.max()), "an aggregator would gather"
        else:
            most, what = int(size.max()), "a rank would write"
        if most > MOST_GATHERED:
            raise InputError(
                f"kernel adios: in step {step} {what} {format_bytes(most, 3)}, more than the "
                "2 GiB of one call; right would be less data, more aggregators or "
                "aggregation_type = brigade"
            )
        node = (needed + size).reshape(scenario.nodes, scenario.ppn).sum(axis=1)
        if node.max() > machine.nodes.memory:
            raise InputError(
                f"kernel adios: in step {step} the buffers of a node take "
                f"{format_bytes(int(node.max()), 3)}; a node of {machine.name} has "
                f"{format_bytes(machine.nodes.memory, 3)}"
            )

    def run(self, job: Job) -> Waiting:
        """Write one output after the other."""
        yield from _Run(self, job).run()

    def block_sizes(self, ranks: int, step: int, seed: int) -> Integers:
        """Return the data that each rank writes in a step, in bytes: int64 (ranks,)."""
        draws, mean = stream(seed, "adios sizes", step), float(self.size)
        width = self.spread * mean
        if self.distribution == "uniform":
            drawn = draws.uniform(mean - width, mean + width, ranks)
        elif self.distribution == "normal":
            drawn = draws.normal(mean, width, ranks)
        elif self.distribution == "exponential":
            drawn = draws.exponential(mean, ranks)
        else:
            drawn = np.full(ranks, mean)
        return np.maximum(np.rint(drawn / _WORD).astype(np.int64), 1) * _WORD

    def beside(self, ranks: int) -> Integers:
        """Return what each rank writes beside its data, in bytes: int64 (ranks,)."""
        if self.headers is not None:
            return np.full(ranks, self.headers)
        return group_sizes(self.variables, self.method, self._parameters, ranks)

    @property
    def _parameters(self) -> str:
        """The text of the parameters that are not the default, as an XML file has it."""
        numbers = {"all-gather": 1}
        if self.method == "POSIX":
            return ""
        given = self.model_dump(include=set(_PARAMETERS), exclude_defaults=True)
        named = {key: numbers.get(str(value), value) for key, value in given.items()}
        return ";".join(
            f"{key}={int(value) if isinstance(value, bool) else value}"
            for key, value in named.items()
        )

    def aggregation(self, osts: int) -> AggregateOptions:
        """Return the parameters of MPI_AGGREGATE on a file system with so many OSTs.

        Raises
        ------
        InputError
            If ``osts_to_skip`` is no list of these.
        """
        return AggregateOptions(
            num_aggregators=self.num_aggregators,
            num_ost=self.num_ost,
            osts_to_skip=_listed(self.osts_to_skip, osts),
            random_offset=self.random_offset,
            brigade=self.aggregation_type == "brigade",
            threading=self.threading,
            have_metadata_file=self.have_metadata_file,
        )

    def buffer_memory(self, size: Integers, osts: int) -> Integers:
        """Return the bytes that each rank needs beside its own buffer: int64 (ranks,).

        ``size`` is int64 (ranks,): what each writes, data and headers.
        """
        if self.method == "POSIX":
            return np.zeros_like(size)
        options = self.aggregation(osts)
        return options.memory(options.groups(len(size), osts), size, self.in_a_step())

    def in_a_step(self) -> Variables:
        """Return what a rank writes in a step, as the index of ADIOS has it."""
        return Variables(self.variables, self.entry)


def _listed(text: str, osts: int) -> frozenset[int]:
    """Read a list of OSTs, of so many: ``3,7-9``; raise InputError if it is none."""
    found: set[int] = set()
    for part in filter(None, text.replace(" ", "").split(",")):
        match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < osts:
            raise InputError(
                f"kernel adios: osts_to_skip = {text!r}: right would be a list of OSTs from 0 to "
                f"{osts - 1}, as in 3,7-9"
            )
        found.update(range(first, last + 1))
    return frozenset(found)


def writers_of(job: Job, variables: Variables, buffer_growth: float | None = None) -> Writers:
    """Return all ranks of a job as those that write variables, with buffers that grow so."""
    return Writers(
        filesystem=job.filesystem,
        osts=job.machine.lustre.osts,
        world=job.world,
        mpi=job.machine.mpi,
        striping=job.striping,
        variables=variables,
        buffer_growth=buffer_growth,
        meetings=job.meetings,
    )


class _Run(KernelRun[AdiosKernel]):
    """One run of the kernel."""

    def run(self) -> Waiting:
        """Write one output after the other."""
        method = self._method()
        for step in range(self._options.steps):
            yield from self._output(method, step)

    def _method(self) -> Method:
        """Return the method, ready to write."""
        options, job = self._options, self._job
        writers = writers_of(job, options.in_a_step(), options.buffer_growth)
        if options.method == "POSIX":
            return Posix(writers)
        return MpiAggregate(writers, options.aggregation(writers.osts))

    def _output(self, method: Method, step: int) -> Waiting:
        """Write one output; add its rows."""
        options, job = self._options, self._job
        size = options.block_sizes(job.ranks, step, job.seed)
        written = size + options.beside(job.ranks)
        for name, files in method.begin(step).items():
            job.files[f"{name}.{step}"] = files
        batch, world = job.batch(method.helped()), job.world
        job.barrier(batch)
        batch.add(Op.MARK, world.owners, mark=_OPEN)
        method.open(batch)
        batch.add(Op.MARK, world.owners, mark=_WRITE)
        method.write(batch, written)
        batch.add(Op.MARK, world.owners, mark=_CLOSE)
        method.close(batch, written)
        batch.add(Op.MARK, world.owners, mark=_END)
        before = job.filesystem.timers(job.programs)
        last = step == options.steps - 1
        yield from job.do(batch, "output", think=0.0 if last else options.compute)
        # Named as ADIOS names its timers: Communication, I/O, Global metadata.
        spent = (job.filesystem.timers(job.programs) - before).max(axis=0)
        parts = {
            "comm": Figure(float(spent[Timer.AGGREGATE]), "seconds"),
            "I/O": Figure(float(spent[Timer.RAW_WRITE]), "seconds"),
            "global md": Figure(float(spent[Timer.METADATA]), "seconds"),
        }
        self._add_rows(str(step), size, parts)

    def _add_rows(self, step: str, size: Integers, parts: dict[str, Figure]) -> None:
        """Add the rows of an output: its phases, and all of it."""
        job = self._job
        times = job.marks()
        job.record(step, "open", times[:, _OPEN], times[:, _WRITE])
        job.record(step, "write", times[:, _WRITE], times[:, _CLOSE])
        job.record(step, "close", times[:, _CLOSE], times[:, _END], figures=parts)
        written = size + self._options.beside(job.ranks)
        memory = int(self._options.buffer_memory(written, job.machine.lustre.osts).max())
        job.record(
            step,
            "all",
            times[:, _OPEN],
            times[:, _END],
            int(size.sum()),
            {"memory": Figure(memory, "bytes")},
        )
        self._remark(memory)

    def _remark(self, memory: int) -> None:
        """Warn as ADIOS does of large buffers, once."""
        job = self._job
        note = (
            f"An aggregator needs {format_bytes(memory, 3)} for its buffers; ADIOS 1.5 and 1.6 "
            f"warn beyond {format_bytes(WARNED, 3)}."
        )
        if memory > WARNED and not job.notes:
            job.notes.append(note)
