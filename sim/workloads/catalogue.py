"""From what a scenario asks for to the workload that its job runs."""

from __future__ import annotations

from sim.config.scenario import Workload as AskedWorkload
from sim.workloads.ior.command import Ior
from sim.workloads.kernels import make_kernel
from sim.workloads.mdtest.command import Mdtest
from sim.workloads.workload import Workload


def workload_of(asked: AskedWorkload) -> Workload:
    """Return the workload that a scenario asks for.

    Raises
    ------
    InputError
        If IOR, mdtest, IO500 or the kernel does not know an option, or there is no such kernel.
    """
    if asked.kernel is not None:
        return make_kernel(asked.kernel)
    if asked.io500 is not None:
        from sim.workloads.io500.command import Io500

        return Io500(asked.io500)
    return Ior(asked.ior) if asked.mdtest is None else Mdtest(asked.mdtest)
