"""The RPCs of an OSC: which it makes next, and what it does when one is done.

It keeps at most ``max_rpcs_in_flight`` RPCs under way, one more while high-priority pages wait
(Lustre 2.7 osc_cache.c, osc_max_rpc_in_flight).

Dirty pages go when they fill an RPC, or sooner when someone waits: for room in the OSC, for an
fsync, for the lock above them (osc_makes_rpc). The OSC then fills an RPC with the pages of one
object: the ones that someone waits for the lock of, then urgent ones, then the first in the order
of the object, and what follows them (get_write_extents). Where several ranks write an object side
by side, these are mostly short of an RPC; from Lustre 2.10 on (LU-8515) extents that fill one go
before them, and the others wait until they do or somebody waits.

The life of an RPC that has been sent is told in ``xc40io.lustre.brw``.
"""

from __future__ import annotations

from xc40io.engine.compiled import inlined, outlined
from xc40io.engine.pool import give, take
from xc40io.engine.prefetch import prefetch
from xc40io.engine.queue import join, pop
from xc40io.lustre.brw import (
    AT_CLIENT,
    LAST_STAGES,
    charge_rpc,
    remember_life,
    start_rpc,
    travel,
)
from xc40io.lustre.net.bulk import add_rpc
from xc40io.lustre.osc.dirty import release_room, wake_waiters
from xc40io.lustre.osc.lines import leave_line, next_in_line, stand_in_line
from xc40io.lustre.osc.obds import Osc, obd_of
from xc40io.lustre.osc.urgency import extent_done, lower_urgency
from xc40io.lustre.server.disks import parity_work
from xc40io.lustre.server.journal import note_write
from xc40io.node.nodes import expect_thread
from xc40io.node.osc_extents import (
    CALM,
    PRESSING,
    URGENT,
    dirty_from,
    drop_extent,
    fills_rpc,
    first_dirty,
    write_extent,
)
from xc40io.node.page_cache import PageCache
from xc40io.node.pages import add_cached, served_readers
from xc40io.plane.causes import Cause
from xc40io.plane.programs import charge, wake
from xc40io.plane.registry import BRW, GONE, before_message, on_message

_CACHE, _TRANSFER = int(Cause.CACHE), int(Cause.TRANSFER)


@outlined
def submit(
    osc: Osc,
    program: int,
    extent: int,
    osc_object_id: int,
    offset: int,
    size: int,
    write: int,
    now: float,
) -> None:
    """Queue ``size`` bytes from ``offset`` of an osc_object's object to be moved.

    They are for a program that waits for them (O_DIRECT), or fill an extent that is being read;
    the other of the two is -1.
    """
    obd_id = obd_of(osc, osc_object_id)
    work_id = take(osc.spare_works)
    work = osc.works[work_id]
    work.offset = offset
    work.left = size
    work.program = program
    work.extent = extent
    work.object = osc.cache.osc_objects[osc_object_id].object
    work.write = write
    join(osc.obds[obd_id].works, osc.works, work_id)
    pump(osc, obd_id, now)


@outlined
def pump(osc: Osc, obd_id: int, now: float) -> None:
    """Start RPCs while the OSC may have more in flight and has something to send."""
    obd = osc.obds[obd_id]
    while True:
        limit = osc.rpcs_in_flight + (1 if obd.pressing > 0 else 0)
        if obd.in_flight >= limit:
            return
        osc_object_id = next_in_line(osc, obd_id)
        if osc_object_id >= 0:
            _write_back(osc, obd_id, osc_object_id, now)
        elif obd.works.head >= 0:
            _send_work(osc, obd_id, now)
        else:
            return


@outlined
def _next_to_go(osc: Osc, osc_object_id: int) -> int:
    """Return the dirty extent of an osc_object that goes next."""
    cache = osc.cache
    osc_object = cache.osc_objects[osc_object_id]
    wanted = CALM
    if osc_object.pressing > 0:
        wanted = PRESSING
    elif osc_object.urgent > 0:
        wanted = URGENT
    extent_id = first_dirty(cache, osc_object_id)
    while cache.osc_extents[extent_id].urgency < wanted:
        extent_id = dirty_from(cache, cache.osc_extents[extent_id].next)
    if wanted == CALM and osc.full_first and osc_object.full > 0:
        while not fills_rpc(cache, extent_id):
            extent_id = dirty_from(cache, cache.osc_extents[extent_id].next)
    return extent_id


