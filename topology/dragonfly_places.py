"""Where the parts of a dragonfly are in a picture: groups in a circle, links bent between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xc40io.topology.arrays import FloatArray, Int64Array
from xc40io.topology.fabric import Fabric

_CORNERS = np.array([(-1, -1), (-1, 1), (1, 1), (1, -1)]) * 0.42


class Circle(NamedTuple):
    """Place of each router, and the directions outward and along its group: float64[routers, 2]."""

    place: FloatArray
    outward: FloatArray
    along: FloatArray

    def squares(self) -> FloatArray:
        """Return the corners of each router's square: float64[routers, 4, 2]."""
        corners: FloatArray = self.place[:, None] + (
            _CORNERS[None, :, :1] * self.along[:, None]
            + _CORNERS[None, :, 1:] * self.outward[:, None]
        )
        return corners

    @property
    def reach(self) -> float:
        """How far the axes must go from the middle."""
        return 1.1 * float(np.abs(self.place).max()) + 2.0


def circle(fabric: Fabric) -> Circle:
    """Place the routers of all groups around a circle.

    A router's square has the side 1. Chassis 0 is the innermost; slots run clockwise.
    """
    slots = int(fabric.router_slot.max()) + 1
    radius = max(fabric.groups * (slots + 3.0) / (2 * np.pi), slots) if fabric.groups > 1 else 0.0
    angle = np.pi / 2 - 2 * np.pi * fabric.router_group / fabric.groups
    outward = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    along = np.stack([np.sin(angle), -np.cos(angle)], axis=1)
    across = fabric.router_slot - (slots - 1) / 2
    place = (radius + fabric.router_chassis)[:, None] * outward + across[:, None] * along
    return Circle(place, outward, along)


class Bundles(NamedTuple):
    """The blue links between each two groups that have any."""

    # The two groups, the lower number first: int64[pairs].
    first: Int64Array
    second: Int64Array
    points: FloatArray  # A curve for each: float64[pairs, points, 2].
    links: Int64Array  # How many single links they are: int64[pairs].
    # The bundle of each directed link of the fabric, -1 inside groups: int64[links].
    of_link: Int64Array


def bundles(fabric: Fabric, places: Circle) -> Bundles:
    """Return a curve for each two groups with blue links between them."""
    source = fabric.router_group[fabric.link_source].astype(np.int64)
    target = fabric.router_group[fabric.link_target].astype(np.int64)
    between = np.flatnonzero(source != target)
    ends = np.sort(np.stack([source[between], target[between]]), axis=0)
    pair, bundle = np.unique(ends[0] * fabric.groups + ends[1], return_inverse=True)
    of_link = np.full(fabric.links, -1, np.int64)
    of_link[between] = bundle
    upward = np.flatnonzero(source < target)
    links = np.bincount(of_link[upward], fabric.link_multiplicity[upward])
    points = _curves(fabric, places, upward, of_link[upward])
    return Bundles(
        pair // fabric.groups, pair % fabric.groups, points, links.astype(np.int64), of_link
    )


def _curves(
    fabric: Fabric, places: Circle, upward: NDArray[np.intp], bundle: Int64Array
) -> FloatArray:
    """Return the points of each bundle's curve.

    A bundle leaves its group at the inner edge, in the middle of the slots it is plugged into.
    """
    anchor = places.place - 0.9 * places.outward
    inner, count = _innermost(fabric), np.bincount(bundle)
    first, second = (
        np.stack([np.bincount(bundle, anchor[inner[end], axis]) / count for axis in (0, 1)], axis=1)
        for end in (fabric.link_source[upward], fabric.link_target[upward])
    )
    bend = 0.12 * (first + second)
    step = np.linspace(0, 1, 40)[None, :, None]
    points: FloatArray = (
        (1 - step) ** 2 * first[:, None]
        + 2 * step * (1 - step) * bend[:, None]
        + step**2 * second[:, None]
    )
    return points


def _innermost(fabric: Fabric) -> Int64Array:
    """Router of the same group and slot in chassis 0, for each router."""
    slots = int(fabric.router_slot.max()) + 1
    return np.arange(fabric.routers) - fabric.router_chassis * slots


def bends(first: FloatArray, second: FloatArray, bulge: tuple[float, float]) -> FloatArray:
    """How far the links are bent, the longest by ``bulge``: float64[links, 1, 2]."""
    length = np.abs(second - first).sum(axis=1)[:, None, None]
    bent: FloatArray = np.array(bulge) * (length / max(float(length.max(initial=1.0)), 1.0)) ** 0.5
    return bent
