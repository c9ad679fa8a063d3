"""What all kernels have in common: workloads whose options are the fields of a model.

A kernel is a small program that does the I/O of a library or of an application. What its options
are called, in which units they are typed and what they mean is said once, for scenario files, for
Python and for the command line. Whoever only asks for the options does not wait for NumPy: what a
kernel needs at work it imports when it is run.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from sim.config.machine import Machine
from sim.config.model import Model

if TYPE_CHECKING:
    from sim.config.scenario import Scenario
    from sim.workloads.job import Job, Waiting


class Kernel(Model):
    """The options of a kernel, and the kernel itself.

    A subclass describes each option as a pydantic field, ``Field(description=...)``, in the units
    of :mod:`sim.config.units`; it is listed in :mod:`sim.workloads.kernels`.
    """

    name: ClassVar[str]
    """What it is called in a scenario and on the command line."""

    def helpers(self) -> int:
        """Return how many helper threads each rank has; they share its core."""
        return 0

    def stagers(self, scenario: Scenario) -> int:  # noqa: ARG002
        """Return how many programs on each service node of its burst buffer a job needs."""
        return 0

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless the job of a scenario can run it on a machine."""

    @abstractmethod
    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes that so many ranks will read and write in all, about."""

    @abstractmethod
    def run(self, job: Job) -> Waiting:
        """Do everything, and leave ``job.rows``: the SimPy process of the job."""
