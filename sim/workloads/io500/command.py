"""IO500 as a workload."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from xc40io.config.asked_workload import Io500 as AskedIo500
from xc40io.config.asked_workload import Workload as AskedWorkload
from xc40io.config.errors import InputError, naming
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.workloads.io500.checks import check_settings, remarks
from xc40io.workloads.io500.ini import checked
from xc40io.workloads.io500.outcome import PHASES, Io500Outcome, Io500Phase
from xc40io.workloads.io500.settings import Room, Settings, ior_test, mdtest_test
from xc40io.workloads.ior.checks import check as check_ior
from xc40io.workloads.ior.command import traits_of
from xc40io.workloads.mdtest.checks import check as check_mdtest
from xc40io.workloads.traits import METADATA, OWN, SHARED, PhaseTraits
from xc40io.workloads.workload import Workload

if TYPE_CHECKING:
    import simpy

    from xc40io.workloads.job import Job


class Io500(Workload):
    """IO500: all its phases one after the other.

    InputError is raised if there is no such option, or a value does not fit.
    """

    name: ClassVar[str] = "io500"

    def __init__(self, asked: AskedIo500) -> None:
        self._asked = asked
        self.settings = Settings(checked(asked.config, "io500"), asked.timestamp)
        # by how much the rates of two spans of time differ at most in a phase that has settled
        self.tolerance = asked.steady / 100.0
        self.phases: list[Io500Phase] = []  # that have ended so far, in order
        self.tell: Callable[[str], None] = _tell_nobody  # the name of a phase before it begins

    @property
    def title(self) -> str:
        """What a list of jobs calls it."""
        return "io500"

    def options(self, *, given: bool = False) -> dict[str, Any]:
        """Return the values of its file, by section and option, and how it is simulated."""
        values = {
            f"{section}.{name}": value
            for section, options in self.settings.given.items()
            for name, value in options.items()
        }
        return values if given else {**values, "steady": f"{self._asked.steady:g} %"}

    def asked(self) -> AskedWorkload:
        """Return it as a scenario has it."""
        return AskedWorkload(io500=self._asked)

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless the job can run it and the simulator knows how."""
        if scenario.target.kind != "lustre":
            raise InputError(
                f"target {scenario.target.kind}: mdtest syncs what it has made (-Y) in IO500, "
                "which is simulated for Lustre only; right would be target lustre"
            )
        check_settings(self.settings, scenario.nodes * scenario.ppn)
        room = self.room(scenario.nodes * scenario.ppn)
        for phase in PHASES:
            if not self.settings.runs(phase) or phase in ("timestamp", "find"):
                continue
            with naming(f"[{phase}]"):
                if phase.startswith("ior"):
                    check_ior((ior_test(self.settings, phase, room)[0],), scenario, machine)
                else:
                    check_mdtest(mdtest_test(self.settings, phase, room)[0], scenario, machine)

    def room(self, ranks: int) -> Room:
        """Return how much of each phase there is room for."""
        return Room(ranks, whole=self.tolerance <= 0.0)

    def bytes_to_move(self, ranks: int) -> int:  # noqa: ARG002
        """Return nothing: how much is written, the stonewall decides."""
        return 0

    @property
    def may_end_early(self) -> bool:
        """Whether it may do less than there is room for: it does until its rates are steady."""
        return True

    def moved(self, ranks: int) -> Iterator[tuple[float, PhaseTraits]]:
        """Yield the bytes that there is room for in each phase of IOR."""
        room = self.room(ranks)
        for phase in PHASES:
            if phase.startswith("ior") and self.settings.runs(phase):
                for traits in traits_of(ior_test(self.settings, phase, room)[0]):
                    yield float(traits.bytes_a_rank) * ranks, traits

    def metadata_operations(self, ranks: int) -> int:
        """Return what is done with the files that there is room for in all phases of mdtest."""
        room = self.room(ranks)
        tests = [
            mdtest_test(self.settings, phase, room)[0]
            for phase in PHASES
            if phase.startswith("mdtest") and self.settings.runs(phase)
        ]
        return sum(test.item_operations(ranks) for test in tests)

    def phase_traits(self, ranks: int) -> tuple[PhaseTraits, ...]:  # noqa: ARG002
        """Return how ranks share the files of IOR; all that is not IOR is about metadata."""
        return (
            PhaseTraits(begins="ior-easy", sharing=OWN),
            PhaseTraits(begins="ior-hard", sharing=SHARED),
            PhaseTraits(access=METADATA),
        )

    def outcome(self, ranks: int) -> Io500Outcome:
        """Return the outcome so far."""
        return Io500Outcome(
            given={name: dict(values) for name, values in self.settings.given.items()},
            timestamp=self.settings.timestamp,
            ranks=ranks,
            tolerance=self.tolerance,
            phases=tuple(self.phases),
        )

    def run(self, job: Job) -> Generator[simpy.Event, Any, Io500Outcome]:
        """Do all phases: the SimPy process of the job."""
        from xc40io.workloads.io500.run import Io500Run

        room = self.room(job.ranks)
        job.share_done.append(lambda: len(self.phases) / len(PHASES))
        run = Io500Run(self.settings, room, self.tolerance, self.phases, self.tell, job)
        yield from run.run()
        return self.outcome(job.ranks)

    def notes(self, job: Job) -> tuple[str, ...]:
        """Return what was not simulated to its end, and what changes nothing."""
        return remarks(self.settings, self.outcome(job.ranks), job.scenario)


def _tell_nobody(phase: str) -> None:
    """Say nothing."""
