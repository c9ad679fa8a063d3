"""What a job does, checked and ready: the workload of a scenario before it is on the stage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import Any, TypeAlias

import simpy

from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.run.result import Result
from sim.run.stage import JobStage

Waiting: TypeAlias = Generator[simpy.Event, Any, None]


class Act(ABC):
    """The workload of one job. It is played once.

    Parameters
    ----------
    scenario
        The job: where several share the machine, as if it were there by itself.
    machine
        With the scenario's changes made.
    """

    def __init__(self, scenario: Scenario, machine: Machine) -> None:
        self.scenario = scenario
        self.machine = machine

    @property
    def helpers(self) -> int:
        """Helper threads of each rank: programs beside its I/O threads."""
        return 0

    @property
    def stagers(self) -> int:
        """Programs on each service node of the job's burst buffer."""
        return 0

    @property
    @abstractmethod
    def bytes_to_move(self) -> int:
        """Bytes that the job will read and write, about."""

    @abstractmethod
    def play(self, job: JobStage) -> Waiting:
        """Do everything: the SimPy process of the job."""

    @abstractmethod
    def result(self, outcome: dict[str, Any]) -> Result:
        """Return what has come of it; ``outcome`` holds the fields that all results have."""
