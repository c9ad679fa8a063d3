"""The life of an extent lock between a client node and an OST.

A rank that is to read or write first looks for a lock of its node that covers the bytes (*match*:
no RPC). If there is none, the node sends an enqueue. The server grants at once if nobody is in the
way (the rules are in ``locks``); else it sends *blocking ASTs* to the holders and lets the request
wait. A holder that gets one lets nobody else of its node use the lock, waits until the chunk being
copied is finished, writes back the dirty pages below the lock with high priority, drops all pages
below it (osc_lock_discard_pages: one by one, each through the lock of the file's tree of pages, for
which the writers of the node wait too) and returns the lock (LDLM_CANCEL). Before the server grants
what waited, it syncs the object: a journal commit, which cancels on other objects of the OST share,
while those on the same object go one after another (``server/syncs``). These are the price of a
conflict; the round trips are cheap beside them.

What servers send to a client on their own account are *callbacks*: blocking ASTs, completion ASTs
(the grant of what had to wait) and glimpse ASTs (how long is the object?). They queue at the node
for its threads that handle callbacks (ldlm_cbd), first come, first served. A grant at once comes as
the reply to the enqueue, and needs none of them.

Ranks of one node take locks from each other, too, if they ask for different bytes of an object
before the node has a lock: each sends an enqueue, the first is granted the whole object, and the
server asks for that back although it is the same client (Lustre 2.7.0 ldlm_extent.c,
ldlm_extent_compat_cb: every granted lock in the way, whosever it is). It happens with the first
calls only: later ones find the locks. A short run of small calls has little else to wait for.

Unused locks stay with the node, for the next call, up to a number an OSC; then the one unused
longest is returned (the lock LRU, ldlm.namespaces.*.lru_size).

Two ways around conflicts. A *group lock* covers a whole object for all who name the same number:
they trust each other not to touch the same bytes. *Lock-ahead* asks for exact extents before they
are needed, and such a request is dropped when anybody is in its way (Lustre 2.11, LU-6179).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import njit, outlined
from xc40io.engine.component import Component
from xc40io.engine.intervals import add_interval, next_over, remove_interval
from xc40io.engine.network import Network
from xc40io.engine.ordered import last_not_after
from xc40io.engine.pool import give, live_rows, next_row, reserve, take
from xc40io.engine.queue import append, unlink
from xc40io.lustre.locks import (
    EOF,
    FOR_CLIENT,
    FOR_COMMIT,
    FOR_FLUSH,
    FOR_HOLDER,
    FOR_SERVER,
    FOR_TURN,
    MODE_GROUP,
    MODE_PR,
    MODE_PW,
    WAITED,
    Locks,
    cancel,
    enqueue,
    is_free,
    reprocess,
)
from xc40io.lustre.net.lnet import Lnet
from xc40io.lustre.osc.obds import Osc, obd_of
from xc40io.lustre.osc.rpcs import pump
from xc40io.lustre.osc.urgency import raise_urgency
from xc40io.lustre.server.journal import Journals, is_committed, object_committed
from xc40io.lustre.server.oss import OssThreads, lock_thread
from xc40io.lustre.server.syncs import Syncs, pass_mutex, take_mutex
from xc40io.node.nodes import Nodes, handle_callback
from xc40io.node.osc_extents import PRESSING
from xc40io.node.page_cache import DROP_TURNS, PageCache, queue_at_tree
from xc40io.node.pages import drop_cached
from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.files import Files
from xc40io.plane.programs import Programs, wake
from xc40io.plane.registry import GONE, LOCK_EVENT, on_event
from xc40io.plane.site import Site


class LockState(IntEnum):
    """What has happened to a lock; its event, if it has one, takes it on from there."""

    ASKED = 0  # the enqueue is sent: a thread of the server turns to it -> QUEUED
    QUEUED = 1  # the server grants it -> GRANTED, queues it -> WAITING, or drops it (lock-ahead)
    WAITING = 2  # another lock's cancel grants it -> COMPLETED
    COMPLETED = 3  # the completion AST is sent: a thread of the client turns to it -> GRANTED
    GRANTED = 4  # the client takes the grant -> HELD
    HELD = 5  # a blocking AST comes -> ASKED_BACK; nobody uses it and it must go -> FLUSHING
    ASKED_BACK = 6  # a thread turns to the blocking AST; then, or at its last release -> FLUSHING
    FLUSHING = 7  # what is dirty below it is written back: drops its pages -> DROPPING, RETURNED
    DROPPING = 8  # its pages have left the cache: the client cancels it -> RETURNED
    RETURNED = 9  # the cancel is sent: the server syncs what was written -> SYNCING, SYNCED
    SYNCING = 10  # has its turn to sync the object, and then the commit has ended -> removed
    SYNCED = 11  # a thread of the server turns to it, and there is nothing to sync -> removed


_ASKED, _QUEUED, _WAITING = int(LockState.ASKED), int(LockState.QUEUED), int(LockState.WAITING)
_COMPLETED, _GRANTED = int(LockState.COMPLETED), int(LockState.GRANTED)
_HELD, _ASKED_BACK = int(LockState.HELD), int(LockState.ASKED_BACK)
_FLUSHING, _DROPPING = int(LockState.FLUSHING), int(LockState.DROPPING)
_RETURNED, _SYNCING = int(LockState.RETURNED), int(LockState.SYNCING)
_SYNCED = int(LockState.SYNCED)
_ENQUEUES, _MATCHES = int(Stat.ENQUEUES), int(Stat.MATCHES)
_BLOCKING_ASTS, _CANCELS = int(Stat.BLOCKING_ASTS), int(Stat.CANCELS)
_FLUSHED, _SYNCS, _LRU = int(Stat.FLUSHED_BYTES), int(Stat.CANCEL_SYNCS), int(Stat.LRU_CANCELS)

_SERVICE, _CALLBACK = int(Cause.SERVICE), int(Cause.CALLBACK)
_LOCK_QUEUE = int(Cause.LOCK_QUEUE)

_END_OF_OBJECT = 1 << 62  # beyond any byte, and safe to add to


class Ldlm(Component):
    """The two sides of lock traffic, and what lies between them."""

    network: Network
    files: Files
    programs: Programs
    locks: Locks
    cache: PageCache
    lnet: Lnet
    nodes: Nodes
    osc: Osc
    osses: OssThreads
    journals: Journals
    syncs: Syncs
    max_unused_locks: int  # locks that an OSC keeps though nobody uses them (`lru_size`)

    @classmethod
    def build(cls, site: Site) -> Ldlm:
        """Return it for a machine."""
        machine = site.machine
        unused = machine.lustre.unused_locks_per_core * machine.nodes.cores
        return site.make(cls, max_unused_locks=unused)


@outlined
def may_ask(ldlm: Ldlm, locks: int) -> bool:
    """Tell whether there are rows for a client that asks for so many locks in one event."""
    cache = ldlm.cache
    enough = reserve(ldlm.locks.spare_locks, locks) and reserve(cache.spare_osc_objects, locks)
    return enough and reserve(cache.byte_lists.spare_lists, locks)  # an osc_object has a list


@njit
def _is_held(locks: Locks, lock_id: int) -> bool:
    """Tell whether a client has a lock, and does not give it up yet."""
    return locks.locks[lock_id].state in (_HELD, _ASKED_BACK)


@outlined
def _may_use(locks: Locks, lock_id: int, node: int, start: int, end: int) -> bool:
    """Tell whether a node holds a lock, need not give it up, and has all of an extent below it."""
    lock = locks.locks[lock_id]
    return (
        lock.owner == node
        and _is_held(locks, lock_id)
        and lock.blocked == 0
        and lock.start <= start
        and lock.end >= end
    )


@outlined
def covering(osc: Osc, osc_object_id: int, mode: int, start: int, end: int) -> int:
    """Return a lock of the node that covers an extent and may be used; -1 if there is none.

    A reader may use a write lock, not the other way round. Write locks on an object never overlap,
    so only the last one that starts not after the extent can cover it.
    """
    osc_object = osc.cache.osc_objects[osc_object_id]
    lock_id = osc_object.lock
    if lock_id >= 0 and _covers(osc.locks, lock_id, osc_object.object, osc_object.node, start, end):
        return lock_id
    if mode == MODE_PR:
        lock_id = _read_lock(osc, osc_object_id, start, end)
        if lock_id >= 0:
            return lock_id
    # The order holds the write locks of all nodes: ``_may_use`` looks whose it is.
    lock_id = last_not_after(osc.locks.order, osc_object.object, start)
    if lock_id >= 0 and _may_use(osc.locks, lock_id, osc_object.node, start, end):
        osc_object.lock = lock_id
        return lock_id
    return -1


@outlined
def _read_lock(osc: Osc, osc_object_id: int, start: int, end: int) -> int:
    """Return the read lock asked for last of those that cover an extent and may be used, or -1."""
    held, heads = osc.locks.held, osc.cache.osc_objects[osc_object_id].read_locks
    found = number = -1
    lock_id = next_over(held, heads, -1, end, start, number)
    while lock_id >= 0:
        if osc.locks.locks[lock_id].blocked == 0:
            found = lock_id
            number = held.youngest[lock_id, 0]
        lock_id = next_over(held, heads, lock_id, end, start, number)
    return found


@outlined
def _covers(locks: Locks, lock_id: int, object_id: int, node: int, start: int, end: int) -> bool:
    """Tell whether a row, which may have been reused, is a write lock that a node may use."""
    lock = locks.locks[lock_id]
    is_write_lock = lock.resource == object_id and lock.mode == MODE_PW
    return is_write_lock and _may_use(locks, lock_id, node, start, end)


@outlined
def _group_lock(osc: Osc, osc_object_id: int, group: int) -> int:
    """Return the lock of a group that the node holds on an object; -1 if it holds none."""
    lock_id = osc.cache.osc_objects[osc_object_id].group_locks
    while lock_id >= 0:
        lock = osc.locks.locks[lock_id]
        if lock.group == group and _is_held(osc.locks, lock_id):
            return lock_id
        lock_id = lock.sibling
    return -1


@outlined
def match(osc: Osc, program_id: int, mode: int, start: int, end: int) -> int:
    """Find a lock of its node on the object that a program is at, and use it; -1 if none."""
    program = osc.programs.rows[program_id]
    if program.group > 0:
        lock_id = _group_lock(osc, program.osc_object_id, program.group)
    else:
        lock_id = covering(osc, program.osc_object_id, mode, start, end)
    if lock_id >= 0:
        osc.programs.stats[_MATCHES] += 1
        leave_lru(osc, lock_id)
        osc.locks.locks[lock_id].users += 1
    return lock_id


@outlined
def _ask(ldlm: Ldlm, osc_object_id: int, mode: int, start: int, end: int, now: float) -> int:
    """Send an enqueue; return the lock, which nobody waits for yet."""
    lock_id = _new_lock(ldlm, osc_object_id, mode, start, end, now)
    ldlm.programs.stats[_ENQUEUES] += 1
    arrival = now + ldlm.lnet.control_latency
    schedule(ldlm.network.calendar, arrival, LOCK_EVENT, lock_id)
    return lock_id


@outlined
def _new_lock(ldlm: Ldlm, osc_object_id: int, mode: int, start: int, end: int, now: float) -> int:
    """Return a lock that is about to be asked for."""
    osc_object = ldlm.cache.osc_objects[osc_object_id]
    lock_id = take(ldlm.locks.spare_locks)
    lock = ldlm.locks.locks[lock_id]
    lock.resource = osc_object.object
    lock.owner = osc_object.node
    lock.mode = mode
    lock.group = 0
    lock.request_start = start
    lock.request_end = end
    lock.no_expand = 0
    lock.speculative = 0
    lock.ast_sent = 0
    lock.granted = 0
    lock.osc_object_id = osc_object_id
    lock.program = -1
    lock.users = 0
    lock.blocked = 0
    lock.in_lru = 0
    lock.holders = 0
    lock.state = _ASKED
    lock.blocked_at = lock.handled_at = lock.idle_at = now
    for reason in range(WAITED):
        lock.waited[reason] = 0.0
    ldlm.locks.counts[0] += 1
    lock.number = ldlm.locks.counts[0]
    if mode == MODE_GROUP:  # write locks are found in the order of the object
        lock.sibling = osc_object.group_locks
        osc_object.group_locks = lock_id
    if ldlm.programs.recorder.on:
        marks = ldlm.locks.marks[lock_id]
        marks.asked = now
        marks.granted = marks.blocked = marks.returned = np.inf
    return lock_id


@outlined
def grant_with_open(ldlm: Ldlm, osc_object_id: int, now: float) -> None:
    """Take a write lock on a whole object that comes with the reply to an open.

    It is that of data on the MDT. Where somebody has a lock on it, or waits for one, the node asks
    when it needs one; the MDT would call that back first (dom_lock=always).
    """
    osc_object = ldlm.cache.osc_objects[osc_object_id]
    resource = ldlm.locks.resources[osc_object.object]
    held = resource.granted_pw + resource.granted_pr + resource.granted_group
    if held > 0 or resource.waiting_head >= 0:
        return
    lock_id = _new_lock(ldlm, osc_object_id, MODE_PW, 0, EOF, now)
    if enqueue(ldlm.locks, lock_id):
        _arrive(ldlm, lock_id, now)


@outlined
def ask(ldlm: Ldlm, program_id: int, mode: int, start: int, end: int, now: float) -> None:
    """Ask for a lock on the object that a program is at; it goes on when the lock has come."""
    program = ldlm.programs.rows[program_id]
    lock_id = _ask(ldlm, program.osc_object_id, mode, start, end, now)
    lock = ldlm.locks.locks[lock_id]
    lock.program = program_id
    lock.users = 1
    lock.no_expand = ldlm.files.rows[ldlm.programs.operations[program.op].file].no_expand
    program.pending = 1


@outlined
def ask_to_drive_away(
    ldlm: Ldlm, program_id: int, osc_object_id: int, start: int, end: int, now: float
) -> None:
    """Ask for a write lock that takes an extent from all others; its program waits for the grant.

    The program counts what it asks for in ``pending``; it does not use the lock.
    """
    lock = ldlm.locks.locks[_ask(ldlm, osc_object_id, MODE_PW, start, end, now)]
    lock.program = program_id


@outlined
def ask_ahead(ldlm: Ldlm, osc_object_id: int, start: int, end: int, now: float) -> None:
    """Ask for a write lock on exactly an extent, ahead of its use."""
    lock = ldlm.locks.locks[_ask(ldlm, osc_object_id, MODE_PW, start, end, now)]
    lock.no_expand = 1
    lock.speculative = 1


@outlined
def join_group(ldlm: Ldlm, program_id: int, osc_object_id: int, group: int, now: float) -> bool:
    """Use the node's lock of a group on an object; if there is none, ask and say False."""
    lock_id = _group_lock(ldlm.osc, osc_object_id, group)
    if lock_id >= 0:
        ldlm.programs.stats[_MATCHES] += 1
        ldlm.locks.locks[lock_id].users += 1
        ldlm.locks.locks[lock_id].holders += 1
        return True
    lock = ldlm.locks.locks[_ask(ldlm, osc_object_id, MODE_GROUP, 0, EOF, now)]
    lock.group = group
    lock.program = program_id
    lock.users = 1  # a group lock is in use until the program leaves the group
    lock.holders = 1
    return False


