"""truncate (set_size; Lustre 2.7 llite_lib.c, ll_setattr_raw).

The client needs every object from the new end on for itself, so that whoever has locks there writes
back and gives them up; then the objects are cut (OST_PUNCH) and the MDS is told. What the own node
caches beyond the new end stays.
"""

from __future__ import annotations

from xc40io.engine.compiled import outlined
from xc40io.engine.page import PAGE
from xc40io.lustre.layout_lock import (
    enter_layout,
    go_on_with_layout,
    leave_layout,
)
from xc40io.lustre.ldlm import Ldlm, ask_to_drive_away, covering, may_ask
from xc40io.lustre.locks import EOF, MODE_PW
from xc40io.lustre.mds import Mds, ask_mds
from xc40io.lustre.requests import PUNCH, may_send, send_to_objects
from xc40io.lustre.states import DRIVEN_AWAY, HAS_LAYOUT, PUNCHED, REACHED, TOLD, needs_layout
from xc40io.node.page_cache import inode_of, osc_object_of
from xc40io.plane.causes import Cause
from xc40io.plane.files import (
    Backend,
    is_on_mdt,
    object_count,
    object_end,
    object_of,
    ost_object_count,
)
from xc40io.plane.operations import Op
from xc40io.plane.programs import charge, charge_reply
from xc40io.plane.registry import FULL, GO_ON, GONE, performs

_METADATA = int(Cause.METADATA)


@performs(Mds, Op.TRUNCATE, on=Backend.LUSTRE)
@outlined
def truncate(mds: Mds, program_id: int, now: float) -> float:
    """Take a truncate on to its next state."""
    program = mds.programs.rows[program_id]
    operation = mds.programs.operations[program.op]
    composite = mds.files.rows[operation.file].composite > 0
    if composite and not _has_layout(mds, program_id, now):
        return GONE
    if program.phase in (REACHED, HAS_LAYOUT):
        if not may_ask(mds.ldlm, object_count(mds.files, operation.file)):
            return FULL
        program.since = now
        program.phase = DRIVEN_AWAY
        _drive_away(mds.ldlm, program_id, now)
        if program.pending > 0:
            return GONE
    if program.phase == DRIVEN_AWAY:
        if not may_send(mds.requests, object_count(mds.files, operation.file)):
            return FULL
        file = mds.files.rows[operation.file]
        file.end = operation.offset
        file.changed = now
        program.phase = PUNCHED
        if ost_object_count(mds.files, operation.file) > 0:
            send_to_objects(mds.requests, program_id, PUNCH, operation.file, now)
            return GONE
    else:
        charge_reply(mds.programs, program_id)
    if program.phase == PUNCHED:
        ask_mds(mds, program_id, now)
        program.phase = TOLD
        return GONE
    charge(mds.programs, program_id, _METADATA, now)
    if composite:
        leave_layout(mds, program.inode, now)
    program.phase = REACHED
    program.op += 1
    return GO_ON


@outlined
def _has_layout(mds: Mds, program_id: int, now: float) -> bool:
    """Have a program know a composite layout, with objects up to the new end; False if it waits."""
    program = mds.programs.rows[program_id]
    operation = mds.programs.operations[program.op]
    if needs_layout(program.phase):
        if not go_on_with_layout(mds, program_id, now):
            return False
        program.phase = REACHED
    if program.phase == REACHED:
        program.inode = inode_of(mds.cache, operation.file, program.node)
        # The byte at the new end counts as touched, unless the file is emptied.
        end = operation.offset + 1 if operation.offset > 0 else 0
        if not enter_layout(mds, program_id, end, now):
            return False
        program.phase = HAS_LAYOUT
    return True


@outlined
def _drive_away(ldlm: Ldlm, program_id: int, now: float) -> None:
    """Ask for a lock from the new end of a file on, on every object where the node has none."""
    program = ldlm.programs.rows[program_id]
    operation = ldlm.programs.operations[program.op]
    inode_id = inode_of(ldlm.cache, operation.file, program.node)
    program.pending = 0
    for i in range(object_count(ldlm.files, operation.file)):
        start = object_end(ldlm.files, operation.file, i, operation.offset) // PAGE * PAGE
        object_id = object_of(ldlm.files, operation.file, i)
        if is_on_mdt(ldlm.files, operation.file, object_id):
            start = 0
        osc_object_id = osc_object_of(ldlm.cache, object_id, program.node, inode_id)
        if covering(ldlm.osc, osc_object_id, MODE_PW, start, EOF) < 0:
            program.pending += 1
            ask_to_drive_away(ldlm, program_id, osc_object_id, start, EOF, now)
