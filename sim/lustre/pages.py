"""The page cache of a client node, seen object by object.

A *view* is what one client node knows of one object: the locks it holds there and the pages it
caches. Cached pages are kept as runs of bytes. Dirty pages wait in *windows*, parts of the object
of the size and alignment of an RPC, because no RPC crosses such a boundary (Lustre 2.7
osc_cache.c: an osc_extent neither); a window lives from the first dirty byte, or from the read
request, until its RPC is done.

Pages leave the cache when the lock that covers them is cancelled, or, clean ones, when the node
caches more than it may (``max_cached_mb``): then all clean pages of the object that has been in
the cache longest go at once, where Lustre takes them page by page in the order of their last use.

All pages of a file that a node caches are in one tree, whatever their objects, and its lock is what
the ranks of a node wait for that use one file: :func:`queue_at_tree`.
"""

from __future__ import annotations

from typing import Any

from sim.engine.calendar import schedule
from sim.engine.hashmap import find, pair_key, put
from sim.engine.jit import njit
from sim.engine.ordered import following, insert, last_not_after, remove
from sim.engine.page import PAGE
from sim.engine.pool import give, take
from sim.engine.queue import clear, join, leave
from sim.lustre.events import LOCK_EVENT
from sim.lustre.tables import Lustre, Stat

DIRTY = 0
WRITING = 1
READING = 2

CALM = 0  # goes when an RPC is full
URGENT = 1  # goes soon: someone syncs
PRESSING = 2  # goes first: someone waits for the lock (a high-priority RPC)

DIRTY_RUNS = 1
TAKEN_RUNS = 2
"""A file on a local SSD has three objects: the first holds its cached pages, and those so many
after it what is dirty, and what takes room on the device."""

WRITE_TURNS = 4
READ_TURNS = 1
DROP_TURNS = 1
"""How often a page takes the lock of the tree of its file's cached pages (tree_lock, Linux 3, 4).

One that is written: as it enters the tree, and as its tags change when it gets dirty, when its
write-back begins and when that is done (mm/filemap.c, mm/page-writeback.c). One that is read: as it
enters (add_to_page_cache_lru). One that is dropped: as it leaves (delete_from_page_cache)."""

_EVICTED = int(Stat.EVICTED_BYTES)


@njit
def view_of(lustre: Lustre, object_id: int, node: int, inode: int) -> int:
    """Return the view that a node has of an object; a new one at the first time."""
    key = pair_key(object_id, node)
    view_id = find(lustre.views_by_pair, key)
    if view_id >= 0:
        return view_id
    view_id = take(lustre.spare_views)
    put(lustre.views_by_pair, key, view_id)
    view = lustre.views[view_id]
    view.outstanding = 0
    view.unsent = 0
    view.node = node
    view.object = object_id
    view.inode = inode
    view.shared_locks = -1
    view.flushing = -1
    view.windows = -1
    view.readers = -1
    view.urgent = 0
    view.pressing = 0
    view.listed = 0
    view.next = -1
    view.cached_listed = 0
    view.sibling = lustre.objects[object_id].views
    lustre.objects[object_id].views = view_id
    return view_id


@njit
def list_view(lustre: Lustre, queue: Any, view_id: int) -> None:
    """Put a view at the end of a queue of those with dirty pages, unless it is in it."""
    view = lustre.views[view_id]
    if view.listed == 0:
        view.listed = 1
        join(queue, lustre.views, view_id)


@njit
def unlist_view(lustre: Lustre, queue: Any, view_id: int, previous: int) -> None:
    """Take a view out of such a queue; ``previous`` is the one before it, or -1."""
    lustre.views[view_id].listed = 0
    leave(queue, lustre.views, view_id, previous)


@njit
def wait_for_pages(lustre: Lustre, program_id: int, missing: int, now: float) -> None:
    """Let a program wait until so many bytes of its piece are in the cache of its view."""
    program = lustre.programs[program_id]
    view = lustre.views[program.view_id]
    program.pending = missing
    program.since = now
    program.next = view.readers
    view.readers = program_id