@outlined
def leave_group(ldlm: Ldlm, osc_object_id: int, group: int, now: float) -> None:
    """Release a program's hold of its group's lock on an object; the last user gives it up.

    Ranks that asked at the same time have a lock each; any of them that is held will do.
    """
    lock_id = _group_lock(ldlm.osc, osc_object_id, group)
    while lock_id >= 0 and ldlm.locks.locks[lock_id].holders == 0:
        lock_id = ldlm.locks.locks[lock_id].sibling
    if lock_id >= 0:
        ldlm.locks.locks[lock_id].holders -= 1
        release(ldlm, lock_id, now)


@outlined
def release(ldlm: Ldlm, lock_id: int, now: float) -> None:
    """End the use of a lock; give it up if a blocking AST has come meanwhile."""
    lock = ldlm.locks.locks[lock_id]
    lock.users -= 1
    if lock.users > 0:
        return
    if lock.blocked or lock.mode == MODE_GROUP:
        give_up(ldlm.osc, lock_id, now)
    else:
        _enter_lru(ldlm, lock_id, now)


@on_event(Ldlm, LOCK_EVENT)
@outlined
def on_lock(ldlm: Ldlm, lock_id: int, now: float) -> float:
    """Take a lock on to its next state; return when it acts next, or ``GONE``."""
    lock = ldlm.locks.locks[lock_id]
    state = lock.state
    if state == _ASKED:
        lock.state = _QUEUED
        done = lock_thread(ldlm.osses, lock.resource, now)
        lock.waited[FOR_SERVER] += done - now
        return done
    if state == _QUEUED:
        return _on_server(ldlm, lock_id, now)
    if state == _GRANTED:
        _arrive(ldlm, lock_id, now)
        return GONE
    if state == _COMPLETED:
        lock.state = _GRANTED
        done = handle_callback(ldlm.nodes, lock.owner, now)
        lock.waited[FOR_CLIENT] += done - now
        return done
    if state == _HELD:
        return _asked_back(ldlm, lock_id, now)
    if state == _ASKED_BACK:
        _block_at_client(ldlm.osc, lock_id, now)
        return GONE
    if state == _FLUSHING:
        return _drop_pages(ldlm, lock_id, now)
    if state == _DROPPING:
        ldlm.cache.inodes[ldlm.cache.osc_objects[lock.osc_object_id].inode].tree_users -= 1
        return _return(ldlm, lock_id, now)
    return _cancelled(ldlm, lock_id, now)


