"""The calendar of the data plane: which entity acts next, and when.

Events come by time and, at equal times, in the order in which they were scheduled: the same rule as
SimPy's, so both planes break ties alike.

Thousands of events are pending, most of them far in the future, while the next few follow each
other within a microsecond; one heap over all of them would cost more than everything else that an
event does. So time is cut into *slots* of equal width. The events of the present slot, and of any
earlier one, stand in a small heap; those of later slots wait unsorted in a ring of lists, one list
a slot, and those beyond the ring in one list more. When the heap is empty the next slot's events
move into it (R. Brown, "Calendar Queues", CACM 31(10), 1988, with a heap for the present day). The
width follows the load: a slot should hold a few events.

An event belongs to an *entity*: a kind (what it is) and an index (which one). An entity has at most
one event pending, so the calendar never holds more events than there are entities.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xc40io.engine.compiled import inlined, njit
from xc40io.engine.pool import FREE, Pool, give, live_rows, make_pool, take
from xc40io.engine.prefetch import prefetch
from xc40io.engine.types import Floats, Indices, Integers, Table, as_bytes, make_table, zeros

INDEX_BITS = 25
KIND_BITS = 4
ENTITY_BITS = INDEX_BITS + KIND_BITS
_INDEX_MASK = (1 << INDEX_BITS) - 1
_ENTITY_MASK = (1 << ENTITY_BITS) - 1

MAX_INDEX = _INDEX_MASK
"""Largest index of an entity of one kind (33,554,431)."""

_FIRST_WIDTH = 1e-6  # seconds
_SMALLEST_RING = 4096

# What `counts` holds.
_NEAR = 0  # events in the heap
_RING = 1  # events in the lists of the ring
_BEYOND = 2  # events in the list beyond the ring
_SEQUENCE = 3  # the next sequence number
_SLOT = 4  # the present slot
_CHECKED_SEQUENCE = 5  # both when the width was last looked at
_CHECKED_SLOT = 6
_FARTHEST = 7  # the last slot that is within sight

_SIGHT = 6  # slots from the present one to the farthest within sight

_JUST_BELOW_ONE = 1.0 - 1e-12

_LATER = np.dtype(  # an event that waits: what is read of it together lies together
    [("time", "f8"), ("key", "i8"), ("next", "i4")], align=True
)


class Calendar(NamedTuple):
    """Pending events.

    ``times`` (s) and ``keys`` (sequence number, kind and index packed into one integer) are the
    heap; ``later`` the events that wait in lists, in rows that ``spare`` hands out. ``lists`` holds
    the first row of each list, -1 where it is empty: the ring, then the list beyond it. ``counts``
    holds numbers of events and of slots; ``width`` the width of a slot in seconds and one over it.
    """

    times: Floats
    keys: Integers
    later: Table
    spare: Pool
    lists: Indices
    counts: Integers
    width: Floats


def make_calendar(capacity: int) -> Calendar:
    """Return an empty calendar with room for ``capacity`` pending events."""
    # Far fewer are pending than might be.
    ring = 1 << max(capacity // 4, _SMALLEST_RING).bit_length()
    return Calendar(
        times=zeros(capacity, np.float64),
        keys=zeros(capacity, np.int64),
        later=make_table(_LATER, capacity),
        spare=make_pool(capacity),
        lists=np.full(ring + 1, -1, np.int32),
        counts=np.zeros(8, np.int64),
        width=np.array([_FIRST_WIDTH, 1.0 / _FIRST_WIDTH]),
    )


def enlarge_calendar(calendar: Calendar, capacity: int) -> Calendar:
    """Return the same calendar with room for ``capacity`` pending events."""
    larger = make_calendar(capacity)
    larger.width[:] = calendar.width
    larger.counts[:] = calendar.counts
    near = calendar.counts[_NEAR]
    larger.times[:near] = calendar.times[:near]
    larger.keys[:near] = calendar.keys[:near]
    waits = live_rows(calendar.spare)
    waiting = len(waits)
    as_bytes(larger.later)[:waiting] = as_bytes(calendar.later)[waits]
    larger.spare.counts[FREE] -= waiting  # the first rows are handed out first
    _relink_all(larger, waiting)
    return larger


def _relink_all(calendar: Calendar, waiting: int) -> None:
    """Put the events in the first rows into the lists of their slots, which are empty."""
    ring = len(calendar.lists) - 1
    slots = (calendar.later.time[:waiting] * calendar.width[1]).astype(np.int64)
    within = slots - calendar.counts[_SLOT] < ring
    calendar.counts[_RING] = np.count_nonzero(within)
    calendar.counts[_BEYOND] = waiting - calendar.counts[_RING]
    place = np.where(within, slots & (ring - 1), ring)
    rows = np.argsort(place, kind="stable")
    ends = np.flatnonzero(np.diff(place[rows], append=-1))  # where a list has its last row
    calendar.later.next[rows[:-1]] = rows[1:]
    calendar.later.next[rows[ends]] = -1
    begins = np.flatnonzero(np.diff(place[rows], prepend=-1))
    calendar.lists[place[rows[begins]]] = rows[begins]


@inlined
def pending(calendar: Calendar) -> int:
    """Return the number of pending events."""
    counts = calendar.counts
    return counts[_NEAR] + counts[_RING] + counts[_BEYOND]


@inlined
def next_time(calendar: Calendar) -> float:
    """Return the time of the next event in seconds; infinity when there is none."""
    return calendar.times[0] if calendar.counts[_NEAR] > 0 else np.inf


@inlined
def next_kind(calendar: Calendar) -> int:
    """Return the kind of the entity that acts next."""
    return kind_of(calendar.keys[0])


@inlined
def next_index(calendar: Calendar) -> int:
    """Return the index of the entity that acts next."""
    return index_of(calendar.keys[0])


@inlined
def is_alone(calendar: Calendar, time: float) -> bool:
    """Tell whether surely nothing acts up to ``time`` (s) but the entity that acts next."""
    # All that is not in the heap is in later slots, of which the borders are rounded.
    first = (calendar.counts[_SLOT] + 1) * calendar.width[0] * _JUST_BELOW_ONE
    if time < first:  # else the heap need not be looked at
        for child in range(1, min(calendar.counts[_NEAR], 5)):
            first = min(first, calendar.times[child])
    return time < first


@inlined
def kind_of(key: int) -> int:
    """Return the kind of the entity of a key."""
    return (key >> INDEX_BITS) & ((1 << KIND_BITS) - 1)


@inlined
def index_of(key: int) -> int:
    """Return the index of the entity of a key."""
    return key & _INDEX_MASK


@inlined
def sees_farther(calendar: Calendar) -> bool:
    """Tell whether a slot has come close that was not within sight yet; see :func:`in_sight`."""
    counts = calendar.counts
    return counts[_FARTHEST] < counts[_SLOT] + _SIGHT


@njit
def look_farther(calendar: Calendar) -> None:
    """Bring one slot more within sight."""
    counts = calendar.counts
    counts[_FARTHEST] = max(counts[_FARTHEST], counts[_SLOT]) + 1
    # The first row of a slot that comes into sight only later on.
    prefetch(calendar.later, max(in_sight(calendar, -_SIGHT), 0))


@inlined
def in_sight(calendar: Calendar, nearer: int) -> int:
    """Return the row in ``later`` of the first event, or -1, of the farthest slot within sight.

    Or of the one so many slots nearer. What is put into a slot that is within sight is not seen by
    who looks at each slot once; it is due at once.
    """
    lists = calendar.lists
    return lists[(calendar.counts[_FARTHEST] - nearer) & (len(lists) - 2)]


@njit
def schedule(calendar: Calendar, time: float, kind: int, index: int) -> None:
    """Add the event of entity (``kind``, ``index``) at ``time`` seconds."""
    counts = calendar.counts
    # The sequence number is on top: keys of equal times compare in the order of scheduling.
    key = (counts[_SEQUENCE] << ENTITY_BITS) | (kind << INDEX_BITS) | index
    counts[_SEQUENCE] += 1
    slot = int(time * calendar.width[1])
    if counts[_NEAR] == 0:  # nothing is pending
        _jump(calendar, slot)
    if slot <= counts[_SLOT]:
        _rise(calendar, time, key)
    else:
        _put_off(calendar, slot, time, key)


@njit
def reschedule_next(calendar: Calendar, time: float) -> None:
    """Move the entity that acts next to a later ``time``: cheaper than removing and adding it."""
    counts = calendar.counts
    key = (counts[_SEQUENCE] << ENTITY_BITS) | (calendar.keys[0] & _ENTITY_MASK)
    counts[_SEQUENCE] += 1
    slot = int(time * calendar.width[1])  # a product: the division would cost more
    if slot <= counts[_SLOT]:
        _sink(calendar, time, key)
    else:
        # In this order: if it was the last of the heap, the calendar turns to the next slot, which
        # may be that of the event.
        _put_off(calendar, slot, time, key)
        drop_next(calendar)


@njit
def drop_next(calendar: Calendar) -> None:
    """Remove the event that is due next."""
    counts = calendar.counts
    counts[_NEAR] -= 1
    last = counts[_NEAR]
    if last > 0:
        _sink(calendar, calendar.times[last], calendar.keys[last])
    elif counts[_RING] + counts[_BEYOND] > 0:
        _turn_to_next_slot(calendar)


@njit
def _rise(calendar: Calendar, time: float, key: int) -> None:
    """Add an event to the heap: it rises to where it belongs."""
    # Four children a node: half the levels of a binary heap, and siblings lie in one or two lines
    # of the cache. Parents move down into the hole; the event is written once.
    times, keys = calendar.times, calendar.keys
    hole = calendar.counts[_NEAR]
    calendar.counts[_NEAR] += 1
    while hole > 0:
        parent = (hole - 1) >> 2
        if times[parent] < time or (times[parent] == time and keys[parent] < key):
            break
        times[hole] = times[parent]
        keys[hole] = keys[parent]
        hole = parent
    times[hole] = time
    keys[hole] = key


@njit
def _sink(calendar: Calendar, time: float, key: int) -> None:
    """Put an event in place of the heap's first one: it sinks to where it belongs."""
    times, keys = calendar.times, calendar.keys
    size = calendar.counts[_NEAR]
    hole = 0
    while True:
        child = 4 * hole + 1
        if child >= size:
            break
        best = child
        for other in range(child + 1, min(child + 4, size)):
            if times[other] < times[best] or (
                times[other] == times[best] and keys[other] < keys[best]
            ):
                best = other
        if times[best] > time or (times[best] == time and keys[best] > key):
            break
        times[hole] = times[best]
        keys[hole] = keys[best]
        hole = best
    times[hole] = time
    keys[hole] = key