@njit
def served_readers(lustre: Lustre, view_id: int, low: int, high: int) -> int:
    """Note that bytes of a view have come; return the first program that has all it wants.

    Such programs are no longer among those that wait; each knows the next.
    """
    view = lustre.views[view_id]
    served = last = previous = -1
    program_id = view.readers
    while program_id >= 0:
        program = lustre.programs[program_id]
        after = program.next
        stop = program.offset + program.left
        program.pending -= max(min(stop, high) - max(program.offset, low), 0)
        if program.pending > 0:
            previous = program_id
        else:
            if previous < 0:
                view.readers = after
            else:
                lustre.programs[previous].next = after
            if last < 0:
                served = program_id
            else:
                lustre.programs[last].next = program_id
            program.next = -1
            last = program_id
        program_id = after
    return served


@njit
def find_view(lustre: Lustre, object_id: int, node: int) -> int:
    """Return the view that a node has of an object; -1 if it has none."""
    return find(lustre.views_by_pair, pair_key(object_id, node))


@njit
def inode_of(lustre: Lustre, file: int, node: int) -> int:
    """Return the inode of a file on a node; a new one at the first time."""
    key = pair_key(file, node)
    inode_id = find(lustre.inodes_by_pair, key)
    if inode_id >= 0:
        return inode_id
    inode_id = take(lustre.spare_inodes)
    put(lustre.inodes_by_pair, key, inode_id)
    inode = lustre.inodes[inode_id]
    inode.outstanding = 0
    inode.tree_free = 0.0
    inode.tree_users = 0
    inode.flush_head = -1
    inode.mutex.taken = 0
    clear(inode.mutex.waiting)
    inode.writers = -1
    clear(inode.range_waiters)
    return inode_id


@njit
def add_window(lustre: Lustre, view_id: int, offset: int, size: int, state: int) -> int:
    """Put a new window with ``size`` bytes from ``offset`` among those of a view."""
    window_id = take(lustre.spare_windows)
    window = lustre.windows[window_id]
    window.index = offset // lustre.limits.rpc_size
    window.low = offset
    window.high = offset + size
    window.bytes = size
    window.pieces = 1
    window.state = state
    window.urgency = CALM
    window.view_id = view_id
    window.next_of_rpc = -1
    previous = -1
    after = lustre.views[view_id].windows
    while after >= 0 and lustre.windows[after].index <= window.index:
        previous = after
        after = lustre.windows[after].next
    window.next = after
    if previous < 0:
        lustre.views[view_id].windows = window_id
    else:
        lustre.windows[previous].next = window_id
    if state == READING:
        _keep_from_cancel(lustre, view_id, offset, offset + size)
    return window_id


@njit
def _keep_from_cancel(lustre: Lustre, view_id: int, low: int, high: int) -> None:
    """Let read locks that are to be cancelled wait for bytes that are read below another lock."""
    lock_id = lustre.views[view_id].flushing
    while lock_id >= 0:
        lock = lustre.locks.locks[lock_id]
        if lock.start < high and lock.end >= low and lock.flush_left > 0:
            lock.flush_left += 1
        lock_id = lock.sibling


@njit
def drop_window(lustre: Lustre, window_id: int) -> None:
    """Take a window out of its view, and give its row back."""
    window = lustre.windows[window_id]
    view = lustre.views[window.view_id]
    if view.windows == window_id:
        view.windows = window.next
    else:
        previous = view.windows
        while lustre.windows[previous].next != window_id:
            previous = lustre.windows[previous].next
        lustre.windows[previous].next = window.next
    give(lustre.spare_windows, window_id)


@njit
def find_window(lustre: Lustre, view_id: int, index: int, state: int) -> int:
    """Return the window of a view at an index in a state; -1 if there is none."""
    window_id = lustre.views[view_id].windows
    while window_id >= 0 and lustre.windows[window_id].index <= index:
        window = lustre.windows[window_id]
        if window.index == index and window.state == state:
            return window_id
        window_id = window.next
    return -1


@njit
def grow_window(lustre: Lustre, window_id: int, offset: int, size: int) -> int:
    """Make bytes of a dirty window dirty; return how many were not so before.

    A window remembers the hull of its dirty bytes and how many pieces they lie in: enough to know
    which writes fill whole stripes of the RAID.
    """
    window = lustre.windows[window_id]
    stop = offset + size
    if window.pieces == 1 and offset <= window.high and stop >= window.low:
        added = max(window.low - offset, 0) + max(stop - window.high, 0)
    else:
        added = min(size, lustre.limits.rpc_size - window.bytes)
        window.pieces += 1
    window.low = min(window.low, offset)
    window.high = max(window.high, stop)
    window.bytes += added
    if window.bytes == window.high - window.low:
        window.pieces = 1
    return added


