"""The metadata servers, and the operations on names.

A client node has one metadata RPC in flight at a time to each MDT that modifies or opens (the mdc's
rpc_lock of Lustre 2.7, mdc_internal.h, mdc_get_rpc_lock, and a mount has an mdc for each MDT), and
one close. From Lustre 2.8 on it has ``modifying_rpcs`` of either (max_mod_rpcs_in_flight; there the
two share their slots, and a close may have one more). Of stats it has as many under way to an MDT
as the mdc may have RPCs (mdc_locks.c, mdc_enqueue, mdc_enter_request), and the next waits for a
reply of the MDT; the RPCs that modify are not counted among them. What its programs have open
already costs no RPC (``xc40io.lustre.handles``).

Before all this stands the mutex of the directory (``xc40io.lustre.directories``): a stat of a name
that the node does not know has it until the MDT has answered, before the OSTs are asked. Where the
node knows the attributes, since a neighbour has asked meanwhile or before, only these are asked.

The MDS's threads need a time for each operation; a new name also needs the lock of its directory,
and a new file an object on the OST of every stripe (``xc40io.lustre.precreation``). The widely
striped file pays for every stripe.

``stat`` of a file, and a read beyond what the node knows of it, ask every stripe object for its
size (*glimpse*). Where there is a write lock, the OST asks the holder of the highest one in turn
(*glimpse AST*): each glimpse for itself, even those of the same object at the same time (Lustre 2.7
ofd_dlm.c, ofd_intent_policy). So the questions of many readers meet at the few nodes that write,
where they queue for the threads that handle callbacks.

``unlink`` asks for the name first, below the mutex, unless the node knows it (Linux fs/namei.c,
do_unlinkat: lookup_hash). It drops what is dirty of the file; nobody writes it back. The MDS writes
a record for every stripe object into its log, and the OSTs destroy the objects later, when nobody
waits for it (Lustre 2.7 osp_sync.c, osp_sync_add).

``rename`` takes out one name and puts in another, below the one lock that the MDT 0 has for all
renames of the file system (Lustre 2.7 mdt_reint.c, mdt_rename_lock). What has no stripe objects,
a directory or a file that ``mknod`` has made, has no size that an OST would have to be asked for.

``readdir`` asks the MDS for the pages of a directory, many names in one RPC (Lustre 2.7
mdc_request.c, mdc_readpage); each name costs the MDS some time. Nobody's turn is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xc40io.config.parts.lustre import Mds as MdsModel
from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import njit, outlined
from xc40io.engine.component import Component
from xc40io.engine.network import Network, serve
from xc40io.engine.pool import give
from xc40io.engine.queue import QUEUE, TURN, clear_all, join, pop, take_one_of
from xc40io.engine.types import Floats, Table, make_table
from xc40io.lustre.directories import Directories, changes, enter_directory, leave_directory
from xc40io.lustre.handles import (
    Handles,
    closed_by_last,
    knows_attributes,
    knows_name,
    note_attributes,
    note_open,
    note_unlink,
    opened_by_neighbour,
)
from xc40io.lustre.ldlm import Ldlm, grant_with_open
from xc40io.lustre.locks import EOF, Locks, highest_writer
from xc40io.lustre.net.lnet import Lnet, control_latency
from xc40io.lustre.osc.dirty import discard
from xc40io.lustre.osc.obds import Osc
from xc40io.lustre.precreation import Precreation, take_object
from xc40io.lustre.requests import (
    GLIMPSE,
    GLIMPSE_AST,
    LOOKUP,
    MDS_OPERATION,
    MDS_SYNC,
    OBJECT_FSYNC,
    OST_SYNC,
    PUNCH,
    SERVER_REQUEST,
    Requests,
    add_request,
    may_send,
    send,
    send_to_objects,
)
from xc40io.lustre.server.journal import Journals, file_committed, is_committed, object_committed
from xc40io.lustre.server.syncs import Syncs, pass_mutex, take_mutex
from xc40io.lustre.states import (
    ANSWERED,
    ENTERED,
    FOUND,
    HAS_TURN,
    LOOKS_UP,
    OPENED,
    REACHED,
    SEEKS,
    SIZED,
)
from xc40io.node.nodes import Nodes, handle_callback
from xc40io.node.page_cache import PageCache, grant_layout, inode_of, osc_object_of
from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.files import (
    Backend,
    Files,
    object_count,
    objects_of,
    ost_object_count,
    ost_objects_of,
)
from xc40io.plane.operations import Op
from xc40io.plane.programs import (
    AT_CALLBACK,
    AT_JOURNAL,
    FOR_OBJECTS,
    Programs,
    charge,
    charge_reply,
    note_reply,
    pass_on,
    wait_for,
    wake,
)
from xc40io.plane.registry import (
    FULL,
    GO_ON,
    GONE,
    REQUEST_EVENT,
    STATAHEAD_EVENT,
    on_event,
    performs,
)
from xc40io.plane.site import Site
from xc40io.plane.stations import StationKind

_OPEN, _CREATE, _CLOSE, _STAT = int(Op.OPEN), int(Op.CREATE), int(Op.CLOSE), int(Op.STAT)
_UNLINK, _MKDIR, _RENAME = int(Op.UNLINK), int(Op.MKDIR), int(Op.RENAME)
_READDIR = int(Op.READDIR)
_METADATA, _TURN = int(Cause.METADATA), int(Cause.TURN)
_MDS, _SERVICE, _STORE = int(Cause.MDS), int(Cause.SERVICE), int(Cause.STORE)
_GLIMPSES, _GLIMPSE_ASTS = int(Stat.GLIMPSES), int(Stat.GLIMPSE_ASTS)

MDC = np.dtype(  # of a client node, for one MDT
    [
        ("modifying", TURN),  # of the programs with an RPC in flight that modifies, or opens
        ("closing", TURN),
        ("in_flight", "i4"),  # stats that the MDT has not answered
        ("stats", QUEUE),  # places of those whose stat waits for one of these
    ],
    align=True,
)

PLACE = np.dtype([("next", "i4")])  # in the queue of an mdc: of a program, or of its statahead


class Mds(Component):
    """The metadata servers, and the clients' part in front of them."""

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
    syncs: Syncs
    precreation: Precreation
    handles: Handles
    directories: Directories
    requests: Requests
    mdcs: Table  # `MDC` records: of each client node those for all MDTs
    places: Table  # `PLACE` records: of each program, and behind these of the statahead of each
    mdts: int  # how many MDTs are in use
    rpcs_in_flight: int  # RPCs that an mdc keeps under way (`max_rpcs_in_flight` of the MDS)
    modifying_rpcs: int  # and of those that modify or open
    # station, directory, renames: the first station of the MDSs' threads, and of the locks of the
    # MDTs' shared directories; the station of the lock that renames take
    station: int
    directory: int
    renames: int
    seconds: Floats  # float64 (operations,): MDS time of each operation
    # seconds of the MDS for each stripe object of a file that is made or removed
    each_object: float
    change_latency: float  # seconds that a change takes beyond what any operation does
    latency: float  # seconds of a message to an MDS, or back
    directory_service: float  # seconds under the lock of a directory, for each new name

    @classmethod
    def build(cls, site: Site) -> Mds:
        """Return the metadata servers of a machine at rest."""
        lustre, book = site.machine.lustre, site.book
        mds = lustre.mds
        mdcs = make_table(MDC, site.nodes * mds.mdts)
        for queues in (mdcs.modifying.waiting, mdcs.closing.waiting, mdcs.stats):
            clear_all(queues)
        kind, count, lock = StationKind.MDS, mds.mdts, "MDS {} directory lock".format
        return site.make(
            cls,
            mdcs=mdcs,
            places=make_table(PLACE, 2 * len(site.occupants.program_node)),
            mdts=mds.mdts,
            rpcs_in_flight=mds.max_rpcs_in_flight,
            modifying_rpcs=mds.modifying_rpcs or 1,
            station=book.add(kind, count, "MDS {}".format, latency=mds.op_latency, watched=True),
            directory=book.add(kind, count, lock, watched=True),
            renames=book.add(kind, 1, "MDS {} rename lock".format, watched=True),
            seconds=_seconds(mds),
            each_object=mds.stripe_time,
            change_latency=mds.change_latency,
            latency=control_latency(site.machine, site.machine.nodes.mds_message_latency),
            directory_service=1.0 / mds.directory_rate,
        )


