"""The ways over Aries between the nodes of a job, and to service nodes."""

from __future__ import annotations

import numpy as np

from sim.engine.types import Indices, Integers
from sim.network.rerouting import Rerouting
from topology import Fabric, candidate_routes

MINIMAL, VALIANT = 2, 2
"""Candidate routes of each kind between two Aries routers."""


class PeerRoutes:
    """Candidate routes between the routers of a job's nodes, drawn when they are first needed."""

    def __init__(
        self,
        fabric: Fabric,
        nodes: Indices,  # int32 (nodes,): the compute nodes of the job
        service_routers: Indices,  # int32 (service nodes,): routers of those that serve files
        first_link: int,  # the station of the fabric's first link
        path: Indices,  # int32: the stations of all routes so far
        seed: int,  # of the scenario; routes between two routers depend on nothing drawn before
    ) -> None:
        self._fabric = fabric
        self._router = fabric.node_router[nodes]
        self._service_routers = service_routers
        self._first_link = first_link
        self._seed = seed
        self._rows: dict[int, int] = {}
        self.path = path  # the stations of all routes; new ones come behind
        # int32 (rows, candidates, 2): start and stop in `path` of each candidate
        self.table: Indices = np.zeros((0, MINIMAL + VALIANT, 2), np.int32)
        self._drawn = self.table  # the same for the whole network
        self._rerouting: Rerouting | None = None

    def rows(self, source: Indices, target: Indices) -> Indices:
        """Return the rows of ``table`` for pairs of nodes: int32; -1 where they share a router."""
        return self._rows_of(self._router[source], self._router[target])

    def service_rows(self, servers: Indices) -> tuple[Indices, Indices]:
        """Return the rows of ``table`` from the job's routers to some service nodes, and back.

        Both int32 (routers of the job in ascending order, servers).
        """
        near = np.unique(self._router)
        far = self._service_routers[servers]
        shape = len(near), len(far)
        source, target = np.repeat(near, len(far)), np.tile(far, len(near))
        to, back = self._rows_of(source, target), self._rows_of(target, source)
        return to.reshape(shape), back.reshape(shape)

    def reroute(self, rerouting: Rerouting) -> None:
        """Compute all routes anew, as the links are now; so with those that are yet to be drawn."""
        self._rerouting = rerouting
        self.table = self.around(self._drawn)

    def around(self, drawn: Indices) -> Indices:
        """Return a table of routes in ``path`` without those over links that are down."""
        if self._rerouting is None:
            return drawn
        table, self.path = self._rerouting.around(drawn, self.path)
        return table

    def turn(self, rerouting: Rerouting, dead_until: float) -> int:
        """Reroute messages around links that are down; return how many."""
        turned, self.path = rerouting.turn(self.path, dead_until)
        return turned

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
        first, known = len(self.path), len(self.table)
        bounds = np.stack([routes.start, routes.stop], axis=-1) + first
        drawn = bounds.astype(np.int32)
        self._drawn = np.concatenate([self._drawn, drawn])
        links = (self._first_link + routes.links).astype(np.int32)
        self.path = np.concatenate([self.path, links])
        self.table = np.concatenate([self.table, self.around(drawn)])
        self._rows.update(zip(pairs.tolist(), range(known, known + len(pairs)), strict=True))