@outlined
def _cancelled(ldlm: Ldlm, lock_id: int, now: float) -> float:
    """Sync what was written below a lock that was cancelled, and then remove it."""
    lock = ldlm.locks.locks[lock_id]
    if lock.state == _RETURNED:
        lock.synced_at = lock_thread(ldlm.osses, lock.resource, now)
        return _sync(ldlm, lock_id, lock.synced_at)
    if lock.state == _SYNCING:
        done = object_committed(ldlm.journals, lock.resource, now)
        if done > now:
            return done
        pass_mutex(ldlm.syncs, lock.resource, now)
    _end(ldlm, lock_id, now)
    return GONE


@outlined
def _asked_back(ldlm: Ldlm, lock_id: int, now: float) -> float:
    """Queue a blocking AST that has come for a thread; return when one turns to it."""
    lock = ldlm.locks.locks[lock_id]
    lock.state = _ASKED_BACK
    if ldlm.programs.recorder.on:
        ldlm.locks.marks[lock_id].blocked = now
    return handle_callback(ldlm.nodes, lock.owner, now)


@outlined
def _arrive(ldlm: Ldlm, lock_id: int, now: float) -> None:
    """Take a grant at the client; wake the program that waits for it."""
    lock = ldlm.locks.locks[lock_id]
    lock.state = _HELD
    if lock.mode == MODE_PR:
        heads = ldlm.cache.osc_objects[lock.osc_object_id].read_locks
        add_interval(ldlm.locks.held, heads, lock_id, lock.start, lock.end, lock.number)
    lock.handled_at = now  # if it must go, the client knows by now: that came with the grant
    if lock.blocked:  # and who waits for it has waited for its turn until then
        lock.blocked_at = max(lock.blocked_at, now - ldlm.lnet.control_latency)
    if ldlm.programs.recorder.on:
        ldlm.locks.marks[lock_id].granted = now
        if lock.blocked:
            ldlm.locks.marks[lock_id].blocked = now
    if lock.users == 0:  # asked for ahead, or to drive others away: nobody uses it
        lock.users = 1  # for a moment, so that it enters the LRU or goes as any released lock
        release(ldlm, lock_id, now)
    if lock.program < 0:
        return
    program = ldlm.programs.rows[lock.program]
    program.lock = lock_id
    program.pending -= 1
    if program.pending == 0:
        for reason in range(WAITED):
            ldlm.programs.behind[_causes(reason), lock.program] += lock.waited[reason]
        wake(ldlm.programs, lock.program, now)