@njit
def _put_off(calendar: Calendar, slot: int, time: float, key: int) -> None:
    """Put an event of a later slot into the list of that slot."""
    row = take(calendar.spare)
    calendar.later[row].time = time
    calendar.later[row].key = key
    _link(calendar, slot, row)


@njit
def _link(calendar: Calendar, slot: int, row: int) -> None:
    """Put the row of a waiting event into the list of its slot."""
    lists, counts = calendar.lists, calendar.counts
    ring = len(lists) - 1
    if slot - counts[_SLOT] < ring:
        place = slot & (ring - 1)
        counts[_RING] += 1
    else:
        place = ring
        counts[_BEYOND] += 1
    calendar.later[row].next = lists[place]
    lists[place] = row


@njit
def _turn_to_next_slot(calendar: Calendar) -> None:
    """Go on to the next slot that has events, and move these into the heap, which is empty."""
    lists, counts = calendar.lists, calendar.counts
    ring = len(lists) - 1
    _adapt_width(calendar)
    while counts[_NEAR] == 0:
        if counts[_RING] == 0:
            _jump(calendar, _first_slot_beyond(calendar))
            _relink(calendar, ring)
        else:
            counts[_SLOT] += 1
            # Once round the ring: what waited beyond it may be within it now.
            if counts[_SLOT] & (ring - 1) == 0:
                _relink(calendar, ring)
        row = _cut(calendar, counts[_SLOT] & (ring - 1))
        while row >= 0:
            event = calendar.later[row]
            _rise(calendar, event.time, event.key)
            give(calendar.spare, row)
            counts[_RING] -= 1
            row = event.next  # a row given back keeps its link until it is taken


