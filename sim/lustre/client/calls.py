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

from sim.engine.component import Component
from sim.engine.jit import njit, outlined
from sim.engine.page import PAGE
from sim.engine.queue import clear, join
from sim.lustre.ldlm import Ldlm, ask, covering, match, release
from sim.lustre.locks import MODE_PR, MODE_PW
from sim.lustre.osc import (
    Osc,
    channel_of,
    dirty_pages,
    keep_from_cancel,
    may_read,
    pump,
    release_room,
    reserve_room,
    submit,
)
from sim.lustre.requests import GLIMPSE, Requests, may_send, send_to_objects
from sim.node.copying import copy_pages
from sim.node.nodes import Nodes
from sim.node.page_cache import PageCache, find_view, inode_of, view_of, wait_for_pages
from sim.node.pages import not_cached
from sim.node.tree import READ_TURNS, WRITE_TURNS, enter_tree, leave_tree
from sim.node.windows import READING, add_window
from sim.plane.calls import begin_call, call_is_due, clip_to_file, end_call, start_of_call
from sim.plane.causes import Cause
from sim.plane.counters import Stat
from sim.plane.events import FULL, GO_ON, GONE
from sim.plane.files import Backend, Files, chunk_at
from sim.plane.operations import Op
from sim.plane.programs import Programs, charge, wake_all
from sim.plane.registry import performs
from sim.plane.site import Site

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
_READING = 8  # before it asks for the pages of a chunk
_TURNING = 9  # before a piece of a chunk that is read
_FILLED = 10  # has the pages that it reads
_TAKEN = 11  # has copied out of the cache

_NO_END = 1 << 62
_SEEK = (
    8 * PAGE
)  # a reader that jumps further is not sequential (ras_update, Lustre 2.7 llite/rw.c)


class Client(Component):
    """The clients of Lustre (llite): what a call meets between the system call and the OSC.

    Attributes
    ----------
    readahead_limit, readahead_step
        Most bytes that a reader reads ahead, and by how much more at each read in order.
    readahead_alignment
        Bytes: a window for reading ahead ends where a BRW RPC of the largest size would.
    readahead_whole
        Bytes of a file that is read whole (``max_read_ahead_whole_mb``).
    """

    files: Files
    programs: Programs
    cache: PageCache
    nodes: Nodes
    osc: Osc
    ldlm: Ldlm
    requests: Requests
    readahead_limit: int
    readahead_step: int
    readahead_alignment: int
    readahead_whole: int

    @classmethod
    def build(cls, site: Site) -> Client:
        """Return the clients of a machine."""
        lustre = site.machine.lustre
        return site.make(
            cls,
            readahead_limit=lustre.readahead,
            readahead_step=lustre.readahead_step,
            readahead_alignment=lustre.readahead_alignment,
            readahead_whole=lustre.readahead_whole,
        )


@performs(Client, Op.READ, Op.WRITE, on=Backend.LUSTRE)
@outlined
def transfer(client: Client, program_id: int, now: float) -> float:
    """Take a run of reads or writes one step further."""
    phase = client.programs.rows[program_id].phase
    if phase <= _NEXT_CHUNK:
        return _transfer_between_chunks(client, program_id, phase, now)
    if phase == _LOCKED:
        charge(client.programs, program_id, _LOCK, now)
        return _move(client, program_id, now)
    if phase == _ROOM:
        charge(client.programs, program_id, _CACHE, now)
        return _write_piece(client.osc, program_id, now)
    if phase == _COPIED:
        return _let_be_dirty(client.ldlm, program_id, now)
    if phase == _READING:
        return _read_chunk(client, program_id, now)
    if phase == _TURNING:
        return _read_piece(client, program_id, now)
    if phase == _FILLED:
        return _copy_piece(client, program_id, now)
    if phase == _TAKEN:
        return _end_piece(client, program_id, now)
    return _end_chunk(client.ldlm, program_id, now)


@outlined
def _transfer_between_chunks(client: Client, program_id: int, phase: int, now: float) -> float:
    """Take a run of reads or writes further that is at no chunk."""
    if phase == _NEXT_CALL:
        if not call_is_due(client.programs, program_id, now):
            return GO_ON
        return _next_call(client, program_id, now)
    if phase == _RANGED:
        charge(client.programs, program_id, _RANGE, now)
        return _begin_write(client, program_id, now)
    if phase == _GLIMPSED:
        charge(client.programs, program_id, _METADATA, now)
        clip_to_file(client.programs, program_id)
    return _next_chunk(client, program_id, now)