@njit
def _causes(reason: int) -> int:
    """Return the cause that a lock request waited for, by its reason (``FOR_...``)."""
    if reason == FOR_SERVER:
        return _SERVICE
    return _CALLBACK if reason == FOR_CLIENT else _LOCK_QUEUE + reason - FOR_TURN


@outlined
def _block_at_client(osc: Osc, lock_id: int, now: float) -> None:
    """Handle a blocking AST: nobody else may use the lock; give it up, at once if it is unused."""
    lock = osc.locks.locks[lock_id]
    lock.blocked = 1
    lock.handled_at = now
    if lock.users == 0:
        leave_lru(osc, lock_id)
        give_up(osc, lock_id, now)


@outlined
def _on_server(ldlm: Ldlm, lock_id: int, now: float) -> float:
    """Process an enqueue; return when the grant reaches the client, or ``GONE`` while it waits."""
    lock = ldlm.locks.locks[lock_id]
    if lock.speculative and not is_free(ldlm.locks, lock_id):
        give(ldlm.locks.spare_locks, lock_id)
        return GONE
    granted = enqueue(ldlm.locks, lock_id)
    for i in range(ldlm.locks.ast_count[0]):
        _block(ldlm, ldlm.locks.asts[i], now)
    if not granted:
        lock.state = _WAITING
        lock.queued = now
        return GONE
    lock.state = _GRANTED
    return now + ldlm.lnet.control_latency


