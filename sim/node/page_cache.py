"""The page cache of a client node, seen object by object.

An *osc_object* is what one client node knows of one object: the locks it holds there and the pages
it caches; a file on a local SSD has one too. Cached pages are a list of runs of bytes
(``xc40io.node.byte_lists``). Dirty pages wait in *osc_extents* (``xc40io.node.osc_extents``), or,
where no RPC carries them, in a list of runs of their own. What comes and goes is in
``xc40io.node.pages``. An *inode* is a file as one node has it open: all its pages that the node
caches are in one *tree*, whatever their objects, and the ranks of the node wait for the lock of
that. The kernel's page cache is one for Lustre, for local disks and for whatever else caches, and
so is this lock.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xc40io.engine.compiled import njit, outlined
from xc40io.engine.component import Component, Demands
from xc40io.engine.hashmap import HashMap, enlarge_map, find, make_map, pair_key, put
from xc40io.engine.intervals import LEVELS
from xc40io.engine.network import Network
from xc40io.engine.ordered import SortedLists, enlarge_ordered, make_ordered
from xc40io.engine.page import PAGE
from xc40io.engine.pool import EVENTS_A_LOOK, Pool, make_pool, take
from xc40io.engine.queue import QUEUE, TURN, clear, join, leave
from xc40io.engine.record import Column
from xc40io.engine.types import Table, enlarge_table, make_table
from xc40io.node.byte_lists import ByteLists, new_list
from xc40io.plane.files import OBJECT, Files
from xc40io.plane.programs import PROGRAM, Programs
from xc40io.plane.site import Site

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

LAYOUT_HOLD = np.dtype(  # what a client node has of the layout of a file: a row for each inode
    [
        ("known", "i4"),  # it has set the layout as the lock has it, and nobody has asked it back
        ("cached", "i4"),  # it has the layout lock (CR)
        ("granted", "i4"),  # the same as the MDT sees it: before the reply, until an AST is sent
        ("next", "i4"),  # the next inode to which the MDT has granted the layout lock of the file
        ("calls", "i4"),  # its calls under way, which use the layout
        ("generation", "i4"),  # of the layout that they use
        ("waiter", "i4"),  # the program that waits for these to end, to set another; -1: none
        ("revoker", "i4"),  # the request that wants the lock back
        ("fetch", TURN),  # of the program that asks for the layout (lli_layout_mutex)
    ],
    align=True,
)

OSC_OBJECT = np.dtype(  # an object as one client node sees it: its locks and pages
    [
        ("outstanding", "i8"),  # bytes dirty or being written back
        ("unsent", "i8"),  # bytes dirty
        ("node", "i4"),
        ("object", "i4"),
        ("inode", "i4"),
        ("cached", "i4"),  # the list of its cached bytes
        ("extents", "i4"),  # its first extent, in the order of the object
        ("extent", "i4"),  # the one that was sought or added last, or another; -1 if there is none
        ("dirty_extent", "i4"),  # its first dirty extent, or one before it; -1 if none is dirty
        ("full", "i4"),  # unsent extents that fill an RPC
        ("urgent", "i4"),  # unsent extents that must go soon
        ("pressing", "i4"),  # unsent extents that someone waits for the lock of
        ("next", "i4"),  # the next in the line of its SSD
        ("flushing", "i4"),  # its first lock that waits for write-back
        ("ost", "i2"),  # of the object
        ("listed", "i1"),  # in the line of its SSD, or in which line of its OSC, from 1 on; else 0
        ("evict_listed", "i1"),  # in the node's order of eviction
        ("evict_next", "i4"),  # the next there
        ("group_locks", "i4"),  # its first GROUP lock
        ("dirty", "i4"),  # the list of its dirty bytes that are in no extent, or -1
        ("readers", "i4"),  # programs that wait for pages
        ("sibling", "i4"),  # the next osc_object of the object, on another node
        ("lock", "i4"),  # a write lock that covered what was sought last, or -1
        ("read_locks", "i4", LEVELS),  # the first of its PR locks
        ("rest", "i4", 5),  # of the line
    ],
    align=True,
)

OSC_EXTENT = np.dtype(  # a part of an object, of the size and alignment of an RPC, on its way
    [
        ("place", "i8"),  # what the extents of an osc_object are in the order of
        ("low", "i8"),  # hull of the bytes on their way, in the object
        ("high", "i8"),
        ("bytes", "i8"),
        ("pieces", "i4"),
        ("osc_object_id", "i4"),
        ("previous", "i4"),  # its neighbours in the osc_object
        ("next", "i4"),
        ("next_of_rpc", "i4"),
        ("state", "i1"),
        ("urgency", "i1"),
        ("milestone", "i1"),  # a search of the osc_object may begin here
        ("rest", "i8"),  # of the line
    ],
    align=True,
)

CACHING_NODE = np.dtype(
    [
        ("cached", "i8"),  # bytes of the node's page cache
        ("coming", "i8"),  # bytes on their way into it
        ("evict_head", "i4"),  # osc_objects with cached pages, the oldest first
        ("evict_tail", "i4"),
    ],
    align=True,
)

OBJECT.add(__name__, Column("osc_objects", "i4", idle=-1))  # the first of all nodes' osc_objects

PROGRAM.add(
    __name__,
    # bytes asked for whose pages are not in the file's tree yet
    Column("entering", "i8", passing=True, often=True),
    # where a sequential reader would go on, in the file
    Column("next_read", "i8", idle=-1, passing=True),
    Column("ahead", "i8", passing=True),  # how far beyond a call it reads ahead, in bytes
    Column("inode", "i4", often=True),
    # of a rank: which of its threads waits at the inode's tree, or -1
    Column("at_tree", "i4", idle=-1, passing=True, often=True),
    Column("osc_object_id", "i4", often=True),
)

LINES = 3
"""Lines of osc_objects with unsent bytes in an OSC (``xc40io.lustre.osc.lines``)."""

WRITE_TURNS = 4
READ_TURNS = 1
DROP_TURNS = 1
"""How often a page takes the lock of the tree of its file's cached pages (tree_lock, Linux 3, 4).

