"""The course of a fault: who lets which part fail, when it begins, and what is told of it.

What happens to a part is said in the room of the part: a generator with the decorator
:func:`fault`. Its parameters are what it touches, components or whatever else
``xc40io.machine.faults_at_work`` has, found by their types, and last the :class:`Course`. Up to its
first ``yield`` the machine is at rest: the generator looks whether there is such a part, and
readies it. ``yield course.begins()`` comes back when the fault begins. From there it is a SimPy
process, which acts on the part at its times and tells what has happened::

    @fault("MDS", "paused")
    def pause(mds: Mds, course: Course) -> Process:
        number = course.number(mds.mdts)
        yield course.begins()
        course.holding.hold([mds.station + number], course.end)
        course.tell(f"{course.fault.part} paused.")
        yield course.until(course.end)
        course.tell(f"{course.fault.part} went on.")

A process changes what the tables of the data plane say of a part: what a byte costs there, from
when on it serves again, what senders know of it. So a run without faults has nothing of all this,
and the compiled loop knows of no fault. The sentences that say faults have their grammar in
:mod:`xc40io.config.fault_forms`.

What a station has begun, or has promised to a message that stands before it, stays as it is:
stations that messages cut through (links, LNET routers, OSSs) are slow for those that come from
then on. The array of an OST promises nothing while there are faults: each RPC takes its turn when
it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

import simpy

from xc40io.config.errors import InputError
from xc40io.config.fault_forms import Kind
from xc40io.config.faults import Fault, FieldFault
from xc40io.config.kept import kept
from xc40io.config.machine import Machine
from xc40io.config.parts.recovery import Recovery
from xc40io.config.units import format_seconds
from xc40io.engine.component import Demands
from xc40io.engine.environment import Environment
from xc40io.engine.network import Network
from xc40io.engine.types import Indices, Integers
from xc40io.topology import Fabric

Process: TypeAlias = Generator[simpy.Event, object, None]
Function = TypeVar("Function", bound=Callable[..., Process])

PROCESSES: dict[tuple[str, Kind], Callable[..., Process]] = {}
"""Who lets what happen, by the noun of the part (empty: any) and the kind of fault."""


def fault(noun: str, kind: Kind) -> Callable[[Function], Function]:
    """Register the generator of what happens to a part; see the top of this module.

    Raises
    ------
    ValueError
        If there is another one for this.
    """

    def register(function: Function) -> Function:
        if PROCESSES.setdefault((noun, kind), function) is not function:
            raise ValueError(f"{noun} {kind} has two processes")
        return function

    return register


@kept
class FaultRecord(NamedTuple):
    """What a fault did."""

    fault: str  # the sentence that says it
    begin: float | None  # in simulated seconds; None: all jobs had ended before
    over: float | None  # when the last of it was over; None: it lasted to the end
    recovery: float  # seconds from its begin until clients, or the network, had got over it; or 0
    resent: int  # bulk RPCs of an OST, or messages, that were sent again
    evictions: int  # times that an OST evicted a client
    lost: int  # bytes of dirty data


class PlacedPrograms(NamedTuple):
    """A job on its nodes, as faults see it."""

    name: str
    target: str  # what keeps its files
    nodes: Indices  # int32 (nodes,): what the data plane calls its nodes
    programs: Integers  # int64 (ranks x programs of a rank,), rank after rank
    each: int  # programs of a rank


class Holding:
    """Stations that serve nothing before a time: what stands before them waits until then."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._held: dict[int, tuple[float, float]] = {}  # free before, and free when held

    def hold(self, stations: Iterable[int], until: float) -> None:
        """Let stations begin no service before a time in seconds."""
        free = self._network.stations.free
        for station in stations:
            if free[station] < until:
                before, held = self._held.get(station, (0.0, -1.0))
                self._held[station] = before if free[station] == held else free[station], until
                free[station] = until

    def release(self, stations: Iterable[int], now: float) -> None:
        """Let stations serve from now on: nothing stands before them any more."""
        free = self._network.stations.free
        for station in stations:
            free[station] = min(float(free[station]), now)

    def settle(self) -> None:
        """Say again when the last service ended of those stations that have served nothing since.

        The end of a station's last service is when it is free; a report tells it.
        """
        free = self._network.stations.free
        for station, (before, held) in self._held.items():
            if free[station] == held:
                free[station] = before