@outlined
def _block(ldlm: Ldlm, lock_id: int, now: float) -> None:
    """Send a blocking AST for a lock.

    To a client that does not hold the lock yet, the news comes with the grant: the rank that asked
    uses the lock once, and then it goes.
    """
    lock = ldlm.locks.locks[lock_id]
    ldlm.programs.stats[_BLOCKING_ASTS] += lock.granted
    lock.blocked_at = now
    if lock.state == _HELD:  # its event is free: held locks have none but this
        arrival = now + ldlm.lnet.control_latency
        schedule(ldlm.network.calendar, arrival, LOCK_EVENT, lock_id)
    else:
        lock.blocked = 1


@outlined
def give_up(osc: Osc, lock_id: int, now: float) -> None:
    """Write back what is dirty below a lock that nobody uses, then return it."""
    lock = osc.locks.locks[lock_id]
    lock.idle_at = now
    osc_object = osc.cache.osc_objects[lock.osc_object_id]
    stop = min(lock.end, _END_OF_OBJECT) + 1  # EOF + 1 would overflow
    extents, size = raise_urgency(osc, lock.osc_object_id, lock.start, stop, PRESSING)
    osc.programs.stats[_FLUSHED] += size
    if lock.mode == MODE_PR:  # nobody finds it any more
        remove_interval(osc.locks.held, osc_object.read_locks, lock_id)
    elif lock.mode == MODE_GROUP:  # and ``sibling`` is free for the flush
        osc_object.group_locks = _without(osc.locks, osc_object.group_locks, lock_id)
    lock.state = _FLUSHING
    lock.flush_left = extents  # reads under way below it count too: their pages come, and go
    if extents == 0:
        schedule(osc.network.calendar, now, LOCK_EVENT, lock_id)
    else:
        lock.sibling = osc_object.flushing
        osc_object.flushing = lock_id  # where extent_done finds it
        pump(osc, obd_of(osc, lock.osc_object_id), now)


