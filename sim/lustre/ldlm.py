"""The life of an extent lock between a client node and an OST.

A rank that is to read or write first looks for a lock of its node that covers the bytes (*match*:
no RPC). If there is none, the node sends an enqueue. The server grants at once if nobody is in the
way (the rules are in ``locks``); else it sends *blocking ASTs* to the holders and lets the request
wait. A holder that gets one lets nobody else of its node use the lock, waits until the chunk being
copied is finished, writes back the dirty pages below the lock with high priority, drops all pages
below it (osc_lock_discard_pages: one by one, each through the lock of the file's tree of pages, for
which the writers of the node wait too) and returns the lock (LDLM_CANCEL). Before the server grants
what waited, it syncs what was written below the lock: a journal commit, shared by all who wait for
one at the time. These are the price of a conflict; the round trips are cheap beside them.

What servers send to a client on their own account are *callbacks*: blocking ASTs, completion ASTs
(the grant of what had to wait) and glimpse ASTs (how long is the object?). They queue at the node
for its threads that handle callbacks (ldlm_cbd), first come, first served. A grant at once comes as
the reply to the enqueue, and needs none of them.

Unused locks stay with the node, for the next call, up to a number an OSC; then the one unused
longest is returned (the lock LRU, ldlm.namespaces.*.lru_size).

Two ways around conflicts. A *group lock* covers a whole object for all who name the same number:
they trust each other not to touch the same bytes. *Lock-ahead* asks for exact extents before they
are needed, and such a request is dropped when anybody is in its way (Lustre 2.11, LU-6179).
"""

from __future__ import annotations

from sim.engine.calendar import schedule
from sim.engine.jit import njit
from sim.engine.network import serve
from sim.engine.ordered import last_not_after
from sim.engine.pool import give, take
from sim.lustre.events import GONE, LOCK_EVENT, PROGRAM_EVENT
from sim.lustre.journal import commit_periodically, committed_at
from sim.lustre.locks import (
    EOF,
    MODE_GROUP,
    MODE_PR,
    MODE_PW,
    cancel,
    enqueue,
    is_free,
    reprocess,
)
from sim.lustre.osc import channel_of, pump, raise_urgency
from sim.lustre.pages import DROP_TURNS, PRESSING, drop_cached, queue_at_tree
from sim.lustre.tables import LockState, Lustre, Stat

_ASKED, _QUEUED = int(LockState.ASKED), int(LockState.QUEUED)
_WAITING, _GRANTED, _HELD = int(LockState.WAITING), int(LockState.GRANTED), int(LockState.HELD)
_FLUSHING, _DROPPING = int(LockState.FLUSHING), int(LockState.DROPPING)
_RETURNED = int(LockState.RETURNED)
_SYNCING, _COMPLETED = int(LockState.SYNCING), int(LockState.COMPLETED)
_ENQUEUES, _MATCHES = int(Stat.ENQUEUES), int(Stat.MATCHES)
_BLOCKING_ASTS, _CANCELS = int(Stat.BLOCKING_ASTS), int(Stat.CANCELS)
_FLUSHED, _SYNCS, _LRU = int(Stat.FLUSHED_BYTES), int(Stat.CANCEL_SYNCS), int(Stat.LRU_CANCELS)

_END_OF_OBJECT = 1 << 62  # beyond any byte, and safe to add to
_AT_CLIENT = 2  # of ``ast_sent``: the blocking AST has come, and a thread turns to it


@njit
def _may_use(lustre: Lustre, lock_id: int, node: int, start: int, end: int) -> bool:
    """Tell whether a node holds a lock, need not give it up, and has all of an extent below it."""
    lock = lustre.locks.locks[lock_id]
    return (
        lock.owner == node
        and lock.state == _HELD
        and lock.blocked == 0
        and lock.start <= start
        and lock.end >= end
    )


