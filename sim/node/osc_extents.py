"""osc_extents: parts of an object on their way between the page cache of a node and the disk.

An osc_extent has the size and alignment of a whole BRW RPC, because no RPC crosses such a boundary
(Lustre 2.7 osc_cache.c). It lives from the first dirty byte, or from the read request, until its
RPC is done. The extents of an osc_object are linked in the order of the object. A search begins
where the last one ended, or else at a *milestone*: one extent in eight is also in a list that is
searched in logarithmic time. Reads of a local SSD stand here too, without RPCs.
"""

from __future__ import annotations

from xc40io.engine.compiled import njit, outlined
from xc40io.engine.ordered import insert, last_not_after, remove
from xc40io.engine.page import PAGE
from xc40io.engine.pool import give, take
from xc40io.node.page_cache import PageCache

# States of an extent: what its bytes wait for, and what follows. From the last two it is dropped.
DIRTY = 0  # a write RPC with room for them -> WRITING
WRITING = 1  # the reply to it
READING = 2  # what a read brings

_EACH = 8  # one row in so many may be a milestone

CALM = 0  # goes when an RPC is full
URGENT = 1  # goes soon: someone syncs
PRESSING = 2  # goes first: someone waits for the lock (a high-priority RPC)


@outlined
def add_extent(cache: PageCache, osc_object_id: int, offset: int, size: int, state: int) -> int:
    """Add an extent to an osc_object, with ``size`` bytes from ``offset``; return it."""
    extent_id = take(cache.spare_osc_extents)
    extent = cache.osc_extents[extent_id]
    # Reads of parts of an RPC begin at different pages; of what is written there the RPC is one.
    unit = PAGE if state == READING else cache.rpc_size
    extent.place = offset // unit * unit
    extent.low = offset
    extent.high = offset + size
    extent.bytes = size
    extent.pieces = 1
    extent.osc_object_id = osc_object_id
    extent.next_of_rpc = -1
    extent.state = state
    extent.urgency = CALM
    # Behind others at its place, which are in other states, or bring other pages.
    _link(cache, extent_id, _last_extent(cache, osc_object_id, extent.place))
    if state == DIRTY:
        _note_dirty(cache, extent_id)
        cache.osc_objects[osc_object_id].full += fills_rpc(cache, extent_id)
    return extent_id


@outlined
def write_extent(cache: PageCache, extent_id: int) -> None:
    """Take a dirty extent into a write RPC: what gets dirty there from now on is another one."""
    extent = cache.osc_extents[extent_id]
    extent.state = WRITING
    osc_object = cache.osc_objects[extent.osc_object_id]
    osc_object.full -= fills_rpc(cache, extent_id)
    if osc_object.dirty_extent == extent_id:
        osc_object.dirty_extent = extent.next  # none before it is dirty, whatever it is itself


@outlined
def drop_extent(cache: PageCache, extent_id: int) -> None:
    """Remove an extent from its osc_object and free its row."""
    extent = cache.osc_extents[extent_id]
    if extent.state == DIRTY:
        cache.osc_objects[extent.osc_object_id].full -= fills_rpc(cache, extent_id)
    _unlink(cache, extent_id)
    give(cache.spare_osc_extents, extent_id)


@njit
def fills_rpc(cache: PageCache, extent_id: int) -> int:
    """Return 1 if an extent's bytes make a whole RPC, else 0."""
    return 1 if cache.osc_extents[extent_id].bytes >= cache.rpc_size else 0


@outlined
def dirty_extent(cache: PageCache, osc_object_id: int, offset: int) -> int:
    """Return the dirty extent of an osc_object at an offset, one at most; or -1."""
    place = offset // cache.rpc_size * cache.rpc_size
    extent_id = _last_extent(cache, osc_object_id, place)
    while extent_id >= 0 and cache.osc_extents[extent_id].place == place:
        if cache.osc_extents[extent_id].state == DIRTY:
            return extent_id
        is_first = cache.osc_objects[osc_object_id].extents == extent_id
        extent_id = -1 if is_first else cache.osc_extents[extent_id].previous
    return -1


@outlined
def dirty_from(cache: PageCache, extent_id: int) -> int:
    """Return the first dirty extent of an osc_object from an extent on, or -1."""
    while extent_id >= 0 and cache.osc_extents[extent_id].state != DIRTY:
        extent_id = cache.osc_extents[extent_id].next
    return extent_id


@outlined
def first_dirty(cache: PageCache, osc_object_id: int) -> int:
    """Return the first dirty extent of an osc_object, or -1."""
    osc_object = cache.osc_objects[osc_object_id]
    osc_object.dirty_extent = dirty_from(cache, osc_object.dirty_extent)
    return osc_object.dirty_extent


@outlined
def first_extent(cache: PageCache, osc_object_id: int, offset: int) -> int:
    """Return an extent of an osc_object before which none has bytes from an offset on, or -1.

    It may itself end before the offset.
    """
    # Reads of a local disk may begin before the place of an RPC and end in it, but not overlap: the
    # last one before that place is the only one.
    place = offset // cache.rpc_size * cache.rpc_size
    extent_id = _last_extent(cache, osc_object_id, place - 1)
    return extent_id if extent_id >= 0 else cache.osc_objects[osc_object_id].extents