@outlined
def _drop_pages(ldlm: Ldlm, lock_id: int, now: float) -> float:
    """Take the pages below a lock out of the cache, one by one; return when it acts next."""
    lock = ldlm.locks.locks[lock_id]
    osc_object = ldlm.cache.osc_objects[lock.osc_object_id]
    stop = min(lock.end, _END_OF_OBJECT) + 1
    dropped = drop_cached(ldlm.cache, lock.osc_object_id, lock.start, stop)
    osc_object.flushing = _without(ldlm.locks, osc_object.flushing, lock_id)
    if dropped == 0:
        return _return(ldlm, lock_id, now)
    lock.state = _DROPPING
    ldlm.cache.inodes[osc_object.inode].tree_users += 1
    return queue_at_tree(ldlm.cache, osc_object.inode, dropped, DROP_TURNS, now)


@outlined
def _return(ldlm: Ldlm, lock_id: int, now: float) -> float:
    """Send the cancel; return when it arrives."""
    lock = ldlm.locks.locks[lock_id]
    lock.state = _RETURNED
    lock.returned_at = now
    if ldlm.programs.recorder.on:
        ldlm.locks.marks[lock_id].returned = now
    ldlm.programs.stats[_CANCELS] += 1
    return now + ldlm.lnet.control_latency


