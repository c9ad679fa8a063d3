"""LNET: which router a message takes, and its way over Aries and InfiniBand.

A client node reaches the servers through LNET routers, which have an Aries interface on one side
and InfiniBand links on the other. With *fine-grained routing* a group of routers serves a group of
OSSs, and nobody else. Among the routers of the group a sender takes the one to which it has the
fewest bytes queued, and of equals the one it used longest ago (Lustre 2.7 lib-move.c,
lnet_compare_routes). A router stores each message, of at most 1 MiB (the LNET MTU), before it
forwards it; over Aries and over InfiniBand messages cut through.

A machine without LNET routers has its servers on the network itself: a message goes straight from
the interface of one to that of the other, and no sender chooses anything.
"""

from __future__ import annotations

import numpy as np

from xc40io.config.machine import Machine
from xc40io.config.parts.lustre import Lnet as LnetModel
from xc40io.config.parts.lustre import Lustre
from xc40io.engine.compiled import inlined
from xc40io.engine.component import Component
from xc40io.engine.network import Network, begin_segment
from xc40io.engine.types import Floats, Indices, Integers
from xc40io.network.aries import MINIMAL, VALIANT, Aries, enter_aries
from xc40io.plane.site import Site
from xc40io.plane.stations import StationKind
from xc40io.topology import candidate_routes


class Lnet(Component):
    """The LNET routers of Lustre, and what their senders know of them."""

    network: Network
    aries: Aries
    routed: int  # 1: LNET routers are between; 0: the servers are on the network itself
    # lnet_in, lnet_out: the first station of the routers' Aries interfaces, into the routers and
    # out of them
    lnet_in: int
    lnet_out: int
    # ib_out, ib_in, ib_links: the first station of their InfiniBand links, to the servers and from
    # them; links of one router stand side by side, so many each
    ib_out: int
    ib_in: int
    ib_links: int
    # oss_in, oss_out: the first station of the OSSs' own interfaces
    oss_in: int
    oss_out: int
    # outward, homeward: int32 (rows, LNET routers, candidates, 2): start and stop in the network's
    # path of each candidate route over Aries, from client to LNET router and back. Minimal ones
    # come first. Where there are no routers they are those between clients and servers.
    outward: Indices
    homeward: Indices
    # int32 (targets,): which server has each target now: an OST its OSS, or the partner of that.
    # Behind the OSTs stand the MDTs that have data of files, behind the OSSs their MDSs.
    server_of: Indices
    group_of_oss: Indices  # int32 (OSSs,): the fine-grained routing group of each OSS
    gateways: Indices  # int32 (groups, routers a group): the LNET routers of each group
    # float64 (senders, LNET routers): bytes that a sender has under way to a router. Senders are
    # the client nodes, then from `first_oss` on the OSSs.
    queued: Floats
    # int64 (senders, LNET routers): when the sender last chose the router, in choices
    last_use: Integers
    choices: Integers  # int64 (1,): choices made so far
    first_oss: int
    control_latency: float  # seconds of a small message, one way, between client and server

    @classmethod
    def build(cls, site: Site) -> Lnet:
        """Return the routers at rest, shared out over the groups of fine-grained routing."""
        lnet, lustre = site.machine.lnet, site.machine.lustre
        senders = (site.nodes + lustre.servers, 0 if lnet is None else lnet.routers)
        outward, homeward = _routes(site)
        routers = dict(_NO_ROUTERS) if lnet is None else _router_stations(site, lnet)

        def oss(way: str) -> int:
            return site.book.add(
                StationKind.OSS,
                lustre.servers,
                lambda i: f"{server_name(lustre, i)} {way}",
                rate=lustre.oss_rate,
                latency=site.machine.network.nic_latency if lnet is None else 0.0,
                watched=True,
            )

        return site.make(
            cls,
            routed=int(lnet is not None),
            **routers,
            oss_in=oss("in"),
            oss_out=oss("out"),
            outward=outward,
            homeward=homeward,
            server_of=servers_of_targets(lustre),
            group_of_oss=_groups(lustre, lnet),
            gateways=_gateways(lnet, metadata=lustre.data_mdts > 0),
            queued=np.zeros(senders),
            last_use=np.zeros(senders, np.int64),
            choices=np.zeros(1, np.int64),
            first_oss=site.nodes,
            control_latency=control_latency(site.machine),
        )

    @property
    def routers(self) -> int:
        """How many LNET routers there are."""
        return self.queued.shape[1]

    def ends(self) -> list[int]:
        """Return the stations at which routes to and from the file system end and begin."""
        firsts = (self.lnet_in, self.lnet_out) if self.routed else (self.oss_in, self.oss_out)
        return [first + i for first in firsts for i in range(self.outward.shape[1])]

    def stations_of(self, router: int) -> list[int]:
        """Return all stations of a router."""
        links = np.arange(self.ib_links) + router * self.ib_links
        return [
            *(self.lnet_in + router, self.lnet_out + router),
            *(self.ib_out + links).tolist(),
            *(self.ib_in + links).tolist(),
        ]


