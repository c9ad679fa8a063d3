"""Windows: parts of an object on their way between the page cache of a node and the disk.

A window has the size and alignment of a whole BRW RPC, because no RPC crosses such a boundary
(Lustre 2.7 osc_cache.c: an osc_extent neither). It lives from the first dirty byte, or from the
read request, until its RPC is done. A view has a list of those in each state, in the order of the
object, in which any place is found in logarithmic time.
"""

from __future__ import annotations

from sim.engine.jit import njit, outlined
from sim.engine.ordered import following, insert, last_not_after, remove
from sim.engine.page import PAGE
from sim.engine.pool import give, take
from sim.node.page_cache import WINDOW_STATES, PageCache

# States of a window: what its bytes wait for, and what follows. From the last two it is dropped.
DIRTY = 0  # a write RPC with room for them -> WRITING
WRITING = 1  # the reply to it
READING = 2  # what a read brings

CALM = 0  # goes when an RPC is full
URGENT = 1  # goes soon: someone syncs
PRESSING = 2  # goes first: someone waits for the lock (a high-priority RPC)


@njit
def _list_of(view_id: int, state: int) -> int:
    """Return the list of a view's windows in a state."""
    return int(view_id) * WINDOW_STATES + state


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
    window.urgency = CALM
    window.view_id = view_id
    window.next_of_rpc = -1
    _list_window(cache, window_id, state)
    return window_id


@outlined
def write_window(cache: PageCache, window_id: int) -> None:
    """Take a dirty window into a write RPC: what gets dirty there from now on is another one."""
    _unlist_window(cache, window_id)
    _list_window(cache, window_id, WRITING)


@outlined
def drop_window(cache: PageCache, window_id: int) -> None:
    """Remove a window from its view and free its row."""
    _unlist_window(cache, window_id)
    give(cache.spare_windows, window_id)


@outlined
def _list_window(cache: PageCache, window_id: int, state: int) -> None:
    """Enter a window into its view's list of those in a state, behind others at the same place."""
    window = cache.windows[window_id]
    window.state = state
    list_id = _list_of(window.view_id, state)
    # Reads of parts of one window begin at different pages; of those written it is the whole.
    unit = PAGE if state == READING else cache.rpc_size
    key = window.low // unit * unit
    if state != DIRTY:  # of the others there may be several
        last = last_not_after(cache.window_order, list_id, key + unit - 1)
        if last >= 0:
            key = max(key, cache.window_order.keys[last] + 1)
    insert(cache.window_order, list_id, window_id, key)


@outlined
def _unlist_window(cache: PageCache, window_id: int) -> None:
    """Take a window out of the list that it is in."""
    window = cache.windows[window_id]
    remove(cache.window_order, _list_of(window.view_id, window.state), window_id)


@outlined
def dirty_window(cache: PageCache, view_id: int, offset: int) -> int:
    """Return the dirty window of a view at an offset, of which there is one at most; or -1."""
    window_id = last_not_after(cache.window_order, _list_of(view_id, DIRTY), offset)
    if window_id >= 0 and cache.windows[window_id].index == offset // cache.rpc_size:
        return window_id
    return -1


@outlined
def first_window(cache: PageCache, view_id: int, state: int, offset: int) -> int:
    """Return a window in a state before which none of that state has bytes from an offset on.

    It may itself end before the offset. -1 if there is none in that state.
    """
    list_id = _list_of(view_id, state)
    # Reads of a local disk may begin before the place of an RPC and end in it, but not overlap: the
    # last one before that place is the only one.
    place = offset // cache.rpc_size * cache.rpc_size
    window_id = last_not_after(cache.window_order, list_id, place - 1)
    return window_id if window_id >= 0 else following(cache.window_order, list_id, -1)


@outlined
def window_after(cache: PageCache, window_id: int) -> int:
    """Return the window that follows another among those of its view in its state, or -1."""
    window = cache.windows[window_id]
    return following(cache.window_order, _list_of(window.view_id, window.state), window_id)


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
