"""Read and write calls: what a client does between the system call and the OSC.

A call is a serial loop over stripe chunks (Lustre 2.7 lov_io.c, lov_io_rw_iter_init; cl_io.c,
cl_io_loop): for each part of the call that lies in one stripe, and so in one object, the client
gets one extent lock, moves the bytes, and releases the lock, before it turns to the next.

Writers of one file on one node exclude each other where their bytes overlap: this is the range lock
of Lustre 2.7 (LU-1669, llite/range_lock.c). A client before that has a mutex of the inode for a
whole write, wherever its bytes are (lli_write_mutex). Programs that hold a group lock answer for
themselves.

A buffered write goes through the page cache (``writes``), and so does a buffered read (``reads``).
*Direct* I/O (O_DIRECT) hands the whole chunk to the OSC and waits for it: synchronous, chunk by
chunk (Lustre 2.7 rw26.c, ll_direct_IO_26).
"""

from __future__ import annotations

from xc40io.engine.compiled import outlined
from xc40io.engine.component import Component
from xc40io.engine.page import PAGE
from xc40io.engine.prefetch import prefetch
from xc40io.engine.queue import clear, join
from xc40io.engine.record import Column
from xc40io.lustre.client.readahead import Readahead, note_order
from xc40io.lustre.client.reads import read_chunk
from xc40io.lustre.client.writes import expect_piece, write_chunk
from xc40io.lustre.layout_lock import (
    enter_layout,
    go_on_with_layout,
    leave_layout,
)
from xc40io.lustre.ldlm import Ldlm, ask, match, release
from xc40io.lustre.locks import EOF, MODE_PR, MODE_PW
from xc40io.lustre.mds import Mds
from xc40io.lustre.osc.obds import Osc
from xc40io.lustre.osc.rpcs import submit
from xc40io.lustre.requests import GLIMPSE, Requests, may_send, send_to_objects
from xc40io.lustre.states import (
    BETWEEN_CALLS,
    CALLED,
    LOCKED,
    MOVED,
    RANGE_FREED,
    ROOM_FREED,
    SIZED,
    needs_layout,
)
from xc40io.node.nodes import enter_call
from xc40io.node.page_cache import PageCache, go_to_inode, go_to_osc_object
from xc40io.node.pages import expect_cached
from xc40io.plane.causes import Cause
from xc40io.plane.files import (
    Backend,
    Files,
    chunk_of_call,
    is_on_mdt,
    object_count,
    ost_object_count,
)
from xc40io.plane.operations import Op
from xc40io.plane.programs import (
    PROGRAM,
    Programs,
    begin_call,
    call_is_due,
    charge,
    charge_reply,
    clip_to_file,
    end_call,
    start_of_call,
    wake_all,
)
from xc40io.plane.registry import FULL, GO_ON, GONE, before_program, performs
from xc40io.plane.site import Site

_WRITE = int(Op.WRITE)
_COPY, _MEMORY = int(Cause.COPY), int(Cause.MEMORY)
_LOCK, _RANGE, _METADATA = int(Cause.LOCK), int(Cause.RANGE), int(Cause.METADATA)

PROGRAM.add(__name__, Column("writer_next", "i4", often=True))  # the next of the inode's writers


class Client(Component):
    """The clients of Lustre (llite): what a call meets between the system call and the OSC."""

    files: Files
    programs: Programs
    cache: PageCache
    osc: Osc
    ldlm: Ldlm
    requests: Requests
    readahead: Readahead
    mds: Mds

    @classmethod
    def build(cls, site: Site) -> Client:
        """Return the clients of a machine."""
        return site.make(cls)


@performs(Client, Op.READ, Op.WRITE, on=Backend.LUSTRE)
@outlined
def transfer(client: Client, program_id: int, now: float) -> float:
    """Take a run of reads or writes on to its next state."""
    phase = client.programs.rows[program_id].phase
    if needs_layout(phase):
        knows = go_on_with_layout(client.mds, program_id, now)
        return _begin_call(client, program_id, now) if knows else GONE
    if phase == BETWEEN_CALLS:
        if not call_is_due(client.programs, program_id, now):
            return GO_ON
        return _next_call(client, program_id, now)
    if phase == CALLED:
        return _begin_call(client, program_id, now)
    if phase == ROOM_FREED:  # woken at this time: nobody saw it come
        expect_program(client, program_id, 0)
    if phase == RANGE_FREED:
        charge(client.programs, program_id, _RANGE, now)
        return _begin_write(client, program_id, now)
    if phase == SIZED:
        charge_reply(client.programs, program_id)
        charge(client.programs, program_id, _METADATA, now)
        clip_to_file(client.programs, program_id)
        return _next_chunk(client, program_id, now)
    if phase == LOCKED:
        charge(client.programs, program_id, _LOCK, now)
    if phase == MOVED:
        return _end_chunk(client, program_id, now)
    return _move(client, program_id, now)


