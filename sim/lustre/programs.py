"""Programs: what a rank does, one operation after another.

A rank may have several threads for its I/O. Each is a program of its own, numbered next after its
leader: the leader's ``FORK`` starts them and its ``JOIN`` waits for them; until then they rest at
their first operation, ``PARK``.
"""

from __future__ import annotations

from sim.engine.calendar import schedule
from sim.engine.jit import inlined, njit
from sim.lustre.advice import lock_ahead, lock_group, unlock_group
from sim.lustre.calls import transfer
from sim.lustre.dvs import remote
from sim.lustre.events import GO_ON, GONE, PROGRAM_EVENT
from sim.lustre.exchange import exchange, meet
from sim.lustre.flock import flock
from sim.lustre.local import local
from sim.lustre.metadata import fsync, metadata, truncate
from sim.lustre.tables import Backend, Cause, Lustre, Op

_ON_LUSTRE, _ON_SSD = int(Backend.LUSTRE), int(Backend.SSD)
_WRITE, _FSYNC, _MKDIR = int(Op.WRITE), int(Op.FSYNC), int(Op.MKDIR)
_THINK, _MARK, _LIMIT = int(Op.THINK), int(Op.MARK), int(Op.LIMIT)
_REPEAT, _GROUP_LOCK = int(Op.REPEAT), int(Op.GROUP_LOCK)
_GROUP_UNLOCK, _LOCK_AHEAD = int(Op.GROUP_UNLOCK), int(Op.LOCK_AHEAD)
_FORK, _JOIN, _MEET = int(Op.FORK), int(Op.JOIN), int(Op.MEET)
_WORK, _EXCHANGE, _TRUNCATE = int(Op.WORK), int(Op.EXCHANGE), int(Op.TRUNCATE)
_UNTIL = int(Op.UNTIL)
_THINKING, _THREADS, _LIBRARY = int(Cause.THINK), int(Cause.THREADS), int(Cause.LIBRARY)


@njit
def step(lustre: Lustre, program_id: int, now: float) -> float:
    """Let a program go on from where it waited.

    Returns when it acts next by itself, or ``GONE`` when others will wake it or it has ended.
    """
    program = lustre.programs[program_id]
    while program.op < program.stop:
        if program.op != program.timed:
            _read_timer(lustre, program_id, now)
        kind = lustre.operations[program.op].kind
        if kind <= _MKDIR:
            answer = _on_file(lustre, program_id, kind, now)
        elif kind <= _REPEAT:
            answer = _look_at_clock(lustre, program_id, now)
        elif kind <= _LOCK_AHEAD:
            answer = _advise(lustre, program_id, kind, now)
        elif kind <= _JOIN:
            answer = _lead(lustre, program_id, kind, now)
        else:
            answer = _together(lustre, program_id, kind, now)
        if answer != GO_ON:
            return answer
    _read_timer(lustre, program_id, now)
    _end(lustre, program_id, now)
    return GONE


@inlined
def _on_file(lustre: Lustre, program_id: int, kind: int, now: float) -> float:
    """Do an operation on a file."""
    if kind <= _WRITE and _has_ended(lustre, program_id, now):
        return GO_ON
    if _is_elsewhere(lustre, program_id):
        return _elsewhere(lustre, program_id, kind, now)
    if kind <= _WRITE:
        return transfer(lustre, program_id, now)
    if kind == _FSYNC:
        return fsync(lustre, program_id, now)
    return metadata(lustre, program_id, now)


@inlined
def _has_ended(lustre: Lustre, program_id: int, now: float) -> bool:
    """Turn to the next operation after the last call of a run, or when it is too late for more.

    Between two calls a program is in phase 0.
    """
    program = lustre.programs[program_id]
    if program.phase > 0:
        return False
    if program.call < lustre.operations[program.op].count and now <= program.limit:
        return False
    program.call = 0
    program.op += 1
    return True


@inlined
def _is_elsewhere(lustre: Lustre, program_id: int) -> bool:
    """Tell whether the file of a program's operation is not on Lustre."""
    file_id = lustre.operations[lustre.programs[program_id].op].file
    return lustre.files[file_id].backend != _ON_LUSTRE


