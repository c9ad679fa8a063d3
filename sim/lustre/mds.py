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

import numpy as np

from sim.config.mds import Mds as MdsModel
from sim.engine.component import Component
from sim.engine.jit import njit, outlined
from sim.engine.network import Network, serve
from sim.engine.page import PAGE
from sim.engine.pool import give
from sim.engine.queue import TURN, clear_all, take_turn
from sim.engine.types import Floats, Table, make_table
from sim.lustre.ldlm import Ldlm, ask_to_drive_away, covering, may_ask
from sim.lustre.locks import EOF, MODE_PW, Locks, highest_writer
from sim.lustre.net.lnet import Lnet
from sim.lustre.osc import Osc, channel_of, discard, may_pump, pump, raise_urgency
from sim.lustre.requests import (
    GLIMPSE,
    GLIMPSE_AST,
    MDS_OPERATION,
    MDS_SYNC,
    OST_SYNC,
    PUNCH,
    Requests,
    may_send,
    send,
    send_to_objects,
)
from sim.lustre.server.journal import Journals, file_committed, object_committed
from sim.node.nodes import Nodes, handle_callback
from sim.node.page_cache import PageCache, find_view, inode_of, view_of
from sim.node.windows import URGENT
from sim.plane.causes import Cause
from sim.plane.counters import Stat
from sim.plane.events import FULL, GO_ON, GONE, REQUEST_EVENT
from sim.plane.files import Backend, Files
from sim.plane.operations import Op
from sim.plane.programs import Programs, charge, pass_on, wait_for, wake
from sim.plane.registry import on_event, performs
from sim.plane.site import Site
from sim.plane.stations import StationKind

_FSYNC, _CREATE, _CLOSE = int(Op.FSYNC), int(Op.CREATE), int(Op.CLOSE)
_STAT, _UNLINK, _MKDIR = int(Op.STAT), int(Op.UNLINK), int(Op.MKDIR)
_TRUNCATE = int(Op.TRUNCATE)
_METADATA, _SYNC = int(Cause.METADATA), int(Cause.SYNC)
_FLUSH, _MUTEX = int(Cause.FLUSH), int(Cause.MUTEX)
_GLIMPSES, _GLIMPSE_ASTS = int(Stat.GLIMPSES), int(Stat.GLIMPSE_ASTS)
_OST_SYNCS, _MDS_SYNCS = int(Stat.OST_SYNCS), int(Stat.MDS_SYNCS)

_END_OF_OBJECT = 1 << 62


PRECREATED = np.dtype(  # what the MDS knows of an OST's precreated objects
    [("available", "i8"), ("growth", "i8"), ("coming", "i8"), ("ready", "f8")], align=True
)


MDC = np.dtype(  # of a client node
    [
        ("modifying", TURN),  # of the program with a modifying metadata RPC in flight
        ("closing", TURN),
    ],
    align=True,
)


class Mds(Component):
    """The metadata servers, and the clients' part in front of them.

    Attributes
    ----------
    mdcs
        ``MDC`` records, one a client node.
    station, directory
        The first station of the MDSs' threads, and of the locks of the MDTs' shared directories.
    seconds
        float64 (operations,): MDS time of each operation.
    precreated
        ``PRECREATED`` records, one an OST.
    create_object
        Seconds of the MDS for each stripe object of a new file.
    directory_service
        Seconds under the lock of a directory, for each new name.
    precreate_limit, precreate_object
        Most objects that an OST makes ahead at once, and its seconds for each.
    """

    network: Network
    files: Files
    programs: Programs
    cache: PageCache
    locks: Locks
    lnet: Lnet
    nodes: Nodes
    osc: Osc
    ldlm: Ldlm
    journals: Journals
    requests: Requests
    mdcs: Table
    station: int
    directory: int
    seconds: Floats
    precreated: Table
    create_object: float
    directory_service: float
    precreate_limit: int
    precreate_object: float

    @classmethod
    def build(cls, site: Site) -> Mds:
        """Return the metadata servers of a machine at rest."""
        lustre, book = site.machine.lustre, site.book
        mds = lustre.mds
        mdcs = make_table(MDC, site.nodes)
        for turn in (mdcs.modifying, mdcs.closing):
            clear_all(turn.waiting)
        precreated = make_table(PRECREATED, lustre.osts)
        precreated.available = precreated.growth = mds.precreated
        kind, count, lock = StationKind.MDS, mds.mdts, "MDS {} directory lock".format
        return site.make(
            cls,
            mdcs=mdcs,
            station=book.add(kind, count, "MDS {}".format, latency=mds.op_latency, watched=True),
            directory=book.add(kind, count, lock, watched=True),
            seconds=_seconds(mds),
            precreated=precreated,
            create_object=mds.stripe_time,
            directory_service=1.0 / mds.directory_rate,
            precreate_limit=mds.precreate_limit,
            precreate_object=1.0 / mds.precreate_rate,
        )


