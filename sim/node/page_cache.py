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

import numpy as np

from sim.engine.component import Component, Demands
from sim.engine.hashmap import HashMap, enlarge_map, find, make_map, pair_key, put
from sim.engine.jit import outlined
from sim.engine.network import Network
from sim.engine.ordered import (
    Ordered,
    enlarge_ordered,
    following,
    insert,
    last_not_after,
    make_ordered,
    remove,
)
from sim.engine.page import PAGE
from sim.engine.pool import EVENTS_A_LOOK, Pool, give, make_pool, take
from sim.engine.queue import QUEUE, TURN, clear, join, leave
from sim.engine.types import Table, make_table
from sim.plane.counters import Stat
from sim.plane.files import Files
from sim.plane.programs import Programs
from sim.plane.site import Site

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


INODE = np.dtype(  # a file as one client node has it open
    [
        ("outstanding", "i8"),  # bytes dirty or being written back
        ("tree_free", "f8"),  # when its tree of cached pages takes the next page
        ("tree_users", "i4"),  # cores that wait for it
        ("flush_head", "i4"),  # programs that wait for its write-back
        ("mutex", TURN),  # of one program at a time
        ("writers", "i4"),  # programs with a write under way
        ("range_waiters", QUEUE),  # programs that wait for a range of bytes
    ],
    align=True,
)

VIEW = np.dtype(  # an object as one client node sees it: its locks and pages
    [
        ("outstanding", "i8"),  # bytes dirty or being written back
        ("unsent", "i8"),  # bytes dirty
        ("node", "i4"),
        ("object", "i4"),
        ("inode", "i4"),
        ("shared_locks", "i4"),  # its first PR or GROUP lock
        ("flushing", "i4"),  # its first lock that waits for write-back
        ("windows", "i4"),  # its first window, in the order of the object
        ("readers", "i4"),  # programs that wait for pages
        ("urgent", "i4"),  # unsent windows that must go soon
        ("pressing", "i4"),  # unsent windows that someone waits for the lock of
        ("listed", "i4"),  # in the list of its OSC
        ("next", "i4"),  # the next in that list
        ("sibling", "i4"),  # the next view of the object, on another node
        ("cached_next", "i4"),  # the next in the node's order of eviction
        ("cached_listed", "i4"),
    ],
    align=True,
)

WINDOW = np.dtype(  # a part of an object, of the size and alignment of an RPC, on its way
    [
        ("index", "i8"),
        ("low", "i8"),  # hull of the bytes on their way, in the object
        ("high", "i8"),
        ("bytes", "i8"),
        ("pieces", "i4"),
        ("state", "i4"),
        ("urgency", "i4"),
        ("next", "i4"),  # the next of the view
        ("next_of_rpc", "i4"),
        ("view_id", "i4"),
    ],
    align=True,
)

RUN = np.dtype([("start", "i8"), ("stop", "i8")], align=True)  # cached bytes of an object


CACHING_NODE = np.dtype(
    [
        ("cached", "i8"),  # bytes of the node's page cache
        ("evict_head", "i4"),  # views with cached pages, the oldest first
        ("evict_tail", "i4"),
    ],
    align=True,
)


