"""Two plain SimPy models of the work that the data plane does, to measure it against.

Both move the RPCs of one IOR write through the stations of Theta's path: NIC, Aries links, LNET
router, InfiniBand link, OSS, OST. They do less than the data plane: the route and the LNET router
are fixed beforehand, there is no OSC with its limit, and nobody's waiting is accounted for.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import simpy

from xc40io.config.machine import load_machine
from xc40io.run.fabric import fabric_of
from xc40io.topology import candidate_routes, place

MIB = 1 << 20


class Station(NamedTuple):
    held: float  # seconds that a message of 1 MiB is served
    latency: float  # seconds to the next station


@dataclass(frozen=True)
class Work:
    """``paths[rank]`` holds the stations that each RPC of a rank passes, one RPC after the other.

    A path is a row of segments: messages cut through the stations of one, and are stored between.
    """

    stations: list[Station]
    paths: list[list[list[list[int]]]]

    @property
    def rpcs(self) -> int:
        return sum(len(paths) for paths in self.paths)

    @property
    def hops(self) -> float:
        hops = sum(len(part) for paths in self.paths for path in paths for part in path)
        return hops / self.rpcs


def theta_write(nodes: int, ppn: int, rpcs: int, stripe_count: int) -> Work:
    """Let every rank write ``rpcs`` MiB to one file with stripes of 1 MiB, one after the other."""
    machine = load_machine("theta")
    fabric, lnet, lustre = fabric_of(machine), machine.lnet, machine.lustre
    nic, network = machine.network.nic_rate, machine.network
    stations = [Station(MIB / nic, network.nic_latency)] * nodes
    first_link = len(stations)
    stations += [
        Station(MIB / rate, latency)
        for rate, latency in zip(
            fabric.link_rate.tolist(), fabric.link_latency.tolist(), strict=True
        )
    ]
    first_router = len(stations)
    stations += [Station(MIB / nic, network.nic_latency)] * lnet.routers
    first_port = len(stations)
    ports = lnet.routers * lnet.ib_links_per_router
    stations += [Station(MIB / lnet.ib_link_rate, lnet.ib_latency + lnet.router_latency)] * ports
    first_oss = len(stations)
    stations += [Station(MIB / lustre.oss_rate, 0.0)] * lustre.oss_count
    first_ost = len(stations)
    array = lustre.ost_request_overhead + MIB / lustre.ost_write_rate
    stations += [Station(array, 0.0)] * lustre.osts

    job = place("contiguous", nodes, fabric)
    sources = np.repeat(fabric.compute_router[job], lnet.routers)
    routes = candidate_routes(fabric, sources, np.tile(fabric.lnet_router, nodes), seed=1)

    def path(node: int, ost: int, turn: int) -> list[list[int]]:
        oss = ost // lustre.osts_per_oss
        group = oss // lnet.oss_per_group
        router = group * lnet.routers_per_group + turn % lnet.routers_per_group
        port = router * lnet.ib_links_per_router + turn % lnet.ib_links_per_router
        links = routes.route(node * lnet.routers + router, turn % 2) + first_link
        return [
            [node, *links.tolist(), first_router + router],
            [first_port + port, first_oss + oss],
            [first_ost + ost],
        ]

    paths = [
        [path(rank // ppn, (rank * rpcs + i) % stripe_count, rank + i) for i in range(rpcs)]
        for rank in range(nodes * ppn)
    ]
    return Work(stations, paths)


def process_per_rpc(work: Work) -> int:
    """The way SimPy is taught: a ``Resource`` for each station, a process for each RPC.

    Simplified in favour of speed: each station is left before the next one is entered. Returns the
    number of events.
    """
    clock = simpy.Environment()
    resources = [simpy.Resource(clock) for _ in work.stations]

    def rpc(path: list[list[int]]) -> Generator[simpy.Event, None, None]:
        for segment in path:
            for number in segment:
                with resources[number].request() as turn:
                    yield turn
                    yield clock.timeout(work.stations[number].held)

    def rank(paths: list[list[list[int]]]) -> Generator[simpy.Event, None, None]:
        for path in paths:
            yield clock.process(rpc(path))

    for paths in work.paths:
        clock.process(rank(paths))
    clock.run()
    return _events(clock)


class _LeanRank:
    """A rank as a callback: one SimPy event for each station, and nothing else."""

    def __init__(self, clock: simpy.Environment, work: Work, free: list[float], rank: int) -> None:
        self._clock = clock
        self._stations = work.stations
        self._free = free
        self._paths = iter(work.paths[rank])
        self._segments = iter(())
        self._segment: list[int] = []
        self._position = 0
        self._tail = 0.0
        self.step(None)

    def step(self, _: simpy.Event | None) -> None:
        now = self._clock.now
        if self._position == len(self._segment):
            segment = next(self._segments, None)
            while segment is None:
                path = next(self._paths, None)
                if path is None:
                    return
                self._segments = iter(path)
                segment = next(self._segments, None)
            self._segment, self._position, self._tail = segment, 0, now
        number = self._segment[self._position]
        held, latency = self._stations[number]
        start = max(now, self._free[number])
        end = self._free[number] = start + held
        self._tail = max(end, self._tail + latency)
        self._position += 1
        last = self._position == len(self._segment)
        due = self._tail if last else start + latency
        self._clock.timeout(due - now).callbacks.append(self.step)


def lean_callbacks(work: Work) -> int:
    """The fast way with SimPy: callbacks, and stations that know when they will be free.

    Returns the number of events.
    """
    clock = simpy.Environment()
    free = [0.0] * len(work.stations)
    for rank in range(len(work.paths)):
        _LeanRank(clock, work, free, rank)
    clock.run()
    return _events(clock)


def _events(clock: simpy.Environment) -> int:
    """Return how many events an environment has scheduled."""
    return int(next(clock._eid))
