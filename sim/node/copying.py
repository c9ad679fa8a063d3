"""Copying between a rank's buffer and the page cache: what it costs, whatever keeps the file.

The core copies, all cores of a node share its memory and the lock of its list of pages, and every
page passes the tree of its file (``sim.node.tree``).
"""

from __future__ import annotations

from sim.engine.jit import outlined
from sim.node.cores import copy
from sim.node.nodes import Nodes
from sim.plane.causes import Cause

_COPY, _CORE = int(Cause.COPY), int(Cause.CORE)
_MEMORY, _TREE = int(Cause.MEMORY), int(Cause.TREE)


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