class PageCache(Component):
    """The page caches of all nodes.

    Attributes
    ----------
    nodes
        ``CACHING_NODE`` records.
    views, inodes, windows, runs
        Records of these names; a table of things that come and go has beside it the pool of its
        free rows, named ``spare_...``.
    views_by_pair, inodes_by_pair
        Row of the view of (object, node), and of the inode of (file, node).
    cached
        The cached runs of every view, in the order of the object; their rows are those of ``runs``.
    rpc_size
        Bytes of a window: of a whole BRW RPC.
    max_node_cache
        Bytes that a node caches at most (``max_cached_mb``).
    tree_page, tree_handover
        Seconds of a node to enter a written page into the tree of its file's pages, and besides for
        each core that waits for the lock of the tree.
    """

    network: Network
    files: Files
    programs: Programs
    nodes: Table
    views: Table
    spare_views: Pool
    views_by_pair: HashMap
    inodes: Table
    spare_inodes: Pool
    inodes_by_pair: HashMap
    windows: Table
    spare_windows: Pool
    runs: Table
    spare_runs: Pool
    cached: Ordered
    rpc_size: int
    max_node_cache: int
    tree_page: float
    tree_handover: float

    @classmethod
    def build(cls, site: Site) -> PageCache:
        """Return empty page caches."""
        rows, machine = site.rows, site.machine
        map_size = 1 << (2 * rows - 1).bit_length()
        nodes = make_table(CACHING_NODE, site.nodes)
        nodes.evict_head = -1
        return site.make(
            cls,
            nodes=nodes,
            views=make_table(VIEW, rows),
            spare_views=make_pool(rows),
            views_by_pair=make_map(map_size),
            inodes=make_table(INODE, rows),
            spare_inodes=make_pool(rows),
            inodes_by_pair=make_map(map_size),
            windows=make_table(WINDOW, rows),
            spare_windows=make_pool(rows),
            runs=make_table(RUN, rows),
            spare_runs=make_pool(rows),
            cached=make_ordered(rows, rows),
            rpc_size=machine.lustre.rpc_size,
            max_node_cache=machine.nodes.max_cached,
            tree_page=machine.nodes.tree_page_time,
            tree_handover=machine.nodes.spinlock_handover_time,
        )

    def demands(self) -> Demands:
        """Return what a call takes at most: an inode, three views, a window, and the runs of it.

        Eviction leaves a hole in the cached runs for each window that stays.
        """
        runs = 4 + len(self.windows) // EVENTS_A_LOOK
        views, inodes, windows = self.spare_views, self.spare_inodes, self.spare_windows
        return [(views, 3), (inodes, 1), (windows, 2), (self.spare_runs, runs)]

    def grow(self, name: str, rows: int) -> None:
        """Make one of the tables longer, and what goes by its rows with it."""
        super().grow(name, rows)
        if name in ("views", "runs"):
            self.cached = enlarge_ordered(self.cached, len(self.views), len(self.runs))
        elif name == "inodes":
            self.inodes_by_pair = enlarge_map(self.inodes_by_pair, 2 * rows)
        if name == "views":
            self.views_by_pair = enlarge_map(self.views_by_pair, 2 * rows)


@outlined
def view_of(cache: PageCache, object_id: int, node: int, inode: int) -> int:
    """Return the view that a node has of an object; a new one at the first time."""
    key = pair_key(object_id, node)
    view_id = find(cache.views_by_pair, key)
    if view_id >= 0:
        return view_id
    view_id = take(cache.spare_views)
    put(cache.views_by_pair, key, view_id)
    view = cache.views[view_id]
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
    view.sibling = cache.files.objects[object_id].views
    cache.files.objects[object_id].views = view_id
    return view_id


@outlined
def list_view(cache: PageCache, queue: Any, view_id: int) -> None:
    """Put a view at the end of a queue of those with dirty pages, unless it is in it."""
    view = cache.views[view_id]
    if view.listed == 0:
        view.listed = 1
        join(queue, cache.views, view_id)


@outlined
def unlist_view(cache: PageCache, queue: Any, view_id: int, previous: int) -> None:
    """Take a view out of such a queue; ``previous`` is the one before it, or -1."""
    cache.views[view_id].listed = 0
    leave(queue, cache.views, view_id, previous)


@outlined
def wait_for_pages(cache: PageCache, program_id: int, missing: int, now: float) -> None:
    """Let a program wait until so many bytes of its piece are in the cache of its view."""
    program = cache.programs.rows[program_id]
    view = cache.views[program.view_id]
    program.pending = missing
    program.since = now
    program.next = view.readers
    view.readers = program_id


@outlined
def served_readers(cache: PageCache, view_id: int, low: int, high: int) -> int:
    """Note that bytes of a view have come; return the first program that has all it wants.

    Such programs are no longer among those that wait; each knows the next.
    """
    view = cache.views[view_id]
    served = last = previous = -1
    program_id = view.readers
    while program_id >= 0:
        program = cache.programs.rows[program_id]
        after = program.next
        stop = program.offset + program.left
        program.pending -= max(min(stop, high) - max(program.offset, low), 0)
        if program.pending > 0:
            previous = program_id
        else:
            if previous < 0:
                view.readers = after
            else:
                cache.programs.rows[previous].next = after
            if last < 0:
                served = program_id
            else:
                cache.programs.rows[last].next = program_id
            program.next = -1
            last = program_id
        program_id = after
    return served


