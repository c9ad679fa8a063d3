"""Cached pages: what of an object is in a node's page cache, and which pages leave it.

Pages leave the cache when the lock that covers them is cancelled, or, clean ones, when the node
caches more than it may (``max_cached_mb``): then all clean pages of the object that has been in
the cache longest go at once, where Lustre takes them page by page in the order of their last use.
"""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.engine.page import PAGE
from sim.engine.prefetch import prefetch
from sim.node.byte_lists import NO_END, add_bytes, cut_bytes, hull_outside, next_run
from sim.node.osc_extents import READING
from sim.node.page_cache import PageCache
from sim.plane.counters import Stat

_EVICTED = int(Stat.EVICTED_BYTES)


@outlined
def not_cached(cache: PageCache, osc_object_id: int, start: int, stop: int) -> tuple[int, int]:
    """Return a range of bytes of an object, shortened by the cached bytes at both ends."""
    return hull_outside(cache.byte_lists, cache.osc_objects[osc_object_id].cached, start, stop)


@outlined
def expect_cached(cache: PageCache, osc_object_id: int) -> None:
    """Prefetch the first cached run of an object: mostly the only one."""
    byte_lists = cache.byte_lists
    prefetch(byte_lists.runs, byte_lists.order.heads[cache.osc_objects[osc_object_id].cached, 0])


@outlined
def add_cached(cache: PageCache, osc_object_id: int, start: int, stop: int) -> None:
    """Put bytes of an object into the cache; evict others if the node caches too many."""
    osc_object = cache.osc_objects[osc_object_id]
    added = add_bytes(cache.byte_lists, osc_object.cached, start, stop)
    if added == 0:
        return
    node = cache.nodes[osc_object.node]
    node.cached += added
    if osc_object.evict_listed == 0:
        _list_for_eviction(cache, osc_object_id)
    if node.cached > cache.max_node_cache:
        _evict(cache, osc_object.node)


@outlined
def drop_cached(cache: PageCache, osc_object_id: int, start: int, stop: int) -> int:
    """Take bytes of an object out of the cache; return how many were in it."""
    osc_object = cache.osc_objects[osc_object_id]
    dropped = cut_bytes(cache.byte_lists, osc_object.cached, start, stop)
    cache.nodes[osc_object.node].cached -= dropped
    return dropped


@outlined
def _evict(cache: PageCache, node_id: int) -> None:
    """Drop clean pages, of the osc_objects cached first, until few enough pages are left."""
    node = cache.nodes[node_id]
    first_kept = -1  # when it is the oldest once more, every osc_object has had its turn
    while node.cached > cache.max_node_cache and node.evict_head != first_kept:
        osc_object_id = node.evict_head
        osc_object = cache.osc_objects[osc_object_id]
        node.evict_head = osc_object.evict_next
        cache.programs.stats[_EVICTED] += _drop_clean(cache, osc_object_id)
        osc_object.evict_listed = 0
        if osc_object.outstanding > 0:  # some of its pages are dirty: its turn comes again
            _list_for_eviction(cache, osc_object_id)
            first_kept = osc_object_id if first_kept < 0 else first_kept


@outlined
def _drop_clean(cache: PageCache, osc_object_id: int) -> int:
    """Drop the pages of an osc_object that are clean; return their bytes.

    Dirty are the pages in its list of dirty bytes, if it has one, and in extents on their way to
    disk.
    """
    dropped = 0
    start = 0
    osc_object = cache.osc_objects[osc_object_id]
    run_id = -1
    if osc_object.dirty >= 0:
        run_id = next_run(cache.byte_lists, osc_object.dirty, -1)
    while run_id >= 0:
        run = cache.byte_lists.runs[run_id]
        dropped += drop_cached(cache, osc_object_id, start, run.start // PAGE * PAGE)
        start = max(start, -(-run.stop // PAGE) * PAGE)
        run_id = next_run(cache.byte_lists, osc_object.dirty, run_id)
    extent_id = osc_object.extents
    while extent_id >= 0:
        extent = cache.osc_extents[extent_id]
        if extent.state != READING:  # what is still to come is not in the cache
            dropped += drop_cached(cache, osc_object_id, start, extent.low // PAGE * PAGE)
            start = max(start, -(-extent.high // PAGE) * PAGE)
        extent_id = extent.next
    return dropped + drop_cached(cache, osc_object_id, start, NO_END)


@outlined
def _list_for_eviction(cache: PageCache, osc_object_id: int) -> None:
    """Put an osc_object at the end of its node's order of eviction.

    Linked by hand: an osc_object may be in a queue of those with dirty pages at the same time.
    """
    osc_object = cache.osc_objects[osc_object_id]
    node = cache.nodes[osc_object.node]
    osc_object.evict_listed = 1
    osc_object.evict_next = -1
    if node.evict_head < 0:
        node.evict_head = osc_object_id
    else:
        cache.osc_objects[node.evict_tail].evict_next = osc_object_id
    node.evict_tail = osc_object_id
