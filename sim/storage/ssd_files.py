"""Files on a node-local SSD, and the page cache of the kernel before them.

A *write* takes room on the device for bytes that had none; when there is not enough, the call ends
there with ENOSPC, and what it has not written is counted as refused. It copies into the page cache,
piece by piece, and lets the pages be dirty. The node's *flusher* writes dirty pages back, a file at
a time, from the background threshold on, or when they are old, or when someone waits; at the dirty
limit writers wait for it, and so write at the rate of the device (Linux mm/page-writeback.c,
``vm.dirty_background_ratio``, ``vm.dirty_ratio``, ``vm.dirty_expire_centisecs``). An *fsync* waits
until nothing of the file is dirty, then for the journal and the device's own cache.

A *read* finds its pages in the cache, or asks the device for them; a reader that goes on in order
has the next pages asked for while it copies (Linux mm/readahead.c). Pages that another program of
the node has asked for are waited for. *Direct* I/O goes past the cache.

A device that is *lost* keeps nothing: what was on it is counted, dirty pages with it, and reads,
writes and syncs fail from then on.

Left out: a page written in part is not read before; the file system's own blocks take no room.
"""

from __future__ import annotations

from sim.engine.calendar import schedule
from sim.engine.jit import entry, outlined
from sim.engine.ordered import following
from sim.engine.page import PAGE
from sim.engine.queue import clear, join, pop
from sim.engine.types import Integers
from sim.node.copying import copy_pages, enter_tree, leave_tree
from sim.node.page_cache import (
    DIRTY_RUNS,
    READ_TURNS,
    READING,
    TAKEN_RUNS,
    WRITE_TURNS,
    PageCache,
    add_cached,
    add_window,
    bytes_outside,
    cut_runs,
    drop_cached,
    drop_window,
    find_view,
    inode_of,
    join_runs,
    list_view,
    not_cached,
    served_readers,
    unlist_view,
    view_of,
    wait_for_pages,
)
from sim.plane.calls import begin_call, call_is_due, clip_to_file, end_call, start_of_call
from sim.plane.causes import Cause
from sim.plane.counters import Stat
from sim.plane.events import EXPIRY_EVENT, FLUSHER_EVENT, GO_ON, GONE, SSD_READ_EVENT
from sim.plane.files import Backend
from sim.plane.operations import Op
from sim.plane.programs import Programs, charge, wake, wake_all, wake_into
from sim.plane.registry import on_event, performs
from sim.storage.ssd import Ssds, device_io

_WRITE, _FSYNC, _UNLINK, _TRUNCATE = int(Op.WRITE), int(Op.FSYNC), int(Op.UNLINK), int(Op.TRUNCATE)
_SSD, _COPY, _CORE = int(Cause.SSD), int(Cause.COPY), int(Cause.CORE)
_CACHE, _FLUSH, _SYNC = int(Cause.CACHE), int(Cause.FLUSH), int(Cause.SYNC)
_METADATA = int(Cause.METADATA)
_HITS, _MISSES, _AHEAD = int(Stat.HIT_BYTES), int(Stat.MISS_BYTES), int(Stat.AHEAD_BYTES)
_THROTTLED, _NO_SPACE = int(Stat.THROTTLED_BYTES), int(Stat.NO_SPACE_BYTES)
_LOST = int(Stat.LOST_BYTES)

# Where a program is in a run of calls.
_NEXT_CALL = 0  # before a call
_THROTTLED_ONE = 2  # may try for room again
_COPIED = 3  # has copied into the cache
_FILLED = 4  # has the pages that it reads
_TAKEN = 5  # has copied out of the cache
_MOVED = 6  # its direct I/O is done

_PIECE = 1 << 20  # bytes copied between two looks at the dirty limit
_DIRECT_PIECE = 4 << 20  # bytes of direct I/O that are queued together
_END = 1 << 62

REFUSED, FAILED = 0, 1
"""Columns of ``refused``: for want of room, and because the device was lost."""


@performs(Ssds, Op.READ, Op.WRITE, on=Backend.SSD)
@outlined
def transfer(ssds: Ssds, program_id: int, now: float) -> float:
    """Take a run of reads or writes one step further."""
    if ssds.programs.rows[program_id].phase > _NEXT_CALL:
        return _go_on(ssds, program_id, now)
    if not call_is_due(ssds.programs, program_id, now):
        return GO_ON
    return _next_call(ssds, program_id, now)