@njit
def window_done(lustre: Lustre, view_id: int, low: int, high: int, now: float) -> None:
    """Let locks that are to be cancelled know that bytes below them are no longer on their way."""
    lock_id = lustre.views[view_id].flushing
    while lock_id >= 0:
        lock = lustre.locks.locks[lock_id]
        if lock.start < high and lock.end >= low:
            lock.flush_left -= 1
            if lock.flush_left == 0:
                schedule(lustre.network.calendar, now, LOCK_EVENT, lock_id)
        lock_id = lock.sibling


@njit
def not_cached(lustre: Lustre, view_id: int, start: int, stop: int) -> tuple[int, int]:
    """Return what is left of some bytes of an object without the cached ones at both ends."""
    run_id = last_not_after(lustre.cached, view_id, start)
    if run_id >= 0:
        start = max(start, min(lustre.runs[run_id].stop, stop))
    run_id = last_not_after(lustre.cached, view_id, stop - 1)
    if run_id >= 0 and lustre.runs[run_id].stop >= stop:
        stop = max(start, lustre.runs[run_id].start)
    return start, stop


@njit
def add_cached(lustre: Lustre, view_id: int, start: int, stop: int) -> None:
    """Put bytes of an object into the cache; runs that touch become one."""
    added = join_runs(lustre, view_id, start, stop)
    if added > 0:
        _count_cached(lustre, view_id, added)


@njit
def join_runs(lustre: Lustre, view_id: int, start: int, stop: int) -> int:
    """Add bytes to the runs of a view; those that touch become one. Returns how many were new."""
    added = stop - start
    before = last_not_after(lustre.cached, view_id, start)
    if before >= 0 and lustre.runs[before].stop >= start:
        if lustre.runs[before].stop >= stop:
            return 0
        added -= lustre.runs[before].stop - start
        run_id = before
        lustre.runs[run_id].stop = stop
    else:
        run_id = take(lustre.spare_runs)
        lustre.runs[run_id].start = start
        lustre.runs[run_id].stop = stop
        insert(lustre.cached, view_id, run_id, start)
    after = following(lustre.cached, view_id, run_id)
    while after >= 0 and lustre.runs[after].start <= stop:
        run = lustre.runs[after]
        added -= min(run.stop, stop) - run.start
        if run.stop > lustre.runs[run_id].stop:
            lustre.runs[run_id].stop = run.stop
        remove(lustre.cached, view_id, after)
        give(lustre.spare_runs, after)
        after = following(lustre.cached, view_id, run_id)
    return added


@njit
def drop_cached(lustre: Lustre, view_id: int, start: int, stop: int) -> int:
    """Take bytes of an object out of the cache; return how many were in it."""
    dropped = cut_runs(lustre, view_id, start, stop)
    lustre.nodes[lustre.views[view_id].node].cached -= dropped
    return dropped


@njit
def cut_runs(lustre: Lustre, view_id: int, start: int, stop: int) -> int:
    """Take bytes out of the runs of a view; return how many were in them."""
    if stop <= start:
        return 0
    dropped = 0
    run_id = last_not_after(lustre.cached, view_id, start)
    if run_id < 0 or lustre.runs[run_id].stop <= start:
        run_id = following(lustre.cached, view_id, run_id)
    while run_id >= 0 and lustre.runs[run_id].start < stop:
        after = following(lustre.cached, view_id, run_id)
        first, last = lustre.runs[run_id].start, lustre.runs[run_id].stop
        dropped += min(last, stop) - max(first, start)
        remove(lustre.cached, view_id, run_id)
        give(lustre.spare_runs, run_id)
        if first < start:
            _add_run(lustre, view_id, first, start)
        if last > stop:
            _add_run(lustre, view_id, stop, last)
        run_id = after
    return dropped


