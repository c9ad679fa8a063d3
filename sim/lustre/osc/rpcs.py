"""The RPCs of an OSC: which it makes next, and what it does when one is done.

It keeps at most ``max_rpcs_in_flight`` RPCs under way, one more while high-priority pages wait
(Lustre 2.7 osc_cache.c, osc_max_rpc_in_flight).

Dirty pages go when they fill an RPC, or sooner when someone waits: for room in the OSC, for an
fsync, for the lock above them (osc_makes_rpc). The OSC then fills an RPC with the pages of one
object: the ones that someone waits for the lock of, then urgent ones, then the first in the order
of the object, and what follows them (get_write_extents).

The life of an RPC that has been sent is told in ``sim.lustre.brw``.
"""

from __future__ import annotations

from sim.engine.compiled import inlined, outlined
from sim.engine.pool import give, take
from sim.engine.prefetch import prefetch
from sim.engine.queue import join, pop
from sim.lustre.brw import (
    AT_CLIENT,
    LAST_STAGES,
    charge_rpc,
    remember_life,
    start_rpc,
    travel,
)
from sim.lustre.net.bulk import add_rpc
from sim.lustre.osc.channels import Osc, channel_of
from sim.lustre.osc.dirty import release_room, wake_waiters
from sim.lustre.osc.windows import lower_urgency, window_done
from sim.lustre.server.disks import partial_bytes
from sim.lustre.server.journal import note_write
from sim.node.nodes import expect_thread
from sim.node.page_cache import PageCache, list_view, unlist_view
from sim.node.pages import add_cached
from sim.node.readers import served_readers
from sim.node.windows import (
    CALM,
    PRESSING,
    URGENT,
    dirty_from,
    drop_window,
    first_dirty,
    write_window,
)
from sim.plane.causes import Cause
from sim.plane.events import BRW, GONE
from sim.plane.programs import charge, wake
from sim.plane.registry import before_message, on_message

_CACHE, _TRANSFER = int(Cause.CACHE), int(Cause.TRANSFER)


@outlined
def submit(
    osc: Osc,
    program: int,
    window: int,
    view_id: int,
    offset: int,
    size: int,
    write: int,
    now: float,
) -> None:
    """Queue ``size`` bytes from ``offset`` of a view's object to be moved.

    They are for a program that waits for them (O_DIRECT), or fill a window that is being read;
    the other of the two is -1.
    """
    channel_id = channel_of(osc, view_id)
    work_id = take(osc.spare_works)
    work = osc.works[work_id]
    work.offset = offset
    work.left = size
    work.program = program
    work.window = window
    work.object = osc.cache.views[view_id].object
    work.write = write
    join(osc.channels[channel_id].works, osc.works, work_id)
    pump(osc, channel_id, now)


@outlined
def pump(osc: Osc, channel_id: int, now: float) -> None:
    """Start RPCs while the OSC may have more in flight and has something to send."""
    channel = osc.channels[channel_id]
    while True:
        limit = osc.rpcs_in_flight + (1 if channel.pressing > 0 else 0)
        if channel.in_flight >= limit:
            return
        view_id, previous = _view_to_write(osc, channel_id)
        if view_id >= 0:
            _write_back(osc, channel_id, view_id, previous, now)
        elif channel.works.head >= 0:
            _send_work(osc, channel_id, now)
        else:
            return


@outlined
def _view_to_write(osc: Osc, channel_id: int) -> tuple[int, int]:
    """Return the next view that makes an RPC, and the one before it in the list; or -1."""
    channel = osc.channels[channel_id]
    starving = channel.waiters.head >= 0
    previous = -1
    view_id = channel.views.head
    while view_id >= 0:
        view = osc.cache.views[view_id]
        if channel.pressing > 0:  # nothing else goes before those that lock holders wait for
            makes_rpc = view.pressing > 0
        else:
            makes_rpc = starving or view.urgent > 0 or view.unsent >= osc.cache.rpc_size
        if makes_rpc:
            return view_id, previous
        previous = view_id
        view_id = view.next
    return -1, -1