def _seconds(mds: MdsModel) -> Floats:
    """Return the time of an MDS thread pool for each operation, in seconds."""
    seconds = np.zeros(len(Op))
    seconds[Op.OPEN] = 1.0 / mds.open_rate
    seconds[Op.CREATE] = 1.0 / mds.create_rate
    seconds[Op.CLOSE] = 1.0 / mds.close_rate
    seconds[Op.STAT] = 1.0 / mds.stat_rate
    seconds[Op.UNLINK] = 1.0 / mds.unlink_rate
    seconds[Op.MKDIR] = seconds[Op.RENAME] = 1.0 / mds.create_rate
    seconds[Op.TRUNCATE] = 1.0 / mds.close_rate
    seconds[Op.FLOCK] = 1.0 / mds.open_rate
    seconds[Op.FSYNC] = 1.0 / mds.sync_rate
    seconds[Op.READDIR] = 1.0 / mds.readdir_rate
    return seconds


@on_event(Mds, REQUEST_EVENT)
@outlined
def on_request(mds: Mds, request_id: int, now: float) -> float:
    """Queue a request at its server; wake its program when the last reply has come.

    A glimpse may go from there to a client and back, and an OST_SYNC may have to wait for its turn
    to sync the object.
    """
    request = mds.requests.rows[request_id]
    latency = mds.lnet.control_latency
    if request.kind == GLIMPSE_AST:
        done = _asked_back(mds, request_id, now) + latency
        if note_reply(mds.programs, request.program, _SERVICE, request.spent, done + latency):
            mds.programs.replies[request.program, AT_CALLBACK] = done - latency - now
    elif request.kind == OBJECT_FSYNC:
        done = object_committed(mds.journals, request.object, now)
        if done > now:
            return done
        pass_mutex(mds.syncs, request.object, now)
        request.kind = OST_SYNC
        _record(mds, request_id, now)
        _reply(mds, request_id, now)
    else:
        request.arrived = now
        request.served = _served(mds, request_id, now)
        if request.kind == OST_SYNC and not _is_durable(mds, request_id):
            return _sync_object(mds, request_id)
        done = _settled(mds, request_id, request.served)
        _record(mds, request_id, done)
        if _asks_for_size(mds, request_id):
            request.spent = request.served - now
            request.sent = request.served
            return request.served + latency
        _reply(mds, request_id, done)
    program = mds.programs.rows[request.program]
    program.pending -= 1
    if program.pending == 0:
        wake(mds.programs, request.program, program.ready)
    give(mds.requests.spare_rows, request_id)
    return GONE


