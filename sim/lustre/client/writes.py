"""Buffered writes: a chunk goes into the page cache an RPC's worth at a time.

Pages of which the chunk has only a part are read first (``partial_pages``). Then, for each piece,
the program waits for room among the OSC's dirty pages, copies at the pace of its core, and marks
the pages dirty. Every page enters the one tree of cached pages of the file, one after another under
its lock: many ranks of a node write one file slower than as many files.
"""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.engine.page import PAGE
from sim.engine.prefetch import prefetch
from sim.engine.queue import join
from sim.lustre.brw import charge_queue
from sim.lustre.client.partial_pages import ask_for_partial_page
from sim.lustre.client.pieces import piece_of
from sim.lustre.client.states import COPIED_IN, MOVED, PAGE_WANTED, ROOM_FREED
from sim.lustre.osc.channels import Osc, channel_of, may_read
from sim.lustre.osc.dirty import dirty_pages, release_room, reserve_room
from sim.lustre.osc.rpcs import pump
from sim.node.copying import copy_pages
from sim.node.tree import WRITE_TURNS, enter_tree, leave_tree
from sim.plane.causes import Cause
from sim.plane.events import FULL, GO_ON, GONE
from sim.plane.programs import charge

_CACHE = int(Cause.CACHE)


@outlined
def write_chunk(osc: Osc, program_id: int, now: float) -> float:
    """Take the write of a locked chunk on to its next state."""
    phase = osc.programs.rows[program_id].phase
    if phase == COPIED_IN:
        return _mark_dirty(osc, program_id, now)
    if phase == ROOM_FREED:
        _charge_room(osc, program_id, now)
        return _write_piece(osc, program_id, now)
    return _begin_chunk(osc, program_id, now)


@outlined
def _begin_chunk(osc: Osc, program_id: int, now: float) -> float:
    """Have what was in pages that the chunk writes in part; then write it."""
    program = osc.programs.rows[program_id]
    if program.offset % PAGE == 0 and (program.offset + program.left) % PAGE == 0:
        return _write_piece(osc, program_id, now)
    program.phase = PAGE_WANTED  # begun again from here if rows are short: the lock is charged
    if not may_read(osc, PAGE, 1):
        return FULL
    if ask_for_partial_page(osc, program_id, now):
        return GONE
    return _write_piece(osc, program_id, now)


@outlined
def _charge_room(osc: Osc, program_id: int, now: float) -> None:
    """Charge a program's wait for room among the dirty pages, which RPCs before it have made."""
    charge(osc.programs, program_id, _CACHE, now)
    program = osc.programs.rows[program_id]
    channel_id = channel_of(osc, program.view_id)
    charge_queue(osc.brw, program_id, channel_id, 1, now - program.since)


@outlined
def expect_piece(osc: Osc, view_id: int) -> None:
    """Have what is to become dirty pages of a view fetched."""
    view = osc.cache.views[view_id]
    prefetch(osc.channels, channel_of(osc, view_id))
    prefetch(osc.cache.windows, view.window)
    prefetch(osc.cache.windows, view.dirty_window)
    prefetch(osc.cache.extents.order.heads, view.cached)


@outlined
def _write_piece(osc: Osc, program_id: int, now: float) -> float:
    """Copy an RPC's worth of the chunk into the page cache, once there is room for it."""
    program = osc.programs.rows[program_id]
    piece = piece_of(osc.cache, program.offset, program.left)
    channel_id = channel_of(osc, program.view_id)
    if not reserve_room(osc, channel_id, piece):
        program.phase = ROOM_FREED
        program.since = now
        # That somebody waits makes the OSC send what does not fill an RPC (_view_to_write).
        join(osc.channels[channel_id].waiters, osc.programs.rows, program_id)
        pump(osc, channel_id, now)
        return GONE
    program.phase = COPIED_IN
    entered = enter_tree(osc.cache, program_id, piece, WRITE_TURNS, now)
    nodes = osc.brw.nodes
    on_core = nodes.write_copy + osc.programs.operations[program.op].seconds
    return copy_pages(nodes, program_id, piece, on_core, nodes.node_copy, entered, now)


@outlined
def _mark_dirty(osc: Osc, program_id: int, now: float) -> float:
    """Mark the piece just copied as dirty, and turn to the next."""
    program = osc.programs.rows[program_id]
    piece = piece_of(osc.cache, program.offset, program.left)
    leave_tree(osc.cache, program_id)
    channel_id = channel_of(osc, program.view_id)
    again = dirty_pages(osc, program.view_id, program.offset, piece)
    if again > 0:  # dirty before: they had their room
        release_room(osc, channel_id, again)
    pump(osc, channel_id, now)
    program.offset += piece
    program.left -= piece
    if program.left > 0:
        return _write_piece(osc, program_id, now)
    program.phase = MOVED
    return GO_ON
