"""Operations on time and on threads: what a program does without any file.

A rank may have several threads for its I/O. Each is a program of its own, numbered next after its
leader: the leader's ``FORK`` starts them and its ``JOIN`` waits for them; until then they rest at
their first operation, ``PARK``.

Programs that work side by side in one batch tell each other how far they are: each counts by
``POST``, and others ``AWAIT`` a count.
"""

from __future__ import annotations

import numpy as np

from xc40io.engine.compiled import entry, inlined, outlined
from xc40io.engine.pool import NoRowLeftError
from xc40io.engine.randomness import uniform
from xc40io.engine.types import Integers
from xc40io.plane.causes import Cause
from xc40io.plane.operations import COLUMNS, ON_FILES, Op
from xc40io.plane.programs import FIRST_PHASE, Programs, charge, charge_ahead, wake, wake_all
from xc40io.plane.recorder import add_call
from xc40io.plane.registry import GO_ON, GONE, performs

_THINKING, _THREADS, _LIBRARY = int(Cause.THINK), int(Cause.THREADS), int(Cause.LIBRARY)
_JOIN, _PARK = int(Op.JOIN), int(Op.PARK)

# What is no act of a program but the order of its acts.
_ORDER = Op.MARK, Op.LIMIT, Op.REPEAT, Op.PARK, Op.FORK, Op.ITEM, Op.POST
_RECORDED = np.array([kind not in (Op.READ, Op.WRITE, *_ORDER) for kind in Op])
_ON_FILE = np.array([kind in ON_FILES for kind in Op])
_HAS_OFFSET = np.array(["offset" in COLUMNS[kind] for kind in Op])

# States of a JOIN: what has happened, what the program does next -> what may follow.
_CALLED = 0  # nothing yet: waits for its threads, if any are left -> _JOINING
_JOINING = 1  # it has begun to wait: goes on when the last thread has ended -> _CALLED
# States of an AWAIT are the same.


@performs(Programs, Op.THINK)
@outlined
def think(programs: Programs, program_id: int, now: float) -> float:
    """Compute for some seconds."""
    return _be_busy(programs, program_id, _THINKING, now)


@performs(Programs, Op.WORK)
@outlined
def work(programs: Programs, program_id: int, now: float) -> float:
    """Work in a library for some seconds."""
    return _be_busy(programs, program_id, _LIBRARY, now)


@outlined
def _be_busy(programs: Programs, program_id: int, cause: int, now: float) -> float:
    """End an operation that takes its ``seconds``; return when they are over."""
    program = programs.rows[program_id]
    seconds = programs.operations[program.op].seconds
    program.op += 1
    return charge_ahead(programs, program_id, cause, seconds, now)


@performs(Programs, Op.UNTIL)
@outlined
def think_until(programs: Programs, program_id: int, now: float) -> float:
    """Compute until the clock shows some time; not at all if it is past that."""
    program = programs.rows[program_id]
    seconds = programs.operations[program.op].seconds - now
    program.op += 1
    if seconds <= 0.0:
        return GO_ON
    return charge_ahead(programs, program_id, _THINKING, seconds, now)


@performs(Programs, Op.MARK)
@outlined
def mark(programs: Programs, program_id: int, now: float) -> float:
    """Note the time; a ``REPEAT`` goes back to here."""
    program = programs.rows[program_id]
    programs.marks[program_id, programs.operations[program.op].mark] = now
    program.op += 1
    program.loop = program.op
    return GO_ON


@performs(Programs, Op.LIMIT)
@outlined
def limit(programs: Programs, program_id: int, now: float) -> float:
    """Set the time after which no read or write is started."""
    program = programs.rows[program_id]
    program.limit = now + programs.operations[program.op].seconds
    program.op += 1
    return GO_ON


@performs(Programs, Op.REPEAT)
@outlined
def repeat(programs: Programs, program_id: int, now: float) -> float:
    """Go back to the latest ``MARK`` until some seconds have passed since a time noted."""
    program = programs.rows[program_id]
    operation = programs.operations[program.op]
    program.op += 1
    if now - programs.marks[program_id, operation.mark] < operation.seconds:
        program.op = program.loop
    return GO_ON


@performs(Programs, Op.ITEM)
@outlined
def begin_item(programs: Programs, program_id: int, now: float) -> float:
    """Count an item of work and go on with it; leave it out if it is too late for more."""
    program = programs.rows[program_id]
    operation = programs.operations[program.op]
    if now - programs.marks[program_id, operation.mark] > operation.seconds:
        program.op += operation.count
    else:
        program.calls += 1
    program.op += 1
    return GO_ON


