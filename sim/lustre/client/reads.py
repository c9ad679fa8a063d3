"""Buffered reads: a program finds the pages of a chunk in the cache, or asks for them and waits.

There is no parallelism across stripes inside one call, but that a read asks for the rest of its
pages ahead (``readahead``).
"""

from __future__ import annotations

from xc40io.engine.compiled import outlined
from xc40io.engine.page import PAGE
from xc40io.engine.record import Column
from xc40io.lustre.client.page_requests import are_gone, ask_for_pages
from xc40io.lustre.client.readahead import Readahead, asked_at_once, begin_anew, read_ahead
from xc40io.lustre.osc.obds import Osc, may_read
from xc40io.lustre.states import (
    CHUNK_WANTED,
    COPIED_OUT,
    FILLED,
    MOVED,
    PIECE_WANTED,
)
from xc40io.node.nodes import copy_pages
from xc40io.node.osc_extents import extent_end, piece_of
from xc40io.node.page_cache import READ_TURNS, enter_tree, leave_tree
from xc40io.node.pages import wait_for_pages
from xc40io.plane.counters import Stat
from xc40io.plane.files import object_count
from xc40io.plane.programs import PROGRAM, start_of_call
from xc40io.plane.registry import FULL, GO_ON, GONE

_HITS, _MISSES = int(Stat.HIT_BYTES), int(Stat.MISS_BYTES)

PROGRAM.add(
    __name__,
    # bytes of the chunk after the piece that is read
    Column("later", "i8", often=True),
)


@outlined
def read_chunk(readahead: Readahead, program_id: int, now: float) -> float:
    """Take the read of a locked chunk on to its next state."""
    phase = readahead.programs.rows[program_id].phase
    if phase == PIECE_WANTED:
        return _read_piece(readahead, program_id, now)
    if phase == FILLED:
        return _copy_piece(readahead.osc, program_id, now)
    if phase == COPIED_OUT:
        return _end_piece(readahead, program_id, now)
    return _begin_chunk(readahead, program_id, now)


@outlined
def _begin_chunk(readahead: Readahead, program_id: int, now: float) -> float:
    """Ask for the pages of the chunk that are not in the cache, and for some beyond."""
    program = readahead.programs.rows[program_id]
    program.phase = CHUNK_WANTED  # begun again from here if rows are short: the lock is charged
    if not _may_read(readahead, program_id, program.left + readahead.limit):
        return FULL
    # All of it counts as found in the cache, until some has to be asked for.
    readahead.programs.stats[_HITS] += program.left
    limit = _ask_for_chunk(readahead, program_id, program.offset, program.left, now)
    read_ahead(readahead, program_id, limit, now)
    program.later = program.left
    return _read_piece(readahead, program_id, now)


@outlined
def _ask_for_chunk(
    readahead: Readahead, program_id: int, offset: int, left: int, now: float
) -> int:
    """Ask for the pages of the last ``left`` bytes of the chunk; those asked for are cache misses.

    Returns up to where in the file pages are asked for at this time. That is no further than the
    call if pages are gone that had been read ahead.
    """
    program = readahead.programs.rows[program_id]
    here = start_of_call(readahead.programs, program_id) + program.done - left
    limit = asked_at_once(readahead, program_id, here, left)
    stop = offset + min(left, limit - here)
    asked_before = min(program.ahead_done - here + offset, stop)  # where read-ahead has been
    gone = False
    missed = readahead.programs.stats[_MISSES]
    while offset < stop:
        if offset < asked_before:
            gone = gone or are_gone(readahead.cache, program.osc_object_id, offset, asked_before)
        ask_for_pages(readahead.osc, program_id, program.osc_object_id, offset, stop, _MISSES, now)
        offset = extent_end(readahead.cache, offset)
    readahead.programs.stats[_HITS] -= readahead.programs.stats[_MISSES] - missed
    if gone:
        begin_anew(readahead, program_id)
        return min(limit, start_of_call(readahead.programs, program_id) + program.length)
    return limit


@outlined
def _read_piece(readahead: Readahead, program_id: int, now: float) -> float:
    """Turn to the next RPC's worth of the chunk: copy it, once its pages are in the cache.

    Pages that have not been asked for, or were evicted since, are asked for with what follows them.
    """
    program = readahead.programs.rows[program_id]
    program.phase = PIECE_WANTED
    if not _may_read(readahead, program_id, program.later):
        return FULL
    offset = program.offset
    program.left = piece_of(readahead.cache, offset, program.later)
    program.later -= program.left
    stop = offset + program.left
    missed = readahead.programs.stats[_MISSES]
    missing = ask_for_pages(
        readahead.osc, program_id, program.osc_object_id, offset, stop, _MISSES, now
    )
    asked = readahead.programs.stats[_MISSES] - missed
    readahead.programs.stats[_HITS] -= asked
    if asked > 0:  # not asked for yet, or evicted since: so may be what follows
        _ask_for_chunk(readahead, program_id, stop, program.later, now)
    if missing == 0:
        return _copy_piece(readahead.osc, program_id, now)
    program.phase = FILLED
    wait_for_pages(readahead.cache, program_id, now)
    return GONE


@outlined
def _may_read(readahead: Readahead, program_id: int, size: int) -> bool:
    """Tell whether there are rows for a program to ask for so many bytes in one event."""
    program = readahead.programs.rows[program_id]
    operation = readahead.programs.operations[program.op]
    objects = object_count(readahead.files, operation.file)
    strides = program.ahead // operation.length + 1 if program.striding > 0 else 0
    return may_read(readahead.osc, size + readahead.alignment, objects, strides)


@outlined
def _copy_piece(osc: Osc, program_id: int, now: float) -> float:
    """Copy a piece out of the page cache.

    Pages that the program has asked for since the last piece, ahead or not, are new in the cache:
    its core has allocated them and entered them into the tree of the file.
    """
    program = osc.programs.rows[program_id]
    program.phase = COPIED_OUT
    entered, new, size = now, program.entering, program.left
    if new > 0:
        entered = enter_tree(osc.cache, program_id, new, READ_TURNS, now)
        program.entering = 0
    nodes = osc.brw.nodes
    on_core = nodes.read_copy + osc.programs.operations[program.op].seconds
    on_core += new / size * nodes.read_page / PAGE
    in_memory = (max(size - new, 0) * nodes.node_hit + new * nodes.node_fetch) / size
    return copy_pages(nodes, program_id, size, on_core, in_memory, entered, now)


@outlined
def _end_piece(readahead: Readahead, program_id: int, now: float) -> float:
    """Turn to the next piece of a chunk that is read; end the chunk where there is none."""
    program = readahead.programs.rows[program_id]
    leave_tree(readahead.cache, program_id)
    program.offset += program.left
    if program.later > 0:
        return _read_piece(readahead, program_id, now)
    program.phase = MOVED
    return GO_ON
