"""The OSC: the part of a client node that talks to one OST.

Three kinds of work wait in an OSC: dirty pages to be written back, pages to be read, and bytes to
be moved directly (O_DIRECT). It keeps at most ``max_rpcs_in_flight`` RPCs under way, one more while
high-priority pages wait (Lustre 2.7 osc_cache.c, osc_max_rpc_in_flight).

Dirty pages go when they fill an RPC, or sooner when someone waits: for room in the OSC, for an
fsync, for the lock above them (osc_makes_rpc). The OSC then fills an RPC with the pages of one
object: the ones that someone waits for the lock of, then urgent ones, then the first in the order
of the object, and what follows them (get_write_extents).

The life of an RPC that has been sent is told in ``sim.lustre.brw``.
"""

from __future__ import annotations

import numpy as np

from sim.engine.calendar import schedule
from sim.engine.component import Component, Demands
from sim.engine.jit import inlined, outlined
from sim.engine.network import Network
from sim.engine.page import PAGE
from sim.engine.pool import Pool, give, make_pool, reserve, take
from sim.engine.queue import QUEUE, clear_all, join, pop
from sim.engine.types import Table, make_table
from sim.lustre.brw import AT_CLIENT, Brw, charge_rpc, start_rpc, travel
from sim.lustre.locks import Locks
from sim.lustre.server.disks import partial_bytes
from sim.node.page_cache import PageCache, list_view, served_readers, unlist_view
from sim.node.pages import add_cached
from sim.node.windows import (
    CALM,
    DIRTY,
    PRESSING,
    READING,
    URGENT,
    WRITING,
    add_window,
    drop_window,
    find_window,
    grow_window,
)
from sim.plane.events import BRW, GONE, LOCK_EVENT
from sim.plane.files import Files
from sim.plane.programs import Programs, wake, wake_all, wake_into
from sim.plane.registry import on_message
from sim.plane.site import Site

CHANNEL = np.dtype(  # an OSC; its number is node * OSTs + OST
    [
        ("dirty", "i8"),  # bytes dirty or being written back
        ("grant", "i8"),  # bytes that the OST has promised to take
        ("in_flight", "i4"),
        ("works", QUEUE),  # runs of bytes to be moved directly
        ("views", QUEUE),  # with unsent bytes
        ("pressing", "i4"),  # views with pressing windows
        ("waiters", QUEUE),  # programs that wait for room
        ("lru_head", "i4"),  # unused locks, the oldest first
        ("lru_tail", "i4"),
        ("lru_count", "i4"),
    ],
    align=True,
)

WORK = np.dtype(  # a run of bytes of one object that waits in an OSC to be moved directly
    [
        ("offset", "i8"),
        ("left", "i8"),
        ("program", "i4"),
        ("window", "i4"),  # the window that it fills, or -1
        ("object", "i4"),
        ("write", "i4"),
        ("next", "i4"),
    ],
    align=True,
)


CLIENT = np.dtype([("dirty", "i8")], align=True)  # a node: bytes dirty or being written back


