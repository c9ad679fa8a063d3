"""Cached pages: what of an object is in a node's page cache, who waits for it, what leaves it.

Pages leave the cache when the lock that covers them is cancelled, or, clean ones, when the node
caches more than it may (``max_cached_mb``): then all clean pages of the object that has been in
the cache longest go at once, where Lustre takes them page by page in the order of their last use.
"""

from __future__ import annotations

from xc40io.engine.compiled import outlined
from xc40io.engine.ordered import following
from xc40io.engine.page import PAGE
from xc40io.engine.prefetch import prefetch
from xc40io.engine.record import Column
from xc40io.node.byte_lists import NO_END, add_bytes, cut_bytes, hull_outside, next_run
from xc40io.node.osc_extents import READING, first_extent
from xc40io.node.page_cache import PageCache
from xc40io.plane.counters import Stat
from xc40io.plane.programs import PROGRAM

_EVICTED = int(Stat.EVICTED_BYTES)

PROGRAM.add(
    __name__,
    Column("lacks_start", "i8"),  # bytes of the object that a reader waits for
    Column("lacks_stop", "i8"),
)


@outlined
def not_cached(cache: PageCache, osc_object_id: int, start: int, stop: int) -> tuple[int, int]:
    """Return a range of bytes of an object, shortened by the cached bytes at both ends."""
    return hull_outside(cache.byte_lists, cache.osc_objects[osc_object_id].cached, start, stop)


@outlined
def expect_cached(cache: PageCache, osc_object_id: int) -> None:
    """Prefetch the first cached run of an object: mostly the only one."""
    byte_lists, cached = cache.byte_lists, cache.osc_objects[osc_object_id].cached
    prefetch(byte_lists.runs, following(byte_lists.order, cached, -1))


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


@outlined
def wait_for_pages(cache: PageCache, program_id: int, now: float) -> None:
    """Have a program wait until the pages of its piece have come into the cache."""
    program = cache.programs.rows[program_id]
    first = program.offset // PAGE * PAGE
    last = -(-(program.offset + program.left) // PAGE) * PAGE
    wait_for_bytes(cache, program_id, first, last, now)


@outlined
def wait_for_bytes(cache: PageCache, program_id: int, start: int, stop: int, now: float) -> None:
    """Put a program among those that wait for bytes of the object of its osc_object."""
    program = cache.programs.rows[program_id]
    osc_object = cache.osc_objects[program.osc_object_id]
    first, last = not_cached(cache, program.osc_object_id, start, stop)
    program.lacks_start = first
    program.lacks_stop = last
    program.since = now
    program.next = osc_object.readers
    osc_object.readers = program_id


@outlined
def served_readers(cache: PageCache, osc_object_id: int, low: int, high: int) -> int:
    """Note that bytes of an osc_object have come; return the first program that has all it needs.

    Such programs are no longer among those that wait; each knows the next. Whoever lacks none of
    these bytes is not looked at further: of many readers of a node most.
    """
    osc_object = cache.osc_objects[osc_object_id]
    served = last = previous = -1
    program_id = osc_object.readers
    while program_id >= 0:
        program = cache.programs.rows[program_id]
        after = program.next
        touched = low < program.lacks_stop and program.lacks_start < high
        if not touched or _lacks_pages(cache, program_id, low, high):
            previous = program_id
        else:
            if previous < 0:
                osc_object.readers = after
            else:
                cache.programs.rows[previous].next = after
            if last < 0:
                served = program_id
            else:
                cache.programs.rows[last].next = program_id
            program.next = -1
            last = program_id
        program_id = after
    return served


@outlined
def _lacks_pages(cache: PageCache, program_id: int, low: int, high: int) -> bool:
    """Note that bytes have come; tell whether a reader waits for others that are on their way."""
    program = cache.programs.rows[program_id]
    start, stop = program.lacks_start, program.lacks_stop
    # What has come counts even if a full cache has dropped it again.
    if low <= start:
        start = max(start, min(high, stop))
    if high >= stop:
        stop = min(stop, max(low, start))
    if start < stop:  # pages between may have come before those at the ends
        start, stop = not_cached(cache, program.osc_object_id, start, stop)
    program.lacks_start = start
    program.lacks_stop = stop
    return start < stop and _is_coming(cache, program.osc_object_id, start, stop)


@outlined
def _is_coming(cache: PageCache, osc_object_id: int, start: int, stop: int) -> bool:
    """Tell whether any bytes between two offsets are on their way into the cache."""
    extent_id = first_extent(cache, osc_object_id, start)
    while extent_id >= 0 and cache.osc_extents[extent_id].place < stop:
        extent = cache.osc_extents[extent_id]
        if extent.state == READING and extent.high > start:
            return True
        extent_id = extent.next
    return False
