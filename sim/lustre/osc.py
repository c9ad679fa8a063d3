"""The OSC: the part of a client node that talks to one OST, and the life of a bulk (BRW) RPC.

Three kinds of work wait in an OSC: dirty pages to be written back, pages to be read, and bytes to
be moved directly (O_DIRECT). It keeps at most ``max_rpcs_in_flight`` RPCs under way, one more while
high-priority pages wait (Lustre 2.7 osc_cache.c, osc_max_rpc_in_flight).

Dirty pages go when they fill an RPC, or sooner when someone waits: for room in the OSC, for an
fsync, for the lock above them (osc_makes_rpc). The OSC then fills an RPC with the pages of one
object: the ones that someone waits for the lock of, then urgent ones, then the first in the order
of the object, and what follows them (get_write_extents).

A write RPC: the request goes to the OSS, which fetches the bulk from the client (LNetGet) in LNET
messages of at most 1 MiB; once it has the whole bulk it submits the block I/O; when that is
complete it replies. A read RPC: request, block I/O, bulk to the client (LNetPut). There is no
write-back cache on the server (Lustre 2.7 osd_io.c: the reply waits for the bios).
"""

from __future__ import annotations

from typing import Any

from sim.engine.calendar import schedule
from sim.engine.jit import inlined, njit
from sim.engine.network import serve
from sim.engine.page import PAGE
from sim.engine.pool import give, take
from sim.engine.queue import join, pop
from sim.lustre.arrays import block_io
from sim.lustre.events import GO_ON, GONE, MESSAGE_EVENT, PROGRAM_EVENT
from sim.lustre.lnet import (
    choose_gateway,
    enter_aries_homeward,
    enter_aries_outward,
    enter_infiniband_homeward,
    enter_infiniband_outward,
)
from sim.lustre.pages import (
    CALM,
    DIRTY,
    PRESSING,
    READING,
    URGENT,
    WRITING,
    add_cached,
    add_window,
    drop_window,
    find_window,
    grow_window,
    list_view,
    served_readers,
    unlist_view,
    window_done,
)
from sim.lustre.tables import MESSAGE_KINDS, Cause, Lustre

# Stages of a message: what it does when it acts next.
_WRITE_START = 0  # leave the client
_WRITE_ARIES = 1  # leave the router
_WRITE_IB = 2  # go to disk
_WRITE_REPLY = 3  # tell the client
_READ_START = 4  # go to disk
_READ_DISK = 5  # become bulk
_READ_BULK = 6  # leave the OSS
_READ_IB = 7  # leave the router
_READ_ARIES = 8  # arrive at the client

_OSC = int(Cause.OSC)
_TRANSFER = int(Cause.TRANSFER)


@njit
def channel_of(lustre: Lustre, node: int, object_id: int) -> int:
    """Return the OSC of a node for the OST of an object."""
    return node * lustre.limits.osts + lustre.objects[object_id].ost


@njit
def submit(
    lustre: Lustre,
    program: int,
    window: int,
    object_id: int,
    node: int,
    offset: int,
    size: int,
    write: int,
    now: float,
) -> None:
    """Queue ``size`` bytes from ``offset`` of an object to be moved.

    They are for a program that waits for them (O_DIRECT), or fill a window that is being read;
    the other of the two is -1.
    """
    channel_id = channel_of(lustre, node, object_id)
    work_id = take(lustre.spare_works)
    work = lustre.works[work_id]
    work.offset = offset
    work.left = size
    work.program = program
    work.window = window
    work.object = object_id
    work.write = write
    join(lustre.channels[channel_id].works, lustre.works, work_id)
    pump(lustre, channel_id, now)


