"""What a job runs: an IOR command, or a kernel.

A workload says what it needs of the job and whether it can run there; it runs once, and leaves in
the job what all workloads leave: rows, activities, files, notes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from xc40io.config.asked_workload import Workload as AskedWorkload
from xc40io.config.kept import kept
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.workloads.traits import PhaseTraits, Traits

if TYPE_CHECKING:  # whoever asks for the options must not wait for NumPy
    import simpy

    from xc40io.workloads.job import Job


class Started(NamedTuple):
    """The ranks that a program starts by itself; None where it does not say."""

    ranks: int
    nodes: int | None
    ppn: int | None


class Workload(ABC):
    """The workload of one job."""

    name: ClassVar[str]
    """What it is called in a scenario and on the command line."""

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
    def adjustable(self) -> bool:
        """Whether the options of its command can be set one by one."""
        return True

    @property
    def pasted(self) -> tuple[str, ...]:
        """The lines that say its options in a file of its library's, if there is one."""
        return ()

    @property
    def lays_out(self) -> bool:
        """Whether its files ask for stripes of their own where the job asks for none."""
        return False

    @property
    def needs_recording(self) -> bool:
        """Whether what it writes is made of a recording of the run."""
        return False

    def helpers(self) -> int:
        """Return how many helper threads each rank has; they share its core."""
        return 0

    @property
    def helpers_apart(self) -> bool:
        """Whether helpers run on cores without a rank, as long as there are some."""
        return False

    def stagers(self, scenario: Scenario) -> int:  # noqa: ARG002
        """Return how many programs on each service node of its burst buffer a job needs."""
        return 0

    def starts(self) -> Started | None:
        """Return the ranks that it starts by itself; None: the job's launcher starts them."""
        return None

    def output_files(self) -> list[tuple[str, str]]:
        """Return the files that it writes outside the simulation, and the option of each."""
        return []

    def check(self, scenario: Scenario, machine: Machine) -> None:  # noqa: B027  (may be nothing)
        """Raise InputError unless the job of a scenario can run it on a machine."""

    @abstractmethod
    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes that so many ranks will read and write in all, about."""

    def metadata_operations(self, ranks: int) -> int:  # noqa: ARG002
        """Return how many items so many ranks make, look at and remove, where that is the work."""
        return 0

    @property
    def may_end_early(self) -> bool:
        """Whether something, as a deadline, may end it before it has done all that."""
        return False

    def phase_traits(self, ranks: int) -> tuple[PhaseTraits, ...]:
        """Return what its phases are that differ; ranks: of the job."""
        return (PhaseTraits(bytes_a_rank=self.bytes_to_move(ranks) // ranks),)

    def moved(self, ranks: int) -> Iterator[tuple[float, PhaseTraits]]:
        """Yield the bytes of all phases of each kind, with their traits, if it goes to its end."""
        phases = self.phase_traits(ranks)
        of_one = sum(phase.bytes_a_rank for phase in phases)
        for phase in phases if of_one else ():
            yield self.bytes_to_move(ranks) * phase.bytes_a_rank / of_one, phase

    def phase_names(self) -> tuple[str, ...]:
        """Return what the rows of its result are called; none where only the run can tell."""
        return ()

    def traits(self, scenario: Scenario) -> Traits:
        """Return what its phases are in the job of a scenario."""
        ranks = scenario.nodes * scenario.ppn
        return Traits(
            where=scenario.target.kind,
            bytes=self.bytes_to_move(ranks),
            phases=self.phase_traits(ranks),
        )

    def described(self) -> dict[str, object]:
        """Return what tells it from others of its kind, each thing by a word of its own.

        How ranks share their files is none of it: :class:`~xc40io.workloads.traits.Traits` say it.
        """
        return {"workload": repr(self.asked())}

    @abstractmethod
    def run(self, job: Job) -> Generator[simpy.Event, Any, object]:
        """Do everything: the SimPy process of the job.

        Returns
        -------
        object
            What only this workload leaves: the ``outcome`` of the result.
        """

    def notes(self, job: Job) -> tuple[str, ...]:  # noqa: ARG002
        """Return what the user should know of its options when it has run: a sentence each."""
        return ()


class CommandWorkload(Workload):
    """A workload that is asked for by a command line: the words without the program's name."""

    def __init__(self, arguments: Sequence[str] | None) -> None:
        self._arguments = tuple(arguments or ())

    @property
    def title(self) -> str:
        """What a list of jobs calls it: ``ior -w -b 8m``."""
        return " ".join((self.name, *self._arguments))

    def options(self, *, given: bool = False) -> dict[str, Any]:  # noqa: ARG002
        """Return the words of the command."""
        return {"arguments": list(self._arguments)}

    def asked(self) -> AskedWorkload:
        """Return the command as it was typed: the program's defaults stay its own."""
        return AskedWorkload.of(self.name, self._arguments)


@kept
class WorkloadRecord(NamedTuple):
    """What a result tells of the workload that was run: plain data, in place of the workload."""

    name: str  # as in a scenario and on the command line
    title: str  # as in a list of jobs
    options: dict[str, Any]  # all, with their units
    given: dict[str, Any]  # those that were set


def record_of(workload: Workload) -> WorkloadRecord:
    """Return what a result tells of a workload."""
    return WorkloadRecord(
        workload.name, workload.title, workload.options(), workload.options(given=True)
    )
