"""Pages of which a write has only a part: what they held before must be there first.

A write that begins or ends within a page that is not cached reads that page, one page at a time,
and waits for it (Lustre 2.7 llite/vvp_io.c, vvp_io_prepare_partial). Where the file ends before the
page there is nothing to read, so that files written from their begin to their end, in calls of any
size, read nothing. Who pays are writers of pieces within a file, and those at the border between
two nodes: one has written the page before, and the other has to fetch it.
"""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.engine.page import PAGE
from sim.lustre.client.pages import ask_for_pages
from sim.lustre.osc.obds import Osc
from sim.node.readers import wait_for_bytes
from sim.plane.calls import start_of_call
from sim.plane.counters import Stat

_MISSES = int(Stat.MISS_BYTES)


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