@njit
def _jump(calendar: Calendar, slot: int) -> None:
    """Make ``slot`` the present one without a step through those between."""
    counts = calendar.counts
    counts[_CHECKED_SLOT] += slot - counts[_SLOT]  # slots passed over say nothing of the width
    counts[_SLOT] = counts[_FARTHEST] = slot


@njit
def _cut(calendar: Calendar, place: int) -> int:
    """Empty a list; return its first row."""
    row = calendar.lists[place]
    calendar.lists[place] = -1
    return row


@njit
def _first_slot_beyond(calendar: Calendar) -> int:
    """Return the first slot that has an event, if all wait beyond the ring."""
    row = calendar.lists[len(calendar.lists) - 1]
    first = np.inf
    while row >= 0:
        first = min(first, calendar.later[row].time)
        row = calendar.later[row].next
    return int(first * calendar.width[1])


@njit
def _relink(calendar: Calendar, place: int) -> None:
    """Take the events out of a list and put each into the list where it belongs by now."""
    row = _cut(calendar, place)
    counts = calendar.counts
    which = _BEYOND if place == len(calendar.lists) - 1 else _RING
    while row >= 0:
        following = calendar.later[row].next
        counts[which] -= 1
        _link(calendar, int(calendar.later[row].time * calendar.width[1]), row)
        row = following


@njit
def _adapt_width(calendar: Calendar) -> None:
    """Now and then, see whether a slot holds a few events; if not, change the width of all."""
    counts, width = calendar.counts, calendar.width
    ring = len(calendar.lists) - 1
    events = counts[_SEQUENCE] - counts[_CHECKED_SEQUENCE]
    slots = counts[_SLOT] - counts[_CHECKED_SLOT]
    if events + slots < 4 * ring:  # rarely enough: a change visits the whole ring
        return
    factor = 0.25 if events > 16 * slots else 4.0 if events < 2 * slots else 1.0
    counts[_CHECKED_SEQUENCE] = counts[_SEQUENCE]
    counts[_CHECKED_SLOT] = counts[_SLOT]
    if factor == 1.0:
        return
    # All that waits goes beyond the ring. The slots have new numbers, and the present one an old
    # number; it is put right by the jump to the first event, which follows as the ring is empty.
    for place in range(ring):
        row = _cut(calendar, place)
        while row >= 0:
            following = calendar.later[row].next
            calendar.later[row].next = calendar.lists[ring]
            calendar.lists[ring] = row
            row = following
    counts[_BEYOND] += counts[_RING]
    counts[_RING] = 0
    width[0] *= factor
    width[1] = 1.0 / width[0]
