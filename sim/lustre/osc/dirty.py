"""Dirty pages and the room for them: what an OSC and a node let be dirty at a time.

A writer reserves room before it copies, and its pages keep the room until they are written back. An
OSC has a limit, so has the node, and the OST promises how much it will take (the *grant*).
"""

from __future__ import annotations

from xc40io.engine.compiled import outlined
from xc40io.engine.page import PAGE
from xc40io.engine.queue import length, pop
from xc40io.engine.record import Column
from xc40io.lustre.osc.lines import leave_line, stand_in_line
from xc40io.lustre.osc.obds import Osc, obd_of
from xc40io.lustre.osc.urgency import lower_urgency, raise_urgency
from xc40io.node.osc_extents import (
    DIRTY,
    URGENT,
    add_extent,
    dirty_extent,
    drop_extent,
    first_dirty,
    grow_extent,
    piece_of,
)
from xc40io.node.pages import add_cached
from xc40io.plane.programs import PROGRAM, wake

PROGRAM.add(
    __name__,
    # bytes of the chunk that are being copied into the page cache
    Column("piece", "i8", often=True),
)


@outlined
def reserve_room(osc: Osc, obd_id: int, offset: int, size: int) -> int:
    """Take room for dirty pages from an offset on, as far as there is any; return their bytes.

    Room is taken page by page (Lustre 2.7 osc_queue_async_io, osc_enter_cache_try). An OSC with
    nothing dirty and nothing being written gets room whatever its grant: Lustre would write these
    pages at once.
    """
    obd = osc.obds[obd_id]
    room = _room(osc, obd_id)
    if room < size:
        size = max((offset + room) // PAGE * PAGE - offset, 0)
    obd.dirty += size
    obd.coming += size
    obd.grant = max(obd.grant - size, 0)  # an idle OSC may go beyond it
    osc.clients[obd_id // osc.osts].dirty += size
    return size


@outlined
def _room(osc: Osc, obd_id: int) -> int:
    """Return the bytes that may still get dirty in an OSC now: an RPC if nothing is."""
    obd = osc.obds[obd_id]
    if obd.dirty == 0:
        return max(osc.max_dirty, osc.cache.rpc_size)
    node = osc.clients[obd_id // osc.osts]
    room = min(osc.max_dirty - obd.dirty, osc.max_node_dirty - node.dirty)
    return max(min(room, obd.grant), 0)


@outlined
def release_room(osc: Osc, obd_id: int, size: int) -> None:
    """Give back the room that dirty pages took in their OSC and node."""
    osc.obds[obd_id].dirty -= size
    osc.clients[obd_id // osc.osts].dirty -= size


@outlined
def wake_waiters(osc: Osc, obd_id: int, now: float) -> None:
    """Give the writers that wait for room in an OSC what there is, and wake them.

    Each gets a page and goes on page by page beside the others until no room is left (Lustre 2.7
    osc_wake_cache_waiters): they get equal parts. Who needs less leaves it to who comes next.
    """
    waiters, rows = osc.obds[obd_id].waiters, osc.programs.rows
    waiting = length(waiters, rows)
    if waiting == 0:
        return
    part = max(_room(osc, obd_id) // waiting // PAGE, 1) * PAGE
    for _ in range(waiting):
        program_id = waiters.head
        program = rows[program_id]
        # To the end of a page, wherever in one it begins.
        wanted = min(
            part - program.offset % PAGE, piece_of(osc.cache, program.offset, program.left)
        )
        program.piece = reserve_room(osc, obd_id, program.offset, wanted)
        if program.piece == 0:
            return
        pop(waiters, rows)
        wake(osc.programs, program_id, now)


@outlined
def dirty_pages(osc: Osc, osc_object_id: int, offset: int, size: int) -> int:
    """Mark bytes of an osc_object, within one extent, as dirty; return how many were so already.

    Room for all of them has been reserved in the OSC.
    """
    osc_object = osc.cache.osc_objects[osc_object_id]
    extent_id = dirty_extent(osc.cache, osc_object_id, offset)
    if extent_id < 0:
        add_extent(osc.cache, osc_object_id, offset, size, DIRTY)
        added = size
    else:
        added = grow_extent(osc.cache, extent_id, offset, size)
    osc_object.unsent += added
    osc_object.outstanding += added
    inode = osc.cache.inodes[osc_object.inode]
    inode.outstanding += added
    # They are dirty by now: else making room in a full cache would drop them.
    stop = -(-(offset + size) // PAGE) * PAGE
    add_cached(osc.cache, osc_object_id, offset // PAGE * PAGE, stop)
    stand_in_line(osc, osc_object_id)
    if inode.flush_head >= 0:  # an fsync waits until nothing of the file is dirty
        raise_urgency(osc, osc_object_id, offset, offset + size, URGENT)
    return size - added


@outlined
def discard(osc: Osc, object_id: int) -> None:
    """Drop the dirty pages of an object that is no more, on every node, unwritten."""
    osc_object_id = osc.files.objects[object_id].osc_objects
    while osc_object_id >= 0:
        osc_object = osc.cache.osc_objects[osc_object_id]
        obd_id = obd_of(osc, osc_object_id)
        leave_line(osc, osc_object_id)
        extent_id = first_dirty(osc.cache, osc_object_id)
        while extent_id >= 0:
            discard_extent(osc, obd_id, extent_id)
            extent_id = first_dirty(osc.cache, osc_object_id)
        osc_object_id = osc_object.sibling


@outlined
def discard_extent(osc: Osc, obd_id: int, extent_id: int) -> None:
    """Drop a dirty extent unwritten."""
    extent = osc.cache.osc_extents[extent_id]
    osc_object = osc.cache.osc_objects[extent.osc_object_id]
    size = extent.bytes
    lower_urgency(osc, obd_id, extent_id)
    osc_object.unsent -= size
    osc_object.outstanding -= size
    osc.cache.inodes[osc_object.inode].outstanding -= size
    release_room(osc, obd_id, size)
    drop_extent(osc.cache, extent_id)
