"""Runs of read and write calls: what a call is, whatever keeps its file.

An operation ``READ`` or ``WRITE`` is a run of calls, ``stride`` bytes apart. A program is at call
``call`` of it, of which ``done`` of ``length`` bytes have been turned to.
"""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.plane.programs import Programs
from sim.plane.recorder import add_call, note_called


@outlined
def call_is_due(programs: Programs, program_id: int, now: float) -> bool:
    """Tell whether another call of a run of reads or writes is to be begun.

    After the last of them, or when it is too late for more, the program turns to the next
    operation.
    """
    program = programs.rows[program_id]
    if program.call < programs.operations[program.op].count and now <= program.limit:
        return True
    program.call = 0
    program.op += 1
    return False


@outlined
def start_of_call(programs: Programs, program_id: int) -> int:
    """Return where in the file the present call of a program begins, in bytes."""
    program = programs.rows[program_id]
    operation = programs.operations[program.op]
    return operation.offset + program.call * operation.stride


@outlined
def begin_call(programs: Programs, program_id: int, now: float) -> None:
    """Begin the next call of a run; none of its bytes has been moved."""
    note_called(programs.recorder, program_id, now)
    program = programs.rows[program_id]
    program.length = programs.operations[program.op].length
    program.done = 0


@outlined
def clip_to_file(programs: Programs, program_id: int) -> None:
    """End a read where its file ends."""
    program = programs.rows[program_id]
    file = programs.files.rows[programs.operations[program.op].file]
    left = file.end - start_of_call(programs, program_id)
    program.length = max(min(program.length, left), 0)


@outlined
def end_call(programs: Programs, program_id: int, now: float) -> None:
    """Count a call as done."""
    program = programs.rows[program_id]
    drop_call(programs, program_id, program.length, now)
    program.calls += 1


@outlined
def drop_call(programs: Programs, program_id: int, moved: int, now: float) -> None:
    """Turn to the next call of the run, after one that has moved some bytes; it is not counted."""
    if programs.recorder.on:
        kind = programs.operations[programs.rows[program_id].op].kind
        file = programs.operations[programs.rows[program_id].op].file
        tag = programs.operations[programs.rows[program_id].op].tag
        start = start_of_call(programs, program_id)
        called = programs.recorder.called[program_id]
        add_call(programs.recorder, program_id, kind, file, tag, start, moved, called, now)
    programs.rows[program_id].call += 1
