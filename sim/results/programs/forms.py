"""In which form the run of each workload is told: that of a module ``*_output`` beside this one."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from xc40io.results.programs.output import OUTPUTS, Output
from xc40io.run.result import Result

for _module in sorted(Path(__file__).parent.glob("*_output.py")):
    import_module(f"{__package__}.{_module.stem}")


def output_of(result: Result) -> Output:
    """Return the output of a run: in the form of its program, or as a kernel's table."""
    return OUTPUTS.get(type(result.outcome), Output)(result)
