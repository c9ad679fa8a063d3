"""Windows: parts of an object on their way between the page cache of a node and the disk.

A window has the size and alignment of a whole BRW RPC, because no RPC crosses such a boundary
(Lustre 2.7 osc_cache.c: an osc_extent neither). It lives from the first dirty byte, or from the
read request, until its RPC is done. Those of a view are listed in the order of the object.
"""

from __future__ import annotations

from sim.engine.jit import outlined
from sim.engine.pool import give, take
from sim.node.page_cache import PageCache

# States of a window: what its bytes wait for, and what follows. From the last two it is dropped.
DIRTY = 0  # a write RPC with room for them -> WRITING
WRITING = 1  # the reply to it
READING = 2  # what a read brings

CALM = 0  # goes when an RPC is full
URGENT = 1  # goes soon: someone syncs
PRESSING = 2  # goes first: someone waits for the lock (a high-priority RPC)


@outlined
def add_window(cache: PageCache, view_id: int, offset: int, size: int, state: int) -> int:
    """Add a window to a view, with ``size`` bytes from ``offset``; return it."""
    window_id = take(cache.spare_windows)
    window = cache.windows[window_id]
    window.index = offset // cache.rpc_size
    window.low = offset
    window.high = offset + size
    window.bytes = size
    window.pieces = 1
    window.state = state
    window.urgency = CALM
    window.view_id = view_id
    window.next_of_rpc = -1
    previous = -1  # one index may have several windows, in different states: the new one is last
    after = cache.views[view_id].windows
    while after >= 0 and cache.windows[after].index <= window.index:
        previous = after
        after = cache.windows[after].next
    window.next = after
    if previous < 0:
        cache.views[view_id].windows = window_id
    else:
        cache.windows[previous].next = window_id
    return window_id


@outlined
def drop_window(cache: PageCache, window_id: int) -> None:
    """Remove a window from its view and free its row."""
    window = cache.windows[window_id]
    view = cache.views[window.view_id]
    if view.windows == window_id:
        view.windows = window.next
    else:
        previous = view.windows
        while cache.windows[previous].next != window_id:
            previous = cache.windows[previous].next
        cache.windows[previous].next = window.next
    give(cache.spare_windows, window_id)


@outlined
def find_window(cache: PageCache, view_id: int, index: int, state: int) -> int:
    """Return the window of a view at an index in a state; -1 if there is none."""
    window_id = cache.views[view_id].windows
    while window_id >= 0 and cache.windows[window_id].index <= index:
        window = cache.windows[window_id]
        if window.index == index and window.state == state:
            return window_id
        window_id = window.next
    return -1


@outlined
def grow_window(cache: PageCache, window_id: int, offset: int, size: int) -> int:
    """Make bytes of a dirty window dirty; return how many were not so before.

    A window remembers the hull of its dirty bytes and how many pieces they lie in: enough to know
    which writes fill whole stripes of the RAID.
    """
    window = cache.windows[window_id]
    stop = offset + size
    if window.pieces == 1 and offset <= window.high and stop >= window.low:
        added = max(window.low - offset, 0) + max(stop - window.high, 0)
    else:
        added = min(size, cache.rpc_size - window.bytes)
        window.pieces += 1
    window.low = min(window.low, offset)
    window.high = max(window.high, stop)
    window.bytes += added
    if window.bytes == window.high - window.low:
        window.pieces = 1
    return added
