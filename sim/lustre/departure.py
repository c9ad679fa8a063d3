"""Jobs that leave their nodes: what the nodes knew of their files is given back.

Between two jobs a Cray XC cleans its compute nodes: what is dirty is written, and the page cache is
dropped with the locks above it (the node health checker and ``drop_caches``, which ALPS runs as a
job ends). Here the rows go that stood for all this, when nothing is under
way: no page is dirty, no RPC travels, and every lock is held and used by nobody.
"""

from __future__ import annotations

import numpy as np

from xc40io.engine.compiled import entry
from xc40io.engine.hashmap import discard, keys_with
from xc40io.engine.pool import NoRowLeftError, give, live_rows
from xc40io.engine.types import Indices, Integers
from xc40io.lustre.directories import Directories
from xc40io.lustre.handles import Handles, forget_name
from xc40io.lustre.ldlm import LockState, leave_lru
from xc40io.lustre.locks import cancel
from xc40io.lustre.osc.obds import Osc
from xc40io.node.byte_lists import NO_END, cut_bytes
from xc40io.node.page_cache import PageCache
from xc40io.node.pages import drop_cached
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op


@entry(raises=NoRowLeftError)
def drop_locks(osc: Osc, locks: Integers) -> None:
    """Give back locks, int64 (n,): rows of locks that are held, and that nobody uses or wants."""
    for i in range(len(locks)):
        leave_lru(osc, locks[i])
        cancel(osc.locks, locks[i])
        give(osc.locks.spare_locks, locks[i])


@entry(raises=NoRowLeftError)
def drop_osc_objects(cache: PageCache, keys: Integers) -> None:
    """Drop osc_objects and their pages; ``keys``, int64 (n,), name pairs of object and node."""
    for i in range(len(keys)):
        osc_object_id = discard(cache.osc_objects_by_pair, keys[i])
        osc_object = cache.osc_objects[osc_object_id]
        drop_cached(cache, osc_object_id, 0, NO_END)
        give(cache.byte_lists.spare_lists, osc_object.cached)
        if osc_object.dirty >= 0:
            cut_bytes(cache.byte_lists, osc_object.dirty, 0, NO_END)
            give(cache.byte_lists.spare_lists, osc_object.dirty)
        cache.files.objects[osc_object.object].osc_objects = -1
        osc_object.object = -1  # whoever was here last is not to take it for its own
        give(cache.spare_osc_objects, osc_object_id)


@entry(raises=NoRowLeftError)
def drop_inodes(cache: PageCache, keys: Integers) -> None:
    """Drop inodes; ``keys``, int64 (n,), name pairs of file and node."""
    for i in range(len(keys)):
        inode_id = discard(cache.inodes_by_pair, keys[i])
        cache.inodes[inode_id].file = -1
        give(cache.spare_inodes, inode_id)


@entry(raises=NoRowLeftError)
def drop_handles(handles: Handles, keys: Integers) -> None:
    """Drop what nodes know of names; ``keys``, int64 (n,), name pairs of file and node."""
    for i in range(len(keys)):
        row = discard(handles.by_pair, keys[i])
        forget_name(handles, row)
        give(handles.spare_rows, row)


@entry(raises=NoRowLeftError)
def drop_directories(directories: Directories, keys: Integers) -> None:
    """Drop directories in which nobody is; ``keys``, int64 (n,), name pairs of one and a node."""
    for i in range(len(keys)):
        give(directories.spare_rows, discard(directories.by_pair, keys[i]))


class Departures:
    """Cleans nodes that jobs leave: what is to go is found here, compiled code takes it away."""

    def __init__(self, osc: Osc, handles: Handles, directories: Directories) -> None:
        self._osc = osc
        self._handles = handles
        self._directories = directories

    def write_back(self, nodes: Indices, programs: Integers) -> Batch | None:
        """Return the batch that writes back what is dirty on some nodes; None if nothing is.

        Parameters
        ----------
        nodes
            int32 (n,): of the data plane.
        programs
            int64 (n,): a program on each of them, which rests.
        """
        cache = self._osc.cache
        rows = live_rows(cache.spare_inodes)
        of = cache.inodes[rows]
        place = np.full(len(self._osc.clients), -1)
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
        osc, cache, locks = self._osc, self._osc.cache, self._osc.locks
        if osc.clients.dirty[nodes].any() or cache.nodes.coming[nodes].any():
            return False
        own = (nodes[:, None].astype(np.int64) * osc.osts + np.arange(osc.osts)).ravel()
        if osc.obds.in_flight[own].any() or (osc.obds.works["head"][own] >= 0).any():
            return False
        held = locks.locks[self._locks_of(nodes)]
        resting = (held.state == int(LockState.HELD)) & (held.users == 0) & (held.blocked == 0)
        return bool(resting.all())

    def forget(self, nodes: Indices) -> None:
        """Let some nodes, at rest, forget all files: locks, pages, inodes, names."""
        cache, there = self._osc.cache, self._there(nodes)
        drop_locks(self._osc, self._locks_of(nodes))
        drop_osc_objects(cache, keys_with(cache.osc_objects_by_pair, there))
        drop_inodes(cache, keys_with(cache.inodes_by_pair, there))
        drop_handles(self._handles, keys_with(self._handles.by_pair, there))
        drop_directories(self._directories, keys_with(self._directories.by_pair, there))
        cache.nodes.evict_head[nodes] = -1

    def _locks_of(self, nodes: Indices) -> Integers:
        """Return the rows of the locks that some nodes have or have asked for: int64 (n,)."""
        locks = self._osc.locks
        rows = live_rows(locks.spare_locks)
        found: Integers = rows[self._there(nodes)[locks.locks.owner[rows]]]
        return found

    def _there(self, nodes: Indices) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return of every node of the data plane whether it is one of these: bool (nodes,)."""
        there = np.zeros(len(self._osc.clients), np.bool_)
        there[nodes] = True
        return there