@outlined
def _sync(ldlm: Ldlm, lock_id: int, now: float) -> float:
    """Begin the sync on the cancel of a lock; return when it acts next, or ``GONE``."""
    lock = ldlm.locks.locks[lock_id]
    lock.state = _SYNCED
    if lock.mode == MODE_PR:  # nothing was written below it
        return now
    if is_committed(ldlm.journals, lock.resource, now):
        return now
    lock.state = _SYNCING
    ldlm.programs.stats[_SYNCS] += 1
    if not take_mutex(ldlm.syncs, lock.resource, LOCK_EVENT, lock_id):
        return GONE
    return object_committed(ldlm.journals, lock.resource, now)


@outlined
def _end(ldlm: Ldlm, lock_id: int, now: float) -> None:
    """Remove a lock at the server and grant the requests that waited for it, in their order."""
    if ldlm.programs.recorder.on:
        _record(ldlm, lock_id, now)
    if ldlm.locks.locks[lock_id].granted:  # else the server has revoked it before
        cancel(ldlm.locks, lock_id)
        grant_waiting(ldlm, lock_id, now)
    give(ldlm.locks.spare_locks, lock_id)


@outlined
def grant_waiting(ldlm: Ldlm, gone: int, now: float) -> None:
    """Grant the requests that do not conflict any more, after a lock of the object is gone."""
    grant_arrival = now + ldlm.lnet.control_latency
    object_id = ldlm.locks.locks[gone].resource
    granted = reprocess(ldlm.locks, object_id)
    while granted >= 0:
        _explain(ldlm, granted, gone, grant_arrival - ldlm.lnet.control_latency)
        ldlm.locks.locks[granted].state = _COMPLETED
        schedule(ldlm.network.calendar, grant_arrival, LOCK_EVENT, granted)
        granted = reprocess(ldlm.locks, object_id)


