"""The board that a trace is put together on: its groups and lanes, and all their events."""

from __future__ import annotations

from collections.abc import Iterator

from sim.results.exports.trace.events import Event, Lane, group_events, lane_events

COUNTERS = 1
"""The group of the counters."""

NODES, ROUTERS, OSSES, OSTS, MDSES = 1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000
"""The first numbers of groups; a group stands where its number puts it."""

RPC_LANES = 1_000_000
"""The number of the first lane of a node that shows RPCs; before it stand its ranks."""


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
