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
from sim.config.machine import Machine
from sim.config.recovery import load_recovery
from sim.config.units import format_seconds
from sim.engine.environment import Environment
from sim.machine.plane import Plane
from sim.run.course import Course, FaultRecord
from sim.run.evicted import EvictedNodes
from sim.run.failover import Failover
from sim.run.holding import Holding
from sim.run.links import Links
from sim.run.pace import is_computing
from sim.run.placement import PlacedJob
from sim.run.routers import Router
from sim.run.slow import Slowness
from topology import Fabric
from topology.text import format_count

Process = Generator[simpy.Event, object, None]


class Faults:
    """All faults of a run.

    Parameters
    ----------
    faults
        As the scenario lists them.
    machine, fabric
        The machine and its network.
    seed
        Of the scenario.
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
        machine: Machine,
        fabric: Fabric,
        seed: int,
        environment: Environment,
        plane: Plane,
        slowness: Slowness,
        placed: Sequence[PlacedJob],
    ) -> None:
        self._environment = environment
        self._plane = plane
        self._slowness = slowness
        self._placed = placed
        self._holding = Holding(plane)
        self._failover = Failover(plane, self._holding, machine.lustre)
        self._links = Links(plane, self._holding, fabric, seed)
        self._nodes = EvictedNodes(plane, self._holding, placed)
        self._courses = [Course(fault, environment) for fault in faults]
        if any(fault.noun == "OST" or _is_oss_down(fault) for fault in faults):
            plane.tables.disks.alone = 0
        for course in self._courses:
            self._check(course.fault, [one for one in faults if one is not course.fault])
            if course.fault.kind == "lost":  # an SSD looks at its time itself
                self._lose(course.fault)
            environment.process(self._at_its_time(course))

    def notes(self) -> tuple[str, ...]:
        """Return what happened, in order of time, and what did not before all jobs had ended."""
        told = [one for course in self._courses for one in course.told]
        notes = [text for _, text in sorted(told, key=lambda one: one[0])]
        notes += [
            f"The fault {str(course.fault)!r} did not happen: all had ended at "
            f"{format_seconds(self._environment.now, 4)}."
            for course in self._courses
            if not course.has_begun
        ]
        return tuple(notes)

    def records(self) -> tuple[FaultRecord, ...]:
        """Return what each fault did, in the order in which they are listed."""
        return tuple(course.record() for course in self._courses)

    def settle(self) -> None:
        """Forget, at the end of a run, how long parts would not have served yet."""
        self._holding.settle()

    def _process(self, course: Course) -> Process:
        """Return what happens in the course of a fault, from its begin on."""
        fault = course.fault
        by_part: dict[str, Callable[[Course], Process]] = {
            "OSS": self._failover.down,
            "link": self._links.down,
            "LNET router": self._router_down,
        }
        by_kind: dict[str, Callable[[Course], Process]] = {
            "slow": self._slow,
            "rebuilding": self._rebuilding,
            "gone": self._failover.gone,
            "paused": self._paused,
            "lost": self._lost,
            "hung": self._nodes.hung,
            "evicted": self._nodes.evicted,
        }
        return (by_part[fault.noun] if fault.kind == "down" else by_kind[fault.kind])(course)

    def _at_its_time(self, course: Course) -> Process:
        """Wait for the begin of a fault; then let it happen."""
        yield self._environment.timeout(course.fault.begin)
        course.begin()
        yield from self._process(course)
        course.end()

    def _slow(self, course: Course) -> Process:
        fault = course.fault
        tell = f"{fault.part} began to take {fault.factor:g} times as long."
        yield from self._take_longer(course, fault.factor, tell)

    def _rebuilding(self, course: Course) -> Process:
        """Let an array give a share of its time to the rebuild of a disk."""
        fault = course.fault
        share = fault.factor or load_recovery().rebuild_share
        tell = f"{fault.part} began to rebuild a disk, for {share:.0%} of its time."
        yield from self._take_longer(course, 1.0 / (1.0 - share), tell)

    def _take_longer(self, course: Course, factor: float, tell: str) -> Process:
        fault = course.fault
        parts = self._slowness.parts(fault.part, factor, "faults")
        self._slowness.begin(parts, factor)
        course.tell(tell)
        if fault.end is not None:
            yield course.until(fault.end)
            self._slowness.end(parts, factor)
            course.tell(f"{fault.part} was as usual again.")

    def _paused(self, course: Course) -> Process:
        """Let an MDS turn to no request for a while."""
        fault, mds = course.fault, self._plane.tables.mds
        assert fault.end is not None
        self._holding.hold([mds.station + fault.number, mds.directory + fault.number], fault.end)
        course.tell(f"{fault.part} paused.")
        yield course.until(fault.end)
        course.tell(f"{fault.part} went on.")

    def _router_down(self, course: Course) -> Process:
        """Let an LNET router be down, lose what it has, and be shunned when that is noticed."""
        fault, times = course.fault, load_recovery()
        assert fault.end is not None
        notice = times.router_timeout if fault.own is None else fault.own
        noticed = fault.begin + notice
        router = Router(self._plane, self._holding, fault.number)
        router.hold(noticed)
        course.resent = router.lose(fault.begin, noticed)
        lost = format_count(course.resent, "message")
        course.tell(f"{fault.part} went down; lost with it: {lost} of bulk.")
        if fault.end <= noticed:
            yield course.until(fault.end)
            again = router.give_back(travelling=False)
            course.resent += again
            router.free(fault.end)
            course.tell(
                f"{fault.part} was back, unnoticed; lost meanwhile: "
                f"{format_count(again, 'message')} more."
            )
            return
        yield course.until(noticed)
        again = router.give_back(travelling=True)
        course.resent += again
        course.recovered()
        router.free(noticed)
        router.hold(fault.end)
        router.shun()
        course.tell(
            f"senders knew that {fault.part} was dead; lost meanwhile: "
            f"{format_count(again, 'message')} more; they sent all "
            "of it again."
        )
        yield course.until(fault.end)
        course.tell(f"{fault.part} was back.")
        yield course.until(fault.end + times.router_check)
        router.use()
        course.tell(f"a ping reached {fault.part}: it was used again.")

    def _lost(self, course: Course) -> Process:
        """Tell of an SSD that fails: the data plane does the rest."""
        course.tell(f"{course.fault.part} failed.")
        yield course.until(course.fault.begin)

    def _lose(self, fault: Fault) -> None:
        """Let the SSD of a node of the job fail at its time."""
        self._plane.lose_ssd(int(self._placed[0].own_nodes[fault.number]), fault.begin)

    def _check(self, fault: Fault, others: Sequence[Fault]) -> None:
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
        elif fault.noun == "node":
            self._nodes.check(fault)
        elif fault.noun == "link":
            self._links.check(fault, others)
        elif fault.number >= (count := self._count(fault.noun)):
            raise InputError(
                f"faults: {fault.part}: the machine has no such part; right would be {fault.noun} "
                f"0 to {count - 1}"
            )
        elif _is_oss_down(fault):
            self._failover.check(fault, others)

    def _count(self, noun: str) -> int:
        """Return how many parts of a kind there are."""
        tables = self._plane.tables
        if noun == "OST":
            return int(tables.disks.osts)
        if noun == "OSS":
            return len(tables.lnet.group_of_oss)
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


def _is_oss_down(fault: Fault) -> bool:
    """Tell whether it is an OSS that dies: its OSTs are gone for a while."""
    return fault.noun == "OSS" and fault.kind == "down"