@outlined
def _record(mds: Mds, request_id: int, done: float) -> None:
    """Record a request that a server has settled by the time ``done``, if anything is recorded."""
    if mds.programs.recorder.on:
        request = mds.requests.rows[request_id]
        station, arrived, begun = request.station, request.arrived, request.begun
        add_request(mds.requests, request_id, station, arrived, begun, done)


@outlined
def _reply(mds: Mds, request_id: int, done: float) -> None:
    """Note the reply of a server that has settled a request by the time ``done``."""
    request = mds.requests.rows[request_id]
    server, at_server = _server(request.kind), request.served - request.arrived
    ready = done + request.latency
    if note_reply(mds.programs, request.program, server, at_server, ready):
        waited = FOR_OBJECTS if request.kind == MDS_OPERATION else AT_JOURNAL
        mds.programs.replies[request.program, waited] = done - request.served


@outlined
def _is_durable(mds: Mds, request_id: int) -> bool:
    """Tell whether an OST_SYNC finds nothing left to commit."""
    request = mds.requests.rows[request_id]
    return is_committed(mds.journals, request.object, request.served)


@outlined
def _sync_object(mds: Mds, request_id: int) -> float:
    """Begin the fsync that an OST_SYNC asks for; return when it acts next, or ``GONE``."""
    request = mds.requests.rows[request_id]
    request.kind = OBJECT_FSYNC
    if not take_mutex(mds.syncs, request.object, REQUEST_EVENT, request_id):
        return GONE
    return object_committed(mds.journals, request.object, request.served)