def _seconds(mds: MdsModel) -> Floats:
    """Return the time of an MDS thread pool for each operation, in seconds."""
    seconds = np.zeros(len(Op))
    seconds[Op.OPEN] = 1.0 / mds.open_rate
    seconds[Op.CREATE] = 1.0 / mds.create_rate
    seconds[Op.CLOSE] = 1.0 / mds.close_rate
    seconds[Op.STAT] = 1.0 / mds.stat_rate
    seconds[Op.UNLINK] = 1.0 / mds.unlink_rate
    seconds[Op.MKDIR] = 1.0 / mds.create_rate
    seconds[Op.TRUNCATE] = 1.0 / mds.close_rate
    seconds[Op.FLOCK] = 1.0 / mds.open_rate
    seconds[Op.FSYNC] = 1.0 / mds.sync_rate
    return seconds


@on_event(Mds, REQUEST_EVENT)
@outlined
def on_request(mds: Mds, request_id: int, now: float) -> float:
    """Queue a request at its server; wake its program when the last reply has come.

    A glimpse may go from there to a client and back.
    """
    request = mds.requests.rows[request_id]
    latency = mds.lnet.control_latency
    if request.kind == GLIMPSE_AST:
        done = handle_callback(mds.nodes, request.node, now) + latency
    else:
        done = _served(mds, request_id, now)
        if request.kind == GLIMPSE and _asks_a_writer(mds, request_id):
            return done + latency
    program = mds.programs.rows[request.program]
    program.ready = max(program.ready, done + latency)
    program.pending -= 1
    if program.pending == 0:
        wake(mds.programs, request.program, program.ready)
    give(mds.requests.spare_rows, request_id)
    return GONE


@outlined
def _served(mds: Mds, request_id: int, now: float) -> float:
    """Queue a request at its server; return when that has done what it can do alone."""
    request = mds.requests.rows[request_id]
    start = serve(mds.network, request.station, now, 0.0, request.service)
    done = start + request.service + mds.network.stations[request.station].latency
    if request.kind == OST_SYNC:
        return object_committed(mds.journals, request.object, done)
    if request.kind == MDS_SYNC:
        return file_committed(mds.journals, request.object, done)
    if request.kind == MDS_OPERATION:
        return _names_and_objects(mds, request.program, start, done)
    return done


@outlined
def _asks_a_writer(mds: Mds, request_id: int) -> bool:
    """Let a glimpse become a question to whoever holds the highest write lock, if anybody does.

    A node that has the whole object below its own lock finds that, and nobody need be asked
    (osc_request.c, osc_enqueue_base).
    """
    mds.programs.stats[_GLIMPSES] += 1
    request = mds.requests.rows[request_id]
    lock_id = highest_writer(mds.locks, request.object)
    if lock_id < 0:
        return False
    lock = mds.locks.locks[lock_id]
    whole = lock.start == 0 and lock.end == EOF
    if whole and lock.owner == mds.programs.rows[request.program].node:
        return False
    mds.programs.stats[_GLIMPSE_ASTS] += 1
    request.kind = GLIMPSE_AST
    request.node = lock.owner
    return True


@outlined
def _names_and_objects(mds: Mds, program_id: int, start: float, done: float) -> float:
    """Return when the MDS has done what an operation needs beyond its own time."""
    operation = mds.programs.operations[mds.programs.rows[program_id].op]
    kind = operation.kind
    if kind != _CREATE and kind != _UNLINK and kind != _MKDIR:
        return done
    file = mds.files.rows[operation.file]
    if file.shared_directory:
        service = mds.directory_service
        station = mds.directory + file.mdt
        done = max(done, serve(mds.network, station, start, 0.0, service) + service)
    if kind == _CREATE:
        for i in range(file.stripe_count):
            ost = mds.files.objects[file.first_object + i].ost
            done = max(done, _precreated(mds, ost, start))
    file.changed = done
    return done


