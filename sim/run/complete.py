"""Scenarios with nothing left to a default: they run the same wherever they are taken."""

from __future__ import annotations

from sim.config.jobs import JobsScenario
from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.config.scenario_text import resolved_jobs_yaml, resolved_yaml
from sim.run.jobs import seeded_jobs
from sim.workloads.catalogue import workload_of


def complete_yaml(scenario: Scenario, machine: Machine) -> str:
    """Return the complete scenario of one job as YAML.

    Parameters
    ----------
    scenario
        As loaded.
    machine
        Its machine, with the scenario's changes made; it is written out in full, with its sources.

    Raises
    ------
    InputError
        If a file that the workload is read from is not there.
    """
    updates = {"workload": workload_of(scenario.workload).asked()}
    return resolved_yaml(scenario.model_copy(update=updates), machine)


def complete_jobs_yaml(scenario: JobsScenario, machine: Machine) -> str:
    """Return the complete scenario of several jobs as YAML: drawn jobs are listed.

    Parameters and errors: as for :func:`complete_yaml`.
    """
    jobs = tuple(
        (job.model_copy(update={"workload": workload_of(job.workload).asked()}), seed)
        for job, _, seed in seeded_jobs(scenario)
    )
    return resolved_jobs_yaml(scenario, machine, jobs)
