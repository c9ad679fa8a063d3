"""The run of IO500: its answer and its files, and beside it what only a simulator knows."""

from __future__ import annotations

from typing import Any

from sim.config.errors import InputError
from sim.results.io500_text import (
    VERSION,
    config_hash,
    format_answer,
    format_result,
    format_summary,
)
from sim.results.kernel_output import KernelOutput
from sim.results.output import OutputFile
from sim.run.result import Result
from sim.workloads.io500.ini import format_ini
from sim.workloads.io500.outcome import Io500Outcome, Io500Phase
from sim.workloads.io500.settings import Settings

OPTION = "[global] resultdir"
"""What names the folder of the files."""


class Io500Output(KernelOutput):
    """What the run of IO500 tells."""

    @property
    def answer(self) -> str:
        """IO500's answer."""
        return format_answer(io500_outcome(self.result))

    def files(self) -> list[OutputFile]:
        """Return the files that IO500 leaves in its folder."""
        return result_files(io500_outcome(self.result))

    def document(self) -> dict[str, Any]:
        """Arrange the run.

        Returns
        -------
        dict
            ``io500`` (its version), ``config`` (the options that are set), ``config_hash``,
            ``ranks``, ``phases``, ``score`` (GiB/s, thousand operations/s, and both), ``files``
            (the striping of those of IOR) and ``xc40io``, as :meth:`KernelOutput.document` has
            them.
        """
        outcome = io500_outcome(self.result)
        told = super().document()
        settings = Settings(outcome.given, outcome.timestamp)
        return {
            "io500": VERSION,
            "config": outcome.given,
            "config_hash": f"{config_hash(settings):X}",
            "ranks": outcome.ranks,
            "phases": [_phase_document(phase, settings) for phase in outcome.phases],
            "score": {
                "bandwidth_gib_per_second": outcome.bandwidth,
                "thousand_operations_per_second": outcome.operations,
                "total": outcome.score,
                "valid": outcome.valid,
            },
            "files": {
                name: files for name, files in told["files"].items() if "/mdtest-" not in name
            },
            "xc40io": told["xc40io"],
        }


def result_files(outcome: Io500Outcome) -> list[OutputFile]:
    """Return the files of a run, finished or not."""
    folder = Settings(outcome.given, outcome.timestamp).result_folder
    texts = {
        "result.txt": format_result(outcome),
        "result_summary.txt": format_summary(outcome),
        "config.ini": format_ini(outcome.given),
    }
    return [OutputFile(f"{folder}/{name}", OPTION, text) for name, text in texts.items()]


def io500_outcome(result: Result) -> Io500Outcome:
    """Return what came of IO500.

    Raises
    ------
    InputError
        If it was no run of IO500.
    """
    if not isinstance(result.outcome, Io500Outcome):
        raise InputError("the run is none of IO500; what its workload tells is in its rows")
    return result.outcome


def _phase_document(phase: Io500Phase, settings: Settings) -> dict[str, Any]:
    return {
        "phase": phase.name,
        "group": phase.group,
        "command": " ".join(settings.command(phase.name)),
        "score": phase.score,
        "start": phase.start,
        "seconds": phase.seconds,
        "simulated_seconds": phase.simulated,
        "scale": phase.scale,
        "change": phase.change,
        "stonewall_rate": phase.stonewall_rate,
        "found": phase.found,
        "total_files": phase.total,
        "wrong": list(phase.wrong),
    }
