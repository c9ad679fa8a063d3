"""Read and write calls: what a client does between the system call and the OSC.

A call is a serial loop over stripe chunks (Lustre 2.7 lov_io.c, lov_io_rw_iter_init; cl_io.c,
cl_io_loop): for each part of the call that lies in one stripe, and so in one object, the client
gets one extent lock, moves the bytes, and releases the lock, before it turns to the next. There is
no parallelism across stripes inside one call, but that a read asks for the rest of its pages ahead.

A *buffered write* copies its chunk into the page cache, an RPC's worth at a time: it waits for room
among the OSC's dirty pages, copies at the pace of its core, and lets the pages be dirty. A
*buffered read* finds its pages in the cache, or asks for them and waits; a reader that goes through
a file in order, or in equal strides, has pages beyond its call read ahead. *Direct* I/O (O_DIRECT)
hands the whole chunk to the OSC and waits for it: synchronous, chunk by chunk (Lustre 2.7 rw26.c,
ll_direct_IO_26).

Writers of one file on one node exclude each other only where their calls overlap: the byte-range
lock of Lustre 2.7 (LU-1669, llite/range_lock.c). Yet every page that they write enters the one tree
of cached pages of the file, one after another under its lock: many ranks of a node write one file
slower than as many files.
"""

from __future__ import annotations

from typing import Any

from sim.engine.jit import njit
from sim.engine.page import PAGE
from sim.engine.queue import clear, join
from sim.lustre.events import GO_ON, GONE
from sim.lustre.ldlm import ask, covering, match, release
from sim.lustre.locks import MODE_PR, MODE_PW
from sim.lustre.osc import (
    channel_of,
    dirty_pages,
    pump,
    release_room,
    reserve_room,
    submit,
    wake_all,
)
from sim.lustre.pages import (
    READ_TURNS,
    READING,
    WRITE_TURNS,
    add_window,
    find_view,
    find_window,
    inode_of,
    not_cached,
    queue_at_tree,
    view_of,
    wait_for_pages,
)
from sim.lustre.requests import GLIMPSE, send_to_objects
from sim.lustre.tables import Cause, Lustre, Op, Stat
from sim.node.cores import copy

_READ, _WRITE = int(Op.READ), int(Op.WRITE)
_LOCK, _COPY, _CACHE = int(Cause.LOCK), int(Cause.COPY), int(Cause.CACHE)
_RANGE, _CORE, _MEMORY = int(Cause.RANGE), int(Cause.CORE), int(Cause.MEMORY)
_METADATA, _TREE = int(Cause.METADATA), int(Cause.TREE)
_HITS, _MISSES, _AHEAD = int(Stat.HIT_BYTES), int(Stat.MISS_BYTES), int(Stat.AHEAD_BYTES)

# Where a program is in a run of calls.
_NEXT_CALL = 0  # before a call
_RANGED = 1  # may try for its range of bytes again
_GLIMPSED = 2  # knows how long the file is
_NEXT_CHUNK = 3  # before a stripe chunk
_LOCKED = 4  # has the lock of the chunk
_ROOM = 5  # may try for room again
_COPIED = 6  # has copied into the cache
_MOVED = 7  # has been told that its direct I/O is done
_FILLED = 8  # has the pages that it reads
_TAKEN = 9  # has copied out of the cache

_AHEAD_ALIGNMENT = 4 << 20  # a window ends where a BRW RPC of the largest size would
_NO_END = 1 << 62
_SMALL_FILE = 2 << 20  # a file of this size is read whole (max_read_ahead_whole_mb)
_SEEK = 8 * PAGE  # a reader that jumps further is not sequential


