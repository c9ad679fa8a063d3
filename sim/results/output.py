"""What a run tells, whatever its workload was: as text, as JSON, in files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from sim.run.result import Result


class OutputFile(NamedTuple):
    """A file that a workload writes outside the simulation.

    Attributes
    ----------
    path
        Of the file.
    option
        That names it.
    text
        What is in it.
    """

    path: str
    option: str
    text: str


class Output(ABC):
    """What the run of one workload tells.

    Parameters
    ----------
    result
        The run.
    """

    def __init__(self, result: Result) -> None:
        self.result = result

    @property
    @abstractmethod
    def answer(self) -> str | None:
        """What the workload prints on standard output; None if that goes to a file."""

    @property
    def machine_readable(self) -> bool:
        """Whether the answer on standard output is for a program: nothing else may stand there."""
        return False

    @property
    @abstractmethod
    def mpiio(self) -> str:
        """What MPI-IO prints in the job: empty if nobody asked."""

    @abstractmethod
    def layouts(self) -> str:
        """Return the striping of the files as ``lfs getstripe`` prints it; the first few files."""

    def files(self) -> list[OutputFile]:
        """Return the files that the workload writes outside the simulation."""
        return []

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Arrange the run for JSON: what the workload tells, and ``xc40io``.

        That has the keys of :func:`~sim.results.run_json.simulator_document`, and more as the
        workload has it. Bytes, bytes/s, seconds.
        """
