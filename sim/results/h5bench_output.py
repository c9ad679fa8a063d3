"""The run of an h5bench configuration: what its benchmarks print, and their CSV files."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sim.config.errors import InputError
from sim.results.h5bench_text import pattern_csv, pattern_lines, stress_csv, stress_lines
from sim.results.kernel_answer import rows_table
from sim.results.kernel_output import KernelOutput
from sim.results.output import OutputFile
from sim.run.result import Result
from sim.telling.text import blocks_text
from sim.workloads.h5bench.outcome import (
    FinishedBenchmark,
    H5benchOutcome,
    PatternTimes,
    StressTimes,
)
from sim.workloads.h5bench.pattern import Pattern
from sim.workloads.h5bench.stress import Stress


class H5benchOutput(KernelOutput):
    """What the run of an h5bench configuration tells."""

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        if not isinstance(result.outcome, H5benchOutcome):
            raise InputError("the run is none of h5bench; what its workload tells is in its rows")
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

    def document(self) -> dict[str, Any]:
        """Arrange the run: as :meth:`KernelOutput.document` does, with ``benchmarks``.

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
        return {"benchmarks": told, **super().document()}

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
