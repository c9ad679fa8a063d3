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
from sim.engine.jit import entry, njit
from sim.engine.network import serve
from sim.engine.ordered import following
from sim.engine.page import PAGE
from sim.engine.queue import clear, join, pop
from sim.engine.types import Integers
from sim.lustre.events import (
    FLUSHER_EVENT,
    GO_ON,
    GONE,
    PROGRAM_EVENT,
    SSD_READ_EVENT,
)
from sim.lustre.osc import wake_all, wake_into
from sim.lustre.pages import (
    DIRTY_RUNS,
    READING,
    TAKEN_RUNS,
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
from sim.lustre.tables import Cause, Lustre, Op, Stat
from sim.node.ssd import device_io

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


@njit
def local(lustre: Lustre, program_id: int, kind: int, now: float) -> float:
    """Take an operation on a file of a local SSD one step further."""
    if kind <= _WRITE:
        return _transfer(lustre, program_id, now)
    if kind == _FSYNC:
        return _fsync(lustre, program_id, now)
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    if kind == _UNLINK:
        _cut_file(lustre, operation.file, program.node, 0, now)
    elif kind == _TRUNCATE:
        _cut_file(lustre, operation.file, program.node, operation.offset, now)
        lustre.files[operation.file].end = operation.offset
    seconds = lustre.ssd_limits.open_time
    lustre.waits[program_id, _METADATA] += seconds
    program.op += 1
    return now + seconds


@entry
def place(lustre: Lustre, files: Integers, nodes: Integers) -> None:
    """Let files take the room of what they hold already on the SSDs of some nodes."""
    for i in range(len(files)):
        file = lustre.files[files[i]]
        inode_id = inode_of(lustre, files[i], nodes[i])
        view_id = view_of(lustre, file.first_object + TAKEN_RUNS, nodes[i], inode_id)
        if file.end > 0:
            lustre.ssds[nodes[i]].used += join_runs(lustre, view_id, 0, file.end)


@njit
def _cut_file(lustre: Lustre, file_id: int, node: int, start: int, now: float) -> None:
    """Give back the room of a file's bytes from ``start`` on; nobody writes back what is dirty."""
    first = lustre.files[file_id].first_object
    view_id = find_view(lustre, first, node)
    if view_id < 0:
        return
    ssd = lustre.ssds[node]
    drop_cached(lustre, view_id, start, _END)
    ssd.used -= cut_runs(lustre, find_view(lustre, first + TAKEN_RUNS, node), start, _END)
    dirty = find_view(lustre, first + DIRTY_RUNS, node)
    _count_dirty(lustre, view_id, -cut_runs(lustre, dirty, start, _END))
    _wake_flushed(lustre, view_id, now)


@njit
def _count_dirty(lustre: Lustre, view_id: int, size: int) -> None:
    """Count bytes of a file that have become dirty; fewer than none if they no longer are."""
    view = lustre.views[view_id]
    view.outstanding += size
    lustre.inodes[view.inode].outstanding += size
    lustre.ssds[view.node].dirty += size


@njit
def _transfer(lustre: Lustre, program_id: int, now: float) -> float:
    """Take a run of reads or writes one step further."""
    program = lustre.programs[program_id]
    phase = program.phase
    if phase == _NEXT_CALL:
        return _next_call(lustre, program_id, now)
    ssd = lustre.ssds[program.node]
    if now >= ssd.lost_at:
        _lose(lustre, program.node, now)
        return _fail(lustre, program_id)
    if phase == _COPIED:
        return _let_be_dirty(lustre, program_id, now)
    if phase == _FILLED:
        lustre.waits[program_id, _SSD] += now - program.since
        program.phase = _TAKEN
        return _copied(lustre, program_id, lustre.ssd_limits.read_copy, now)
    if phase == _THROTTLED_ONE:
        lustre.waits[program_id, _CACHE] += now - program.since
    elif phase == _MOVED:
        lustre.waits[program_id, _SSD] += now - program.since
    if phase in (_TAKEN, _MOVED):
        program.done += program.left
    return _next_piece(lustre, program_id, now)


@njit
def _next_call(lustre: Lustre, program_id: int, now: float) -> float:
    """Begin the next call of the run."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    file = lustre.files[operation.file]
    program.inode = inode_of(lustre, operation.file, program.node)
    program.view_id = view_of(lustre, file.first_object, program.node, program.inode)
    view_of(lustre, file.first_object + DIRTY_RUNS, program.node, program.inode)
    view_of(lustre, file.first_object + TAKEN_RUNS, program.node, program.inode)
    program.length = operation.length
    program.done = 0
    if now >= lustre.ssds[program.node].lost_at:
        _lose(lustre, program.node, now)
        return _fail(lustre, program_id)
    if operation.kind != _WRITE:
        start = operation.offset + program.call * operation.stride
        program.length = max(min(program.length, file.end - start), 0)
        program.ahead = 1 if start in (0, program.next_read) else 0
        program.next_read = start + program.length
    return _next_piece(lustre, program_id, now)


@njit
def _fail(lustre: Lustre, program_id: int) -> float:
    """End a call on a lost device; count what it has not moved."""
    return _give_up(lustre, program_id, FAILED, _LOST)


@njit
def _give_up(lustre: Lustre, program_id: int, column: int, stat: int) -> float:
    """End a call; count what it has not moved."""
    program = lustre.programs[program_id]
    left = program.length - program.done
    lustre.refused[program_id, column] += left
    lustre.stats[stat] += left
    program.call += 1
    program.phase = _NEXT_CALL
    return GO_ON


@njit
def _next_piece(lustre: Lustre, program_id: int, now: float) -> float:
    """Turn to the next piece of a call; end the call where there is none."""
    program = lustre.programs[program_id]
    if program.done == program.length:
        program.call += 1
        program.calls += 1
        program.phase = _NEXT_CALL
        return GO_ON
    operation = lustre.operations[program.op]
    direct = lustre.files[operation.file].direct
    program.offset = operation.offset + program.call * operation.stride + program.done
    size = _PIECE if operation.kind == _WRITE else lustre.ssd_limits.readahead
    size = _DIRECT_PIECE if direct else size
    program.left = min(program.length - program.done, size - program.offset % size)
    if operation.kind == _WRITE:
        if not _has_room(lustre, program_id):
            return _refuse(lustre, program_id, now)
        if not direct:
            return _write_piece(lustre, program_id, now)
        _take_room(lustre, program_id)
        _forget_pages(lustre, program_id)
        _lengthen(lustre, program_id)
    elif not direct:
        return _read_piece(lustre, program_id, now)
    program.phase = _MOVED
    program.since = now
    return _device(lustre, program.node, program.left, operation.kind, now)


@njit
def _device(lustre: Lustre, node: int, size: int, write: int, now: float) -> float:
    """Let the device of a node move bytes; return when it has."""
    return device_io(
        lustre.network,
        lustre.ssds,
        lustre.ssd_slots,
        lustre.ssd_limits,
        lustre.stations.ssd + node,
        node,
        size,
        write,
        now,
    )


@njit
def _taken_view(lustre: Lustre, program_id: int) -> int:
    """Return the view whose runs are what takes room on the device."""
    program = lustre.programs[program_id]
    return find_view(lustre, lustre.views[program.view_id].object + TAKEN_RUNS, program.node)


@njit
def _has_room(lustre: Lustre, program_id: int) -> bool:
    """Tell whether the device has room for the piece that a program is to write."""
    program = lustre.programs[program_id]
    view_id = _taken_view(lustre, program_id)
    more = bytes_outside(lustre, view_id, program.offset, program.offset + program.left)
    return lustre.ssds[program.node].used + more <= lustre.ssd_limits.capacity


@njit
def _take_room(lustre: Lustre, program_id: int) -> None:
    """Take room on the device for the piece that a program is to write."""
    program = lustre.programs[program_id]
    view_id = _taken_view(lustre, program_id)
    more = join_runs(lustre, view_id, program.offset, program.offset + program.left)
    lustre.ssds[program.node].used += more


@njit
def _refuse(lustre: Lustre, program_id: int, now: float) -> float:
    """End a write with ENOSPC; count what of it is not written.

    If others wait for room among the dirty pages, the next of them has its turn instead.
    """
    program = lustre.programs[program_id]
    ssd = lustre.ssds[program.node]
    waiter = pop(ssd.waiters, lustre.programs)
    if waiter >= 0:
        schedule(lustre.network.calendar, now, PROGRAM_EVENT, waiter)
    return _give_up(lustre, program_id, REFUSED, _NO_SPACE)


@njit
def _lengthen(lustre: Lustre, program_id: int) -> None:
    """Let the file reach to the end of the piece that a program has written."""
    program = lustre.programs[program_id]
    file = lustre.files[lustre.operations[program.op].file]
    file.end = max(file.end, program.offset + program.left)


@njit
def _forget_pages(lustre: Lustre, program_id: int) -> None:
    """Drop the pages that direct I/O writes past the cache."""
    program = lustre.programs[program_id]
    start, stop = program.offset, program.offset + program.left
    drop_cached(lustre, program.view_id, start // PAGE * PAGE, -(-stop // PAGE) * PAGE)
    dirty = find_view(lustre, lustre.views[program.view_id].object + DIRTY_RUNS, program.node)
    _count_dirty(lustre, program.view_id, -cut_runs(lustre, dirty, start, stop))


@njit
def _write_piece(lustre: Lustre, program_id: int, now: float) -> float:
    """Copy a piece into the page cache, once there is room for it among the dirty pages."""
    program = lustre.programs[program_id]
    ssd = lustre.ssds[program.node]
    if ssd.dirty > 0 and ssd.dirty + program.left > ssd.dirty_limit:
        lustre.stats[_THROTTLED] += program.left
        program.phase = _THROTTLED_ONE
        program.since = now
        join(ssd.waiters, lustre.programs, program_id)
        _wake_flusher(lustre, program.node, now)
        return GONE
    _take_room(lustre, program_id)
    ssd.dirty += program.left
    program.phase = _COPIED
    return _copied(lustre, program_id, lustre.ssd_limits.write_copy, now)


@njit
def _copied(lustre: Lustre, program_id: int, seconds_a_byte: float, now: float) -> float:
    """Let a program's core copy its piece; return when it has, and charge the program for it."""
    program = lustre.programs[program_id]
    seconds = program.left * seconds_a_byte
    start = serve(lustre.network, program.core, now, program.left, seconds)
    lustre.waits[program_id, _CORE] += start - now
    lustre.waits[program_id, _COPY] += seconds
    return start + seconds


@njit
def _let_be_dirty(lustre: Lustre, program_id: int, now: float) -> float:
    """Let the piece just copied be dirty; let the flusher know if there is much by now."""
    program = lustre.programs[program_id]
    ssd = lustre.ssds[program.node]
    view = lustre.views[program.view_id]
    start, stop = program.offset, program.offset + program.left
    dirty = find_view(lustre, view.object + DIRTY_RUNS, program.node)
    ssd.dirty -= program.left  # what was reserved
    _count_dirty(lustre, program.view_id, join_runs(lustre, dirty, start, stop))
    add_cached(lustre, program.view_id, start // PAGE * PAGE, -(-stop // PAGE) * PAGE)
    list_view(lustre, ssd.views, program.view_id)
    _lengthen(lustre, program_id)
    program.done += program.left
    pressed = ssd.urgent > 0 or ssd.waiters.head >= 0
    if pressed or ssd.dirty > ssd.background:
        _wake_flusher(lustre, program.node, now)
    if ssd.timer == 0:
        ssd.timer = 1
        timer = lustre.limits.nodes + program.node
        expiry = now + lustre.ssd_limits.expire
        schedule(lustre.network.calendar, expiry, FLUSHER_EVENT, timer)
    return _next_piece(lustre, program_id, now)


@njit
def _wake_flusher(lustre: Lustre, node: int, now: float) -> None:
    """Let the flusher of a node look at what there is to do, unless it is at work."""
    ssd = lustre.ssds[node]
    if ssd.writing < 0:
        _write_back(lustre, node, now)
        if ssd.writing >= 0:
            schedule(lustre.network.calendar, ssd.written_at, FLUSHER_EVENT, node)


@njit
def on_flusher(lustre: Lustre, index: int, now: float) -> float:
    """Let the flusher of a node go on, or look at the age of the dirty pages."""
    nodes = lustre.limits.nodes
    if index >= nodes:
        ssd = lustre.ssds[index - nodes]
        ssd.timer = 0
        if ssd.dirty > 0:
            ssd.expired = 1
            _wake_flusher(lustre, index - nodes, now)
        return GONE
    ssd = lustre.ssds[index]
    if now >= ssd.lost_at:
        _lose(lustre, index, now)
        ssd.writing = -1
        return GONE
    _written(lustre, index, now)
    _write_back(lustre, index, now)
    return ssd.written_at if ssd.writing >= 0 else GONE


@njit
def _write_back(lustre: Lustre, node: int, now: float) -> None:
    """Begin to write dirty pages of one file back, if it is time for any."""
    ssd = lustre.ssds[node]
    if ssd.dirty == 0:
        ssd.expired = 0
    view_id, previous = _view_to_write(lustre, node)
    while view_id >= 0:
        view = lustre.views[view_id]
        dirty = find_view(lustre, view.object + DIRTY_RUNS, node)
        run_id = following(lustre.cached, dirty, -1)
        unlist_view(lustre, ssd.views, view_id, previous)
        if run_id >= 0:
            start = lustre.runs[run_id].start
            stop = min(lustre.runs[run_id].stop, start + lustre.ssd_limits.writeback_size)
            ssd.writing = view_id
            ssd.writing_bytes = cut_runs(lustre, dirty, start, stop)
            if following(lustre.cached, dirty, -1) >= 0:
                list_view(lustre, ssd.views, view_id)
            ssd.written_at = _device(lustre, node, stop - start, 1, now)
            return
        view_id, previous = _view_to_write(lustre, node)


@njit
def _view_to_write(lustre: Lustre, node: int) -> tuple[int, int]:
    """Return the view whose turn it is to be written back, and the one before it; or -1."""
    ssd = lustre.ssds[node]
    if ssd.urgent > 0:
        previous = -1
        view_id = ssd.views.head
        while view_id >= 0:
            if lustre.inodes[lustre.views[view_id].inode].flush_head >= 0:
                return view_id, previous
            previous = view_id
            view_id = lustre.views[view_id].next
    waits = ssd.waiters.head >= 0
    if waits or ssd.expired or ssd.dirty > ssd.background:
        return ssd.views.head, -1
    return -1, -1


@njit
def _written(lustre: Lustre, node: int, now: float) -> None:
    """Let the pages that the flusher has written be clean; wake those who waited for that."""
    ssd = lustre.ssds[node]
    view_id = ssd.writing
    ssd.writing = -1
    _count_dirty(lustre, view_id, -ssd.writing_bytes)
    _wake_flushed(lustre, view_id, now)
    wake_into(lustre, ssd.waiters, ssd.dirty_limit - ssd.dirty, _PIECE, now)


@njit
def _wake_flushed(lustre: Lustre, view_id: int, now: float) -> None:
    """Wake those who wait until nothing of a file is dirty, if so it is."""
    inode = lustre.inodes[lustre.views[view_id].inode]
    if inode.outstanding == 0 and inode.flush_head >= 0:
        wake_all(lustre, inode.flush_head, now)
        inode.flush_head = -1
        lustre.ssds[lustre.views[view_id].node].urgent -= 1


@njit
def _fsync(lustre: Lustre, program_id: int, now: float) -> float:
    """Wait until nothing of a file is dirty, then for the journal and the device's cache."""
    program = lustre.programs[program_id]
    ssd = lustre.ssds[program.node]
    if program.phase == 0:
        program.inode = inode_of(lustre, lustre.operations[program.op].file, program.node)
        program.phase = 1
        program.since = now
        inode = lustre.inodes[program.inode]
        if inode.outstanding > 0 and now < ssd.lost_at:
            if inode.flush_head < 0:
                ssd.urgent += 1
            program.next = inode.flush_head
            inode.flush_head = program_id
            _wake_flusher(lustre, program.node, now)
            return GONE
    if program.phase == 1:
        lustre.waits[program_id, _FLUSH] += now - program.since
        program.phase = 2
        if now < ssd.lost_at:
            lustre.waits[program_id, _SYNC] += lustre.ssd_limits.sync_time
            return now + lustre.ssd_limits.sync_time
    program.phase = 0
    program.op += 1
    return GO_ON


@njit
def _lose(lustre: Lustre, node: int, now: float) -> None:
    """Let a device be gone with all that was on it; wake whoever waited for it."""
    ssd = lustre.ssds[node]
    if ssd.gone:
        return
    ssd.gone = 1
    ssd.lost_bytes = ssd.used
    ssd.used = 0
    view_id = ssd.views.head
    while view_id >= 0:
        view = lustre.views[view_id]
        cut_runs(lustre, find_view(lustre, view.object + DIRTY_RUNS, node), 0, _END)
        view.listed = 0
        _nothing_dirty(lustre, view_id, now)
        view_id = view.next
    if ssd.writing >= 0:
        _nothing_dirty(lustre, ssd.writing, now)
    clear(ssd.views)
    wake_all(lustre, ssd.waiters.head, now)
    clear(ssd.waiters)
    ssd.dirty = 0


@njit
def _nothing_dirty(lustre: Lustre, view_id: int, now: float) -> None:
    """Let the dirty pages of a file be gone, and wake those who wait for that."""
    lustre.views[view_id].outstanding = 0
    lustre.inodes[lustre.views[view_id].inode].outstanding = 0
    _wake_flushed(lustre, view_id, now)


@njit
def _read_piece(lustre: Lustre, program_id: int, now: float) -> float:
    """Ask for the pages of a piece that are not in the cache, and for the next piece's."""
    program = lustre.programs[program_id]
    stop = program.offset + program.left
    missing = _ask_for_pages(lustre, program.view_id, program.offset, stop, now)
    lustre.stats[_MISSES] += missing
    lustre.stats[_HITS] += program.left - missing
    file = lustre.files[lustre.operations[program.op].file]
    if program.ahead or program.done + program.left < program.length:
        size = lustre.ssd_limits.readahead
        ahead = min(min(stop + size, (stop // size + 1) * size), file.end)
        if ahead > stop:
            asked = _ask_for_pages(lustre, program.view_id, stop, ahead, now)
            lustre.stats[_AHEAD] += asked
    if missing == 0:
        program.phase = _TAKEN
        return _copied(lustre, program_id, lustre.ssd_limits.read_copy, now)
    program.phase = _FILLED
    wait_for_pages(lustre, program_id, missing, now)
    return GONE


@njit
def _ask_for_pages(lustre: Lustre, view_id: int, offset: int, stop: int, now: float) -> int:
    """Have pages read that are neither in the cache nor asked for; return the missing bytes."""
    first, last = not_cached(lustre, view_id, offset // PAGE * PAGE, -(-stop // PAGE) * PAGE)
    if first == last:
        return 0
    node = lustre.views[view_id].node
    at = first
    while at < last:
        window_id = _window_of(lustre, view_id, at)
        if window_id >= 0:
            at = lustre.windows[window_id].high
            continue
        end = _next_window_after(lustre, view_id, at, last)
        window_id = add_window(lustre, view_id, at, end - at, READING)
        done = _device(lustre, node, end - at, 0, now)
        schedule(lustre.network.calendar, done, SSD_READ_EVENT, window_id)
        at = end
    return min(stop, last) - max(offset, first)


@njit
def _window_of(lustre: Lustre, view_id: int, offset: int) -> int:
    """Return the read under way that brings a byte; -1 if there is none."""
    window_id = lustre.views[view_id].windows
    while window_id >= 0:
        window = lustre.windows[window_id]
        if window.low <= offset < window.high:
            return window_id
        window_id = window.next
    return -1


@njit
def _next_window_after(lustre: Lustre, view_id: int, offset: int, stop: int) -> int:
    """Return where the next read under way after an offset begins; ``stop`` if none before it."""
    window_id = lustre.views[view_id].windows
    while window_id >= 0:
        window = lustre.windows[window_id]
        if window.low > offset:
            stop = min(stop, window.low)
        window_id = window.next
    return stop


@njit
def on_ssd_read(lustre: Lustre, window_id: int, now: float) -> float:
    """Put what has been read into the cache; wake the readers that have all they want."""
    window = lustre.windows[window_id]
    view_id, low, high = window.view_id, window.low, window.high
    add_cached(lustre, view_id, low, high)
    drop_window(lustre, window_id)
    program_id = served_readers(lustre, view_id, low, high)
    while program_id >= 0:
        schedule(lustre.network.calendar, now, PROGRAM_EVENT, program_id)
        program_id = lustre.programs[program_id].next
    return GONE
