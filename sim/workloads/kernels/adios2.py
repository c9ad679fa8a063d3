"""The ADIOS 2 kernel: a simulation that writes steps of its state through BP5 or BP4.

Options are called as the engine's parameters in ADIOS 2's XML file: ``num_sub_files`` is
NumSubFiles, and ``data_alignment`` StripeSize, which is no striping of Lustre.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.units import Bytes, Count, Seconds, Size, format_bytes
from xc40io.engine.randomness import stream
from xc40io.engine.types import Integers
from xc40io.libraries.adios2_engines import Bp4, Bp5, Engine
from xc40io.libraries.adios2_layout import MOST_AT_ONCE, AggregationType, Parameters, grouping
from xc40io.libraries.adios_aggregate import MOST_HOPS
from xc40io.libraries.adios_output import Variables
from xc40io.mpi.stats import Timer
from xc40io.plane.operations import Op
from xc40io.workloads.job_results import Figure
from xc40io.workloads.kernels.adios import writers_of
from xc40io.workloads.kernels.kernel import (
    TRIED,
    Kernel,
    KernelRun,
    Natural,
    Share,
    check_capacity,
)

if TYPE_CHECKING:
    from xc40io.workloads.job import Job, Waiting

_WORD = 8  # the arrays are of doubles
_MOST_TURNS = 200_000  # pieces in shared memory, which are put together one by one: a minute
_OPEN, _PUT, _END_STEP, _ENDED, _WAIT, _DONE = range(6)  # marks
_NAMES = {
    "aggregation_type": "AggregationType",
    "num_aggregators": "NumAggregators",
    "aggregator_ratio": "AggregatorRatio",
    "num_sub_files": "NumSubFiles",
    "sub_streams": "SubStreams",
    "async_write": "AsyncWrite",
    "buffer_chunk_size": "BufferChunkSize",
    "min_deferred_size": "MinDeferredSize",
    "max_shm_size": "MaxShmSize",
    "data_alignment": "StripeSize",
}
"""The parameters of the engines, by the options."""

_OF_BP4 = ("num_aggregators", "aggregator_ratio", "sub_streams")
_SIZES = ("buffer_chunk_size", "min_deferred_size", "max_shm_size", "data_alignment")
_DEFAULTS = Parameters()


class Adios2Kernel(Kernel):
    """Ranks that write an output of several steps through ADIOS 2."""

    name: ClassVar[str] = "adios2"

    engine: Literal["BP5", "BP4"] = Field("BP5", description="The engine of ADIOS 2.")
    steps: Count = Field(1, description="Steps of the output, one after the other.")
    compute: Seconds = Field(0.0, description="Computing between two steps.")
    size: Size = Field(64 << 20, description="What a rank puts in a step, on average.")
    spread: Share = Field(
        0.0, description="By how much of that the sizes of ranks differ at most, each step anew."
    )
    variables: Count = Field(8, description="Arrays of a rank in a step, of one size.")
    aggregation_type: AggregationType = Field(
        "TwoLevelShm",
        description="Who writes a subfile: an aggregator for the ranks of its node, or all of its "
        "ranks, at once or one after the other.",
        json_schema_extra={TRIED: True},
    )
    num_aggregators: Natural = Field(0, description="Aggregators; one a node unless given.")
    aggregator_ratio: Natural = Field(0, description="Ranks an aggregator, in place of that.")
    num_sub_files: Natural = Field(
        0, description="Files of data; as many as aggregators unless given."
    )
    sub_streams: Natural = Field(
        0, description="What BP4 takes for NumAggregators; BP5 ignores it, as real ADIOS 2 does."
    )
    async_write: bool = Field(
        False,
        description="A thread of each rank writes while the program goes on.",
        json_schema_extra={TRIED: True},
    )
    buffer_chunk_size: Size = Field(
        _DEFAULTS.buffer_chunk_size, description="Bytes of each piece of a rank's buffer."
    )
    min_deferred_size: Annotated[Bytes, Field(ge=0)] = Field(
        _DEFAULTS.min_deferred_size, description="Smaller arrays are copied into the buffer."
    )
    max_shm_size: Annotated[Size, Field(ge=4096)] = Field(
        _DEFAULTS.max_shm_size, description="Most shared memory of an aggregator."
    )
    data_alignment: Annotated[Size, Field(le=64 << 20)] = Field(
        _DEFAULTS.data_alignment,
        description="StripeSize: where ranks begin in a file is a multiple of it.",
    )

    def helpers(self) -> int:
        """Return how many helper threads each rank has."""
        return int(self.parameters.async_write)

    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes of all steps, about."""
        return ranks * self.size * self.steps

    @property
    def parameters(self) -> Parameters:
        """What the engine makes of its parameters."""
        if self.engine == "BP4":
            number = self.sub_streams or self.num_aggregators
            ratio = self.aggregator_ratio
            return Parameters(engine="BP4", num_aggregators=number, aggregator_ratio=ratio)
        told = self.model_dump(include=set(_NAMES) - {"sub_streams"})
        return Parameters(engine="BP5", **told)

    @property
    def _ignored(self) -> list[str]:
        """The parameters that are given, and that the engine does not have."""
        given = self.model_dump(include=set(_NAMES), exclude_defaults=True)
        unknown = ("sub_streams",) if self.engine == "BP5" else set(_NAMES) - {*_OF_BP4}
        return [name for key, name in _NAMES.items() if key in given and key in unknown]

    @property
    def pasted(self) -> tuple[str, ...]:
        """The lines that say the parameters in ADIOS 2's XML file."""
        given = self.model_dump(include=set(_NAMES), exclude_defaults=True)
        told = [
            f'  <parameter key="{name}" value="{_said(given[key])}"/>'
            for key, name in _NAMES.items()
            if key in given and name not in self._ignored
        ]
        return f'<engine type="{self.engine}">', *told, "</engine>"

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless the file system and the nodes have room."""
        ranks = scenario.nodes * scenario.ppn
        check_capacity(self.bytes_to_move(ranks), machine, "kernel adios2: the steps make")
        if self.size < self.variables * _WORD:
            raise InputError(
                f"kernel adios2: size = {self.size} with variables = {self.variables}: right would "
                f"be {_WORD} bytes of each at least"
            )
        if self.engine == "BP4" and ranks % max(self.aggregator_ratio, 1):
            raise InputError(
                f"kernel adios2: aggregator_ratio = {self.aggregator_ratio} with engine = BP4: "
                f"right would be a divisor of the {ranks} ranks"
            )
        if self.engine == "BP4" and self.size * (1 + self.spread) > MOST_AT_ONCE:
            raise InputError(
                f"kernel adios2: size = {format_bytes(self.size)} with engine = BP4: right would "
                f"be {MOST_AT_ONCE:,} bytes at most, what is passed on and written at once"
            )
        self._check_groups(scenario, machine)

    def _check_groups(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless a step fits into the nodes, in not too many messages."""
        node = np.repeat(np.arange(scenario.nodes, dtype=np.int32), scenario.ppn)
        size, told = self.block_sizes(len(node), 0, scenario.seed), self.parameters
        groups = grouping(told, node)
        most = int(np.bincount(node, size + told.memory(groups, size, self.variables)).max())
        if most > machine.nodes.memory:
            raise InputError(
                f"kernel adios2: the data of a step and the buffers of a node take "
                f"{format_bytes(most, 3)}; a node of {machine.name} has "
                f"{format_bytes(machine.nodes.memory, 3)}"
            )
        pieces, how, most = told.pieces(groups, size), "num_aggregators", MOST_HOPS
        if told.by_shm:
            how, most = "max_shm_size", _MOST_TURNS
        if pieces > most:
            raise InputError(
                f"kernel adios2: the data of a step go to the aggregators in {pieces:,} pieces, "
                f"too many to simulate; right would be at most {most:,}, by a larger {how}"
            )

    def block_sizes(self, ranks: int, step: int, seed: int) -> Integers:
        """Return the data that each rank puts in a step, in bytes: int64 (ranks,)."""
        draws = stream(seed, "adios2 sizes", step).uniform(-1.0, 1.0, ranks)
        word = _WORD * self.variables
        elements = np.floor(self.size * (1 + self.spread * draws) / word).astype(np.int64)
        return np.maximum(elements, 1) * word

    def run(self, job: Job) -> Waiting:
        """Write one step after the other."""
        yield from _Run(self, job).run()

    def notes(self, job: Job) -> tuple[str, ...]:
        """Say which parameters the engine ignores."""
        told = super().notes(job)
        if not self._ignored:
            return told
        ignored = ", ".join(self._ignored)
        return (*told, f"{self.engine} has no parameter {ignored}: ADIOS 2 ignores it.")