@outlined
def _precreated(mds: Mds, ost: int, now: float) -> float:
    """Take one of the objects that an OST makes ahead; return when there is one.

    Who finds none waits for the refill that brings it: each takes as long as its objects, and is
    asked for when the one before has come.
    """
    stock = mds.precreated[ost]
    if stock.coming > 0 and stock.ready <= now:
        stock.available += stock.coming
        stock.coming = 0
    stock.available -= 1
    if stock.coming == 0 and stock.available <= stock.growth // 4 + 1:
        stock.ready = now
        _refill(mds, ost)
    while stock.available + stock.coming < 0:
        _refill(mds, ost)
    return now if stock.available >= 0 else stock.ready


@outlined
def _refill(mds: Mds, ost: int) -> None:
    """Let an OST make objects, once those that it makes already are there."""
    stock = mds.precreated[ost]
    stock.coming += stock.growth
    stock.ready += 2.0 * mds.lnet.control_latency + stock.growth * mds.precreate_object
    stock.growth = min(2 * stock.growth, mds.precreate_limit)


# Where a program is in an operation at the MDS.
_ARRIVED = 0  # has not waited for its turn yet
_TURN = 1  # may send its request
_ANSWERED = 2  # has the MDS's reply
_SIZED = 3  # knows the size of every object


@performs(
    Mds,
    *(Op.OPEN, Op.CREATE, Op.CLOSE, Op.STAT, Op.UNLINK, Op.MKDIR),
    on=Backend.LUSTRE,
)
@outlined
def metadata(mds: Mds, program_id: int, now: float) -> float:
    """Take an operation at the MDS one step further."""
    program = mds.programs.rows[program_id]
    operation = mds.programs.operations[program.op]
    kind = operation.kind
    if program.phase == _ARRIVED:
        program.since = now
        program.phase = _TURN
        if _takes_turns(kind):
            turn = _turn(mds, program.node, kind)
            if not take_turn(turn, mds.programs.rows, program_id):
                return GONE
    if program.phase == _TURN:
        program.phase = _ANSWERED
        _ask_mds(mds, program_id, now)
        return GONE
    if program.phase == _ANSWERED and _takes_turns(kind):
        pass_on(mds.programs, _turn(mds, program.node, kind), now)
    if program.phase == _ANSWERED and kind == _STAT:
        if not may_send(mds.requests, mds.files.rows[operation.file].stripe_count):
            return FULL
        send_to_objects(mds.requests, program_id, GLIMPSE, operation.file, now)
        program.phase = _SIZED
        return GONE
    if kind == _UNLINK:
        file = mds.files.rows[operation.file]
        for object_id in range(file.first_object, file.first_object + file.stripe_count):
            discard(mds.osc, object_id)
    charge(mds.programs, program_id, _METADATA, now)
    program.phase = _ARRIVED
    program.op += 1
    return GO_ON


@outlined
def _ask_mds(mds: Mds, program_id: int, now: float) -> None:
    """Send the request of a program's operation to the MDS of its file, and wait for the reply."""
    operation = mds.programs.operations[mds.programs.rows[program_id].op]
    file = mds.files.rows[operation.file]
    service = mds.seconds[operation.kind]
    if operation.kind == _CREATE:
        service += file.stripe_count * mds.create_object
    wait_for(mds.programs, program_id, 1, now)
    station = mds.station + file.mdt
    send(mds.requests, program_id, MDS_OPERATION, station, service, operation.file, now)


@njit
def _takes_turns(kind: int) -> bool:
    """Tell whether a node sends an operation only when the one before it has been answered."""
    return kind in (_CREATE, _UNLINK, _MKDIR, _CLOSE)


@outlined
def _turn(mds: Mds, node_id: int, kind: int) -> Any:
    """Return the turn that an operation of a node takes: to modify, or to close."""
    node = mds.mdcs[node_id]
    return node.closing if kind == _CLOSE else node.modifying


# Where a program is in a truncate.
_WHOLE = 0  # has asked nobody yet
_LOCKED = 1  # has every object for itself
_PUNCHED = 2
_TOLD = 3


@performs(Mds, Op.TRUNCATE, on=Backend.LUSTRE)
@outlined
def truncate(mds: Mds, program_id: int, now: float) -> float:
    """Take a truncate one step further."""
    program = mds.programs.rows[program_id]
    operation = mds.programs.operations[program.op]
    if program.phase == _WHOLE:
        if not may_ask(mds.ldlm, mds.files.rows[operation.file].stripe_count):
            return FULL
        program.since = now
        program.phase = _LOCKED
        _drive_away(mds.ldlm, program_id, now)
        if program.pending > 0:
            return GONE
    if program.phase == _LOCKED:
        if not may_send(mds.requests, mds.files.rows[operation.file].stripe_count):
            return FULL
        mds.files.rows[operation.file].end = operation.offset
        mds.files.rows[operation.file].changed = now
        send_to_objects(mds.requests, program_id, PUNCH, operation.file, now)
        program.phase = _PUNCHED
        return GONE
    if program.phase == _PUNCHED:
        _ask_mds(mds, program_id, now)
        program.phase = _TOLD
        return GONE
    charge(mds.programs, program_id, _METADATA, now)
    program.phase = _WHOLE
    program.op += 1
    return GO_ON


