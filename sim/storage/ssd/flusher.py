"""The flusher of a node: it writes dirty pages back to the local SSD, a file at a time.

It begins at the background threshold, when pages are old, or when someone waits, for room among the
dirty pages or in an fsync (Linux mm/page-writeback.c, ``vm.dirty_background_ratio``,
``vm.dirty_ratio``, ``vm.dirty_expire_centisecs``). Files take turns, a piece each.
"""

from __future__ import annotations

from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import outlined
from xc40io.node.byte_lists import cut_bytes, next_run
from xc40io.node.page_cache import inode_of, list_osc_object, unlist_osc_object
from xc40io.plane.causes import Cause
from xc40io.plane.files import Backend
from xc40io.plane.operations import Op
from xc40io.plane.programs import charge_ahead, charge_to, wake_into
from xc40io.plane.registry import EXPIRY_EVENT, FLUSHER_EVENT, GO_ON, GONE, on_event, performs
from xc40io.storage.ssd.contents import PIECE, count_dirty, lose, wake_synced
from xc40io.storage.ssd.device import Ssds, device_io

_FLUSH, _SYNC, _SSD = int(Cause.FLUSH), int(Cause.SYNC), int(Cause.SSD)

# States of an fsync: what has happened, what the program does next -> what may follow.
_CALLED = 0  # nothing yet: waits until nothing of the file is dirty -> _CLEAN
_CLEAN = 1  # nothing is dirty: waits for the journal and the device's cache -> _SYNCED
_SYNCED = 2  # all is on the device: the operation ends -> _CALLED


@performs(Ssds, Op.FSYNC, on=Backend.SSD)
@outlined
def fsync(ssds: Ssds, program_id: int, now: float) -> float:
    """Wait until nothing of a file is dirty, then for the journal and the device's cache."""
    program = ssds.programs.rows[program_id]
    ssd = ssds.rows[program.node]
    if program.phase == _CALLED:
        file = ssds.programs.operations[program.op].file
        program.inode = inode_of(ssds.cache, file, program.node)
        program.phase = _CLEAN
        program.since = now
        inode = ssds.cache.inodes[program.inode]
        if inode.outstanding > 0 and now < ssd.lost_at:
            if inode.flush_head < 0:
                ssd.urgent += 1
            program.next = inode.flush_head
            inode.flush_head = program_id
            wake_flusher(ssds, program.node, now)
            return GONE
    if program.phase == _CLEAN:
        charge_to(ssds.programs, program_id, _FLUSH, _SSD, now)
        program.phase = _SYNCED
        if now < ssd.lost_at:
            ssds.programs.behind[_SSD, program_id] += ssds.limits.sync_time
            return charge_ahead(ssds.programs, program_id, _SYNC, ssds.limits.sync_time, now)
    program.phase = _CALLED
    program.op += 1
    return GO_ON


@outlined
def note_dirty(ssds: Ssds, osc_object_id: int, now: float) -> None:
    """Tell the flusher that pages of a file are dirty: it may begin, now or when they are old."""
    node = ssds.cache.osc_objects[osc_object_id].node
    ssd = ssds.rows[node]
    list_osc_object(ssds.cache, ssd.osc_objects, osc_object_id)
    pressed = ssd.urgent > 0 or ssd.waiters.head >= 0
    if pressed or ssd.dirty > ssd.background:
        wake_flusher(ssds, node, now)
    if ssd.timer == 0:
        # One timer a node, set by the first page that gets dirty: the others are younger, and
        # are taken for as old.
        ssd.timer = 1
        schedule(ssds.network.calendar, now + ssds.limits.expire, EXPIRY_EVENT, node)


@outlined
def wake_flusher(ssds: Ssds, node: int, now: float) -> None:
    """Wake the flusher of a node, unless it is at work."""
    ssd = ssds.rows[node]
    if ssd.writing < 0:
        _write_back(ssds, node, now)
        if ssd.writing >= 0:
            schedule(ssds.network.calendar, ssd.written_at, FLUSHER_EVENT, node)


@on_event(Ssds, EXPIRY_EVENT)
@outlined
def on_expiry(ssds: Ssds, node: int, now: float) -> float:
    """Have all dirty pages of a node written back: the first of them are old."""
    ssd = ssds.rows[node]
    ssd.timer = 0
    if ssd.dirty > 0:
        ssd.expired = 1
        wake_flusher(ssds, node, now)
    return GONE


@on_event(Ssds, FLUSHER_EVENT)
@outlined
def on_flusher(ssds: Ssds, node: int, now: float) -> float:
    """Note that what the flusher of a node wrote is on the device; begin to write more."""
    ssd = ssds.rows[node]
    if now >= ssd.lost_at:
        lose(ssds, node, now)
        ssd.writing = -1
        return GONE
    _written(ssds, node, now)
    _write_back(ssds, node, now)
    return ssd.written_at if ssd.writing >= 0 else GONE


@outlined
def _write_back(ssds: Ssds, node: int, now: float) -> None:
    """Begin the write-back of dirty pages of one file, if any is due."""
    ssd = ssds.rows[node]
    byte_lists = ssds.cache.byte_lists
    if ssd.dirty == 0:
        ssd.expired = 0
    osc_object_id, previous = _osc_object_to_write(ssds, node)
    while osc_object_id >= 0:
        dirty = ssds.cache.osc_objects[osc_object_id].dirty
        run_id = next_run(byte_lists, dirty, -1)
        unlist_osc_object(ssds.cache, ssd.osc_objects, osc_object_id, previous)
        if run_id >= 0:
            start = byte_lists.runs[run_id].start
            stop = min(byte_lists.runs[run_id].stop, start + ssds.limits.writeback_size)
            ssd.writing = osc_object_id
            ssd.writing_bytes = cut_bytes(byte_lists, dirty, start, stop)
            if next_run(byte_lists, dirty, -1) >= 0:
                list_osc_object(ssds.cache, ssd.osc_objects, osc_object_id)
            ssd.written_at = device_io(ssds, node, stop - start, 1, now)
            return
        # It was truncated or unlinked, or written past the cache, since it was put in line.
        osc_object_id, previous = _osc_object_to_write(ssds, node)


@outlined
def _osc_object_to_write(ssds: Ssds, node: int) -> tuple[int, int]:
    """Return the osc_object whose turn it is to be written back, and the one before it; or -1."""
    ssd = ssds.rows[node]
    if ssd.urgent > 0:
        previous = -1
        osc_object_id = ssd.osc_objects.head
        while osc_object_id >= 0:
            if ssds.cache.inodes[ssds.cache.osc_objects[osc_object_id].inode].flush_head >= 0:
                return osc_object_id, previous
            previous = osc_object_id
            osc_object_id = ssds.cache.osc_objects[osc_object_id].next
    waits = ssd.waiters.head >= 0
    if waits or ssd.expired or ssd.dirty > ssd.background:
        return ssd.osc_objects.head, -1
    return -1, -1


@outlined
def _written(ssds: Ssds, node: int, now: float) -> None:
    """Count the pages that the flusher has written as clean; wake those who waited for that."""
    ssd = ssds.rows[node]
    osc_object_id = ssd.writing
    ssd.writing = -1
    count_dirty(ssds, osc_object_id, -ssd.writing_bytes)
    wake_synced(ssds, osc_object_id, now)
    wake_into(ssds.programs, ssd.waiters, ssd.dirty_limit - ssd.dirty, PIECE, now)