class Osc(Component):
    """The OSCs of all client nodes.

    Attributes
    ----------
    channels
        ``CHANNEL`` records: the OSC of a node for an OST is number node * osts + OST.
    works
        ``WORK`` records.
    clients
        ``CLIENT`` records, one a node.
    osts
        How many there are.
    rpcs_in_flight
        BRW RPCs that an OSC keeps under way (``max_rpcs_in_flight``).
    max_dirty, max_node_dirty
        Bytes that may be dirty in an OSC (``max_dirty_mb``) and on a node.
    grant_chunk
        Most bytes that a reply adds to an OSC's grant.
    """

    network: Network
    files: Files
    programs: Programs
    cache: PageCache
    locks: Locks
    brw: Brw
    channels: Table
    works: Table
    spare_works: Pool
    clients: Table
    osts: int
    rpcs_in_flight: int
    max_dirty: int
    max_node_dirty: int
    grant_chunk: int

    @classmethod
    def build(cls, site: Site) -> Osc:
        """Return idle OSCs, with what their OSTs have promised to take."""
        lustre = site.machine.lustre
        channels = make_table(CHANNEL, site.nodes * lustre.osts)
        channels.lru_head = channels.lru_tail = -1
        for queue in (channels.works, channels.views, channels.waiters):
            clear_all(queue)
        channels.grant = lustre.initial_grant
        return site.make(
            cls,
            channels=channels,
            works=make_table(WORK, site.rows),
            spare_works=make_pool(site.rows),
            clients=make_table(CLIENT, site.nodes),
            osts=lustre.osts,
            rpcs_in_flight=lustre.max_rpcs_in_flight,
            max_dirty=lustre.max_dirty,
            max_node_dirty=site.machine.nodes.max_dirty,
            grant_chunk=lustre.grant_chunk,
        )

    def demands(self) -> Demands:
        """Return what one OSC takes that starts all the RPCs it may have in flight."""
        rpcs = self.rpcs_in_flight + 1
        bulk, messages = self.brw.bulk, self.network.spare_messages
        return [(self.spare_works, 2), (bulk.spare_rpcs, rpcs), (messages, rpcs * bulk.parts)]


@outlined
def may_pump(osc: Osc, channels: int) -> bool:
    """Tell whether there are rows for so many OSCs to have all their RPCs in flight."""
    rpcs = channels * (osc.rpcs_in_flight + 1)
    bulk, messages = osc.brw.bulk, osc.network.spare_messages
    return reserve(bulk.spare_rpcs, rpcs) and reserve(messages, rpcs * bulk.parts)


@outlined
def may_read(osc: Osc, size: int, objects: int) -> bool:
    """Tell whether there are rows to ask for so many bytes of a file of so many stripe objects."""
    windows = size // osc.cache.rpc_size + 2 * min(size // PAGE, objects) + 2
    return (
        reserve(osc.cache.spare_windows, windows)
        and reserve(osc.spare_works, windows)
        and may_pump(osc, min(windows, objects))
    )


@outlined
def channel_of(osc: Osc, node: int, object_id: int) -> int:
    """Return the OSC of a node for the OST of an object."""
    return node * osc.osts + osc.files.objects[object_id].ost