_NO_ROUTERS = dict.fromkeys(("lnet_in", "lnet_out", "ib_out", "ib_in", "ib_links"), 0)


def _router_stations(site: Site, lnet: LnetModel) -> dict[str, int]:
    """Enter the interfaces and links of all routers in the book; return the first of each."""
    each = lnet.ib_links_per_router

    def interfaces(way: str, delay: float) -> int:
        label = f"LNET router {{}} {way} Aries".format
        return site.add_interfaces(lnet.routers, label, StationKind.LNET, delay)

    def links(way: str, delay: float) -> int:
        return site.book.add(
            StationKind.IB,
            lnet.routers * each,
            lambda i: f"LNET router {i // each} InfiniBand link {i % each} {way} servers",
            rate=lnet.ib_link_rate,
            latency=lnet.ib_latency + delay,
            watched=True,
        )

    # What a router does with a message delays it, but the next message need not wait for it: a
    # latency on the way out of the router.
    lnet_in = interfaces("from", 0.0)
    lnet_out = interfaces("to", lnet.router_latency)
    site.book.oppose(lnet_in, lnet_out, lnet.routers)
    ib_out = links("to", lnet.router_latency)
    ib_in = links("from", 0.0)
    stations = {"lnet_in": lnet_in, "lnet_out": lnet_out, "ib_out": ib_out, "ib_in": ib_in}
    return stations | {"ib_links": each}


def server_name(lustre: Lustre, server: int) -> str:
    """Return the name of a server of bulk RPCs: an OSS, or the MDS of an MDT that has data."""
    mds = server - lustre.oss_count
    return f"MDS {mds}" if mds >= 0 else f"OSS {server}"


def servers_of_targets(lustre: Lustre) -> Indices:
    """Return which server each target belongs to: int32 (targets,)."""
    osts = np.arange(lustre.osts) // lustre.osts_per_oss
    return np.concatenate([osts, lustre.oss_count + np.arange(lustre.data_mdts)]).astype(np.int32)


def _groups(lustre: Lustre, lnet: LnetModel | None) -> Indices:
    """Return the group of LNET routers of each server: int32 (servers,); MDSs have the last one."""
    if lnet is None:
        return np.zeros(lustre.servers, np.int32)
    osses = np.arange(lustre.oss_count) // lnet.oss_per_group
    return np.concatenate([osses, np.full(lustre.data_mdts, lnet.groups)]).astype(np.int32)


def _gateways(lnet: LnetModel | None, *, metadata: bool) -> Indices:
    """Return the LNET routers of each group: int32 (groups, routers of a group).

    With ``metadata`` one more: those that serve the MDSs, or all of a machine that has none.
    """
    if lnet is None:
        return np.zeros((0, 0), np.int32)
    data = np.arange(lnet.data_routers, dtype=np.int32).reshape(lnet.groups, -1)
    if not metadata:
        return data
    own = np.arange(lnet.data_routers if lnet.metadata_routers else 0, lnet.routers)
    row = np.resize(own, lnet.routers_per_group).astype(np.int32)
    return np.concatenate([data, row[np.newaxis]])


def control_latency(machine: Machine, software: float | None = None) -> float:
    """Return the seconds of a small message, one way, between a client node and a server.

    ``software`` is the part of the software at both ends, that of the network unless given.
    """
    network, lnet = machine.network, machine.lnet
    latency = (
        (network.message_latency if software is None else software)
        + 2 * network.nic_latency
        + network.message_hops * network.hop_latency
    )
    return latency if lnet is None else latency + lnet.router_latency + lnet.ib_latency


