"""In which form the run of each workload is told."""

from __future__ import annotations

from collections.abc import Mapping

from xc40io.results.programs.h5bench_output import H5benchOutput
from xc40io.results.programs.io500_output import Io500Output
from xc40io.results.programs.ior_output import IorOutput
from xc40io.results.programs.mdtest_output import MdtestOutput
from xc40io.results.programs.output import Output
from xc40io.run.result import Result
from xc40io.workloads.h5bench.benchmarks import H5benchOutcome
from xc40io.workloads.io500.outcome import Io500Outcome
from xc40io.workloads.ior.outcome import IorOutcome
from xc40io.workloads.mdtest.outcome import MdtestOutcome

_OWN: Mapping[type, type[Output]] = {
    H5benchOutcome: H5benchOutput,
    Io500Outcome: Io500Output,
    IorOutcome: IorOutput,
    MdtestOutcome: MdtestOutput,
}
"""Of workloads that leave something of their own, and tell of it in a form of their own."""


def output_of(result: Result) -> Output:
    """Return what a run tells: in the form of its workload, or as a kernel's table."""
    return _OWN.get(type(result.outcome), Output)(result)
