"""The journeys of BRW RPCs, from the OSC to the disks of the OST and back.

A recording knows when the bulk of an RPC leaves its sender, when LNET routers have stored it, when
it arrives, and for how long its last part was held up at the stations of each kind. What is left
is spread evenly over the ways between them. Which groups of the dragonfly it passes between that of
its node and that of its LNET router is not recorded: it is drawn as going from one to the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from xc40io.config.machine import Machine
from xc40io.lustre.net.lnet import control_latency
from xc40io.plane.recorder import Records
from xc40io.results.animation.journeys import Doing, Journey, JourneyKind, Stop
from xc40io.results.animation.stage import PlaceKind, Stage
from xc40io.run.fabric import fabric_of

_LEFT, _RIGHT, _INSIDE = Doing.LEFT, Doing.RIGHT, Doing.INSIDE
_ARIES, _SERVERS, _WHOLE = ("at_nic", "at_lnet"), ("at_ib", "at_oss"), ("at_nic", "at_oss")


class _Transfers(NamedTuple):
    """Seconds that the last part of a bulk takes at the slowest station of a segment, at most."""

    aries: float
    servers: float


class _Way(NamedTuple):
    """The places of an RPC."""

    node: int
    group: int
    far: int  # the group of the router, or of the OSS
    router: int | None  # None: the OSS is on the network itself
    oss: int
    ost: int

    @property
    def routers(self) -> tuple[int, ...]:
        """The router, if there is one."""
        return () if self.router is None else (self.router,)


def bulk_journeys(stage: Stage, machine: Machine, rpcs: Records) -> Iterator[Journey]:
    """Yield the journey of each ``RPC`` record."""
    latency, size, lnet = control_latency(machine), machine.message_size, machine.lnet
    links = float(fabric_of(machine).link_rate.min())
    aries = 1.0 / min(machine.network.nic_rate, links)
    links_behind = machine.lustre.oss_rate if lnet is None else lnet.ib_link_rate
    servers = 1.0 / min(links_behind, machine.lustre.oss_rate)
    for rpc in rpcs:
        last_part = (int(rpc["bytes"]) - 1) % size + 1
        transfers = _Transfers(last_part * aries, last_part * servers)
        journey_of = _write if rpc["write"] else _read
        way = _straight(stage, rpc) if lnet is None else _way(stage, rpc)
        yield journey_of(rpc, way, transfers, latency)


def _way(stage: Stage, rpc: Any) -> _Way:
    """Return the places of an RPC; one whose router is not known yet stays on this side of it."""
    node, ost = stage.node[rpc["node"]], stage.find(PlaceKind.OST, rpc["ost"])
    group, gateway = stage.within(node), int(rpc["gateway"])
    router = stage.find(PlaceKind.ROUTER, gateway) if gateway >= 0 else group
    far = stage.within(router) if gateway >= 0 else group
    return _Way(node, group, far, router, stage.within(ost), ost)


def _straight(stage: Stage, rpc: Any) -> _Way:
    """Return the places of an RPC to an OSS on the network itself."""
    node, ost = stage.node[rpc["node"]], stage.find(PlaceKind.OST, rpc["ost"])
    oss = stage.within(ost)
    return _Way(node, stage.within(node), stage.within(oss), None, oss, ost)


def _write(rpc: Any, way: _Way, transfers: _Transfers, latency: float) -> Journey:
    """Return the journey of a write: the OSS fetches the bulk, writes it and replies."""
    journey = Journey(JourneyKind.WRITE, "write", int(rpc["bytes"]), float(rpc["start"]), way.node)
    journey.stay(float(rpc["left"]), _INSIDE)
    nic, entry = _waits(rpc, _WHOLE if way.router is None else _ARIES, transfers.aries)
    out = [
        Stop(way.node, _RIGHT, nic),
        Stop(way.group, _INSIDE, float(rpc["at_link"])),
        Stop(way.far, _INSIDE),
    ]
    if way.router is None:
        out += [Stop(way.oss, _LEFT, entry), Stop(way.ost, _LEFT)]
        journey.pass_through(float(rpc["arrived"]), out)
    else:
        journey.pass_through(float(rpc["routed"]), [*out, Stop(way.router, _LEFT, entry)])
        ib, oss = _waits(rpc, _SERVERS, transfers.servers)
        servers = [Stop(way.router, _RIGHT, ib), Stop(way.oss, _LEFT, oss), Stop(way.ost, _LEFT)]
        journey.pass_through(float(rpc["arrived"]), servers)
    journey.stay(float(rpc["begun"]), _LEFT)
    ended = float(rpc["ended"])
    journey.stay(max(ended - latency, float(rpc["begun"])), _INSIDE)
    journey.go(ended, (way.oss, *way.routers, way.far, way.group, way.node))
    return journey


def _read(rpc: Any, way: _Way, transfers: _Transfers, latency: float) -> Journey:
    """Return the journey of a read: a request there, the data back."""
    journey = Journey(JourneyKind.READ, "read", int(rpc["bytes"]), float(rpc["start"]), way.node)
    arrived = float(rpc["arrived"])
    journey.stay(max(arrived - latency, float(rpc["start"])), _INSIDE)
    journey.go(arrived, (way.group, way.far, *way.routers, way.oss, way.ost))
    journey.stay(float(rpc["begun"]), _LEFT)
    journey.stay(float(rpc["left"]), _INSIDE)
    nic, entry = _waits(rpc, _WHOLE if way.router is None else _ARIES, transfers.aries)
    home = [
        Stop(way.far, _INSIDE, float(rpc["at_link"])),
        Stop(way.group, _INSIDE),
        Stop(way.node, _RIGHT, nic),
    ]
    if way.router is None:
        home.insert(0, Stop(way.oss, _LEFT, entry))
    else:
        ib, oss = _waits(rpc, _SERVERS, transfers.servers)
        servers = [Stop(way.oss, _LEFT, oss), Stop(way.router, _RIGHT, ib)]
        journey.pass_through(float(rpc["routed"]), servers)
        home.insert(0, Stop(way.router, _LEFT, entry))
    journey.pass_through(float(rpc["ended"]), home)
    return journey


def _waits(rpc: Any, names: tuple[str, str], transfer: float) -> tuple[float, float]:
    """Return for how long a part surely waited at the first and at the last station of a segment.

    One of the two also counts the seconds in which its bytes followed its head
    (:func:`xc40io.engine.network.hop`): so much is drawn as the way.
    """
    first, last = (max(float(rpc[name]) - transfer, 0.0) for name in names)
    return first, last
