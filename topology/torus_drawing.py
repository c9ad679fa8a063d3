"""A picture of a torus: the cabinets on the floor, and one ring of each dimension."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import FigureBase

from xc40io.topology.arcs import arcs
from xc40io.topology.arrays import FloatArray, Int64Array
from xc40io.topology.fabric import Fabric
from xc40io.topology.folding import folded
from xc40io.topology.inks import (
    COMPUTE_INK,
    EDGE_INK,
    EMPTY_INK,
    LNET_INK,
    SERVICE_INK,
    add_legend,
    router_inks,
)
from xc40io.topology.summary import GB
from xc40io.topology.text import format_count

LINK_INK = {"mezzanine": "#2b9348", "backplane": "#343a40", "cable": "#1d6fd1"}

_ROUTERS = {
    COMPUTE_INK: ("router", " with compute nodes"),
    SERVICE_INK: ("router", " with service nodes, none an LNET router"),
    LNET_INK: ("router", " with an LNET router"),
    EMPTY_INK: ("router", " without nodes"),
}
_PLACES = {"mezzanine": "on a blade", "backplane": "in a chassis", "cable": "elsewhere"}

AISLE = 3.0
"""Space between two rows of cabinets, in routers."""


def draw_torus(figure: FigureBase, fabric: Fabric) -> None:
    """Fill a figure with a torus.

    Above, the cabinets stand as on the floor of the machine room: each is a grid of its routers,
    the chassis side by side. Arcs show how the first ring of x is folded along its row of cabinets,
    and the first of y from row to row. Below, the three rings of router 0 show which links they
    consist of, the wider the faster.
    """
    _draw_floor(figure.add_axes((0.01, 0.37, 0.98, 0.545)), fabric)
    for axis in range(len(fabric.axes)):
        _draw_ring(figure.add_axes((0.015 + 0.195 * axis, 0.015, 0.185, 0.33)), fabric, axis)
    add_legend(figure, fabric, 0.33, _ROUTERS, LINK_INK, _PLACES)


def _extents(fabric: Fabric) -> Int64Array:
    extents: Int64Array = fabric.router_coordinates.max(axis=0).astype(np.int64) + 1
    return extents


def _floor(fabric: Fabric) -> tuple[FloatArray, FloatArray]:
    """Where the middle of each router is, and the corner of its cabinet: float64[routers, 2]."""
    (x, y, _), extents = fabric.router_coordinates.T, _extents(fabric)
    rows, place = np.divmod(y, fabric.routers_per_blade)
    wide = (int(fabric.router_chassis.max()) + 1) * fabric.routers_per_blade
    high = int(fabric.router_slot.max()) + 1
    column = folded(x, int(extents[0]))
    row = folded(rows, int(extents[1]) // fabric.routers_per_blade)
    corner = np.stack([(wide + 1.0) * column, -(high + AISLE) * row], axis=1, dtype=np.float64)
    within = np.stack(
        [
            fabric.router_chassis * fabric.routers_per_blade + place + 0.5,
            -fabric.router_slot - 0.5,
        ],
        axis=1,
    )
    return corner + within, corner


def _draw_floor(axes: Axes, fabric: Fabric) -> None:
    """All cabinets in their rows."""
    middle, corner = _floor(fabric)
    square = np.array([(-1, -1), (-1, 1), (1, 1), (1, -1)]) * 0.44
    axes.add_collection(
        PolyCollection(list(middle[:, None] + square), facecolors=router_inks(fabric), snap=False)
    )
    wide = (int(fabric.router_chassis.max()) + 1) * fabric.routers_per_blade
    high = int(fabric.router_slot.max()) + 1
    for axis, anchor, bulge in (
        (0, (wide / 2, 0.3), (0.0, 2.1)),
        (1, (-0.3, -high / 2), (-5.0, 0)),
    ):
        ring = corner[_ring(fabric, axis)] + anchor
        after = np.roll(ring, -1, axis=0)
        lines = arcs(ring, after, bulge)
        apart = np.abs(ring - after).sum(axis=1) > 0
        axes.add_collection(
            LineCollection(list(lines[apart]), linewidths=1.2, colors=LINK_INK["cable"], alpha=0.8)
        )
    _label_floor(axes, corner, wide, high)
    low = middle.min(axis=0)
    top = middle.max(axis=0)
    axes.set(xlim=(low[0] - 14, top[0] + 1), ylim=(low[1] - 3, top[1] + 4), aspect="equal")
    axes.axis("off")


def _label_floor(axes: Axes, corner: FloatArray, wide: int, high: int) -> None:
    """Write the number of each column of cabinets below and of each row on the left."""
    for column, left in enumerate(np.unique(corner[:, 0])):
        below = corner[:, 1].min() - high - 0.4
        axes.text(left + wide / 2, below, f"c{column}", ha="center", va="top", fontsize=9)
    for row, upper in enumerate(np.unique(corner[:, 1])[::-1]):
        axes.text(-7.5, upper - high / 2, f"row {row}", ha="right", va="center", fontsize=10)


def _draw_ring(axes: Axes, fabric: Fabric, axis: int) -> None:
    """Show the ring of router 0 in one dimension."""
    ring = _ring(fabric, axis)
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(ring)) / len(ring)
    place = np.full((fabric.routers, 2), np.nan)
    place[ring] = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    inside = np.isin(fabric.link_source, ring) & np.isin(fabric.link_target, ring)
    links = np.flatnonzero(inside & (fabric.link_source < fabric.link_target))
    ends = np.stack([place[fabric.link_source[links]], place[fabric.link_target[links]]], axis=1)
    fastest = float(fabric.link_rate.max(initial=1.0))
    axes.add_collection(
        LineCollection(
            list(ends),
            linewidths=1 + 7 * fabric.link_rate[links] / fastest,
            colors=[LINK_INK[fabric.colours[code]] for code in fabric.link_colour[links]],
        )
    )
    axes.scatter(
        place[ring, 0],
        place[ring, 1],
        s=46,
        c=np.array(router_inks(fabric))[ring],
        edgecolors=EDGE_INK,
        linewidths=0.6,
        zorder=3,
    )
    axes.text(0, 0.18, fabric.axes[axis], ha="center", va="center", fontsize=22, weight="bold")
    axes.text(0, -0.12, format_count(len(ring), "router"), ha="center", va="center", fontsize=11)
    rates = ", ".join(f"{rate / GB:.2f}" for rate in np.unique(fabric.link_rate[links]))
    if rates:
        axes.text(0, -0.34, f"{rates} GB/s each way", ha="center", va="center", fontsize=10)
    axes.set(xlim=(-1.12, 1.12), ylim=(-1.12, 1.12), aspect="equal")
    axes.axis("off")


def _ring(fabric: Fabric, axis: int) -> Int64Array:
    """Routers that share all coordinates with router 0 but one, in the order of that one."""
    others = np.delete(fabric.router_coordinates, axis, axis=1)
    ring = np.flatnonzero((others == others[0]).all(axis=1))
    order: Int64Array = ring[np.argsort(fabric.router_coordinates[ring, axis])]
    return order
