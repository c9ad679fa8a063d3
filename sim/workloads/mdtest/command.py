"""An mdtest command as a workload."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.workloads.mdtest.checks import check, remarks
from xc40io.workloads.mdtest.options import parse_arguments
from xc40io.workloads.traits import METADATA, PhaseTraits
from xc40io.workloads.workload import CommandWorkload

if TYPE_CHECKING:
    import simpy

    from xc40io.workloads.job import Job
    from xc40io.workloads.mdtest.outcome import MdtestOutcome


class Mdtest(CommandWorkload):
    """An mdtest command, the words without the program's name: its iterations.

    InputError is raised if mdtest does not know an option, or two of them contradict each other.
    """

    name: ClassVar[str] = "mdtest"

    def __init__(self, arguments: Sequence[str] | None) -> None:
        super().__init__(arguments)
        self.command = parse_arguments(self._arguments)

    def output_files(self) -> list[tuple[str, str]]:
        """Return the files of the ranks' figures and of the deadline."""
        return self.command.output_files()

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless the job can run it and the simulator knows how."""
        check(self.command.test, scenario, machine)

    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes that all iterations write and read."""
        return self.command.test.bytes_to_move(ranks)

    def metadata_operations(self, ranks: int) -> int:
        """Return what all iterations do with all items."""
        return self.command.test.item_operations(ranks)

    @property
    def may_end_early(self) -> bool:
        """Whether a deadline may end the creation of files."""
        return self.command.test.deadline > 0

    def phase_traits(self, ranks: int) -> tuple[PhaseTraits, ...]:
        """Return that all are about metadata."""
        test = self.command.test
        return (
            PhaseTraits(
                access=METADATA,
                bytes_a_rank=self.bytes_to_move(ranks) // ranks,
                own_directory=test.unique,
                path=test.paths[0] if "-d" in self._arguments else None,
            ),
        )

    def phase_names(self) -> tuple[str, ...]:
        """Return what the operations of an iteration are called."""
        return tuple(operation.phase for operation in self.command.test.operations)

    def run(self, job: Job) -> Generator[simpy.Event, Any, MdtestOutcome]:
        """Do all iterations: the SimPy process of the job."""
        from xc40io.workloads.mdtest.run import run

        return run(self.command, job)

    def notes(self, job: Job) -> tuple[str, ...]:
        """Return which options change nothing, and what mdtest counts in its own way."""
        return (*self.command.notes, *remarks(self.command.test, job.scenario))