@before_program(Client)
@outlined
def expect_program(client: Client, program_id: int, step: int) -> None:
    """Have the rows fetched that a call will need, in steps: one names another."""
    program = client.programs.rows[program_id]
    nodes = client.osc.brw.nodes
    if step == 0:
        prefetch(client.programs.operations, program.op)
        prefetch(client.cache.osc_objects, program.osc_object_id)
        prefetch(client.cache.inodes, program.inode)
        prefetch(client.programs.waits[_COPY], program_id)
        prefetch(client.programs.waits[_MEMORY], program_id)
        prefetch(nodes.network.stations, program.core)
        prefetch(nodes.network.stations, nodes.memory + program.node)
    elif step == 1 and program.op < program.stop:  # else it ends
        prefetch(client.files.rows, client.programs.operations[program.op].file)
        expect_piece(client.osc, program.osc_object_id)
    elif step == 2:
        expect_cached(client.cache, program.osc_object_id)


@outlined
def _next_call(client: Client, program_id: int, now: float) -> float:
    """Enter the kernel with the next call of the run."""
    program = client.programs.rows[program_id]
    begin_call(client.programs, program_id, now)
    program.phase = CALLED
    return enter_call(client.osc.brw.nodes, program_id, now)


@outlined
def _begin_call(client: Client, program_id: int, now: float) -> float:
    """Turn to the bytes of a call: its range if it writes, the size of the file if it reads."""
    program = client.programs.rows[program_id]
    operation = client.programs.operations[program.op]
    go_to_inode(client.cache, program_id, operation.file)
    writes = operation.kind == _WRITE
    # Asked before the order is noted: a call that is begun again must not widen it twice.
    if not writes and not may_send(client.requests, object_count(client.files, operation.file)):
        return FULL
    start = start_of_call(client.programs, program_id)
    if client.files.rows[operation.file].composite > 0:
        end = start + program.length if writes else 0
        if not enter_layout(client.mds, program_id, end, now):
            return GONE
    if writes:
        return _begin_write(client, program_id, now)
    note_order(client.readahead, program_id, start, operation.length)
    if start + operation.length > client.files.rows[operation.file].end:
        if ost_object_count(client.files, operation.file) == 0:
            # The lock of data on the MDT brings their size (Lustre 2.12 mdt_io.c, mdt_dom_lvbo).
            clip_to_file(client.programs, program_id)
            return _next_chunk(client, program_id, now)
        program.phase = SIZED
        program.since = now
        send_to_objects(client.requests, program_id, GLIMPSE, operation.file, now)
        return GONE
    return _next_chunk(client, program_id, now)


@outlined
def _begin_write(client: Client, program_id: int, now: float) -> float:
    """Turn to the first chunk of a write, once its range of bytes is free."""
    if not take_range(client.cache, program_id, now):
        client.programs.rows[program_id].phase = RANGE_FREED
        return GONE
    return _next_chunk(client, program_id, now)


@outlined
def _next_chunk(client: Client, program_id: int, now: float) -> float:
    """Turn to the next stripe chunk; end the call where there is none."""
    program = client.programs.rows[program_id]
    if program.done == program.length:
        return _end_call(client, program_id, now)
    start = start_of_call(client.programs, program_id) + program.done
    chunk = chunk_of_call(client.files, client.programs.operations[program.op].file, start)
    go_to_osc_object(client.cache, program_id, chunk.object_id)
    program.offset = chunk.offset
    program.left = min(program.length - program.done, chunk.left)
    program.done += program.left
    return _lock(client, program_id, now)


