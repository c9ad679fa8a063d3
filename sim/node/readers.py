"""Readers: programs that wait for pages which are on their way into the page cache."""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.engine.page import PAGE
from sim.node.osc_extents import READING, first_extent
from sim.node.page_cache import PageCache
from sim.node.pages import not_cached


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

    Such programs are no longer among those that wait; each knows the next.
    """
    osc_object = cache.osc_objects[osc_object_id]
    served = last = previous = -1
    program_id = osc_object.readers
    while program_id >= 0:
        program = cache.programs.rows[program_id]
        after = program.next
        if _lacks_pages(cache, program_id, low, high):
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
