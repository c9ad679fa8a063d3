"""Aries: how a message finds its way over the high-speed network of the machine.

The routing hardware weighs two minimal and two Valiant (non-minimal) candidates by the queues on
them; a bias makes the queues of non-minimal routes count more (Cray WP-Aries01-1112, p. 16). The
choice is made here once a message, where Aries makes it once a packet. Over a route messages cut
through. A torus (Gemini) has the same tables, with routes of its own.
"""

from __future__ import annotations

import numpy as np

from xc40io.engine.compiled import inlined, njit
from xc40io.engine.component import Component
from xc40io.engine.network import Network, begin_segment
from xc40io.engine.types import Indices
from xc40io.plane.site import Site
from xc40io.plane.stations import StationKind

MINIMAL, VALIANT = 2, 2
"""Candidate routes of each kind between two Aries routers."""


class Aries(Component):
    """The network interfaces of the nodes, and the routes between their Aries routers."""

    network: Network
    # nic_out, nic_in: the first station of the nodes' interfaces, away from the nodes and to them
    nic_out: int
    nic_in: int
    first_link: int  # the first station of the links between Aries routers
    router_index: Indices  # int32 (nodes,): row of each node in the tables of routes
    # int32 (rows, candidates, 2): start and stop in the network's path of each candidate route
    # between two Aries routers, as they were first needed. Minimal ones come first.
    peers: Indices
    minimal: int  # how many candidates are minimal
    valiant_bias: float  # how much more a queue counts on a non-minimal route

    @classmethod
    def build(cls, site: Site) -> Aries:
        """Return the interfaces and the links, with no routes between nodes yet."""
        fabric, nodes, name = site.fabric, site.occupants.nodes, site.node_name
        first_link = site.book.add(
            StationKind.LINK,
            fabric.links,
            lambda i: f"link {fabric.link_name(i)}",
            rate=fabric.link_rate,
            latency=fabric.link_latency,
        )
        row = np.unique(fabric.node_router[nodes], return_inverse=True)[1]
        nic_out = site.add_interfaces(len(nodes), lambda i: f"NIC out of {name(i)}")
        nic_in = site.add_interfaces(len(nodes), lambda i: f"NIC into {name(i)}")
        site.book.oppose(nic_out, nic_in, len(nodes))
        return site.make(
            cls,
            nic_out=nic_out,
            nic_in=nic_in,
            first_link=first_link,
            router_index=row.astype(np.int32),
            peers=np.zeros((0, MINIMAL + VALIANT, 2), np.int32),
            minimal=MINIMAL,
            valiant_bias=site.machine.network.bias,
        )


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
            if delay >= best_delay:
                break  # it grows: what is beyond need not be looked up
        if delay < best_delay:
            best = candidate
            best_delay = delay
    return best


@njit
def enter_aries(
    aries: Aries, message_id: int, routes: np.ndarray, first: int, last: int, now: float
) -> None:
    """Send a message over the best of some routes, from station ``first`` to ``last``."""
    minimal, bias = aries.minimal, aries.valiant_bias
    chosen = choose_route(aries.network, routes, minimal, bias, now)
    start, stop = routes[chosen, 0], routes[chosen, 1]
    begin_segment(aries.network, message_id, now, first, start, stop, last)