@njit
def dirty_pages(lustre: Lustre, view_id: int, offset: int, size: int) -> int:
    """Let bytes of a view, within one window, be dirty; return how many were dirty already.

    Room for all of them has been reserved in the OSC.
    """
    view = lustre.views[view_id]
    stop = -(-(offset + size) // PAGE) * PAGE
    add_cached(lustre, view_id, offset // PAGE * PAGE, stop)
    index = offset // lustre.limits.rpc_size
    window_id = find_window(lustre, view_id, index, DIRTY)
    if window_id < 0:
        add_window(lustre, view_id, offset, size, DIRTY)
        added = size
    else:
        added = grow_window(lustre, window_id, offset, size)
    view.unsent += added
    view.outstanding += added
    inode = lustre.inodes[view.inode]
    inode.outstanding += added
    channel_id = channel_of(lustre, view.node, view.object)
    list_view(lustre, lustre.channels[channel_id].views, view_id)
    if inode.flush_head >= 0:  # an fsync waits until nothing of the file is dirty
        raise_urgency(lustre, view_id, offset, offset + size, URGENT)
    return size - added


@njit
def raise_urgency(
    lustre: Lustre, view_id: int, start: int, stop: int, urgency: int
) -> tuple[int, int]:
    """Let the dirty windows of a view between two offsets go sooner.

    Returns how many windows are on their way there, either way, and the bytes to be written.
    """
    view = lustre.views[view_id]
    window_id = view.windows
    count = 0
    size = 0
    while window_id >= 0:
        window = lustre.windows[window_id]
        if window.low < stop and window.high > start:
            count += 1
            if window.state != READING:
                size += window.bytes
            if window.state == DIRTY and window.urgency < urgency:
                if window.urgency == CALM:
                    view.urgent += 1
                if urgency == PRESSING:
                    view.pressing += 1
                    lustre.channels[channel_of(lustre, view.node, view.object)].pressing += 1
                window.urgency = urgency
        window_id = window.next
    return count, size


@njit
def pump(lustre: Lustre, channel_id: int, now: float) -> None:
    """Start RPCs while the OSC may have more in flight and has something to send."""
    channel = lustre.channels[channel_id]
    while True:
        limit = lustre.limits.rpcs_in_flight + (1 if channel.pressing > 0 else 0)
        if channel.in_flight >= limit:
            return
        view_id, previous = _view_to_write(lustre, channel_id)
        if view_id >= 0:
            _write_back(lustre, channel_id, view_id, previous, now)
        elif channel.works.head >= 0:
            _move_directly(lustre, channel_id, now)
        else:
            return


@njit
def _view_to_write(lustre: Lustre, channel_id: int) -> tuple[int, int]:
    """Return the next view that makes an RPC, and the one before it in the list; or -1."""
    channel = lustre.channels[channel_id]
    starving = channel.waiters.head >= 0
    previous = -1
    view_id = channel.views.head
    while view_id >= 0:
        view = lustre.views[view_id]
        if channel.pressing > 0:
            makes_rpc = view.pressing > 0
        else:
            makes_rpc = starving or view.urgent > 0 or view.unsent >= lustre.limits.rpc_size
        if makes_rpc:
            return view_id, previous
        previous = view_id
        view_id = view.next
    return -1, -1


@njit
def _first_window(lustre: Lustre, view_id: int) -> int:
    """Return the dirty window of a view that goes next."""
    view = lustre.views[view_id]
    wanted = CALM
    if view.pressing > 0:
        wanted = PRESSING
    elif view.urgent > 0:
        wanted = URGENT
    window_id = view.windows
    while lustre.windows[window_id].state != DIRTY or lustre.windows[window_id].urgency < wanted:
        window_id = lustre.windows[window_id].next
    return window_id


@njit
def _write_back(lustre: Lustre, channel_id: int, view_id: int, previous: int, now: float) -> None:
    """Fill an RPC with dirty windows of a view and send it."""
    view = lustre.views[view_id]
    channel = lustre.channels[channel_id]
    first = _first_window(lustre, view_id)
    last = -1
    size = 0
    partial = 0
    window_id = first
    while window_id >= 0:
        window = lustre.windows[window_id]
        if window.state == DIRTY:
            if size + window.bytes > lustre.limits.rpc_size:
                break
            if window.urgency > CALM:
                view.urgent -= 1
            if window.urgency == PRESSING:
                view.pressing -= 1
                channel.pressing -= 1
            window.state = WRITING
            window.next_of_rpc = -1
            if last >= 0:
                lustre.windows[last].next_of_rpc = window_id
            last = window_id
            size += window.bytes
            partial += _partial_bytes(lustre, window.low, window.high, window.bytes)
        window_id = window.next
    view.unsent -= size
    unlist_view(lustre, lustre.channels[channel_id].views, view_id, previous)
    if view.unsent > 0:
        list_view(lustre, lustre.channels[channel_id].views, view_id)
    low = lustre.windows[first].low
    _start_rpc(lustre, channel_id, -1, first, view.object, low, size, partial, 1, now)


@njit
def _partial_bytes(lustre: Lustre, low: int, high: int, size: int) -> int:
    """Return how many of ``size`` bytes between two offsets lie in RAID stripes not filled."""
    stripe = lustre.limits.raid_stripe
    if size < high - low:  # with holes: no stripe is known to be full
        return size
    whole = (high // stripe - -(-low // stripe)) * stripe
    return size - max(whole, 0)


@njit
def _move_directly(lustre: Lustre, channel_id: int, now: float) -> None:
    """Cut the next RPC from the bytes that wait to be moved directly or read; send it."""
    channel = lustre.channels[channel_id]
    work_id = channel.works.head
    work = lustre.works[work_id]
    rpc_size = lustre.limits.rpc_size
    size = min(work.left, rpc_size - work.offset % rpc_size)
    partial = 0
    if work.write:
        partial = _partial_bytes(lustre, work.offset, work.offset + size, size)
    program, window, object_id, write = work.program, work.window, work.object, work.write
    offset = work.offset
    work.offset += size
    work.left -= size
    if work.left == 0:
        pop(channel.works, lustre.works)
        give(lustre.spare_works, work_id)
    _start_rpc(lustre, channel_id, program, window, object_id, offset, size, partial, write, now)


@njit
def _start_rpc(
    lustre: Lustre,
    channel_id: int,
    program: int,
    windows: int,
    object_id: int,
    offset: int,
    size: int,
    partial: int,
    write: int,
    now: float,
) -> None:
    """Let a ptlrpcd thread send the request of a BRW RPC; schedule what follows at its arrival."""
    rpc_id = take(lustre.spare_rpcs)
    rpc = lustre.rpcs[rpc_id]
    rpc.start = now
    rpc.unit = offset // lustre.limits.rpc_size
    rpc.bytes = size
    rpc.partial = partial
    rpc.channel = channel_id
    rpc.program = program
    rpc.windows = windows
    rpc.object = object_id
    rpc.parts = 0
    rpc.write = write
    lustre.channels[channel_id].in_flight += 1
    lustre.counts[1] += 1
    lustre.counts[2] += size
    sent = _on_thread(lustre, channel_id // lustre.limits.osts, size, now)
    latency = lustre.limits.control_latency
    if write:
        # The request to the OSS, then the OSS's LNetGet to the client: the bulk leaves after both.
        _split_bulk(lustre, rpc_id, -1, _WRITE_START, sent + 2.0 * latency)
    else:
        message_id = _new_message(lustre, rpc_id, size, _READ_START)
        schedule(lustre.network.calendar, sent + latency, MESSAGE_EVENT, message_id)


@njit
def _on_thread(lustre: Lustre, node_id: int, size: int, now: float) -> float:
    """Let a ptlrpcd thread of a node work on an RPC; return when it has.

    The threads take turns over the cores that the system's threads may use.
    """
    limits = lustre.limits
    node = lustre.nodes[node_id]
    core = lustre.stations.core + node_id * limits.cores + node.next_thread
    node.next_thread += 1
    if node.next_thread == limits.cores:
        node.next_thread = limits.first_system_core
    seconds = size * limits.thread_work
    return serve(lustre.network, core, now, 0.0, seconds) + seconds


@inlined
def _new_message(lustre: Lustre, rpc_id: int, size: int, stage: int) -> int:
    """Take a message for (a part of) the bulk of an RPC; nothing has delayed it yet."""
    message_id = take(lustre.network.spare)
    message = lustre.network.messages[message_id]
    message.owner = rpc_id
    message.bytes = size
    message.stage = stage
    message.position = 0
    message.final = -1
    for kind in range(MESSAGE_KINDS):  # a fixed number: the compiler unrolls it
        lustre.network.waits[message_id, kind] = 0.0
    return message_id


@njit
def _split_bulk(lustre: Lustre, rpc_id: int, origin: int, stage: int, time: float) -> None:
    """Cut the bulk of an RPC into LNET messages that act at ``time``.

    They inherit the waiting of message ``origin`` (-1: none).
    """
    rpc = lustre.rpcs[rpc_id]
    left = rpc.bytes
    while left > 0:
        size = min(left, lustre.limits.message_size)
        message_id = _new_message(lustre, rpc_id, size, stage)
        if origin >= 0:
            for kind in range(MESSAGE_KINDS):
                lustre.network.waits[message_id, kind] = lustre.network.waits[origin, kind]
        schedule(lustre.network.calendar, time, MESSAGE_EVENT, message_id)
        rpc.parts += 1
        left -= size


@inlined
def on_rpc_message(lustre: Lustre, message_id: int, now: float) -> float:
    """Let a message of a BRW RPC do what it does between two segments of its journey.

    Returns when it acts next, ``GONE``, or ``GO_ON`` if it stands before its next segment.
    """
    rpc = lustre.rpcs[lustre.network.messages[message_id].owner]
    node = rpc.channel // lustre.limits.osts
    oss = rpc.channel % lustre.limits.osts // lustre.limits.osts_per_oss
    if rpc.write:
        return _on_write(lustre, message_id, node, oss, now)
    return _on_read(lustre, message_id, node, oss, now)


@inlined
def _on_write(lustre: Lustre, message_id: int, node: int, oss: int, now: float) -> float:
    """Take a message of a write to the next part of its journey."""
    message = lustre.network.messages[message_id]
    if message.stage == _WRITE_START:
        message.stage = _WRITE_ARIES
        message.gateway = choose_gateway(lustre.routing, node, oss, message.bytes)
        enter_aries_outward(lustre, message_id, node, now)
        return GO_ON
    if message.stage == _WRITE_ARIES:
        message.stage = _WRITE_IB
        lustre.routing.queued[node, message.gateway] -= message.bytes
        enter_infiniband_outward(lustre, message_id, oss, now)
        return GO_ON
    if message.stage == _WRITE_REPLY:
        return _finish_rpc(lustre, message_id, now)
    if not _is_last_part(lustre, message_id):
        return GONE
    message.stage = _WRITE_REPLY
    return block_io(lustre, message_id, now)


@inlined
def _on_read(lustre: Lustre, message_id: int, node: int, oss: int, now: float) -> float:
    """Take a message of a read to the next part of its journey."""
    message = lustre.network.messages[message_id]
    sender = lustre.limits.nodes + oss
    if message.stage == _READ_START:
        message.stage = _READ_DISK
        return block_io(lustre, message_id, now)
    if message.stage == _READ_DISK:
        if message.bytes > lustre.limits.message_size:
            _split_bulk(lustre, message.owner, message_id, _READ_BULK, now)
            give(lustre.network.spare, message_id)
            return GONE
        lustre.rpcs[message.owner].parts = 1
        message.stage = _READ_BULK
    if message.stage == _READ_BULK:
        message.stage = _READ_IB
        message.gateway = choose_gateway(lustre.routing, sender, oss, message.bytes)
        enter_infiniband_homeward(lustre, message_id, oss, now)
        return GO_ON
    if message.stage == _READ_IB:
        message.stage = _READ_ARIES
        lustre.routing.queued[sender, message.gateway] -= message.bytes
        enter_aries_homeward(lustre, message_id, node, now)
        return GO_ON
    if not _is_last_part(lustre, message_id):
        return GONE
    return _finish_rpc(lustre, message_id, now)


@inlined
def _is_last_part(lustre: Lustre, message_id: int) -> bool:
    """Count a part of a bulk as arrived; let it go unless it is the last one."""
    rpc = lustre.rpcs[lustre.network.messages[message_id].owner]
    rpc.parts -= 1
    if rpc.parts > 0:
        give(lustre.network.spare, message_id)
        return False
    return True


@njit
def _finish_rpc(lustre: Lustre, message_id: int, now: float) -> float:
    """End an RPC at the client: tell who waits for it, and let the OSC start the next."""
    rpc_id = lustre.network.messages[message_id].owner
    rpc = lustre.rpcs[rpc_id]
    channel_id = rpc.channel
    channel = lustre.channels[channel_id]
    channel.in_flight -= 1
    if rpc.write:
        written = now - lustre.limits.control_latency
        lustre.objects[rpc.object].written = max(lustre.objects[rpc.object].written, written)
    if rpc.program >= 0:
        program = lustre.programs[rpc.program]
        program.pending -= rpc.bytes
        if program.pending == 0:
            _charge(lustre, rpc.program, message_id, rpc.start, now)
            schedule(lustre.network.calendar, now, PROGRAM_EVENT, rpc.program)
    elif rpc.write:
        _written(lustre, rpc_id, now)
    else:
        _read(lustre, message_id, now)
    give(lustre.network.spare, message_id)
    give(lustre.spare_rpcs, rpc_id)
    pump(lustre, channel_id, now)
    return GONE


@njit
def _written(lustre: Lustre, rpc_id: int, now: float) -> None:
    """Let the pages of a write-back be clean; wake those who waited for that or for room."""
    rpc = lustre.rpcs[rpc_id]
    channel = lustre.channels[rpc.channel]
    release_room(lustre, rpc.channel, rpc.bytes)
    wish = lustre.limits.max_dirty - channel.dirty - channel.grant
    channel.grant += max(min(wish, lustre.limits.grant_chunk), 0)
    window_id = rpc.windows
    while window_id >= 0:
        window = lustre.windows[window_id]
        after = window.next_of_rpc
        view_id, low, high = window.view_id, window.low, window.high
        view = lustre.views[view_id]
        view.outstanding -= window.bytes
        inode = lustre.inodes[view.inode]
        inode.outstanding -= window.bytes
        drop_window(lustre, window_id)
        window_done(lustre, view_id, low, high, now)
        if inode.outstanding == 0:
            wake_all(lustre, inode.flush_head, now)
            inode.flush_head = -1
        window_id = after
    wake_waiters(lustre, rpc.channel, now)


@njit
def discard(lustre: Lustre, object_id: int) -> None:
    """Drop the dirty pages of an object that is no more, on every node, unwritten."""
    view_id = lustre.objects[object_id].views
    while view_id >= 0:
        view = lustre.views[view_id]
        channel_id = channel_of(lustre, view.node, object_id)
        if view.listed:
            before = _view_before(lustre, channel_id, view_id)
            unlist_view(lustre, lustre.channels[channel_id].views, view_id, before)
        window_id = view.windows
        while window_id >= 0:
            window = lustre.windows[window_id]
            after = window.next
            if window.state == DIRTY:
                _discard_window(lustre, channel_id, window_id)
            window_id = after
        view_id = view.sibling


@njit
def _view_before(lustre: Lustre, channel_id: int, view_id: int) -> int:
    """Return the view before another in the list of their OSC; -1 if it is the first."""
    previous = -1
    at = lustre.channels[channel_id].views.head
    while at != view_id:
        previous = at
        at = lustre.views[at].next
    return previous


@njit
def _discard_window(lustre: Lustre, channel_id: int, window_id: int) -> None:
    """Drop a dirty window unwritten."""
    window = lustre.windows[window_id]
    view = lustre.views[window.view_id]
    size = window.bytes
    if window.urgency > CALM:
        view.urgent -= 1
    if window.urgency == PRESSING:
        view.pressing -= 1
        lustre.channels[channel_id].pressing -= 1
    view.unsent -= size
    view.outstanding -= size
    lustre.inodes[view.inode].outstanding -= size
    release_room(lustre, channel_id, size)
    drop_window(lustre, window_id)


@njit
def release_room(lustre: Lustre, channel_id: int, size: int) -> None:
    """Give back the room that dirty pages took in their OSC and node."""
    lustre.channels[channel_id].dirty -= size
    lustre.nodes[channel_id // lustre.limits.osts].dirty -= size


@njit
def reserve_room(lustre: Lustre, channel_id: int, size: int) -> bool:
    """Take room for dirty pages; False if there is none now (Lustre 2.7 osc_enter_cache_try).

    An OSC with nothing dirty and nothing being written gets room whatever its grant: Lustre would
    write these pages at once.
    """
    channel = lustre.channels[channel_id]
    node = lustre.nodes[channel_id // lustre.limits.osts]
    idle = channel.dirty == 0
    fits = (
        channel.dirty + size <= lustre.limits.max_dirty
        and node.dirty + size <= lustre.limits.max_node_dirty
        and channel.grant >= size
    )
    if fits or idle:
        channel.dirty += size
        channel.grant = max(channel.grant - size, 0)
        node.dirty += size
    return fits or idle


@njit
def wake_all(lustre: Lustre, head: int, now: float) -> None:
    """Let every program of a list go on."""
    program_id = head
    while program_id >= 0:
        schedule(lustre.network.calendar, now, PROGRAM_EVENT, program_id)
        program_id = lustre.programs[program_id].next


@njit
def wake_waiters(lustre: Lustre, channel_id: int, now: float) -> None:
    """Let the first of those who wait for room in an OSC try again, in the order of their wait.

    As many as would find room for a whole RPC each.
    """
    channel = lustre.channels[channel_id]
    room = lustre.limits.max_dirty - channel.dirty
    wake_into(lustre, channel.waiters, room, lustre.limits.rpc_size, now)


@njit
def wake_into(lustre: Lustre, waiters: Any, room: int, each: int, now: float) -> None:
    """Let the first programs of a queue go on, as many as there is room for, if each takes so much.

    ``room`` and ``each`` are in bytes; the last of them may find less.
    """
    while room > 0:
        program_id = pop(waiters, lustre.programs)
        if program_id < 0:
            return
        schedule(lustre.network.calendar, now, PROGRAM_EVENT, program_id)
        room -= each


@njit
def _read(lustre: Lustre, message_id: int, now: float) -> None:
    """Put what a read RPC has brought into the cache; wake the readers that have all they want."""
    rpc = lustre.rpcs[lustre.network.messages[message_id].owner]
    window = lustre.windows[rpc.windows]
    view_id = window.view_id
    add_cached(lustre, view_id, window.low, window.high)
    low, high = window.low, window.high
    drop_window(lustre, rpc.windows)
    window_done(lustre, view_id, low, high, now)
    program_id = served_readers(lustre, view_id, low, high)
    while program_id >= 0:
        program = lustre.programs[program_id]
        _charge(lustre, program_id, message_id, max(rpc.start, program.since), now)
        schedule(lustre.network.calendar, now, PROGRAM_EVENT, program_id)
        program_id = program.next


@njit
def _charge(lustre: Lustre, program: int, message_id: int, start: float, now: float) -> None:
    """Charge a program's wait to its causes, as the RPC that ended it met them."""
    since = lustre.programs[program].since
    lustre.waits[program, _OSC] += start - since
    transfer = now - start
    for kind in range(MESSAGE_KINDS):
        # Who joins a read under way waited for the rest of it alone: its latest queues.
        waited = min(lustre.network.waits[message_id, kind], transfer)
        lustre.waits[program, kind] += waited
        transfer -= waited
    lustre.waits[program, _TRANSFER] += transfer
