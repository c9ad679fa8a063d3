"""Byte-range locks: writers of one file on one node exclude each other where they overlap.

This is the range lock of Lustre 2.7 (LU-1669, llite/range_lock.c). Programs that hold a group lock
answer for themselves.
"""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.engine.queue import clear, join
from sim.node.page_cache import PageCache
from sim.plane.calls import start_of_call
from sim.plane.programs import Programs, wake_all


@outlined
def take_range(cache: PageCache, program_id: int, now: float) -> bool:
    """Take the range of bytes of a write; if another write has some of them, wait and say False."""
    program = cache.programs.rows[program_id]
    inode = cache.inodes[program.inode]
    start = start_of_call(cache.programs, program_id)
    if program.group == 0 and _others_write(cache.programs, inode.writers, start, program.length):
        program.since = now
        join(inode.range_waiters, cache.programs.rows, program_id)
        return False
    program.writer_next = inode.writers
    inode.writers = program_id
    return True


@outlined
def leave_range(cache: PageCache, program_id: int, now: float) -> None:
    """Give up the range of bytes of a write; wake all who wait for one, to try again."""
    _leave_writers(cache, program_id)
    inode = cache.inodes[cache.programs.rows[program_id].inode]
    wake_all(cache.programs, inode.range_waiters.head, now)
    clear(inode.range_waiters)


@outlined
def _others_write(programs: Programs, writers: int, start: int, length: int) -> bool:
    """Tell whether a program of a list has a call under way that overlaps a range of bytes."""
    while writers >= 0:
        other = programs.rows[writers]
        operation = programs.operations[other.op]
        other_start = operation.offset + other.call * operation.stride
        if other_start < start + length and start < other_start + operation.length:
            return True
        writers = other.writer_next
    return False


@outlined
def _leave_writers(cache: PageCache, program_id: int) -> None:
    """Take a program out of its inode's list of writers."""
    programs = cache.programs.rows
    inode = cache.inodes[programs[program_id].inode]
    after = programs[program_id].writer_next
    if inode.writers == program_id:
        inode.writers = after
        return
    previous = inode.writers
    while programs[previous].writer_next != program_id:
        previous = programs[previous].writer_next
    programs[previous].writer_next = after