@outlined
def _drive_away(ldlm: Ldlm, program_id: int, now: float) -> None:
    """Ask for a lock from the new end of a file on, on every object where the node has none."""
    program = ldlm.programs.rows[program_id]
    operation = ldlm.programs.operations[program.op]
    file = ldlm.files.rows[operation.file]
    inode_id = inode_of(ldlm.cache, operation.file, program.node)
    row = operation.offset // (file.stripe_size * file.stripe_count)
    beyond = operation.offset - row * file.stripe_size * file.stripe_count
    program.pending = 0
    for i in range(file.stripe_count):
        inside = min(max(beyond - i * file.stripe_size, 0), file.stripe_size)
        start = (row * file.stripe_size + inside) // PAGE * PAGE
        view_id = view_of(ldlm.cache, file.first_object + i, program.node, inode_id)
        if covering(ldlm.osc, view_id, MODE_PW, start, EOF) < 0:
            program.pending += 1
            ask_to_drive_away(ldlm, program_id, view_id, start, EOF, now)


# Where a program is in an fsync.
_DIRTY = 0  # has asked for no write-back yet
_FLUSHED = 1  # the write-back it waited for is done
_HAS_MUTEX = 2
_MDS_SYNCED = 3
_OSTS_SYNCED = 4


@performs(Mds, Op.FSYNC, on=Backend.LUSTRE)
@outlined
def fsync(mds: Mds, program_id: int, now: float) -> float:
    """Take an fsync one step further."""
    program = mds.programs.rows[program_id]
    operation = mds.programs.operations[program.op]
    if program.phase == _DIRTY:
        if not may_pump(mds.osc, mds.files.rows[operation.file].stripe_count):
            return FULL
        program.inode = inode_of(mds.cache, operation.file, program.node)
        program.phase = _FLUSHED
        program.since = now
        if mds.cache.inodes[program.inode].outstanding > 0:
            return _flush(mds.osc, program_id, now)
    if program.phase == _FLUSHED:
        charge(mds.programs, program_id, _FLUSH, now)
        program.phase = _HAS_MUTEX
        program.since = now
        if not take_turn(mds.cache.inodes[program.inode].mutex, mds.programs.rows, program_id):
            return GONE
    if program.phase == _HAS_MUTEX:
        charge(mds.programs, program_id, _MUTEX, now)
        mds.programs.stats[_MDS_SYNCS] += 1
        program.phase = _MDS_SYNCED
        program.since = now
        wait_for(mds.programs, program_id, 1, now)
        station = mds.station + mds.files.rows[operation.file].mdt
        service = mds.seconds[_FSYNC]
        send(mds.requests, program_id, MDS_SYNC, station, service, operation.file, now)
        return GONE
    if program.phase == _MDS_SYNCED:
        if not may_send(mds.requests, mds.files.rows[operation.file].stripe_count):
            return FULL
        program.phase = _OSTS_SYNCED
        mds.programs.stats[_OST_SYNCS] += mds.files.rows[operation.file].stripe_count
        send_to_objects(mds.requests, program_id, OST_SYNC, operation.file, now)
        return GONE
    charge(mds.programs, program_id, _SYNC, now)
    pass_on(mds.programs, mds.cache.inodes[program.inode].mutex, now)
    program.phase = _DIRTY
    program.op += 1
    return GO_ON


@outlined
def _flush(osc: Osc, program_id: int, now: float) -> float:
    """Let all dirty pages of a file on the node go, and wait for them."""
    program = osc.programs.rows[program_id]
    file = osc.files.rows[osc.programs.operations[program.op].file]
    inode = osc.cache.inodes[program.inode]
    program.next = inode.flush_head
    inode.flush_head = program_id
    for i in range(file.stripe_count):
        object_id = file.first_object + i
        view_id = find_view(osc.cache, object_id, program.node)
        if view_id >= 0 and osc.cache.views[view_id].unsent > 0:
            raise_urgency(osc, view_id, 0, _END_OF_OBJECT, URGENT)
            pump(osc, channel_of(osc, program.node, object_id), now)
    return GONE
