"""sync: write back what is dirty of many files, and wait for it.

Linux has every file system write back its dirty pages and then calls its ``sync_fs``, which a
client of Lustre 2.7 does not have (llite/super25.c, lustre_super_operations): nobody asks the
servers to commit, so that a sync without dirty pages costs nothing.
"""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.lustre.client.fsync import await_write_back, begin_write_back
from sim.lustre.mds import Mds
from sim.lustre.osc.obds import may_pump
from sim.node.page_cache import find_inode
from sim.plane.causes import Cause
from sim.plane.events import FULL, GO_ON, GONE
from sim.plane.files import Backend, object_count
from sim.plane.operations import Op
from sim.plane.programs import charge
from sim.plane.registry import performs

_FLUSH = int(Cause.FLUSH)

# States of a program in a sync; ``call`` counts the files that it has begun to write back, and
# beyond these those that it has found clean.
_TURNS_TO_FILE = 0  # begins to write back the next file, or looks if it is clean -> _WAITED, done
_WAITED = 1  # the file is clean -> _TURNS_TO_FILE


@performs(Mds, Op.WRITE_OUT, on=Backend.LUSTRE)
@outlined
def write_out(mds: Mds, program_id: int, now: float) -> float:
    """Take a sync on to its next state."""
    program = mds.programs.rows[program_id]
    operation = mds.programs.operations[program.op]
    if program.phase == _WAITED:
        charge(mds.programs, program_id, _FLUSH, now)
        program.phase = _TURNS_TO_FILE
        program.call += 1
        return GO_ON
    if program.call < operation.count:
        file_id = operation.file + program.call
        if not may_pump(mds.osc, object_count(mds.files, file_id)):
            return FULL
        begin_write_back(mds.osc, file_id, program.node, now)
        program.call += 1
        return GO_ON
    if program.call == 2 * operation.count:
        program.call = 0
        program.op += 1
        return GO_ON
    file_id = operation.file + program.call - operation.count
    inode_id = find_inode(mds.cache, file_id, program.node)
    if inode_id < 0 or mds.cache.inodes[inode_id].outstanding == 0:
        program.call += 1
        return GO_ON
    program.inode = inode_id
    program.since = now
    program.phase = _WAITED
    await_write_back(mds.osc, program_id)
    return GONE
