"""Locks that programs take on ranges of bytes by ``fcntl``: advice among programs, not to clients.

MPI-IO takes one around each read-modify-write of data sieving, so that no other rank changes what
lies between its pieces meanwhile. With ``flock`` mounts they are kept at the MDS (Lustre 2.7
ldlm_flock.c): a request waits there while somebody else's range overlaps; when a range is given
back, those who wait are tried in the order in which they came. Those of a file behind service nodes
are kept by the first of these, and ranges of a local file by the kernel of its node, at no price.
"""

from __future__ import annotations

from xc40io.engine.compiled import outlined
from xc40io.engine.component import Component
from xc40io.engine.network import Network
from xc40io.engine.queue import EMPTY, QUEUE, join, leave
from xc40io.engine.record import Column
from xc40io.lustre.mds import Mds
from xc40io.lustre.net.lnet import Lnet
from xc40io.lustre.requests import MDS_OPERATION, SERVER_REQUEST, Requests, send
from xc40io.plane.causes import Cause
from xc40io.plane.files import FILE, Backend, Files, object_of
from xc40io.plane.operations import Op
from xc40io.plane.programs import PROGRAM, Programs, charge, wait_for, wake
from xc40io.plane.registry import GO_ON, GONE, performs
from xc40io.plane.site import Site
from xc40io.storage.dvs.mounts import Dvs

_SSD, _DVS = int(Backend.SSD), int(Backend.DVS)
_FLOCK, _RANGE = int(Op.FLOCK), int(Cause.RANGE)

# States of either operation: what has happened, what the program does next -> what may follow.
_CALLED = 0  # nothing yet: asks whoever keeps the ranges of the file -> _ASKED
_ASKED = 1  # the request is there: takes its range, or waits -> _GRANTED; gives it back -> _CALLED
_GRANTED = 2  # whoever was in the way is gone, the range is its own: goes on -> _CALLED

FILE.add(
    __name__,
    Column("flock_held", "i4", idle=-1),  # programs that hold ranges of its bytes
    Column("flock_waiting", QUEUE, idle=EMPTY),  # and those that wait for one
)

PROGRAM.add(
    __name__,
    Column("flock_start", "i8"),  # the range of bytes of a file that it holds
    Column("flock_end", "i8"),
    Column("flock_next", "i4"),  # the next that holds a range of the file
)


class Flock(Component):
    """Ranges of bytes that programs hold, wherever the file is."""

    network: Network
    files: Files
    programs: Programs
    lnet: Lnet
    requests: Requests
    mds: Mds
    dvs: Dvs

    @classmethod
    def build(cls, site: Site) -> Flock:
        """Return nothing held: the ranges are columns of files and programs."""
        return site.make(cls)


@performs(Flock, Op.FLOCK, Op.FUNLOCK)
@outlined
def lock_range(flock: Flock, program_id: int, now: float) -> float:
    """Take a range of bytes of a file, or give back the one that the program has there."""
    program = flock.programs.rows[program_id]
    operation = flock.programs.operations[program.op]
    if program.phase == _CALLED:
        program.phase = _ASKED
        program.since = now
        if flock.files.rows[operation.file].backend != _SSD:  # the node's kernel costs nothing
            _ask(flock, program_id, now)
            return GONE
    if program.phase == _ASKED:
        if operation.kind == _FLOCK:
            if not _take(flock.programs, program_id):
                program.phase = _GRANTED
                return GONE
        else:
            _give_back(flock, program_id, now)
    charge(flock.programs, program_id, _RANGE, now)
    program.phase = _CALLED
    program.op += 1
    return GO_ON


@outlined
def _ask(flock: Flock, program_id: int, now: float) -> None:
    """Send the request of a program to whoever keeps the ranges of its file."""
    file_id = flock.programs.operations[flock.programs.rows[program_id].op].file
    file = flock.files.rows[file_id]
    wait_for(flock.programs, program_id, 1, now)
    if file.backend == _DVS:
        server = flock.files.objects[object_of(flock.files, file_id, 0)].ost
        kind, station = SERVER_REQUEST, flock.dvs.server_requests + server
        service = flock.dvs.servers[server].open_time
    else:
        kind, station = MDS_OPERATION, flock.mds.station + file.mdt
        service = flock.mds.seconds[_FLOCK]
    latency = _latency(flock, file_id)
    send(flock.requests, program_id, kind, station, service, latency, file_id, now)


@outlined
def _latency(flock: Flock, file_id: int) -> float:
    """Return the seconds of a small message to whoever keeps the ranges of a file, one way."""
    backend = flock.files.rows[file_id].backend
    if backend == _SSD:
        return 0.0
    if backend == _DVS:
        server = flock.files.objects[object_of(flock.files, file_id, 0)].ost
        return float(flock.dvs.servers[server].latency)
    return flock.lnet.control_latency


@outlined
def _take(programs: Programs, program_id: int) -> bool:
    """Take the range that a program asks for; if others hold some of it, enqueue it: False."""
    operation = programs.operations[programs.rows[program_id].op]
    if _is_free(programs, program_id):
        _hold(programs, program_id)
        return True
    join(programs.files.rows[operation.file].flock_waiting, programs.rows, program_id)
    return False


@outlined
def _is_free(programs: Programs, program_id: int) -> bool:
    """Tell whether nobody holds any of the range that a program asks for."""
    operation = programs.operations[programs.rows[program_id].op]
    holder = programs.files.rows[operation.file].flock_held
    while holder >= 0:
        other = programs.rows[holder]
        stop = operation.offset + operation.length
        if other.flock_start < stop and operation.offset < other.flock_end:
            return False
        holder = other.flock_next
    return True


@outlined
def _hold(programs: Programs, program_id: int) -> None:
    """Enter a program among the holders of ranges of its file."""
    program = programs.rows[program_id]
    operation = programs.operations[program.op]
    program.flock_start = operation.offset
    program.flock_end = operation.offset + operation.length
    program.flock_next = programs.files.rows[operation.file].flock_held
    programs.files.rows[operation.file].flock_held = program_id


@outlined
def _give_back(flock: Flock, program_id: int, now: float) -> None:
    """Remove a program from the holders; grant those who wait what is free now, in their order."""
    program = flock.programs.rows[program_id]
    file_id = flock.programs.operations[program.op].file
    file = flock.files.rows[file_id]
    if file.flock_held == program_id:
        file.flock_held = program.flock_next
    else:
        previous = file.flock_held
        while flock.programs.rows[previous].flock_next != program_id:
            previous = flock.programs.rows[previous].flock_next
        flock.programs.rows[previous].flock_next = program.flock_next
    previous = -1
    waiting = file.flock_waiting.head
    while waiting >= 0:
        after = flock.programs.rows[waiting].next
        if _is_free(flock.programs, waiting):
            leave(file.flock_waiting, flock.programs.rows, waiting, previous)
            _hold(flock.programs, waiting)
            wake(flock.programs, waiting, now + _latency(flock, file_id))
        else:  # others behind it may have theirs: ranges that do not touch pass each other
            previous = waiting
        waiting = after
