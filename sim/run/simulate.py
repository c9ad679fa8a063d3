"""Run a scenario."""

from __future__ import annotations

from sim.config.machine import Machine
from sim.config.scenario import Scenario, machine_of
from sim.run.act import Act
from sim.run.ior import IorAct
from sim.run.kernel import KernelAct
from sim.run.perform import Part, perform
from sim.run.result import Result
from sim.run.stage import Progress
from sim.workloads.kernel import Kernel


def simulate(
    scenario: Scenario, *, progress: Progress | None = None, kernel: Kernel | None = None
) -> Result:
    """Run a scenario of one job to its end.

    Parameters
    ----------
    scenario
        What to run.
    progress
        Told from time to time how far it has come.
    kernel
        In place of the one that the scenario describes: one that was made already.

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
    (performance,) = perform(
        machine,
        [Part(act_of(scenario, machine, kernel))],
        background=scenario.background,
        seed=scenario.seed,
        progress=progress,
    )
    return performance.result


def act_of(scenario: Scenario, machine: Machine, kernel: Kernel | None = None) -> Act:
    """Return what the job of a scenario does, checked.

    Raises
    ------
    InputError
        If the job cannot do it on this machine.
    """
    if kernel is not None or scenario.workload.kernel is not None:
        return KernelAct(scenario, machine, kernel)
    return IorAct(scenario, machine)