@outlined
def _write_back(osc: Osc, obd_id: int, osc_object_id: int, now: float) -> None:
    """Fill an RPC with dirty extents of an osc_object and send it."""
    osc_object = osc.cache.osc_objects[osc_object_id]
    obd = osc.obds[obd_id]
    first = _next_to_go(osc, osc_object_id)
    last = -1
    size = 0
    partial = 0
    extent_id = first
    while extent_id >= 0 and size < osc.cache.rpc_size:
        extent = osc.cache.osc_extents[extent_id]
        if size + extent.bytes > osc.cache.rpc_size:
            break
        lower_urgency(osc, obd_id, extent_id)
        write_extent(osc.cache, extent_id)
        if last >= 0:
            osc.cache.osc_extents[last].next_of_rpc = extent_id
        last = extent_id
        size += extent.bytes
        partial += parity_work(osc.brw.disks, extent.low, extent.high, extent.bytes)
        extent_id = extent.next
        if size < osc.cache.rpc_size:
            extent_id = dirty_from(osc.cache, extent_id)
    osc_object.unsent -= size
    # An osc_object with more to send goes to the end of the line: objects of an OST take turns.
    leave_line(osc, osc_object_id)
    if osc_object.unsent > 0:
        stand_in_line(osc, osc_object_id)
    low = osc.cache.osc_extents[first].low
    obd.in_flight += 1
    flying, object_id = obd.in_flight, osc_object.object
    start_rpc(osc.brw, obd_id, -1, first, object_id, low, size, partial, 1, flying, now)


@outlined
def _send_work(osc: Osc, obd_id: int, now: float) -> None:
    """Cut the next RPC from the bytes that wait to be read or moved directly; send it."""
    obd = osc.obds[obd_id]
    work_id = obd.works.head
    work = osc.works[work_id]
    rpc_size = osc.cache.rpc_size
    size = min(work.left, rpc_size - work.offset % rpc_size)
    partial = 0
    if work.write:
        partial = parity_work(osc.brw.disks, work.offset, work.offset + size, size)
    # Read all of the row that the RPC needs before it is given back.
    program, extent, object_id, write = work.program, work.extent, work.object, work.write
    offset = work.offset
    work.offset += size
    work.left -= size
    if work.left == 0:
        pop(obd.works, osc.works)
        give(osc.spare_works, work_id)
    obd.in_flight += 1
    start_rpc(
        osc.brw,
        obd_id,
        program,
        extent,
        object_id,
        offset,
        size,
        partial,
        write,
        obd.in_flight,
        now,
    )


@on_message(Osc, BRW)
@inlined
def on_rpc_message(osc: Osc, message_id: int, now: float) -> float:
    """Send a message of a BRW RPC on; end the RPC when all of it is at the client."""
    answer = travel(osc.brw, message_id, now)
    if answer == AT_CLIENT:
        return _finish_rpc(osc, message_id, now)
    return answer


