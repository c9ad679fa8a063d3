"""Calls on files on a local SSD: reads, writes, and what the node's kernel does with their names.

A *write* takes room on the device for bytes that had none; when there is not enough, the call ends
there with ENOSPC, and what it has not written is counted as refused. It copies into the page cache,
piece by piece; the pages are dirty then. At the dirty limit writers wait for the flusher
(``xc40io.storage.ssd.flusher``), and so write at the rate of the device. A *read* copies out of the
page cache (``xc40io.storage.ssd.page_reads``). *Direct* I/O goes past the cache.

A device that is *lost* keeps nothing: what was on it is counted, dirty pages with it, and reads,
writes and syncs fail from then on.

Left out: a page written in part is not read before; the file system's own blocks take no room.
"""

from __future__ import annotations

from xc40io.engine.compiled import outlined
from xc40io.engine.page import PAGE
from xc40io.engine.queue import join, pop
from xc40io.node.byte_lists import add_bytes, cut_bytes
from xc40io.node.nodes import copy_pages
from xc40io.node.page_cache import (
    READ_TURNS,
    WRITE_TURNS,
    enter_tree,
    inode_of,
    leave_tree,
    osc_object_of,
)
from xc40io.node.pages import add_cached, drop_cached
from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.files import Backend, object_of
from xc40io.plane.operations import Op
from xc40io.plane.programs import (
    FAILED,
    REFUSED,
    Programs,
    begin_call,
    call_is_due,
    charge,
    charge_ahead,
    charge_to,
    clip_to_file,
    drop_call,
    end_call,
    start_of_call,
    wake,
)
from xc40io.plane.registry import GO_ON, GONE, performs
from xc40io.storage.ssd.contents import PIECE, count_dirty, cut_file, has_room, lose, take_room
from xc40io.storage.ssd.device import Ssds, device_io
from xc40io.storage.ssd.flusher import note_dirty, wake_flusher
from xc40io.storage.ssd.page_reads import ask_for_piece

_WRITE, _UNLINK, _TRUNCATE = int(Op.WRITE), int(Op.UNLINK), int(Op.TRUNCATE)
_SSD, _CACHE, _METADATA = int(Cause.SSD), int(Cause.CACHE), int(Cause.METADATA)
_THROTTLED, _NO_SPACE = int(Stat.THROTTLED_BYTES), int(Stat.NO_SPACE_BYTES)
_LOST = int(Stat.LOST_BYTES)

# States of a run of calls: what has happened, what the program does next -> what may follow. After
# a piece comes the next one, in any of the states 1 to 5, or the end of the call (0).
_BETWEEN_CALLS = 0  # no call is under way: begins the next one, with its first piece
_HAS_WAITED = 1  # pages have been written back: tries for room again -> _COPIED_IN, _HAS_WAITED
_COPIED_IN = 2  # the piece is in the cache: it gets dirty; the next piece
_FILLED = 3  # the pages of the piece have come: copies them -> _COPIED_OUT
_COPIED_OUT = 4  # the piece is out of the cache: the next piece
_MOVED = 5  # the direct I/O of the piece has ended: the next piece

_DIRECT_PIECE = 4 << 20  # bytes of direct I/O that are queued together


@performs(Ssds, Op.READ, Op.WRITE, on=Backend.SSD)
@outlined
def transfer(ssds: Ssds, program_id: int, now: float) -> float:
    """Take a run of reads or writes one step further."""
    if ssds.programs.rows[program_id].phase != _BETWEEN_CALLS:
        return _go_on(ssds, program_id, now)
    if not call_is_due(ssds.programs, program_id, now):
        return GO_ON
    return _next_call(ssds, program_id, now)


@performs(
    Ssds,
    *(Op.OPEN, Op.CREATE, Op.CLOSE, Op.STAT, Op.UNLINK, Op.MKDIR, Op.RENAME, Op.READDIR),
    Op.TRUNCATE,
    on=Backend.SSD,
)
@outlined
def metadata(ssds: Ssds, program_id: int, now: float) -> float:
    """Do an operation on the name or the size of a file: the node's own kernel does it at once."""
    program = ssds.programs.rows[program_id]
    operation = ssds.programs.operations[program.op]
    if operation.kind == _UNLINK:
        cut_file(ssds, operation.file, program.node, 0, now)
    elif operation.kind == _TRUNCATE:
        cut_file(ssds, operation.file, program.node, operation.offset, now)
        ssds.files.rows[operation.file].end = operation.offset
    seconds = ssds.limits.open_time
    ssds.programs.behind[_SSD, program_id] += seconds
    program.op += 1
    return charge_ahead(ssds.programs, program_id, _METADATA, seconds, now)