@njit
def _elsewhere(lustre: Lustre, program_id: int, kind: int, now: float) -> float:
    """Do an operation on a file that is not on Lustre."""
    file_id = lustre.operations[lustre.programs[program_id].op].file
    if lustre.files[file_id].backend == _ON_SSD:
        return local(lustre, program_id, kind, now)
    return remote(lustre, program_id, kind, now)


@njit
def _read_timer(lustre: Lustre, program_id: int, now: float) -> None:
    """Add what an operation took to its timer; time the next one."""
    program = lustre.programs[program_id]
    if program.timed >= 0:
        timer = lustre.operations[program.timed].timer
        lustre.timers[program_id, timer] += now - program.timed_since
    program.timed = program.op
    program.timed_since = now


@njit
def _together(lustre: Lustre, program_id: int, kind: int, now: float) -> float:
    """Do an operation of a library that works with others."""
    if kind == _MEET:
        return meet(lustre, program_id, now)
    if kind == _EXCHANGE:
        return exchange(lustre, program_id, now)
    if kind == _WORK:
        program = lustre.programs[program_id]
        seconds = lustre.operations[program.op].seconds
        lustre.waits[program_id, _LIBRARY] += seconds
        program.op += 1
        return now + seconds
    if kind == _TRUNCATE:
        if _is_elsewhere(lustre, program_id):
            return _elsewhere(lustre, program_id, kind, now)
        return truncate(lustre, program_id, now)
    if kind == _UNTIL:
        program = lustre.programs[program_id]
        seconds = lustre.operations[program.op].seconds - now
        program.op += 1
        if seconds <= 0.0:
            return GO_ON
        lustre.waits[program_id, _THINKING] += seconds
        return now + seconds
    return flock(lustre, program_id, now)


@njit
def _advise(lustre: Lustre, program_id: int, kind: int, now: float) -> float:
    """Do an operation on locks; only Lustre has them."""
    if _is_elsewhere(lustre, program_id):
        lustre.programs[program_id].op += 1
        return GO_ON
    if kind == _GROUP_LOCK:
        return lock_group(lustre, program_id, now)
    if kind == _GROUP_UNLOCK:
        return unlock_group(lustre, program_id, now)
    return lock_ahead(lustre, program_id, now)


@njit
def _lead(lustre: Lustre, program_id: int, kind: int, now: float) -> float:
    """Start the threads of a program, or wait for them."""
    program = lustre.programs[program_id]
    if kind == _FORK:
        program.threads = lustre.operations[program.op].count
        for thread_id in range(program_id + 1, program_id + 1 + program.threads):
            lustre.programs[thread_id].leader = program_id
            schedule(lustre.network.calendar, now, PROGRAM_EVENT, thread_id)
        program.op += 1
        return GO_ON
    if program.phase == 0:
        program.since = now
        program.phase = 1
    if program.threads > 0:
        return GONE
    lustre.waits[program_id, _THREADS] += now - program.since
    program.phase = 0
    program.op += 1
    return GO_ON


@njit
def _look_at_clock(lustre: Lustre, program_id: int, now: float) -> float:
    """Think, note the time, set a limit, or go back."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    program.op += 1
    if operation.kind == _THINK:
        lustre.waits[program_id, _THINKING] += operation.seconds
        return now + operation.seconds
    if operation.kind == _MARK:
        lustre.marks[program_id, operation.offset] = now
        program.loop = program.op
    elif operation.kind == _LIMIT:
        program.limit = now + operation.seconds
    elif now - lustre.marks[program_id, operation.offset] < operation.seconds:
        program.op = program.loop
    return GO_ON


@njit
def _end(lustre: Lustre, program_id: int, now: float) -> None:
    """Count a program as ended; note its batch, and wake its leader, if it was the last."""
    program = lustre.programs[program_id]
    program.active = 0
    if program.leader >= 0:
        leader = lustre.programs[program.leader]
        leader.threads -= 1
        waits = lustre.operations[leader.op].kind == _JOIN and leader.phase == 1
        if leader.threads == 0 and waits:
            schedule(lustre.network.calendar, now, PROGRAM_EVENT, program.leader)
        program.leader = -1
    lustre.batches[program.batch] -= 1
    if lustre.batches[program.batch] == 0:
        lustre.ended[lustre.ended_count[0]] = program.batch
        lustre.ended_count[0] += 1