@njit
def _server(kind: int) -> int:
    """Return the cause that stands for the server of a request."""
    if kind in (MDS_OPERATION, MDS_SYNC, LOOKUP):
        return _MDS
    return _STORE if kind == SERVER_REQUEST else _SERVICE


@outlined
def _served(mds: Mds, request_id: int, now: float) -> float:
    """Queue a request at its server; return when that has done what it can do alone."""
    request = mds.requests.rows[request_id]
    request.begun = serve(mds.network, request.station, now, 0.0, request.service)
    done = request.begun + request.service + mds.network.stations[request.station].latency
    if request.kind == MDS_OPERATION:
        if changes(mds.programs.operations[mds.programs.rows[request.program].op].kind):
            done += mds.change_latency
        return _named(mds, request_id, done)
    if request.kind in (OST_SYNC, GLIMPSE, PUNCH):
        done = max(done, mds.requests.osses.held[mds.files.objects[request.object].ost])
    return done


@outlined
def _settled(mds: Mds, request_id: int, done: float) -> float:
    """Return when the result of a request is durable, or a new file has its objects."""
    request = mds.requests.rows[request_id]
    if request.kind == MDS_SYNC:
        return file_committed(mds.journals, request.object, done)
    if request.kind == MDS_OPERATION:
        return _with_objects(mds, request_id, done)
    return done


@outlined
def _asked_back(mds: Mds, request_id: int, now: float) -> float:
    """Queue a glimpse AST at its client; return when a thread there has handled it."""
    request, nodes = mds.requests.rows[request_id], mds.nodes
    done = handle_callback(nodes, request.node, now)
    if mds.programs.recorder.on:
        first = nodes.callback + request.node * nodes.callback_threads
        add_request(mds.requests, request_id, first, now, done - nodes.callback_service, done)
    return done


@outlined
def _asks_for_size(mds: Mds, request_id: int) -> bool:
    """Turn a request into a glimpse AST to the holder of the highest write lock, if it needs one.

    A glimpse does. A stat of a file whose data are on the MDT does, too: the MDT knows the size of
    what it has, not what a client has in its cache (Lustre 2.12 mdt_handler.c, mdt_pack_size2body:
    mdt_dom_object_size).
    """
    request = mds.requests.rows[request_id]
    program = mds.programs.rows[request.program]
    if request.kind == GLIMPSE:
        mds.programs.stats[_GLIMPSES] += 1
        object_id = request.object
    elif request.kind == MDS_OPERATION and mds.programs.operations[program.op].kind == _STAT:
        file = mds.files.rows[request.object]
        if file.on_mdt == 0:
            return False
        object_id = file.first_object
    else:
        return False
    writer = writer_of(mds.locks, object_id, program.node)
    if writer < 0:
        return False
    mds.programs.stats[_GLIMPSE_ASTS] += 1
    request.kind = GLIMPSE_AST
    request.object = object_id
    request.node = writer
    return True


@outlined
def writer_of(locks: Locks, object_id: int, node: int) -> int:
    """Return the node that has to be asked for the size of an object; -1 if nobody has to.

    A node that has the whole object below its own lock finds that, and nobody need be asked
    (osc_request.c, osc_enqueue_base).
    """
    lock_id = highest_writer(locks, object_id)
    if lock_id < 0:
        return -1
    lock = locks.locks[lock_id]
    whole = lock.start == 0 and lock.end == EOF
    return -1 if whole and lock.owner == node else int(lock.owner)


