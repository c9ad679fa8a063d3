"""The page cache of a client node, seen object by object.

A *view* is what one client node knows of one object: the locks it holds there and the pages it
caches. Cached pages are a list of runs of bytes (``sim.node.extents``). Dirty pages wait in
*windows* (``sim.node.windows``), or, where no RPC carries them, in a list of runs of their own.
What comes and goes is in ``sim.node.pages``. An *inode* is a file as one node has it open.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.engine.compiled import njit, outlined
from sim.engine.component import Component, Demands
from sim.engine.hashmap import HashMap, enlarge_map, find, make_map, pair_key, put
from sim.engine.network import Network
from sim.engine.ordered import Ordered, enlarge_ordered, make_ordered
from sim.engine.pool import EVENTS_A_LOOK, Pool, make_pool, take
from sim.engine.queue import QUEUE, TURN, clear, join, leave
from sim.engine.types import Table, make_table
from sim.node.extents import Extents, new_list
from sim.plane.files import Files
from sim.plane.programs import Programs
from sim.plane.site import Site

# Records of whole lines of the processor's cache, 64 bytes each: an event waits for the memory once
# for each line that it needs. The columns that every write needs stand together.

INODE = np.dtype(  # a file as one client node has it open
    [
        ("outstanding", "i8"),  # bytes dirty or being written back
        ("tree_page", "f8"),  # for how long a written page keeps the lock of the tree
        ("tree_free", "f8"),  # when its tree of cached pages takes the next page
        ("tree_users", "i4"),  # cores that wait for it
        ("flush_head", "i4"),  # programs that wait for its write-back
        ("mutex", TURN),  # of one program at a time
        ("writers", "i4"),  # programs with a write under way
        ("range_waiters", QUEUE),  # programs that wait for a range of bytes
        ("file", "i4"),
        ("node", "i4"),
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
        ("cached", "i4"),  # the list of its cached bytes
        ("windows", "i4"),  # its first window, in the order of the object
        ("window", "i4"),  # the one that was sought or added last, or another; -1 if there is none
        ("dirty_window", "i4"),  # its first dirty window, or one before it; -1 if none is dirty
        ("urgent", "i4"),  # unsent windows that must go soon
        ("pressing", "i4"),  # unsent windows that someone waits for the lock of
        ("next", "i4"),  # the next in the list of its OSC
        ("flushing", "i4"),  # its first lock that waits for write-back
        ("ost", "i2"),  # of the object
        ("listed", "i1"),  # in the list of its OSC
        ("evict_listed", "i1"),  # in the node's order of eviction
        ("evict_next", "i4"),  # the next there
        ("shared_locks", "i4"),  # its first PR or GROUP lock
        ("dirty", "i4"),  # the list of its dirty bytes that are in no window, or -1
        ("readers", "i4"),  # programs that wait for pages
        ("sibling", "i4"),  # the next view of the object, on another node
        ("lock", "i4"),  # a write lock that covered what was sought last, or -1
        ("rest", "i8", 5),  # of the line
    ],
    align=True,
)

WINDOW = np.dtype(  # a part of an object, of the size and alignment of an RPC, on its way
    [
        ("place", "i8"),  # what the windows of a view are in the order of
        ("low", "i8"),  # hull of the bytes on their way, in the object
        ("high", "i8"),
        ("bytes", "i8"),
        ("pieces", "i4"),
        ("view_id", "i4"),
        ("previous", "i4"),  # its neighbours in the view
        ("next", "i4"),
        ("next_of_rpc", "i4"),
        ("state", "i1"),
        ("urgency", "i1"),
        ("milestone", "i1"),  # a search of the view may begin here
        ("rest", "i8"),  # of the line
    ],
    align=True,
)

CACHING_NODE = np.dtype(
    [
        ("cached", "i8"),  # bytes of the node's page cache
        ("coming", "i8"),  # bytes on their way into it
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
    views, inodes, windows
        Records of these names; a table of things that come and go has beside it the pool of its
        free rows, named ``spare_...``.
    views_by_pair, inodes_by_pair
        Row of the view of (object, node), and of the inode of (file, node).
    milestones
        One window in eight of every view, in the order of the object: where a search begins.
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
    extents: Extents
    nodes: Table
    views: Table
    spare_views: Pool
    views_by_pair: HashMap
    inodes: Table
    spare_inodes: Pool
    inodes_by_pair: HashMap
    windows: Table
    spare_windows: Pool
    milestones: Ordered
    rpc_size: int
    max_node_cache: int
    tree_page: float
    tree_handover: float

    @classmethod
    def build(cls, site: Site) -> PageCache:
        """Return empty page caches."""
        rows, machine = site.rows, site.machine
        map_size = 1 << (2 * rows - 1).bit_length()
        # Programs are at the first rows before they have been anywhere: these are of nothing yet.
        views, inodes = make_table(VIEW, rows), make_table(INODE, rows)
        views.object = inodes.file = -1
        nodes = make_table(CACHING_NODE, site.nodes)
        nodes.evict_head = -1
        return site.make(
            cls,
            nodes=nodes,
            views=views,
            spare_views=make_pool(rows),
            views_by_pair=make_map(map_size),
            inodes=inodes,
            spare_inodes=make_pool(rows),
            inodes_by_pair=make_map(map_size),
            windows=make_table(WINDOW, rows),
            spare_windows=make_pool(rows),
            milestones=make_ordered(rows, rows),
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
        lists = self.extents.spare_lists, self.extents.spare_runs
        return [(views, 3), (inodes, 1), (windows, 2), (lists[0], 3), (lists[1], runs)]

    def grow(self, name: str, rows: int) -> None:
        """Make one of the tables longer, and what goes by its rows with it."""
        super().grow(name, rows)
        if name == "inodes":
            self.inodes_by_pair = enlarge_map(self.inodes_by_pair, 2 * rows)
            return
        if name == "views":
            self.views_by_pair = enlarge_map(self.views_by_pair, 2 * rows)
        self.milestones = enlarge_ordered(self.milestones, len(self.views), len(self.windows))


@outlined
def go_to_view(cache: PageCache, program_id: int, object_id: int) -> None:
    """Have a program at its node's view of an object, which mostly is the one where it was."""
    program = cache.programs.rows[program_id]
    view = cache.views[program.view_id]
    if view.object != object_id or view.inode != program.inode:
        program.view_id = view_of(cache, object_id, program.node, program.inode)


