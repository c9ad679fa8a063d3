"""The run of an h5bench configuration: what its benchmarks print, and their CSV files."""

from __future__ import annotations

from dataclasses import asdict
from functools import cached_property
from typing import Any

from sim.config.errors import InputError
from sim.results.h5bench_text import pattern_csv, pattern_lines, stress_csv, stress_lines
from sim.results.kernel_output import KernelOutput
from sim.results.kernel_text import format_rows
from sim.results.output import OutputFile
from sim.run.result import Result
from sim.workloads.h5bench.configuration import Benchmark
from sim.workloads.h5bench.kernel import H5bench
from sim.workloads.h5bench.outcome import H5benchOutcome, PatternTimes, StressTimes
from sim.workloads.h5bench.pattern import Pattern
from sim.workloads.h5bench.stress import Stress

_Times = PatternTimes | StressTimes | None


class H5benchOutput(KernelOutput):
    """What the run of an h5bench configuration tells."""

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        if not isinstance(result.outcome, H5benchOutcome):
            raise InputError("the run is none of h5bench; what its workload tells is in its rows")
        self._outcome = result.outcome

    @cached_property
    def _kernel(self) -> H5bench:
        return H5bench(config=self._outcome.config, results=self._outcome.results)

    @property
    def _ranks(self) -> int:
        return self.result.scenario.nodes * self.result.scenario.ppn

    @property
    def answer(self) -> str:
        """What the benchmarks print, one after the other."""
        begin, blocks = 0, []
        for (benchmark, times), end in zip(self._done(), self._outcome.rows, strict=True):
            lines = [f"h5bench [{benchmark.name}] - Starting"]
            lines += self._lines(benchmark, times, begin, end)
            lines += [f"h5bench [{benchmark.name}] - Complete", ""]
            blocks.append("\n".join(lines))
            begin = end
        return "\n".join(blocks)

    def files(self) -> list[OutputFile]:
        """Return the CSV files."""
        found = []
        for number, (benchmark, times) in enumerate(self._done()):
            path = self._kernel.csv_path(number)
            if path is not None:
                found.append(OutputFile(path, "CSV_FILE", self._csv(benchmark, times)))
        return found

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
                "measured": None if times is None else asdict(times),
            }
            for benchmark, times in self._done()
        ]
        return {"benchmarks": told, **super().document()}

    def _done(self) -> list[tuple[Benchmark, _Times]]:
        """Return the benchmarks with what they have measured."""
        benchmarks = self._kernel.configuration.benchmarks
        return list(zip(benchmarks, self._outcome.times, strict=True))

    def _lines(self, benchmark: Benchmark, times: _Times, begin: int, end: int) -> list[str]:
        task = benchmark.task
        if isinstance(task, Pattern) and isinstance(times, PatternTimes):
            return list(pattern_lines(task, times, self._ranks))
        if isinstance(task, Stress) and isinstance(times, StressTimes):
            return list(stress_lines(task, times))
        return [format_rows(self.result.rows[begin:end])]

    def _csv(self, benchmark: Benchmark, times: _Times) -> str:
        task = benchmark.task
        if isinstance(task, Stress) and isinstance(times, StressTimes):
            return stress_csv(task, times)
        assert isinstance(task, Pattern)
        assert isinstance(times, PatternTimes)
        return pattern_csv(task, times, self._ranks)
