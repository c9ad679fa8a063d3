"""Client nodes that hang, or that OSTs evict, and what they lose by it.

A node that hangs answers nothing: no blocking AST, and so whoever wants its locks waits. When that
has lasted too long the OST *evicts* it: it takes back all locks that the node has there. When the
node goes on it learns of that, drops what was dirty for that OST, and connects anew.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

import simpy

from sim.config.errors import InputError
from sim.config.faults import Fault
from sim.config.recovery import load_recovery
from sim.config.units import format_bytes, format_seconds
from sim.machine.evictions import Evictions
from sim.machine.plane import Plane
from sim.run.course import Course
from sim.run.holding import Holding
from sim.run.placement import PlacedJob
from topology.text import format_count

Process = Generator[simpy.Event, object, None]

_SOON = 1e-9  # seconds: the same time, but for rounding
_OFTEN = 1e-3  # seconds between two looks for a lock that is overdue, at least


class EvictedNodes:
    """Lets nodes hang, and be evicted.

    Parameters
    ----------
    plane
        The data plane.
    holding
        Of its stations.
    placed
        The jobs on their nodes.
    """

    def __init__(self, plane: Plane, holding: Holding, placed: Sequence[PlacedJob]) -> None:
        self._plane = plane
        self._holding = holding
        self._placed = placed
        self._evictions = Evictions(plane)

    def check(self, fault: Fault) -> None:
        """Raise InputError if no job has such a node, or there is no such OST."""
        self._node(fault)
        osts = int(self._plane.tables.disks.osts)
        if fault.by is not None and int(fault.by.split()[1]) >= osts:
            raise InputError(
                f"faults: {fault}: the machine has no {fault.by}; right would be OST 0 to "
                f"{osts - 1}"
            )

    def evicted(self, course: Course) -> Process:
        """Evict a node that answers: it learns at once, and connects anew."""
        fault, node = course.fault, self._node(course.fault)
        locks, lost = 0, 0
        for ost in self._osts(fault):
            locks += self._evictions.revoke(node, ost, course.now, course.now)
            lost += self._evictions.invalidate(node, ost, course.now)
            course.evictions += 1
        course.lost += lost
        who = fault.by if fault.by is not None else "every OST"
        course.tell(
            f"{who} evicted {fault.part}: {format_count(locks, 'lock')} revoked, "
            f"{format_bytes(lost)} of dirty data lost; it connected again."
        )
        yield course.until(course.now)

    def hung(self, course: Course) -> Process:
        """Let a node answer nothing for a while, be evicted where others wait for it, and go on."""
        fault, node = course.fault, self._node(course.fault)
        assert fault.end is not None  # parse_fault has looked
        self._holding.hold(self._stations(node), fault.end)
        course.tell(f"{fault.part} hung.")
        evicting: set[int] = set()
        yield from self._answer_nothing(course, node, evicting)
        yield course.until(fault.end)
        course.tell(f"{fault.part} went on.")
        if evicting:
            lost = sum(
                self._evictions.invalidate(node, ost, course.now) for ost in sorted(evicting)
            )
            course.lost += lost
            course.recovered()
            course.tell(
                f"{fault.part} learnt that it was evicted, and connected again; "
                f"{format_bytes(lost)} of dirty data lost."
            )

    def _answer_nothing(self, course: Course, node: int, evicting: set[int]) -> Process:
        """Let OSTs evict a node that hangs, each when it has waited for a lock for too long."""
        fault, times = course.fault, load_recovery()
        assert fault.end is not None
        timeout = times.lock_callback_timeout if fault.own is None else fault.own
        silent = fault.begin + times.ping_timeout
        while True:
            overdue = self._evictions.first_overdue(node, fault.begin, timeout)
            # Whoever begins to wait from now on does so for the whole timeout.
            look = course.now + max(timeout, _OFTEN) if overdue is None else overdue[0]
            due = min(look, silent)
            if due >= fault.end:
                return
            yield course.until(due)
            overdue = self._evictions.first_overdue(node, fault.begin, timeout)
            if overdue is not None and overdue[0] <= course.now + _SOON:
                why = f"had waited {format_seconds(timeout)} for a lock of it"
                self._evict(course, node, [overdue[1]], f"OST {overdue[1]}", why)
                evicting.add(overdue[1])
            elif course.now >= silent - _SOON:
                why = f"had not heard of it for {format_seconds(times.ping_timeout)}"
                osts = [ost for ost in self._osts(fault) if ost not in evicting]
                self._evict(course, node, osts, "every other OST" if evicting else "every OST", why)
                evicting.update(osts)
                return

    def _evict(self, course: Course, node: int, osts: Sequence[int], who: str, why: str) -> None:
        """Let OSTs evict a node that hangs: it asks for its locks again when it goes on."""
        again = course.fault.end
        assert again is not None
        locks = sum(self._evictions.revoke(node, ost, course.now, again) for ost in osts)
        course.evictions += len(osts)
        course.tell(
            f"{who} {why}, and evicted {course.fault.part}: {format_count(locks, 'lock')} revoked."
        )

    def _osts(self, fault: Fault) -> list[int]:
        """Return the OSTs that evict a node."""
        if fault.by is not None:
            return [int(fault.by.split()[1])]
        return list(range(int(self._plane.tables.disks.osts)))

    def _stations(self, node: int) -> list[int]:
        """Return all that a node does anything with."""
        tables = self._plane.tables
        nodes, aries = tables.nodes, tables.aries
        rows = [
            (nodes.core + node * nodes.cores, nodes.cores),
            (nodes.callback + node * nodes.callback_threads, nodes.callback_threads),
            *((first + node, 1) for first in (nodes.memory, aries.nic_out, aries.nic_in)),
        ]
        return [first + i for first, count in rows for i in range(count)]

    def _node(self, fault: Fault) -> int:
        """Return the node of a fault as the data plane numbers it.

        Raises
        ------
        InputError
            If there is no such job, or it has no such node.
        """
        words = fault.part.split()
        names = [job.submission.name for job in self._placed]
        if len(words) == 2 and len(names) > 1:
            raise InputError(
                f"faults: {fault.part}: there are several jobs; right would be {fault.part} of job "
                f"{names[0]}"
            )
        if len(words) > 2 and words[-1] not in names:
            raise InputError(
                f"faults: {fault.part}: there is no such job; right would be one of "
                f"{', '.join(names)}"
                if len(names) > 1
                else f"faults: {fault.part}: there is one job; right would be {' '.join(words[:2])}"
            )
        job = self._placed[names.index(words[-1]) if len(words) > 2 else 0]
        if fault.number >= len(job.nodes):
            raise InputError(
                f"faults: {fault.part}: no node of the job; right would be node 0 to "
                f"{len(job.nodes) - 1}"
            )
        return int(job.own_nodes[fault.number])