@njit
def covering(lustre: Lustre, view_id: int, mode: int, start: int, end: int) -> int:
    """Return a lock of the node that covers an extent and may be used; -1 if there is none.

    A reader may use a write lock, not the other way round. Write locks on an object never overlap,
    so only the last one that starts not after the extent can cover it.
    """
    view = lustre.views[view_id]
    lock_id = last_not_after(lustre.locks.order, view.object, start)
    if lock_id >= 0 and _may_use(lustre, lock_id, view.node, start, end):
        return lock_id
    if mode == MODE_PR:
        lock_id = view.shared_locks
        while lock_id >= 0:
            is_read_lock = lustre.locks.locks[lock_id].mode == MODE_PR
            if is_read_lock and _may_use(lustre, lock_id, view.node, start, end):
                return lock_id
            lock_id = lustre.locks.locks[lock_id].sibling
    return -1


@njit
def _group_lock(lustre: Lustre, view_id: int, group: int) -> int:
    """Return the lock of a group that the node holds on an object; -1 if it holds none."""
    lock_id = lustre.views[view_id].shared_locks
    while lock_id >= 0:
        lock = lustre.locks.locks[lock_id]
        if lock.mode == MODE_GROUP and lock.group == group and lock.state == _HELD:
            return lock_id
        lock_id = lock.sibling
    return -1


@njit
def match(lustre: Lustre, program_id: int, mode: int, start: int, end: int) -> int:
    """Let a program use a lock that its node has on the object it is at; -1 if there is none."""
    program = lustre.programs[program_id]
    if program.group > 0:
        lock_id = _group_lock(lustre, program.view_id, program.group)
    else:
        lock_id = covering(lustre, program.view_id, mode, start, end)
    if lock_id >= 0:
        lustre.stats[_MATCHES] += 1
        _leave_lru(lustre, lock_id)
        lustre.locks.locks[lock_id].users += 1
    return lock_id


@njit
def _ask(lustre: Lustre, view_id: int, mode: int, start: int, end: int, now: float) -> int:
    """Send an enqueue; return the lock, which nobody waits for yet."""
    view = lustre.views[view_id]
    lock_id = take(lustre.locks.spare)
    lock = lustre.locks.locks[lock_id]
    lock.resource = view.object
    lock.owner = view.node
    lock.mode = mode
    lock.group = 0
    lock.request_start = start
    lock.request_end = end
    lock.no_expand = 0
    lock.speculative = 0
    lock.ast_sent = 0
    lock.granted = 0
    lock.view_id = view_id
    lock.program = -1
    lock.users = 0
    lock.blocked = 0
    lock.in_lru = 0
    lock.holders = 0
    lock.state = _ASKED
    if mode != MODE_PW:
        lock.sibling = view.shared_locks
        view.shared_locks = lock_id
    lustre.stats[_ENQUEUES] += 1
    arrival = now + lustre.limits.control_latency
    schedule(lustre.network.calendar, arrival, LOCK_EVENT, lock_id)
    return lock_id


@njit
def ask(lustre: Lustre, program_id: int, mode: int, start: int, end: int, now: float) -> None:
    """Ask for a lock on the object that a program is at; it goes on when the lock has come."""
    program = lustre.programs[program_id]
    lock_id = _ask(lustre, program.view_id, mode, start, end, now)
    lock = lustre.locks.locks[lock_id]
    lock.program = program_id
    lock.users = 1
    lock.no_expand = lustre.files[lustre.operations[program.op].file].no_expand
    program.pending = 1


@njit
def ask_to_drive_away(
    lustre: Lustre, program_id: int, view_id: int, start: int, end: int, now: float
) -> None:
    """Ask for a write lock that takes an extent from all others; its program waits for the grant.

    The program counts what it asks for in ``pending``; it does not use the lock.
    """
    lock = lustre.locks.locks[_ask(lustre, view_id, MODE_PW, start, end, now)]
    lock.program = program_id


@njit
def ask_ahead(lustre: Lustre, view_id: int, start: int, end: int, now: float) -> None:
    """Ask for a write lock on exactly an extent, ahead of its use."""
    lock = lustre.locks.locks[_ask(lustre, view_id, MODE_PW, start, end, now)]
    lock.no_expand = 1
    lock.speculative = 1


