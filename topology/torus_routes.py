"""Candidate routes through a torus.

A Gemini router sends every packet along x until that coordinate is right, then along y, then along
z, around each ring the shorter way. Between two routers that face each other in a ring both ways
round are equally long; that is all there is to choose. There are no routes that spend links to go
around a crowd.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xc40io.topology.arrays import Int32Array, Int64Array
from xc40io.topology.draws import Draws
from xc40io.topology.fabric import NO_LINK, Fabric

_ORDER = 0


def torus_candidates(
    fabric: Fabric, source: Int64Array, target: Int64Array, seed: int, count: int
) -> list[Int32Array]:
    """Find minimal routes for pairs of routers.

    The second candidate takes the other way round than the first in every ring in which both are
    equally long, the further ones the other combinations. Which way comes first is drawn.

    Returns
    -------
    list of int32[P, most links]
        One array for each candidate: the links in the order of travel, with
        :data:`~xc40io.topology.fabric.NO_LINK` where none is needed.
    """
    rings = _Rings.of(fabric)
    first = Draws(seed, source, target)(_ORDER)
    return [
        rings.walk(source, rings.steps(source, target, first ^ _other(n))) for n in range(count)
    ]


def torus_ways_back(
    fabric: Fabric, links: Int32Array, start: Int64Array, stop: Int64Array
) -> tuple[Int32Array, Int64Array, Int64Array]:
    """Turn routes round: each ring is gone back as it was gone out, but x first again.

    Parameters
    ----------
    links : int32[total]
        Directed links of the routes.
    start, stop : int64[routes]
        Route r is ``links[start[r] : stop[r]]``.

    Returns
    -------
    int32[total], int64[routes], int64[routes]
        The same of the ways back.
    """
    rings, hops = _Rings.of(fabric), stop - start
    route = np.repeat(np.arange(len(hops)), hops)
    place = np.arange(len(route)) - np.repeat(np.cumsum(hops) - hops, hops)
    taken = links[np.repeat(start, hops) + place]
    steps = np.zeros((len(hops), len(rings.extents)), np.int64)
    np.add.at(steps, (route, rings.link_axis[taken]), rings.link_step[taken])
    origin = np.zeros(len(hops), np.int64)
    origin[hops > 0] = fabric.link_target[links[stop[hops > 0] - 1]]
    back = rings.walk(origin, -steps)
    stop_back = np.cumsum(hops)
    return back[back != NO_LINK], stop_back - hops, stop_back


def torus_hop_limit(fabric: Fabric) -> int:
    """Return the most links that a route can have."""
    return int(sum(extent // 2 for extent in _extents(fabric)))


def _other(candidate: int) -> int:
    """Return which of the three rings a candidate takes the other way round, as bits."""
    return (candidate >> 1) ^ (7 if candidate % 2 else 0)


def _extents(fabric: Fabric) -> Int64Array:
    """Return how many routers each ring has: int64[axes]."""
    extents: Int64Array = fabric.router_coordinates.max(axis=0).astype(np.int64) + 1
    return extents


@dataclass(frozen=True, eq=False)
class _Rings:
    """What the routing tables of a torus's routers know.

    Parameters
    ----------
    coordinates : int64[routers, axes]
        Where each router is.
    extents : int64[axes]
        Routers around each ring.
    router_at : int64[extents]
        Router at each place.
    link_from : int32[routers, axes, 2]
        Link of each router forwards (0) and backwards (1) along each ring, or
        :data:`~xc40io.topology.fabric.NO_LINK`.
    link_axis, link_step : int64[links]
        Along which ring each link leads, forwards (1) or backwards (-1).
    """

    coordinates: Int64Array
    extents: Int64Array
    router_at: Int64Array
    link_from: Int32Array
    link_axis: Int64Array
    link_step: Int64Array

    @classmethod
    def of(cls, fabric: Fabric) -> _Rings:
        place, extents = fabric.router_coordinates.astype(np.int64), _extents(fabric)
        router_at = np.zeros(extents, np.int64)
        router_at[tuple(place.T)] = np.arange(fabric.routers)
        moved = place[fabric.link_target] - place[fabric.link_source]
        axis = np.abs(moved).argmax(axis=1)
        forwards = moved[np.arange(fabric.links), axis] % extents[axis] == 1
        link_from = np.full((fabric.routers, len(extents), 2), NO_LINK, np.int32)
        number = np.arange(fabric.links, dtype=np.int32)
        link_from[fabric.link_source, axis, np.where(forwards, 0, 1)] = number
        # In a ring of two the only link leads forwards and backwards.
        of_two = extents[axis] == 2
        link_from[fabric.link_source[of_two], axis[of_two], 1] = number[of_two]
        return cls(
            coordinates=place,
            extents=extents,
            router_at=router_at,
            link_from=link_from,
            link_axis=axis.astype(np.int64),
            link_step=np.where(forwards, 1, -1),
        )

    def steps(self, source: Int64Array, target: Int64Array, order: Int64Array) -> Int64Array:
        """Return the steps along each ring, below zero for backwards: int64[P, axes].

        Where both ways are equally long, bit ``a`` of ``order`` decides for ring ``a``.
        """
        ahead = (self.coordinates[target] - self.coordinates[source]) % self.extents
        prefers_back = order[:, None] >> np.arange(len(self.extents)) & 1 == 1
        back = (2 * ahead > self.extents) | (2 * ahead == self.extents) & prefers_back
        return np.where(back, ahead - self.extents, ahead)

    def walk(self, source: Int64Array, steps: Int64Array) -> Int32Array:
        """Go along one ring after the other: int32[P, most links]."""
        place = self.coordinates[source]
        legs = []
        for axis, extent in enumerate(self.extents.tolist()):
            step, towards = steps[:, axis], np.sign(steps[:, axis])
            number = np.arange(extent // 2)
            passed = [np.broadcast_to(part[:, None], (len(part), len(number))) for part in place.T]
            passed[axis] = (place[:, axis, None] + number * towards[:, None]) % extent
            link = self.link_from[self.router_at[tuple(passed)], axis, (step < 0)[:, None] * 1]
            legs.append(np.where(number < np.abs(step)[:, None], link, np.int32(NO_LINK)))
            place[:, axis] = (place[:, axis] + step) % extent
        return np.concatenate(legs, axis=1)