@outlined
def _named(mds: Mds, request_id: int, done: float) -> float:
    """Return when the MDS has changed the directory too, if that is what an operation does."""
    request = mds.requests.rows[request_id]
    operation = mds.programs.operations[mds.programs.rows[request.program].op]
    kind = operation.kind
    service = mds.directory_service
    if kind == _RENAME:
        service *= 2.0
        return max(done, serve(mds.network, mds.renames, request.begun, 0.0, service) + service)
    if kind != _CREATE and kind != _UNLINK and kind != _MKDIR:
        return done
    file = mds.files.rows[operation.file]
    if not file.shared_directory:
        return done
    station = mds.directory + file.mdt
    return max(done, serve(mds.network, station, request.begun, 0.0, service) + service)


@outlined
def _with_objects(mds: Mds, request_id: int, done: float) -> float:
    """Return when a new file has its objects; note when the metadata of a file has changed."""
    request = mds.requests.rows[request_id]
    operation = mds.programs.operations[mds.programs.rows[request.program].op]
    kind = operation.kind
    if kind != _CREATE and kind != _UNLINK and kind != _MKDIR:
        return done
    file = mds.files.rows[operation.file]
    if kind == _CREATE:
        for object_id in ost_objects_of(mds.files, operation.file):
            # The OSTs are asked at the same time: the slowest counts.
            ost = mds.files.objects[object_id].ost
            done = max(done, take_object(mds.precreation, ost, request.begun))
    file.changed = done
    return done


@performs(
    Mds,
    *(Op.OPEN, Op.CREATE, Op.UNLINK, Op.MKDIR, Op.RENAME),
    on=Backend.LUSTRE,
)
@outlined
def metadata(mds: Mds, program_id: int, now: float) -> float:
    """Take an operation at the MDS on to its next state."""
    program = mds.programs.rows[program_id]
    operation = mds.programs.operations[program.op]
    kind = operation.kind
    if program.phase == REACHED:
        if _done_by_handle(mds.handles, program_id, kind):
            program.op += 1
            return GO_ON
        program.since = now
        program.phase = ENTERED
        if not enter_directory(mds.directories, program_id):
            return GONE
    if program.phase == ENTERED and kind == _STAT and _knows_all(mds, program_id):
        return _learns_size(mds, program_id, now)
    if program.phase in (ENTERED, SEEKS, FOUND) and not _is_ready(mds, program_id, now):
        return GONE
    if program.phase in (HAS_TURN, LOOKS_UP):
        return _asks(mds, program_id, now)
    if program.phase == OPENED:
        return end_operation(mds, program_id, now)
    if program.phase == ANSWERED and kind == _STAT:
        return _learns_size(mds, program_id, now)
    charge_reply(mds.programs, program_id)
    _note_answer(mds, program_id, now)
    return end_operation(mds, program_id, now)


@outlined
def _is_ready(mds: Mds, program_id: int, now: float) -> bool:
    """Take what an operation needs before it asks the MDS; False if it waits for that.

    An unlink asks for the name, unless the node knows it. That costs what a stat does there.
    """
    program = mds.programs.rows[program_id]
    operation = mds.programs.operations[program.op]
    if program.phase == ENTERED:
        if operation.kind != _UNLINK or knows_name(mds.handles, program_id):
            return bool(_takes_its_turn(mds, program_id))
        program.phase = SEEKS
        if not takes_place(mds, _mdc_id(mds, program_id), program_id):
            return False
    if program.phase == FOUND:
        pass_place(mds, _mdc_id(mds, program_id), now)
        charge_reply(mds.programs, program_id)
        return bool(_takes_its_turn(mds, program_id))
    program.phase = FOUND
    mds.programs.behind[_TURN, program_id] += now - program.since
    wait_for(mds.programs, program_id, 1, now)
    station, service = mds.station + mds.files.rows[operation.file].mdt, mds.seconds[_STAT]
    send(mds.requests, program_id, LOOKUP, station, service, mds.latency, operation.file, now)
    return False