@njit
def join_group(lustre: Lustre, program_id: int, view_id: int, group: int, now: float) -> bool:
    """Use the node's lock of a group on an object; if there is none, ask and say False."""
    lock_id = _group_lock(lustre, view_id, group)
    if lock_id >= 0:
        lustre.stats[_MATCHES] += 1
        lustre.locks.locks[lock_id].users += 1
        lustre.locks.locks[lock_id].holders += 1
        return True
    lock = lustre.locks.locks[_ask(lustre, view_id, MODE_GROUP, 0, EOF, now)]
    lock.group = group
    lock.program = program_id
    lock.users = 1
    lock.holders = 1
    return False


@njit
def leave_group(lustre: Lustre, view_id: int, group: int, now: float) -> None:
    """Let one program less hold a group's lock on an object; without users it is given up.

    Ranks that asked at the same time have a lock each; any of them that is held will do.
    """
    lock_id = _group_lock(lustre, view_id, group)
    while lock_id >= 0 and lustre.locks.locks[lock_id].holders == 0:
        lock_id = lustre.locks.locks[lock_id].sibling
    if lock_id >= 0:
        lustre.locks.locks[lock_id].holders -= 1
        release(lustre, lock_id, now)


@njit
def release(lustre: Lustre, lock_id: int, now: float) -> None:
    """End the use of a lock; give it up if a blocking AST has come meanwhile."""
    lock = lustre.locks.locks[lock_id]
    lock.users -= 1
    if lock.users > 0:
        return
    if lock.blocked or lock.mode == MODE_GROUP:
        _give_up(lustre, lock_id, now)
    else:
        _enter_lru(lustre, lock_id, now)


@njit
def on_lock(lustre: Lustre, lock_id: int, now: float) -> float:
    """Take a lock one step further in its life; return when it acts next, or ``GONE``."""
    lock = lustre.locks.locks[lock_id]
    state = lock.state
    latency = lustre.limits.control_latency
    if state == _ASKED:
        lock.state = _QUEUED
        return _server_thread(lustre, lock.resource, now)
    if state == _QUEUED:
        return _on_server(lustre, lock_id, now)
    if state == _GRANTED:
        _arrive(lustre, lock_id, now)
        return GONE
    if state == _COMPLETED:
        lock.state = _GRANTED
        return handle_callback(lustre, lock.owner, now)
    if state == _HELD:
        return _asked_back(lustre, lock_id, now)
    if state == _FLUSHING:
        return _drop_pages(lustre, lock_id, now)
    if state == _DROPPING:
        lustre.inodes[lustre.views[lock.view_id].inode].tree_users -= 1
        return _return(lustre, lock_id, now)
    if state == _RETURNED:
        lock.state = _SYNCING
        return _sync(lustre, lock_id, _server_thread(lustre, lock.resource, now))
    _end(lustre, lock_id, now + latency)
    return GONE


@njit
def _arrive(lustre: Lustre, lock_id: int, now: float) -> None:
    """Let a granted lock be with its client; the program that waits for it goes on."""
    lock = lustre.locks.locks[lock_id]
    lock.state = _HELD
    if lock.users == 0:  # asked for ahead, or to drive others away: nobody uses it
        lock.users = 1
        release(lustre, lock_id, now)
    if lock.program < 0:
        return
    program = lustre.programs[lock.program]
    program.lock = lock_id
    program.pending -= 1
    if program.pending == 0:
        schedule(lustre.network.calendar, now, PROGRAM_EVENT, lock.program)


@njit
def _asked_back(lustre: Lustre, lock_id: int, now: float) -> float:
    """Take a blocking AST further that has come to the holder of a lock."""
    lock = lustre.locks.locks[lock_id]
    if lock.ast_sent != _AT_CLIENT:
        lock.ast_sent = _AT_CLIENT
        return handle_callback(lustre, lock.owner, now)
    lock.blocked = 1
    if lock.users == 0:
        _leave_lru(lustre, lock_id)
        _give_up(lustre, lock_id, now)
    return GONE


