"""Copying between a rank's buffer and the page cache: what it costs, whatever keeps the file.

The core copies, all cores of a node share its memory and the lock of its list of pages, and every
page passes the tree of its file (``sim.node.tree``).
"""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.node.cores import copy
from sim.node.nodes import Nodes
from sim.plane.causes import Cause
from sim.plane.recorder import record_span

_COPY, _CORE = int(Cause.COPY), int(Cause.CORE)
_MEMORY, _TREE = int(Cause.MEMORY), int(Cause.TREE)


@outlined
def copy_pages(
    nodes: Nodes,
    program_id: int,
    size: int,
    on_core: float,
    in_memory: float,
    entered: float,
    now: float,
) -> float:
    """Copy bytes on a program's core while their pages enter the tree; return when both is done.

    Charges the program for what it waits.

    Parameters
    ----------
    nodes, program_id
        Whose core copies.
    size
        Bytes.
    on_core, in_memory
        Seconds for which a byte keeps the core, and the memory that all cores of the node share.
        They differ between file systems, whose clients do work of their own on the way.
    entered
        When the pages are in the tree of their file.
    now
        The time.
    """
    program = nodes.programs.rows[program_id]
    network, waits, recorder = nodes.network, nodes.programs.waits, nodes.programs.recorder
    memory = nodes.memory + program.node
    seconds, alone = size * on_core, size * in_memory
    queue = max(network.stations[program.core].free - now, 0.0)
    done = copy(network, program.core, memory, size, seconds, alone, nodes.list_handover, now)
    begun = now + queue
    waits[program_id, _COPY] += seconds
    waits[program_id, _MEMORY] += done - now - queue - seconds
    record_span(recorder, program_id, _COPY, begun, min(begun + seconds, done))
    record_span(recorder, program_id, _MEMORY, begun + seconds, done)
    # Hardly ever: their columns are elsewhere in memory, each worth a wait for it.
    if queue > 0.0:
        waits[program_id, _CORE] += queue
        record_span(recorder, program_id, _CORE, now, begun)
    if entered > done:
        waits[program_id, _TREE] += entered - done
        record_span(recorder, program_id, _TREE, done, entered)
    return max(done, entered)