One that is written: as it enters the tree, and as its tags change when it gets dirty, when its
write-back begins and when that is done (mm/filemap.c, mm/page-writeback.c). One that is read: as it
enters (add_to_page_cache_lru). One that is dropped: as it leaves (delete_from_page_cache)."""


class PageCache(Component):
    """The page caches of all nodes.

    A table of things that come and go has beside it the pool of its free rows, ``spare_...``.
    """

    network: Network
    files: Files
    programs: Programs
    byte_lists: ByteLists
    nodes: Table  # `CACHING_NODE` records
    osc_objects: Table  # `OSC_OBJECT` records
    spare_osc_objects: Pool
    osc_objects_by_pair: HashMap  # the row of (object, node)
    inodes: Table  # `INODE` records
    layouts: Table  # `LAYOUT_HOLD` records: in the rows of ``inodes``
    spare_inodes: Pool
    inodes_by_pair: HashMap  # the row of (file, node)
    osc_extents: Table  # `OSC_EXTENT` records
    spare_osc_extents: Pool
    # one extent in eight of every osc_object, in the order of the object: where a search begins
    milestones: SortedLists
    # osc_objects with unsent bytes: the lines that their OSC keeps, in the order in which they came
    unsent: SortedLists
    rpc_size: int  # bytes of an extent: of a whole BRW RPC
    max_node_cache: int  # bytes that a node caches at most (`max_cached_mb`)
    tree_page: float  # seconds of a node to enter a written page into the tree of its file's pages
    tree_handover: float  # besides, for each core that waits for the lock of the tree
    range_locks: int  # whether writers of a file exclude each other where their bytes overlap alone

    @classmethod
    def build(cls, site: Site) -> PageCache:
        """Return empty page caches."""
        rows, few, machine = site.rows, site.few_rows, site.machine
        osc_objects, inodes = make_table(OSC_OBJECT, few), make_table(INODE, few)
        # Programs are at the first rows before they have been anywhere: these are of nothing yet.
        osc_objects[0].object = inodes[0].file = -1
        nodes = make_table(CACHING_NODE, site.nodes)
        nodes.evict_head = -1
        return site.make(
            cls,
            nodes=nodes,
            osc_objects=osc_objects,
            spare_osc_objects=make_pool(few),
            osc_objects_by_pair=make_map(2 * few),
            inodes=inodes,
            layouts=make_table(LAYOUT_HOLD, few),
            spare_inodes=make_pool(few),
            inodes_by_pair=make_map(2 * few),
            osc_extents=make_table(OSC_EXTENT, rows),
            spare_osc_extents=make_pool(rows),
            milestones=make_ordered(few, rows),
            unsent=make_ordered(LINES * site.nodes * machine.lustre.targets, few),
            rpc_size=machine.lustre.rpc_size,
            max_node_cache=machine.nodes.max_cached,
            tree_page=machine.nodes.tree_page_time,
            tree_handover=machine.nodes.spinlock_handover_time,
            range_locks=machine.lustre.range_locks,
        )

    def demands(self) -> Demands:
        """Return the most rows of a call: an inode, three osc_objects, two extents, their runs.

        Eviction leaves a hole in the cached runs for each extent that stays.
        """
        runs = 4 + len(self.osc_extents) // EVENTS_A_LOOK
        osc_objects, inodes, extents = (
            self.spare_osc_objects,
            self.spare_inodes,
            self.spare_osc_extents,
        )
        lists = self.byte_lists.spare_lists, self.byte_lists.spare_runs
        return [(osc_objects, 3), (inodes, 1), (extents, 2), (lists[0], 3), (lists[1], runs)]

    def pending(self) -> int:
        """Return the most events that can be pending: an AST for each layout lock."""
        return len(self.layouts) if len(self.files.composites) else 0

    def grow(self, name: str, rows: int) -> None:
        """Make one of the tables longer, and what is indexed by its rows."""
        super().grow(name, rows)
        if name == "inodes":
            self.inodes_by_pair = enlarge_map(self.inodes_by_pair, 2 * rows)
            self.layouts = enlarge_table(self.layouts, len(self.inodes))
            return
        if name == "osc_objects":
            self.osc_objects_by_pair = enlarge_map(self.osc_objects_by_pair, 2 * rows)
            self.unsent = enlarge_ordered(self.unsent, len(self.unsent.heads), rows)
        self.milestones = enlarge_ordered(
            self.milestones, len(self.osc_objects), len(self.osc_extents)
        )


@outlined
def go_to_osc_object(cache: PageCache, program_id: int, object_id: int) -> None:
    """Have a program at its node's osc_object of an object: mostly the one where it was."""
    program = cache.programs.rows[program_id]
    osc_object = cache.osc_objects[program.osc_object_id]
    if osc_object.object != object_id or osc_object.inode != program.inode:
        program.osc_object_id = osc_object_of(cache, object_id, program.node, program.inode)


