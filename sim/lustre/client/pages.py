"""Pages that are read: what is asked for, and what is on its way already."""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.engine.page import PAGE
from sim.lustre.osc.obds import Osc
from sim.lustre.osc.rpcs import submit
from sim.lustre.osc.urgency import keep_from_cancel
from sim.node.osc_extents import READING, add_extent, extent_end, first_extent
from sim.node.page_cache import PageCache
from sim.node.pages import not_cached
from sim.plane.operations import Op

_READ = int(Op.READ)


@outlined
def ask_for_pages(
    osc: Osc, program_id: int, osc_object_id: int, offset: int, stop: int, stat: int, now: float
) -> int:
    """Ask for the pages from ``offset`` to ``stop``, at most to the end of their extent, if needed.

    Counts what it has asked for as ``stat``; returns how many of the bytes are not in the cache.
    """
    stop = min(stop, extent_end(osc.cache, offset))
    first, last = offset // PAGE * PAGE, -(-stop // PAGE) * PAGE
    first, last = not_cached(osc.cache, osc_object_id, first, last)
    if first == last:
        return 0
    missing = min(stop, last) - max(offset, first)
    if not _are_coming(osc.cache, osc_object_id, first, last):
        extent_id = add_extent(osc.cache, osc_object_id, first, last - first, READING)
        osc.cache.nodes[osc.cache.osc_objects[osc_object_id].node].coming += last - first
        keep_from_cancel(osc, osc_object_id, first, last)
        submit(osc, -1, extent_id, osc_object_id, first, last - first, _READ, now)
        # The program enters them into the file's tree itself, with its next copy.
        osc.programs.rows[program_id].entering += last - first
        osc.programs.stats[stat] += missing
    return missing


@outlined
def are_gone(cache: PageCache, osc_object_id: int, offset: int, stop: int) -> bool:
    """Tell whether pages that were asked for are neither in the cache nor on their way.

    Of those from ``offset`` to ``stop``, or to the end of their extent, the first that is not in
    the cache tells.
    """
    stop = min(stop, extent_end(cache, offset))
    first, last = not_cached(cache, osc_object_id, offset // PAGE * PAGE, -(-stop // PAGE) * PAGE)
    return first < last and not _are_coming(cache, osc_object_id, first, first + PAGE)


@outlined
def _are_coming(cache: PageCache, osc_object_id: int, offset: int, stop: int) -> bool:
    """Tell whether a request for pages of one extent is on its way."""
    extent_id = first_extent(cache, osc_object_id, offset)
    while extent_id >= 0 and cache.osc_extents[extent_id].place <= offset:
        extent = cache.osc_extents[extent_id]
        if extent.state == READING and extent.high >= stop:
            return True
        extent_id = extent.next
    return False