@outlined
def _next_call(ssds: Ssds, program_id: int, now: float) -> float:
    """Begin the next call of the run."""
    program = ssds.programs.rows[program_id]
    operation = ssds.programs.operations[program.op]
    program.inode = inode_of(ssds.cache, operation.file, program.node)
    # The tree is the kernel's for all files; what keeps its lock is the file system's own work.
    ssds.cache.inodes[program.inode].tree_page = ssds.limits.tree_page
    object_id = object_of(ssds.files, operation.file, 0)
    program.osc_object_id = osc_object_of(ssds.cache, object_id, program.node, program.inode)
    begin_call(ssds.programs, program_id, now)
    if now >= ssds.rows[program.node].lost_at:
        lose(ssds, program.node, now)
        return _fail(ssds.programs, program_id, now)
    if operation.kind != _WRITE:
        clip_to_file(ssds.programs, program_id)
        start = start_of_call(ssds.programs, program_id)
        program.ahead = 1 if start in (0, program.next_read) else 0
        program.next_read = start + program.length
    return _next_piece(ssds, program_id, now)


@outlined
def _go_on(ssds: Ssds, program_id: int, now: float) -> float:
    """Take a call that is under way one step further."""
    program = ssds.programs.rows[program_id]
    phase = program.phase
    if now >= ssds.rows[program.node].lost_at:
        lose(ssds, program.node, now)
        leave_tree(ssds.cache, program_id)
        return _fail(ssds.programs, program_id, now)
    if phase == _HAS_WAITED:
        charge_to(ssds.programs, program_id, _CACHE, _SSD, now)
        return _next_piece(ssds, program_id, now)
    if phase == _FILLED:
        charge(ssds.programs, program_id, _SSD, now)
        return _copy_out(ssds, program_id, now)
    if phase == _COPIED_IN:
        _make_dirty(ssds, program_id, now)
    elif phase == _COPIED_OUT:
        leave_tree(ssds.cache, program_id)
        program.done += program.left
    else:  # _MOVED
        charge(ssds.programs, program_id, _SSD, now)
        program.done += program.left
    return _next_piece(ssds, program_id, now)


@outlined
def _next_piece(ssds: Ssds, program_id: int, now: float) -> float:
    """Turn to the next piece of a call; end the call where there is none."""
    program = ssds.programs.rows[program_id]
    if program.done == program.length:
        end_call(ssds.programs, program_id, now)
        program.phase = _BETWEEN_CALLS
        return GO_ON
    operation = ssds.programs.operations[program.op]
    direct = ssds.files.rows[operation.file].direct
    program.offset = start_of_call(ssds.programs, program_id) + program.done
    size = PIECE if operation.kind == _WRITE else ssds.limits.readahead
    size = _DIRECT_PIECE if direct else size
    # Pieces end where a multiple of their size does: reads of several programs then ask for the
    # same pages, and find them under way.
    program.left = min(program.length - program.done, size - program.offset % size)
    if operation.kind == _WRITE and not has_room(ssds, program_id):
        return _refuse(ssds, program_id, now)
    if direct:
        return _move_past_cache(ssds, program_id, operation.kind, now)
    if operation.kind == _WRITE:
        return _copy_in(ssds, program_id, now)
    if ask_for_piece(ssds, program_id, now):
        program.phase = _FILLED
        return GONE
    return _copy_out(ssds, program_id, now)


@outlined
def _move_past_cache(ssds: Ssds, program_id: int, kind: int, now: float) -> float:
    """Move a piece by direct I/O; a write drops the cached pages of its range, dirty or not."""
    program = ssds.programs.rows[program_id]
    if kind == _WRITE:
        start, stop = program.offset, program.offset + program.left
        take_room(ssds, program_id)
        drop_cached(
            ssds.cache, program.osc_object_id, start // PAGE * PAGE, -(-stop // PAGE) * PAGE
        )
        dirty = ssds.cache.osc_objects[program.osc_object_id].dirty
        count_dirty(
            ssds, program.osc_object_id, -cut_bytes(ssds.cache.byte_lists, dirty, start, stop)
        )
        _lengthen(ssds.programs, program_id)
    program.phase = _MOVED
    program.since = now
    return device_io(ssds, program.node, program.left, kind, now)