@njit
def transfer(lustre: Lustre, program_id: int, now: float) -> float:
    """Take a run of reads or writes one step further."""
    phase = lustre.programs[program_id].phase
    if phase <= _NEXT_CHUNK:
        return _transfer_between_chunks(lustre, program_id, phase, now)
    if phase == _LOCKED:
        _charge(lustre, program_id, _LOCK, now)
        return _move(lustre, program_id, now)
    if phase == _ROOM:
        _charge(lustre, program_id, _CACHE, now)
        return _write_piece(lustre, program_id, now)
    if phase == _COPIED:
        return _let_be_dirty(lustre, program_id, now)
    if phase == _FILLED:
        return _copy_piece(lustre, program_id, now)
    if phase == _TAKEN:
        return _end_piece(lustre, program_id, now)
    return _end_chunk(lustre, program_id, now)


@njit
def _transfer_between_chunks(lustre: Lustre, program_id: int, phase: int, now: float) -> float:
    """Take a run of reads or writes further that is at no chunk."""
    if phase == _NEXT_CALL:
        return _next_call(lustre, program_id, now)
    if phase == _RANGED:
        _charge(lustre, program_id, _RANGE, now)
        return _begin_write(lustre, program_id, now)
    if phase == _GLIMPSED:
        _charge(lustre, program_id, _METADATA, now)
        _clip_to_file(lustre, program_id)
    return _next_chunk(lustre, program_id, now)


@njit
def _charge(lustre: Lustre, program_id: int, cause: int, now: float) -> None:
    """Charge what a program has waited to a cause."""
    lustre.waits[program_id, cause] += now - lustre.programs[program_id].since


@njit
def _next_call(lustre: Lustre, program_id: int, now: float) -> float:
    """Begin the next call of the run."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    program.inode = inode_of(lustre, operation.file, program.node)
    program.length = operation.length
    program.done = 0
    if operation.kind == _WRITE:
        return _begin_write(lustre, program_id, now)
    start = _start_of_call(lustre, program_id)
    _note_order(lustre, program_id, start, operation.length)
    if start + operation.length > lustre.files[operation.file].end:
        program.phase = _GLIMPSED
        program.since = now
        send_to_objects(lustre, program_id, GLIMPSE, operation.file, now)
        return GONE
    return _next_chunk(lustre, program_id, now)


@njit
def _start_of_call(lustre: Lustre, program_id: int) -> int:
    """Return where in the file the present call of a program begins."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    return operation.offset + program.call * operation.stride


@njit
def _clip_to_file(lustre: Lustre, program_id: int) -> None:
    """Let a read end where the file ends."""
    program = lustre.programs[program_id]
    file = lustre.files[lustre.operations[program.op].file]
    left = file.end - _start_of_call(lustre, program_id)
    program.length = max(min(program.length, left), 0)


@njit
def _begin_write(lustre: Lustre, program_id: int, now: float) -> float:
    """Take the range of bytes of a write; wait if another write of the node has some of them.

    Programs that hold a group lock answer for themselves.
    """
    program = lustre.programs[program_id]
    inode = lustre.inodes[program.inode]
    start = _start_of_call(lustre, program_id)
    if program.group == 0 and _others_write(lustre, inode.writers, start, program.length):
        program.phase = _RANGED
        program.since = now
        join(inode.range_waiters, lustre.programs, program_id)
        return GONE
    program.writer_next = inode.writers
    inode.writers = program_id
    return _next_chunk(lustre, program_id, now)


@njit
def _next_chunk(lustre: Lustre, program_id: int, now: float) -> float:
    """Turn to the next stripe chunk; end the call where there is none."""
    program = lustre.programs[program_id]
    if program.done == program.length:
        return _end_call(lustre, program_id, now)
    file = lustre.files[lustre.operations[program.op].file]
    start = _start_of_call(lustre, program_id) + program.done
    stripe = start // file.stripe_size
    inside = start - stripe * file.stripe_size
    row = stripe // file.stripe_count
    object_id = file.first_object + stripe - row * file.stripe_count
    program.view_id = view_of(lustre, object_id, program.node, program.inode)
    program.offset = row * file.stripe_size + inside
    program.left = min(program.length - program.done, _stripe_left(file, inside))
    program.done += program.left
    return _lock(lustre, program_id, now)