@outlined
def view_of(cache: PageCache, object_id: int, node: int, inode: int) -> int:
    """Return the view that a node has of an object, made at the first use."""
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
    view.ost = cache.files.objects[object_id].ost
    view.inode = inode
    view.shared_locks = -1
    view.lock = -1
    view.flushing = -1
    view.cached = new_list(cache.extents)
    view.dirty = -1
    view.windows = -1
    view.window = -1
    view.dirty_window = -1
    view.readers = -1
    view.urgent = 0
    view.pressing = 0
    view.listed = 0
    view.next = -1
    view.evict_listed = 0
    view.sibling = cache.files.objects[object_id].views
    cache.files.objects[object_id].views = view_id
    return view_id


@outlined
def find_view(cache: PageCache, object_id: int, node: int) -> int:
    """Return the view that a node has of an object; -1 if it has none."""
    return find(cache.views_by_pair, pair_key(object_id, node))


@outlined
def find_inode(cache: PageCache, file: int, node: int) -> int:
    """Return the inode of a file on a node; -1 if nobody there has used it."""
    return find(cache.inodes_by_pair, pair_key(file, node))


@outlined
def go_to_inode(cache: PageCache, program_id: int, file: int) -> None:
    """Have a program at its node's inode of a file, which mostly is the one where it was."""
    program = cache.programs.rows[program_id]
    inode = cache.inodes[program.inode]
    if inode.file != file or inode.node != program.node:
        program.inode = inode_of(cache, file, program.node)


@outlined
def inode_of(cache: PageCache, file: int, node: int) -> int:
    """Return the inode of a file on a node, made at the first use."""
    key = pair_key(file, node)
    inode_id = find(cache.inodes_by_pair, key)
    if inode_id >= 0:
        return inode_id
    inode_id = take(cache.spare_inodes)
    put(cache.inodes_by_pair, key, inode_id)
    inode = cache.inodes[inode_id]
    inode.file = file
    inode.node = node
    inode.outstanding = 0
    inode.tree_page = cache.tree_page
    inode.tree_free = 0.0
    inode.tree_users = 0
    inode.flush_head = -1
    inode.mutex.taken = 0
    clear(inode.mutex.waiting)
    inode.writers = -1
    clear(inode.range_waiters)
    return inode_id


@njit
def list_view(cache: PageCache, queue: Any, view_id: int) -> None:
    """Put a view at the end of a queue of views with dirty pages, unless it is in one."""
    view = cache.views[view_id]
    if view.listed == 0:
        view.listed = 1
        join(queue, cache.views, view_id)


@njit
def unlist_view(cache: PageCache, queue: Any, view_id: int, previous: int) -> None:
    """Remove a view from such a queue; ``previous`` is the one before it, or -1."""
    cache.views[view_id].listed = 0
    leave(queue, cache.views, view_id, previous)
