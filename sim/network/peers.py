"""The ways over Aries between the nodes of a job, and to service nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xc40io.engine.component import Component
from xc40io.engine.types import Indices, Integers
from xc40io.network.aries import MINIMAL, VALIANT, Aries
from xc40io.network.rerouting import Rerouting
from xc40io.topology import Fabric, candidate_routes


class PeerRoutes:
    """Candidate routes between the routers of a job's nodes, drawn when they are first needed.

    They are the rows of ``aries.peers``; their stations stand in the network's path behind those
    that are there already.

    Parameters
    ----------
    aries
        The interfaces and links.
    fabric
        The network.
    nodes
        int32 (nodes,): the compute nodes of the job.
    service_routers
        int32 (service nodes,): the routers of the service nodes that serve files.
    seed
        Of the scenario. What is drawn for two routers does not depend on what was drawn before.
    """

    def __init__(
        self, aries: Aries, fabric: Fabric, nodes: Indices, service_routers: Indices, seed: int
    ) -> None:
        self._aries = aries
        self._fabric = fabric
        self._router = fabric.node_router[nodes]
        self._service_routers = service_routers
        self._seed = seed
        self._rows: dict[int, int] = {}
        # As drawn for the whole network, whatever links are down:
        self._drawn = aries.peers
        self._drawn_elsewhere: list[tuple[Component, str, Indices]] = []
        self._ends = [aries.nic_out + i for i in range(len(aries.router_index))]
        self._ends += [aries.nic_in + i for i in range(len(aries.router_index))]
        self.rerouting = Rerouting(aries.network, aries.first_link, fabric, seed)

    def include(self, owner: Component, tables: Sequence[str], ends: Sequence[int]) -> None:
        """Compute the routes of another component anew with the others when links fail.

        Parameters
        ----------
        owner, tables
            The component, and its tables of routes: int32 (..., 2), start and stop in the path.
        ends
            The stations at which these routes begin and end.
        """
        self._drawn_elsewhere += [(owner, name, getattr(owner, name)) for name in tables]
        self._ends += ends

    def rows(self, source: Indices, target: Indices) -> Indices:
        """Return the rows of ``aries.peers`` for pairs of nodes, int32; -1: they share a router."""
        return self._rows_of(self._router[source], self._router[target])

    def service_rows(self, servers: Indices) -> tuple[Indices, Indices]:
        """Return the rows of ``aries.peers`` from the job's routers to service nodes, and back.

        Both int32 (routers of the job in ascending order, servers).
        """
        near = np.unique(self._router)
        far = self._service_routers[servers]
        shape = len(near), len(far)
        source, target = np.repeat(near, len(far)), np.tile(far, len(near))
        to, back = self._rows_of(source, target), self._rows_of(target, source)
        return to.reshape(shape), back.reshape(shape)

    def stations(self) -> list[int]:
        """Return all stations of the network between nodes that any message may meet."""
        return [*self._ends, *np.unique(self._aries.network.path).tolist()]

    def reroute(self, dead_until: float) -> int:
        """Compute all routes anew, as the links are now; so with those that are yet to be drawn.

        Returns how many messages turn that were on their way to a link that is down.
        :meth:`~xc40io.network.rerouting.Rerouting.turn` explains ``dead_until``.
        """
        self._aries.peers = self.rerouting.around(self._drawn)
        for owner, name, drawn in self._drawn_elsewhere:
            setattr(owner, name, self.rerouting.around(drawn))
        return self.rerouting.turn(dead_until)

    def _rows_of(self, source: Indices, target: Indices) -> Indices:
        """Return the rows for pairs of routers; -1 where it is one and the same."""
        routers = self._fabric.routers
        pair = source.astype(np.int64) * routers + target
        pairs, inverse = np.unique(pair, return_inverse=True)
        other = pairs // routers != pairs % routers
        new = np.array([p for p in pairs[other].tolist() if p not in self._rows], np.int64)
        if len(new):
            self._draw(new)
        row = np.full(len(pairs), -1, np.int32)
        row[other] = [self._rows[p] for p in pairs[other].tolist()]
        return row[inverse]

    def _draw(self, pairs: Integers) -> None:
        """Add the routes of pairs of routers: ``source * routers + target`` each."""
        routers = self._fabric.routers
        routes = candidate_routes(
            self._fabric,
            pairs // routers,
            pairs % routers,
            self._seed,
            minimal=MINIMAL,
            valiant=VALIANT,
        )
        aries, network = self._aries, self._aries.network
        first, known = len(network.path), len(aries.peers)
        bounds = np.stack([routes.start, routes.stop], axis=-1) + first
        drawn = bounds.astype(np.int32)
        self._drawn = np.concatenate([self._drawn, drawn])
        links = (aries.first_link + routes.links).astype(np.int32)
        network.path = np.concatenate([network.path, links])
        aries.peers = np.concatenate([aries.peers, self.rerouting.around(drawn)])
        self._rows.update(zip(pairs.tolist(), range(known, known + len(pairs)), strict=True))