@njit
def _stripe_left(file: Any, inside: int) -> int:
    """Return the bytes from a place inside a stripe to its end.

    A file of one stripe object is never cut (Lustre 2.7 lov_io.c, lov_io_rw_iter_init).
    """
    return file.stripe_size - inside if file.stripe_count > 1 else _NO_END


@njit
def _lock(lustre: Lustre, program_id: int, now: float) -> float:
    """Find a lock for the chunk, or ask for one: whole pages, read or write."""
    program = lustre.programs[program_id]
    mode = MODE_PW if lustre.operations[program.op].kind == _WRITE else MODE_PR
    start = program.offset // PAGE * PAGE
    end = -(-(program.offset + program.left) // PAGE) * PAGE - 1
    program.phase = _LOCKED
    program.lock = match(lustre, program_id, mode, start, end)
    program.since = now
    if program.lock >= 0:
        return _move(lustre, program_id, now)
    ask(lustre, program_id, mode, start, end, now)
    return GONE


@njit
def _others_write(lustre: Lustre, writers: int, start: int, length: int) -> bool:
    """Tell whether a program of a list has a call under way that overlaps a range of bytes."""
    while writers >= 0:
        other = lustre.programs[writers]
        operation = lustre.operations[other.op]
        other_start = operation.offset + other.call * operation.stride
        if other_start < start + length and start < other_start + operation.length:
            return True
        writers = other.writer_next
    return False


@njit
def _end_call(lustre: Lustre, program_id: int, now: float) -> float:
    """Count a call as done; let those go on who waited for its range of bytes."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    if operation.kind == _WRITE:
        file = lustre.files[operation.file]
        file.end = max(file.end, _start_of_call(lustre, program_id) + program.length)
        _leave_writers(lustre, program_id)
        inode = lustre.inodes[program.inode]
        wake_all(lustre, inode.range_waiters.head, now)
        clear(inode.range_waiters)
    program.call += 1
    program.calls += 1
    program.phase = _NEXT_CALL
    return GO_ON


@njit
def _leave_writers(lustre: Lustre, program_id: int) -> None:
    """Take a program out of its inode's list of writers."""
    inode = lustre.inodes[lustre.programs[program_id].inode]
    if inode.writers == program_id:
        inode.writers = lustre.programs[program_id].writer_next
        return
    previous = inode.writers
    while lustre.programs[previous].writer_next != program_id:
        previous = lustre.programs[previous].writer_next
    lustre.programs[previous].writer_next = lustre.programs[program_id].writer_next


@njit
def _move(lustre: Lustre, program_id: int, now: float) -> float:
    """Move the bytes of a locked chunk."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    if lustre.files[operation.file].direct:
        return _move_directly(lustre, program_id, now)
    if operation.kind == _WRITE:
        return _write_piece(lustre, program_id, now)
    return _read_chunk(lustre, program_id, now)


@njit
def _move_directly(lustre: Lustre, program_id: int, now: float) -> float:
    """Hand a whole chunk to the OSC; the program goes on when all of it has been moved."""
    program = lustre.programs[program_id]
    program.phase = _MOVED
    program.pending = program.left
    program.since = now
    submit(
        lustre,
        program_id,
        -1,
        lustre.views[program.view_id].object,
        program.node,
        program.offset,
        program.left,
        lustre.operations[program.op].kind,
        now,
    )
    return GONE


@njit
def _write_piece(lustre: Lustre, program_id: int, now: float) -> float:
    """Copy an RPC's worth of the chunk into the page cache, once there is room for it."""
    program = lustre.programs[program_id]
    view = lustre.views[program.view_id]
    rpc_size = lustre.limits.rpc_size
    piece = min(program.left, rpc_size - program.offset % rpc_size)
    channel_id = channel_of(lustre, view.node, view.object)
    if not reserve_room(lustre, channel_id, piece):
        program.phase = _ROOM
        program.since = now
        join(lustre.channels[channel_id].waiters, lustre.programs, program_id)
        pump(lustre, channel_id, now)
        return GONE
    program.phase = _COPIED
    entered = _enter_tree(lustre, program_id, piece, WRITE_TURNS, now)
    return _copied(lustre, program_id, piece, piece * lustre.limits.write_copy, entered, now)


@njit
def _enter_tree(lustre: Lustre, program_id: int, size: int, turns: int, now: float) -> float:
    """Let a program's core take its turns at the tree of cached pages; return when they are over.

    A rank's core turns to its threads one after another: one of them waits for the lock at a time.
    """
    inode_id = lustre.programs[program_id].inode
    rank = lustre.programs[_rank(lustre, program_id)]
    if rank.at_tree < 0:
        rank.at_tree = program_id
        lustre.inodes[inode_id].tree_users += 1
    return queue_at_tree(lustre, inode_id, size, turns, now)


@njit
def _leave_tree(lustre: Lustre, program_id: int) -> None:
    """Note that a program has had its turns at the tree, if it had any."""
    rank = lustre.programs[_rank(lustre, program_id)]
    if rank.at_tree == program_id:
        rank.at_tree = -1
        lustre.inodes[lustre.programs[program_id].inode].tree_users -= 1


@njit
def _rank(lustre: Lustre, program_id: int) -> int:
    """Return the program of the rank that a program is a thread of, or that it is."""
    leader = lustre.programs[program_id].leader
    return program_id if leader < 0 else leader


@njit
def _copied(
    lustre: Lustre, program_id: int, size: int, seconds: float, entered: float, now: float
) -> float:
    """Let a program's core copy bytes while their pages enter the tree; return when both is done.

    Charges the program for what it waits.
    """
    program = lustre.programs[program_id]
    memory = lustre.stations.memory + program.node
    queue = max(lustre.network.stations[program.core].free - now, 0.0)
    handover = lustre.limits.list_handover
    done = copy(lustre.network, program.core, memory, size, seconds, handover, now)
    lustre.waits[program_id, _CORE] += queue
    lustre.waits[program_id, _COPY] += seconds
    lustre.waits[program_id, _MEMORY] += done - now - queue - seconds
    lustre.waits[program_id, _TREE] += max(entered - done, 0.0)
    return max(done, entered)


@njit
def _let_be_dirty(lustre: Lustre, program_id: int, now: float) -> float:
    """Let the piece just copied be dirty, and turn to the next."""
    program = lustre.programs[program_id]
    view = lustre.views[program.view_id]
    rpc_size = lustre.limits.rpc_size
    piece = min(program.left, rpc_size - program.offset % rpc_size)
    _leave_tree(lustre, program_id)
    channel_id = channel_of(lustre, view.node, view.object)
    again = dirty_pages(lustre, program.view_id, program.offset, piece)
    if again > 0:  # dirty before: they had their room
        release_room(lustre, channel_id, again)
    pump(lustre, channel_id, now)
    program.offset += piece
    program.left -= piece
    if program.left > 0:
        return _write_piece(lustre, program_id, now)
    return _end_chunk(lustre, program_id, now)


@njit
def _read_chunk(lustre: Lustre, program_id: int, now: float) -> float:
    """Ask for the pages of the chunk that are not in the cache, and for some beyond."""
    program = lustre.programs[program_id]
    lustre.stats[_HITS] += program.left
    limit = _ask_for_chunk(lustre, program_id, program.offset, program.left, now)
    _read_ahead(lustre, program_id, limit, now)
    program.later = program.left
    return _read_piece(lustre, program_id, now)


@njit
def _ask_for_chunk(lustre: Lustre, program_id: int, offset: int, left: int, now: float) -> int:
    """Ask for pages of the ``left`` last bytes of the chunk; what is asked for was no hit.

    Returns up to where in the file pages are asked for at this time.
    """
    program = lustre.programs[program_id]
    here = _start_of_call(lustre, program_id) + program.done - left
    limit = _asked_at_once(lustre, program_id, here, left)
    stop = offset + min(left, limit - here)
    missed = lustre.stats[_MISSES]
    while offset < stop:
        _ask_for_pages(lustre, program_id, program.view_id, offset, stop, _MISSES, now)
        offset = _next_window(lustre, offset)
    lustre.stats[_HITS] -= lustre.stats[_MISSES] - missed
    return limit


@njit
def _read_piece(lustre: Lustre, program_id: int, now: float) -> float:
    """Turn to the next RPC's worth of the chunk: copy it, once its pages are in the cache.

    Pages that have not been asked for, or were evicted since, are asked for with what follows them.
    """
    program = lustre.programs[program_id]
    offset = program.offset
    program.left = min(program.later, _next_window(lustre, offset) - offset)
    program.later -= program.left
    stop = offset + program.left
    missed = lustre.stats[_MISSES]
    missing = _ask_for_pages(lustre, program_id, program.view_id, offset, stop, _MISSES, now)
    asked = lustre.stats[_MISSES] - missed
    lustre.stats[_HITS] -= asked
    if asked > 0:
        _ask_for_chunk(lustre, program_id, stop, program.later, now)
    if missing == 0:
        return _copy_piece(lustre, program_id, now)
    program.phase = _FILLED
    wait_for_pages(lustre, program_id, missing, now)
    return GONE


@njit
def _next_window(lustre: Lustre, offset: int) -> int:
    """Return where the window after the one of an offset begins."""
    return (offset // lustre.limits.rpc_size + 1) * lustre.limits.rpc_size


@njit
def _ask_for_pages(
    lustre: Lustre, program_id: int, view_id: int, offset: int, stop: int, stat: int, now: float
) -> int:
    """Ask for the pages from ``offset`` to ``stop``, or to the end of their window, if need be.

    Counts what it has asked for as ``stat``; returns how many of the bytes are not in the cache.
    """
    stop = min(stop, _next_window(lustre, offset))
    first, last = offset // PAGE * PAGE, -(-stop // PAGE) * PAGE
    first, last = not_cached(lustre, view_id, first, last)
    if first == last:
        return 0
    missing = min(stop, last) - max(offset, first)
    if not _are_coming(lustre, view_id, first, last):
        view = lustre.views[view_id]
        window_id = add_window(lustre, view_id, first, last - first, READING)
        submit(lustre, -1, window_id, view.object, view.node, first, last - first, _READ, now)
        lustre.programs[program_id].entering += last - first
        lustre.stats[stat] += missing
    return missing


@njit
def _are_coming(lustre: Lustre, view_id: int, offset: int, stop: int) -> bool:
    """Tell whether pages of one window have been asked for already."""
    window_id = find_window(lustre, view_id, offset // lustre.limits.rpc_size, READING)
    if window_id < 0:
        return False
    window = lustre.windows[window_id]
    return window.low <= offset and window.high >= stop


@njit
def _note_order(lustre: Lustre, program_id: int, start: int, length: int) -> None:
    """Widen the read-ahead of a program that reads in order or in strides; end it for others.

    From the second consecutive read on it grows by a step each, and so it does from the second
    equal stride on (Lustre 2.7 llite/rw.c, ras_update; RAS_INCREASE_STEP).
    """
    program = lustre.programs[program_id]
    jump = start - program.next_read
    in_order = -_SEEK <= jump <= _SEEK
    if program.next_read >= 0 and (in_order or (jump == program.gap and jump > 0)):
        limit = lustre.limits.readahead_limit
        program.striding = 0 if in_order else program.striding + 1
        program.ahead = min(program.ahead + lustre.limits.readahead_step, limit)
    else:
        program.gap = jump if program.next_read >= 0 else 0
        program.striding = 0
        program.ahead = 0
        program.ahead_done = 0
    program.next_read = start + length


@njit
def _asked_at_once(lustre: Lustre, program_id: int, here: int, left: int) -> int:
    """Return up to where in the file a reader asks for pages at ``here``.

    ``left`` are the bytes of its chunk. The window for reading ahead is widened to the whole of a
    call, so that the RPCs of a long one are under way together. It ends at the last boundary
    between the largest RPCs, unless it lies between two: of a call across one, the rest is asked
    for when its reader gets there (Lustre 2.7 llite/rw.c, ll_readahead).
    """
    program = lustre.programs[program_id]
    file = lustre.files[lustre.operations[program.op].file]
    end = _start_of_call(lustre, program_id) + program.length
    end = min(end, here + left + lustre.limits.readahead_limit)
    if program.ahead > 0 and program.striding == 0:
        if file.end <= _SMALL_FILE:
            return file.end
        end = max(end, min(program.next_read + program.ahead, file.end))
    boundary = end // _AHEAD_ALIGNMENT * _AHEAD_ALIGNMENT
    return boundary if boundary > max(program.ahead_done, here) else end


@njit
def _read_ahead(lustre: Lustre, program_id: int, limit: int, now: float) -> None:
    """Ask for the pages from the chunk's end to ``limit``, and for those of further strides."""
    program = lustre.programs[program_id]
    after = _start_of_call(lustre, program_id) + program.done
    found = _ask_ahead(lustre, program_id, max(program.ahead_done, after), limit, now)
    if found and program.striding > 0:
        _read_ahead_in_strides(lustre, program_id, now)


@njit
def _read_ahead_in_strides(lustre: Lustre, program_id: int, now: float) -> None:
    """Ask for what the next calls of a program read that leaves out as much between each two."""
    program = lustre.programs[program_id]
    length = lustre.operations[program.op].length
    end = lustre.files[lustre.operations[program.op].file].end
    left = program.ahead
    start = program.next_read + program.gap
    while left > 0 and start < end:
        stop = min(start + min(length, left), end)
        left -= stop - start
        at = max(program.ahead_done, start)
        if at < stop and not _ask_ahead(lustre, program_id, at, stop, now):
            return
        start += length + program.gap


@njit
def _ask_ahead(lustre: Lustre, program_id: int, at: int, limit: int, now: float) -> bool:
    """Ask for pages of a file ahead of their use; False where the node has no lock for them."""
    program = lustre.programs[program_id]
    file = lustre.files[lustre.operations[program.op].file]
    while at < limit:
        stripe = at // file.stripe_size
        inside = at - stripe * file.stripe_size
        row = stripe // file.stripe_count
        object_id = file.first_object + stripe - row * file.stripe_count
        view_id = find_view(lustre, object_id, program.node)
        offset = row * file.stripe_size + inside
        size = min(_next_window(lustre, offset) - offset, _stripe_left(file, inside), limit - at)
        if view_id < 0 or covering(lustre, view_id, MODE_PR, offset, offset + size - 1) < 0:
            return False
        _ask_for_pages(lustre, program_id, view_id, offset, offset + size, _AHEAD, now)
        at += size
        program.ahead_done = at
    return True


@njit
def _copy_piece(lustre: Lustre, program_id: int, now: float) -> float:
    """Copy a piece out of the page cache.

    Then, at the latest, the pages that the program has asked for are in the tree of the file.
    """
    program = lustre.programs[program_id]
    program.phase = _TAKEN
    entered = now
    if program.entering > 0:
        entered = _enter_tree(lustre, program_id, program.entering, READ_TURNS, now)
        program.entering = 0
    seconds = program.left * lustre.limits.read_copy
    return _copied(lustre, program_id, program.left, seconds, entered, now)


@njit
def _end_piece(lustre: Lustre, program_id: int, now: float) -> float:
    """Turn to the next piece of a chunk that is read; end the chunk where there is none."""
    program = lustre.programs[program_id]
    _leave_tree(lustre, program_id)
    program.offset += program.left
    if program.later > 0:
        return _read_piece(lustre, program_id, now)
    return _end_chunk(lustre, program_id, now)


@njit
def _end_chunk(lustre: Lustre, program_id: int, now: float) -> float:
    """Release the lock of a chunk and turn to the next."""
    program = lustre.programs[program_id]
    release(lustre, program.lock, now)
    program.phase = _NEXT_CHUNK
    return GO_ON
