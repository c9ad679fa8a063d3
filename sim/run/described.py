"""Whether what a file describes can run, told with the name of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xc40io.config.errors import naming
from xc40io.config.scenario import Scenario, changed_machine, check_job
from xc40io.run.job_list import seeded_jobs
from xc40io.run.jobs import machine_of_jobs, submission_of
from xc40io.run.submission import Submission
from xc40io.workloads.catalogue import workload_of

if TYPE_CHECKING:
    from xc40io.config.jobs import JobsScenario


def check_described(scenario: Scenario | JobsScenario, place: str, striping: str = "") -> None:
    """Raise InputError unless the machine of a scenario can run it.

    A run asks the same, and no longer knows from which file the scenario came.

    Parameters
    ----------
    scenario
        As it is going to run, with what was typed beside the file.
    place
        What messages call the file.
    striping
        Where its stripes stand, if that is known better than by the field.
    """
    if not isinstance(scenario, Scenario):
        with naming(place):
            machine = machine_of_jobs(scenario)
            for entry in seeded_jobs(scenario):
                submission_of(scenario, machine, entry, None)
        return
    with naming(place):
        machine = changed_machine(scenario.machine, scenario.changes, scenario.rpcs_as_one)
    with naming(striping or f"{place}: striping"):
        machine.lustre.check_striping(scenario.striping)
    with naming(place):
        check_job(scenario, machine)
        workload = scenario.workload
        if workload.options.get("trace"):
            return  # long to open, and says itself what is wrong with it
        with naming(f"workload.{workload.program}"):
            Submission.to(machine, scenario, workload_of(workload)).check(machine)