@outlined
def _lock(client: Client, program_id: int, now: float) -> float:
    """Find a lock for the chunk, or ask for one: whole pages, read or write."""
    program = client.programs.rows[program_id]
    mode = MODE_PW if client.programs.operations[program.op].kind == _WRITE else MODE_PR
    start = program.offset // PAGE * PAGE
    end = -(-(program.offset + program.left) // PAGE) * PAGE - 1
    object_id = client.cache.osc_objects[program.osc_object_id].object
    if is_on_mdt(client.files, client.programs.operations[program.op].file, object_id):
        start, end = 0, EOF  # an inodebits lock has no extent
    program.phase = LOCKED  # of who has a lock at once, the pieces set the next
    program.lock = match(client.osc, program_id, mode, start, end)
    program.since = now
    if program.lock >= 0:
        return _move(client, program_id, now)
    ask(client.ldlm, program_id, mode, start, end, now)
    return GONE


@outlined
def _move(client: Client, program_id: int, now: float) -> float:
    """Move the bytes of a locked chunk, or go on with that."""
    program = client.programs.rows[program_id]
    operation = client.programs.operations[program.op]
    if client.files.rows[operation.file].direct:
        return _move_directly(client.osc, program_id, now)
    if operation.kind == _WRITE:
        return write_chunk(client.osc, program_id, now)
    return read_chunk(client.readahead, program_id, now)


@outlined
def _move_directly(osc: Osc, program_id: int, now: float) -> float:
    """Hand a whole chunk to the OSC; the program goes on when all of it has been moved."""
    program = osc.programs.rows[program_id]
    program.phase = MOVED
    program.pending = program.left
    program.since = now
    submit(
        osc,
        program_id,
        -1,
        program.osc_object_id,
        program.offset,
        program.left,
        osc.programs.operations[program.op].kind,
        now,
    )
    return GONE


@outlined
def _end_chunk(client: Client, program_id: int, now: float) -> float:
    release(client.ldlm, client.programs.rows[program_id].lock, now)
    return _next_chunk(client, program_id, now)


@outlined
def _end_call(client: Client, program_id: int, now: float) -> float:
    """Count a call as done; a write gives up its range of bytes."""
    cache = client.cache
    program = cache.programs.rows[program_id]
    operation = cache.programs.operations[program.op]
    file = cache.files.rows[operation.file]
    if file.composite > 0:
        leave_layout(client.mds, program.inode, now)
    if operation.kind == _WRITE:
        file.end = max(file.end, start_of_call(cache.programs, program_id) + program.length)
        leave_range(cache, program_id, now)
    end_call(cache.programs, program_id, now)
    program.phase = BETWEEN_CALLS
    return GO_ON


@outlined
def take_range(cache: PageCache, program_id: int, now: float) -> bool:
    """Take the range of bytes of a write; if another write has some of them, wait and say False."""
    program = cache.programs.rows[program_id]
    inode = cache.inodes[program.inode]
    start = start_of_call(cache.programs, program_id)
    if program.group == 0 and _others_write(cache, inode.writers, start, program.length):
        program.since = now
        join(inode.range_waiters, cache.programs.rows, program_id)
        return False
    program.writer_next = inode.writers
    inode.writers = program_id
    return True


@outlined
def leave_range(cache: PageCache, program_id: int, now: float) -> None:
    """Give up the range of bytes of a write; wake all who wait for one, to try again."""
    _leave_writers(cache, program_id)
    inode = cache.inodes[cache.programs.rows[program_id].inode]
    wake_all(cache.programs, inode.range_waiters.head, now)
    clear(inode.range_waiters)


@outlined
def _others_write(cache: PageCache, writers: int, start: int, length: int) -> bool:
    """Tell whether a program of a list has a call under way that a write of a range waits for."""
    while writers >= 0:
        other = cache.programs.rows[writers]
        operation = cache.programs.operations[other.op]
        other_start = operation.offset + other.call * operation.stride
        overlaps = other_start < start + length and start < other_start + operation.length
        if overlaps or not cache.range_locks:
            return True
        writers = other.writer_next
    return False


@outlined
def _leave_writers(cache: PageCache, program_id: int) -> None:
    """Take a program out of its inode's list of writers."""
    programs = cache.programs.rows
    inode = cache.inodes[programs[program_id].inode]
    after = programs[program_id].writer_next
    if inode.writers == program_id:
        inode.writers = after
        return
    previous = inode.writers
    while programs[previous].writer_next != program_id:
        previous = programs[previous].writer_next
    programs[previous].writer_next = after