@njit
def queue_at_tree(lustre: Lustre, inode_id: int, size: int, turns: int, now: float) -> float:
    """Queue pages for the lock of their file's tree, so many turns each; return when all are over.

    The core must be among the inode's ``tree_users``, and stay until then. The lock is a ticket
    spinlock. Whenever it is released, every other core that waits for it fetches the line of memory
    that it is in, one after another, and delays the hand-over (Boyd-Wickizer et al., Non-scalable
    locks are dangerous, 2012). It is taken anew for each turn: who needs few of them waits for no
    more than as many of each of the others.
    """
    inode = lustre.inodes[inode_id]
    service = lustre.limits.tree_page + (inode.tree_users - 1) * lustre.limits.tree_handover
    work = size / PAGE * service * (turns / WRITE_TURNS)
    inode.tree_free = max(inode.tree_free, now) + work
    return min(inode.tree_free, now + inode.tree_users * work)


@njit
def bytes_outside(lustre: Lustre, view_id: int, start: int, stop: int) -> int:
    """Return how many bytes between two offsets are in no run of a view."""
    outside = stop - start
    run_id = last_not_after(lustre.cached, view_id, start)
    if run_id < 0:
        run_id = following(lustre.cached, view_id, run_id)
    while run_id >= 0 and lustre.runs[run_id].start < stop:
        run = lustre.runs[run_id]
        outside -= max(min(run.stop, stop) - max(run.start, start), 0)
        run_id = following(lustre.cached, view_id, run_id)
    return outside


@njit
def _add_run(lustre: Lustre, view_id: int, start: int, stop: int) -> None:
    """Add a run that touches no other."""
    run_id = take(lustre.spare_runs)
    lustre.runs[run_id].start = start
    lustre.runs[run_id].stop = stop
    insert(lustre.cached, view_id, run_id, start)


@njit
def _count_cached(lustre: Lustre, view_id: int, added: int) -> None:
    """Count bytes that came into a node's cache; make room if they are too many."""
    view = lustre.views[view_id]
    node = lustre.nodes[view.node]
    node.cached += added
    if view.cached_listed == 0:
        _list_cached(lustre, view_id)
    if node.cached > lustre.limits.max_node_cache:
        _evict(lustre, view.node)


@njit
def _evict(lustre: Lustre, node_id: int) -> None:
    """Drop clean pages, those of the view cached longest first, until few enough are left."""
    node = lustre.nodes[node_id]
    first_kept = -1
    while node.cached > lustre.limits.max_node_cache and node.evict_head != first_kept:
        view_id = node.evict_head
        view = lustre.views[view_id]
        node.evict_head = view.cached_next
        lustre.stats[_EVICTED] += _drop_clean(lustre, view_id)
        view.cached_listed = 0
        if view.outstanding > 0:  # some of its pages are dirty: its turn comes again
            _list_cached(lustre, view_id)
            first_kept = view_id if first_kept < 0 else first_kept


@njit
def _drop_clean(lustre: Lustre, view_id: int) -> int:
    """Drop the pages of a view that are not on their way to disk; return their bytes.

    The dirty pages of a file on a local SSD are the runs of another view (see ``local``).
    """
    dropped = 0
    start = 0
    view = lustre.views[view_id]
    if lustre.objects[view.object].ost < 0:
        dirty = find_view(lustre, view.object + DIRTY_RUNS, view.node)
        run_id = following(lustre.cached, dirty, -1)
        while run_id >= 0:
            first = lustre.runs[run_id].start // PAGE * PAGE
            dropped += drop_cached(lustre, view_id, start, first)
            start = max(start, -(-lustre.runs[run_id].stop // PAGE) * PAGE)
            run_id = following(lustre.cached, dirty, run_id)
    window_id = view.windows
    while window_id >= 0:
        window = lustre.windows[window_id]
        if window.state != READING:
            dropped += drop_cached(lustre, view_id, start, window.low // PAGE * PAGE)
            start = max(start, -(-window.high // PAGE) * PAGE)
        window_id = window.next
    return dropped + drop_cached(lustre, view_id, start, 1 << 62)


@njit
def _list_cached(lustre: Lustre, view_id: int) -> None:
    """Put a view at the end of its node's order of eviction."""
    view = lustre.views[view_id]
    node = lustre.nodes[view.node]
    view.cached_listed = 1
    view.cached_next = -1
    if node.evict_head < 0:
        node.evict_head = view_id
    else:
        lustre.views[node.evict_tail].cached_next = view_id
    node.evict_tail = view_id
