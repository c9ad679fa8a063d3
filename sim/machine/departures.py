"""What the data plane does when a job leaves its nodes: found here, done by compiled code."""

from __future__ import annotations

import numpy as np

from sim.engine.hashmap import keys_with
from sim.engine.pool import live_rows
from sim.engine.types import Indices, Integers
from sim.lustre.departure import drop_handles, drop_inodes, drop_locks, drop_osc_objects
from sim.lustre.ldlm import LockState
from sim.machine.plane import Plane
from sim.plane.batch import Batch
from sim.plane.operations import Op


class Departures:
    """Cleans nodes that jobs leave."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    def write_back(self, nodes: Indices, programs: Integers) -> Batch | None:
        """Return the batch that writes back what is dirty on some nodes; None if nothing is.

        Parameters
        ----------
        nodes
            int32 (n,): of the data plane.
        programs
            int64 (n,): a program on each of them, which rests.
        """
        cache = self._plane.tables.cache
        rows = live_rows(cache.spare_inodes)
        of = cache.inodes[rows]
        place = np.full(self._plane.tables.nodes.count, -1)
        place[nodes] = np.arange(len(nodes))
        dirty = (of.file >= 0) & (of.outstanding > 0) & (place[of.node] >= 0)
        if not dirty.any():
            return None
        owner, file = place[of.node[dirty]], of.file[dirty]
        order = np.lexsort((file, owner))
        at_work, position = np.unique(owner[order], return_inverse=True)
        batch = Batch(programs[at_work])
        batch.add(Op.WRITE_OUT, position, file=file[order], count=1)
        return batch

    def at_rest(self, nodes: Indices) -> bool:
        """Tell whether nothing is under way on some nodes, and nothing dirty."""
        tables = self._plane.tables
        osc, cache, locks = tables.osc, tables.cache, tables.locks
        if osc.clients.dirty[nodes].any() or cache.nodes.coming[nodes].any():
            return False
        own = (nodes[:, None].astype(np.int64) * osc.osts + np.arange(osc.osts)).ravel()
        if osc.obds.in_flight[own].any() or (osc.obds.works["head"][own] >= 0).any():
            return False
        held = locks.locks[self._locks_of(nodes)]
        resting = (held.state == int(LockState.HELD)) & (held.users == 0) & (held.blocked == 0)
        return bool(resting.all())

    def forget(self, nodes: Indices) -> None:
        """Make nodes at rest forget all files: their locks, pages, inodes and handles."""
        tables = self._plane.tables
        there = self._there(nodes)
        drop_locks(tables.osc, self._locks_of(nodes))
        drop_osc_objects(tables.cache, keys_with(tables.cache.osc_objects_by_pair, there))
        drop_inodes(tables.cache, keys_with(tables.cache.inodes_by_pair, there))
        drop_handles(tables.handles, keys_with(tables.handles.by_pair, there))
        tables.cache.nodes.evict_head[nodes] = -1

    def _locks_of(self, nodes: Indices) -> Integers:
        """Return the rows of the locks that some nodes have or have asked for: int64 (n,)."""
        locks = self._plane.tables.locks
        rows = live_rows(locks.spare_locks)
        found: Integers = rows[self._there(nodes)[locks.locks.owner[rows]]]
        return found

    def _there(self, nodes: Indices) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return of every node of the data plane whether it is one of these: bool (nodes,)."""
        there = np.zeros(self._plane.tables.nodes.count, np.bool_)
        there[nodes] = True
        return there