@outlined
def find_view(cache: PageCache, object_id: int, node: int) -> int:
    """Return the view that a node has of an object; -1 if it has none."""
    return find(cache.views_by_pair, pair_key(object_id, node))


@outlined
def inode_of(cache: PageCache, file: int, node: int) -> int:
    """Return the inode of a file on a node; a new one at the first time."""
    key = pair_key(file, node)
    inode_id = find(cache.inodes_by_pair, key)
    if inode_id >= 0:
        return inode_id
    inode_id = take(cache.spare_inodes)
    put(cache.inodes_by_pair, key, inode_id)
    inode = cache.inodes[inode_id]
    inode.outstanding = 0
    inode.tree_free = 0.0
    inode.tree_users = 0
    inode.flush_head = -1
    inode.mutex.taken = 0
    clear(inode.mutex.waiting)
    inode.writers = -1
    clear(inode.range_waiters)
    return inode_id


@outlined
def add_window(cache: PageCache, view_id: int, offset: int, size: int, state: int) -> int:
    """Put a new window with ``size`` bytes from ``offset`` among those of a view."""
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
    previous = -1
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
    """Take a window out of its view, and give its row back."""
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


@outlined
def not_cached(cache: PageCache, view_id: int, start: int, stop: int) -> tuple[int, int]:
    """Return what is left of some bytes of an object without the cached ones at both ends."""
    run_id = last_not_after(cache.cached, view_id, start)
    if run_id >= 0:
        start = max(start, min(cache.runs[run_id].stop, stop))
    run_id = last_not_after(cache.cached, view_id, stop - 1)
    if run_id >= 0 and cache.runs[run_id].stop >= stop:
        stop = max(start, cache.runs[run_id].start)
    return start, stop


@outlined
def add_cached(cache: PageCache, view_id: int, start: int, stop: int) -> None:
    """Put bytes of an object into the cache; runs that touch become one."""
    added = join_runs(cache, view_id, start, stop)
    if added > 0:
        _count_cached(cache, view_id, added)


@outlined
def join_runs(cache: PageCache, view_id: int, start: int, stop: int) -> int:
    """Add bytes to the runs of a view; those that touch become one. Returns how many were new."""
    added = stop - start
    before = last_not_after(cache.cached, view_id, start)
    if before >= 0 and cache.runs[before].stop >= start:
        if cache.runs[before].stop >= stop:
            return 0
        added -= cache.runs[before].stop - start
        run_id = before
        cache.runs[run_id].stop = stop
    else:
        run_id = take(cache.spare_runs)
        cache.runs[run_id].start = start
        cache.runs[run_id].stop = stop
        insert(cache.cached, view_id, run_id, start)
    after = following(cache.cached, view_id, run_id)
    while after >= 0 and cache.runs[after].start <= stop:
        run = cache.runs[after]
        added -= min(run.stop, stop) - run.start
        if run.stop > cache.runs[run_id].stop:
            cache.runs[run_id].stop = run.stop
        remove(cache.cached, view_id, after)
        give(cache.spare_runs, after)
        after = following(cache.cached, view_id, run_id)
    return added


@outlined
def drop_cached(cache: PageCache, view_id: int, start: int, stop: int) -> int:
    """Take bytes of an object out of the cache; return how many were in it."""
    dropped = cut_runs(cache, view_id, start, stop)
    cache.nodes[cache.views[view_id].node].cached -= dropped
    return dropped


@outlined
def cut_runs(cache: PageCache, view_id: int, start: int, stop: int) -> int:
    """Take bytes out of the runs of a view; return how many were in them."""
    if stop <= start:
        return 0
    dropped = 0
    run_id = last_not_after(cache.cached, view_id, start)
    if run_id < 0 or cache.runs[run_id].stop <= start:
        run_id = following(cache.cached, view_id, run_id)
    while run_id >= 0 and cache.runs[run_id].start < stop:
        after = following(cache.cached, view_id, run_id)
        first, last = cache.runs[run_id].start, cache.runs[run_id].stop
        dropped += min(last, stop) - max(first, start)
        remove(cache.cached, view_id, run_id)
        give(cache.spare_runs, run_id)
        if first < start:
            _add_run(cache, view_id, first, start)
        if last > stop:
            _add_run(cache, view_id, stop, last)
        run_id = after
    return dropped


