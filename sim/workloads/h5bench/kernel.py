"""h5bench as a kernel: the benchmarks of a configuration, one after the other."""

from __future__ import annotations

from collections.abc import Generator
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, PrivateAttr

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.libraries.hdf5_subfiles import Subfiling
from xc40io.workloads.h5bench.benchmarks import PARTICLE, H5benchOutcome, Pattern, Stress
from xc40io.workloads.h5bench.configuration import Configuration, read_configuration
from xc40io.workloads.kernels.exerciser import Exerciser
from xc40io.workloads.kernels.kernel import Kernel
from xc40io.workloads.workload import Started

if TYPE_CHECKING:
    import simpy

    from xc40io.config.scenario import Scenario
    from xc40io.workloads.job import Job

_MOST_STEPS = 10_000
_MOST_PIECES = 20_000_000
"""Chunks of a dataset, or pieces of it that one transfer moves: each takes some 100 bytes."""


class H5bench(Kernel):
    """The benchmarks that a configuration of h5bench lists, on the model of HDF5.

    The ranks are those of the job: nodes times ranks on each. ``xc40io h5bench FILE.json`` takes
    them from the configuration.
    """

    name: ClassVar[str] = "h5bench"

    config: str = Field(description="The configuration: FILE.json, or its text.")
    results: str | None = Field(
        None, description="A folder for the CSV files of the benchmarks; none are written without."
    )

    _read: Any = PrivateAttr(None)
    _threads: int = PrivateAttr(0)  # of each I/O concentrator

    @property
    def configuration(self) -> Configuration:
        """What the file asks for.

        Raises
        ------
        InputError
            If it cannot be read.
        """
        if self._read is None:
            self._read = read_configuration(self.config)
        read: Configuration = self._read
        return read

    def starts(self) -> Started:
        """Return the ranks of its configuration."""
        asked = self.configuration
        return Started(asked.ranks, asked.nodes, asked.ppn)

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless the job can do all benchmarks."""
        ranks = scenario.nodes * scenario.ppn
        for number, benchmark in enumerate(self.configuration.benchmarks):
            place = f"{self.configuration.place}.benchmarks[{number}].configuration"
            task = benchmark.task
            if isinstance(task, Exerciser):
                task.check(scenario, machine)
            elif isinstance(task, Stress):
                _check_stress(task, ranks, machine, place)
            else:
                _check_pattern(task, scenario, machine, place)
        self.configuration.striping.check(machine.lustre.osts)
        if _check_subfiling(self.configuration):
            if self.configuration.asynchronous:
                raise InputError(
                    f"{self.configuration.place}: SUBFILING beside ASYNC; right would be one of "
                    "them"
                )
            self._threads = Subfiling.told(scenario.environment).threads

    def helpers(self) -> int:
        """Return how many helpers each rank has: threads of an IOC, or one in the background."""
        return self._threads or int(self.configuration.asynchronous)

    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes that all benchmarks write and read."""
        return sum(_moved(benchmark.task, ranks) for benchmark in self.configuration.benchmarks)

    def csv_path(self, number: int) -> str | None:
        """Return where the CSV of a benchmark goes, by its number from 0; None: nowhere."""
        benchmark = self.configuration.benchmarks[number]
        if self.results is None or isinstance(benchmark.task, Exerciser):
            return None
        name = benchmark.task.csv_file
        return None if name is None else f"{self.results}/{number + 1}-{benchmark.name}-{name}"

    def output_files(self) -> list[tuple[str, str]]:
        """Return the CSV files."""
        paths = map(self.csv_path, range(len(self.configuration.benchmarks)))
        return [(path, "CSV_FILE") for path in paths if path is not None]

    def run(self, job: Job) -> Generator[simpy.Event, Any, H5benchOutcome]:
        """Do all benchmarks: the SimPy process of the job."""
        from xc40io.workloads.h5bench.run import run

        return run(self.configuration, self.csv_path, job)

    def notes(self, job: Job) -> tuple[str, ...]:
        """Say what of the configuration is otherwise here."""
        notes, asked = list(super().notes(job)), self.configuration
        if asked.ranks != job.ranks:
            notes.append(f"mpi starts {asked.ranks} ranks; the job has {job.ranks}.")
        elif asked.nodes not in (None, len(job.nodes)):
            notes.append(f"mpi asks for {asked.nodes} nodes; the job has {len(job.nodes)}.")
        notes += asked.notes
        tasks = [benchmark.task for benchmark in asked.benchmarks]
        if any(isinstance(task, Pattern) and task.compress for task in tasks):
            notes.append(
                "COMPRESS = YES: data lie in chunks and go collectively, but as they are: what "
                "gzip takes and saves depends on their values."
            )
        return tuple(notes)