@outlined
def _asks(mds: Mds, program_id: int, now: float) -> float:
    """Ask the MDS; not for a file that a neighbour has opened meanwhile."""
    program = mds.programs.rows[program_id]
    # An unlink that has asked for the name has waited since the reply to that.
    mds.programs.behind[_TURN, program_id] += now - max(program.since, program.ready)
    if program.phase == LOOKS_UP and opened_by_neighbour(mds.handles, program_id):
        mds.programs.behind[_TURN, program_id] += mds.nodes.open_work
        program.phase = OPENED
        return now + mds.nodes.open_work
    program.phase = ANSWERED
    ask_mds(mds, program_id, now)
    return GONE


@outlined
def _knows_all(mds: Mds, program_id: int) -> bool:
    """Tell whether a stat need not ask the MDS.

    It always asks for what has no objects: a directory changes with the names in it.
    """
    file_id = mds.programs.operations[mds.programs.rows[program_id].op].file
    if not has_objects(mds.files, file_id) or mds.files.rows[file_id].on_mdt > 0:
        return False
    return bool(knows_attributes(mds.handles, program_id))


@outlined
def _learns_size(mds: Mds, program_id: int, now: float) -> float:
    """Take a stat that has the attributes on: leave the directory, and ask every object."""
    program = mds.programs.rows[program_id]
    file_id = mds.programs.operations[program.op].file
    objects = has_objects(mds.files, file_id)
    if objects and not may_send(mds.requests, object_count(mds.files, file_id)):
        return FULL
    if program.phase == ANSWERED:
        pass_place(mds, _mdc_id(mds, program_id), now)
        note_attributes(mds.handles, program_id, now)
        charge_reply(mds.programs, program_id)
    else:
        mds.programs.behind[_TURN, program_id] += now - program.since
    leave_directory(mds.directories, program_id, now)
    if not objects:
        return end_operation(mds, program_id, now)
    send_to_objects(mds.requests, program_id, GLIMPSE, file_id, now)
    program.phase = SIZED
    return GONE


@outlined
def _takes_its_turn(mds: Mds, program_id: int) -> bool:
    """Take the node's turn for an operation that needs one; False if another has it."""
    program = mds.programs.rows[program_id]
    operation = mds.programs.operations[program.op]
    kind = operation.kind
    # Set before the turn is taken: who waits for it goes on from here when it is passed on.
    # Who opens and has the mutex of the directory did not know the name before it waited for that.
    unknown = program.directory > 0 or not knows_name(mds.handles, program_id)
    looks_up = kind == _OPEN and unknown
    program.phase = LOOKS_UP if looks_up else HAS_TURN
    if kind == _STAT:
        return takes_place(mds, _mdc_id(mds, program_id), program_id)
    if not _takes_turns(kind):
        return True
    turn = _turn(mds, program_id, kind)
    return take_one_of(turn, mds.modifying_rpcs, mds.programs.rows, program_id)


@outlined
def takes_place(mds: Mds, mdc_id: int, place: int) -> bool:
    """Take a place among the RPCs in flight of an mdc for a stat; False if it waits for one.

    ``place`` says whose it is: a row of ``places``.
    """
    mdc = mds.mdcs[mdc_id]
    if mdc.in_flight < mds.rpcs_in_flight:
        mdc.in_flight += 1
        return True
    join(mdc.stats, mds.places, place)
    return False


@outlined
def pass_place(mds: Mds, mdc_id: int, now: float) -> None:
    """Give up the place of a stat that the MDT has answered; wake the next that waits for one."""
    mdc, programs = mds.mdcs[mdc_id], len(mds.programs.rows)
    heir = pop(mdc.stats, mds.places)
    if heir < 0:
        mdc.in_flight -= 1
    elif heir < programs:
        wake(mds.programs, heir, now)
    else:
        schedule(mds.network.calendar, now, STATAHEAD_EVENT, heir - programs)


@outlined
def _note_answer(mds: Mds, program_id: int, now: float) -> None:
    """Note the effect of a reply: a file is open, or its name and its dirty pages are gone."""
    operation = mds.programs.operations[mds.programs.rows[program_id].op]
    if operation.kind in (_OPEN, _CREATE):
        note_open(mds.handles, program_id)
        if mds.files.rows[operation.file].composite > 0:
            _note_locks(mds, program_id, now)
    if operation.kind == _UNLINK:
        note_unlink(mds.handles, program_id)
        for object_id in objects_of(mds.files, operation.file):
            discard(mds.osc, object_id)


