"""The programs that jobs run, by their names in scenarios, and what each makes of a job.

Every door goes through :data:`PROGRAMS`; nothing of a program is imported before it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xc40io.config.errors import InputError
from xc40io.workloads.io500.program import IO500
from xc40io.workloads.ior.program import IOR
from xc40io.workloads.mdtest.program import MDTEST
from xc40io.workloads.program import Program
from xc40io.workloads.traits import Traits

if TYPE_CHECKING:
    from xc40io.config.asked_workload import Workload as AskedWorkload
    from xc40io.config.scenario import Scenario
    from xc40io.workloads.workload import Workload

_KERNEL = Program(
    name="kernel",
    title="a kernel",
    home="xc40io.workloads.known_kernels:make_kernel",
    option="xc40io.workloads.known_kernels:with_option",
    summary="Run a kernel: HDF5, ADIOS, VPIC-IO... or a skeleton of your own.",
)
"""Which there are, :mod:`xc40io.workloads.known_kernels` says."""

PROGRAMS: Mapping[str, Program] = {
    program.name: program for program in (IOR, MDTEST, _KERNEL, IO500)
}


def workload_of(asked: AskedWorkload) -> Workload:
    """Return the workload that a scenario asks for.

    Raises
    ------
    InputError
        If the program does not know an option, or there is no such kernel.
    """
    workload: Workload = PROGRAMS[asked.program].make(asked.value)
    return workload


def traits_of(scenario: Scenario) -> Traits:
    """Return what the phases of a job are.

    Raises
    ------
    InputError
        As of :func:`workload_of`.
    """
    return workload_of(scenario.workload).traits(scenario)


def traits_if_known(scenario: Scenario) -> Traits:
    """Return the same, and of a workload that is none, as one whose file has gone, no phases."""
    try:
        return traits_of(scenario)
    except InputError:
        return Traits(where=scenario.target.kind)
