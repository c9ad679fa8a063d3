"""LDLM: the extent locks that an OST grants on its objects.

Before a client node may cache bytes of an object, clean or dirty, it holds a *lock* on an extent of
it from the object's OST, and it may keep the lock when it is done: the next access finds it and
costs nothing. The price comes when somebody else wants the same bytes. A lock has a mode:

========= ======================================= ========================================
mode      taken for                               shares its bytes with
========= ======================================= ========================================
``PR``    reading                                 ``PR``
``PW``    writing                                 nobody, not even ``PW`` of the same node
``GROUP`` users who agreed on a number, the *gid* ``GROUP`` of the same gid
========= ======================================= ========================================

The life of a request, with the function that decides each step:

1. :func:`enqueue`. Conflicts are sought with what the client *asked for*, among the granted locks
   and among the requests that already wait. Every lock found is to be given back: its holder gets a
   *blocking AST*, once. (A request that still waits gets it together with its grant.) The new
   request waits at the end of the queue of the object.
2. :func:`cancel`. A holder that got a blocking AST writes back the dirty pages under the lock and
   cancels it.
3. :func:`reprocess`. The queue is served first come, first served: the head is granted once no
   granted lock conflicts with it; as long as it cannot be, nobody behind it is.
4. :func:`expand`. Whoever is granted gets more than it asked for, in the hope that it will go on:
   all that is free of others, within limits that tighten with contention. So the first writer of an
   object gets the whole of it; a second one takes that away and gets what lies from its request on;
   and while many wait, each gets little more than it asked for.

Nothing here knows of time; the caller sends the messages. The rules are those of Lustre 2.7
(ldlm_extent.c, ldlm_lock.c, interval_tree.c); extents are in bytes, their ends inclusive.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xc40io.engine.compiled import njit
from xc40io.engine.component import Component, Demands
from xc40io.engine.intervals import (
    LEVELS,
    Intervals,
    add_interval,
    enlarge_intervals,
    first_beyond,
    make_intervals,
    next_over,
    remove_interval,
)
from xc40io.engine.ordered import (
    SortedLists,
    empty,
    enlarge_ordered,
    following,
    insert,
    last_not_after,
    lists_beside,
    make_ordered,
    remove,
)
from xc40io.engine.page import PAGE
from xc40io.engine.pool import Pool, make_pool
from xc40io.engine.queue import LINK
from xc40io.engine.record import Column
from xc40io.engine.types import Indices, Integers, Table, enlarge_table, make_table
from xc40io.plane.files import FILE
from xc40io.plane.programs import PROGRAM
from xc40io.plane.site import Site

MODE_PR = 0
MODE_PW = 1
MODE_GROUP = 2
MODE_NAMES = {MODE_PR: "PR", MODE_PW: "PW", MODE_GROUP: "group"}
"""What Lustre calls them."""

EOF = 2**63 - 1
"""Where an extent ends that goes to the end of the object (OBD_OBJECT_EOF)."""

MANY_CONFLICTS = 4
"""Waiting conflicts beyond which a lock does not grow downwards (ldlm_extent_internal_policy)."""

CONTENDED = 32
"""Conflicts beyond which a write lock grows no further than ``GROWN_EXTENT`` (..._policy_fixup)."""

GROWN_EXTENT = 32 << 20
"""Bytes of a write lock on a contended object (LDLM_MAX_GROWN_EXTENT, plus one)."""

FOR_SERVER, FOR_CLIENT, FOR_TURN, FOR_HOLDER, FOR_FLUSH, FOR_COMMIT = range(6)
"""What a request for a lock waits for: a thread of the server, or of a client; others before it in
line; who still uses the lock in its way; what is dirty below that; the commit of what was."""

WAITED = FOR_COMMIT + 1

LOCK = np.dtype(
    [
        ("start", "i8"),  # what it was granted; what it asked for while it waits
        ("end", "i8"),
        ("mode", "i4"),  # up to in_lru: what searches look at, together in a line of the cache
        ("next", "i4"),  # neighbours in the queue or among the object's groups, or -1
        ("owner", "i4"),  # the client node
        ("ast_sent", "i4"),  # its holder has been, or need not be, sent a blocking AST
        ("osc_object_id", "i4"),
        ("state", "i4"),
        ("blocked", "i4"),  # a blocking AST has arrived at the client
        ("users", "i4"),  # chunks of its node being moved below it
        ("in_lru", "i4"),
        ("holders", "i4"),  # programs of its node that have a GROUP lock taken
        ("previous", "i4"),
        ("request_start", "i8"),  # what the client asked for
        ("request_end", "i8"),
        ("group", "i8"),  # gid of a GROUP lock
        ("number", "i8"),  # locks are counted as they are asked for
        ("resource", "i4"),  # the object
        ("no_expand", "i4"),  # grant exactly what was asked for (LDLM_FL_NO_EXPANSION)
        ("speculative", "i4"),  # asked for ahead of use: dropped if anybody is in its way
        ("granted", "i4"),
        ("program", "i4"),  # the rest belongs to the client that holds the lock
        ("flush_left", "i4"),
        ("sibling", "i4"),
        ("lru", LINK),  # neighbours among the unused locks of its OSC
        ("queued", "f8"),  # when the server let the request wait
        ("blocked_at", "f8"),  # when it sent a blocking AST
        ("handled_at", "f8"),  # when the client had taken note of that
        ("idle_at", "f8"),  # when nobody used the lock any more
        ("returned_at", "f8"),  # when nothing was left below it, and the cancel was sent
        ("synced_at", "f8"),  # when the server turned to the commit of what was written below it
        ("waited", "f8", (WAITED,)),  # seconds that the request waited, and for what
    ],
    align=True,
)

RESOURCE = np.dtype(
    [
        ("longest", "i8"),  # bytes of the longest request since one began to wait, less one
        ("waiting_head", "i4"),  # queue of requests, or -1
        ("waiting_tail", "i4"),
        ("waiting_count", "i4"),
        ("group_head", "i4"),  # granted GROUP locks, or -1
        ("granted_pr", "i4"),  # how many locks of each mode are granted
        ("granted_pw", "i4"),
        ("granted_group", "i4"),
        ("readers", "i4", LEVELS),  # the first of the granted PR locks, in `readers`
    ],
    align=True,
)


LOCK_MARKS = np.dtype(  # what the recorder is to know of a lock: when it has ... (s)
    [
        ("asked", "f8"),  # been asked for
        ("granted", "f8"),  # come to the client; infinity before, as of all that follow
        ("blocked", "f8"),  # been called back by a blocking AST
        ("returned", "f8"),  # been cancelled by the client
    ],
    align=True,
)

FILE.add(__name__, Column("no_expand", "i4"))  # grant locks as asked for (LOCKNOEXPAND)

PROGRAM.add(
    __name__,
    Column("lock", "i4", often=True),  # of the chunk that it moves
    Column("group", "i4", often=True),  # the group whose locks it uses, or 0
)


class Locks(Component):
    """The lock tables of the OSTs."""

    locks: Table  # `LOCK` records: one row a lock, granted or waiting
    marks: Table  # `LOCK_MARKS` records beside them; none where nothing is recorded
    spare_locks: Pool  # rows of `locks` that are free; the caller takes and gives them
    resources: Table  # `RESOURCE` records: one row an object
    order: (
        SortedLists  # the granted PW locks of each object, which never overlap, by where they start
    )
    # the requests that wait at each object, by where they start; over the same rows
    waiting: SortedLists
    readers: Intervals  # the granted PR locks of each object, numbered as they are granted
    # those of each osc_object that its client holds, numbered as they are asked for
    held: Intervals
    counts: Integers  # int64 (2,): how many locks have been asked for, and PR locks granted
    found: SortedLists  # one list, of what is to be brought into another order
    # int32 (locks,): `asts[: ast_count[0]]` are the locks whose holders the latest enqueue wants to
    # get a blocking AST
    asts: Indices
    ast_count: Integers  # int64 (1,)

    @classmethod
    def build(cls, site: Site) -> Locks:
        """Return no locks on no objects."""
        return site.make(cls, **cls.idle(0, site.rows, record=site.record))

    @staticmethod
    def idle(resources: int, rows: int, *, record: bool = False) -> dict[str, Any]:
        """Return the tables for so many objects and so many locks, none of them in use."""
        order = make_ordered(resources, rows)
        return {
            "locks": make_table(LOCK, rows),
            "marks": make_table(LOCK_MARKS, rows if record else 0),
            "spare_locks": make_pool(rows),
            "resources": _idle(make_table(RESOURCE, resources), 0),
            "order": order,
            "waiting": lists_beside(order, resources),
            "readers": make_intervals(rows),
            "held": make_intervals(rows),
            "counts": np.zeros(2, np.int64),
            "found": lists_beside(order, 1),
            "asts": np.zeros(rows, np.int32),
            "ast_count": np.zeros(1, np.int64),
        }

    def demands(self) -> Demands:
        """Return the row that a call takes: one lock."""
        return [(self.spare_locks, 1)]

    def pending(self) -> int:
        """Return the most events that can be pending: one a lock."""
        return len(self.locks)

    def grow(self, name: str, rows: int) -> None:
        """Make the table of locks longer, and what goes by its rows with it."""
        super().grow(name, rows)
        self._enlarge_lists(len(self.resources), rows)
        self.readers = enlarge_intervals(self.readers, rows)
        self.held = enlarge_intervals(self.held, rows)
        asts = np.zeros(rows, np.int32)
        asts[: len(self.asts)] = self.asts
        self.asts = asts
        if len(self.marks):
            self.marks = enlarge_table(self.marks, rows)

    def add_resources(self, count: int) -> None:
        """Add objects, without a lock, up to ``count``."""
        self.resources = _idle(enlarge_table(self.resources, count), len(self.resources))
        self._enlarge_lists(count, len(self.locks))

    def _enlarge_lists(self, resources: int, rows: int) -> None:
        self.order = enlarge_ordered(self.order, resources, rows)
        self.waiting = lists_beside(self.order, resources, self.waiting)
        self.found = lists_beside(self.order, 1)


def _idle(resources: Table, first: int) -> Table:
    """Return a table of objects; the objects from ``first`` on have no lock."""
    for head in ("waiting_head", "waiting_tail", "group_head", "readers"):
        resources[head][first:] = -1
    return resources


@njit
def compatible(mode_a: int, group_a: int, mode_b: int, group_b: int) -> bool:
    """Tell whether two locks may cover the same bytes."""
    if mode_a == MODE_GROUP:
        return mode_b == MODE_GROUP and group_a == group_b
    return mode_a == MODE_PR and mode_b == MODE_PR


@njit
def enqueue(locks: Locks, lock_id: int) -> bool:
    """Ask for a lock: grant it at once or queue it; return whether it was granted.

    The caller has filled in ``resource``, ``owner``, ``mode``, ``group``, ``no_expand`` and the
    requested extent. A GROUP lock is for the whole object whatever was asked for: that is how
    clients ask (llite, ll_get_grouplock). Whoever has to give back a lock is listed in ``asts``
    (ldlm_process_extent_lock).
    """
    lock = locks.locks[lock_id]
    resource = locks.resources[lock.resource]
    locks.ast_count[0] = 0
    lock.ast_sent = lock.granted = 0
    if lock.mode == MODE_GROUP:
        lock.request_start, lock.request_end = 0, EOF
    lock.start, lock.end = lock.request_start, lock.request_end
    blocked = _blocked_by_granted(locks, lock_id, True)
    place = -1
    if lock.mode != MODE_GROUP:
        blocked |= _blocked_by_waiting(locks, lock_id)
    elif resource.granted_group == 0 or blocked:
        blocked |= resource.waiting_head >= 0
        place = _place_of_group(locks, lock_id)
    # else it joins the group that holds the object, past all that wait.
    if blocked:
        _wait(locks, lock_id, place)
    else:
        _grant(locks, lock_id)
    return not blocked


@njit
def is_free(locks: Locks, lock_id: int) -> bool:
    """Tell whether a request that has not been made yet would be granted at once.

    A lock asked for ahead of its use (lock-ahead, LDLM_FL_SPECULATIVE) never waits and takes
    nothing from anybody: the server drops the request unless this holds.
    """
    lock = locks.locks[lock_id]
    if _blocked_by_granted(locks, lock_id, False):
        return False
    if not _may_meet_waiting(locks, lock_id):
        return True
    row = locks.resources[lock.resource].waiting_head
    while row >= 0:
        waiter = locks.locks[row]
        if waiter.start <= lock.request_end and waiter.end >= lock.request_start:
            return False
        row = waiter.next
    return True


@njit
def reprocess(locks: Locks, resource_id: int) -> int:
    """Grant the request that has waited longest if it can be; return it, or -1.

    Call it after every cancel until it returns -1 (ldlm_reprocess_queue: the first request that
    cannot be granted ends the pass). No blocking AST comes of it: all that conflicts with a waiting
    request got one when that request was made, or will get it with its own grant.
    """
    resource = locks.resources[resource_id]
    head = resource.waiting_head
    if head < 0 or _blocked_by_granted(locks, head, False):
        return -1
    withdraw(locks, head)
    _grant(locks, head)
    return head


@njit
def withdraw(locks: Locks, lock_id: int) -> None:
    """Take a request that waits out of the queue, wherever in it it is."""
    lock = locks.locks[lock_id]
    resource = locks.resources[lock.resource]
    remove(locks.waiting, lock.resource, lock_id)
    if lock.previous >= 0:
        locks.locks[lock.previous].next = lock.next
    else:
        resource.waiting_head = lock.next
    if lock.next >= 0:
        locks.locks[lock.next].previous = lock.previous
    else:
        resource.waiting_tail = lock.previous
    resource.waiting_count -= 1


@njit
def cancel(locks: Locks, lock_id: int) -> None:
    """Take back a granted lock; the caller reprocesses its object and gives back the row."""
    lock = locks.locks[lock_id]
    resource = locks.resources[lock.resource]
    lock.granted = 0
    if lock.mode == MODE_PW:
        remove(locks.order, lock.resource, lock_id)
        resource.granted_pw -= 1
        return
    if lock.mode == MODE_PR:
        remove_interval(locks.readers, resource.readers, lock_id)
        resource.granted_pr -= 1
        return
    resource.granted_group -= 1
    if lock.previous >= 0:
        locks.locks[lock.previous].next = lock.next
    else:
        resource.group_head = lock.next
    if lock.next >= 0:
        locks.locks[lock.next].previous = lock.previous


@njit
def highest_writer(locks: Locks, resource_id: int) -> int:
    """Return the granted PW lock that starts, and so ends, last; -1 if there is none.

    Its holder knows how long the object is: a glimpse asks it, whoever it is (Lustre 2.7 ofd_dlm.c,
    ofd_intent_policy, ofd_intent_cb).
    """
    return last_not_after(locks.order, resource_id, EOF)


# ------------------------------------------------------------------------------------- conflicts


@njit
def _blocked_by_granted(locks: Locks, lock_id: int, ask: bool) -> bool:
    """Tell whether a granted lock conflicts with a request; if ``ask``, ask all of them back.

    Granted extents count, but only what the request asks for (ldlm_extent_compat_queue).
    """
    lock = locks.locks[lock_id]
    resource = locks.resources[lock.resource]
    if resource.granted_group > 0:
        # It holds the whole object, until its users release it: they are not asked.
        holder = locks.locks[resource.group_head]
        return not compatible(lock.mode, lock.group, holder.mode, holder.group)
    blocked = False
    row = _first_writer(locks, lock.resource, lock.request_start)
    while row >= 0 and locks.locks[row].start <= lock.request_end:
        if not ask:
            return True
        blocked = True
        _ask_back(locks, row)
        row = following(locks.order, lock.resource, row)
    if lock.mode == MODE_PR:
        return blocked
    return _blocked_by_readers(locks, lock_id, ask) or blocked


@njit
def _blocked_by_readers(locks: Locks, lock_id: int, ask: bool) -> bool:
    """Tell whether a granted PR lock lies over a request; if ``ask``, ask all of them back.

    The last that was granted is asked first.
    """
    lock = locks.locks[lock_id]
    heads, first, last = (
        locks.resources[lock.resource].readers,
        lock.request_start,
        lock.request_end,
    )
    row = next_over(locks.readers, heads, -1, first, last, -1)
    if not ask or row < 0:
        return row >= 0
    while row >= 0:
        if locks.locks[row].ast_sent == 0:
            insert(locks.found, 0, row, -locks.readers.youngest[row, 0])
        row = next_over(locks.readers, heads, row, first, last, -1)
    row = following(locks.found, 0, -1)
    while row >= 0:
        _ask_back(locks, row)
        row = following(locks.found, 0, row)
    empty(locks.found, 0)
    return True


@njit
def _blocked_by_waiting(locks: Locks, lock_id: int) -> bool:
    """Tell whether a PR or PW request has to wait behind another one, and ask those back.

    Overtaking a request that conflicts would keep that one waiting for ever.
    """
    if not _may_meet_waiting(locks, lock_id):
        return False
    lock = locks.locks[lock_id]
    blocked = False
    row = locks.resources[lock.resource].waiting_head
    while row >= 0:
        waiter = locks.locks[row]
        if (
            not compatible(lock.mode, lock.group, waiter.mode, waiter.group)
            and waiter.start <= lock.request_end
            and waiter.end >= lock.request_start
        ):
            blocked = True
            if waiter.mode != MODE_GROUP:
                _ask_back(locks, row)
        row = waiter.next
    return blocked


@njit
def _may_meet_waiting(locks: Locks, lock_id: int) -> bool:
    """Tell whether a request that waits may overlap another one; if not, none does.

    Thousands may wait for their own parts of an object, and none of them is anybody's concern. Of
    those that start no later than the other ends the last one is looked at: none reaches farther
    beyond its start than the longest of all.
    """
    lock = locks.locks[lock_id]
    row = last_not_after(locks.waiting, lock.resource, lock.request_end)
    if row < 0:
        return False
    longest = locks.resources[lock.resource].longest
    return lock.request_start - locks.locks[row].request_start <= longest


@njit
def _ask_back(locks: Locks, lock_id: int) -> None:
    """List a lock for a blocking AST, unless it got one before."""
    if locks.locks[lock_id].ast_sent == 0:
        locks.locks[lock_id].ast_sent = 1
        locks.asts[locks.ast_count[0]] = lock_id
        locks.ast_count[0] += 1


@njit
def _first_writer(locks: Locks, resource_id: int, start: int) -> int:
    """Return the first granted PW lock of an object that does not end before ``start``, or -1."""
    row = last_not_after(locks.order, resource_id, start)
    if row >= 0 and locks.locks[row].end >= start:
        return row
    return following(locks.order, resource_id, row)


# ----------------------------------------------------------------------------- queue and grants


@njit
def _place_of_group(locks: Locks, lock_id: int) -> int:
    """Return the request before which a GROUP request waits, or -1 for the end of the queue.

    Requests of one gid stand together, so that they are granted together; groups stand before all
    others, which they would block in any case.
    """
    lock = locks.locks[lock_id]
    row = locks.resources[lock.resource].waiting_head
    while row >= 0:
        waiter = locks.locks[row]
        if waiter.mode != MODE_GROUP:
            return row
        if waiter.group == lock.group:
            return waiter.next
        row = waiter.next
    return -1


@njit
def _wait(locks: Locks, lock_id: int, place: int) -> None:
    """Queue a request before the request ``place``, or at the end for -1."""
    lock = locks.locks[lock_id]
    resource = locks.resources[lock.resource]
    extent = lock.request_end - lock.request_start
    resource.longest = extent if resource.waiting_head < 0 else max(resource.longest, extent)
    insert(locks.waiting, lock.resource, lock_id, lock.request_start)
    resource.waiting_count += 1
    lock.next = place
    if place >= 0:
        lock.previous = locks.locks[place].previous
        locks.locks[place].previous = lock_id
    else:
        lock.previous = resource.waiting_tail
        resource.waiting_tail = lock_id
    if lock.previous >= 0:
        locks.locks[lock.previous].next = lock_id
    else:
        resource.waiting_head = lock_id


@njit
def _grant(locks: Locks, lock_id: int) -> None:
    """Settle the extent of a lock with which nothing conflicts, and add it to the granted ones."""
    expand(locks, lock_id)
    lock = locks.locks[lock_id]
    resource = locks.resources[lock.resource]
    lock.granted = 1
    if lock.mode == MODE_PW:
        insert(locks.order, lock.resource, lock_id, lock.start)
        resource.granted_pw += 1
        return
    if lock.mode == MODE_PR:
        locks.counts[1] += 1
        add_interval(
            locks.readers, resource.readers, lock_id, lock.start, lock.end, locks.counts[1]
        )
        resource.granted_pr += 1
        return
    resource.granted_group += 1
    lock.previous = -1
    lock.next = resource.group_head
    if lock.next >= 0:
        locks.locks[lock.next].previous = lock_id
    resource.group_head = lock_id


# --------------------------------------------------------------------------- the extent policy


@njit
def expand(locks: Locks, lock_id: int) -> None:
    """Grow the extent of a lock that is being granted as far as it may (ldlm_extent_policy).

    Requests for the whole object have nothing to gain; others may have asked not to grow.
    """
    lock = locks.locks[lock_id]
    if (lock.request_start == 0 and lock.request_end == EOF) or lock.no_expand:
        return
    lock.start, lock.end = 0, EOF
    policy_granted(locks, lock_id)
    policy_waiting(locks, lock_id)


@njit
def policy_granted(locks: Locks, lock_id: int) -> None:
    """Cut the extent of a PR or PW lock back to what granted locks of conflicting modes leave.

    Upwards it ends before the nearest of them. Downwards it does not grow at all if there is one,
    wherever it is: interval_expand_low looks for none but the empty tree, as programs seldom go
    backwards. (Hence the 4 of ldlm_extent_internal_policy_granted changes nothing.) Every one
    counts as a conflict, those of the same node too.
    """
    lock = locks.locks[lock_id]
    resource = locks.resources[lock.resource]
    conflicts = resource.granted_pw
    row = _first_writer(locks, lock.resource, lock.request_start)
    if row >= 0:
        lock.end = locks.locks[row].start - 1
    if lock.mode == MODE_PW:
        conflicts += resource.granted_pr
        row = first_beyond(locks.readers, resource.readers, lock.request_end)
        if row >= 0:
            lock.end = min(lock.end, locks.locks[row].start - 1)
    if conflicts > 0:
        lock.start = lock.request_start
    fixup(locks, lock_id, conflicts)


@njit
def policy_waiting(locks: Locks, lock_id: int) -> None:
    """Cut the extent of a PR or PW lock back to what the waiting requests leave.

    It spares what conflicting requests ask for, and so do compatible ones of its own node; except
    where that overlaps what it was asked for itself: one of the two must lose it in any case. With
    more than ``MANY_CONFLICTS`` it does not grow downwards at all. A waiting lock's extent is what
    it asks for, so of ldlm_extent_internal_policy_waiting two cases remain, below and above.
    """
    lock = locks.locks[lock_id]
    resource = locks.resources[lock.resource]
    if lock.mode == MODE_PW and resource.waiting_count > MANY_CONFLICTS:
        # All that wait conflict: none need be looked at but the first one above.
        lock.start = lock.request_start
        row = last_not_after(locks.waiting, lock.resource, lock.request_end)
        row = following(locks.waiting, lock.resource, row)
        if row >= 0:
            lock.end = min(lock.end, locks.locks[row].start - 1)
        fixup(locks, lock_id, resource.waiting_count)
        return
    conflicts = 0
    row = resource.waiting_head
    while row >= 0:
        if lock.start == lock.request_start and lock.end == lock.request_end:
            return
        waiter = locks.locks[row]
        row = waiter.next
        shares = compatible(lock.mode, lock.group, waiter.mode, waiter.group)
        if shares and lock.owner != waiter.owner:
            continue
        conflicts += 1
        if conflicts > MANY_CONFLICTS:
            lock.start = lock.request_start
        if waiter.end < lock.request_start:
            lock.start = max(lock.start, waiter.end + 1)
        elif waiter.start > lock.request_end:
            lock.end = min(lock.end, waiter.start - 1)
    fixup(locks, lock_id, conflicts)


@njit
def fixup(locks: Locks, lock_id: int, conflicts: int) -> None:
    """Limit a grown extent under contention, and align it as the request is aligned.

    The alignment is the largest power of two that divides where the request starts and where it
    stops, but at least a page of the server: no page is ever covered by two write locks. A request
    that is not aligned to pages keeps its own bounds where rounding would cut into it
    (ldlm_extent_internal_policy_fixup).
    """
    lock = locks.locks[lock_id]
    if conflicts > CONTENDED and lock.mode == MODE_PW:
        limit = lock.request_start + GROWN_EXTENT - 1
        if lock.request_end < limit:
            lock.end = min(lock.end, limit)
    bounds = lock.request_start
    if lock.request_end < EOF:  # the end of the object is aligned to everything
        bounds |= lock.request_end + 1
    unit = max(PAGE, bounds & -bounds)
    lock.start = min((lock.start + unit - 1) & -unit, lock.request_start)
    if lock.end < EOF:
        lock.end = max(((lock.end + 1) & -unit) - 1, lock.request_end)
