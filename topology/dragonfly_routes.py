"""Candidate routes through a dragonfly.

For every packet an Aries router weighs four ways to its target: two *minimal* ones and two
*non-minimal* ones (Cray WP-Aries01-1112 p. 16-17), drawn at random among all there are.

minimal
    Inside a group: at most one green and one black link, in either order. Between groups: such
    a way to a router that faces the target's group (its *gateway*), exactly one blue link, and
    such a way from there on: five links at most.
non-minimal
    After Valiant: a minimal route to a router drawn at random, then a minimal route to the target.
    Between groups that router lies in a third group, which makes ten links at most; within a group
    it lies in the same group. It spends links to go around a crowd. Now and then the router drawn
    is the source or the target itself, and the route is a minimal one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from xc40io.topology.arrays import Int32Array, Int64Array
from xc40io.topology.draws import Draws
from xc40io.topology.fabric import NO_LINK, Fabric


def dragonfly_candidates(
    fabric: Fabric, source: Int64Array, target: Int64Array, seed: int, minimal: int, valiant: int
) -> list[Int32Array]:
    """Draw candidate routes for pairs of routers: minimal ones, then non-minimal ones.

    Returns
    -------
    list of int32[P, most links]
        One array for each candidate: the links in the order of travel, with :data:`NO_LINK`
        where none is needed.
    """
    maps = _maps_of(fabric)
    draw = Draws(seed, source, target)
    return [
        *(_minimal_candidate(maps, source, target, draw, number) for number in range(minimal)),
        *(_valiant_candidate(maps, source, target, draw, number) for number in range(valiant)),
    ]


def dragonfly_hop_limits(fabric: Fabric) -> tuple[int, int]:
    """Return the most links that a minimal and a non-minimal route can have."""
    local = int(fabric.router_chassis.any()) + int(fabric.router_slot.any())
    minimal = 2 * local + 1 if fabric.groups > 1 else local
    return minimal, 2 * minimal


@dataclass(frozen=True, eq=False)
class _Maps:
    """What the routing tables of a dragonfly's routers know.

    Parameters
    ----------
    fabric : Fabric
        The network itself.
    local_link : int32[routers, routers per group]
        Link from a router to the n-th router of its own group, or -1.
    gateways : int32[blue links + 1]
        All blue links, those of one pair of groups together; -1 at the end.
    first_gateway, gateway_count : int64[groups, groups]
        Where in ``gateways`` the links from one group to another are.
    """

    fabric: Fabric
    local_link: Int32Array
    gateways: Int32Array
    first_gateway: Int64Array
    gateway_count: Int64Array

    @classmethod
    def of(cls, fabric: Fabric) -> _Maps:
        groups = fabric.groups
        per_group = fabric.routers // groups
        source_group = fabric.router_group[fabric.link_source]
        target_group = fabric.router_group[fabric.link_target]

        local = np.flatnonzero(source_group == target_group)
        local_link = np.full((fabric.routers, per_group), NO_LINK, dtype=np.int32)
        local_link[fabric.link_source[local], fabric.link_target[local] % per_group] = local

        blue = np.flatnonzero(source_group != target_group)
        between = source_group[blue] * groups + target_group[blue]
        order = np.argsort(between, kind="stable")
        count = np.bincount(between, minlength=groups * groups)
        return cls(
            fabric=fabric,
            local_link=local_link,
            gateways=np.append(blue[order], NO_LINK).astype(np.int32),
            first_gateway=(np.cumsum(count) - count).reshape(groups, groups),
            gateway_count=count.reshape(groups, groups),
        )

    def within_group(self, source: Int64Array, target: Int64Array, order: Int64Array) -> Int32Array:
        """Ways between routers of the same group: int32[P, 2], -1 where no link is needed.

        An even ``order`` goes green first, an odd one black first. Where one link is enough one
        of the two steps stays where it is, and the table has no link from a router to itself.
        """
        slot, per_group = self.fabric.router_slot, self.local_link.shape[1]
        corner = np.where(
            order % 2 == 0,
            source - slot[source] + slot[target],
            target - slot[target] + slot[source],
        )
        steps = (
            self.local_link[source, corner % per_group],
            self.local_link[corner, target % per_group],
        )
        return np.stack(steps, axis=1)

    def minimal(
        self, source: Int64Array, target: Int64Array, gateway: Int64Array, order: Int64Array
    ) -> Int32Array:
        """Minimal routes: int32[P, 5], -1 where no link is needed.

        ``gateway`` picks the blue link, modulo their number; the two lowest bits of ``order``
        pick the order of colours before it and behind it.
        """
        fabric = self.fabric
        ends = fabric.router_group[source], fabric.router_group[target]
        same = ends[0] == ends[1]
        # A pair inside a group uses the first leg alone: its "gateway" is the target itself.
        choice = self.first_gateway[ends] + gateway % np.maximum(self.gateway_count[ends], 1)
        blue = np.where(same, NO_LINK, self.gateways[np.where(same, -1, choice)])
        leave = np.where(same, target, fabric.link_source[blue])
        enter = np.where(same, target, fabric.link_target[blue])
        legs = (
            self.within_group(source, leave, order),
            blue[:, None],
            self.within_group(enter, target, order >> 1),
        )
        return np.concatenate(legs, axis=1)


@lru_cache(maxsize=4)  # the runs of a study are on few networks
def _maps_of(fabric: Fabric) -> _Maps:
    return _Maps.of(fabric)


_GATEWAY, _STRIDE, _ORDER, _VIA_GROUP, _VIA_ROUTER = range(5)


def _minimal_candidate(
    maps: _Maps, source: Int64Array, target: Int64Array, draw: Draws, number: int
) -> Int32Array:
    """Draw the ``number``-th minimal candidate of every pair, int32[P, 5]."""
    ends = maps.fabric.router_group[source], maps.fabric.router_group[target]
    # A stride that is no multiple of the number of gateways: the second differs from the first.
    stride = 1 + draw(_STRIDE) % np.maximum(maps.gateway_count[ends] - 1, 1)
    gateway = draw(_GATEWAY) % 2**32 + number * stride
    # The first bit of the order alternates, so inside a group both orders come up.
    order = (draw(_ORDER) % 2 + number) % 2 + 2 * (draw(_ORDER, number) % 2)
    return maps.minimal(source, target, gateway, order)


def _valiant_candidate(
    maps: _Maps, source: Int64Array, target: Int64Array, draw: Draws, number: int
) -> Int32Array:
    """Draw the ``number``-th non-minimal candidate of every pair, int32[P, 10]."""
    fabric = maps.fabric
    per_group = maps.local_link.shape[1]
    group, target_group = fabric.router_group[source], fabric.router_group[target]
    if fabric.groups > 2:
        third = draw(_VIA_GROUP, number) % (fabric.groups - 2)
        third += third >= np.minimum(group, target_group)
        third += third >= np.maximum(group, target_group)
        group = np.where(group == target_group, group, third)
    via = group * per_group + draw(_VIA_ROUTER, number) % per_group
    via = np.where(source == target, source, via)
    halves = (
        maps.minimal(source, via, draw(_GATEWAY, number, 0), draw(_ORDER, number, 0)),
        maps.minimal(via, target, draw(_GATEWAY, number, 1), draw(_ORDER, number, 1)),
    )
    return np.concatenate(halves, axis=1)