@performs(Programs, Op.FORK)
@outlined
def fork(programs: Programs, program_id: int, now: float) -> float:
    """Start the threads of a program."""
    program = programs.rows[program_id]
    program.threads = programs.operations[program.op].count
    for thread_id in range(program_id + 1, program_id + 1 + program.threads):
        programs.rows[thread_id].leader = program_id
        wake(programs, thread_id, now)
    program.op += 1
    return GO_ON


@performs(Programs, Op.JOIN)
@outlined
def join_threads(programs: Programs, program_id: int, now: float) -> float:
    """Wait until the threads of a program have ended."""
    return _wait(programs, program_id, now, programs.rows[program_id].threads > 0)


@inlined
def _wait(programs: Programs, program_id: int, now: float, more: bool) -> float:
    """Let a program wait while there is more to wait for, and then go on."""
    program = programs.rows[program_id]
    if program.phase == _CALLED:
        program.since = now
        program.phase = _JOINING
    if more:
        return GONE
    charge(programs, program_id, _THREADS, now)
    program.phase = _CALLED
    program.op += 1
    return GO_ON


@performs(Programs, Op.POST)
@outlined
def post(programs: Programs, program_id: int, now: float) -> float:
    """Count one up, and wake those who await it; they look whether it is enough."""
    program = programs.rows[program_id]
    program.posts += 1
    program.op += 1
    head = program.watchers
    program.watchers = -1
    wake_all(programs, head, now)
    return GO_ON


@performs(Programs, Op.AWAIT)
@outlined
def await_posts(programs: Programs, program_id: int, now: float) -> float:
    """Wait until another program has counted far enough."""
    program = programs.rows[program_id]
    operation = programs.operations[program.op]
    other = programs.rows[operation.program]
    more = other.posts < operation.count
    if more:
        program.next = other.watchers
        other.watchers = program_id
    return _wait(programs, program_id, now, more)


@outlined
def read_timer(programs: Programs, program_id: int, now: float) -> None:
    """Add what an operation took to its timer; time the next one."""
    program = programs.rows[program_id]
    if program.timed >= 0:
        timer = programs.operations[program.timed].timer
        programs.timers[timer, program_id] += now - program.timed_since
        if programs.recorder.on:
            _record_operation(programs, program_id, now)
    program.timed = program.op
    program.timed_since = now


@outlined
def _record_operation(programs: Programs, program_id: int, now: float) -> None:
    """Record an operation that has ended; of reads and writes each call has a record of its own."""
    program = programs.rows[program_id]
    operation = programs.operations[program.timed]
    kind = operation.kind
    if not _RECORDED[kind]:
        return
    file = operation.file if _ON_FILE[kind] else -1
    offset = operation.offset if _HAS_OFFSET[kind] else 0
    since = program.timed_since
    add_call(programs.recorder, program_id, kind, file, operation.tag, offset, 0, since, now)


@outlined
def end(programs: Programs, program_id: int, now: float) -> None:
    """Count a program as ended; note its batch, and wake its leader, if it was the last."""
    program = programs.rows[program_id]
    program.active = 0
    if program.leader >= 0:
        leader = programs.rows[program.leader]
        leader.threads -= 1
        # A leader that is still at work before its JOIN finds no threads left when it comes there.
        waits = programs.operations[leader.op].kind == _JOIN and leader.phase == _JOINING
        if leader.threads == 0 and waits:
            wake(programs, program.leader, now)
        program.leader = -1
    programs.batches[program.batch] -= 1
    if programs.batches[program.batch] == 0:
        programs.ended[programs.ended_count[0]] = program.batch
        programs.ended_count[0] += 1


@entry(raises=NoRowLeftError)
def start_programs(
    programs: Programs, started: Integers, bounds: Integers, batch: int, going_on: bool
) -> None:
    """Begin the operations ``bounds[i]:bounds[i + 1]`` of the program ``started[i]``.

    They come out of a barrier, one a little after the other: who is first is chance. Those that
    are ``going_on`` have just ended what they did before, and do this at once.
    """
    now = programs.clock[0]
    for i in range(len(started)):
        program = programs.rows[started[i]]
        program.op = program.loop = bounds[i]
        program.leader = -1
        program.threads = 0
        program.stop = bounds[i + 1]
        program.call = 0
        program.done = 0
        program.phase = FIRST_PHASE
        program.calls = 0
        program.posts = 0
        program.watchers = -1
        program.timed = -1
        program.limit = np.inf
        program.batch = batch
        program.active = 1
        if programs.operations[bounds[i]].kind == _PARK:
            program.op += 1
        elif going_on:
            wake(programs, started[i], now)
        else:
            source = programs.first_draw + started[i]
            # By its own barriers, and by nothing that others do: in two runs that differ in
            # something else it is as late, so that their difference is not chance.
            draw = uniform(programs.seed, source, program.barriers)
            program.barriers += 1
            wake(programs, started[i], now + programs.barrier_skew * draw)