@before_message(Osc, BRW)
@outlined
def expect_rpc_message(osc: Osc, message_id: int, step: int) -> None:
    """Have the rows fetched that a message of a BRW RPC will need, in steps: one names another."""
    message = osc.network.messages[message_id]
    if step == 0:
        prefetch(osc.brw.bulk.rpcs, message.owner)
    elif message.stage in LAST_STAGES:
        rpc = osc.brw.bulk.rpcs[message.owner]
        if step == 1:
            prefetch(osc.obds, rpc.obd)
            prefetch(osc.files.objects, rpc.object)
            expect_thread(osc.brw.nodes, rpc.obd // osc.osts)
            if rpc.program >= 0:
                prefetch(osc.programs.rows, rpc.program)
            else:
                prefetch(osc.cache.osc_extents, rpc.extents)
        elif rpc.program < 0:
            prefetch(osc.cache.osc_objects, osc.cache.osc_extents[rpc.extents].osc_object_id)
            if osc.obds[rpc.obd].waiters.head >= 0:
                prefetch(osc.programs.rows, osc.obds[rpc.obd].waiters.head)


@outlined
def _expect_more(osc: Osc, rpc_id: int) -> None:
    """Prefetch the rows that the fetched rows of an ending RPC name."""
    rpc = osc.brw.bulk.rpcs[rpc_id]
    osc_object = osc.cache.osc_objects[osc.cache.osc_extents[rpc.extents].osc_object_id]
    prefetch(osc.cache.inodes, osc_object.inode)
    prefetch(osc.cache.osc_extents, osc_object.dirty_extent)
    waiter = osc.obds[rpc.obd].waiters.head
    if waiter >= 0:
        prefetch(osc.programs.operations, osc.programs.rows[waiter].op)
        prefetch(osc.programs.waits[_CACHE], waiter)


@outlined
def _finish_rpc(osc: Osc, message_id: int, now: float) -> float:
    """End an RPC at the client: wake who waits for it, and start the OSC's next."""
    rpc_id = osc.network.messages[message_id].owner
    rpc = osc.brw.bulk.rpcs[rpc_id]
    if rpc.program < 0:
        _expect_more(osc, rpc_id)
    obd_id = rpc.obd
    obd = osc.obds[obd_id]
    obd.in_flight -= 1
    remember_life(osc.brw, rpc_id, message_id, now)
    if osc.programs.recorder.on and rpc.write and rpc.extents >= 0:
        osc.brw.bulk.marks[rpc_id].pieces = _pieces(osc.cache, rpc.extents)
    if rpc.write:
        written = now - osc.brw.lnet.control_latency  # the reply took that long
        note_write(osc.files, rpc.object, obd_id, rpc.bytes, written)
    if rpc.program >= 0:  # direct I/O
        program = osc.programs.rows[rpc.program]
        program.pending -= rpc.bytes
        if program.pending == 0:
            charge(osc.programs, rpc.program, _TRANSFER, now)
            charge_rpc(osc.brw, rpc.program, message_id, now)
            wake(osc.programs, rpc.program, now)
    elif rpc.write:
        _written(osc, message_id, now)
    else:
        _read(osc, message_id, now)
    if osc.programs.recorder.on:
        add_rpc(osc.brw.bulk, message_id, now)
    # The rows are given back before the OSC takes rows for its next RPCs.
    give(osc.network.spare_messages, message_id)
    give(osc.brw.bulk.spare_rpcs, rpc_id)
    pump(osc, obd_id, now)
    return GONE


@outlined
def _pieces(cache: PageCache, first: int) -> int:
    """Return in how many pieces the bytes of an RPC lie, at most; ``first`` is its first extent."""
    pieces = 0
    stop = -1
    extent_id = first
    while extent_id >= 0:
        extent = cache.osc_extents[extent_id]
        pieces += extent.pieces
        if extent.low == stop:  # it goes on where the one before it ends
            pieces -= 1
        stop = extent.high
        extent_id = extent.next_of_rpc
    return pieces


@outlined
def _written(osc: Osc, message_id: int, now: float) -> None:
    """Mark the pages of a write-back as clean; wake those who waited for that or for room."""
    rpc = osc.brw.bulk.rpcs[osc.network.messages[message_id].owner]
    obd = osc.obds[rpc.obd]
    release_room(osc, rpc.obd, rpc.bytes)
    # The reply renews the grant, up to what the OSC may have dirty.
    wish = osc.max_dirty - obd.dirty - obd.grant
    obd.grant += max(min(wish, osc.grant_chunk), 0)
    extent_id = rpc.extents
    while extent_id >= 0:
        extent = osc.cache.osc_extents[extent_id]
        after = extent.next_of_rpc  # read, as the next line, before the row is given back
        osc_object_id, low, high = extent.osc_object_id, extent.low, extent.high
        osc_object = osc.cache.osc_objects[osc_object_id]
        osc_object.outstanding -= extent.bytes
        inode = osc.cache.inodes[osc_object.inode]
        inode.outstanding -= extent.bytes
        drop_extent(osc.cache, extent_id)
        extent_done(osc, osc_object_id, low, high, now)
        if inode.outstanding == 0:
            program_id = inode.flush_head
            inode.flush_head = -1
            while program_id >= 0:
                charge_rpc(osc.brw, program_id, message_id, now)
                wake(osc.programs, program_id, now)
                program_id = osc.programs.rows[program_id].next
        extent_id = after
    wake_waiters(osc, rpc.obd, now)


@outlined
def _read(osc: Osc, message_id: int, now: float) -> None:
    """Put what a read RPC has brought into the cache; wake the readers that have all they want."""
    rpc = osc.brw.bulk.rpcs[osc.network.messages[message_id].owner]
    extent = osc.cache.osc_extents[rpc.extents]
    osc_object_id = extent.osc_object_id
    add_cached(osc.cache, osc_object_id, extent.low, extent.high)
    low, high = extent.low, extent.high  # read before the row is given back
    osc.cache.nodes[osc.cache.osc_objects[osc_object_id].node].coming -= high - low
    drop_extent(osc.cache, rpc.extents)
    extent_done(osc, osc_object_id, low, high, now)
    program_id = served_readers(osc.cache, osc_object_id, low, high)
    while program_id >= 0:
        charge(osc.programs, program_id, _TRANSFER, now)
        charge_rpc(osc.brw, program_id, message_id, now)
        wake(osc.programs, program_id, now)
        program_id = osc.programs.rows[program_id].next
