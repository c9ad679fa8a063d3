"""Calls on files behind service nodes: reads and writes in parts, and small requests.

A call is cut at the stripes of the file. Bytes take room of an allocation when the file grows over
them; where there is none left, the call ends with ENOSPC. Names are the business of the first
service node of a file; an fsync asks all of them.
"""

from __future__ import annotations

from xc40io.engine.compiled import outlined
from xc40io.lustre.requests import SERVER_REQUEST, may_send, send
from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.files import Backend, chunk_at, object_count, object_of, stripe_end
from xc40io.plane.operations import Op
from xc40io.plane.programs import (
    REFUSED,
    begin_call,
    call_is_due,
    charge,
    charge_reply,
    clip_to_file,
    drop_call,
    start_of_call,
    wait_for,
)
from xc40io.plane.recorder import record_span
from xc40io.plane.registry import FULL, GO_ON, GONE, performs
from xc40io.storage.dvs.blocks import submit
from xc40io.storage.dvs.mounts import DVS_PARTS, Dvs

_WRITE, _FSYNC, _UNLINK, _TRUNCATE = int(Op.WRITE), int(Op.FSYNC), int(Op.UNLINK), int(Op.TRUNCATE)
_METADATA, _SYNC, _STORE = int(Cause.METADATA), int(Cause.SYNC), int(Cause.STORE)
_NO_SPACE = int(Stat.NO_SPACE_BYTES)

# States of a run of calls: what has happened, what the program does next -> what may follow.
_BETWEEN_CALLS = 0  # no call is under way: begins the next one -> _MOVED
_MOVED = 1  # the parts sent so far are through: sends more -> _MOVED; or ends it -> _BETWEEN_CALLS

# States of a small request.
_CALLED = 0  # nothing yet: asks the service nodes -> _ANSWERED
_ANSWERED = 1  # all replies are there: the operation ends -> _CALLED


@performs(Dvs, Op.READ, Op.WRITE, on=Backend.DVS)
@outlined
def transfer(dvs: Dvs, program_id: int, now: float) -> float:
    """Take a run of reads or writes one step further."""
    if dvs.programs.rows[program_id].phase == _MOVED:
        return _next_parts(dvs, program_id, now)
    if not call_is_due(dvs.programs, program_id, now):
        return GO_ON
    return _next_call(dvs, program_id, now)


@outlined
def _next_call(dvs: Dvs, program_id: int, now: float) -> float:
    """Begin the next call of the run."""
    program = dvs.programs.rows[program_id]
    operation = dvs.programs.operations[program.op]
    begin_call(dvs.programs, program_id, now)
    if operation.kind == _WRITE:
        _take_room(dvs, program_id, start_of_call(dvs.programs, program_id))
    else:
        clip_to_file(dvs.programs, program_id)
    return _next_parts(dvs, program_id, now)


@outlined
def _take_room(dvs: Dvs, program_id: int, start: int) -> None:
    """Take room of the allocation for the bytes that a write adds; cut it where there is none."""
    program = dvs.programs.rows[program_id]
    file = dvs.files.rows[dvs.programs.operations[program.op].file]
    volume = dvs.volumes[file.volume]
    # A hole takes room as well: who fills it later finds it taken.
    may_end = file.end + max(volume.capacity - volume.used, 0)
    stop = max(min(start + program.length, may_end), start)
    refused = program.length - (stop - start)
    if refused > 0:
        dvs.programs.refused[program_id, REFUSED] += refused
        dvs.programs.stats[_NO_SPACE] += refused
        program.length -= refused
    if program.length > 0 and stop > file.end:
        volume.used += stop - file.end
        file.end = stop


@outlined
def _next_parts(dvs: Dvs, program_id: int, now: float) -> float:
    """Send the next stripes of a call, many of them together; end the call where there are none."""
    program = dvs.programs.rows[program_id]
    operation = dvs.programs.operations[program.op]
    if program.done == program.length:
        program.phase = _BETWEEN_CALLS
        drop_call(dvs.programs, program_id, program.length, now)
        program.calls += 1 if program.length > 0 else 0
        return GO_ON
    start = start_of_call(dvs.programs, program_id) + program.done
    stop = min(
        start + program.length - program.done,
        stripe_end(dvs.files, operation.file, start, DVS_PARTS),
    )
    program.phase = _MOVED
    program.since = now
    program.pending = stop - start  # the last block of these wakes it
    program.done += stop - start
    while start < stop:
        chunk = chunk_at(dvs.files, operation.file, start)
        size = min(stop - start, chunk.left)
        submit(dvs, program_id, chunk.object_id, start, size, operation.kind, now)
        start += size
    return GONE


@performs(
    Dvs,
    *(Op.OPEN, Op.CREATE, Op.CLOSE, Op.STAT, Op.UNLINK, Op.MKDIR, Op.RENAME, Op.READDIR),
    *(Op.TRUNCATE, Op.FSYNC),
    on=Backend.DVS,
)
@outlined
def metadata(dvs: Dvs, program_id: int, now: float) -> float:
    """Take an operation one step further that is a small request, or an fsync."""
    program = dvs.programs.rows[program_id]
    operation = dvs.programs.operations[program.op]
    if program.phase == _CALLED:
        return _ask(dvs, program_id, operation.kind, now)
    program.phase = _CALLED
    program.op += 1
    charge_reply(dvs.programs, program_id)
    if operation.kind != _FSYNC:
        charge(dvs.programs, program_id, _METADATA, now)
        return GO_ON
    first = object_of(dvs.files, operation.file, 0)
    seconds = dvs.servers[dvs.files.objects[first].ost].sync_time
    dvs.programs.waits[_SYNC, program_id] += now - program.since + seconds
    record_span(dvs.programs.recorder, program_id, _SYNC, program.since, now + seconds)
    dvs.programs.behind[_STORE, program_id] += seconds
    return now + seconds


@outlined
def _ask(dvs: Dvs, program_id: int, kind: int, now: float) -> float:
    """Send a small request to the file's first service node; an fsync to all of them."""
    program = dvs.programs.rows[program_id]
    operation = dvs.programs.operations[program.op]
    file = dvs.files.rows[operation.file]
    asked = object_count(dvs.files, operation.file) if kind == _FSYNC else 1
    if not may_send(dvs.requests, asked):
        return FULL
    if kind in (_UNLINK, _TRUNCATE):
        end = operation.offset if kind == _TRUNCATE else 0
        dvs.volumes[file.volume].used -= max(file.end - end, 0)
        file.end = end
    program.phase = _ANSWERED
    program.since = now
    wait_for(dvs.programs, program_id, asked, now)
    for index in range(asked):
        object_id = object_of(dvs.files, operation.file, index)
        number = dvs.files.objects[object_id].ost
        station, server = dvs.server_requests + number, dvs.servers[number]
        service, latency = server.open_time, server.latency
        send(dvs.requests, program_id, SERVER_REQUEST, station, service, latency, object_id, now)
    return GONE
