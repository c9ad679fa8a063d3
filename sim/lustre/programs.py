"""Programs: what a rank does, one operation after another.

A read or write call is a serial loop over stripe chunks (Lustre 2.7 lov_io.c, lov_io_rw_iter_init):
for each chunk, the part of the call that lies in one stripe, the client moves the bytes to or from
one object before it turns to the next. There is no parallelism across stripes inside one call.

``fsync`` asks the MDS to sync (MDS_SYNC), then sends an OST_SYNC to every stripe object of the
file, dirty or not, all at once, and waits for the last reply (Lustre 2.7 llite/file.c, ll_fsync;
osc_io.c, osc_fsync_ost).
"""

from __future__ import annotations

from sim.engine.calendar import schedule
from sim.engine.jit import njit
from sim.engine.network import serve
from sim.engine.pool import give, take
from sim.lustre.osc import GONE, PROGRAM_EVENT, REQUEST_EVENT, submit
from sim.lustre.tables import Cause, Lustre, Op

_READ, _WRITE = int(Op.READ), int(Op.WRITE)
_FSYNC = int(Op.FSYNC)
_OPEN, _UNLINK = int(Op.OPEN), int(Op.UNLINK)
_THINK_OP, _MARK, _LIMIT = int(Op.THINK), int(Op.MARK), int(Op.LIMIT)
_METADATA, _SYNC = int(Cause.METADATA), int(Cause.SYNC)
_MDS, _SERVICE = int(Cause.MDS), int(Cause.SERVICE)
_THINK = int(Cause.THINK)


@njit
def step(lustre: Lustre, program_id: int, now: float) -> float:
    """Let a program go on from where it waited.

    Returns when it acts next by itself, or ``GONE`` when others will wake it or it has ended.
    """
    program = lustre.programs[program_id]
    while program.op < program.stop:
        kind = lustre.operations[program.op].kind
        if kind == _THINK_OP:
            seconds = lustre.operations[program.op].seconds
            lustre.waits[program_id, _THINK] += seconds
            program.op += 1
            return now + seconds
        if kind <= _WRITE:
            waits = _transfer(lustre, program_id, now)
        elif kind == _FSYNC:
            waits = _fsync(lustre, program_id, now)
        elif kind <= _UNLINK:
            waits = _metadata(lustre, program_id, now)
        else:
            waits = _note_time(lustre, program_id, now)
        if waits:
            return GONE
    _end(lustre, program_id)
    return GONE


@njit
def _note_time(lustre: Lustre, program_id: int, now: float) -> bool:
    """Do one of the operations that only look at the clock; these never wait."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    program.op += 1
    if operation.kind == _MARK:
        lustre.marks[program_id, operation.offset] = now
        program.loop = program.op
    elif operation.kind == _LIMIT:
        program.limit = now + operation.seconds
    elif now - lustre.marks[program_id, operation.offset] < operation.seconds:
        program.op = program.loop
    return False


@njit
def _end(lustre: Lustre, program_id: int) -> None:
    """Count a program as ended; note its batch if it was the last."""
    program = lustre.programs[program_id]
    program.active = 0
    lustre.batches[program.batch] -= 1
    if lustre.batches[program.batch] == 0:
        lustre.ended[lustre.ended_count[0]] = program.batch
        lustre.ended_count[0] += 1


@njit
def _transfer(lustre: Lustre, program_id: int, now: float) -> bool:
    """Start the next stripe chunk of a run of reads or writes; False when the run is over."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    if program.done == operation.length:
        program.done = 0
        program.call += 1
        program.calls += 1
        program.call_time += now - program.call_start
    if program.done == 0:
        if program.call == operation.count or now > program.limit:
            program.call = 0
            program.op += 1
            return False
        program.call_start = now
    file = lustre.files[operation.file]
    offset = operation.offset + program.call * operation.stride + program.done
    stripe = offset // file.stripe_size
    inside = offset - stripe * file.stripe_size
    size = min(operation.length - program.done, file.stripe_size - inside)
    row = stripe // file.stripe_count
    object_id = file.first_object + stripe - row * file.stripe_count
    program.done += size
    program.pending = size
    program.since = now
    submit(
        lustre,
        program_id,
        object_id,
        row * file.stripe_size + inside,
        size,
        operation.kind,
        now,
    )
    return True


@njit
def _request(lustre: Lustre, program_id: int, station: int, service: float, now: float) -> None:
    """Send a small request of a program to a server: it skips the queues of the bulk."""
    request_id = take(lustre.spare_requests)
    request = lustre.requests[request_id]
    request.program = program_id
    request.station = station
    request.service = service
    arrival = now + lustre.limits.control_latency
    schedule(lustre.network.calendar, arrival, REQUEST_EVENT, request_id)


@njit
def on_request(lustre: Lustre, request_id: int, now: float) -> float:
    """Queue a request at its server; wake its program when the last reply has come."""
    request = lustre.requests[request_id]
    program = lustre.programs[request.program]
    start = serve(lustre.network, request.station, now, 0.0, request.service)
    idle = lustre.network.stations[request.station].latency
    reply = start + request.service + idle + lustre.limits.control_latency
    program.ready = max(program.ready, reply)
    program.pending -= 1
    if program.pending == 0:
        schedule(lustre.network.calendar, program.ready, PROGRAM_EVENT, request.program)
    give(lustre.spare_requests, request_id)
    return GONE


@njit
def _wait_for(lustre: Lustre, program_id: int, replies: int, now: float) -> None:
    """Let a program wait for so many replies."""
    program = lustre.programs[program_id]
    program.pending = replies
    program.ready = now
    program.since = now
    program.phase += 1


@njit
def _metadata(lustre: Lustre, program_id: int, now: float) -> bool:
    """Do one operation at the MDS; False when its reply has come."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    if program.phase == 1:
        lustre.waits[program_id, _METADATA] += now - program.since
        program.phase = 0
        program.op += 1
        return False
    station = lustre.stations.mds + lustre.files[operation.file].mdt
    _wait_for(lustre, program_id, 1, now)
    _request(lustre, program_id, station, lustre.metadata[operation.kind], now)
    return True


@njit
def _fsync(lustre: Lustre, program_id: int, now: float) -> bool:
    """Sync a file: first the MDS, then every stripe object; False when all have replied."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    file = lustre.files[operation.file]
    if program.phase > 0:
        lustre.waits[program_id, _SYNC] += now - program.since
    if program.phase == 2:
        program.phase = 0
        program.op += 1
        return False
    if program.phase == 0:
        _wait_for(lustre, program_id, 1, now)
        station = lustre.stations.mds + file.mdt
        _request(lustre, program_id, station, lustre.metadata[_FSYNC], now)
        return True
    _wait_for(lustre, program_id, file.stripe_count, now)
    for i in range(file.stripe_count):
        oss = lustre.objects[file.first_object + i] // lustre.limits.osts_per_oss
        station = lustre.stations.service + oss
        _request(lustre, program_id, station, lustre.limits.request_service, now)
    return True