@outlined
def queue_at_tree(cache: PageCache, inode_id: int, size: int, turns: int, now: float) -> float:
    """Queue pages for the lock of their file's tree, so many turns each; return when all are over.

    The core must be among the inode's ``tree_users``, and stay until then. The lock is a ticket
    spinlock. Whenever it is released, every other core that waits for it fetches the line of memory
    that it is in, one after another, and delays the hand-over (Boyd-Wickizer et al., Non-scalable
    locks are dangerous, 2012). It is taken anew for each turn: who needs few of them waits for no
    more than as many of each of the others.
    """
    inode = cache.inodes[inode_id]
    service = cache.tree_page + (inode.tree_users - 1) * cache.tree_handover
    work = size / PAGE * service * (turns / WRITE_TURNS)
    inode.tree_free = max(inode.tree_free, now) + work
    return min(inode.tree_free, now + inode.tree_users * work)


@outlined
def bytes_outside(cache: PageCache, view_id: int, start: int, stop: int) -> int:
    """Return how many bytes between two offsets are in no run of a view."""
    outside = stop - start
    run_id = last_not_after(cache.cached, view_id, start)
    if run_id < 0:
        run_id = following(cache.cached, view_id, run_id)
    while run_id >= 0 and cache.runs[run_id].start < stop:
        run = cache.runs[run_id]
        outside -= max(min(run.stop, stop) - max(run.start, start), 0)
        run_id = following(cache.cached, view_id, run_id)
    return outside


@outlined
def _add_run(cache: PageCache, view_id: int, start: int, stop: int) -> None:
    """Add a run that touches no other."""
    run_id = take(cache.spare_runs)
    cache.runs[run_id].start = start
    cache.runs[run_id].stop = stop
    insert(cache.cached, view_id, run_id, start)


@outlined
def _count_cached(cache: PageCache, view_id: int, added: int) -> None:
    """Count bytes that came into a node's cache; make room if they are too many."""
    view = cache.views[view_id]
    node = cache.nodes[view.node]
    node.cached += added
    if view.cached_listed == 0:
        _list_cached(cache, view_id)
    if node.cached > cache.max_node_cache:
        _evict(cache, view.node)


@outlined
def _evict(cache: PageCache, node_id: int) -> None:
    """Drop clean pages, those of the view cached longest first, until few enough are left."""
    node = cache.nodes[node_id]
    first_kept = -1
    while node.cached > cache.max_node_cache and node.evict_head != first_kept:
        view_id = node.evict_head
        view = cache.views[view_id]
        node.evict_head = view.cached_next
        cache.programs.stats[_EVICTED] += _drop_clean(cache, view_id)
        view.cached_listed = 0
        if view.outstanding > 0:  # some of its pages are dirty: its turn comes again
            _list_cached(cache, view_id)
            first_kept = view_id if first_kept < 0 else first_kept


@outlined
def _drop_clean(cache: PageCache, view_id: int) -> int:
    """Drop the pages of a view that are not on their way to disk; return their bytes.

    The dirty pages of a file on a local SSD are the runs of another view (see ``local``).
    """
    dropped = 0
    start = 0
    view = cache.views[view_id]
    if cache.files.objects[view.object].ost < 0:
        dirty = find_view(cache, view.object + DIRTY_RUNS, view.node)
        run_id = following(cache.cached, dirty, -1)
        while run_id >= 0:
            first = cache.runs[run_id].start // PAGE * PAGE
            dropped += drop_cached(cache, view_id, start, first)
            start = max(start, -(-cache.runs[run_id].stop // PAGE) * PAGE)
            run_id = following(cache.cached, dirty, run_id)
    window_id = view.windows
    while window_id >= 0:
        window = cache.windows[window_id]
        if window.state != READING:
            dropped += drop_cached(cache, view_id, start, window.low // PAGE * PAGE)
            start = max(start, -(-window.high // PAGE) * PAGE)
        window_id = window.next
    return dropped + drop_cached(cache, view_id, start, 1 << 62)


@outlined
def _list_cached(cache: PageCache, view_id: int) -> None:
    """Put a view at the end of its node's order of eviction."""
    view = cache.views[view_id]
    node = cache.nodes[view.node]
    view.cached_listed = 1
    view.cached_next = -1
    if node.evict_head < 0:
        node.evict_head = view_id
    else:
        cache.views[node.evict_tail].cached_next = view_id
    node.evict_tail = view_id
