"""Events of a trace in Chrome's trace event format, and the board that it is put together on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Event = dict[str, Any]
"""A trace event: what JSON says of it."""

_NANO_A_MICRO = 1000


COUNTERS = 1
"""The group of the counters."""
NODES, ROUTERS, OSSES, OSTS, MDSES = 1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000
"""The first numbers of groups; a group stands where its number puts it."""
RPC_LANES = 1_000_000
"""The number of the first lane of a node that shows RPCs; before it stand its ranks."""


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
    """Return what was done from when to when, in nanoseconds; `said` is shown on a click."""
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
