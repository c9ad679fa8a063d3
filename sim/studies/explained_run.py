"""The run that an explanation is about, made once more and recorded: for its pictures."""

from __future__ import annotations

from sim.config.jobs import JobsScenario
from sim.config.scenario import Scenario
from sim.run.jobs import JobsResult, simulate_jobs
from sim.run.result import Result
from sim.run.simulate import simulate


def explained_run(scenario: Scenario | JobsScenario) -> Result | JobsResult:
    """Return what the scenario of an explanation leaves; of several jobs none runs alone.

    The runs of an explanation are not recorded; this one is the same, bit for bit.
    """
    if isinstance(scenario, Scenario):
        return simulate(scenario, record=True)
    return simulate_jobs(scenario, alone=False, record=True)
