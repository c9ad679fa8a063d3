"""The layout lock of a file with a composite layout: who knows its layout, and how that changes.

A client that reads or writes such a file holds the *layout lock* on it, an inodebits lock of the
MDT in mode CR, which comes with the reply to an open. A write into a component without objects, and
a truncate beyond one, ask the MDT to make these (a *layout write intent*): a request that modifies,
so that a node has no more of them under way than of others (Lustre 2.12 vvp_io.c, vvp_io_fini;
llite/file.c, ll_layout_write_intent). Each rank that comes to such a component sends one.

The MDT takes the lock in mode EX for every such request, also where another has made the objects
meanwhile: all clients get a blocking AST, forget the layout and give the lock back, whatever their
calls do. Then all components up to the end of the write get their objects (lod_object.c,
lod_declare_update_plain), and the asking client has the lock (mdt_handler.c, mdt_intent_layout).

The next call of a node sets the layout anew, one rank for all (llite/file.c, ll_layout_refresh,
lli_layout_mutex): from the lock that it has by then, or that it asks for. If the layout is another
than before, that waits until the calls under way on the node have ended (ll_layout_lock_set;
lov_object.c, lov_conf_set: lo_active_ios). The MDT serves requests about the layout of one file in
the order in which they come.
"""

from __future__ import annotations

from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import outlined
from xc40io.engine.network import serve
from xc40io.engine.pool import give
from xc40io.engine.queue import pass_turn, take_one_of, take_turn
from xc40io.lustre.mds import Mds, mdc_of
from xc40io.lustre.precreation import take_object
from xc40io.lustre.requests import LAYOUT_READ, LAYOUT_WRITE, add_request, new_request
from xc40io.lustre.states import (
    LAYOUT_CHANGED,
    LAYOUT_FETCHED,
    LAYOUT_IDLE,
    LAYOUT_SLOT,
    LAYOUT_TURN,
)
from xc40io.node.nodes import handle_callback
from xc40io.node.page_cache import grant_layout
from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.files import instantiate, is_laid_out, object_count, object_of
from xc40io.plane.operations import Op
from xc40io.plane.programs import charge, charge_reply, note_reply, pass_on, wait_for, wake
from xc40io.plane.registry import GONE, LAYOUT_AST_EVENT, LAYOUT_EVENT, on_event

_METADATA, _TURN, _MDS = int(Cause.METADATA), int(Cause.TURN), int(Cause.MDS)
_LOCK_QUEUE, _LOCK_USE = int(Cause.LOCK_QUEUE), int(Cause.LOCK_USE)
_CALLBACK = int(Cause.CALLBACK)
_INTENTS, _FETCHES = int(Stat.LAYOUT_INTENTS), int(Stat.LAYOUT_FETCHES)
_CANCELS = int(Stat.LAYOUT_CANCELS)
_READS, _CHANGES = int(Op.STAT), int(Op.TRUNCATE)  # what such requests are like for the MDS

# Stages of a request about a layout, in its column ``node``.
_ARRIVED, _SERVED, _HAS_LOCK, _ALL_FREED, _DONE = 0, 1, 2, 3, 4


@outlined
def enter_layout(mds: Mds, program_id: int, end: int, now: float) -> bool:
    """Have a program use the layout of its file, up to ``end`` if it writes; False if it waits.

    The inode is the program's. :func:`leave_layout` ends the use.
    """
    program = mds.programs.rows[program_id]
    file_id = mds.programs.operations[program.op].file
    layout = mds.cache.layouts[program.inode]
    if layout.known == 1 and is_laid_out(mds.files, file_id, end):
        layout.calls += 1
        return True
    program.since = now
    if layout.known == 1:
        program.phase = LAYOUT_SLOT
        program.left = end
        turn = mds.mdcs[mdc_of(mds, program_id, file_id)].modifying
        if take_one_of(turn, mds.modifying_rpcs, mds.programs.rows, program_id):
            _ask(mds, program_id, LAYOUT_WRITE, end, now)
        return False
    program.phase = LAYOUT_TURN
    if not take_turn(layout.fetch, mds.programs.rows, program_id):
        return False
    if not _sets_layout(mds, program_id, now):
        return False
    return enter_layout(mds, program_id, end, now)