def _said(value: object) -> str:
    return "true" if value is True else str(value)


class _Run(KernelRun[Adios2Kernel]):
    """One run of the kernel."""

    def run(self) -> Waiting:
        """Write one step after the other."""
        options, job = self._options, self._job
        writers = writers_of(job, Variables(options.variables))
        engine = (Bp5 if options.engine == "BP5" else Bp4)(writers, options.parameters)
        for name, files in engine.begin().items():
            job.files[name] = files
        for step in range(options.steps):
            yield from self._step(engine, step)

    def _step(self, engine: Engine, step: int) -> Waiting:
        """Write one step; add its rows."""
        options, job = self._options, self._job
        size = options.block_sizes(job.ranks, step, job.seed)
        batch, everyone = job.batch(engine.helped()), job.world.owners
        last = step == options.steps - 1
        job.barrier(batch)
        batch.add(Op.MARK, everyone, mark=_OPEN)
        if not step:
            engine.open(batch)
        batch.add(Op.MARK, everyone, mark=_PUT)
        engine.put(batch, size)
        batch.add(Op.MARK, everyone, mark=_END_STEP)
        engine.end_step(batch, size)
        batch.add(Op.MARK, everyone, mark=_ENDED)
        think = 0.0 if last else options.compute
        if options.helpers():  # whose work goes on meanwhile
            batch.add(Op.THINK, everyone, seconds=think)
            think = 0.0
        batch.add(Op.MARK, everyone, mark=_WAIT)
        if last:
            engine.close(batch)
        else:
            engine.wait(batch)
        batch.add(Op.MARK, everyone, mark=_DONE)
        before = job.filesystem.timers(job.programs)
        yield from job.do(batch, "output", think=think)
        spent = (job.filesystem.timers(job.programs) - before).max(axis=0)
        parts = {
            "comm": Figure(float(spent[Timer.AGGREGATE]), "seconds"),
            "I/O": Figure(float(spent[Timer.RAW_WRITE]), "seconds"),
            "global md": Figure(float(spent[Timer.METADATA]), "seconds"),
        }
        self._add_rows(engine, step, size, parts, last=last)

    def _add_rows(
        self, engine: Engine, step: int, size: Integers, parts: dict[str, Figure], *, last: bool
    ) -> None:
        """Add the rows of a step: its phases, and all of it but for the computing."""
        job, times = self._job, self._job.marks()
        if not step:
            job.record(str(step), "open", times[:, _OPEN], times[:, _PUT])
        job.record(str(step), "put", times[:, _PUT], times[:, _END_STEP])
        job.record(str(step), "end step", times[:, _END_STEP], times[:, _ENDED], figures=parts)
        if last or self._options.helpers():
            name = "close" if last else "wait"
            job.record(str(step), name, times[:, _WAIT], times[:, _DONE])
        memory = engine.memory(size)
        figures = {
            "memory": Figure(int(np.bincount(job.world.node, memory).max()), "bytes"),
            "subfiles": Figure(engine.subfiles, ""),
        }
        done = times[:, _DONE] - (times[:, _WAIT] - times[:, _ENDED])
        job.record(str(step), "all", times[:, _OPEN], done, int(size.sum()), figures)
