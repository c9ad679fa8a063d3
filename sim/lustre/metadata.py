"""Operations at the metadata server, and fsync.

A client node has one modifying metadata RPC in flight at a time (the mdc's rpc_lock of Lustre 2.7;
several only from 2.8 on), and one close. The MDS's threads need a time for each operation; a new
name also needs the lock of its directory, and a new file an object on the OST of every stripe. The
MDS hands out objects that the OSTs have made ahead (*precreation*): when few are left it asks for
as many again, twice as many the next time, and a create that finds none waits (Lustre 2.7
osp_precreate.c). The widely striped file pays for every stripe.

``stat`` of a file, and a read beyond what the node knows of it, ask every stripe object for its
size (*glimpse*). Where there is a write lock, the OST asks the holder of the highest one in turn
(*glimpse AST*): each glimpse for itself, even those of the same object at the same time (Lustre 2.7
ofd_dlm.c, ofd_intent_policy). So the questions of many readers meet at the few nodes that write,
where they queue for the threads that handle callbacks.

``unlink`` drops what is dirty of the file; nobody writes it back.

``truncate`` (set_size) needs every object from the new end on for itself, so that whoever has locks
there writes back and gives them up; then the objects are cut (OST_PUNCH) and the MDS is told
(Lustre 2.7 llite_lib.c, ll_setattr_raw). What the own node caches beyond the new end stays.

``fsync`` (Lustre 2.7 llite/file.c, ll_fsync): write back all dirty pages of the file on this node;
take the inode mutex, so that ranks of one node go one after another; MDS_SYNC; then an OST_SYNC to
every stripe object, dirty or not, all at once; go on when the last has replied.
"""

from __future__ import annotations

from typing import Any

from sim.engine.calendar import schedule
from sim.engine.jit import njit
from sim.engine.network import serve
from sim.engine.page import PAGE
from sim.engine.pool import give
from sim.engine.queue import pass_turn, take_turn
from sim.lustre.events import GO_ON, GONE, PROGRAM_EVENT
from sim.lustre.journal import commit_periodically, committed_at
from sim.lustre.ldlm import ask_to_drive_away, covering, handle_callback, object_committed
from sim.lustre.locks import EOF, MODE_PW, highest_writer
from sim.lustre.osc import channel_of, discard, pump, raise_urgency
from sim.lustre.pages import URGENT, find_view, inode_of, view_of
from sim.lustre.requests import (
    GLIMPSE,
    GLIMPSE_AST,
    MDS_OPERATION,
    MDS_SYNC,
    OST_SYNC,
    PUNCH,
    send,
    send_to_objects,
    wait_for,
)
from sim.lustre.tables import Cause, Lustre, Op, Stat

_FSYNC, _CREATE, _CLOSE = int(Op.FSYNC), int(Op.CREATE), int(Op.CLOSE)
_STAT, _UNLINK, _MKDIR = int(Op.STAT), int(Op.UNLINK), int(Op.MKDIR)
_TRUNCATE = int(Op.TRUNCATE)
_METADATA, _SYNC = int(Cause.METADATA), int(Cause.SYNC)
_FLUSH, _MUTEX = int(Cause.FLUSH), int(Cause.MUTEX)
_GLIMPSES, _GLIMPSE_ASTS = int(Stat.GLIMPSES), int(Stat.GLIMPSE_ASTS)
_OST_SYNCS, _MDS_SYNCS = int(Stat.OST_SYNCS), int(Stat.MDS_SYNCS)

_END_OF_OBJECT = 1 << 62


@njit
def on_request(lustre: Lustre, request_id: int, now: float) -> float:
    """Queue a request at its server; wake its program when the last reply has come.

    A glimpse may go from there to a client and back.
    """
    request = lustre.requests[request_id]
    latency = lustre.limits.control_latency
    if request.kind == GLIMPSE_AST:
        done = handle_callback(lustre, request.node, now) + latency
    else:
        done = _served(lustre, request_id, now)
        if request.kind == GLIMPSE and _asks_a_writer(lustre, request_id):
            return done + latency
    program = lustre.programs[request.program]
    program.ready = max(program.ready, done + latency)
    program.pending -= 1
    if program.pending == 0:
        schedule(lustre.network.calendar, program.ready, PROGRAM_EVENT, request.program)
    give(lustre.spare_requests, request_id)
    return GONE


@njit
def _served(lustre: Lustre, request_id: int, now: float) -> float:
    """Queue a request at its server; return when that has done what it can do alone."""
    request = lustre.requests[request_id]
    start = serve(lustre.network, request.station, now, 0.0, request.service)
    done = start + request.service + lustre.network.stations[request.station].latency
    if request.kind == OST_SYNC:
        return object_committed(lustre, request.object, done)
    if request.kind == MDS_SYNC:
        return _file_committed(lustre, request.object, done)
    if request.kind == MDS_OPERATION:
        return _names_and_objects(lustre, request.program, start, done)
    return done


