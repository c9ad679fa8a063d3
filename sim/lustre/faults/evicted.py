"""Client nodes that hang, or that OSTs evict, and what they lose by it.

A node that hangs answers nothing: no blocking AST, and so whoever wants its locks waits. When that
has lasted too long the OST *evicts* it: it takes back all locks that the node has there. When the
node goes on it learns of that, drops what was dirty for that OST, and connects anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.units import format_bytes, format_seconds
from xc40io.engine.pool import live_rows
from xc40io.engine.types import Integers
from xc40io.lustre.brw import READ_AT_CLIENT, READ_CUT, READ_REQUESTED, WRITE_AT_OSS
from xc40io.lustre.eviction import abort, drop_dirty, invalidate, revoke
from xc40io.lustre.ldlm import Ldlm
from xc40io.plane.fault_course import Course, Process, fault
from xc40io.plane.files import Backend
from xc40io.topology.text import format_count

_SOON = 1e-9  # seconds: the same time, but for rounding
_OFTEN = 1e-3  # seconds between two looks for a lock that is overdue, at least

_UNDER_WAY = (*range(WRITE_AT_OSS + 1), READ_REQUESTED, *range(READ_CUT, READ_AT_CLIENT + 1))
"""Stages of messages of bulk RPCs that are not at a disk array, nor answered by one."""


@fault("node", "evicted")
def be_evicted(ldlm: Ldlm, course: Course) -> Process:
    """Evict a node that answers: it learns at once, and connects anew."""
    client = Client(ldlm, course.node())
    by = _osts(course, ldlm.osc.osts)
    yield course.begins()
    locks, lost = 0, 0
    for ost in by:
        locks += client.revoke(ost, course.now, course.now)
        lost += client.invalidate(ost, course)
        course.evictions += 1
    who = course.fault.by if course.fault.by is not None else "every OST"
    course.tell(
        f"{who} evicted {course.fault.part}: {format_count(locks, 'lock')} revoked, "
        f"{format_bytes(lost)} of dirty data lost; it connected again."
    )


@fault("node", "hung")
def hang(ldlm: Ldlm, course: Course) -> Process:
    """Let a node answer nothing for a while, be evicted where others wait for it, and go on."""
    node, part = course.node(), course.fault.part
    client, osts, aries = Client(ldlm, node), _osts(course, ldlm.osc.osts), ldlm.lnet.aries
    yield course.begins()
    stations = [*ldlm.nodes.stations_of(node), aries.nic_out + node, aries.nic_in + node]
    course.holding.hold(stations, course.end)
    course.tell(f"{part} hung.")
    evicting: set[int] = set()
    yield from _answer_nothing(client, course, osts, evicting)
    yield course.until(course.end)
    course.tell(f"{part} went on.")
    if evicting:
        lost = sum(client.invalidate(ost, course) for ost in sorted(evicting))
        course.recovered()
        course.tell(
            f"{part} learnt that it was evicted, and connected again; {format_bytes(lost)} of "
            "dirty data lost."
        )


def _answer_nothing(
    client: Client, course: Course, osts: Sequence[int], evicting: set[int]
) -> Process:
    """Let OSTs evict a node that hangs, each when it has waited for a lock for too long."""
    times, begin = course.recovery_times, course.fault.begin
    timeout = times.lock_callback_timeout if course.fault.own is None else course.fault.own
    silent = begin + times.ping_timeout
    while True:
        overdue = client.first_overdue(begin, timeout)
        # Whoever begins to wait from now on does so for the whole timeout.
        look = course.now + max(timeout, _OFTEN) if overdue is None else overdue[0]
        due = min(look, silent)
        if due >= course.end:
            return
        yield course.until(due)
        overdue = client.first_overdue(begin, timeout)
        if overdue is not None and overdue[0] <= course.now + _SOON:
            why = f"had waited {format_seconds(timeout)} for a lock of it"
            _evict(client, course, [overdue[1]], f"OST {overdue[1]}", why)
            evicting.add(overdue[1])
        elif course.now >= silent - _SOON:
            why = f"had not heard of it for {format_seconds(times.ping_timeout)}"
            others = [ost for ost in osts if ost not in evicting]
            who = "every other OST" if evicting else "every OST"
            _evict(client, course, others, who, why)
            evicting.update(others)
            return


def _evict(client: Client, course: Course, osts: Sequence[int], who: str, why: str) -> None:
    """Let OSTs evict a node that hangs: it asks for its locks again when it goes on."""
    locks = sum(client.revoke(ost, course.now, course.end) for ost in osts)
    course.evictions += len(osts)
    revoked = format_count(locks, "lock")
    course.tell(f"{who} {why}, and evicted {course.fault.part}: {revoked} revoked.")


def _osts(course: Course, count: int) -> list[int]:
    """Return the OSTs that evict a node; InputError if there is no such one."""
    if course.fault.by is None:
        return list(range(count))
    ost = int(course.fault.by.split()[1])
    if ost >= count:
        raise InputError(
            f"{course.said.place}: {course.fault}: the machine has no {course.fault.by}; right "
            f"would be OST 0 to {count - 1}"
        )
    return [ost]


def clients_of(ldlm: Ldlm, osts: Sequence[int]) -> list[Client]:
    """Return the nodes that have locks of some OSTs, or RPCs under way to them."""
    locks, bulk = ldlm.locks, ldlm.osc.brw.bulk
    held = live_rows(locks.spare_locks)
    held = held[np.isin(ldlm.files.objects.ost[locks.locks.resource[held]], osts)]
    _, rpcs = _under_way(ldlm)
    obds = bulk.rpcs.obd[rpcs]
    senders = obds[np.isin(obds % bulk.osts, osts)] // bulk.osts
    nodes = np.union1d(locks.locks.owner[held], senders)
    return [Client(ldlm, node) for node in nodes.tolist()]


def _under_way(ldlm: Ldlm) -> tuple[Integers, Integers]:
    """Return the messages of all bulk RPCs that are under way, and the RPC of each."""
    network = ldlm.network
    rows = live_rows(network.spare_messages)
    rows = rows[np.isin(network.messages.stage[rows], _UNDER_WAY)]
    return rows, network.messages.owner[rows].astype(np.int64)


class Client(NamedTuple):
    """A client node that OSTs evict: what is its own is found here, compiled code takes it away."""

    ldlm: Ldlm
    node: int

    def first_overdue(self, since: float, timeout: float) -> tuple[float, int] | None:
        """Return when which OST evicts a node that answers no blocking AST, the first of all.

        None if nobody waits for a lock of the node now. ``since`` is when it answered last, and
        ``timeout`` how long the OST waits, in seconds.
        """
        locks = self.ldlm.locks
        held = self._locks_of()
        table = locks.locks[held]
        waited_for = locks.resources.waiting_head[table.resource] >= 0
        blocked = (table.granted == 1) & (table.ast_sent == 1) & waited_for
        if not blocked.any():
            return None
        times = np.maximum(table.blocked_at[blocked], since) + timeout
        osts = self.ldlm.files.objects.ost[table.resource[blocked]]
        return min(zip(times.tolist(), osts.tolist(), strict=True))

    def revoke(self, ost: int, now: float, again: float) -> int:
        """Revoke the locks of the node at an OST; return how many it had.

        It asks again for those that it still waits for, at the time ``again`` in seconds.
        """
        held = self._locks_of(ost)
        granted = int(np.count_nonzero(self.ldlm.locks.locks.granted[held]))
        revoke(self.ldlm, held, now, again)
        return granted

    def invalidate(self, ost: int, course: Course) -> int:
        """Let the node lose all that it has under way to an OST; return the bytes of dirty data.

        Those of direct I/O and of reads are counted with the programs that met it.
        """
        osc, lost = self.ldlm.osc, np.zeros(1, np.int64)
        messages, rpcs = self._under_way(ost)
        abort(osc.brw, messages, rpcs, lost)
        drop_dirty(osc, self._osc_objects_of(ost), course.now, lost)
        # Every OSC of the node may start RPCs.
        course.scene.make_room([(pool, osc.osts * rows) for pool, rows in osc.demands()])
        invalidate(self.ldlm, self._locks_of(ost), course.now)
        course.scene.lost_dirty[self.node] += lost[0]
        course.lost += int(lost[0])
        return int(lost[0])

    def _locks_of(self, ost: int | None = None) -> Integers:
        """Return the locks that the node has or has asked for, at one OST or all: int64 (n,)."""
        locks, files = self.ldlm.locks, self.ldlm.files
        rows = live_rows(locks.spare_locks)
        rows = rows[locks.locks.owner[rows] == self.node]
        if ost is not None:
            rows = rows[files.objects.ost[locks.locks.resource[rows]] == ost]
        found: Integers = rows
        return found

    def _osc_objects_of(self, ost: int) -> Integers:
        """Return the node's osc_objects of objects on an OST: int64 (n,)."""
        cache, files = self.ldlm.osc.cache, self.ldlm.files
        rows = live_rows(cache.spare_osc_objects)
        rows = rows[
            (cache.osc_objects.object[rows] >= 0) & (cache.osc_objects.node[rows] == self.node)
        ]
        inodes = cache.inodes[cache.osc_objects.inode[rows]]
        on_lustre = files.rows.backend[inodes.file] == Backend.LUSTRE
        found: Integers = rows[on_lustre & (cache.osc_objects.ost[rows] == ost)]
        return found

    def _under_way(self, ost: int) -> tuple[Integers, Integers]:
        """Return the messages of the node's bulk RPCs under way to an OST, and the RPCs."""
        bulk = self.ldlm.osc.brw.bulk
        rows, owners = _under_way(self.ldlm)
        ours = bulk.rpcs.obd[owners] == self.node * bulk.osts + ost
        return rows[ours], np.unique(owners[ours])
