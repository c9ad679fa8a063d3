"""A replay as JSON: the log's own times beside the simulated ones."""

from __future__ import annotations

from typing import Any

from sim.results.replay_judgement import BelowMpi, below_mpi, computing_share
from sim.results.replay_report import ReplayReport
from sim.results.replay_times import FileTimes, differences, outcome_of
from sim.results.run_json import simulator_document
from sim.run.result import Result
from sim.workloads.darshan.counters import Measured


def replay_document(report: ReplayReport) -> dict[str, Any]:
    """Arrange a replay.

    Returns
    -------
    dict
        ``log`` (what it is about, and its ``warnings``), ``where`` (a sentence), ``known``
        (whether the job ran on that machine), ``told`` (what is known of the recorded run),
        ``change`` (what
        the what-if changes), ``differences`` (where the counts are not those of the log),
        ``below_mpi`` (calls below MPI-IO by file and phase, ``recorded`` and ``simulated``, whether
        the log has all of them, ``complete``, and whether they ``differ``),
        ``files`` (for each file ``name``, ``bytes``, ``story``: how it was reconstructed, and
        ``phases``: by layer and phase ``log`` and ``runs`` with calls, bytes, the seconds of all
        ranks together, how many ranks these are, and for the log the span in seconds) and
        ``runs``: of the replay, and of the what-if, ``seconds``, ``computing`` (which part
        of the ranks' time they computed as recorded) and ``xc40io``, the keys of
        :func:`~sim.results.run_json.simulator_document`.
    """
    log = report.log
    stories = {file.name: file.story for file in report.reconstructed}
    return {
        "log": {
            "path": log.path,
            "version": log.version,
            "job_id": log.job_id,
            "ranks": log.ranks,
            "run_time": log.run_time,
            "executable": log.executable,
            "warnings": list(log.warnings),
            "lost": list(log.lost),
            "unreplayed": [of._asdict() for of in log.unreplayed],
            "elsewhere": list(log.elsewhere),
            "last_call": log.last_call,
            "slow_osts": list(log.slow),
            "slow_servers": list(log.slow_servers),
        },
        "where": report.where,
        "known": report.known,
        "told": report.told,
        "change": report.change,
        "differences": differences(report.files),
        "below_mpi": [_below(of) for of in below_mpi(report.files)],
        "files": [_file(file) | {"story": list(stories[file.name])} for file in report.files],
        "runs": [_run(run) for run in report.runs],
    }


def _below(of: BelowMpi) -> dict[str, Any]:
    return {
        "file": of.file,
        "phase": str(of.phase),
        "recorded": of.recorded,
        "simulated": of.simulated,
        "complete": of.complete,
        "differ": of.differs,
    }


def _file(file: FileTimes) -> dict[str, Any]:
    return {
        "name": file.name,
        "bytes": file.bytes,
        "phases": [
            {
                "layer": str(layer),
                "phase": str(phase),
                "log": _measured(file.recorded.get((layer, phase))),
                "runs": [_measured(table.get((layer, phase))) for table in file.runs],
            }
            for layer, phase in file.keys
        ],
    }


def _measured(of: Measured | None) -> dict[str, Any] | None:
    if of is None:
        return None
    return {
        "calls": of.calls,
        "bytes": of.bytes,
        "seconds": of.seconds,
        "ranks": of.ranks,
        "span": of.span,
    }


def _run(run: Result) -> dict[str, Any]:
    return {
        "seconds": outcome_of(run).seconds,
        "computing": computing_share(run),
        "xc40io": simulator_document(run),
    }
