"""A picture of a dragonfly: all groups in a circle, and one of them enlarged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from topology.arcs import arcs
from topology.fabric import Fabric, FloatArray
from topology.inks import (
    COMPUTE_INK,
    EDGE_INK,
    EMPTY_INK,
    LNET_INK,
    SERVICE_INK,
    TEXT_INK,
    add_legend,
    router_inks,
)
from topology.text import format_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINK_INK = {"green": "#2b9348", "black": "#343a40", "blue": "#1d6fd1"}

_ROUTERS = {
    COMPUTE_INK: ("compute blade", ", one Aries router each"),
    SERVICE_INK: ("service blade", " without LNET router"),
    LNET_INK: ("service blade", " with LNET router"),
    EMPTY_INK: ("slot", " without nodes"),
}
_PLACES = {"green": "in a chassis", "black": "between chassis", "blue": "between groups"}

ENLARGED = 0
"""The group that is shown enlarged."""


def draw_dragonfly(figure: Figure, fabric: Fabric) -> None:
    """Fill a figure with a dragonfly.

    On the left every group is a grid of its routers, the chassis one behind the other, with the
    bundles of blue links between the groups attached where they are plugged in. On the right one
    group is enlarged to show the green links along its chassis and the black ones along its
    slots; the links of one router stand out.
    """
    _draw_groups(figure.add_axes((0.01, 0.01, 0.565, 0.90)), fabric)
    _draw_group(figure.add_axes((0.60, 0.36, 0.385, 0.53)), fabric)
    add_legend(figure, fabric, 0.32, _ROUTERS, LINK_INK, _PLACES)


def dragonfly_subtitle(fabric: Fabric) -> str:
    """Say in one line what the dragonfly consists of."""
    slots, chassis = (int(place.max()) + 1 for place in (fabric.router_slot, fabric.router_chassis))
    return f"{format_count(fabric.groups, 'group')} x {chassis} chassis x {slots} Aries routers"


def _draw_groups(axes: Axes, fabric: Fabric) -> None:
    """All groups around a circle, joined by their bundles of blue links."""
    from matplotlib.collections import LineCollection, PolyCollection

    place, outward, along = _circle(fabric)
    corners = np.array([(-1, -1), (-1, 1), (1, 1), (1, -1)]) * 0.42
    squares = place[:, None] + (
        corners[None, :, :1] * along[:, None] + corners[None, :, 1:] * outward[:, None]
    )
    curves, links, enlarged = _blue_curves(fabric, place - 0.9 * outward)
    if len(curves):
        widths = 0.6 + 1.4 * links / links.max()
        faint = min(0.33, 4 / fabric.groups)
        for chosen, alpha, ink in ((~enlarged, faint, "#6aa5e8"), (enlarged, 0.9, "#1d6fd1")):
            axes.add_collection(
                LineCollection(
                    list(curves[chosen]), linewidths=widths[chosen], colors=ink, alpha=alpha
                )
            )
    axes.add_collection(PolyCollection(list(squares), facecolors=router_inks(fabric)))
    _label_groups(axes, fabric, place, outward)
    reach = 1.1 * float(np.abs(place).max()) + 2.0
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.axis("off")


def _label_groups(axes: Axes, fabric: Fabric, place: FloatArray, outward: FloatArray) -> None:
    """Write each group's number behind its last chassis."""
    chassis = int(fabric.router_chassis.max()) + 1
    size = 14 if fabric.groups <= 16 else 9
    for group in range(fabric.groups):
        members = np.flatnonzero(fabric.router_group == group)
        away = 0.5 * chassis + 0.05 * float(np.abs(place).max())
        x, y = place[members].mean(axis=0) + away * outward[members[0]]
        axes.text(
            x,
            y,
            f"g{group}",
            ha="center",
            va="center",
            fontsize=size,
            weight="bold",
            color=LINK_INK["blue"] if group == ENLARGED else TEXT_INK,
        )


