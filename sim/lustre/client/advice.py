"""Locks that programs ask for themselves: group locks, and lock-ahead."""

from __future__ import annotations

from xc40io.engine.compiled import outlined
from xc40io.engine.page import PAGE
from xc40io.lustre.ldlm import Ldlm, ask_ahead, join_group, leave_group, may_ask
from xc40io.lustre.osc.obds import may_pump
from xc40io.node.page_cache import find_osc_object, inode_of, osc_object_of
from xc40io.plane.causes import Cause
from xc40io.plane.files import Backend, chunk_at, most_chunks, object_count, objects_of
from xc40io.plane.operations import Op
from xc40io.plane.programs import charge
from xc40io.plane.registry import FULL, GO_ON, GONE, performs

_LOCK = int(Cause.LOCK)

# States of a program that takes a group lock.
_REACHED = 0  # asks for the locks that its node does not have -> _LOCKED
_LOCKED = 1  # has the lock of every object: done -> _REACHED


@performs(Ldlm, Op.GROUP_LOCK, on=Backend.LUSTRE)
@outlined
def lock_group(ldlm: Ldlm, program_id: int, now: float) -> float:
    """Take the lock of a group on every object of a file (LL_IOC_GROUP_LOCK); wait for all."""
    program = ldlm.programs.rows[program_id]
    operation = ldlm.programs.operations[program.op]
    if program.phase == _REACHED:
        if not may_ask(ldlm, object_count(ldlm.files, operation.file)):
            return FULL
        program.inode = inode_of(ldlm.cache, operation.file, program.node)
        program.phase = _LOCKED
        program.since = now
        program.pending = 0
        for object_id in objects_of(ldlm.files, operation.file):
            osc_object_id = osc_object_of(ldlm.cache, object_id, program.node, program.inode)
            if not join_group(ldlm, program_id, osc_object_id, operation.group, now):
                program.pending += 1
        if program.pending > 0:
            return GONE
    charge(ldlm.programs, program_id, _LOCK, now)
    program.group = operation.group
    program.phase = _REACHED
    program.op += 1
    return GO_ON


@performs(Ldlm, Op.GROUP_UNLOCK, on=Backend.LUSTRE)
@outlined
def unlock_group(ldlm: Ldlm, program_id: int, now: float) -> float:
    """Release the lock of the group; the node's last user of it gives it up."""
    program = ldlm.programs.rows[program_id]
    file_id = ldlm.programs.operations[program.op].file
    # The last user of a lock writes back below it.
    if not may_pump(ldlm.osc, object_count(ldlm.files, file_id)):
        return FULL
    for object_id in objects_of(ldlm.files, file_id):
        osc_object_id = find_osc_object(ldlm.cache, object_id, program.node)
        leave_group(ldlm, osc_object_id, program.group, now)
    program.group = 0
    program.op += 1
    return GO_ON


@performs(Ldlm, Op.LOCK_AHEAD, on=Backend.LUSTRE)
@outlined
def lock_ahead(ldlm: Ldlm, program_id: int, now: float) -> float:
    """Ask for write locks on the stripe chunks of calls to come, and do not wait for them.

    Lustre takes at most 1,024 such advices a system call (mechanisms, section 2); their cost is
    that of the requests.
    """
    program = ldlm.programs.rows[program_id]
    operation = ldlm.programs.operations[program.op]
    chunks = most_chunks(ldlm.files, operation.file, operation.length)
    if not may_ask(ldlm, operation.count * chunks):
        return FULL
    program.inode = inode_of(ldlm.cache, operation.file, program.node)
    for call in range(operation.count):
        start = operation.offset + call * operation.stride
        stop = start + operation.length
        while start < stop:
            chunk = chunk_at(ldlm.files, operation.file, start)
            size = min(stop - start, chunk.left)
            osc_object_id = osc_object_of(ldlm.cache, chunk.object_id, program.node, program.inode)
            first = chunk.offset // PAGE * PAGE
            last = -(-(chunk.offset + size) // PAGE) * PAGE - 1
            ask_ahead(ldlm, osc_object_id, first, last, now)
            start += size
    program.op += 1
    return GO_ON