def _routes(site: Site) -> tuple[Indices, Indices]:
    """Draw the candidate routes between the job's Aries routers and all LNET routers, both ways.

    They are the first of the network's path. Where there are no LNET routers: between the job's
    routers and the servers.
    """
    fabric, network, aries = site.fabric, site.part(Network), site.part(Aries)
    machine = site.machine
    count = machine.lustre.servers if machine.lnet is None else machine.lnet.routers
    entries = fabric.service_router[:count]
    routers = np.unique(fabric.node_router[site.occupants.nodes])
    shape = (len(routers), count, MINIMAL + VALIANT)
    sources = np.repeat(routers, shape[1])
    targets = np.tile(entries, shape[0])
    out = candidate_routes(fabric, sources, targets, site.seed, minimal=MINIMAL, valiant=VALIANT)
    home = out.reversed(fabric)
    path = aries.first_link + np.concatenate([out.links, home.links])
    network.path = path.astype(np.int32)
    outward = np.stack([out.start, out.stop], axis=-1).reshape(*shape, 2)
    homeward = np.stack([home.start, home.stop], axis=-1).reshape(*shape, 2) + len(out.links)
    return (
        np.ascontiguousarray(outward, np.int32),
        np.ascontiguousarray(homeward, np.int32),
    )


@inlined
def choose_gateway(lnet: Lnet, sender: int, oss: int, size: float) -> int:
    """Pick the LNET router for ``size`` bytes between a sender and an OSS; queue them on it."""
    group = lnet.group_of_oss[oss]
    best = lnet.gateways[group, 0]
    for i in range(1, lnet.gateways.shape[1]):
        router = lnet.gateways[group, i]
        surplus = lnet.queued[sender, router] - lnet.queued[sender, best]
        if surplus < 0.0 or (
            surplus == 0.0 and lnet.last_use[sender, router] < lnet.last_use[sender, best]
        ):
            best = router
    lnet.choices[0] += 1
    lnet.last_use[sender, best] = lnet.choices[0]
    lnet.queued[sender, best] += size
    return best


@inlined
def enter_aries_outward(lnet: Lnet, message_id: int, node: int, now: float) -> None:
    """Send a message from a client node over Aries to its gateway."""
    gateway = lnet.network.messages[message_id].gateway
    routes = lnet.outward[lnet.aries.router_index[node], gateway]
    first, last = lnet.aries.nic_out + node, lnet.lnet_in + gateway
    enter_aries(lnet.aries, message_id, routes, first, last, now)


@inlined
def enter_aries_to_server(lnet: Lnet, message_id: int, node: int, oss: int, now: float) -> None:
    """Send a message from a client node to a server that is on the network itself."""
    lnet.network.messages[message_id].gateway = -1
    routes = lnet.outward[lnet.aries.router_index[node], oss]
    enter_aries(lnet.aries, message_id, routes, lnet.aries.nic_out + node, lnet.oss_in + oss, now)


@inlined
def enter_aries_from_server(lnet: Lnet, message_id: int, node: int, oss: int, now: float) -> None:
    """Send a message to a client node from a server that is on the network itself."""
    lnet.network.messages[message_id].gateway = -1
    routes = lnet.homeward[lnet.aries.router_index[node], oss]
    enter_aries(lnet.aries, message_id, routes, lnet.oss_out + oss, lnet.aries.nic_in + node, now)


@inlined
def enter_aries_homeward(lnet: Lnet, message_id: int, node: int, now: float) -> None:
    """Send a message from its gateway over Aries to a client node."""
    gateway = lnet.network.messages[message_id].gateway
    routes = lnet.homeward[lnet.aries.router_index[node], gateway]
    first, last = lnet.lnet_out + gateway, lnet.aries.nic_in + node
    enter_aries(lnet.aries, message_id, routes, first, last, now)


@inlined
def idlest_link(lnet: Lnet, first: int) -> int:
    """Return which of a router's InfiniBand links, from station ``first`` on, is free first."""
    best = first
    for link in range(first + 1, first + lnet.ib_links):
        if lnet.network.stations[link].free < lnet.network.stations[best].free:
            best = link
    return best


@inlined
def enter_infiniband_outward(lnet: Lnet, message_id: int, oss: int, now: float) -> None:
    """Send a message from its gateway over InfiniBand to an OSS."""
    gateway = lnet.network.messages[message_id].gateway
    link = idlest_link(lnet, lnet.ib_out + gateway * lnet.ib_links)
    begin_segment(lnet.network, message_id, now, link, 0, 0, lnet.oss_in + oss)


@inlined
def enter_infiniband_homeward(lnet: Lnet, message_id: int, oss: int, now: float) -> None:
    """Send a message from an OSS over InfiniBand to its gateway."""
    gateway = lnet.network.messages[message_id].gateway
    link = idlest_link(lnet, lnet.ib_in + gateway * lnet.ib_links)
    begin_segment(lnet.network, message_id, now, lnet.oss_out + oss, 0, 0, link)
