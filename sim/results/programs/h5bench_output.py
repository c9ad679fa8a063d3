"""The run of an h5bench configuration: what its benchmarks print, and their CSV files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from xc40io.config.errors import InputError
from xc40io.config.units import MIB
from xc40io.results.programs.kernel_answer import rows_table
from xc40io.results.programs.output import Output, OutputFile
from xc40io.run.result import Result
from xc40io.telling.text import blocks_text
from xc40io.workloads.h5bench.benchmarks import (
    FinishedBenchmark,
    H5benchOutcome,
    Pattern,
    PatternTimes,
    Stress,
    StressTimes,
)

_WORDS = {
    "write": ("write", ""),
    "write-unlimited": ("write", ""),
    "read": ("read", "read "),
    "overwrite": ("modify", "modify "),
}
_STRESS_TITLES = (
    "steps,arrays,rows,cols,scaling,proc-rows,proc-cols,slowdim,rank,layout,mpi-io,wall [s],"
    "fsize [B],write-phase-min [s],write-phase-max [s],creat-min [s],creat-max [s],write-min [s],"
    "write-max [s],write-rate-min [MiB/s],write-rate-max [MiB/s],read-phase-min [s],"
    "read-phase-max [s],read-min [s],read-max [s],read-rate-min [MiB/s],read-rate-max [MiB/s]"
)


def pattern_lines(task: Pattern, times: PatternTimes, ranks: int) -> Iterator[str]:
    """Yield the Performance Results of a pattern; sizes and rates in powers of 1024, as there."""
    verb, which = _WORDS[task.operation]
    mode = "ASYNC" if task.asynchronous else "SYNC"
    yield "=================== Performance Results =================="
    yield f"Total number of ranks: {ranks}"
    yield f"Total emulated compute time: {_computing(task):.3f} s"
    yield f"Total {verb} size: {_human(times.size)}B"
    yield f"Raw {verb} time: {times.raw:.3f} s"
    yield f"Metadata time: {times.metadata:.3f} s"
    if not which:
        yield f"H5Fcreate() time: {times.create:.3f} s"
        yield f"H5Fflush() time: {times.flush:.3f} s"
        yield f"H5Fclose() time: {times.close:.3f} s"
    yield f"Observed {which}completion time: {times.observed:.3f} s"
    yield f"{mode} Raw {verb} rate: {_human(_rate(times.size, times.raw))}B/s "
    yield f"{mode} Observed {verb} rate: {_human(_rate(times.size, _observed(task, times)))}B/s"
    yield "==========================================================="


def pattern_csv(task: Pattern, times: PatternTimes, ranks: int) -> str:
    """Return the CSV of a pattern."""
    said = {True: "YES", False: "NO"}
    lines = ["metric, value, unit", f"operation, {task.operation}, ", f"ranks, {ranks}, "]
    if task.operation != "overwrite":
        lines += [
            f"collective data, {said[task.collective]}, ",
            f"collective meta, {said[task.collective_metadata]}, ",
            f"subfiling, {said[task.subfiling]}, ",
        ]
    lines += [
        f"total compute time, {_computing(task):.3f}, seconds",
        f"total size, {_human(times.size, ', ')}B",
        f"raw time, {times.raw:.3f}, seconds",
        f"raw rate, {_human(_rate(times.size, times.raw), ', ')}B/s",
        f"metadata time, {times.metadata:.3f}, seconds",
        f"observed rate, {_human(_rate(times.size, _observed(task, times)), ', ')}B/s",
        f"observed time, {times.observed:.3f}, seconds",
    ]
    return "\n".join(lines) + "\n"


def stress_lines(task: Stress, times: StressTimes) -> Iterator[str]:
    """Yield what the metadata stress test prints."""
    yield f"Wall clock [s]:\t\t{times.wall:.2f}"
    yield f"File size [B]:\t\t{times.file_size}"
    yield "-" * 45
    yield "Measurement:\t\t_MIN (over MPI ranks)"
    yield "\t\t\t^MAX (over MPI ranks)"
    yield "-" * 45
    for title, tabs, (least, most) in _measured(task, times):
        yield f"{title}:{tabs}_{least:.2f}"
        yield f"\t\t\t^{most:.2f}"


def stress_csv(task: Stress, times: StressTimes) -> str:
    """Return the CSV of the metadata stress test."""
    cells: list[object] = [task.steps, task.arrays, task.rows, task.columns, task.scaling]
    cells += [task.process_rows, task.process_columns, "step" if task.step_first else "array"]
    cells += [task.rank, "chunked" if task.chunked else "contiguous"]
    cells += ["collective" if task.collective else "independent", f"{times.wall:.2f}"]
    cells.append(times.file_size)
    for _, _, pair in _measured(task, times):
        cells += [f"{value:.2f}" for value in pair]
    return f"{_STRESS_TITLES}\n{','.join(map(str, cells))}\n"


def _measured(task: Stress, times: StressTimes) -> tuple[tuple[str, str, tuple[float, float]], ...]:
    """Return title, tabs and values of each measurement; rates are for one rank."""
    writes, reads = (
        (_rate(task.moved, most) / MIB, _rate(task.moved, least) / MIB)
        for least, most in (times.write, times.read)
    )
    return (
        ("Write phase [s]", "\t", times.write_phase),
        ("Create time [s]", "\t", times.create),
        ("Write time [s]", "\t\t", times.write),
        ("Write rate [MiB/s]", "\t", writes),
        ("Read phase [s]", "\t\t", times.read_phase),
        ("Read time [s]", "\t\t", times.read),
        ("Read rate [MiB/s]", "\t", reads),
    )


def _computing(task: Pattern) -> float:
    return task.compute * (task.steps - 1)


def _observed(task: Pattern, times: PatternTimes) -> float:
    return times.observed - _computing(task)


def _rate(size: int, seconds: float) -> float:
    return size / seconds if seconds > 0 else float("inf")


def _human(amount: float, between: str = " ") -> str:
    """Print an amount with a power of 1024, as h5bench does: ``2.500 G``."""
    units = iter(" KMGT")
    unit = next(units)
    while amount >= 1024 and unit != "T" and amount != float("inf"):
        amount, unit = amount / 1024, next(units)
    return f"{amount:.3f}{between}{unit}"


class H5benchOutput(Output, of=H5benchOutcome):
    """What the run of an h5bench configuration tells."""

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        if not isinstance(result.outcome, H5benchOutcome):
            raise InputError("the run is not one of h5bench; its results are its rows")
        self._benchmarks = result.outcome.benchmarks

    @property
    def _ranks(self) -> int:
        return self.result.scenario.nodes * self.result.scenario.ppn

    @property
    def answer(self) -> str:
        """What the benchmarks print, one after the other."""
        begin, blocks = 0, []
        for benchmark in self._benchmarks:
            lines = [f"h5bench [{benchmark.name}] - Starting"]
            lines += self._lines(benchmark, begin)
            lines += [f"h5bench [{benchmark.name}] - Complete", ""]
            blocks.append("\n".join(lines))
            begin = benchmark.rows
        return "\n".join(blocks)

    def files(self) -> list[OutputFile]:
        """Return the CSV files."""
        return [
            OutputFile(benchmark.csv_path, "CSV_FILE", self._csv(benchmark))
            for benchmark in self._benchmarks
            if benchmark.csv_path is not None
        ]

    def document(self, *, exact: bool = False) -> dict[str, Any]:
        """Arrange the run: as :meth:`Output.document` does, with ``benchmarks``.

        Returns
        -------
        dict
            ``benchmarks`` has name, file and measured figures of each: seconds and bytes.
        """
        told = [
            {
                "benchmark": benchmark.name,
                "file": benchmark.file,
                "measured": None if benchmark.times is None else asdict(benchmark.times),
            }
            for benchmark in self._benchmarks
        ]
        return {"benchmarks": told, **super().document(exact=exact)}

    def _lines(self, benchmark: FinishedBenchmark, begin: int) -> list[str]:
        task, times = benchmark.task, benchmark.times
        if isinstance(task, Pattern) and isinstance(times, PatternTimes):
            return list(pattern_lines(task, times, self._ranks))
        if isinstance(task, Stress) and isinstance(times, StressTimes):
            return list(stress_lines(task, times))
        return [blocks_text([rows_table(self.result.rows[begin : benchmark.rows])])]

    def _csv(self, benchmark: FinishedBenchmark) -> str:
        task, times = benchmark.task, benchmark.times
        if isinstance(task, Stress) and isinstance(times, StressTimes):
            return stress_csv(task, times)
        assert isinstance(task, Pattern)
        assert isinstance(times, PatternTimes)
        return pattern_csv(task, times, self._ranks)