@outlined
def _next_call(client: Client, program_id: int, now: float) -> float:
    """Begin the next call of the run."""
    program = client.programs.rows[program_id]
    operation = client.programs.operations[program.op]
    program.inode = inode_of(client.cache, operation.file, program.node)
    begin_call(client.programs, program_id)
    if operation.kind == _WRITE:
        return _begin_write(client, program_id, now)
    if not may_send(client.requests, client.files.rows[operation.file].stripe_count):
        return FULL
    start = start_of_call(client.programs, program_id)
    _note_order(client, program_id, start, operation.length)
    if start + operation.length > client.files.rows[operation.file].end:
        program.phase = _GLIMPSED
        program.since = now
        send_to_objects(client.requests, program_id, GLIMPSE, operation.file, now)
        return GONE
    return _next_chunk(client, program_id, now)


@outlined
def _begin_write(client: Client, program_id: int, now: float) -> float:
    """Take the range of bytes of a write; wait if another write of the node has some of them.

    Programs that hold a group lock answer for themselves.
    """
    program = client.programs.rows[program_id]
    inode = client.cache.inodes[program.inode]
    start = start_of_call(client.programs, program_id)
    if program.group == 0 and _others_write(client.programs, inode.writers, start, program.length):
        program.phase = _RANGED
        program.since = now
        join(inode.range_waiters, client.programs.rows, program_id)
        return GONE
    program.writer_next = inode.writers
    inode.writers = program_id
    return _next_chunk(client, program_id, now)


@outlined
def _next_chunk(client: Client, program_id: int, now: float) -> float:
    """Turn to the next stripe chunk; end the call where there is none."""
    program = client.programs.rows[program_id]
    if program.done == program.length:
        return _end_call(client.cache, program_id, now)
    file = client.files.rows[client.programs.operations[program.op].file]
    start = start_of_call(client.programs, program_id) + program.done
    chunk = chunk_at(file, start)
    program.view_id = view_of(client.cache, chunk.object_id, program.node, program.inode)
    program.offset = chunk.offset
    program.left = min(program.length - program.done, _stripe_left(file, chunk.left))
    program.done += program.left
    return _lock(client, program_id, now)


@njit
def _stripe_left(file: Any, left: int) -> int:
    """Return where a call is cut that has so many bytes left of a stripe.

    In a file of one stripe object it is never cut (Lustre 2.7 lov_io.c, lov_io_rw_iter_init).
    """
    return left if file.stripe_count > 1 else _NO_END


