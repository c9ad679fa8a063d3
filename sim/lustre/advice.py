"""Locks that programs ask for themselves: group locks, and lock-ahead."""

from __future__ import annotations

from sim.engine.jit import njit
from sim.engine.page import PAGE
from sim.lustre.events import GO_ON, GONE
from sim.lustre.ldlm import ask_ahead, join_group, leave_group
from sim.lustre.pages import find_view, inode_of, view_of
from sim.lustre.tables import Cause, Lustre

_LOCK = int(Cause.LOCK)


@njit
def lock_group(lustre: Lustre, program_id: int, now: float) -> float:
    """Take the lock of a group on every object of a file (LL_IOC_GROUP_LOCK); wait for all."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    if program.phase == 0:
        file = lustre.files[operation.file]
        program.inode = inode_of(lustre, operation.file, program.node)
        program.phase = 1
        program.since = now
        program.pending = 0
        for object_id in range(file.first_object, file.first_object + file.stripe_count):
            view_id = view_of(lustre, object_id, program.node, program.inode)
            if not join_group(lustre, program_id, view_id, operation.offset, now):
                program.pending += 1
        if program.pending > 0:
            return GONE
    lustre.waits[program_id, _LOCK] += now - program.since
    program.group = operation.offset
    program.phase = 0
    program.op += 1
    return GO_ON


@njit
def unlock_group(lustre: Lustre, program_id: int, now: float) -> float:
    """Release the lock of the group; the node's last user of it gives it up."""
    program = lustre.programs[program_id]
    file = lustre.files[lustre.operations[program.op].file]
    for object_id in range(file.first_object, file.first_object + file.stripe_count):
        view_id = find_view(lustre, object_id, program.node)
        leave_group(lustre, view_id, program.group, now)
    program.group = 0
    program.op += 1
    return GO_ON


@njit
def lock_ahead(lustre: Lustre, program_id: int, now: float) -> float:
    """Ask for write locks on the stripe chunks of calls to come, and do not wait for them.

    Lustre takes at most 1,024 such advices a system call (mechanisms, section 2); their cost is
    that of the requests.
    """
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    file = lustre.files[operation.file]
    program.inode = inode_of(lustre, operation.file, program.node)
    for call in range(operation.count):
        start = operation.offset + call * operation.stride
        stop = start + operation.length
        while start < stop:
            stripe = start // file.stripe_size
            inside = start - stripe * file.stripe_size
            row = stripe // file.stripe_count
            size = min(stop - start, file.stripe_size - inside)
            object_id = file.first_object + stripe - row * file.stripe_count
            view_id = view_of(lustre, object_id, program.node, program.inode)
            first = (row * file.stripe_size + inside) // PAGE * PAGE
            last = -(-(row * file.stripe_size + inside + size) // PAGE) * PAGE - 1
            ask_ahead(lustre, view_id, first, last, now)
            start += size
    program.op += 1
    return GO_ON
