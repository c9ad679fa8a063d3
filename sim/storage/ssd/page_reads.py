"""Reads from a local SSD: pages come from the device once, and are copied out of the cache.

A read finds its pages in the cache, or asks the device for them; a reader that goes on in order has
the next pages asked for while it copies (Linux mm/readahead.c). Pages that another program of the
node has asked for are waited for.
"""

from __future__ import annotations

from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import outlined
from xc40io.engine.page import PAGE
from xc40io.node.osc_extents import READING, add_extent, drop_extent, first_extent
from xc40io.node.page_cache import PageCache
from xc40io.node.pages import add_cached, not_cached, served_readers, wait_for_pages
from xc40io.plane.counters import Stat
from xc40io.plane.programs import wake
from xc40io.plane.registry import GONE, SSD_READ_EVENT, on_event
from xc40io.storage.ssd.device import Ssds, device_io

_HITS, _MISSES, _AHEAD = int(Stat.HIT_BYTES), int(Stat.MISS_BYTES), int(Stat.AHEAD_BYTES)


@outlined
def ask_for_piece(ssds: Ssds, program_id: int, now: float) -> bool:
    """Ask for the pages of a piece that are not in the cache, and for the next piece's.

    Tells whether the program has to wait for any.
    """
    program = ssds.programs.rows[program_id]
    stop = program.offset + program.left
    missing = _ask_for_pages(ssds, program_id, program.offset, stop, now)
    ssds.programs.stats[_MISSES] += missing
    ssds.programs.stats[_HITS] += program.left - missing
    file = ssds.files.rows[ssds.programs.operations[program.op].file]
    if program.ahead or program.done + program.left < program.length:
        size = ssds.limits.readahead
        ahead = min(min(stop + size, (stop // size + 1) * size), file.end)
        if ahead > stop:
            asked = _ask_for_pages(ssds, program_id, stop, ahead, now)
            ssds.programs.stats[_AHEAD] += asked
    if missing == 0:
        return False
    wait_for_pages(ssds.cache, program_id, now)
    return True


@outlined
def _ask_for_pages(ssds: Ssds, program_id: int, offset: int, stop: int, now: float) -> int:
    """Have pages read that are neither in the cache nor asked for; return the missing bytes."""
    program = ssds.programs.rows[program_id]
    osc_object_id = program.osc_object_id
    first, last = not_cached(
        ssds.cache, osc_object_id, offset // PAGE * PAGE, -(-stop // PAGE) * PAGE
    )
    if first == last:
        return 0
    node = ssds.cache.osc_objects[osc_object_id].node
    at = first
    while at < last:
        extent_id = _extent_of(ssds.cache, osc_object_id, at)
        if extent_id >= 0:
            at = ssds.cache.osc_extents[extent_id].high
            continue
        end = _next_extent_after(ssds.cache, osc_object_id, at, last)
        extent_id = add_extent(ssds.cache, osc_object_id, at, end - at, READING)
        program.entering += end - at
        done = device_io(ssds, node, end - at, 0, now)
        schedule(ssds.network.calendar, done, SSD_READ_EVENT, extent_id)
        at = end
    return min(stop, last) - max(offset, first)


@outlined
def _extent_of(cache: PageCache, osc_object_id: int, offset: int) -> int:
    """Return the read under way that brings a byte; -1 if there is none."""
    extent_id = first_extent(cache, osc_object_id, offset)
    while extent_id >= 0 and cache.osc_extents[extent_id].low <= offset:
        if cache.osc_extents[extent_id].high > offset:
            return extent_id
        extent_id = cache.osc_extents[extent_id].next
    return -1


@outlined
def _next_extent_after(cache: PageCache, osc_object_id: int, offset: int, stop: int) -> int:
    """Return where the next read under way after an offset begins; ``stop`` if none before it."""
    extent_id = first_extent(cache, osc_object_id, offset)
    while extent_id >= 0 and cache.osc_extents[extent_id].low <= offset:
        extent_id = cache.osc_extents[extent_id].next
    return stop if extent_id < 0 else min(stop, cache.osc_extents[extent_id].low)


@on_event(PageCache, SSD_READ_EVENT)
@outlined
def on_ssd_read(cache: PageCache, extent_id: int, now: float) -> float:
    """Put what has been read into the cache; wake the readers that have all they want."""
    extent = cache.osc_extents[extent_id]
    osc_object_id, low, high = extent.osc_object_id, extent.low, extent.high
    add_cached(cache, osc_object_id, low, high)
    drop_extent(cache, extent_id)
    program_id = served_readers(cache, osc_object_id, low, high)
    while program_id >= 0:
        wake(cache.programs, program_id, now)
        program_id = cache.programs.rows[program_id].next
    return GONE
