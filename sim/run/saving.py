"""Results in files: written whole, without loss, and read back."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from sim.archive.archive import Format, read_archive, write_archive
from sim.config.errors import InputError

_RECORDS = {
    "sim.config.jobs": "Job JobKind JobsScenario Mix NodeDraw",
    "sim.config.faults": "Fault",
    "sim.config.io500": "Io500",
    "sim.config.lustre": "Lnet Lustre Mds",
    "sim.config.machine": "Machine",
    "sim.config.mpi": "Mpi",
    "sim.config.network": "Dragonfly Torus",
    "sim.config.nodes": "Nodes",
    "sim.config.provenance": "Provenance",
    "sim.config.scenario": "Background Cores Placement Scenario Target Workload",
    "sim.config.storage": "Service Ssd",
    "sim.config.striping": "StripeRequest",
    "sim.machine.filesystem": "FileSet",
    "sim.mpi.communicator": "Communicator",
    "sim.mpi.hints": "Hints InForce",
    "sim.mpi.known_hints": "Switch",
    "sim.mpi.record": "MpiRecord",
    "sim.mpi.stats": "AccessCounts DirectionCounts",
    "sim.plane.counters": "Stat",
    "sim.results.replay_report": "ReplayReport ReplayedLog Reconstructed",
    "sim.results.replay_times": "FileTimes",
    "sim.run.allocation": "Allocation",
    "sim.run.course": "FaultRecord",
    "sim.run.jobs": "Alone JobOutcome JobPhase JobsResult",
    "sim.run.recording": "Recording",
    "sim.run.result": "Result",
    "sim.run.saving": "Saved",
    "sim.run.station_table": "StationTable",
    "sim.workloads.darshan_log.log": "Unreplayed",
    "sim.workloads.darshan_log.recorded": "Layer Measured Phase",
    "sim.workloads.h5bench.outcome": "FinishedBenchmark H5benchOutcome PatternTimes StressTimes",
    "sim.workloads.h5bench.pattern": "Pattern",
    "sim.workloads.h5bench.stress": "Stress",
    "sim.workloads.ior.options": "IorCommand",
    "sim.workloads.io500.outcome": "Io500Outcome Io500Phase",
    "sim.workloads.ior.outcome": "FinishedTest IorOutcome",
    "sim.workloads.ior.parameters": "Access IorTest",
    "sim.workloads.ior.phases": "PhaseRecord Removal Stonewall",
    "sim.workloads.job_results": "Activity Figure Row Stretch Trouble",
    "sim.workloads.mdtest.options": "MdtestCommand",
    "sim.workloads.mdtest.outcome": "MdtestOutcome MdtestPhase MdtestRun MdtestWall",
    "sim.workloads.mdtest.parameters": "MdtestTest Operation",
    "sim.workloads.replaying.intake": "Totals",
    "sim.workloads.replaying.outcome": "ReplayOutcome Spent",
    "sim.workloads.trace.block": "TraceFile",
    "sim.workloads.workload": "WorkloadRecord",
}
"""All that results are made of. A class may move to another module, but keeps its name: files that
have been written say it."""

RESULT_FILE = Format(
    name="result of xc40io",
    version=2,
    option="--save",
    homes={name: module for module, names in _RECORDS.items() for name in names.split()},
)


_CONTENTS = ("Result", "JobsResult", "ReplayReport")


class Saved(NamedTuple):
    """What is in a file.

    Attributes
    ----------
    content
        A :class:`~sim.run.result.Result`, a :class:`~sim.run.jobs.JobsResult`, or what a replay of
        a Darshan log has to tell, a :class:`~sim.results.replay_report.ReplayReport`.
    shown
        How it was printed when it was saved: the options, by name.
    """

    content: Any
    shown: Mapping[str, bool]


def save(content: Any, path: str | Path, shown: Mapping[str, bool] | None = None) -> None:
    """Write a result to a file; see :class:`Saved`.

    Raises
    ------
    InputError
        If it cannot be written there.
    """
    write_archive(path, RESULT_FILE, version("xc40io"), Saved(content, shown or {}))


def load_saved(path: str | Path) -> Saved:
    """Read what :func:`save` wrote.

    Raises
    ------
    InputError
        If there is no such file, or it is none of ours, damaged, or of a version that cannot be
        read here.
    """
    saved = read_archive(path, RESULT_FILE)
    if not isinstance(saved, Saved) or type(saved.content).__name__ not in _CONTENTS:
        raise InputError(f"{path}: there is no result in this file; right would be one of --save")
    return saved


def load(path: str | Path) -> Any:
    """Read the result that was written to a file: the content of :func:`load_saved`."""
    return load_saved(path).content