@outlined
def osc_object_of(cache: PageCache, object_id: int, node: int, inode: int) -> int:
    """Return the osc_object that a node has of an object, made at the first use."""
    key = pair_key(object_id, node)
    osc_object_id = find(cache.osc_objects_by_pair, key)
    if osc_object_id >= 0:
        return osc_object_id
    osc_object_id = take(cache.spare_osc_objects)
    put(cache.osc_objects_by_pair, key, osc_object_id)
    osc_object = cache.osc_objects[osc_object_id]
    osc_object.outstanding = 0
    osc_object.unsent = 0
    osc_object.node = node
    osc_object.object = object_id
    osc_object.ost = cache.files.objects[object_id].ost
    osc_object.inode = inode
    osc_object.group_locks = -1
    for level in range(LEVELS):
        osc_object.read_locks[level] = -1
    osc_object.lock = -1
    osc_object.flushing = -1
    osc_object.cached = new_list(cache.byte_lists)
    osc_object.dirty = -1
    osc_object.extents = -1
    osc_object.extent = -1
    osc_object.dirty_extent = -1
    osc_object.readers = -1
    osc_object.full = 0
    osc_object.urgent = 0
    osc_object.pressing = 0
    osc_object.listed = 0
    osc_object.next = -1
    osc_object.evict_listed = 0
    osc_object.sibling = cache.files.objects[object_id].osc_objects
    cache.files.objects[object_id].osc_objects = osc_object_id
    return osc_object_id


