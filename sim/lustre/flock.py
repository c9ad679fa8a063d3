"""Locks that programs take on ranges of bytes by ``fcntl``: advice among programs, not to clients.

MPI-IO takes one around each read-modify-write of data sieving, so that no other rank changes what
lies between its pieces meanwhile. With ``flock`` mounts they are kept at the MDS (Lustre 2.7
ldlm_flock.c): a request waits there while somebody else's range overlaps; when a range is given
back, those who wait are tried in the order in which they came. Those of a file behind service nodes
are kept by the first of these, those of a local file by the kernel of its node, at no price.
"""

from __future__ import annotations

from sim.engine.calendar import schedule
from sim.engine.jit import njit
from sim.lustre.events import GO_ON, GONE, PROGRAM_EVENT
from sim.lustre.requests import MDS_OPERATION, SERVER_REQUEST, send, wait_for
from sim.lustre.tables import Backend, Cause, Lustre, Op

_SSD, _DVS = int(Backend.SSD), int(Backend.DVS)
_FLOCK, _RANGE = int(Op.FLOCK), int(Cause.RANGE)

# Where a program is.
_ASKED = 1
_WAITING = 2


@njit
def flock(lustre: Lustre, program_id: int, now: float) -> float:
    """Take a range of bytes of a file, or give back the one that the program has there."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    if program.phase == 0:
        program.phase = _ASKED
        program.since = now
        if lustre.files[operation.file].backend != _SSD:
            _ask(lustre, program_id, now)
            return GONE
    if program.phase == _ASKED:
        if operation.kind == _FLOCK:
            if not _take(lustre, program_id):
                program.phase = _WAITING
                return GONE
        else:
            _give_back(lustre, program_id, now)
    lustre.waits[program_id, _RANGE] += now - program.since
    program.phase = 0
    program.op += 1
    return GO_ON


@njit
def _ask(lustre: Lustre, program_id: int, now: float) -> None:
    """Send the request of a program to whoever keeps the ranges of its file."""
    file_id = lustre.operations[lustre.programs[program_id].op].file
    file = lustre.files[file_id]
    wait_for(lustre, program_id, 1, now)
    if file.backend == _DVS:
        server = lustre.objects[file.first_object].ost
        station = lustre.stations.server_requests + server
        service = lustre.servers[server].open_time
        send(lustre, program_id, SERVER_REQUEST, station, service, file_id, now)
        return
    station = lustre.stations.mds + file.mdt
    send(lustre, program_id, MDS_OPERATION, station, lustre.metadata[_FLOCK], file_id, now)


@njit
def _take(lustre: Lustre, program_id: int) -> bool:
    """Let a program have its range; if others hold some of it, put it in line and say False."""
    operation = lustre.operations[lustre.programs[program_id].op]
    if _is_free(lustre, program_id):
        _hold(lustre, program_id)
        return True
    program = lustre.programs[program_id]
    file = lustre.files[operation.file]
    program.flock_next = -1
    if file.flock_waiting < 0:
        file.flock_waiting = program_id
    else:
        lustre.programs[file.flock_last].flock_next = program_id
    file.flock_last = program_id
    return False


@njit
def _is_free(lustre: Lustre, program_id: int) -> bool:
    """Tell whether nobody holds any of the range that a program asks for."""
    operation = lustre.operations[lustre.programs[program_id].op]
    holder = lustre.files[operation.file].flock_held
    while holder >= 0:
        other = lustre.programs[holder]
        stop = operation.offset + operation.length
        if other.flock_start < stop and operation.offset < other.flock_end:
            return False
        holder = other.flock_next
    return True


@njit
def _hold(lustre: Lustre, program_id: int) -> None:
    """Enter a program among the holders of ranges of its file."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    program.flock_start = operation.offset
    program.flock_end = operation.offset + operation.length
    program.flock_next = lustre.files[operation.file].flock_held
    lustre.files[operation.file].flock_held = program_id


@njit
def _give_back(lustre: Lustre, program_id: int, now: float) -> None:
    """Take a program out of the holders, and let those in line have what is free now."""
    program = lustre.programs[program_id]
    file = lustre.files[lustre.operations[program.op].file]
    if file.flock_held == program_id:
        file.flock_held = program.flock_next
    else:
        previous = file.flock_held
        while lustre.programs[previous].flock_next != program_id:
            previous = lustre.programs[previous].flock_next
        lustre.programs[previous].flock_next = program.flock_next
    previous = -1
    waiting = file.flock_waiting
    while waiting >= 0:
        after = lustre.programs[waiting].flock_next
        if _is_free(lustre, waiting):
            if previous < 0:
                file.flock_waiting = after
            else:
                lustre.programs[previous].flock_next = after
            if file.flock_last == waiting:
                file.flock_last = previous
            _hold(lustre, waiting)
            arrival = now + lustre.limits.control_latency
            schedule(lustre.network.calendar, arrival, PROGRAM_EVENT, waiting)
        else:
            previous = waiting
        waiting = after