@outlined
def _note_locks(mds: Mds, program_id: int, now: float) -> None:
    """Take the locks that come with the reply to an open of a file with a composite layout.

    The layout lock; and, while all of the file is on the MDT, the lock of its data (DoM bit;
    mdt_open.c, mdt_object_open_lock), unless others have either.
    """
    file_id = mds.programs.operations[mds.programs.rows[program_id].op].file
    file = mds.files.rows[file_id]
    node = mds.programs.rows[program_id].node
    if mds.files.composites[file.composite - 1].lock.taken == 0:
        inode_id = inode_of(mds.cache, file_id, node)
        grant_layout(mds.cache, inode_id)
        mds.cache.layouts[inode_id].cached = 1
        if file.on_mdt == 1 and ost_object_count(mds.files, file_id) == 0:
            osc_object_id = osc_object_of(mds.cache, file.first_object, node, inode_id)
            grant_with_open(mds.ldlm, osc_object_id, now)


@outlined
def _done_by_handle(handles: Handles, program_id: int, kind: int) -> bool:
    """Open or close a file that a neighbour on the node has open too: no RPC."""
    if kind == _OPEN:
        return opened_by_neighbour(handles, program_id)
    return kind == _CLOSE and not closed_by_last(handles, program_id)


@outlined
def end_operation(mds: Mds, program_id: int, now: float) -> float:
    """End an operation: pass the turn on, and go on."""
    program = mds.programs.rows[program_id]
    operation = mds.programs.operations[program.op]
    if _takes_turns(operation.kind):
        turn = _turn(mds, program_id, operation.kind)
        pass_on(mds.programs, turn, now)
    leave_directory(mds.directories, program_id, now)
    charge(mds.programs, program_id, _METADATA, now)
    program.phase = REACHED
    program.op += 1
    return GO_ON


@outlined
def ask_mds(mds: Mds, program_id: int, now: float) -> None:
    """Send the request of a program's operation to the MDS of its file, and wait for the reply."""
    operation = mds.programs.operations[mds.programs.rows[program_id].op]
    file = mds.files.rows[operation.file]
    service = mds.seconds[operation.kind]
    if operation.kind in (_CREATE, _UNLINK):
        service += ost_object_count(mds.files, operation.file) * mds.each_object
    if operation.kind == _READDIR:
        service *= operation.count
    wait_for(mds.programs, program_id, 1, now)
    station = mds.station + file.mdt
    send(
        mds.requests, program_id, MDS_OPERATION, station, service, mds.latency, operation.file, now
    )


@outlined
def has_objects(files: Files, file_id: int) -> bool:
    """Tell whether OSTs have parts of a file: of a directory they have none."""
    return ost_object_count(files, file_id) > 0


@njit
def _takes_turns(kind: int) -> bool:
    """Tell whether a node sends an operation only when the one before it has been answered."""
    return kind in (_OPEN, _CREATE, _UNLINK, _MKDIR, _RENAME, _CLOSE)


@njit
def _turn(mds: Mds, program_id: int, kind: int) -> Any:
    """Return the turn that an operation of a program takes: to modify or open, or to close."""
    mdc = mds.mdcs[_mdc_id(mds, program_id)]
    return mdc.closing if kind == _CLOSE else mdc.modifying


@njit
def _mdc_id(mds: Mds, program_id: int) -> int:
    file_id = mds.programs.operations[mds.programs.rows[program_id].op].file
    return mdc_of(mds, program_id, file_id)


@njit
def mdc_of(mds: Mds, program_id: int, file_id: int) -> int:
    """Return the mdc of a program's node for the MDT of a file."""
    node, mdt = mds.programs.rows[program_id].node, mds.files.rows[file_id].mdt
    return int(node * mds.mdts + mdt)
