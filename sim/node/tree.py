"""The tree of a file's cached pages on a node, and its lock, which the ranks of a node wait for.

All pages of a file that a node caches are in one tree, whatever their objects. The kernel's page
cache is one for Lustre, for local disks and for whatever else caches, and so is this lock.
"""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.engine.page import PAGE
from sim.node.page_cache import PageCache
from sim.plane.programs import Programs

WRITE_TURNS = 4
READ_TURNS = 1
DROP_TURNS = 1
"""How often a page takes the lock of the tree of its file's cached pages (tree_lock, Linux 3, 4).

One that is written: as it enters the tree, and as its tags change when it gets dirty, when its
write-back begins and when that is done (mm/filemap.c, mm/page-writeback.c). One that is read: as it
enters (add_to_page_cache_lru). One that is dropped: as it leaves (delete_from_page_cache)."""


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