@outlined
def submit(
    osc: Osc,
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
    channel_id = channel_of(osc, node, object_id)
    work_id = take(osc.spare_works)
    work = osc.works[work_id]
    work.offset = offset
    work.left = size
    work.program = program
    work.window = window
    work.object = object_id
    work.write = write
    join(osc.channels[channel_id].works, osc.works, work_id)
    pump(osc, channel_id, now)


@outlined
def dirty_pages(osc: Osc, view_id: int, offset: int, size: int) -> int:
    """Let bytes of a view, within one window, be dirty; return how many were dirty already.

    Room for all of them has been reserved in the OSC.
    """
    view = osc.cache.views[view_id]
    index = offset // osc.cache.rpc_size
    window_id = find_window(osc.cache, view_id, index, DIRTY)
    if window_id < 0:
        add_window(osc.cache, view_id, offset, size, DIRTY)
        added = size
    else:
        added = grow_window(osc.cache, window_id, offset, size)
    view.unsent += added
    view.outstanding += added
    inode = osc.cache.inodes[view.inode]
    inode.outstanding += added
    # Dirty by now, so that making room in a full cache does not drop them.
    stop = -(-(offset + size) // PAGE) * PAGE
    add_cached(osc.cache, view_id, offset // PAGE * PAGE, stop)
    channel_id = channel_of(osc, view.node, view.object)
    list_view(osc.cache, osc.channels[channel_id].views, view_id)
    if inode.flush_head >= 0:  # an fsync waits until nothing of the file is dirty
        raise_urgency(osc, view_id, offset, offset + size, URGENT)
    return size - added


@outlined
def raise_urgency(osc: Osc, view_id: int, start: int, stop: int, urgency: int) -> tuple[int, int]:
    """Let the dirty windows of a view between two offsets go sooner.

    Returns how many windows are on their way there, either way, and the bytes to be written.
    """
    view = osc.cache.views[view_id]
    window_id = view.windows
    count = 0
    size = 0
    while window_id >= 0:
        window = osc.cache.windows[window_id]
        if window.low < stop and window.high > start:
            count += 1
            if window.state != READING:
                size += window.bytes
            if window.state == DIRTY and window.urgency < urgency:
                if window.urgency == CALM:
                    view.urgent += 1
                if urgency == PRESSING:
                    view.pressing += 1
                    osc.channels[channel_of(osc, view.node, view.object)].pressing += 1
                window.urgency = urgency
        window_id = window.next
    return count, size


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
            _move_directly(osc, channel_id, now)
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
        if channel.pressing > 0:
            makes_rpc = view.pressing > 0
        else:
            makes_rpc = starving or view.urgent > 0 or view.unsent >= osc.cache.rpc_size
        if makes_rpc:
            return view_id, previous
        previous = view_id
        view_id = view.next
    return -1, -1


@outlined
def _first_window(cache: PageCache, view_id: int) -> int:
    """Return the dirty window of a view that goes next."""
    view = cache.views[view_id]
    wanted = CALM
    if view.pressing > 0:
        wanted = PRESSING
    elif view.urgent > 0:
        wanted = URGENT
    window_id = view.windows
    while cache.windows[window_id].state != DIRTY or cache.windows[window_id].urgency < wanted:
        window_id = cache.windows[window_id].next
    return window_id


@outlined
def _write_back(osc: Osc, channel_id: int, view_id: int, previous: int, now: float) -> None:
    """Fill an RPC with dirty windows of a view and send it."""
    view = osc.cache.views[view_id]
    channel = osc.channels[channel_id]
    first = _first_window(osc.cache, view_id)
    last = -1
    size = 0
    partial = 0
    window_id = first
    while window_id >= 0:
        window = osc.cache.windows[window_id]
        if window.state == DIRTY:
            if size + window.bytes > osc.cache.rpc_size:
                break
            if window.urgency > CALM:
                view.urgent -= 1
            if window.urgency == PRESSING:
                view.pressing -= 1
                channel.pressing -= 1
            window.state = WRITING
            window.next_of_rpc = -1
            if last >= 0:
                osc.cache.windows[last].next_of_rpc = window_id
            last = window_id
            size += window.bytes
            partial += partial_bytes(osc.brw.disks, window.low, window.high, window.bytes)
        window_id = window.next
    view.unsent -= size
    unlist_view(osc.cache, osc.channels[channel_id].views, view_id, previous)
    if view.unsent > 0:
        list_view(osc.cache, osc.channels[channel_id].views, view_id)
    low = osc.cache.windows[first].low
    channel.in_flight += 1
    start_rpc(osc.brw, channel_id, -1, first, view.object, low, size, partial, 1, now)


@outlined
def _move_directly(osc: Osc, channel_id: int, now: float) -> None:
    """Cut the next RPC from the bytes that wait to be moved directly or read; send it."""
    channel = osc.channels[channel_id]
    work_id = channel.works.head
    work = osc.works[work_id]
    rpc_size = osc.cache.rpc_size
    size = min(work.left, rpc_size - work.offset % rpc_size)
    partial = 0
    if work.write:
        partial = partial_bytes(osc.brw.disks, work.offset, work.offset + size, size)
    program, window, object_id, write = work.program, work.window, work.object, work.write
    offset = work.offset
    work.offset += size
    work.left -= size
    if work.left == 0:
        pop(channel.works, osc.works)
        give(osc.spare_works, work_id)
    channel.in_flight += 1
    start_rpc(osc.brw, channel_id, program, window, object_id, offset, size, partial, write, now)


@on_message(Osc, BRW)
@inlined
def on_rpc_message(osc: Osc, message_id: int, now: float) -> float:
    """Take a message of a BRW RPC a step further; end the RPC when all of it is at the client."""
    answer = travel(osc.brw, message_id, now)
    if answer == AT_CLIENT:
        return _finish_rpc(osc, message_id, now)
    return answer


@outlined
def _finish_rpc(osc: Osc, message_id: int, now: float) -> float:
    """End an RPC at the client: tell who waits for it, and let the OSC start the next."""
    rpc_id = osc.network.messages[message_id].owner
    rpc = osc.brw.bulk.rpcs[rpc_id]
    channel_id = rpc.channel
    channel = osc.channels[channel_id]
    channel.in_flight -= 1
    if rpc.write:
        written = now - osc.brw.lnet.control_latency
        osc.files.objects[rpc.object].written = max(osc.files.objects[rpc.object].written, written)
    if rpc.program >= 0:
        program = osc.programs.rows[rpc.program]
        program.pending -= rpc.bytes
        if program.pending == 0:
            charge_rpc(osc.brw, rpc.program, message_id, rpc.start, now)
            wake(osc.programs, rpc.program, now)
    elif rpc.write:
        _written(osc, rpc_id, now)
    else:
        _read(osc, message_id, now)
    give(osc.network.spare_messages, message_id)
    give(osc.brw.bulk.spare_rpcs, rpc_id)
    pump(osc, channel_id, now)
    return GONE


@outlined
def _written(osc: Osc, rpc_id: int, now: float) -> None:
    """Let the pages of a write-back be clean; wake those who waited for that or for room."""
    rpc = osc.brw.bulk.rpcs[rpc_id]
    channel = osc.channels[rpc.channel]
    release_room(osc, rpc.channel, rpc.bytes)
    wish = osc.max_dirty - channel.dirty - channel.grant
    channel.grant += max(min(wish, osc.grant_chunk), 0)
    window_id = rpc.windows
    while window_id >= 0:
        window = osc.cache.windows[window_id]
        after = window.next_of_rpc
        view_id, low, high = window.view_id, window.low, window.high
        view = osc.cache.views[view_id]
        view.outstanding -= window.bytes
        inode = osc.cache.inodes[view.inode]
        inode.outstanding -= window.bytes
        drop_window(osc.cache, window_id)
        window_done(osc, view_id, low, high, now)
        if inode.outstanding == 0:
            wake_all(osc.programs, inode.flush_head, now)
            inode.flush_head = -1
        window_id = after
    wake_waiters(osc, rpc.channel, now)


@outlined
def discard(osc: Osc, object_id: int) -> None:
    """Drop the dirty pages of an object that is no more, on every node, unwritten."""
    view_id = osc.files.objects[object_id].views
    while view_id >= 0:
        view = osc.cache.views[view_id]
        channel_id = channel_of(osc, view.node, object_id)
        if view.listed:
            before = _view_before(osc, channel_id, view_id)
            unlist_view(osc.cache, osc.channels[channel_id].views, view_id, before)
        window_id = view.windows
        while window_id >= 0:
            window = osc.cache.windows[window_id]
            after = window.next
            if window.state == DIRTY:
                _discard_window(osc, channel_id, window_id)
            window_id = after
        view_id = view.sibling


@outlined
def _view_before(osc: Osc, channel_id: int, view_id: int) -> int:
    """Return the view before another in the list of their OSC; -1 if it is the first."""
    previous = -1
    at = osc.channels[channel_id].views.head
    while at != view_id:
        previous = at
        at = osc.cache.views[at].next
    return previous


@outlined
def _discard_window(osc: Osc, channel_id: int, window_id: int) -> None:
    """Drop a dirty window unwritten."""
    window = osc.cache.windows[window_id]
    view = osc.cache.views[window.view_id]
    size = window.bytes
    if window.urgency > CALM:
        view.urgent -= 1
    if window.urgency == PRESSING:
        view.pressing -= 1
        osc.channels[channel_id].pressing -= 1
    view.unsent -= size
    view.outstanding -= size
    osc.cache.inodes[view.inode].outstanding -= size
    release_room(osc, channel_id, size)
    drop_window(osc.cache, window_id)


@outlined
def release_room(osc: Osc, channel_id: int, size: int) -> None:
    """Give back the room that dirty pages took in their OSC and node."""
    osc.channels[channel_id].dirty -= size
    osc.clients[channel_id // osc.osts].dirty -= size


@outlined
def reserve_room(osc: Osc, channel_id: int, size: int) -> bool:
    """Take room for dirty pages; False if there is none now (Lustre 2.7 osc_enter_cache_try).

    An OSC with nothing dirty and nothing being written gets room whatever its grant: Lustre would
    write these pages at once.
    """
    channel = osc.channels[channel_id]
    node = osc.clients[channel_id // osc.osts]
    idle = channel.dirty == 0
    fits = (
        channel.dirty + size <= osc.max_dirty
        and node.dirty + size <= osc.max_node_dirty
        and channel.grant >= size
    )
    if fits or idle:
        channel.dirty += size
        channel.grant = max(channel.grant - size, 0)
        node.dirty += size
    return fits or idle


@outlined
def wake_waiters(osc: Osc, channel_id: int, now: float) -> None:
    """Let the first of those who wait for room in an OSC try again, in the order of their wait.

    As many as would find room for a whole RPC each.
    """
    channel = osc.channels[channel_id]
    room = osc.max_dirty - channel.dirty
    if channel.dirty > 0:  # an idle OSC takes pages however many are dirty elsewhere
        node = osc.clients[channel_id // osc.osts]
        room = min(room, osc.max_node_dirty - node.dirty)
    wake_into(osc.programs, channel.waiters, room, osc.cache.rpc_size, now)


@outlined
def _read(osc: Osc, message_id: int, now: float) -> None:
    """Put what a read RPC has brought into the cache; wake the readers that have all they want."""
    rpc = osc.brw.bulk.rpcs[osc.network.messages[message_id].owner]
    window = osc.cache.windows[rpc.windows]
    view_id = window.view_id
    add_cached(osc.cache, view_id, window.low, window.high)
    low, high = window.low, window.high
    drop_window(osc.cache, rpc.windows)
    window_done(osc, view_id, low, high, now)
    program_id = served_readers(osc.cache, view_id, low, high)
    while program_id >= 0:
        program = osc.programs.rows[program_id]
        charge_rpc(osc.brw, program_id, message_id, max(rpc.start, program.since), now)
        wake(osc.programs, program_id, now)
        program_id = program.next


@outlined
def keep_from_cancel(osc: Osc, view_id: int, low: int, high: int) -> None:
    """Let read locks that are to be cancelled wait for bytes that are read below another lock."""
    lock_id = osc.cache.views[view_id].flushing
    while lock_id >= 0:
        lock = osc.locks.locks[lock_id]
        if lock.start < high and lock.end >= low and lock.flush_left > 0:
            lock.flush_left += 1
        lock_id = lock.sibling


@outlined
def window_done(osc: Osc, view_id: int, low: int, high: int, now: float) -> None:
    """Let locks that are to be cancelled know that bytes below them are no longer on their way."""
    lock_id = osc.cache.views[view_id].flushing
    while lock_id >= 0:
        lock = osc.locks.locks[lock_id]
        if lock.start < high and lock.end >= low:
            lock.flush_left -= 1
            if lock.flush_left == 0:
                schedule(osc.network.calendar, now, LOCK_EVENT, lock_id)
        lock_id = lock.sibling
