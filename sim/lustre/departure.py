"""Jobs that leave their nodes: what the nodes knew of their files is given back.

Between two jobs a Cray XC cleans its compute nodes: what is dirty is written, and the page cache is
dropped with the locks above it (the node health checker and ``drop_caches``, which ALPS runs as a
job ends). Here the rows go that stood for all this. The caller sees to it that nothing is under
way: no page is dirty, no RPC travels, and every lock is held and used by nobody.
"""

from __future__ import annotations

from sim.engine.compiled import entry
from sim.engine.hashmap import discard
from sim.engine.pool import NoRowLeftError, give
from sim.engine.types import Integers
from sim.lustre.handles import Handles
from sim.lustre.ldlm import leave_lru
from sim.lustre.locks import cancel
from sim.lustre.osc.obds import Osc
from sim.node.byte_lists import NO_END, cut_bytes
from sim.node.page_cache import PageCache
from sim.node.pages import drop_cached


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
        give(handles.spare_rows, discard(handles.by_pair, keys[i]))
