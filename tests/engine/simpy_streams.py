"""Stations, segments and windows as plain SimPy processes: what the compiled streams must equal.

Slow, and meant to be obviously right. There are two forms, because they prove different things:

* :func:`run_by_rule` is the rule as it is stated. A station knows when it will be free, and a
  message schedules its next step when its head arrives, as in the compiled loop. Both break ties by
  the order of scheduling, so they agree even where many messages meet at the very same time.
* :func:`run_with_resources` is what a SimPy user would write: each station a ``Resource``, which a
  second process holds for the time of service. Nothing in it knows when a station will be free.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

import simpy
from streams import StationSpec

Steps = Generator[simpy.Event, None, None]


@dataclass(frozen=True)
class Load:
    """Stations, routes and messages, in the form that ``make_streams`` takes."""

    stations: list[StationSpec]
    routes: list[list[list[int]]]
    orders: list[list[tuple[int, float]]]
    windows: list[int]


@dataclass
class Station:
    """A station and what it has served."""

    clock: simpy.Environment
    spec: StationSpec
    bytes: float = 0.0
    busy: float = 0.0
    waiting: float = 0.0
    requests: int = 0
    free: float = 0.0
    resource: simpy.Resource = field(init=False)

    def __post_init__(self) -> None:
        self.resource = simpy.Resource(self.clock, capacity=1)

    def count(self, size: float, waited: float) -> float:
        """Count a message; return for how long the station is held."""
        held = size * (1.0 / self.spec.rate)
        self.bytes += size
        self.busy += held
        self.waiting += waited
        self.requests += 1
        return held

    def hold(self, turn: simpy.resources.resource.Request, held: float) -> Steps:
        yield self.clock.timeout(held)
        self.resource.release(turn)


Crossing = Callable[[simpy.Environment, list[Station], float], Steps]


def cross_by_rule(clock: simpy.Environment, segment: list[Station], size: float) -> Steps:
    """Take a message of ``size`` bytes through a segment until its tail has left."""
    tail = clock.now
    for station in segment:
        start = max(clock.now, station.free)
        held = station.count(size, start - clock.now)
        station.free = start + held
        tail = max(start + held, tail + station.spec.latency)
        head = start + station.spec.latency
        yield clock.timeout((tail if station is segment[-1] else head) - clock.now)


def cross_with_resources(clock: simpy.Environment, segment: list[Station], size: float) -> Steps:
    """Do the same with a queue at each station."""
    tail = clock.now
    for station in segment:
        arrival = clock.now
        turn = station.resource.request()
        yield turn
        held = station.count(size, clock.now - arrival)
        clock.process(station.hold(turn, held))
        tail = max(clock.now + held, tail + station.spec.latency)
        if station is segment[-1]:
            yield clock.timeout(tail - clock.now)
        else:
            yield clock.timeout(station.spec.latency)


def run_by_rule(load: Load) -> tuple[list[float], list[Station]]:
    """Return when each stream was done, and the stations."""
    return _run(load, cross_by_rule)


def run_with_resources(load: Load) -> tuple[list[float], list[Station]]:
    """Return when each stream was done, and the stations."""
    return _run(load, cross_with_resources)


def _run(load: Load, cross: Crossing) -> tuple[list[float], list[Station]]:
    clock = simpy.Environment()
    stations = [Station(clock, spec) for spec in load.stations]
    finish = [0.0] * len(load.orders)

    def send(stream: int, orders: Iterator[tuple[int, float]]) -> Steps:
        for route, size in orders:
            for segment in load.routes[route]:
                yield from cross(clock, [stations[i] for i in segment], size)
            finish[stream] = clock.now

    for stream, window in enumerate(load.windows):
        orders = iter(load.orders[stream])
        for _ in range(min(window, len(load.orders[stream]))):
            clock.process(send(stream, orders))
    clock.run()
    return finish, stations