@njit
def _file_committed(lustre: Lustre, file_id: int, now: float) -> float:
    """Return when the metadata of a file is durable on its MDT."""
    limits = lustre.limits
    file = lustre.files[file_id]
    journal = limits.osts + file.mdt
    commit_periodically(lustre.journals, journal, now, limits.mdt_commit, limits.commit_period)
    return committed_at(lustre.journals, journal, file.changed, now, limits.mdt_commit)


@njit
def _asks_a_writer(lustre: Lustre, request_id: int) -> bool:
    """Let a glimpse become a question to whoever holds the highest write lock, if anybody does.

    A node that has the whole object below its own lock finds that, and nobody need be asked
    (osc_request.c, osc_enqueue_base).
    """
    lustre.stats[_GLIMPSES] += 1
    request = lustre.requests[request_id]
    lock_id = highest_writer(lustre.locks, request.object)
    if lock_id < 0:
        return False
    lock = lustre.locks.locks[lock_id]
    whole = lock.start == 0 and lock.end == EOF
    if whole and lock.owner == lustre.programs[request.program].node:
        return False
    lustre.stats[_GLIMPSE_ASTS] += 1
    request.kind = GLIMPSE_AST
    request.node = lock.owner
    return True


@njit
def _names_and_objects(lustre: Lustre, program_id: int, start: float, done: float) -> float:
    """Return when the MDS has done what an operation needs beyond its own time."""
    operation = lustre.operations[lustre.programs[program_id].op]
    kind = operation.kind
    if kind != _CREATE and kind != _UNLINK and kind != _MKDIR:
        return done
    file = lustre.files[operation.file]
    if file.shared_directory:
        service = lustre.limits.directory_service
        station = lustre.stations.directory + file.mdt
        done = max(done, serve(lustre.network, station, start, 0.0, service) + service)
    if kind == _CREATE:
        for i in range(file.stripe_count):
            ost = lustre.objects[file.first_object + i].ost
            done = max(done, _precreated(lustre, ost, start))
    file.changed = done
    return done


@njit
def _precreated(lustre: Lustre, ost: int, now: float) -> float:
    """Take one of the objects that an OST makes ahead; return when there is one.

    Who finds none waits for the refill that brings it: each takes as long as its objects, and is
    asked for when the one before has come.
    """
    stock = lustre.precreated[ost]
    if stock.coming > 0 and stock.ready <= now:
        stock.available += stock.coming
        stock.coming = 0
    stock.available -= 1
    if stock.coming == 0 and stock.available <= stock.growth // 4 + 1:
        stock.ready = now
        _refill(lustre, ost)
    while stock.available + stock.coming < 0:
        _refill(lustre, ost)
    return now if stock.available >= 0 else stock.ready


@njit
def _refill(lustre: Lustre, ost: int) -> None:
    """Let an OST make objects, once those that it makes already are there."""
    limits = lustre.limits
    stock = lustre.precreated[ost]
    stock.coming += stock.growth
    stock.ready += 2.0 * limits.control_latency + stock.growth * limits.precreate_object
    stock.growth = min(2 * stock.growth, limits.precreate_limit)


# Where a program is in an operation at the MDS.
_TURN = 1  # may send its request
_ANSWERED = 2  # has the MDS's reply
_SIZED = 3  # knows the size of every object


@njit
def metadata(lustre: Lustre, program_id: int, now: float) -> float:
    """Take an operation at the MDS one step further."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    kind = operation.kind
    if program.phase == 0:
        program.since = now
        program.phase = _TURN
        if _takes_turns(kind):
            turn = _turn(lustre, program.node, kind)
            if not take_turn(turn, lustre.programs, program_id):
                return GONE
    if program.phase == _TURN:
        file = lustre.files[operation.file]
        service = lustre.metadata[kind]
        if kind == _CREATE:
            service += file.stripe_count * lustre.limits.create_object
        wait_for(lustre, program_id, 1, now)
        station = lustre.stations.mds + file.mdt
        send(lustre, program_id, MDS_OPERATION, station, service, operation.file, now)
        program.phase = _ANSWERED
        return GONE
    if program.phase == _ANSWERED and _takes_turns(kind):
        _pass_on(lustre, _turn(lustre, program.node, kind), now)
    if program.phase == _ANSWERED and kind == _STAT:
        send_to_objects(lustre, program_id, GLIMPSE, operation.file, now)
        program.phase = _SIZED
        return GONE
    if kind == _UNLINK:
        file = lustre.files[operation.file]
        for object_id in range(file.first_object, file.first_object + file.stripe_count):
            discard(lustre, object_id)
    lustre.waits[program_id, _METADATA] += now - program.since
    program.phase = 0
    program.op += 1
    return GO_ON


@njit
def _takes_turns(kind: int) -> bool:
    """Tell whether a node sends an operation only when the one before it has been answered."""
    return kind in (_CREATE, _UNLINK, _MKDIR, _CLOSE)


@njit
def _turn(lustre: Lustre, node_id: int, kind: int) -> Any:
    """Return the turn that an operation of a node takes: to modify, or to close."""
    node = lustre.nodes[node_id]
    return node.closing if kind == _CLOSE else node.modifying


@njit
def _pass_on(lustre: Lustre, turn: Any, now: float) -> None:
    """Give up a turn; let the next in line go on."""
    heir = pass_turn(turn, lustre.programs)
    if heir >= 0:
        schedule(lustre.network.calendar, now, PROGRAM_EVENT, heir)


# Where a program is in a truncate.
_LOCKED = 1  # has every object for itself
_PUNCHED = 2
_TOLD = 3


@njit
def truncate(lustre: Lustre, program_id: int, now: float) -> float:
    """Take a truncate one step further."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    if program.phase == 0:
        program.since = now
        program.phase = _LOCKED
        _drive_away(lustre, program_id, now)
        if program.pending > 0:
            return GONE
    if program.phase == _LOCKED:
        lustre.files[operation.file].end = operation.offset
        lustre.files[operation.file].changed = now
        send_to_objects(lustre, program_id, PUNCH, operation.file, now)
        program.phase = _PUNCHED
        return GONE
    if program.phase == _PUNCHED:
        wait_for(lustre, program_id, 1, now)
        station = lustre.stations.mds + lustre.files[operation.file].mdt
        service = lustre.metadata[_TRUNCATE]
        send(lustre, program_id, MDS_OPERATION, station, service, operation.file, now)
        program.phase = _TOLD
        return GONE
    lustre.waits[program_id, _METADATA] += now - program.since
    program.phase = 0
    program.op += 1
    return GO_ON