@performs(
    Ssds,
    *(Op.OPEN, Op.CREATE, Op.CLOSE, Op.STAT, Op.UNLINK, Op.MKDIR, Op.TRUNCATE),
    on=Backend.SSD,
)
@outlined
def metadata(ssds: Ssds, program_id: int, now: float) -> float:
    """Do an operation on the name or the size of a file: the node's own kernel does it at once."""
    program = ssds.programs.rows[program_id]
    operation = ssds.programs.operations[program.op]
    if operation.kind == _UNLINK:
        _cut_file(ssds, operation.file, program.node, 0, now)
    elif operation.kind == _TRUNCATE:
        _cut_file(ssds, operation.file, program.node, operation.offset, now)
        ssds.files.rows[operation.file].end = operation.offset
    seconds = ssds.limits.open_time
    ssds.programs.waits[program_id, _METADATA] += seconds
    program.op += 1
    return now + seconds


@entry
def place(ssds: Ssds, files: Integers, nodes: Integers) -> None:
    """Let files take the room of what they hold already on the SSDs of some nodes."""
    for i in range(len(files)):
        file = ssds.files.rows[files[i]]
        inode_id = inode_of(ssds.cache, files[i], nodes[i])
        view_id = view_of(ssds.cache, file.first_object + TAKEN_RUNS, nodes[i], inode_id)
        if file.end > 0:
            ssds.rows[nodes[i]].used += join_runs(ssds.cache, view_id, 0, file.end)


@outlined
def _cut_file(ssds: Ssds, file_id: int, node: int, start: int, now: float) -> None:
    """Give back the room of a file's bytes from ``start`` on; nobody writes back what is dirty."""
    first = ssds.files.rows[file_id].first_object
    view_id = find_view(ssds.cache, first, node)
    if view_id < 0:
        return
    ssd = ssds.rows[node]
    drop_cached(ssds.cache, view_id, start, _END)
    ssd.used -= cut_runs(ssds.cache, find_view(ssds.cache, first + TAKEN_RUNS, node), start, _END)
    dirty = find_view(ssds.cache, first + DIRTY_RUNS, node)
    _count_dirty(ssds, view_id, -cut_runs(ssds.cache, dirty, start, _END))
    _wake_flushed(ssds, view_id, now)


@outlined
def _count_dirty(ssds: Ssds, view_id: int, size: int) -> None:
    """Count bytes of a file that have become dirty; fewer than none if they no longer are."""
    view = ssds.cache.views[view_id]
    view.outstanding += size
    ssds.cache.inodes[view.inode].outstanding += size
    ssds.rows[view.node].dirty += size


@outlined
def _go_on(ssds: Ssds, program_id: int, now: float) -> float:
    """Take a call that is under way one step further."""
    program = ssds.programs.rows[program_id]
    phase = program.phase
    ssd = ssds.rows[program.node]
    if now >= ssd.lost_at:
        _lose(ssds, program.node, now)
        leave_tree(ssds.cache, program_id)
        return _fail(ssds.programs, program_id)
    if phase == _COPIED:
        return _let_be_dirty(ssds, program_id, now)
    if phase == _FILLED:
        charge(ssds.programs, program_id, _SSD, now)
        return _copy_out(ssds, program_id, now)
    if phase == _THROTTLED_ONE:
        charge(ssds.programs, program_id, _CACHE, now)
    elif phase == _MOVED:
        charge(ssds.programs, program_id, _SSD, now)
    if phase == _TAKEN:
        leave_tree(ssds.cache, program_id)
    if phase in (_TAKEN, _MOVED):
        program.done += program.left
    return _next_piece(ssds, program_id, now)


@outlined
def _next_call(ssds: Ssds, program_id: int, now: float) -> float:
    """Begin the next call of the run."""
    program = ssds.programs.rows[program_id]
    operation = ssds.programs.operations[program.op]
    file = ssds.files.rows[operation.file]
    program.inode = inode_of(ssds.cache, operation.file, program.node)
    program.view_id = view_of(ssds.cache, file.first_object, program.node, program.inode)
    view_of(ssds.cache, file.first_object + DIRTY_RUNS, program.node, program.inode)
    view_of(ssds.cache, file.first_object + TAKEN_RUNS, program.node, program.inode)
    begin_call(ssds.programs, program_id)
    if now >= ssds.rows[program.node].lost_at:
        _lose(ssds, program.node, now)
        return _fail(ssds.programs, program_id)
    if operation.kind != _WRITE:
        clip_to_file(ssds.programs, program_id)
        start = start_of_call(ssds.programs, program_id)
        program.ahead = 1 if start in (0, program.next_read) else 0
        program.next_read = start + program.length
    return _next_piece(ssds, program_id, now)