@outlined
def _next_to_go(cache: PageCache, view_id: int) -> int:
    """Return the dirty window of a view that goes next."""
    view = cache.views[view_id]
    wanted = CALM
    if view.pressing > 0:
        wanted = PRESSING
    elif view.urgent > 0:
        wanted = URGENT
    window_id = first_dirty(cache, view_id)
    while cache.windows[window_id].urgency < wanted:
        window_id = dirty_from(cache, cache.windows[window_id].next)
    return window_id


@outlined
def _write_back(osc: Osc, channel_id: int, view_id: int, previous: int, now: float) -> None:
    """Fill an RPC with dirty windows of a view and send it."""
    view = osc.cache.views[view_id]
    channel = osc.channels[channel_id]
    first = _next_to_go(osc.cache, view_id)
    last = -1
    size = 0
    partial = 0
    window_id = first
    while window_id >= 0 and size < osc.cache.rpc_size:
        window = osc.cache.windows[window_id]
        if size + window.bytes > osc.cache.rpc_size:
            break
        lower_urgency(osc, channel_id, window_id)
        write_window(osc.cache, window_id)
        if last >= 0:
            osc.cache.windows[last].next_of_rpc = window_id
        last = window_id
        size += window.bytes
        partial += partial_bytes(osc.brw.disks, window.low, window.high, window.bytes)
        window_id = window.next
        if size < osc.cache.rpc_size:
            window_id = dirty_from(osc.cache, window_id)
    view.unsent -= size
    # A view with more to send goes to the end of the line: objects of an OST take turns.
    unlist_view(osc.cache, channel.views, view_id, previous)
    if view.unsent > 0:
        list_view(osc.cache, channel.views, view_id)
    low = osc.cache.windows[first].low
    channel.in_flight += 1
    flying, object_id = channel.in_flight, view.object
    start_rpc(osc.brw, channel_id, -1, first, object_id, low, size, partial, 1, flying, now)


