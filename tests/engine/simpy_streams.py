"""The rule of stations, segments and windows written down as plain SimPy processes.

Slow and meant to be obviously right: what the compiled streams have to agree with. Two forms, for
two purposes:

* :func:`run_by_rule` is the rule in words of arithmetic: a station knows when it will be free. A
  message asks for service when its head arrives, and that is when its next step is scheduled, as in
  the compiled loop; so both break ties alike.
* :func:`run_with_resources` is what a SimPy user would write: a ``Resource`` for each station,
  held by a process of its own. Nothing in it knows when a station will be free.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import simpy

from sim.engine.streams import StationSpec

Steps = Generator[simpy.Event, None, None]


@dataclass(frozen=True)
class Network:
    """Stations, routes and loads, in the form that ``make_streams`` takes."""

    stations: list[StationSpec]
    routes: list[list[list[int]]]
    orders: list[list[tuple[int, float]]]
    windows: list[int]


@dataclass
class Outcome:
    """When each stream was done, and what each station has served."""

    finish: list[float]
    bytes: list[float]
    busy: list[float]
    waiting: list[float]
    requests: list[int]


@dataclass
class _Run:
    network: Network
    outcome: Outcome = field(init=False)
    clock: simpy.Environment = field(default_factory=simpy.Environment)

    def __post_init__(self) -> None:
        stations, streams = len(self.network.stations), len(self.network.orders)
        self.outcome = Outcome(
            [0.0] * streams, [0.0] * stations, [0.0] * stations, [0.0] * stations, [0] * stations
        )

    def run(self) -> Outcome:
        for stream, window in enumerate(self.network.windows):
            orders = iter(self.network.orders[stream])
            for _ in range(min(window, len(self.network.orders[stream]))):
                self.clock.process(self.slot(stream, orders))
        self.clock.run()
        return self.outcome

    def slot(self, stream: int, orders: Iterator_) -> Steps:
        """One of the messages that a stream may have under way: sends the next when it is there."""
        for route, size in orders:
            for segment in self.network.routes[route]:
                yield from self.segment(segment, size)
            self.outcome.finish[stream] = self.clock.now

    def segment(self, segment: list[int], size: float) -> Steps:
        raise NotImplementedError
