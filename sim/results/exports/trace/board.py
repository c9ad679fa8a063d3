"""The board that a trace is put together on: its events in Chrome's format, its groups and lanes.

What overlaps stands side by side in lanes, what lies within stands below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from xc40io.engine.types import Floats, Integers

Event = dict[str, Any]
"""A trace event: what JSON says of it."""

_NANO_A_MICRO = 1000


COUNTERS = 1
"""The group of the counters."""
NODES, ROUTERS, OSSES, OSTS, MDSES = 1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000
"""The first numbers of groups; a group stands where its number puts it."""
RPC_LANES = 1_000_000
"""The number of the first lane of a node that shows RPCs; before it stand its ranks."""

_NANO = 1e9


class Lane(NamedTuple):
    """A line of a trace: what Chrome calls a thread of a process."""

    group: int  # number of the process: a node, a router, a server
    number: int  # of the line in it


def micros(nanoseconds: int) -> float:
    """Return a time as the format has it: in microseconds."""
    return nanoseconds / _NANO_A_MICRO


def slice_event(
    lane: Lane, name: str, kind: str, start: int, end: int, said: Mapping[str, Any]
) -> Event:
    """Return a slice of a lane, `start` and `end` in nanoseconds; `said` is shown on a click."""
    return {
        "ph": "X",
        "name": name,
        "cat": kind,
        "pid": lane.group,
        "tid": lane.number,
        "ts": micros(start),
        "dur": micros(end - start),
        "args": dict(said),
    }


def arrow_event(phase: str, number: int, lane: Lane, time: int) -> Event:
    """Return a place that an arrow passes: its start ``s``, a step ``t``, its end ``f``.

    It belongs to the slice of that lane at that time, in nanoseconds.
    """
    event: Event = {
        "ph": phase,
        "name": "RPC",
        "cat": "rpc",
        "id": number,
        "pid": lane.group,
        "tid": lane.number,
        "ts": micros(time),
    }
    if phase == "f":
        event["bp"] = "e"  # it ends in the slice around it, not in the next one
    return event


def counter_event(group: int, name: str, time: int, values: Mapping[str, float]) -> Event:
    """Return the values of a counter from a time on, in nanoseconds."""
    return {
        "ph": "C",
        "name": name,
        "pid": group,
        "tid": 0,
        "ts": micros(time),
        "args": dict(values),
    }


def group_events(group: int, name: str) -> list[Event]:
    """Return the events that name a group and put it in its place."""
    return [
        _about("process_name", Lane(group, 0), name=name),
        _about("process_sort_index", Lane(group, 0), sort_index=group),
    ]


def lane_events(lane: Lane, name: str) -> list[Event]:
    """Return the events that name a lane and put it in its place."""
    return [
        _about("thread_name", lane, name=name),
        _about("thread_sort_index", lane, sort_index=lane.number),
    ]


def _about(what: str, lane: Lane, **said: Any) -> Event:
    return {
        "ph": "M",
        "name": what,
        "pid": lane.group,
        "tid": lane.number,
        "ts": 0,
        "args": said,
    }


class Board:
    """Events, and the names of the groups and lanes that they stand in."""

    def __init__(self) -> None:
        self._groups: dict[int, str] = {}
        self._lanes: dict[Lane, str] = {}
        self._events: list[Event] = []

    def lane(self, group: int, group_name: str, number: int, name: str) -> Lane:
        """Return a lane, which has these names from now on."""
        self._groups.setdefault(group, group_name)
        lane = Lane(group, number)
        self._lanes.setdefault(lane, name)
        return lane

    def group(self, number: int, name: str) -> None:
        """Name a group."""
        self._groups.setdefault(number, name)

    def add(self, event: Event) -> None:
        """Add an event."""
        self._events.append(event)

    def events(self) -> Iterator[Event]:
        """Yield the names, then all events by time, a slice before what lies within it."""
        for group in sorted(self._groups):
            yield from group_events(group, self._groups[group])
        for lane in sorted(self._lanes):
            yield from lane_events(lane, self._lanes[lane])
        yield from sorted(self._events, key=lambda event: (event["ts"], -event.get("dur", 0.0)))


def nanoseconds(seconds: Floats) -> Integers:
    """Return times as whole nanoseconds: what touches in seconds touches here, too."""
    return np.rint(seconds * _NANO).astype(np.int64)


def lanes(start: Integers, end: Integers) -> Integers:
    """Put intervals into lanes so that in none of them two overlap.

    ``start`` and ``end``: int64 (n,): when each begins and ends.

    Returns
    -------
    Integers
        int64 (n,): the lane of each, from 0; as few as there are intervals at once.
    """
    found = np.zeros(len(start), np.int64)
    used = 0
    free: list[int] = []
    busy: list[tuple[int, int]] = []  # until when, which lane
    for place in np.lexsort((end, start)).tolist():
        while busy and busy[0][0] <= start[place]:
            heappush(free, heappop(busy)[1])
        if free:
            lane = heappop(free)
        else:
            lane, used = used, used + 1
        heappush(busy, (int(end[place]), lane))
        found[place] = lane
    return found


def lanes_by(key: Integers, start: Integers, end: Integers) -> Integers:
    """Return :func:`lanes` of the intervals of each key by themselves."""
    found = np.zeros(len(start), np.int64)
    for one in np.unique(key).tolist():
        mine = key == one
        found[mine] = lanes(start[mine], end[mine])
    return found


def cut(start: int, end: int, borders: Integers) -> list[tuple[int, int]]:
    """Cut an interval at all borders (ascending) that lie within it."""
    inner = borders[np.searchsorted(borders, start, "right") : np.searchsorted(borders, end)]
    edges = [start, *dict.fromkeys(inner.tolist()), end]
    return list(pairwise(edges))
