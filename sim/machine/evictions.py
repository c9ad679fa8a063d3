"""What the data plane does when an OST evicts a client node: found here, done by compiled code."""

from __future__ import annotations

import numpy as np

from sim.engine.pool import live_rows
from sim.engine.types import Integers
from sim.lustre.brw import READ_AT_CLIENT, READ_CUT, READ_REQUESTED, WRITE_AT_OSS
from sim.lustre.eviction import abort, drop_dirty, invalidate, revoke
from sim.machine.plane import Plane
from sim.plane.files import Backend

_UNDER_WAY = (*range(WRITE_AT_OSS + 1), READ_REQUESTED, *range(READ_CUT, READ_AT_CLIENT + 1))
"""Stages of messages of bulk RPCs that are not at a disk array, nor answered by one."""


class Evictions:
    """Evicts client nodes."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    def first_overdue(self, node: int, since: float, timeout: float) -> tuple[float, int] | None:
        """Return when which OST evicts a node that answers no blocking AST, the first of all.

        None if nobody waits for a lock of the node now. ``since`` is when it answered last, and
        ``timeout`` how long the OST waits, in seconds.
        """
        locks = self._plane.tables.locks
        held = self._locks_of(node)
        table = locks.locks[held]
        waited_for = locks.resources.waiting_head[table.resource] >= 0
        blocked = (table.granted == 1) & (table.ast_sent == 1) & waited_for
        if not blocked.any():
            return None
        times = np.maximum(table.blocked_at[blocked], since) + timeout
        osts = self._plane.tables.files.objects.ost[table.resource[blocked]]
        return min(zip(times.tolist(), osts.tolist(), strict=True))

    def revoke(self, node: int, ost: int, now: float, again: float) -> int:
        """Revoke the locks of a node at an OST; return how many it had.

        It asks again for those that it still waits for, at the time ``again`` in seconds.
        """
        held = self._locks_of(node, ost)
        granted = int(np.count_nonzero(self._plane.tables.locks.locks.granted[held]))
        revoke(self._plane.tables.ldlm, held, now, again)
        return granted

    def invalidate(self, node: int, ost: int, now: float) -> int:
        """Drop all that a node has under way to an OST; return the bytes of dirty data.

        Those of direct I/O and of reads are counted with the programs that met it.
        """
        tables, lost = self._plane.tables, np.zeros(1, np.int64)
        messages, rpcs = self._under_way(node, ost)
        abort(tables.brw, messages, rpcs, lost)
        drop_dirty(tables.osc, self._osc_objects_of(node, ost), now, lost)
        self._plane.make_room_for_rpcs()
        invalidate(tables.ldlm, self._locks_of(node, ost), now)
        self._plane.lost_dirty[node] += lost[0]
        return int(lost[0])

    def _locks_of(self, node: int, ost: int | None = None) -> Integers:
        """Return the locks that a node has or has asked for, at one OST or all: int64 (n,)."""
        locks, files = self._plane.tables.locks, self._plane.tables.files
        rows = live_rows(locks.spare_locks)
        rows = rows[locks.locks.owner[rows] == node]
        if ost is not None:
            rows = rows[files.objects.ost[locks.locks.resource[rows]] == ost]
        found: Integers = rows
        return found

    def _osc_objects_of(self, node: int, ost: int) -> Integers:
        """Return a node's osc_objects of objects on an OST: int64 (n,)."""
        cache, files = self._plane.tables.cache, self._plane.tables.files
        rows = live_rows(cache.spare_osc_objects)
        rows = rows[(cache.osc_objects.object[rows] >= 0) & (cache.osc_objects.node[rows] == node)]
        inodes = cache.inodes[cache.osc_objects.inode[rows]]
        on_lustre = files.rows.backend[inodes.file] == Backend.LUSTRE
        found: Integers = rows[on_lustre & (cache.osc_objects.ost[rows] == ost)]
        return found

    def _under_way(self, node: int, ost: int) -> tuple[Integers, Integers]:
        """Return the messages of a node's bulk RPCs to an OST that are under way, and the RPCs."""
        network, bulk = self._plane.tables.network, self._plane.tables.bulk
        rows = live_rows(network.spare_messages)
        rows = rows[np.isin(network.messages.stage[rows], _UNDER_WAY)]
        owners = network.messages.owner[rows].astype(np.int64)
        ours = bulk.rpcs.obd[owners] == node * bulk.osts + ost
        return rows[ours], np.unique(owners[ours])