@njit
def handle_callback(lustre: Lustre, node_id: int, now: float) -> float:
    """Let a thread of a client node handle a callback that has come; return when it has.

    The threads take turns: as every callback takes equally long, that one is free first which has
    had none for longest.
    """
    limits = lustre.limits
    node = lustre.nodes[node_id]
    first = lustre.stations.callback + node_id * limits.callback_threads
    thread = first + node.next_callback
    node.next_callback = (node.next_callback + 1) % limits.callback_threads
    service = limits.callback_service
    return serve(lustre.network, thread, now, 0.0, service) + service


@njit
def _server_thread(lustre: Lustre, object_id: int, now: float) -> float:
    """Let a thread of the OSS turn to a lock request; return when it has."""
    oss = lustre.objects[object_id].ost // lustre.limits.osts_per_oss
    service = lustre.limits.request_service
    return serve(lustre.network, lustre.stations.service + oss, now, 0.0, service) + service


@njit
def _on_server(lustre: Lustre, lock_id: int, now: float) -> float:
    """Process an enqueue; return when the grant reaches the client, or ``GONE`` while it waits."""
    lock = lustre.locks.locks[lock_id]
    if lock.speculative and not is_free(lustre.locks, lock_id):
        give(lustre.locks.spare, lock_id)
        return GONE
    granted = enqueue(lustre.locks, lock_id)
    for i in range(lustre.locks.ast_count[0]):
        _block(lustre, lustre.locks.asts[i], now)
    if not granted:
        lock.state = _WAITING
        return GONE
    lock.state = _GRANTED
    return now + lustre.limits.control_latency


@njit
def _block(lustre: Lustre, lock_id: int, now: float) -> None:
    """Send a blocking AST for a lock.

    To a client that does not hold the lock yet, the news comes with the grant: the rank that asked
    uses the lock once, and then it goes.
    """
    lock = lustre.locks.locks[lock_id]
    lustre.stats[_BLOCKING_ASTS] += lock.granted
    if lock.state == _HELD:
        arrival = now + lustre.limits.control_latency
        schedule(lustre.network.calendar, arrival, LOCK_EVENT, lock_id)
    else:
        lock.blocked = 1


@njit
def _give_up(lustre: Lustre, lock_id: int, now: float) -> None:
    """Write back what is dirty below a lock that nobody uses, then return it."""
    lock = lustre.locks.locks[lock_id]
    view = lustre.views[lock.view_id]
    stop = min(lock.end, _END_OF_OBJECT) + 1
    windows, size = raise_urgency(lustre, lock.view_id, lock.start, stop, PRESSING)
    lustre.stats[_FLUSHED] += size
    if lock.mode != MODE_PW:
        view.shared_locks = _without(lustre, view.shared_locks, lock_id)
    lock.state = _FLUSHING
    lock.flush_left = windows
    if windows == 0:
        schedule(lustre.network.calendar, now, LOCK_EVENT, lock_id)
    else:
        lock.sibling = view.flushing
        view.flushing = lock_id
        pump(lustre, channel_of(lustre, view.node, view.object), now)


@njit
def _drop_pages(lustre: Lustre, lock_id: int, now: float) -> float:
    """Take the pages below a lock out of the cache, one by one; return when it acts next."""
    lock = lustre.locks.locks[lock_id]
    view = lustre.views[lock.view_id]
    stop = min(lock.end, _END_OF_OBJECT) + 1
    dropped = drop_cached(lustre, lock.view_id, lock.start, stop)
    view.flushing = _without(lustre, view.flushing, lock_id)
    if dropped == 0:
        return _return(lustre, lock_id, now)
    lock.state = _DROPPING
    lustre.inodes[view.inode].tree_users += 1
    return queue_at_tree(lustre, view.inode, dropped, DROP_TURNS, now)


