"""Run a scenario."""

from __future__ import annotations

from sim.config.scenario import Scenario, machine_of
from sim.run.ior import run_ior
from sim.run.kernel import run_kernel
from sim.run.result import Result
from sim.run.stage import Progress


def simulate(scenario: Scenario, *, progress: Progress | None = None) -> Result:
    """Run a scenario to its end.

    Parameters
    ----------
    scenario
        What to run.
    progress
        Told from time to time how far it has come.

    Returns
    -------
    IorResult or KernelResult
        As the workload is. The same, bit for bit, for the same scenario.

    Raises
    ------
    InputError
        If the scenario asks for what the machine or the simulator does not have.
    """
    machine = machine_of(scenario)
    workload = scenario.workload
    if workload.kernel is not None:
        return run_kernel(scenario, machine, workload.kernel, progress)
    return run_ior(scenario, machine, workload.ior or (), progress)
