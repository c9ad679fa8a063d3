"""LNET: which router a message takes, and its way over Aries and InfiniBand.

A client node reaches the servers through LNET routers, which have an Aries interface on one side
and InfiniBand links on the other. With *fine-grained routing* a group of routers serves a group of
OSSs, and nobody else. Among the live routers of the group a sender takes the one to which it has
the fewest bytes queued, and of equals the one it used longest ago (Lustre 2.7 lib-move.c,
lnet_compare_routes). A router stores each message, of at most 1 MiB (the LNET MTU), before it
forwards it; over Aries and over InfiniBand messages cut through.

Over Aries the routing hardware weighs two minimal and two Valiant (non-minimal) candidates by the
queues on them; a bias makes the queues of non-minimal routes count more (Cray WP-Aries01-1112,
p. 16). The choice is made here once a message, where Aries makes it once a packet.
"""

from __future__ import annotations

import numpy as np

from sim.engine.jit import inlined, njit
from sim.engine.network import Network, begin_segment
from sim.lustre.tables import Lustre, Routing


@inlined
def choose_gateway(routing: Routing, sender: int, oss: int, size: float) -> int:
    """Pick the LNET router for ``size`` bytes between ``sender`` and an OSS, and queue them on it.

    Returns -1 if no router of the group is alive.
    """
    group = routing.group_of_oss[oss]
    best = -1
    for i in range(routing.gateways.shape[1]):
        router = routing.gateways[group, i]
        if router < 0 or routing.alive[router] == 0:
            continue
        if best < 0:
            best = router
            continue
        surplus = routing.queued[sender, router] - routing.queued[sender, best]
        if surplus < 0.0 or (
            surplus == 0.0 and routing.last_use[sender, router] < routing.last_use[sender, best]
        ):
            best = router
    if best >= 0:
        routing.choices[0] += 1
        routing.last_use[sender, best] = routing.choices[0]
        routing.queued[sender, best] += size
    return best


@inlined
def choose_route(
    network: Network, routes: np.ndarray, minimal: int, bias: float, now: float
) -> int:
    """Return which candidate delivers the head of a message first, as the queues stand.

    ``routes`` (candidates, 2) holds start and stop of each in the path; minimal ones come first
    and win ties.
    """
    best = 0
    best_delay = np.inf
    for candidate in range(routes.shape[0]):
        factor = 1.0 if candidate < minimal else bias
        delay = 0.0
        for position in range(routes[candidate, 0], routes[candidate, 1]):
            station = network.stations[network.path[position]]
            delay += station.latency + factor * max(0.0, station.free - now)
        if delay < best_delay:
            best = candidate
            best_delay = delay
    return best


@njit
def enter_aries(
    lustre: Lustre, message_id: int, routes: np.ndarray, first: int, last: int, now: float
) -> None:
    """Send a message over the best of some routes, from station ``first`` to ``last``."""
    minimal, bias = lustre.routing.minimal[0], lustre.limits.valiant_bias
    chosen = choose_route(lustre.network, routes, minimal, bias, now)
    start, stop = routes[chosen, 0], routes[chosen, 1]
    begin_segment(lustre.network, message_id, now, first, start, stop, last)


@inlined
def enter_aries_outward(lustre: Lustre, message_id: int, node: int, now: float) -> None:
    """Send a message from a client node over Aries to its gateway."""
    routing, stations = lustre.routing, lustre.stations
    gateway = lustre.network.messages[message_id].gateway
    routes = routing.outward[routing.router_index[node], gateway]
    first, last = stations.nic_out + node, stations.lnet_in + gateway
    enter_aries(lustre, message_id, routes, first, last, now)


@inlined
def enter_aries_homeward(lustre: Lustre, message_id: int, node: int, now: float) -> None:
    """Send a message from its gateway over Aries to a client node."""
    routing, stations = lustre.routing, lustre.stations
    gateway = lustre.network.messages[message_id].gateway
    routes = routing.homeward[routing.router_index[node], gateway]
    first, last = stations.lnet_out + gateway, stations.nic_in + node
    enter_aries(lustre, message_id, routes, first, last, now)


@inlined
def _idlest_link(lustre: Lustre, first: int) -> int:
    """Return which of a router's InfiniBand links, from station ``first`` on, is free first."""
    best = first
    for link in range(first + 1, first + lustre.stations.ib_links):
        if lustre.network.stations[link].free < lustre.network.stations[best].free:
            best = link
    return best


@inlined
def enter_infiniband_outward(lustre: Lustre, message_id: int, oss: int, now: float) -> None:
    """Send a message from its gateway over InfiniBand to an OSS."""
    gateway = lustre.network.messages[message_id].gateway
    link = _idlest_link(lustre, lustre.stations.ib_out + gateway * lustre.stations.ib_links)
    begin_segment(lustre.network, message_id, now, link, 0, 0, lustre.stations.oss_in + oss)


@inlined
def enter_infiniband_homeward(lustre: Lustre, message_id: int, oss: int, now: float) -> None:
    """Send a message from an OSS over InfiniBand to its gateway."""
    gateway = lustre.network.messages[message_id].gateway
    link = _idlest_link(lustre, lustre.stations.ib_in + gateway * lustre.stations.ib_links)
    begin_segment(lustre.network, message_id, now, lustre.stations.oss_out + oss, 0, 0, link)