@njit
def _drive_away(lustre: Lustre, program_id: int, now: float) -> None:
    """Ask for a lock from the new end of a file on, on every object where the node has none."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    file = lustre.files[operation.file]
    inode_id = inode_of(lustre, operation.file, program.node)
    row = operation.offset // (file.stripe_size * file.stripe_count)
    beyond = operation.offset - row * file.stripe_size * file.stripe_count
    program.pending = 0
    for i in range(file.stripe_count):
        inside = min(max(beyond - i * file.stripe_size, 0), file.stripe_size)
        start = (row * file.stripe_size + inside) // PAGE * PAGE
        view_id = view_of(lustre, file.first_object + i, program.node, inode_id)
        if covering(lustre, view_id, MODE_PW, start, EOF) < 0:
            program.pending += 1
            ask_to_drive_away(lustre, program_id, view_id, start, EOF, now)


# Where a program is in an fsync.
_FLUSHED = 1  # the write-back it waited for is done
_HAS_MUTEX = 2
_MDS_SYNCED = 3
_OSTS_SYNCED = 4


@njit
def fsync(lustre: Lustre, program_id: int, now: float) -> float:
    """Take an fsync one step further."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    if program.phase == 0:
        program.inode = inode_of(lustre, operation.file, program.node)
        program.phase = _FLUSHED
        program.since = now
        if lustre.inodes[program.inode].outstanding > 0:
            return _flush(lustre, program_id, now)
    if program.phase == _FLUSHED:
        lustre.waits[program_id, _FLUSH] += now - program.since
        program.phase = _HAS_MUTEX
        program.since = now
        if not take_turn(lustre.inodes[program.inode].mutex, lustre.programs, program_id):
            return GONE
    if program.phase == _HAS_MUTEX:
        lustre.waits[program_id, _MUTEX] += now - program.since
        lustre.stats[_MDS_SYNCS] += 1
        program.phase = _MDS_SYNCED
        program.since = now
        wait_for(lustre, program_id, 1, now)
        station = lustre.stations.mds + lustre.files[operation.file].mdt
        service = lustre.metadata[_FSYNC]
        send(lustre, program_id, MDS_SYNC, station, service, operation.file, now)
        return GONE
    if program.phase == _MDS_SYNCED:
        program.phase = _OSTS_SYNCED
        lustre.stats[_OST_SYNCS] += lustre.files[operation.file].stripe_count
        send_to_objects(lustre, program_id, OST_SYNC, operation.file, now)
        return GONE
    lustre.waits[program_id, _SYNC] += now - program.since
    _pass_on(lustre, lustre.inodes[program.inode].mutex, now)
    program.phase = 0
    program.op += 1
    return GO_ON


@njit
def _flush(lustre: Lustre, program_id: int, now: float) -> float:
    """Let all dirty pages of a file on the node go, and wait for them."""
    program = lustre.programs[program_id]
    file = lustre.files[lustre.operations[program.op].file]
    inode = lustre.inodes[program.inode]
    program.next = inode.flush_head
    inode.flush_head = program_id
    for i in range(file.stripe_count):
        object_id = file.first_object + i
        view_id = find_view(lustre, object_id, program.node)
        if view_id >= 0 and lustre.views[view_id].unsent > 0:
            raise_urgency(lustre, view_id, 0, _END_OF_OBJECT, URGENT)
            pump(lustre, channel_of(lustre, program.node, object_id), now)
    return GONE