@outlined
def _sets_layout(mds: Mds, program_id: int, now: float) -> bool:
    """Set the layout, with the turn to do so, and pass that on; False if the program waits."""
    program = mds.programs.rows[program_id]
    file_id = mds.programs.operations[program.op].file
    layout = mds.cache.layouts[program.inode]
    generation = mds.files.composites[mds.files.rows[file_id].composite - 1].generation
    if layout.known == 0 and layout.cached == 0:
        _ask(mds, program_id, LAYOUT_READ, 0, now)
        return False
    if layout.known == 0 and layout.generation != generation and layout.calls > 0:
        layout.waiter = program_id
        program.phase = LAYOUT_IDLE
        program.since = now
        return False
    layout.known = 1
    layout.generation = generation
    pass_on(mds.programs, layout.fetch, now)
    return True


@outlined
def go_on_with_layout(mds: Mds, program_id: int, now: float) -> bool:
    """Take a program in a state of its layout on; True if it is to try again."""
    program = mds.programs.rows[program_id]
    file_id = mds.programs.operations[program.op].file
    phase = program.phase
    if phase == LAYOUT_SLOT:
        mds.programs.behind[_TURN, program_id] += now - program.since
        _ask(mds, program_id, LAYOUT_WRITE, program.left, now)
        return False
    if phase == LAYOUT_TURN:
        mds.programs.behind[_TURN, program_id] += now - program.since
    elif phase == LAYOUT_IDLE:
        mds.programs.behind[_LOCK_USE, program_id] += now - program.since
    else:
        mds.cache.layouts[program.inode].cached = 1
        charge_reply(mds.programs, program_id)
    charge(mds.programs, program_id, _METADATA, now)
    if phase == LAYOUT_CHANGED:
        pass_on(mds.programs, mds.mdcs[mdc_of(mds, program_id, file_id)].modifying, now)
        return True
    program.since = now
    return _sets_layout(mds, program_id, now)


@outlined
def leave_layout(mds: Mds, inode_id: int, now: float) -> None:
    """End a use of a layout; after the last one another layout may be set."""
    layout = mds.cache.layouts[inode_id]
    layout.calls -= 1
    if layout.calls == 0 and layout.waiter >= 0:
        wake(mds.programs, layout.waiter, now)
        layout.waiter = -1


@on_event(Mds, LAYOUT_AST_EVENT)
@outlined
def on_layout_ast(mds: Mds, inode_id: int, now: float) -> float:
    """Let a client forget a layout and give its lock back; the last lets the request go on."""
    layout = mds.cache.layouts[inode_id]
    layout.known = layout.cached = 0
    mds.programs.stats[_CANCELS] += 1
    handled = handle_callback(mds.nodes, mds.cache.inodes[inode_id].node, now)
    request = mds.requests.rows[layout.revoker]
    request.waiting -= 1
    request.freed = max(request.freed, handled + mds.latency)
    if request.waiting == 0:
        schedule(mds.network.calendar, request.freed, LAYOUT_EVENT, layout.revoker)
    return GONE


@outlined
def _ask(mds: Mds, program_id: int, kind: int, end: int, now: float) -> None:
    """Send a request about the layout of a program's file to its MDT."""
    program = mds.programs.rows[program_id]
    file_id = mds.programs.operations[program.op].file
    reads = kind == LAYOUT_READ
    program.phase = LAYOUT_FETCHED if reads else LAYOUT_CHANGED
    mds.programs.stats[_FETCHES if reads else _INTENTS] += 1
    wait_for(mds.programs, program_id, 1, now)
    station = mds.station + mds.files.rows[file_id].mdt
    service, latency = mds.seconds[_READS if reads else _CHANGES], mds.latency
    request_id = new_request(
        mds.requests, program_id, kind, station, service, latency, file_id, now
    )
    request = mds.requests.rows[request_id]
    request.end = end
    request.node = _ARRIVED
    schedule(mds.network.calendar, now + latency, LAYOUT_EVENT, request_id)


