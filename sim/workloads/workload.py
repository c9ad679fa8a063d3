"""What a job runs: an IOR command, or a kernel.

A workload says what it needs of the job and whether it can run there; it runs once, and leaves in
the job what all workloads leave: rows, activities, files, notes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.config.scenario import Workload as AskedWorkload

if TYPE_CHECKING:  # whoever asks for the options must not wait for NumPy
    import simpy

    from sim.workloads.job import Job


class Workload(ABC):
    """The workload of one job."""

    name: ClassVar[str]
    """What it is called in a scenario and on the command line."""

    runtime: ClassVar[str]
    """The module whose ``run(workload, job)`` does it: imported when it runs, not before."""

    io_threads: ClassVar[bool] = False
    """Whether the calls of a rank can be dealt to I/O threads."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What a list of jobs calls it."""

    @abstractmethod
    def asked(self) -> AskedWorkload:
        """Return it as a scenario has it, with nothing left to a default."""

    @abstractmethod
    def options(self, *, given: bool = False) -> dict[str, Any]:
        """Return its options by name, with their units; with ``given``, those that are set."""

    @property
    def needs_recording(self) -> bool:
        """Whether what it writes is made of a recording of the run."""
        return False

    def helpers(self) -> int:
        """Return how many helper threads each rank has; they share its core."""
        return 0

    def stagers(self, scenario: Scenario) -> int:  # noqa: ARG002
        """Return how many programs on each service node of its burst buffer a job needs."""
        return 0

    def output_files(self) -> list[tuple[str, str]]:
        """Return the files that it writes outside the simulation, and the option of each."""
        return []

    def check(self, scenario: Scenario, machine: Machine) -> None:  # noqa: B027  (may be nothing)
        """Raise InputError unless the job of a scenario can run it on a machine."""

    @abstractmethod
    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes that so many ranks will read and write in all, about."""

    def run(self, job: Job) -> Generator[simpy.Event, Any, object]:
        """Do everything: the SimPy process of the job.

        Returns
        -------
        object
            What only this workload leaves: the ``outcome`` of the result.
        """
        process: Generator[simpy.Event, Any, object] = import_module(self.runtime).run(self, job)
        return process

    def notes(self, job: Job) -> tuple[str, ...]:  # noqa: ARG002
        """Return what the user should know of its options when it has run: a sentence each."""
        return ()