def _circle(fabric: Fabric) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Place of each router, and the directions outward and along its group: float64[routers, 2].

    A router's square has the side 1. Chassis 0 is the innermost; slots run clockwise.
    """
    slots = int(fabric.router_slot.max()) + 1
    radius = max(fabric.groups * (slots + 3.0) / (2 * np.pi), slots) if fabric.groups > 1 else 0.0
    angle = np.pi / 2 - 2 * np.pi * fabric.router_group / fabric.groups
    outward = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    along = np.stack([np.sin(angle), -np.cos(angle)], axis=1)
    across = fabric.router_slot - (slots - 1) / 2
    place = (radius + fabric.router_chassis)[:, None] * outward + across[:, None] * along
    return place, outward, along


def _blue_curves(
    fabric: Fabric, anchor: FloatArray
) -> tuple[FloatArray, NDArray[np.int64], NDArray[np.bool_]]:
    """One curve for every pair of groups.

    Returns their points float64[pairs, points, 2], their numbers of single links int64[pairs], and
    whether they end at the enlarged group.
    """
    source_group = fabric.router_group[fabric.link_source]
    target_group = fabric.router_group[fabric.link_target]
    blue = np.flatnonzero(source_group < target_group)
    ends = source_group[blue], target_group[blue]
    pair, bundle = np.unique(ends[0] * fabric.groups + ends[1], return_inverse=True)
    count = np.bincount(bundle)
    # A bundle leaves its group at the inner edge, in the middle of the slots it is plugged into.
    inner = _innermost(fabric)
    first, second = (
        np.stack([np.bincount(bundle, anchor[inner[end], axis]) / count for axis in (0, 1)], axis=1)
        for end in (fabric.link_source[blue], fabric.link_target[blue])
    )
    bend = 0.12 * (first + second)
    step = np.linspace(0, 1, 40)[None, :, None]
    points = (
        (1 - step) ** 2 * first[:, None]
        + 2 * step * (1 - step) * bend[:, None]
        + step**2 * second[:, None]
    )
    links = np.bincount(bundle, fabric.link_multiplicity[blue]).astype(np.int64)
    return points, links, (pair // fabric.groups == ENLARGED) | (pair % fabric.groups == ENLARGED)


def _innermost(fabric: Fabric) -> NDArray[np.int64]:
    """Router of the same group and slot in chassis 0, for each router."""
    slots = int(fabric.router_slot.max()) + 1
    return np.arange(fabric.routers) - fabric.router_chassis * slots


def _draw_group(axes: Axes, fabric: Fabric) -> None:
    """One group enlarged: chassis are rows, slots are columns."""
    from matplotlib.collections import LineCollection

    members = np.flatnonzero(fabric.router_group == ENLARGED)
    place = np.stack([fabric.router_slot, 1.0 * fabric.router_chassis], axis=1)
    slots, chassis = (int(extent) + 1 for extent in place.max(axis=0))
    shown = slots // 3
    inside = (fabric.router_group[fabric.link_source] == ENLARGED) & (
        fabric.link_source < fabric.link_target
    )
    for colour, bulge in (("green", (0.0, 0.62)), ("black", (0.55, 0.0))):
        links = np.flatnonzero(inside & (fabric.link_colour == fabric.colours.index(colour)))
        ends = place[fabric.link_source[links]], place[fabric.link_target[links]]
        lines = arcs(*ends, _bends(*ends, bulge))
        own = (fabric.link_source[links] == shown) | (fabric.link_target[links] == shown)
        for chosen, width, alpha in ((~own, 0.6, 0.16), (own, 1.8, 0.95)):
            axes.add_collection(
                LineCollection(
                    list(lines[chosen]), linewidths=width, colors=LINK_INK[colour], alpha=alpha
                )
            )
    axes.scatter(
        place[members, 0],
        place[members, 1],
        s=62,
        c=np.array(router_inks(fabric))[members],
        edgecolors=[LINK_INK["blue"] if r == shown else EDGE_INK for r in members],
        linewidths=[2.2 if r == shown else 0.6 for r in members],
        zorder=3,
    )
    if fabric.groups > 1:
        _label_peers(axes, fabric, slots)
    axes.set(xlim=(-1.4, slots - 0.2), ylim=(-2.1, chassis + 0.1))
    axes.set_title(
        f"Group {ENLARGED}: the links of router {fabric.router_name(shown)} stand out",
        fontsize=13,
        color=TEXT_INK,
        loc="left",
    )
    for column in range(slots):
        axes.text(column, -0.42, str(column), ha="center", va="top", fontsize=9.5)
    axes.text(-0.6, -0.42, "slot", ha="right", va="top", fontsize=9.5)
    for row in range(chassis):
        axes.text(-0.6, row, f"chassis {row}", ha="right", va="center", fontsize=10)
    axes.axis("off")


def _label_peers(axes: Axes, fabric: Fabric, slots: int) -> None:
    """Write under each slot to which groups the blue links of its router in chassis 0 lead."""
    for slot in range(slots):
        links = (fabric.link_source == slot) & (fabric.link_target >= slots)
        peers = np.unique(fabric.router_group[fabric.link_target[links]])
        names = "\n".join(f"g{peer}" for peer in peers if peer != ENLARGED)
        axes.text(slot, -0.8, names, ha="center", va="top", fontsize=9, color=LINK_INK["blue"])
    axes.text(-0.6, -0.8, "blue to", ha="right", va="top", fontsize=9, color=LINK_INK["blue"])


def _bends(first: FloatArray, second: FloatArray, bulge: tuple[float, float]) -> FloatArray:
    """How far the links are bent, the longest by ``bulge``: float64[links, 1, 2]."""
    length = np.abs(second - first).sum(axis=1)[:, None, None]
    bends: FloatArray = np.array(bulge) * (length / max(float(length.max(initial=1.0)), 1.0)) ** 0.5
    return bends
