"""An IOR command as a workload."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from xc40io.config.machine import Machine
from xc40io.config.places import found_at
from xc40io.config.scenario import Scenario
from xc40io.workloads.ior.checks import check, remarks
from xc40io.workloads.ior.options import parse_arguments
from xc40io.workloads.ior.parameters import WITHOUT_MPI, Access, IorTest
from xc40io.workloads.traits import COLLECTIVE, OWN, SHARED, PhaseTraits
from xc40io.workloads.workload import CommandWorkload

if TYPE_CHECKING:
    import simpy

    from xc40io.workloads.ior.outcome import IorOutcome
    from xc40io.workloads.job import Job

_REACH = "xc40io.workloads.ior.reach:check_reach"  # NumPy comes with it; options do without

_APART = {
    "size": ("block_size", "transfer_size", "segments"),
    "interface": ("api", "api_as_typed", "version"),
    "direct I/O": ("direct_io",),
    "syncs": ("fsync", "fsync_per_write"),
}
"""What two commands may differ in, as claims put it, and the parameters that say so."""


def _sharing(test: IorTest) -> str:
    if test.file_per_process:
        return OWN
    return COLLECTIVE if test.collective else SHARED


def traits_of(test: IorTest, part: int = 0) -> tuple[PhaseTraits, ...]:
    """Return what the phases of a test are."""
    return tuple(
        PhaseTraits(
            part=part,
            access=access.way,
            sharing=_sharing(test),
            bytes_a_rank=test.block_size * test.segments,
            call=test.transfer_size,
            block=test.block_size,
            direct=test.direct_io,
            synced=test.fsync_per_write,
            scattered=_scatters(test, access),
            over_mpi=test.api not in WITHOUT_MPI,
            hinted=True,
            shifted=test.reorders,
            stripe_count=test.stripe_count,
            stripe_size=test.stripe_size,
            path=test.test_file.partition("@")[0],
        )
        for access in test.phases
    )


def _scatters(test: IorTest, access: Access) -> bool:
    """Tell whether calls come in no order, and what lies beside them is nowhere at hand."""
    if not test.random_offset or (test.random_offset > 1 and test.calls_per_block > 1):
        return False
    cached = test.write and not test.reorders  # by the rank itself, in its own file
    return not test.file_per_process or (access.reads and not cached)


class Ior(CommandWorkload):
    """An IOR command, the words without the program's name: its tests one after the other.

    InputError is raised if IOR does not know an option, or two of them contradict each other.
    """

    name: ClassVar[str] = "ior"
    io_threads: ClassVar[bool] = True

    def __init__(self, arguments: Sequence[str] | None) -> None:
        super().__init__(arguments)
        self.command = parse_arguments(self._arguments)

    @property
    def adjustable(self) -> bool:
        """Whether it runs no script, whose tests have options of their own."""
        return not any(word.startswith("-f") for word in self._arguments)

    @property
    def needs_recording(self) -> bool:
        """Whether the times of single calls are asked for (``savePerOpDataCSV``)."""
        return any(test.call_details_file is not None for test in self.command.tests)

    def output_files(self) -> list[tuple[str, str]]:
        """Return the files of the summary and of the ranks' times."""
        return self.command.output_files()

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless the machine can run the tests and the simulator knows how."""
        check(self.command.tests, scenario, machine)
        for test in self.command.tests:
            found_at(_REACH)(test, scenario)

    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes that all tests move, if nothing stops them early."""
        return sum(test.bytes_to_move(ranks) for test in self.command.tests)

    @property
    def may_end_early(self) -> bool:
        """Whether a deadline may end a test."""
        return any(test.deadline for test in self.command.tests)

    def phase_traits(self, ranks: int) -> tuple[PhaseTraits, ...]:  # noqa: ARG002
        """Return what the phases of each test are."""
        return tuple(
            traits
            for part, test in enumerate(self.command.tests)
            for traits in traits_of(test, part)
        )

    def phase_names(self) -> tuple[str, ...]:
        """Return what the phases of all tests are called."""
        names = [access.value for test in self.command.tests for access in test.phases]
        return tuple(dict.fromkeys(names))

    def described(self) -> dict[str, object]:
        """Return what its tests are; of the API's rules which hold follows from the interface."""
        tests = [vars(test).copy() for test in self.command.tests]
        for test in tests:
            del test["file_per_process"], test["collective"]
        apart = {
            word: [[test.pop(name) for name in names] for test in tests]
            for word, names in _APART.items()
        }
        return {**apart, "workload": repr(tests)}

    def run(self, job: Job) -> Generator[simpy.Event, Any, IorOutcome]:
        """Do all tests: the SimPy process of the job."""
        from xc40io.workloads.ior.run import run

        return run(self.command, job)

    def notes(self, job: Job) -> tuple[str, ...]:
        """Return which options and hints change nothing."""
        tests = self.command.tests
        return (*self.command.notes, *remarks(tests, job.scenario, job.machine))