@outlined
def _copy_in(ssds: Ssds, program_id: int, now: float) -> float:
    """Copy a piece into the page cache, once there is room for it among the dirty pages."""
    program = ssds.programs.rows[program_id]
    ssd = ssds.rows[program.node]
    # Where nothing is dirty there is nothing to wait for: a piece may be larger than the limit.
    if ssd.dirty > 0 and ssd.dirty + program.left > ssd.dirty_limit:
        ssds.programs.stats[_THROTTLED] += program.left
        program.phase = _HAS_WAITED
        program.since = now
        join(ssd.waiters, ssds.programs.rows, program_id)
        wake_flusher(ssds, program.node, now)
        return GONE
    take_room(ssds, program_id)
    ssd.dirty += program.left  # reserved: others that copy meanwhile count with it
    program.phase = _COPIED_IN
    size, limits = program.left, ssds.limits
    entered = enter_tree(ssds.cache, program_id, size, WRITE_TURNS, now)
    on_core = limits.write_copy + ssds.programs.operations[program.op].seconds
    in_memory = limits.node_copy
    return copy_pages(ssds.nodes, program_id, size, on_core, in_memory, entered, now)


@outlined
def _make_dirty(ssds: Ssds, program_id: int, now: float) -> None:
    """Make the pages of the piece just copied in dirty, and tell the flusher."""
    program = ssds.programs.rows[program_id]
    osc_object_id = program.osc_object_id
    start, stop = program.offset, program.offset + program.left
    leave_tree(ssds.cache, program_id)
    ssds.rows[program.node].dirty -= program.left  # what was reserved: some was dirty before
    dirty = ssds.cache.osc_objects[osc_object_id].dirty
    count_dirty(ssds, osc_object_id, add_bytes(ssds.cache.byte_lists, dirty, start, stop))
    add_cached(ssds.cache, osc_object_id, start // PAGE * PAGE, -(-stop // PAGE) * PAGE)
    _lengthen(ssds.programs, program_id)
    program.done += program.left
    note_dirty(ssds, osc_object_id, now)


@outlined
def _copy_out(ssds: Ssds, program_id: int, now: float) -> float:
    """Copy a piece out of the page cache; by then the pages asked for are in the file's tree."""
    program = ssds.programs.rows[program_id]
    program.phase = _COPIED_OUT
    entered = now
    if program.entering > 0:
        entered = enter_tree(ssds.cache, program_id, program.entering, READ_TURNS, now)
        program.entering = 0
    size, limits = program.left, ssds.limits
    on_core, in_memory = limits.read_copy, limits.node_copy
    return copy_pages(ssds.nodes, program_id, size, on_core, in_memory, entered, now)


@outlined
def _lengthen(programs: Programs, program_id: int) -> None:
    """Move the end of the file to the end of the piece that a program has written, if beyond."""
    program = programs.rows[program_id]
    file = programs.files.rows[programs.operations[program.op].file]
    file.end = max(file.end, program.offset + program.left)


@outlined
def _refuse(ssds: Ssds, program_id: int, now: float) -> float:
    """End a write with ENOSPC; count the bytes that are not written.

    If others wait for room among the dirty pages, the next of them has its turn instead.
    """
    program = ssds.programs.rows[program_id]
    ssd = ssds.rows[program.node]
    waiter = pop(ssd.waiters, ssds.programs.rows)
    if waiter >= 0:
        wake(ssds.programs, waiter, now)
    return _give_up(ssds.programs, program_id, REFUSED, _NO_SPACE, now)


@outlined
def _fail(programs: Programs, program_id: int, now: float) -> float:
    """End a call on a lost device; count the bytes that it has not moved."""
    return _give_up(programs, program_id, FAILED, _LOST, now)


@outlined
def _give_up(programs: Programs, program_id: int, column: int, stat: int, now: float) -> float:
    """End a call; count the bytes that it has not moved."""
    program = programs.rows[program_id]
    left = program.length - program.done
    program.entering = 0
    programs.refused[program_id, column] += left
    programs.stats[stat] += left
    drop_call(programs, program_id, program.done, now)
    program.phase = _BETWEEN_CALLS
    return GO_ON