@outlined
def _last_extent(cache: PageCache, osc_object_id: int, place: int) -> int:
    """Return the last extent of an osc_object that stands no further than at a place, or -1."""
    osc_object = cache.osc_objects[osc_object_id]
    # Who writes in order is where it was, or one further.
    at = osc_object.extent
    if at < 0:
        return -1
    if cache.osc_extents[at].place > place or not _is_last(cache, at, place):
        at = last_not_after(cache.milestones, osc_object_id, place)
        if at < 0:
            at = osc_object.extents
            if cache.osc_extents[at].place > place:
                return -1
        while not _is_last(cache, at, place):
            at = cache.osc_extents[at].next
        osc_object.extent = at
    return at


@njit
def _is_last(cache: PageCache, extent_id: int, place: int) -> bool:
    """Tell whether the next extent, if there is one, stands beyond ``place``."""
    after = cache.osc_extents[extent_id].next
    return after < 0 or cache.osc_extents[after].place > place


@outlined
def _link(cache: PageCache, extent_id: int, previous: int) -> None:
    """Enter an extent into its osc_object behind another one, or as the first for -1."""
    extent = cache.osc_extents[extent_id]
    osc_object = cache.osc_objects[extent.osc_object_id]
    extent.previous = previous
    if previous < 0:
        extent.next = osc_object.extents
        osc_object.extents = extent_id
    else:
        extent.next = cache.osc_extents[previous].next
        cache.osc_extents[previous].next = extent_id
    if extent.next >= 0:
        cache.osc_extents[extent.next].previous = extent_id
    osc_object.extent = extent_id
    extent.milestone = 0
    if extent_id % _EACH == 0:
        before = last_not_after(cache.milestones, extent.osc_object_id, extent.place)
        if before < 0 or cache.osc_extents[before].place < extent.place:  # one at a place is enough
            insert(cache.milestones, extent.osc_object_id, extent_id, extent.place)
            extent.milestone = 1


@outlined
def _unlink(cache: PageCache, extent_id: int) -> None:
    """Take an extent out of its osc_object.

    What the first extent of an osc_object says of the one before it means nothing.
    """
    extent = cache.osc_extents[extent_id]
    osc_object = cache.osc_objects[extent.osc_object_id]
    is_first = osc_object.extents == extent_id
    if is_first:
        osc_object.extents = extent.next
    else:
        cache.osc_extents[extent.previous].next = extent.next
        if extent.next >= 0:
            cache.osc_extents[extent.next].previous = extent.previous
    if osc_object.extent == extent_id:
        osc_object.extent = extent.next if is_first else extent.previous
    if osc_object.dirty_extent == extent_id:
        osc_object.dirty_extent = extent.next
    if extent.milestone:
        remove(cache.milestones, extent.osc_object_id, extent_id)


@outlined
def _note_dirty(cache: PageCache, extent_id: int) -> None:
    """Keep the first dirty extent of an osc_object up to date: another one has become dirty."""
    extent = cache.osc_extents[extent_id]
    osc_object = cache.osc_objects[extent.osc_object_id]
    first = osc_object.dirty_extent
    is_first = first < 0 or first == extent.next
    if not is_first and extent.next >= 0:  # else it is behind all others
        is_first = cache.osc_extents[first].place > extent.place
    if is_first:
        osc_object.dirty_extent = extent_id


@outlined
def grow_extent(cache: PageCache, extent_id: int, offset: int, size: int) -> int:
    """Make bytes of a dirty extent dirty; return how many were not so before.

    An extent remembers the hull of its dirty bytes and how many pieces they lie in: enough to know
    which writes fill whole stripes of the RAID.
    """
    extent = cache.osc_extents[extent_id]
    stop = offset + size
    if extent.pieces == 1 and offset <= extent.high and stop >= extent.low:
        added = max(extent.low - offset, 0) + max(stop - extent.high, 0)
    else:
        added = min(size, cache.rpc_size - extent.bytes)
        extent.pieces += 1
    extent.low = min(extent.low, offset)
    extent.high = max(extent.high, stop)
    before = fills_rpc(cache, extent_id)
    extent.bytes += added
    cache.osc_objects[extent.osc_object_id].full += fills_rpc(cache, extent_id) - before
    if extent.bytes == extent.high - extent.low:
        extent.pieces = 1
    return added


@outlined
def extent_end(cache: PageCache, offset: int) -> int:
    """Return where the extent of an offset ends, and the next one begins."""
    return (offset // cache.rpc_size + 1) * cache.rpc_size


@outlined
def piece_of(cache: PageCache, offset: int, left: int) -> int:
    """Return how many of ``left`` bytes from an offset lie in its extent and move together."""
    return min(left, extent_end(cache, offset) - offset)
