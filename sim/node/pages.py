"""Cached pages: what of an object is in a node's page cache, and which pages leave it.

Pages leave the cache when the lock that covers them is cancelled, or, clean ones, when the node
caches more than it may (``max_cached_mb``): then all clean pages of the object that has been in
the cache longest go at once, where Lustre takes them page by page in the order of their last use.
"""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.engine.page import PAGE
from sim.engine.prefetch import prefetch
from sim.node.extents import NO_END, add_bytes, cut_bytes, hull_outside, next_run
from sim.node.page_cache import PageCache
from sim.node.windows import READING
from sim.plane.counters import Stat

_EVICTED = int(Stat.EVICTED_BYTES)


@outlined
def not_cached(cache: PageCache, view_id: int, start: int, stop: int) -> tuple[int, int]:
    """Return what is left of some bytes of an object without the cached ones at both ends."""
    return hull_outside(cache.extents, cache.views[view_id].cached, start, stop)


@outlined
def expect_cached(cache: PageCache, view_id: int) -> None:
    """Have the first run of what is cached of an object fetched: mostly there is one."""
    extents = cache.extents
    prefetch(extents.runs, extents.order.heads[cache.views[view_id].cached, 0])


@outlined
def add_cached(cache: PageCache, view_id: int, start: int, stop: int) -> None:
    """Put bytes of an object into the cache; evict others if the node caches too many."""
    view = cache.views[view_id]
    added = add_bytes(cache.extents, view.cached, start, stop)
    if added == 0:
        return
    node = cache.nodes[view.node]
    node.cached += added
    if view.evict_listed == 0:
        _list_for_eviction(cache, view_id)
    if node.cached > cache.max_node_cache:
        _evict(cache, view.node)


@outlined
def drop_cached(cache: PageCache, view_id: int, start: int, stop: int) -> int:
    """Take bytes of an object out of the cache; return how many were in it."""
    view = cache.views[view_id]
    dropped = cut_bytes(cache.extents, view.cached, start, stop)
    cache.nodes[view.node].cached -= dropped
    return dropped


@outlined
def _evict(cache: PageCache, node_id: int) -> None:
    """Drop clean pages of the views that were cached first, until few enough pages are left."""
    node = cache.nodes[node_id]
    first_kept = -1  # when it is the oldest once more, every view has had its turn
    while node.cached > cache.max_node_cache and node.evict_head != first_kept:
        view_id = node.evict_head
        view = cache.views[view_id]
        node.evict_head = view.evict_next
        cache.programs.stats[_EVICTED] += _drop_clean(cache, view_id)
        view.evict_listed = 0
        if view.outstanding > 0:  # some of its pages are dirty: its turn comes again
            _list_for_eviction(cache, view_id)
            first_kept = view_id if first_kept < 0 else first_kept


@outlined
def _drop_clean(cache: PageCache, view_id: int) -> int:
    """Drop the pages of a view that are clean; return their bytes.

    Dirty are the pages in its list of dirty bytes, if it has one, and in windows on their way to
    disk.
    """
    dropped = 0
    start = 0
    view = cache.views[view_id]
    run_id = -1
    if view.dirty >= 0:
        run_id = next_run(cache.extents, view.dirty, -1)
    while run_id >= 0:
        run = cache.extents.runs[run_id]
        dropped += drop_cached(cache, view_id, start, run.start // PAGE * PAGE)
        start = max(start, -(-run.stop // PAGE) * PAGE)
        run_id = next_run(cache.extents, view.dirty, run_id)
    window_id = view.windows
    while window_id >= 0:
        window = cache.windows[window_id]
        if window.state != READING:  # what is still to come is not in the cache
            dropped += drop_cached(cache, view_id, start, window.low // PAGE * PAGE)
            start = max(start, -(-window.high // PAGE) * PAGE)
        window_id = window.next
    return dropped + drop_cached(cache, view_id, start, NO_END)


@outlined
def _list_for_eviction(cache: PageCache, view_id: int) -> None:
    """Put a view at the end of its node's order of eviction.

    Linked by hand: a view may be in a queue of those with dirty pages at the same time.
    """
    view = cache.views[view_id]
    node = cache.nodes[view.node]
    view.evict_listed = 1
    view.evict_next = -1
    if node.evict_head < 0:
        node.evict_head = view_id
    else:
        cache.views[node.evict_tail].evict_next = view_id
    node.evict_tail = view_id