@outlined
def find_osc_object(cache: PageCache, object_id: int, node: int) -> int:
    """Return the osc_object that a node has of an object; -1 if it has none."""
    return find(cache.osc_objects_by_pair, pair_key(object_id, node))


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
    layout = cache.layouts[inode_id]
    layout.known = layout.cached = layout.granted = layout.calls = 0
    layout.generation = 0
    layout.waiter = -1
    layout.fetch.taken = 0
    clear(layout.fetch.waiting)
    return inode_id


@outlined
def grant_layout(cache: PageCache, inode_id: int) -> None:
    """Grant a node the layout lock of a file with a composite layout, if it has it not."""
    layout = cache.layouts[inode_id]
    if layout.granted == 0:
        file = cache.files.rows[cache.inodes[inode_id].file]
        composite = cache.files.composites[file.composite - 1]
        layout.granted = 1
        layout.next = composite.holders
        composite.holders = inode_id


@njit
def list_osc_object(cache: PageCache, queue: Any, osc_object_id: int) -> None:
    """Put an osc_object at the end of a queue of those with dirty pages, unless it is in one."""
    osc_object = cache.osc_objects[osc_object_id]
    if osc_object.listed == 0:
        osc_object.listed = 1
        join(queue, cache.osc_objects, osc_object_id)


@njit
def unlist_osc_object(cache: PageCache, queue: Any, osc_object_id: int, previous: int) -> None:
    """Remove an osc_object from such a queue; ``previous`` is the one before it, or -1."""
    cache.osc_objects[osc_object_id].listed = 0
    leave(queue, cache.osc_objects, osc_object_id, previous)


@outlined
def enter_tree(cache: PageCache, program_id: int, size: int, turns: int, now: float) -> float:
    """Queue a program's core for its turns at the tree of cached pages; return when they are over.

    A rank's core turns to its threads one after another: one of them waits for the lock at a time.
    """
    inode_id = cache.programs.rows[program_id].inode
    rank = cache.programs.rows[_rank(cache.programs, program_id)]
    if rank.at_tree < 0:
        rank.at_tree = program_id
        cache.inodes[inode_id].tree_users += 1
    return queue_at_tree(cache, inode_id, size, turns, now)


@outlined
def leave_tree(cache: PageCache, program_id: int) -> None:
    """Note that a program has had its turns at the tree, if it had any."""
    rank = cache.programs.rows[_rank(cache.programs, program_id)]
    if rank.at_tree == program_id:
        rank.at_tree = -1
        cache.inodes[cache.programs.rows[program_id].inode].tree_users -= 1


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
    service = inode.tree_page + (inode.tree_users - 1) * cache.tree_handover
    work = size / PAGE * service * (turns / WRITE_TURNS)
    inode.tree_free = max(inode.tree_free, now) + work
    return min(inode.tree_free, now + inode.tree_users * work)


@outlined
def _rank(programs: Programs, program_id: int) -> int:
    """Return the rank's own program, of which a program may be a thread."""
    leader = programs.rows[program_id].leader
    return program_id if leader < 0 else leader