def _moved(task: Pattern | Stress | Exerciser, ranks: int) -> int:
    if isinstance(task, Exerciser):
        return task.bytes_to_move(ranks)
    return ranks * task.moved * (2 if isinstance(task, Stress) else task.steps)


def _check_subfiling(asked: Configuration) -> bool:
    """Tell whether any file lies in subfiles; raise InputError if one does now and then."""
    made: dict[str, bool] = {}
    for number, benchmark in enumerate(asked.benchmarks):
        if isinstance(benchmark.task, Pattern):
            subfiling = benchmark.task.subfiling
            if made.setdefault(benchmark.file, subfiling) != subfiling:
                raise InputError(
                    f"{asked.place}.benchmarks[{number}].configuration.SUBFILING: right would be "
                    f"that of the benchmark that makes {benchmark.file}"
                )
    return any(made.values())


def _check_pieces(pieces: int, place: str) -> None:
    if pieces > _MOST_PIECES:
        raise InputError(
            f"{place}: a dataset, or what is moved of it, is in {pieces:,} pieces; right would be "
            f"at most {_MOST_PIECES:,}: larger chunks or blocks, or fewer of them"
        )


def _check_stress(task: Stress, ranks: int, machine: Machine, place: str) -> None:
    if task.process_rows * task.process_columns != ranks:
        raise InputError(
            f"{place}: process-rows x process-columns = {task.process_rows} x "
            f"{task.process_columns}; right would be {ranks}, the ranks of the job"
        )
    if task.moved * ranks > machine.lustre.capacity:
        raise InputError(
            f"{place}: the arrays take {task.moved * ranks / 1e15:.1f} PB; the file system of "
            f"{machine.name} holds {machine.lustre.capacity / 1e15:.1f} PB"
        )
    _check_pieces(ranks * task.steps * task.arrays * task.tile[0], place)


def _check_pattern(task: Pattern, scenario: Scenario, machine: Machine, place: str) -> None:
    ranks = scenario.nodes * scenario.ppn
    held = ranks * task.particles * PARTICLE * task.steps
    if held > machine.lustre.capacity:
        raise InputError(
            f"{place}: {task.steps} time steps of {task.particles:,} particles on {ranks} ranks "
            f"take {held / 1e15:.1f} PB; the file system of {machine.name} holds "
            f"{machine.lustre.capacity / 1e15:.1f} PB"
        )
    node = task.particles * PARTICLE * scenario.ppn
    if node > machine.nodes.memory:
        raise InputError(
            f"{place}: the particles of a node take {node / 2**30:.1f} GiB; a node of "
            f"{machine.name} has {machine.nodes.memory / 2**30:.1f} GiB"
        )
    if task.steps > _MOST_STEPS:
        raise InputError(f"{place}.TIMESTEPS = {task.steps}: right would be at most {_MOST_STEPS}")
    chunks = task.particles // prod(task.chunk) if task.chunk else 0
    _check_pieces(ranks * max(chunks, task.blocks if task.file == "STRIDED" else 0), place)