@outlined
def _send_work(osc: Osc, channel_id: int, now: float) -> None:
    """Cut the next RPC from the bytes that wait to be read or moved directly; send it."""
    channel = osc.channels[channel_id]
    work_id = channel.works.head
    work = osc.works[work_id]
    rpc_size = osc.cache.rpc_size
    size = min(work.left, rpc_size - work.offset % rpc_size)
    partial = 0
    if work.write:
        partial = partial_bytes(osc.brw.disks, work.offset, work.offset + size, size)
    # Read all of the row that the RPC needs before it is given back.
    program, window, object_id, write = work.program, work.window, work.object, work.write
    offset = work.offset
    work.offset += size
    work.left -= size
    if work.left == 0:
        pop(channel.works, osc.works)
        give(osc.spare_works, work_id)
    channel.in_flight += 1
    start_rpc(
        osc.brw,
        channel_id,
        program,
        window,
        object_id,
        offset,
        size,
        partial,
        write,
        channel.in_flight,
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
            prefetch(osc.channels, rpc.channel)
            prefetch(osc.files.objects, rpc.object)
            expect_thread(osc.brw.nodes, rpc.channel // osc.osts)
            if rpc.program >= 0:
                prefetch(osc.programs.rows, rpc.program)
            else:
                prefetch(osc.cache.windows, rpc.windows)
        elif rpc.program < 0:
            prefetch(osc.cache.views, osc.cache.windows[rpc.windows].view_id)
            if osc.channels[rpc.channel].waiters.head >= 0:
                prefetch(osc.programs.rows, osc.channels[rpc.channel].waiters.head)


@outlined
def _expect_more(osc: Osc, rpc_id: int) -> None:
    """Have what the rows name fetched that have come for the end of an RPC."""
    rpc = osc.brw.bulk.rpcs[rpc_id]
    view = osc.cache.views[osc.cache.windows[rpc.windows].view_id]
    prefetch(osc.cache.inodes, view.inode)
    prefetch(osc.cache.windows, view.dirty_window)
    waiter = osc.channels[rpc.channel].waiters.head
    if waiter >= 0:
        prefetch(osc.programs.operations, osc.programs.rows[waiter].op)
        prefetch(osc.programs.waits[waiter], _CACHE)


@outlined
def _finish_rpc(osc: Osc, message_id: int, now: float) -> float:
    """End an RPC at the client: wake who waits for it, and start the OSC's next."""
    rpc_id = osc.network.messages[message_id].owner
    rpc = osc.brw.bulk.rpcs[rpc_id]
    if rpc.program < 0:
        _expect_more(osc, rpc_id)
    channel_id = rpc.channel
    channel = osc.channels[channel_id]
    channel.in_flight -= 1
    remember_life(osc.brw, rpc_id, message_id, now)
    if osc.programs.recorder.on and rpc.write and rpc.windows >= 0:
        osc.brw.bulk.marks[rpc_id].pieces = _pieces(osc.cache, rpc.windows)
    if rpc.write:
        written = now - osc.brw.lnet.control_latency  # the reply took that long
        note_write(osc.files, rpc.object, channel_id, rpc.bytes, written)
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
    pump(osc, channel_id, now)
    return GONE


@outlined
def _pieces(cache: PageCache, first: int) -> int:
    """Return in how many pieces the bytes of an RPC lie, at most; ``first`` is its first window."""
    pieces = 0
    stop = -1
    window_id = first
    while window_id >= 0:
        window = cache.windows[window_id]
        pieces += window.pieces
        if window.low == stop:  # it goes on where the one before it ends
            pieces -= 1
        stop = window.high
        window_id = window.next_of_rpc
    return pieces


@outlined
def _written(osc: Osc, message_id: int, now: float) -> None:
    """Mark the pages of a write-back as clean; wake those who waited for that or for room."""
    rpc = osc.brw.bulk.rpcs[osc.network.messages[message_id].owner]
    channel = osc.channels[rpc.channel]
    release_room(osc, rpc.channel, rpc.bytes)
    # The reply renews the grant, up to what the OSC may have dirty.
    wish = osc.max_dirty - channel.dirty - channel.grant
    channel.grant += max(min(wish, osc.grant_chunk), 0)
    window_id = rpc.windows
    while window_id >= 0:
        window = osc.cache.windows[window_id]
        after = window.next_of_rpc  # read, as the next line, before the row is given back
        view_id, low, high = window.view_id, window.low, window.high
        view = osc.cache.views[view_id]
        view.outstanding -= window.bytes
        inode = osc.cache.inodes[view.inode]
        inode.outstanding -= window.bytes
        drop_window(osc.cache, window_id)
        window_done(osc, view_id, low, high, now)
        if inode.outstanding == 0:
            program_id = inode.flush_head
            inode.flush_head = -1
            while program_id >= 0:
                charge_rpc(osc.brw, program_id, message_id, now)
                wake(osc.programs, program_id, now)
                program_id = osc.programs.rows[program_id].next
        window_id = after
    wake_waiters(osc, rpc.channel, now)


@outlined
def _read(osc: Osc, message_id: int, now: float) -> None:
    """Put what a read RPC has brought into the cache; wake the readers that have all they want."""
    rpc = osc.brw.bulk.rpcs[osc.network.messages[message_id].owner]
    window = osc.cache.windows[rpc.windows]
    view_id = window.view_id
    add_cached(osc.cache, view_id, window.low, window.high)
    low, high = window.low, window.high  # read before the row is given back
    osc.cache.nodes[osc.cache.views[view_id].node].coming -= high - low
    drop_window(osc.cache, rpc.windows)
    window_done(osc, view_id, low, high, now)
    program_id = served_readers(osc.cache, view_id, low, high)
    while program_id >= 0:
        charge(osc.programs, program_id, _TRANSFER, now)
        charge_rpc(osc.brw, program_id, message_id, now)
        wake(osc.programs, program_id, now)
        program_id = osc.programs.rows[program_id].next
