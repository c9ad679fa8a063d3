"""Buffered writes: a chunk goes into the page cache an RPC's worth at a time.

Pages of which the chunk has only a part are read first (``page_requests``). Then, for each piece,
the program waits for room among the OSC's dirty pages, copies at the pace of its core, and marks
the pages dirty. Every page enters the one tree of cached pages of the file, one after another under
its lock: many ranks of a node write one file slower than as many files.
"""

from __future__ import annotations

from xc40io.engine.compiled import outlined
from xc40io.engine.page import PAGE
from xc40io.engine.prefetch import prefetch
from xc40io.engine.queue import join
from xc40io.lustre.brw import charge_queue
from xc40io.lustre.client.page_requests import ask_for_partial_page
from xc40io.lustre.osc.dirty import dirty_pages, release_room, reserve_room
from xc40io.lustre.osc.obds import Osc, may_read, obd_of
from xc40io.lustre.osc.rpcs import pump
from xc40io.lustre.states import COPIED_IN, MOVED, PAGE_WANTED, ROOM_FREED
from xc40io.node.nodes import copy_pages
from xc40io.node.osc_extents import piece_of
from xc40io.node.page_cache import WRITE_TURNS, enter_tree, leave_tree
from xc40io.plane.causes import Cause
from xc40io.plane.programs import charge
from xc40io.plane.registry import FULL, GO_ON, GONE

_CACHE = int(Cause.CACHE)


@outlined
def write_chunk(osc: Osc, program_id: int, now: float) -> float:
    """Take the write of a locked chunk on to its next state."""
    phase = osc.programs.rows[program_id].phase
    if phase == COPIED_IN:
        return _mark_dirty(osc, program_id, now)
    if phase == ROOM_FREED:
        _charge_room(osc, program_id, now)
        return _copy_piece(osc, program_id, now)
    return _begin_chunk(osc, program_id, now)


@outlined
def _begin_chunk(osc: Osc, program_id: int, now: float) -> float:
    """Read the pages that the chunk overwrites in part; then write it."""
    program = osc.programs.rows[program_id]
    if program.offset % PAGE == 0 and (program.offset + program.left) % PAGE == 0:
        return _write_piece(osc, program_id, now)
    program.phase = PAGE_WANTED  # begun again from here if rows are short: the lock is charged
    if not may_read(osc, PAGE, 1, 0):
        return FULL
    if ask_for_partial_page(osc, program_id, now):
        return GONE
    return _write_piece(osc, program_id, now)


@outlined
def _charge_room(osc: Osc, program_id: int, now: float) -> None:
    """Charge a program's wait for room among the dirty pages to the RPCs that made the room."""
    charge(osc.programs, program_id, _CACHE, now)
    program = osc.programs.rows[program_id]
    obd_id = obd_of(osc, program.osc_object_id)
    charge_queue(osc.brw, program_id, obd_id, 1, now - program.since)


@outlined
def expect_piece(osc: Osc, osc_object_id: int) -> None:
    """Prefetch the rows that a write into an osc_object will need."""
    osc_object = osc.cache.osc_objects[osc_object_id]
    prefetch(osc.obds, obd_of(osc, osc_object_id))
    prefetch(osc.cache.osc_extents, osc_object.extent)
    prefetch(osc.cache.osc_extents, osc_object.dirty_extent)
    prefetch(osc.cache.byte_lists.order.heads, osc_object.cached)


@outlined
def _write_piece(osc: Osc, program_id: int, now: float) -> float:
    """Copy an RPC's worth of the chunk into the page cache, as far as there is room for it."""
    program = osc.programs.rows[program_id]
    piece = piece_of(osc.cache, program.offset, program.left)
    obd_id = obd_of(osc, program.osc_object_id)
    program.piece = reserve_room(osc, obd_id, program.offset, piece)
    if program.piece == 0:
        program.phase = ROOM_FREED
        program.since = now
        # That somebody waits makes the OSC send what does not fill an RPC (next_in_line).
        join(osc.obds[obd_id].waiters, osc.programs.rows, program_id)
        pump(osc, obd_id, now)
        return GONE
    return _copy_piece(osc, program_id, now)


@outlined
def _copy_piece(osc: Osc, program_id: int, now: float) -> float:
    """Copy the piece that has room into the page cache."""
    program = osc.programs.rows[program_id]
    program.phase = COPIED_IN
    piece = program.piece
    entered = enter_tree(osc.cache, program_id, piece, WRITE_TURNS, now)
    nodes = osc.brw.nodes
    on_core = nodes.write_copy + osc.programs.operations[program.op].seconds
    return copy_pages(nodes, program_id, piece, on_core, nodes.node_copy, entered, now)


@outlined
def _mark_dirty(osc: Osc, program_id: int, now: float) -> float:
    """Mark the piece just copied as dirty, and turn to the next."""
    program = osc.programs.rows[program_id]
    piece = program.piece
    leave_tree(osc.cache, program_id)
    obd_id = obd_of(osc, program.osc_object_id)
    osc.obds[obd_id].coming -= piece
    again = dirty_pages(osc, program.osc_object_id, program.offset, piece)
    if again > 0:  # dirty before: they had their room
        release_room(osc, obd_id, again)
    pump(osc, obd_id, now)
    program.offset += piece
    program.left -= piece
    if program.left > 0:
        return _write_piece(osc, program_id, now)
    program.phase = MOVED
    return GO_ON