@on_event(Mds, LAYOUT_EVENT)
@outlined
def on_layout_request(mds: Mds, request_id: int, now: float) -> float:
    """Take a request about a layout on at the MDT: in line, through the lock, to its reply."""
    request = mds.requests.rows[request_id]
    layout = mds.files.composites[mds.files.rows[request.object].composite - 1]
    if request.node == _ARRIVED:
        request.arrived = now
        request.begun = serve(mds.network, request.station, now, 0.0, request.service)
        latency = mds.network.stations[request.station].latency
        request.served = request.begun + request.service + latency
        request.node = _SERVED
        return float(request.served)
    if request.node == _SERVED:
        request.node = _HAS_LOCK
        if not take_turn(layout.lock, mds.requests.rows, request_id):
            return GONE
    if request.node == _HAS_LOCK:
        mds.programs.behind[_LOCK_QUEUE, request.program] += now - request.served
        request.spent = now
        if request.kind == LAYOUT_WRITE:
            request.node = _ALL_FREED
            request.freed = now
            _call_back(mds, request_id, now)
            return GONE if request.waiting > 0 else now
    if request.node == _ALL_FREED:
        mds.programs.behind[_CALLBACK, request.program] += now - request.spent
        request.node = _DONE
        request.spent = now
        return _with_objects(mds, request_id, now)
    _answer(mds, request_id, now)
    return GONE


@outlined
def _call_back(mds: Mds, request_id: int, now: float) -> None:
    """Send a blocking AST to all who hold the layout lock of a file."""
    request = mds.requests.rows[request_id]
    layout = mds.files.composites[mds.files.rows[request.object].composite - 1]
    latency = mds.latency
    request.waiting = 0
    inode_id = layout.holders
    layout.holders = -1
    while inode_id >= 0:
        holder = mds.cache.layouts[inode_id]
        holder.granted = 0
        holder.revoker = request_id
        request.waiting += 1
        schedule(mds.network.calendar, now + latency, LAYOUT_AST_EVENT, inode_id)
        inode_id = holder.next


@outlined
def _answer(mds: Mds, request_id: int, now: float) -> None:
    """Grant the lock to the client that asked, and let the next in line have its turn."""
    request = mds.requests.rows[request_id]
    layout = mds.files.composites[mds.files.rows[request.object].composite - 1]
    heir = pass_turn(layout.lock, mds.requests.rows)
    if heir >= 0:
        schedule(mds.network.calendar, now, LAYOUT_EVENT, heir)
    grant_layout(mds.cache, mds.programs.rows[request.program].inode)
    if mds.programs.recorder.on:
        station, arrived, begun = request.station, request.arrived, request.begun
        add_request(mds.requests, request_id, station, arrived, begun, now)
    at_server = request.served - request.arrived + now - request.spent
    ready = now + request.latency
    note_reply(mds.programs, request.program, _MDS, at_server, ready)
    mds.programs.rows[request.program].pending = 0
    wake(mds.programs, request.program, ready)
    give(mds.requests.spare_rows, request_id)


@outlined
def _with_objects(mds: Mds, request_id: int, now: float) -> float:
    """Instantiate what a write needs of a layout; return when the objects are there."""
    request = mds.requests.rows[request_id]
    file_id = request.object
    first = instantiate(mds.files, file_id, request.end)
    more = object_count(mds.files, file_id) - first
    if more == 0:
        return now
    seconds = more * mds.each_object
    done = serve(mds.network, request.station, now, 0.0, seconds) + seconds
    for index in range(first, first + more):
        ost = mds.files.objects[object_of(mds.files, file_id, index)].ost
        done = max(done, take_object(mds.precreation, ost, now))
    mds.files.rows[file_id].changed = done
    return done
