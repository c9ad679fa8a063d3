"""Pages that are read: what is asked for, and what is on its way already."""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.engine.page import PAGE
from sim.lustre.client.pieces import next_window
from sim.lustre.osc.channels import Osc
from sim.lustre.osc.rpcs import submit
from sim.lustre.osc.windows import keep_from_cancel
from sim.node.page_cache import PageCache
from sim.node.pages import not_cached
from sim.node.windows import READING, add_window, first_window
from sim.plane.operations import Op

_READ = int(Op.READ)


@outlined
def ask_for_pages(
    osc: Osc, program_id: int, view_id: int, offset: int, stop: int, stat: int, now: float
) -> int:
    """Ask for the pages from ``offset`` to ``stop``, or to the end of their window, if need be.

    Counts what it has asked for as ``stat``; returns how many of the bytes are not in the cache.
    """
    stop = min(stop, next_window(osc.cache, offset))
    first, last = offset // PAGE * PAGE, -(-stop // PAGE) * PAGE
    first, last = not_cached(osc.cache, view_id, first, last)
    if first == last:
        return 0
    missing = min(stop, last) - max(offset, first)
    if not _are_coming(osc.cache, view_id, first, last):
        window_id = add_window(osc.cache, view_id, first, last - first, READING)
        osc.cache.nodes[osc.cache.views[view_id].node].coming += last - first
        keep_from_cancel(osc, view_id, first, last)
        submit(osc, -1, window_id, view_id, first, last - first, _READ, now)
        # The program enters them into the file's tree itself, with its next copy.
        osc.programs.rows[program_id].entering += last - first
        osc.programs.stats[stat] += missing
    return missing


@outlined
def are_gone(cache: PageCache, view_id: int, offset: int, stop: int) -> bool:
    """Tell whether pages that were asked for are neither in the cache nor on their way.

    Of those from ``offset`` to ``stop``, or to the end of their window, the first that is not in
    the cache tells.
    """
    stop = min(stop, next_window(cache, offset))
    first, last = not_cached(cache, view_id, offset // PAGE * PAGE, -(-stop // PAGE) * PAGE)
    return first < last and not _are_coming(cache, view_id, first, first + PAGE)


@outlined
def _are_coming(cache: PageCache, view_id: int, offset: int, stop: int) -> bool:
    """Tell whether a request for pages of one window is on its way."""
    window_id = first_window(cache, view_id, offset)
    while window_id >= 0 and cache.windows[window_id].place <= offset:
        window = cache.windows[window_id]
        if window.state == READING and window.high >= stop:
            return True
        window_id = window.next
    return False
