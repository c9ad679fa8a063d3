"""Pages that a client asks OSTs for, for a read, or since a write has only a part of a page.

A page is asked for once, whoever of the node needs it.

A write that begins or ends within a page that is not cached reads that page, one page at a time,
and waits for it (Lustre 2.7 llite/vvp_io.c, vvp_io_prepare_partial). Where the file ends before the
page there is nothing to read, so that files written from their begin to their end, in calls of any
size, read nothing. Who pays are writers of pieces within a file, and those at the border between
two nodes: one has written the page before, and the other has to fetch it.
"""

from __future__ import annotations

from xc40io.engine.compiled import outlined
from xc40io.engine.page import PAGE
from xc40io.lustre.osc.obds import Osc
from xc40io.lustre.osc.rpcs import submit
from xc40io.lustre.osc.urgency import keep_from_cancel
from xc40io.node.osc_extents import READING, add_extent, extent_end, first_extent
from xc40io.node.page_cache import PageCache
from xc40io.node.pages import not_cached, wait_for_bytes
from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op
from xc40io.plane.programs import start_of_call

_READ = int(Op.READ)

_MISSES = int(Stat.MISS_BYTES)


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


@outlined
def ask_for_partial_page(osc: Osc, program_id: int, now: float) -> bool:
    """Ask for a page that a program is to write a part of, if it must; tell whether it must wait.

    To be called again when that page has come: the last page of a chunk may be another.
    """
    program = osc.programs.rows[program_id]
    start, stop = program.offset, program.offset + program.left
    first, last = start // PAGE * PAGE, stop // PAGE * PAGE  # that of the byte behind the chunk
    if first < start and _ask_for_page(osc, program_id, first, now):
        return True
    if first < start and first == last:
        return False  # the same page
    return last < stop and _ask_for_page(osc, program_id, last, now)


@outlined
def _ask_for_page(osc: Osc, program_id: int, page: int, now: float) -> bool:
    """Ask for one page of a program's chunk; False if it is cached, or the file ends before it."""
    program = osc.programs.rows[program_id]
    file = osc.files.rows[osc.programs.operations[program.op].file]
    chunk = start_of_call(osc.programs, program_id) + program.done - program.left
    if chunk + page - program.offset >= file.end:
        return False
    if ask_for_pages(osc, program_id, program.osc_object_id, page, page + PAGE, _MISSES, now) == 0:
        return False
    program.entering = 0  # it enters the file's tree with the others of the chunk
    wait_for_bytes(osc.cache, program_id, page, page + PAGE, now)
    return True
