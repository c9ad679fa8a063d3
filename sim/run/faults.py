"""The faults of a scenario at work: a SimPy process each, which acts on its part at its time.

A process changes what the tables of the data plane say of a part: what a byte costs there, from
when on it serves again, what senders know of it. So a run without faults has nothing of all this,
and the compiled loop knows of no fault.

What a station has begun, or has promised to a message that stands before it, stays as it is:
stations that messages cut through (links, LNET routers, OSSs) are slow for those that come from
then on. The array of an OST promises nothing while there are faults: each RPC takes its turn when
it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import simpy

from sim.config.errors import InputError
from sim.config.faults import Fault
from sim.config.recovery import load_recovery
from sim.config.units import format_seconds
from sim.engine.environment import Environment
from sim.machine.plane import Plane
from sim.run.holding import Holding
from sim.run.pace import is_computing
from sim.run.placement import PlacedJob
from sim.run.routers import Router
from sim.run.slow import Slowness
from topology.text import format_count

Process = Generator[simpy.Event, object, None]


class Faults:
    """All faults of a run.

    Parameters
    ----------
    faults
        As the scenario lists them.
    environment
        The clock.
    plane
        The data plane, at rest.
    slowness
        Of the parts of the machine.
    placed
        The jobs on their nodes.

    Raises
    ------
    InputError
        If the machine has no such part, or the job no such node.
    """

    def __init__(
        self,
        faults: Sequence[Fault],
        environment: Environment,
        plane: Plane,
        slowness: Slowness,
        placed: Sequence[PlacedJob],
    ) -> None:
        self._environment = environment
        self._plane = plane
        self._slowness = slowness
        self._holding = Holding(plane)
        self._told: list[tuple[float, str]] = []
        self._begun: set[int] = set()
        self._faults = tuple(faults)
        self._placed = placed
        if any(fault.part.startswith("OST") for fault in faults):
            plane.tables.disks.alone = 0
        kinds: dict[str, Callable[[Fault], Process]] = {
            "slow": self._slow,
            "gone": self._gone,
            "down": self._down,
            "paused": self._paused,
            "lost": self._lost,
        }
        for number, fault in enumerate(self._faults):
            self._check(fault)
            if fault.kind == "lost":  # an SSD looks at its time itself
                self._lose(fault)
            environment.process(self._at_its_time(number, kinds[fault.kind](fault)))

    def notes(self) -> tuple[str, ...]:
        """Return what happened, in order of time, and what did not before all jobs had ended."""
        told = [text for _, text in sorted(self._told, key=lambda one: one[0])]
        told += [
            f"The fault {str(fault)!r} did not happen: all had ended at "
            f"{format_seconds(self._environment.now, 4)}."
            for number, fault in enumerate(self._faults)
            if number not in self._begun
        ]
        return tuple(told)

    def settle(self) -> None:
        """Forget, at the end of a run, how long parts would not have served yet."""
        self._holding.settle()

    def _at_its_time(self, number: int, process: Process) -> Process:
        """Wait for the begin of a fault; then let it happen."""
        yield self._environment.timeout(self._faults[number].begin)
        self._begun.add(number)
        yield from process

    def _tell(self, text: str) -> None:
        """Note what has just happened."""
        now = float(self._environment.now)
        self._told.append((now, f"At {format_seconds(now, 4)}: {text}"))

    def _until(self, time: float) -> simpy.Event:
        """Return the event of a time to come."""
        return self._environment.timeout(max(0.0, time - float(self._environment.now)))

    def _slow(self, fault: Fault) -> Process:
        parts = self._slowness.parts(fault.part, fault.factor, "faults")
        self._slowness.begin(parts, fault.factor)
        self._tell(f"{fault.part} began to take {fault.factor:g} times as long.")
        if fault.end is not None:
            yield self._until(fault.end)
            self._slowness.end(parts, fault.factor)
            self._tell(f"{fault.part} was as usual again.")

    def _gone(self, fault: Fault) -> Process:
        """Let an OST be gone, come back, recover, and get again what was lost."""
        assert fault.end is not None  # parse_fault has looked
        times, ost = load_recovery(), fault.number
        window = times.recovery_window if fault.own is None else fault.own
        connected = times.reconnected(fault.begin, fault.end)
        served = connected + window
        tables = self._plane.tables
        self._holding.hold([tables.disks.ost + ost], served)
        tables.osses.held[ost] = max(tables.osses.held[ost], served)
        self._tell(f"{fault.part} was gone.")
        yield self._until(fault.end)
        self._tell(f"{fault.part} was back.")
        yield self._until(connected)
        self._tell(f"the first client connected to {fault.part} again: recovery.")
        yield self._until(served)
        # What other jobs would have moved meanwhile has not piled up: they waited, too.
        self._holding.release([tables.disks.ost + ost], served)
        again = format_count(self._plane.resend(ost, served), "RPC")
        self._tell(f"the recovery of {fault.part} was over; clients sent {again} again.")

    def _paused(self, fault: Fault) -> Process:
        """Let an MDS turn to no request."""
        assert fault.end is not None
        mds = self._plane.tables.mds
        self._holding.hold([mds.station + fault.number, mds.directory + fault.number], fault.end)
        self._tell(f"{fault.part} paused.")
        yield self._until(fault.end)
        self._tell(f"{fault.part} went on.")

    def _down(self, fault: Fault) -> Process:
        """Let an LNET router be down, lose what it has, and be shunned when that is noticed."""
        assert fault.end is not None
        times = load_recovery()
        notice = times.router_timeout if fault.own is None else fault.own
        noticed = fault.begin + notice
        router = Router(self._plane, self._holding, fault.number)
        router.hold(noticed)
        lost = format_count(router.lose(fault.begin, noticed), "message")
        self._tell(f"{fault.part} went down; lost with it: {lost} of bulk.")
        if fault.end <= noticed:
            yield self._until(fault.end)
            lost = format_count(router.give_back(travelling=False), "message")
            router.free(fault.end)
            self._tell(f"{fault.part} was back, unnoticed; lost meanwhile: {lost} more.")
            return
        yield self._until(noticed)
        lost = format_count(router.give_back(travelling=True), "message")
        router.free(noticed)
        router.hold(fault.end)
        router.shun()
        self._tell(
            f"senders knew that {fault.part} was dead; lost meanwhile: {lost} more; they sent all "
            "of it again."
        )
        yield self._until(fault.end)
        self._tell(f"{fault.part} was back.")
        yield self._until(fault.end + times.router_check)
        router.use()
        self._tell(f"a ping reached {fault.part}: it was used again.")

    def _lost(self, fault: Fault) -> Process:
        """Tell of an SSD that fails: the data plane does the rest."""
        self._tell(f"{fault.part} failed.")
        yield self._until(fault.begin)

    def _lose(self, fault: Fault) -> None:
        """Let the SSD of a node of the job fail at its time."""
        self._plane.lose_ssd(self._placed[0].first_node + fault.number, fault.begin)

    def _check(self, fault: Fault) -> None:
        """Raise InputError if the machine, or the job, has no such part."""
        if fault.kind == "slow":
            if is_computing(fault.part):
                raise InputError(
                    f"faults: {fault.part}: ranks compute longer for the whole run or not; right "
                    f"would be slow: {{{fault.part}: {fault.factor:g}}}"
                )
            self._slowness.parts(fault.part, fault.factor, "faults")
            return
        if fault.kind == "lost":
            self._check_ssd(fault)
            return
        noun = fault.part.rsplit(" ", 1)[0]
        names = {f"{noun} {i}" for i in range(self._count(noun))}
        if fault.part not in names:
            raise InputError(
                f"faults: {fault.part}: the machine has no such part; right would be {noun} 0 to "
                f"{len(names) - 1}"
            )

    def _count(self, noun: str) -> int:
        """Return how many parts of a kind there are."""
        tables = self._plane.tables
        if noun == "OST":
            return int(tables.disks.osts)
        if noun == "MDS":
            return int(tables.mds.directory - tables.mds.station)
        return int(tables.lnet.queued.shape[1])

    def _check_ssd(self, fault: Fault) -> None:
        """Raise InputError unless the files of the only job are on SSDs, and it has the node."""
        if len(self._placed) > 1:
            raise InputError(
                f"faults: {fault.part}: there are several jobs; right would be target: {{kind: "
                f"ssd, lost: {{{fault.number}: {fault.begin:g}}}}} of the job that has it"
            )
        scenario = self._placed[0].submission.scenario
        if scenario.target.kind != "ssd":
            raise InputError(
                f"faults: {fault.part}: the files are on {scenario.target.kind}; right would be "
                "target: ssd"
            )
        if fault.number >= scenario.nodes:
            raise InputError(
                f"faults: {fault.part}: no node of the job; right would be SSD 0 to "
                f"{scenario.nodes - 1}"
            )
