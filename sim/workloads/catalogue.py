"""From what a scenario asks for to the workload that its job runs."""

from __future__ import annotations

from sim.config.scenario import Workload as AskedWorkload
from sim.workloads.ior.command import Ior
from sim.workloads.kernels import make_kernel
from sim.workloads.workload import Workload


def workload_of(asked: AskedWorkload) -> Workload:
    """Return the workload that a scenario asks for.

    Raises
    ------
    InputError
        If IOR or the kernel does not know an option, or there is no such kernel.
    """
    return Ior(asked.ior) if asked.kernel is None else make_kernel(asked.kernel)
