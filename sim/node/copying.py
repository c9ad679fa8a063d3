"""Copying between a rank's buffer and the page cache: what it costs, whatever keeps the file.

The kernel's page cache is one, for Lustre, for local disks and for whatever else caches: the core
copies, all cores of a node share its memory and the lock of its list of pages, and every page
passes the tree of its file.
"""

from __future__ import annotations

from sim.engine.jit import outlined
from sim.node.cores import copy
from sim.node.nodes import Nodes
from sim.node.page_cache import PageCache, queue_at_tree
from sim.plane.causes import Cause
from sim.plane.programs import Programs

_COPY, _CORE = int(Cause.COPY), int(Cause.CORE)
_MEMORY, _TREE = int(Cause.MEMORY), int(Cause.TREE)


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
def _rank(programs: Programs, program_id: int) -> int:
    """Return the program of the rank that a program is a thread of, or that it is."""
    leader = programs.rows[program_id].leader
    return program_id if leader < 0 else leader


@outlined
def copy_pages(
    nodes: Nodes, program_id: int, size: int, seconds: float, entered: float, now: float
) -> float:
    """Copy bytes on a program's core while their pages enter the tree; return when both is done.

    ``seconds`` is what the core needs for them when it is alone, ``entered`` when their pages are
    in the tree of their file. Charges the program for what it waits.
    """
    program = nodes.programs.rows[program_id]
    memory = nodes.memory + program.node
    queue = max(nodes.network.stations[program.core].free - now, 0.0)
    handover = nodes.list_handover
    done = copy(nodes.network, program.core, memory, size, seconds, handover, now)
    nodes.programs.waits[program_id, _CORE] += queue
    nodes.programs.waits[program_id, _COPY] += seconds
    nodes.programs.waits[program_id, _MEMORY] += done - now - queue - seconds
    nodes.programs.waits[program_id, _TREE] += max(entered - done, 0.0)
    return max(done, entered)
