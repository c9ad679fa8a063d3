"""fsync of a file, and sync of many.

In an *fsync* (Lustre 2.7 llite/file.c, ll_fsync) the client writes back all dirty pages of the file
on this node; takes the inode mutex, so that ranks of one node go one after another; sends an
MDS_SYNC; then an OST_SYNC to every stripe object, dirty or not, all at once; and goes on when the
last has replied.

In a *sync* Linux has every file system write back its dirty pages and then calls its ``sync_fs``,
which a client of Lustre 2.7 does not have (llite/super25.c, lustre_super_operations): nobody asks
the servers to commit, so that a sync without dirty pages costs nothing.
"""

from __future__ import annotations

from xc40io.engine.compiled import outlined
from xc40io.engine.queue import take_turn
from xc40io.lustre.mds import Mds
from xc40io.lustre.osc.obds import Osc, may_pump, obd_of
from xc40io.lustre.osc.rpcs import pump
from xc40io.lustre.osc.urgency import raise_urgency
from xc40io.lustre.requests import MDS_SYNC, OST_SYNC, may_send, send, send_to_objects
from xc40io.node.osc_extents import URGENT
from xc40io.node.page_cache import find_inode, find_osc_object, inode_of
from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.files import Backend, object_count, objects_of, ost_object_count
from xc40io.plane.operations import Op
from xc40io.plane.programs import charge, charge_reply, pass_on, wait_for
from xc40io.plane.registry import FULL, GO_ON, GONE, performs

_FSYNC = int(Op.FSYNC)
_SYNC, _FLUSH, _MUTEX = int(Cause.SYNC), int(Cause.FLUSH), int(Cause.MUTEX)
_OST_SYNCS, _MDS_SYNCS = int(Stat.OST_SYNCS), int(Stat.MDS_SYNCS)

_END_OF_OBJECT = 1 << 62

# States of a program in an fsync.
_REACHED = 0  # writes back what is dirty -> _FLUSHED
_FLUSHED = 1  # nothing of the file is dirty: takes the mutex -> _HAS_MUTEX
_HAS_MUTEX = 2  # asks the MDS -> _MDS_SYNCED
_MDS_SYNCED = 3  # asks every stripe object's OST -> _OSTS_SYNCED, or done if there is none
_OSTS_SYNCED = 4  # passes the mutex on: done -> _REACHED

# States of a program in a sync; ``call`` counts the files that it has begun to write back, and
# beyond these those that it has found clean.
_TURNS_TO_FILE = 0  # begins to write back the next file, or looks if it is clean -> _WAITED, done
_WAITED = 1  # the file is clean -> _TURNS_TO_FILE


@performs(Mds, Op.FSYNC, on=Backend.LUSTRE)
@outlined
def fsync(mds: Mds, program_id: int, now: float) -> float:
    """Take an fsync on to its next state."""
    program = mds.programs.rows[program_id]
    operation = mds.programs.operations[program.op]
    if program.phase == _REACHED:
        if not may_pump(mds.osc, object_count(mds.files, operation.file)):
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
        service, latency = mds.seconds[_FSYNC], mds.latency
        send(mds.requests, program_id, MDS_SYNC, station, service, latency, operation.file, now)
        return GONE
    if program.phase == _MDS_SYNCED:
        if not may_send(mds.requests, object_count(mds.files, operation.file)):
            return FULL
        charge_reply(mds.programs, program_id)
        on_osts = ost_object_count(mds.files, operation.file)
        if on_osts > 0:  # else all of it is on the MDT
            program.phase = _OSTS_SYNCED  # the wait goes on: MDS and OSTs are charged as one
            mds.programs.stats[_OST_SYNCS] += on_osts
            send_to_objects(mds.requests, program_id, OST_SYNC, operation.file, now)
            return GONE
    else:
        charge_reply(mds.programs, program_id)
    charge(mds.programs, program_id, _SYNC, now)
    pass_on(mds.programs, mds.cache.inodes[program.inode].mutex, now)
    program.phase = _REACHED
    program.op += 1
    return GO_ON


@outlined
def _flush(osc: Osc, program_id: int, now: float) -> float:
    """Write back all dirty pages of a file on the node, and wait for them."""
    program = osc.programs.rows[program_id]
    await_write_back(osc, program_id)
    begin_write_back(osc, osc.programs.operations[program.op].file, program.node, now)
    return GONE


@outlined
def await_write_back(osc: Osc, program_id: int) -> None:
    """Have a program go on when nothing of the file of its ``inode`` is dirty any more."""
    program = osc.programs.rows[program_id]
    inode = osc.cache.inodes[program.inode]
    # As long as it is listed, whatever gets dirty of the file is urgent too (dirty_pages).
    program.next = inode.flush_head
    inode.flush_head = program_id


@outlined
def begin_write_back(osc: Osc, file_id: int, node: int, now: float) -> None:
    """Have all dirty pages of a file on a node written back; ``may_pump`` says if there is room."""
    for object_id in objects_of(osc.files, file_id):
        osc_object_id = find_osc_object(osc.cache, object_id, node)
        if osc_object_id >= 0 and osc.cache.osc_objects[osc_object_id].unsent > 0:
            raise_urgency(osc, osc_object_id, 0, _END_OF_OBJECT, URGENT)
            pump(osc, obd_of(osc, osc_object_id), now)


@performs(Mds, Op.WRITE_OUT, on=Backend.LUSTRE)
@outlined
def write_out(mds: Mds, program_id: int, now: float) -> float:
    """Take a sync on to its next state."""
    program = mds.programs.rows[program_id]
    operation = mds.programs.operations[program.op]
    if program.phase == _WAITED:
        charge(mds.programs, program_id, _FLUSH, now)
        program.phase = _TURNS_TO_FILE
        program.call += 1
        return GO_ON
    if program.call < operation.count:
        file_id = operation.file + program.call
        if not may_pump(mds.osc, object_count(mds.files, file_id)):
            return FULL
        begin_write_back(mds.osc, file_id, program.node, now)
        program.call += 1
        return GO_ON
    if program.call == 2 * operation.count:
        program.call = 0
        program.op += 1
        return GO_ON
    file_id = operation.file + program.call - operation.count
    inode_id = find_inode(mds.cache, file_id, program.node)
    if inode_id < 0 or mds.cache.inodes[inode_id].outstanding == 0:
        program.call += 1
        return GO_ON
    program.inode = inode_id
    program.since = now
    program.phase = _WAITED
    await_write_back(mds.osc, program_id)
    return GONE
