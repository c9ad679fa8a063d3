"""Dirty pages and the room for them: what an OSC and a node let be dirty at a time.

A writer reserves room before it copies, and its pages keep the room until they are written back. An
OSC has a limit, so has the node, and the OST promises how much it will take (the *grant*).
"""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.engine.page import PAGE
from sim.lustre.osc.channels import Osc, channel_of
from sim.lustre.osc.windows import lower_urgency, raise_urgency
from sim.node.page_cache import list_view, unlist_view
from sim.node.pages import add_cached
from sim.node.windows import (
    DIRTY,
    URGENT,
    add_window,
    dirty_window,
    drop_window,
    first_dirty,
    grow_window,
)
from sim.plane.programs import wake_into


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
        channel.grant = max(channel.grant - size, 0)  # an idle OSC may go beyond it
        node.dirty += size
    return fits or idle


@outlined
def release_room(osc: Osc, channel_id: int, size: int) -> None:
    """Give back the room that dirty pages took in their OSC and node."""
    osc.channels[channel_id].dirty -= size
    osc.clients[channel_id // osc.osts].dirty -= size


@outlined
def wake_waiters(osc: Osc, channel_id: int, now: float) -> None:
    """Wake the writers that have waited longest for room in an OSC, to try again.

    It wakes as many as find room if each writes a whole RPC.
    """
    channel = osc.channels[channel_id]
    room = osc.max_dirty - channel.dirty
    if channel.dirty > 0:  # an idle OSC takes pages however many are dirty elsewhere
        node = osc.clients[channel_id // osc.osts]
        room = min(room, osc.max_node_dirty - node.dirty)
    wake_into(osc.programs, channel.waiters, room, osc.cache.rpc_size, now)


@outlined
def dirty_pages(osc: Osc, view_id: int, offset: int, size: int) -> int:
    """Mark bytes of a view, within one window, as dirty; return how many were so already.

    Room for all of them has been reserved in the OSC.
    """
    view = osc.cache.views[view_id]
    window_id = dirty_window(osc.cache, view_id, offset)
    if window_id < 0:
        add_window(osc.cache, view_id, offset, size, DIRTY)
        added = size
    else:
        added = grow_window(osc.cache, window_id, offset, size)
    view.unsent += added
    view.outstanding += added
    inode = osc.cache.inodes[view.inode]
    inode.outstanding += added
    # They are dirty by now: else making room in a full cache would drop them.
    stop = -(-(offset + size) // PAGE) * PAGE
    add_cached(osc.cache, view_id, offset // PAGE * PAGE, stop)
    channel_id = channel_of(osc, view_id)
    list_view(osc.cache, osc.channels[channel_id].views, view_id)
    if inode.flush_head >= 0:  # an fsync waits until nothing of the file is dirty
        raise_urgency(osc, view_id, offset, offset + size, URGENT)
    return size - added


@outlined
def discard(osc: Osc, object_id: int) -> None:
    """Drop the dirty pages of an object that is no more, on every node, unwritten."""
    view_id = osc.files.objects[object_id].views
    while view_id >= 0:
        view = osc.cache.views[view_id]
        channel_id = channel_of(osc, view_id)
        forget_unsent(osc, view_id)
        window_id = first_dirty(osc.cache, view_id)
        while window_id >= 0:
            discard_window(osc, channel_id, window_id)
            window_id = first_dirty(osc.cache, view_id)
        view_id = view.sibling


@outlined
def forget_unsent(osc: Osc, view_id: int) -> None:
    """Take a view out of the list of those that have something to send, if it is there."""
    if osc.cache.views[view_id].listed:
        channel_id = channel_of(osc, view_id)
        before = _view_before(osc, channel_id, view_id)
        unlist_view(osc.cache, osc.channels[channel_id].views, view_id, before)


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
def discard_window(osc: Osc, channel_id: int, window_id: int) -> None:
    """Drop a dirty window unwritten."""
    window = osc.cache.windows[window_id]
    view = osc.cache.views[window.view_id]
    size = window.bytes
    lower_urgency(osc, channel_id, window_id)
    view.unsent -= size
    view.outstanding -= size
    osc.cache.inodes[view.inode].outstanding -= size
    release_room(osc, channel_id, size)
    drop_window(osc.cache, window_id)
