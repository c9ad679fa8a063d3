"""The calendar of the data plane: which entity acts next, and when.

A four-ary heap over two arrays, ordered by time and, at equal times, by the order in which the
events were scheduled: the same rule as SimPy's, so both planes break ties alike. Four children a
node keep the heap shallow and a node's children in one cache line.

An event belongs to an *entity*: a kind (what it is) and an index (which one). An entity has at most
one event pending, so the heap never holds more events than there are entities.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sim.engine.jit import njit
from sim.engine.types import Floats, Integers

INDEX_BITS = 25
KIND_BITS = 3
ENTITY_BITS = INDEX_BITS + KIND_BITS
_INDEX_MASK = (1 << INDEX_BITS) - 1
_ENTITY_MASK = (1 << ENTITY_BITS) - 1

MAX_INDEX = _INDEX_MASK
"""Largest index of an entity of one kind (33,554,431)."""


class Calendar(NamedTuple):
    """Heap of pending events.

    ``times`` (s) and ``keys`` (sequence number, kind and index packed into one integer) are
    parallel; ``counts`` holds the number of pending events and the next sequence number.
    """

    times: Floats
    keys: Integers
    counts: Integers


def make_calendar(capacity: int) -> Calendar:
    """Return an empty calendar with room for ``capacity`` pending events."""
    return Calendar(np.zeros(capacity), np.zeros(capacity, np.int64), np.zeros(2, np.int64))


def enlarge_calendar(calendar: Calendar, capacity: int) -> Calendar:
    """Return the same calendar with room for ``capacity`` pending events."""
    larger = make_calendar(capacity)
    size = int(calendar.counts[0])
    larger.times[:size] = calendar.times[:size]
    larger.keys[:size] = calendar.keys[:size]
    larger.counts[:] = calendar.counts
    return larger


@njit
def pending(calendar: Calendar) -> int:
    """Return the number of pending events."""
    return calendar.counts[0]


@njit
def next_time(calendar: Calendar) -> float:
    """Return the time of the next event in seconds; infinity when there is none."""
    return calendar.times[0] if calendar.counts[0] > 0 else np.inf


@njit
def next_kind(calendar: Calendar) -> int:
    """Return the kind of the entity that acts next."""
    return (calendar.keys[0] >> INDEX_BITS) & ((1 << KIND_BITS) - 1)


@njit
def next_index(calendar: Calendar) -> int:
    """Return the index of the entity that acts next."""
    return calendar.keys[0] & _INDEX_MASK


@njit
def schedule(calendar: Calendar, time: float, kind: int, index: int) -> None:
    """Add the event of entity (``kind``, ``index``) at ``time`` seconds."""
    times, keys, counts = calendar
    hole = counts[0]
    counts[0] += 1
    key = (counts[1] << ENTITY_BITS) | (kind << INDEX_BITS) | index
    counts[1] += 1
    while hole > 0:
        parent = (hole - 1) >> 2
        # A new event carries the largest sequence number: it rises only past later times.
        if times[parent] <= time:
            break
        times[hole] = times[parent]
        keys[hole] = keys[parent]
        hole = parent
    times[hole] = time
    keys[hole] = key


@njit
def _sink(calendar: Calendar, time: float, key: int) -> None:
    """Place an event at the top and let it sink to where it belongs."""
    times, keys, counts = calendar
    size = counts[0]
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
def reschedule_next(calendar: Calendar, time: float) -> None:
    """Move the entity that acts next to a later ``time``: cheaper than removing and adding it."""
    counts = calendar.counts
    key = (counts[1] << ENTITY_BITS) | (calendar.keys[0] & _ENTITY_MASK)
    counts[1] += 1
    _sink(calendar, time, key)


@njit
def drop_next(calendar: Calendar) -> None:
    """Remove the event that is due next."""
    counts = calendar.counts
    counts[0] -= 1
    last = counts[0]
    if last > 0:
        _sink(calendar, calendar.times[last], calendar.keys[last])
