"""What a read or write call costs its core, whatever its size.

The kernel is entered, the VFS finds the file, and the Lustre client sets up its objects and its I/O
of several layers for each call (Lustre 2.7 llite/file.c, ll_file_io_generic; obdclass/cl_io.c)
before it turns to the first page. Small calls cost little else.
"""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.engine.network import serve
from sim.node.nodes import Nodes
from sim.plane.causes import Cause
from sim.plane.programs import charge_ahead

_CALL, _CORE = int(Cause.CALL), int(Cause.CORE)


@outlined
def enter_call(nodes: Nodes, program_id: int, now: float) -> float:
    """Charge a program's core the fixed cost of a system call; return when it is done."""
    seconds, core = nodes.call_work, nodes.programs.rows[program_id].core
    begun = serve(nodes.network, core, now, 0.0, seconds)
    if begun > now:
        charge_ahead(nodes.programs, program_id, _CORE, begun - now, now)
    return charge_ahead(nodes.programs, program_id, _CALL, seconds, begun)
