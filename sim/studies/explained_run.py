"""The run that an explanation is about, as ``run`` leaves it."""

from __future__ import annotations

from sim.config.scenario import Scenario
from sim.run.jobs import JobOutcome, JobsResult, seeded_jobs
from sim.run.result import Result
from sim.studies.explanation import Explanation


def explained_run(explanation: Explanation) -> Result | JobsResult:
    """Return the run as it is: of one job its result, of several all, without any of them alone."""
    scenario, whole = explanation.scenario, next(iter(explanation.results.values()))
    if isinstance(scenario, Scenario):
        return whole
    jobs = tuple(
        JobOutcome(job=job, drawn=drawn, result=explanation.results[job.name], alone=None)
        for job, drawn, _ in seeded_jobs(scenario)
    )
    return JobsResult(scenario=scenario, machine=whole.machine, jobs=jobs, wall=whole.wall)
