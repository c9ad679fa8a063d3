"""Several jobs on one machine, as JSON."""

from __future__ import annotations

from typing import Any

from sim.results.outputs import output_of
from sim.results.run_json import simulator_document
from sim.run.jobs import JobOutcome, JobPhase, JobsResult

_OF_THE_MACHINE = ("version", "busiest", "stations", "lustre", "counts", "wall_seconds")


def jobs_document(result: JobsResult) -> dict[str, Any]:
    """Arrange a run of several jobs.

    Returns
    -------
    dict
        ``jobs``: for each ``name``, ``drawn`` (from the mix), ``nodes`` (the compute nodes that it
        had), ``ppn``, ``seed``, ``start``, ``end``, ``seconds``, ``alone_seconds``, ``slowdown``,
        ``phases`` and ``result``, the document of a run of this job
        (:meth:`~sim.results.output.Output.document`) without what is the machine's. Then
        ``xc40io``: of the keys of :func:`~sim.results.run_json.simulator_document` those that are,
        for all jobs together, and the ``scenario``. Bytes, bytes/s, seconds; null where the job
        did not run alone.
    """
    machine = simulator_document(result.whole)
    ours = {name: machine[name] for name in _OF_THE_MACHINE}
    ours["counts"]["simulated_seconds"] = result.simulated
    ours["wall_seconds"] = result.wall
    ours["scenario"] = result.scenario.model_dump(mode="json", exclude_none=True)
    return {"jobs": [_job(outcome) for outcome in result.jobs], "xc40io": ours}


def _job(outcome: JobOutcome) -> dict[str, Any]:
    alone = outcome.alone
    return {
        "name": outcome.job.name,
        "drawn": outcome.drawn,
        "nodes": outcome.nodes.tolist(),
        "ppn": outcome.job.ppn,
        "seed": outcome.result.scenario.seed,
        "start": outcome.start,
        "end": outcome.end,
        "seconds": outcome.result.simulated,
        "alone_seconds": None if alone is None else alone.seconds,
        "slowdown": outcome.slowdown,
        "phases": [
            _phase(phase)
            | {"alone": None if other is None else _phase(other)}
            | {"slowdown": phase.slowdown(other)}
            for phase, other in outcome.phase_pairs()
        ],
        "result": _result(outcome),
    }


def _phase(phase: JobPhase) -> dict[str, Any]:
    return {
        "name": phase.name,
        "bytes": phase.bytes,
        "seconds": phase.seconds,
        "bandwidth": phase.bandwidth,
    }


def _result(outcome: JobOutcome) -> dict[str, Any]:
    document = output_of(outcome.result).document()
    ours = document["xc40io"]
    return document | {"xc40io": {name: ours[name] for name in ours if name not in _OF_THE_MACHINE}}