@outlined
def _explain(ldlm: Ldlm, granted: int, gone: int, now: float) -> None:
    """Note the causes of the wait of a request that is granted because a conflicting lock is gone.

    Before the server had asked for that lock, the request waited for its turn: for those before it
    in line, who got the lock in between. What is left is the latency of messages.
    """
    lock, last = ldlm.locks.locks[granted], ldlm.locks.locks[gone]
    latency = ldlm.lnet.control_latency
    asked = max(last.blocked_at, lock.queued)
    noted = max(last.handled_at, asked)
    idle = max(last.idle_at, noted)
    clean = max(last.returned_at, idle)
    lock.waited[FOR_TURN] += asked - lock.queued
    lock.waited[FOR_CLIENT] += max(noted - asked - latency, 0.0)
    lock.waited[FOR_HOLDER] += idle - noted
    lock.waited[FOR_FLUSH] += clean - idle
    lock.waited[FOR_COMMIT] += min(now - last.synced_at, now - clean)


@outlined
def _record(ldlm: Ldlm, lock_id: int, now: float) -> None:
    """Record a lock that the server removes."""
    lock, marks = ldlm.locks.locks[lock_id], ldlm.locks.marks[lock_id]
    recorder = ldlm.programs.recorder
    row = recorder.locks[next_row(recorder.spare_locks, len(recorder.locks))]
    row.object = lock.resource
    row.node = lock.owner
    row.mode = lock.mode
    row.start = lock.start
    row.end = lock.end
    row.asked = marks.asked
    row.granted = marks.granted
    row.blocked = marks.blocked
    row.returned = marks.returned
    row.ended = now


@outlined
def _without(locks: Locks, head: int, lock_id: int) -> int:
    """Take a lock out of a list of siblings, if it is there; return the list's first."""
    previous = -1
    at = head
    while at >= 0 and at != lock_id:
        previous = at
        at = locks.locks[at].sibling
    if at < 0:
        return head
    after = locks.locks[lock_id].sibling
    if previous < 0:
        return after
    locks.locks[previous].sibling = after
    return head


@outlined
def _enter_lru(ldlm: Ldlm, lock_id: int, now: float) -> None:
    """Keep an unused lock; give up the one unused longest if the OSC keeps too many."""
    lock = ldlm.locks.locks[lock_id]
    obd = ldlm.osc.obds[obd_of(ldlm.osc, lock.osc_object_id)]
    lock.in_lru = 1
    append(obd.lru, ldlm.locks.locks.lru, lock_id)
    obd.lru_count += 1
    if obd.lru_count > ldlm.max_unused_locks:
        oldest = obd.lru.head
        leave_lru(ldlm.osc, oldest)
        if ldlm.locks.locks[oldest].ast_sent == 0:  # else the blocking AST will take it
            # The server need not ask any more: it learns from the cancel.
            ldlm.locks.locks[oldest].ast_sent = 1
            ldlm.locks.locks[oldest].blocked = 1
            ldlm.programs.stats[_LRU] += 1
            give_up(ldlm.osc, oldest, now)


@outlined
def leave_lru(osc: Osc, lock_id: int) -> None:
    """Take a lock out of the list of the unused, if it is there."""
    lock = osc.locks.locks[lock_id]
    if lock.in_lru == 0:
        return
    obd = osc.obds[obd_of(osc, lock.osc_object_id)]
    lock.in_lru = 0
    unlink(obd.lru, osc.locks.locks.lru, lock_id)
    obd.lru_count -= 1


class LockWait(NamedTuple):
    """A request for a lock that waits at its OST."""

    node: int
    mode: int
    resource: int  # the stripe object
    holders: list[tuple[int, int]]  # node and mode of each lock of the object that is granted


def lock_waits(ldlm: Ldlm) -> Iterator[LockWait]:
    """Yield the requests for locks that wait now."""
    locks = np.asarray(ldlm.locks.locks)[live_rows(ldlm.locks.spare_locks)]
    granted = locks[locks["granted"] == 1]
    for lock in locks[locks["state"] == _WAITING]:
        held = granted[granted["resource"] == lock["resource"]]
        holders = list(zip(held["owner"].tolist(), held["mode"].tolist(), strict=True))
        yield LockWait(int(lock["owner"]), int(lock["mode"]), int(lock["resource"]), holders)