@njit
def _return(lustre: Lustre, lock_id: int, now: float) -> float:
    """Send the cancel; return when it arrives."""
    lock = lustre.locks.locks[lock_id]
    lock.state = _RETURNED
    lustre.stats[_CANCELS] += 1
    return now + lustre.limits.control_latency


@njit
def _sync(lustre: Lustre, lock_id: int, now: float) -> float:
    """Return when what was written below a cancelled lock is durable (sync on cancel)."""
    lock = lustre.locks.locks[lock_id]
    if lock.mode == MODE_PR:
        return now
    done = object_committed(lustre, lock.resource, now)
    if done > now:
        lustre.stats[_SYNCS] += 1
    return done


@njit
def object_committed(lustre: Lustre, object_id: int, now: float) -> float:
    """Return when all that has been written to an object is durable."""
    limits = lustre.limits
    lustre_object = lustre.objects[object_id]
    ost = lustre_object.ost
    commit_periodically(lustre.journals, ost, now, limits.ost_commit, limits.commit_period)
    return committed_at(lustre.journals, ost, lustre_object.written, now, limits.ost_commit)


@njit
def _end(lustre: Lustre, lock_id: int, grant_arrival: float) -> None:
    """Remove a lock at the server and grant what waited for it, in the order of the queue."""
    object_id = lustre.locks.locks[lock_id].resource
    cancel(lustre.locks, lock_id)
    give(lustre.locks.spare, lock_id)
    granted = reprocess(lustre.locks, object_id)
    while granted >= 0:
        lustre.locks.locks[granted].state = _COMPLETED
        schedule(lustre.network.calendar, grant_arrival, LOCK_EVENT, granted)
        granted = reprocess(lustre.locks, object_id)


@njit
def _without(lustre: Lustre, head: int, lock_id: int) -> int:
    """Take a lock out of a list of siblings, if it is there; return the list's first."""
    previous = -1
    at = head
    while at >= 0 and at != lock_id:
        previous = at
        at = lustre.locks.locks[at].sibling
    if at < 0:
        return head
    after = lustre.locks.locks[lock_id].sibling
    if previous < 0:
        return after
    lustre.locks.locks[previous].sibling = after
    return head


@njit
def _enter_lru(lustre: Lustre, lock_id: int, now: float) -> None:
    """Keep an unused lock; give up the one unused longest if the OSC keeps too many."""
    lock = lustre.locks.locks[lock_id]
    view = lustre.views[lock.view_id]
    channel = lustre.channels[channel_of(lustre, view.node, view.object)]
    lock.in_lru = 1
    lock.lru_previous = channel.lru_tail
    lock.lru_next = -1
    if channel.lru_head < 0:
        channel.lru_head = lock_id
    else:
        lustre.locks.locks[channel.lru_tail].lru_next = lock_id
    channel.lru_tail = lock_id
    channel.lru_count += 1
    if channel.lru_count > lustre.limits.max_unused_locks:
        oldest = channel.lru_head
        _leave_lru(lustre, oldest)
        if lustre.locks.locks[oldest].ast_sent == 0:
            # The server need not ask any more: it learns from the cancel.
            lustre.locks.locks[oldest].ast_sent = 1
            lustre.locks.locks[oldest].blocked = 1
            lustre.stats[_LRU] += 1
            _give_up(lustre, oldest, now)


@njit
def _leave_lru(lustre: Lustre, lock_id: int) -> None:
    """Take a lock out of the list of the unused."""
    lock = lustre.locks.locks[lock_id]
    if lock.in_lru == 0:
        return
    view = lustre.views[lock.view_id]
    channel = lustre.channels[channel_of(lustre, view.node, view.object)]
    lock.in_lru = 0
    if lock.lru_previous < 0:
        channel.lru_head = lock.lru_next
    else:
        lustre.locks.locks[lock.lru_previous].lru_next = lock.lru_next
    if lock.lru_next < 0:
        channel.lru_tail = lock.lru_previous
    else:
        lustre.locks.locks[lock.lru_next].lru_previous = lock.lru_previous
    channel.lru_count -= 1