@outlined
def _fail(programs: Programs, program_id: int) -> float:
    """End a call on a lost device; count what it has not moved."""
    return _give_up(programs, program_id, FAILED, _LOST)


@outlined
def _give_up(programs: Programs, program_id: int, column: int, stat: int) -> float:
    """End a call; count what it has not moved."""
    program = programs.rows[program_id]
    left = program.length - program.done
    program.entering = 0
    programs.refused[program_id, column] += left
    programs.stats[stat] += left
    program.call += 1
    program.phase = _NEXT_CALL
    return GO_ON


@outlined
def _next_piece(ssds: Ssds, program_id: int, now: float) -> float:
    """Turn to the next piece of a call; end the call where there is none."""
    program = ssds.programs.rows[program_id]
    if program.done == program.length:
        end_call(ssds.programs, program_id)
        program.phase = _NEXT_CALL
        return GO_ON
    operation = ssds.programs.operations[program.op]
    direct = ssds.files.rows[operation.file].direct
    program.offset = start_of_call(ssds.programs, program_id) + program.done
    size = _PIECE if operation.kind == _WRITE else ssds.limits.readahead
    size = _DIRECT_PIECE if direct else size
    program.left = min(program.length - program.done, size - program.offset % size)
    if operation.kind == _WRITE:
        if not _has_room(ssds, program_id):
            return _refuse(ssds, program_id, now)
        if not direct:
            return _write_piece(ssds, program_id, now)
        _take_room(ssds, program_id)
        _forget_pages(ssds, program_id)
        _lengthen(ssds.programs, program_id)
    elif not direct:
        return _read_piece(ssds, program_id, now)
    program.phase = _MOVED
    program.since = now
    return device_io(ssds, program.node, program.left, operation.kind, now)


@outlined
def _taken_view(cache: PageCache, program_id: int) -> int:
    """Return the view whose runs are what takes room on the device."""
    program = cache.programs.rows[program_id]
    return find_view(cache, cache.views[program.view_id].object + TAKEN_RUNS, program.node)


@outlined
def _has_room(ssds: Ssds, program_id: int) -> bool:
    """Tell whether the device has room for the piece that a program is to write."""
    program = ssds.programs.rows[program_id]
    view_id = _taken_view(ssds.cache, program_id)
    more = bytes_outside(ssds.cache, view_id, program.offset, program.offset + program.left)
    return ssds.rows[program.node].used + more <= ssds.limits.capacity


@outlined
def _take_room(ssds: Ssds, program_id: int) -> None:
    """Take room on the device for the piece that a program is to write."""
    program = ssds.programs.rows[program_id]
    view_id = _taken_view(ssds.cache, program_id)
    more = join_runs(ssds.cache, view_id, program.offset, program.offset + program.left)
    ssds.rows[program.node].used += more


@outlined
def _refuse(ssds: Ssds, program_id: int, now: float) -> float:
    """End a write with ENOSPC; count what of it is not written.

    If others wait for room among the dirty pages, the next of them has its turn instead.
    """
    program = ssds.programs.rows[program_id]
    ssd = ssds.rows[program.node]
    waiter = pop(ssd.waiters, ssds.programs.rows)
    if waiter >= 0:
        wake(ssds.programs, waiter, now)
    return _give_up(ssds.programs, program_id, REFUSED, _NO_SPACE)


@outlined
def _lengthen(programs: Programs, program_id: int) -> None:
    """Let the file reach to the end of the piece that a program has written."""
    program = programs.rows[program_id]
    file = programs.files.rows[programs.operations[program.op].file]
    file.end = max(file.end, program.offset + program.left)


