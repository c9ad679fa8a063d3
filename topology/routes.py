"""Candidate routes through a network, for many pairs of routers at once.

Which ways a router weighs depends on the kind of network: see
:mod:`xc40io.topology.dragonfly_routes`, :mod:`xc40io.topology.torus_routes` and
:mod:`xc40io.topology.fat_tree`. Which of them to take depends on how long their queues are at that
moment, so it is not decided here.

Every draw is a hash of the seed, the pair and the purpose of the draw. So the candidates of a
pair are the same whatever else is asked for, and in whatever order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from xc40io.topology.arrays import Int32Array, Int64Array
from xc40io.topology.fabric import NO_LINK, Fabric
from xc40io.topology.kinds import kind_of


@dataclass(frozen=True, eq=False)
class Routes:
    """Several candidate routes for each of P pairs of routers.

    Parameters
    ----------
    links : int32[total]
        Directed links of all routes, each route's in the order of travel.
    start, stop : int64[P, candidates]
        Candidate c of pair p is ``links[start[p, c] : stop[p, c]]``, empty where a pair's two
        routers are the same. The minimal candidates come first. Candidates that are one and the
        same route may share their links.
    """

    links: Int32Array
    start: Int64Array
    stop: Int64Array

    @property
    def hops(self) -> Int64Array:
        """Number of links of each route, int64[P, candidates]."""
        return self.stop - self.start

    def route(self, pair: int, candidate: int) -> Int32Array:
        """Directed links of one route."""
        return self.links[self.start[pair, candidate] : self.stop[pair, candidate]]

    def reversed(self, fabric: Fabric) -> Routes:
        """Turn all routes round: from target to source.

        In most networks the ways back lead over the same cables. In a torus they go around each
        ring as the way out did, but in the order x, y, z again, so over other cables.
        """
        turned = kind_of(fabric.kind).ways_back
        if turned is not None:
            bounds = self.start * (len(self.links) + 1) + self.stop
            every, which = np.unique(bounds, return_inverse=True)
            out = np.divmod(every, len(self.links) + 1)
            links, start, stop = turned(fabric, self.links, *out)
            which = which.reshape(bounds.shape)
            return Routes(links=links, start=start[which], stop=stop[which])
        total = len(self.links)
        return Routes(
            links=fabric.link_reverse[self.links[::-1]],
            start=total - self.stop,
            stop=total - self.start,
        )


def candidate_routes(
    fabric: Fabric,
    sources: ArrayLike,
    targets: ArrayLike,
    seed: int,
    minimal: int = 2,
    valiant: int = 2,
) -> Routes:
    """Find candidate routes for pairs of routers.

    Parameters
    ----------
    fabric : Fabric
        Made from a graph of a kind that :mod:`xc40io.topology.kinds` knows.
    sources, targets : int[P]
        Routers.
    seed : int
        Another seed draws other candidates.
    minimal, valiant : int
        Candidates of each kind. In a dragonfly the first two minimal candidates of a pair differ
        wherever two exist: they go through different gateways, or inside a group take the two
        orders of colours. In a torus they differ where two routers face each other in a ring; it
        knows no non-minimal routes, so the candidates of that kind are the minimal ones again. In
        a fat tree all are minimal, each over a spine of its own as far as there are so many.

    Returns
    -------
    Routes
        The minimal candidates in the first columns, the non-minimal ones after them.

    Raises
    ------
    ValueError
        If the fabric is of another kind, the two arrays differ in shape, a router does not exist or
        no candidate is asked for.
    """
    source, target = _routers(fabric, sources), _routers(fabric, targets)
    if source.shape != target.shape:
        raise ValueError(
            f"{source.size} sources and {target.size} targets: routes need as many of each"
        )
    if min(minimal, valiant) < 0 or minimal + valiant < 1:
        raise ValueError(
            f"{minimal} minimal and {valiant} Valiant candidates: neither may be below zero, "
            "and at least one is needed"
        )
    found = kind_of(fabric.kind).candidates(fabric, source, target, seed, minimal, valiant)
    columns, which = found
    hops = np.stack([(column != NO_LINK).sum(axis=1) for column in columns], axis=1)
    every = np.concatenate(columns, axis=1)
    stop = np.cumsum(hops).reshape(hops.shape)
    start = stop - hops
    links = every[every != NO_LINK]
    return Routes(links=links, start=start.take(which, axis=1), stop=stop.take(which, axis=1))


def hop_limits(fabric: Fabric) -> tuple[int, int]:
    """Return the most links that a minimal and a non-minimal route of a network can have."""
    return kind_of(fabric.kind).hop_limits(fabric)


def _routers(fabric: Fabric, routers: ArrayLike) -> Int64Array:
    """Check router numbers and return them as one flat int64 array."""
    numbers = np.atleast_1d(np.asarray(routers, dtype=np.int64))
    wrong = numbers[(numbers < 0) | (numbers >= fabric.routers)]
    if wrong.size:
        raise ValueError(f"router {wrong[0]} does not exist: they are 0 to {fabric.routers - 1}")
    return numbers