@outlined
def _lock(client: Client, program_id: int, now: float) -> float:
    """Find a lock for the chunk, or ask for one: whole pages, read or write."""
    program = client.programs.rows[program_id]
    mode = MODE_PW if client.programs.operations[program.op].kind == _WRITE else MODE_PR
    start = program.offset // PAGE * PAGE
    end = -(-(program.offset + program.left) // PAGE) * PAGE - 1
    program.phase = _LOCKED
    program.lock = match(client.osc, program_id, mode, start, end)
    program.since = now
    if program.lock >= 0:
        return _move(client, program_id, now)
    ask(client.ldlm, program_id, mode, start, end, now)
    return GONE


@outlined
def _others_write(programs: Programs, writers: int, start: int, length: int) -> bool:
    """Tell whether a program of a list has a call under way that overlaps a range of bytes."""
    while writers >= 0:
        other = programs.rows[writers]
        operation = programs.operations[other.op]
        other_start = operation.offset + other.call * operation.stride
        if other_start < start + length and start < other_start + operation.length:
            return True
        writers = other.writer_next
    return False


@outlined
def _end_call(cache: PageCache, program_id: int, now: float) -> float:
    """Count a call as done; let those go on who waited for its range of bytes."""
    program = cache.programs.rows[program_id]
    operation = cache.programs.operations[program.op]
    if operation.kind == _WRITE:
        file = cache.files.rows[operation.file]
        file.end = max(file.end, start_of_call(cache.programs, program_id) + program.length)
        _leave_writers(cache, program_id)
        inode = cache.inodes[program.inode]
        wake_all(cache.programs, inode.range_waiters.head, now)
        clear(inode.range_waiters)
    end_call(cache.programs, program_id)
    program.phase = _NEXT_CALL
    return GO_ON


@outlined
def _leave_writers(cache: PageCache, program_id: int) -> None:
    """Take a program out of its inode's list of writers."""
    inode = cache.inodes[cache.programs.rows[program_id].inode]
    if inode.writers == program_id:
        inode.writers = cache.programs.rows[program_id].writer_next
        return
    previous = inode.writers
    while cache.programs.rows[previous].writer_next != program_id:
        previous = cache.programs.rows[previous].writer_next
    cache.programs.rows[previous].writer_next = cache.programs.rows[program_id].writer_next


@outlined
def _move(client: Client, program_id: int, now: float) -> float:
    """Move the bytes of a locked chunk."""
    program = client.programs.rows[program_id]
    operation = client.programs.operations[program.op]
    if client.files.rows[operation.file].direct:
        return _move_directly(client.osc, program_id, now)
    if operation.kind == _WRITE:
        return _write_piece(client.osc, program_id, now)
    return _read_chunk(client, program_id, now)


@outlined
def _move_directly(osc: Osc, program_id: int, now: float) -> float:
    """Hand a whole chunk to the OSC; the program goes on when all of it has been moved."""
    program = osc.programs.rows[program_id]
    program.phase = _MOVED
    program.pending = program.left
    program.since = now
    submit(
        osc,
        program_id,
        -1,
        osc.cache.views[program.view_id].object,
        program.node,
        program.offset,
        program.left,
        osc.programs.operations[program.op].kind,
        now,
    )
    return GONE


@outlined
def _write_piece(osc: Osc, program_id: int, now: float) -> float:
    """Copy an RPC's worth of the chunk into the page cache, once there is room for it."""
    program = osc.programs.rows[program_id]
    view = osc.cache.views[program.view_id]
    rpc_size = osc.cache.rpc_size
    piece = min(program.left, rpc_size - program.offset % rpc_size)
    channel_id = channel_of(osc, view.node, view.object)
    if not reserve_room(osc, channel_id, piece):
        program.phase = _ROOM
        program.since = now
        join(osc.channels[channel_id].waiters, osc.programs.rows, program_id)
        pump(osc, channel_id, now)
        return GONE
    program.phase = _COPIED
    entered = enter_tree(osc.cache, program_id, piece, WRITE_TURNS, now)
    return copy_pages(
        osc.brw.nodes, program_id, piece, piece * osc.brw.nodes.write_copy, entered, now
    )


@outlined
def _let_be_dirty(ldlm: Ldlm, program_id: int, now: float) -> float:
    """Let the piece just copied be dirty, and turn to the next."""
    program = ldlm.programs.rows[program_id]
    view = ldlm.cache.views[program.view_id]
    rpc_size = ldlm.cache.rpc_size
    piece = min(program.left, rpc_size - program.offset % rpc_size)
    leave_tree(ldlm.cache, program_id)
    channel_id = channel_of(ldlm.osc, view.node, view.object)
    again = dirty_pages(ldlm.osc, program.view_id, program.offset, piece)
    if again > 0:  # dirty before: they had their room
        release_room(ldlm.osc, channel_id, again)
    pump(ldlm.osc, channel_id, now)
    program.offset += piece
    program.left -= piece
    if program.left > 0:
        return _write_piece(ldlm.osc, program_id, now)
    return _end_chunk(ldlm, program_id, now)


@outlined
def _read_chunk(client: Client, program_id: int, now: float) -> float:
    """Ask for the pages of the chunk that are not in the cache, and for some beyond."""
    program = client.programs.rows[program_id]
    program.phase = _READING
    if not _may_read(client, program_id, program.left + client.readahead_limit):
        return FULL
    client.programs.stats[_HITS] += program.left
    limit = _ask_for_chunk(client, program_id, program.offset, program.left, now)
    _read_ahead(client.osc, program_id, limit, now)
    program.later = program.left
    return _read_piece(client, program_id, now)


@outlined
def _ask_for_chunk(client: Client, program_id: int, offset: int, left: int, now: float) -> int:
    """Ask for pages of the ``left`` last bytes of the chunk; what is asked for was no hit.

    Returns up to where in the file pages are asked for at this time.
    """
    program = client.programs.rows[program_id]
    here = start_of_call(client.programs, program_id) + program.done - left
    limit = _asked_at_once(client, program_id, here, left)
    stop = offset + min(left, limit - here)
    missed = client.programs.stats[_MISSES]
    while offset < stop:
        _ask_for_pages(client.osc, program_id, program.view_id, offset, stop, _MISSES, now)
        offset = _next_window(client.cache, offset)
    client.programs.stats[_HITS] -= client.programs.stats[_MISSES] - missed
    return limit


@outlined
def _read_piece(client: Client, program_id: int, now: float) -> float:
    """Turn to the next RPC's worth of the chunk: copy it, once its pages are in the cache.

    Pages that have not been asked for, or were evicted since, are asked for with what follows them.
    """
    program = client.programs.rows[program_id]
    program.phase = _TURNING
    if not _may_read(client, program_id, program.later):
        return FULL
    offset = program.offset
    program.left = min(program.later, _next_window(client.cache, offset) - offset)
    program.later -= program.left
    stop = offset + program.left
    missed = client.programs.stats[_MISSES]
    missing = _ask_for_pages(client.osc, program_id, program.view_id, offset, stop, _MISSES, now)
    asked = client.programs.stats[_MISSES] - missed
    client.programs.stats[_HITS] -= asked
    if asked > 0:
        _ask_for_chunk(client, program_id, stop, program.later, now)
    if missing == 0:
        return _copy_piece(client, program_id, now)
    program.phase = _FILLED
    wait_for_pages(client.cache, program_id, missing, now)
    return GONE


@outlined
def _may_read(client: Client, program_id: int, size: int) -> bool:
    """Tell whether there are rows for a program to ask for so many bytes in one event."""
    programs = client.programs
    file = client.files.rows[programs.operations[programs.rows[program_id].op].file]
    return may_read(client.osc, size + client.readahead_alignment, file.stripe_count)


@outlined
def _next_window(cache: PageCache, offset: int) -> int:
    """Return where the window after the one of an offset begins."""
    return (offset // cache.rpc_size + 1) * cache.rpc_size


@outlined
def _ask_for_pages(
    osc: Osc, program_id: int, view_id: int, offset: int, stop: int, stat: int, now: float
) -> int:
    """Ask for the pages from ``offset`` to ``stop``, or to the end of their window, if need be.

    Counts what it has asked for as ``stat``; returns how many of the bytes are not in the cache.
    """
    stop = min(stop, _next_window(osc.cache, offset))
    first, last = offset // PAGE * PAGE, -(-stop // PAGE) * PAGE
    first, last = not_cached(osc.cache, view_id, first, last)
    if first == last:
        return 0
    missing = min(stop, last) - max(offset, first)
    if not _are_coming(osc.cache, view_id, first, last):
        view = osc.cache.views[view_id]
        window_id = add_window(osc.cache, view_id, first, last - first, READING)
        keep_from_cancel(osc, view_id, first, last)
        submit(osc, -1, window_id, view.object, view.node, first, last - first, _READ, now)
        osc.programs.rows[program_id].entering += last - first
        osc.programs.stats[stat] += missing
    return missing


@outlined
def _are_coming(cache: PageCache, view_id: int, offset: int, stop: int) -> bool:
    """Tell whether pages of one window have been asked for already."""
    index = offset // cache.rpc_size
    window_id = cache.views[view_id].windows
    while window_id >= 0 and cache.windows[window_id].index <= index:
        window = cache.windows[window_id]
        reads = window.index == index and window.state == READING
        if reads and window.low <= offset and window.high >= stop:
            return True
        window_id = window.next
    return False


@outlined
def _note_order(client: Client, program_id: int, start: int, length: int) -> None:
    """Widen the read-ahead of a program that reads in order or in strides; end it for others.

    From the second consecutive read on it grows by a step each, and so it does from the second
    equal stride on (Lustre 2.7 llite/rw.c, ras_update; RAS_INCREASE_STEP).
    """
    program = client.programs.rows[program_id]
    jump = start - program.next_read
    in_order = -_SEEK <= jump <= _SEEK
    if program.next_read >= 0 and (in_order or (jump == program.gap and jump > 0)):
        limit = client.readahead_limit
        program.striding = 0 if in_order else program.striding + 1
        program.ahead = min(program.ahead + client.readahead_step, limit)
    else:
        program.gap = jump if program.next_read >= 0 else 0
        program.striding = 0
        program.ahead = 0
        program.ahead_done = 0
    program.next_read = start + length


@outlined
def _asked_at_once(client: Client, program_id: int, here: int, left: int) -> int:
    """Return up to where in the file a reader asks for pages at ``here``.

    ``left`` are the bytes of its chunk. The window for reading ahead is widened to the whole of a
    call, so that the RPCs of a long one are under way together. It ends at the last boundary
    between the largest RPCs, unless it lies between two: of a call across one, the rest is asked
    for when its reader gets there (Lustre 2.7 llite/rw.c, ll_readahead).
    """
    program = client.programs.rows[program_id]
    file = client.files.rows[client.programs.operations[program.op].file]
    end = start_of_call(client.programs, program_id) + program.length
    end = min(end, here + left + client.readahead_limit)
    if program.ahead > 0 and program.striding == 0:
        if file.end <= client.readahead_whole:
            return file.end
        end = max(end, min(program.next_read + program.ahead, file.end))
    boundary = end // client.readahead_alignment * client.readahead_alignment
    return boundary if boundary > max(program.ahead_done, here) else end


@outlined
def _read_ahead(osc: Osc, program_id: int, limit: int, now: float) -> None:
    """Ask for the pages from the chunk's end to ``limit``, and for those of further strides."""
    program = osc.programs.rows[program_id]
    after = start_of_call(osc.programs, program_id) + program.done
    found = _ask_ahead(osc, program_id, max(program.ahead_done, after), limit, now)
    if found and program.striding > 0:
        _read_ahead_in_strides(osc, program_id, now)


@outlined
def _read_ahead_in_strides(osc: Osc, program_id: int, now: float) -> None:
    """Ask for what the next calls of a program read that leaves out as much between each two."""
    program = osc.programs.rows[program_id]
    length = osc.programs.operations[program.op].length
    end = osc.files.rows[osc.programs.operations[program.op].file].end
    left = program.ahead
    start = program.next_read + program.gap
    while left > 0 and start < end:
        stop = min(start + min(length, left), end)
        left -= stop - start
        at = max(program.ahead_done, start)
        if at < stop and not _ask_ahead(osc, program_id, at, stop, now):
            return
        start += length + program.gap


@outlined
def _ask_ahead(osc: Osc, program_id: int, at: int, limit: int, now: float) -> bool:
    """Ask for pages of a file ahead of their use; False where the node has no lock for them."""
    program = osc.programs.rows[program_id]
    file = osc.files.rows[osc.programs.operations[program.op].file]
    while at < limit:
        chunk = chunk_at(file, at)
        view_id = find_view(osc.cache, chunk.object_id, program.node)
        offset = chunk.offset
        size = min(
            _next_window(osc.cache, offset) - offset, _stripe_left(file, chunk.left), limit - at
        )
        if view_id < 0 or covering(osc, view_id, MODE_PR, offset, offset + size - 1) < 0:
            return False
        _ask_for_pages(osc, program_id, view_id, offset, offset + size, _AHEAD, now)
        at += size
        program.ahead_done = at
    return True


@outlined
def _copy_piece(client: Client, program_id: int, now: float) -> float:
    """Copy a piece out of the page cache.

    Then, at the latest, the pages that the program has asked for are in the tree of the file.
    """
    program = client.programs.rows[program_id]
    program.phase = _TAKEN
    entered = now
    if program.entering > 0:
        entered = enter_tree(client.cache, program_id, program.entering, READ_TURNS, now)
        program.entering = 0
    seconds = program.left * client.nodes.read_copy
    return copy_pages(client.nodes, program_id, program.left, seconds, entered, now)


@outlined
def _end_piece(client: Client, program_id: int, now: float) -> float:
    """Turn to the next piece of a chunk that is read; end the chunk where there is none."""
    program = client.programs.rows[program_id]
    leave_tree(client.cache, program_id)
    program.offset += program.left
    if program.later > 0:
        return _read_piece(client, program_id, now)
    return _end_chunk(client.ldlm, program_id, now)


@outlined
def _end_chunk(ldlm: Ldlm, program_id: int, now: float) -> float:
    """Release the lock of a chunk and turn to the next."""
    program = ldlm.programs.rows[program_id]
    release(ldlm, program.lock, now)
    program.phase = _NEXT_CHUNK
    return GO_ON