@outlined
def _forget_pages(ssds: Ssds, program_id: int) -> None:
    """Drop the pages that direct I/O writes past the cache."""
    program = ssds.programs.rows[program_id]
    start, stop = program.offset, program.offset + program.left
    drop_cached(ssds.cache, program.view_id, start // PAGE * PAGE, -(-stop // PAGE) * PAGE)
    dirty = find_view(
        ssds.cache, ssds.cache.views[program.view_id].object + DIRTY_RUNS, program.node
    )
    _count_dirty(ssds, program.view_id, -cut_runs(ssds.cache, dirty, start, stop))


@outlined
def _write_piece(ssds: Ssds, program_id: int, now: float) -> float:
    """Copy a piece into the page cache, once there is room for it among the dirty pages."""
    program = ssds.programs.rows[program_id]
    ssd = ssds.rows[program.node]
    if ssd.dirty > 0 and ssd.dirty + program.left > ssd.dirty_limit:
        ssds.programs.stats[_THROTTLED] += program.left
        program.phase = _THROTTLED_ONE
        program.since = now
        join(ssd.waiters, ssds.programs.rows, program_id)
        _wake_flusher(ssds, program.node, now)
        return GONE
    _take_room(ssds, program_id)
    ssd.dirty += program.left
    program.phase = _COPIED
    size = program.left
    entered = enter_tree(ssds.cache, program_id, size, WRITE_TURNS, now)
    seconds = size * ssds.limits.write_copy
    return copy_pages(ssds.nodes, program_id, size, seconds, entered, now)


@outlined
def _copy_out(ssds: Ssds, program_id: int, now: float) -> float:
    """Copy a piece out of the page cache; by then the pages asked for are in the file's tree."""
    program = ssds.programs.rows[program_id]
    program.phase = _TAKEN
    entered = now
    if program.entering > 0:
        entered = enter_tree(ssds.cache, program_id, program.entering, READ_TURNS, now)
        program.entering = 0
    size = program.left
    seconds = size * ssds.limits.read_copy
    return copy_pages(ssds.nodes, program_id, size, seconds, entered, now)


@outlined
def _let_be_dirty(ssds: Ssds, program_id: int, now: float) -> float:
    """Let the piece just copied be dirty; let the flusher know if there is much by now."""
    program = ssds.programs.rows[program_id]
    ssd = ssds.rows[program.node]
    view = ssds.cache.views[program.view_id]
    start, stop = program.offset, program.offset + program.left
    dirty = find_view(ssds.cache, view.object + DIRTY_RUNS, program.node)
    leave_tree(ssds.cache, program_id)
    ssd.dirty -= program.left  # what was reserved
    _count_dirty(ssds, program.view_id, join_runs(ssds.cache, dirty, start, stop))
    add_cached(ssds.cache, program.view_id, start // PAGE * PAGE, -(-stop // PAGE) * PAGE)
    list_view(ssds.cache, ssd.views, program.view_id)
    _lengthen(ssds.programs, program_id)
    program.done += program.left
    pressed = ssd.urgent > 0 or ssd.waiters.head >= 0
    if pressed or ssd.dirty > ssd.background:
        _wake_flusher(ssds, program.node, now)
    if ssd.timer == 0:
        ssd.timer = 1
        expiry = now + ssds.limits.expire
        schedule(ssds.network.calendar, expiry, EXPIRY_EVENT, program.node)
    return _next_piece(ssds, program_id, now)


@outlined
def _wake_flusher(ssds: Ssds, node: int, now: float) -> None:
    """Let the flusher of a node look at what there is to do, unless it is at work."""
    ssd = ssds.rows[node]
    if ssd.writing < 0:
        _write_back(ssds, node, now)
        if ssd.writing >= 0:
            schedule(ssds.network.calendar, ssd.written_at, FLUSHER_EVENT, node)


@on_event(Ssds, EXPIRY_EVENT)
@outlined
def on_expiry(ssds: Ssds, node: int, now: float) -> float:
    """Look at the age of a node's dirty pages."""
    ssd = ssds.rows[node]
    ssd.timer = 0
    if ssd.dirty > 0:
        ssd.expired = 1
        _wake_flusher(ssds, node, now)
    return GONE


@on_event(Ssds, FLUSHER_EVENT)
@outlined
def on_flusher(ssds: Ssds, index: int, now: float) -> float:
    """Take the flusher of a node on: what it wrote is on the device."""
    ssd = ssds.rows[index]
    if now >= ssd.lost_at:
        _lose(ssds, index, now)
        ssd.writing = -1
        return GONE
    _written(ssds, index, now)
    _write_back(ssds, index, now)
    return ssd.written_at if ssd.writing >= 0 else GONE


@outlined
def _write_back(ssds: Ssds, node: int, now: float) -> None:
    """Begin to write dirty pages of one file back, if it is time for any."""
    ssd = ssds.rows[node]
    if ssd.dirty == 0:
        ssd.expired = 0
    view_id, previous = _view_to_write(ssds, node)
    while view_id >= 0:
        view = ssds.cache.views[view_id]
        dirty = find_view(ssds.cache, view.object + DIRTY_RUNS, node)
        run_id = following(ssds.cache.cached, dirty, -1)
        unlist_view(ssds.cache, ssd.views, view_id, previous)
        if run_id >= 0:
            start = ssds.cache.runs[run_id].start
            stop = min(ssds.cache.runs[run_id].stop, start + ssds.limits.writeback_size)
            ssd.writing = view_id
            ssd.writing_bytes = cut_runs(ssds.cache, dirty, start, stop)
            if following(ssds.cache.cached, dirty, -1) >= 0:
                list_view(ssds.cache, ssd.views, view_id)
            ssd.written_at = device_io(ssds, node, stop - start, 1, now)
            return
        view_id, previous = _view_to_write(ssds, node)


@outlined
def _view_to_write(ssds: Ssds, node: int) -> tuple[int, int]:
    """Return the view whose turn it is to be written back, and the one before it; or -1."""
    ssd = ssds.rows[node]
    if ssd.urgent > 0:
        previous = -1
        view_id = ssd.views.head
        while view_id >= 0:
            if ssds.cache.inodes[ssds.cache.views[view_id].inode].flush_head >= 0:
                return view_id, previous
            previous = view_id
            view_id = ssds.cache.views[view_id].next
    waits = ssd.waiters.head >= 0
    if waits or ssd.expired or ssd.dirty > ssd.background:
        return ssd.views.head, -1
    return -1, -1


@outlined
def _written(ssds: Ssds, node: int, now: float) -> None:
    """Let the pages that the flusher has written be clean; wake those who waited for that."""
    ssd = ssds.rows[node]
    view_id = ssd.writing
    ssd.writing = -1
    _count_dirty(ssds, view_id, -ssd.writing_bytes)
    _wake_flushed(ssds, view_id, now)
    wake_into(ssds.programs, ssd.waiters, ssd.dirty_limit - ssd.dirty, _PIECE, now)


@outlined
def _wake_flushed(ssds: Ssds, view_id: int, now: float) -> None:
    """Wake those who wait until nothing of a file is dirty, if so it is."""
    inode = ssds.cache.inodes[ssds.cache.views[view_id].inode]
    if inode.outstanding == 0 and inode.flush_head >= 0:
        wake_all(ssds.programs, inode.flush_head, now)
        inode.flush_head = -1
        ssds.rows[ssds.cache.views[view_id].node].urgent -= 1


@performs(Ssds, Op.FSYNC, on=Backend.SSD)
@outlined
def fsync(ssds: Ssds, program_id: int, now: float) -> float:
    """Wait until nothing of a file is dirty, then for the journal and the device's cache."""
    program = ssds.programs.rows[program_id]
    ssd = ssds.rows[program.node]
    if program.phase == 0:
        program.inode = inode_of(
            ssds.cache, ssds.programs.operations[program.op].file, program.node
        )
        program.phase = 1
        program.since = now
        inode = ssds.cache.inodes[program.inode]
        if inode.outstanding > 0 and now < ssd.lost_at:
            if inode.flush_head < 0:
                ssd.urgent += 1
            program.next = inode.flush_head
            inode.flush_head = program_id
            _wake_flusher(ssds, program.node, now)
            return GONE
    if program.phase == 1:
        charge(ssds.programs, program_id, _FLUSH, now)
        program.phase = 2
        if now < ssd.lost_at:
            ssds.programs.waits[program_id, _SYNC] += ssds.limits.sync_time
            return now + ssds.limits.sync_time
    program.phase = 0
    program.op += 1
    return GO_ON


@outlined
def _lose(ssds: Ssds, node: int, now: float) -> None:
    """Let a device be gone with all that was on it; wake whoever waited for it."""
    ssd = ssds.rows[node]
    if ssd.gone:
        return
    ssd.gone = 1
    ssd.lost_bytes = ssd.used
    ssd.used = 0
    view_id = ssd.views.head
    while view_id >= 0:
        view = ssds.cache.views[view_id]
        cut_runs(ssds.cache, find_view(ssds.cache, view.object + DIRTY_RUNS, node), 0, _END)
        view.listed = 0
        _nothing_dirty(ssds, view_id, now)
        view_id = view.next
    if ssd.writing >= 0:
        _nothing_dirty(ssds, ssd.writing, now)
    clear(ssd.views)
    wake_all(ssds.programs, ssd.waiters.head, now)
    clear(ssd.waiters)
    ssd.dirty = 0


@outlined
def _nothing_dirty(ssds: Ssds, view_id: int, now: float) -> None:
    """Let the dirty pages of a file be gone, and wake those who wait for that."""
    ssds.cache.views[view_id].outstanding = 0
    ssds.cache.inodes[ssds.cache.views[view_id].inode].outstanding = 0
    _wake_flushed(ssds, view_id, now)


@outlined
def _read_piece(ssds: Ssds, program_id: int, now: float) -> float:
    """Ask for the pages of a piece that are not in the cache, and for the next piece's."""
    program = ssds.programs.rows[program_id]
    stop = program.offset + program.left
    missing = _ask_for_pages(ssds, program_id, program.offset, stop, now)
    ssds.programs.stats[_MISSES] += missing
    ssds.programs.stats[_HITS] += program.left - missing
    file = ssds.files.rows[ssds.programs.operations[program.op].file]
    if program.ahead or program.done + program.left < program.length:
        size = ssds.limits.readahead
        ahead = min(min(stop + size, (stop // size + 1) * size), file.end)
        if ahead > stop:
            asked = _ask_for_pages(ssds, program_id, stop, ahead, now)
            ssds.programs.stats[_AHEAD] += asked
    if missing == 0:
        return _copy_out(ssds, program_id, now)
    program.phase = _FILLED
    wait_for_pages(ssds.cache, program_id, missing, now)
    return GONE


@outlined
def _ask_for_pages(ssds: Ssds, program_id: int, offset: int, stop: int, now: float) -> int:
    """Have pages read that are neither in the cache nor asked for; return the missing bytes."""
    program = ssds.programs.rows[program_id]
    view_id = program.view_id
    first, last = not_cached(ssds.cache, view_id, offset // PAGE * PAGE, -(-stop // PAGE) * PAGE)
    if first == last:
        return 0
    node = ssds.cache.views[view_id].node
    at = first
    while at < last:
        window_id = _window_of(ssds.cache, view_id, at)
        if window_id >= 0:
            at = ssds.cache.windows[window_id].high
            continue
        end = _next_window_after(ssds.cache, view_id, at, last)
        window_id = add_window(ssds.cache, view_id, at, end - at, READING)
        program.entering += end - at
        done = device_io(ssds, node, end - at, 0, now)
        schedule(ssds.network.calendar, done, SSD_READ_EVENT, window_id)
        at = end
    return min(stop, last) - max(offset, first)


@outlined
def _window_of(cache: PageCache, view_id: int, offset: int) -> int:
    """Return the read under way that brings a byte; -1 if there is none."""
    window_id = cache.views[view_id].windows
    while window_id >= 0:
        window = cache.windows[window_id]
        if window.low <= offset < window.high:
            return window_id
        window_id = window.next
    return -1


@outlined
def _next_window_after(cache: PageCache, view_id: int, offset: int, stop: int) -> int:
    """Return where the next read under way after an offset begins; ``stop`` if none before it."""
    window_id = cache.views[view_id].windows
    while window_id >= 0:
        window = cache.windows[window_id]
        if window.low > offset:
            stop = min(stop, window.low)
        window_id = window.next
    return stop


@on_event(PageCache, SSD_READ_EVENT)
@outlined
def on_ssd_read(cache: PageCache, window_id: int, now: float) -> float:
    """Put what has been read into the cache; wake the readers that have all they want."""
    window = cache.windows[window_id]
    view_id, low, high = window.view_id, window.low, window.high
    add_cached(cache, view_id, low, high)
    drop_window(cache, window_id)
    program_id = served_readers(cache, view_id, low, high)
    while program_id >= 0:
        wake(cache.programs, program_id, now)
        program_id = cache.programs.rows[program_id].next
    return GONE
