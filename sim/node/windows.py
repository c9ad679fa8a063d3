"""Windows: parts of an object on their way between the page cache of a node and the disk.

A window has the size and alignment of a whole BRW RPC, because no RPC crosses such a boundary
(Lustre 2.7 osc_cache.c: an osc_extent neither). It lives from the first dirty byte, or from the
read request, until its RPC is done. Those of a view are linked in the order of the object. Who
seeks one begins where the last one was sought, or else at a *milestone*: one window in eight is
also in a list that is searched in logarithmic time.
"""

from __future__ import annotations

from sim.engine.compiled import njit, outlined
from sim.engine.ordered import insert, last_not_after, remove
from sim.engine.page import PAGE
from sim.engine.pool import give, take
from sim.node.page_cache import PageCache

# States of a window: what its bytes wait for, and what follows. From the last two it is dropped.
DIRTY = 0  # a write RPC with room for them -> WRITING
WRITING = 1  # the reply to it
READING = 2  # what a read brings

_EACH = 8  # one row in so many may be a milestone

CALM = 0  # goes when an RPC is full
URGENT = 1  # goes soon: someone syncs
PRESSING = 2  # goes first: someone waits for the lock (a high-priority RPC)


@outlined
def add_window(cache: PageCache, view_id: int, offset: int, size: int, state: int) -> int:
    """Add a window to a view, with ``size`` bytes from ``offset``; return it."""
    window_id = take(cache.spare_windows)
    window = cache.windows[window_id]
    # Reads of parts of an RPC begin at different pages; of what is written there the RPC is one.
    unit = PAGE if state == READING else cache.rpc_size
    window.place = offset // unit * unit
    window.low = offset
    window.high = offset + size
    window.bytes = size
    window.pieces = 1
    window.view_id = view_id
    window.next_of_rpc = -1
    window.state = state
    window.urgency = CALM
    # Behind others at its place, which are in other states, or bring other pages.
    _link(cache, window_id, _last_window(cache, view_id, window.place))
    if state == DIRTY:
        _note_dirty(cache, window_id)
    return window_id


@outlined
def write_window(cache: PageCache, window_id: int) -> None:
    """Take a dirty window into a write RPC: what gets dirty there from now on is another one."""
    window = cache.windows[window_id]
    window.state = WRITING
    view = cache.views[window.view_id]
    if view.dirty_window == window_id:
        view.dirty_window = window.next  # none before it is dirty, whatever it is itself


@outlined
def drop_window(cache: PageCache, window_id: int) -> None:
    """Remove a window from its view and free its row."""
    _unlink(cache, window_id)
    give(cache.spare_windows, window_id)


@outlined
def dirty_window(cache: PageCache, view_id: int, offset: int) -> int:
    """Return the dirty window of a view at an offset, of which there is one at most; or -1."""
    place = offset // cache.rpc_size * cache.rpc_size
    window_id = _last_window(cache, view_id, place)
    while window_id >= 0 and cache.windows[window_id].place == place:
        if cache.windows[window_id].state == DIRTY:
            return window_id
        is_first = cache.views[view_id].windows == window_id
        window_id = -1 if is_first else cache.windows[window_id].previous
    return -1


@outlined
def dirty_from(cache: PageCache, window_id: int) -> int:
    """Return the first dirty window of a view from a window on, or -1."""
    while window_id >= 0 and cache.windows[window_id].state != DIRTY:
        window_id = cache.windows[window_id].next
    return window_id


@outlined
def first_dirty(cache: PageCache, view_id: int) -> int:
    """Return the first dirty window of a view, or -1."""
    view = cache.views[view_id]
    view.dirty_window = dirty_from(cache, view.dirty_window)
    return view.dirty_window


@outlined
def first_window(cache: PageCache, view_id: int, offset: int) -> int:
    """Return a window of a view before which none has bytes from an offset on, or -1.

    It may itself end before the offset.
    """
    # Reads of a local disk may begin before the place of an RPC and end in it, but not overlap: the
    # last one before that place is the only one.
    place = offset // cache.rpc_size * cache.rpc_size
    window_id = _last_window(cache, view_id, place - 1)
    return window_id if window_id >= 0 else cache.views[view_id].windows


@outlined
def _last_window(cache: PageCache, view_id: int, place: int) -> int:
    """Return the last window of a view that stands no further than at a place, or -1."""
    view = cache.views[view_id]
    # Who writes in order is where it was, or one further.
    at = view.window
    if at < 0:
        return -1
    if cache.windows[at].place > place or not _is_last(cache, at, place):
        at = last_not_after(cache.milestones, view_id, place)
        if at < 0:
            at = view.windows
            if cache.windows[at].place > place:
                return -1
        while not _is_last(cache, at, place):
            at = cache.windows[at].next
        view.window = at
    return at


@njit
def _is_last(cache: PageCache, window_id: int, place: int) -> bool:
    """Tell whether a window has none behind it that stands no further than at a place."""
    after = cache.windows[window_id].next
    return after < 0 or cache.windows[after].place > place


@outlined
def _link(cache: PageCache, window_id: int, previous: int) -> None:
    """Enter a window into its view behind another one, or as the first for -1."""
    window = cache.windows[window_id]
    view = cache.views[window.view_id]
    window.previous = previous
    if previous < 0:
        window.next = view.windows
        view.windows = window_id
    else:
        window.next = cache.windows[previous].next
        cache.windows[previous].next = window_id
    if window.next >= 0:
        cache.windows[window.next].previous = window_id
    view.window = window_id
    window.milestone = 0
    if window_id % _EACH == 0:
        before = last_not_after(cache.milestones, window.view_id, window.place)
        if before < 0 or cache.windows[before].place < window.place:  # one at a place is enough
            insert(cache.milestones, window.view_id, window_id, window.place)
            window.milestone = 1


@outlined
def _unlink(cache: PageCache, window_id: int) -> None:
    """Take a window out of its view.

    What the first window of a view says of the one before it means nothing.
    """
    window = cache.windows[window_id]
    view = cache.views[window.view_id]
    is_first = view.windows == window_id
    if is_first:
        view.windows = window.next
    else:
        cache.windows[window.previous].next = window.next
        if window.next >= 0:
            cache.windows[window.next].previous = window.previous
    if view.window == window_id:
        view.window = window.next if is_first else window.previous
    if view.dirty_window == window_id:
        view.dirty_window = window.next
    if window.milestone:
        remove(cache.milestones, window.view_id, window_id)


@outlined
def _note_dirty(cache: PageCache, window_id: int) -> None:
    """See to it that a view knows its first dirty window when another one has become dirty."""
    window = cache.windows[window_id]
    view = cache.views[window.view_id]
    first = view.dirty_window
    is_first = first < 0 or first == window.next
    if not is_first and window.next >= 0:  # else it is behind all others
        is_first = cache.windows[first].place > window.place
    if is_first:
        view.dirty_window = window_id


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
