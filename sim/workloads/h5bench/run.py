"""h5bench at work: the benchmarks of a configuration, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import simpy

from xc40io.machine.filesystem import FileSet
from xc40io.workloads.h5bench.benchmarks import (
    FinishedBenchmark,
    H5benchOutcome,
    Pattern,
    PatternTimes,
    StressTimes,
)
from xc40io.workloads.h5bench.configuration import Configuration
from xc40io.workloads.h5bench.open_file import BenchmarkFile, OpenFile
from xc40io.workloads.h5bench.pattern_in_background import PatternInBackground
from xc40io.workloads.h5bench.pattern_run import PatternRun
from xc40io.workloads.h5bench.stress_run import run_stress
from xc40io.workloads.job import Job
from xc40io.workloads.kernels.exerciser import Exerciser


def run(
    configuration: Configuration, csv_path: Callable[[int], str | None], job: Job
) -> Generator[simpy.Event, Any, H5benchOutcome]:
    """Do all benchmarks: a SimPy process; ``csv_path`` says where the CSV of each goes."""
    places: dict[str, FileSet] = {}
    written: dict[str, BenchmarkFile] = {}
    finished: list[FinishedBenchmark] = []
    for number, benchmark in enumerate(configuration.benchmarks):
        task, step = benchmark.task, f"{number + 1} {benchmark.name}"
        times: PatternTimes | StressTimes | None = None
        if isinstance(task, Exerciser):
            yield from task.run(job)
        else:
            before = places.get(benchmark.file)
            subfiling = isinstance(task, Pattern) and task.subfiling
            file = OpenFile(job, configuration, benchmark.file, before, subfiling=subfiling)
            places[benchmark.file] = file.files
            if isinstance(task, Pattern):
                found = written.get(benchmark.file)
                kind = PatternInBackground if task.asynchronous else PatternRun
                times, after = yield from kind(task, job, file, step, found).run()
                written[benchmark.file] = after
            else:
                times = yield from run_stress(task, job, file, step)
        finished.append(
            FinishedBenchmark(
                name=benchmark.name,
                file=benchmark.file,
                task=None if isinstance(task, Exerciser) else task,
                times=times,
                csv_path=csv_path(number),
                rows=len(job.rows),
            )
        )
    return H5benchOutcome(benchmarks=tuple(finished))