@dataclass(frozen=True)
class Scene:
    """What all faults of a run have in common."""

    machine: Machine
    fabric: Fabric
    environment: Environment
    holding: Holding
    make_room: Callable[[Demands], None]  # gives pools rows that control is about to take
    lost_dirty: Integers  # int64 (nodes,): bytes that nodes lost because they were evicted


class Course:
    """The course of one fault: its times, when what happened, and what came of it.

    Parameters
    ----------
    said
        The fault.
    scene
        Of the run.
    jobs
        Whose nodes it may name.
    others
        The other faults that the scenario lists.
    """

    def __init__(
        self,
        said: FieldFault,
        scene: Scene,
        jobs: Sequence[PlacedPrograms],
        others: Sequence[Fault],
    ) -> None:
        self.fault = said.fault
        self.said = said
        self.scene = scene
        self.jobs = jobs
        self.others = others
        self.story: list[tuple[float, str]] = []  # what happened, each with the time
        self.recovery = 0.0
        self.resent = self.evictions = self.lost = 0  # as in FaultRecord
        self.begun: float | None = None
        self._over: float | None = None

    @property
    def now(self) -> float:
        """The time in seconds."""
        return float(self.scene.environment.now)

    @property
    def end(self) -> float:
        """When it ends, of a fault that must."""
        assert self.fault.end is not None  # parse_fault has looked
        return self.fault.end

    @property
    def recovery_times(self) -> Recovery:
        """How clients and the network of the machine get over it."""
        return self.scene.machine.recovery

    @property
    def holding(self) -> Holding:
        """The stations that serve nothing for a while."""
        return self.scene.holding

    def refusal(self, problem: str) -> InputError:
        """Return the error of a fault that the machine, or the job, cannot have."""
        return InputError(f"{self.said.place}: {self.fault.part}: {problem}")

    def number(self, count: int) -> int:
        """Return the number of the part, of which there are so many.

        Raises
        ------
        InputError
            If there is none of that number.
        """
        if self.fault.number >= count:
            raise self.refusal(
                f"the machine has no such part; right would be {self.fault.noun} 0 to {count - 1}"
            )
        return self.fault.number

    def job(self) -> PlacedPrograms:
        """Return the job that has the node.

        Raises
        ------
        InputError
            If there is no such job.
        """
        if not self.jobs:
            raise self.refusal(
                "in a stream jobs come and go; right would be a part of the machine, as OST 3"
            )
        names, part = [job.name for job in self.jobs], self.fault.part
        named = self.fault.job
        if not named and len(names) > 1:
            raise self.refusal(f"there are several jobs; right would be {part} of job {names[0]}")
        if named and named not in names:
            raise self.refusal(
                f"there is no such job; right would be one of {', '.join(names)}"
                if len(names) > 1
                else f"there is one job; right would be {part.partition(' of job ')[0]}"
            )
        return self.jobs[names.index(named) if named else 0]

    def node(self) -> int:
        """Return the node that the part is, or is in, as the data plane numbers it.

        Raises
        ------
        InputError
            If there is no such job, or it has no such node.
        """
        job = self.job()
        if self.fault.number >= len(job.nodes):
            raise self.refusal(
                f"no node of the job; right would be {self.fault.noun} 0 to {len(job.nodes) - 1}"
            )
        return int(job.nodes[self.fault.number])

    def begins(self) -> simpy.Event:
        """Return the event of its begin."""
        return self.scene.environment.timeout(self.fault.begin)

    def until(self, time: float) -> simpy.Event:
        """Return the event of a time to come."""
        return self.scene.environment.timeout(max(0.0, time - self.now))

    def tell(self, text: str) -> None:
        """Note what has just happened."""
        self.story.append((self.now, f"At {format_seconds(self.now, 4)}: {text}"))

    def recovered(self) -> None:
        """Note that clients, or the network, have got over it."""
        self.recovery = self.now - self.fault.begin

    def follow(self, begins: simpy.Event, process: Process) -> Process:
        """Let it happen: the SimPy process of the fault, from the event of its begin on."""
        yield begins
        self.begun = self.now
        yield from process
        if self.fault.end is not None:
            self._over = self.now

    def record(self) -> FaultRecord:
        """Return the record of the fault: its times, and its effects."""
        return FaultRecord(
            fault=str(self.fault),
            begin=self.begun,
            over=self._over,
            recovery=self.recovery,
            resent=self.resent,
            evictions=self.evictions,
            lost=self.lost,
        )
