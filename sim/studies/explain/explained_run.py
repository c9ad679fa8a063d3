"""The run that an explanation is about, with a recording: for its pictures."""

from __future__ import annotations

from sim.config.scenario import Scenario
from sim.run.jobs import JobsResult, simulate_jobs
from sim.run.result import Result
from sim.studies.explain.explanation import Explanation


def explained_run(explanation: Explanation) -> Result | JobsResult:
    """Return what an explanation is about.

    Of several jobs that is their run, made once more: what came of it for all of them together is
    not part of an explanation. It is the same, bit for bit.
    """
    scenario = explanation.scenario
    if isinstance(scenario, Scenario):
        return explanation.results[""]
    return simulate_jobs(scenario, alone=False, record=True)
