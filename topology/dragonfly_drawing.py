"""A picture of a dragonfly: all groups in a circle, and one of them enlarged."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import FigureBase

from xc40io.topology.arcs import arcs
from xc40io.topology.dragonfly_places import Circle, bends, bundles, circle
from xc40io.topology.fabric import Fabric
from xc40io.topology.inks import (
    COMPUTE_INK,
    EDGE_INK,
    EMPTY_INK,
    LNET_INK,
    SERVICE_INK,
    TEXT_INK,
    add_legend,
    router_inks,
)
from xc40io.topology.text import format_count

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

MOST_GROUPS = 16
"""With more groups the bundles between all of them would be a ball of wool."""


def draw_dragonfly(figure: FigureBase, fabric: Fabric) -> None:
    """Fill a figure with a dragonfly.

    On the left every group is a grid of its routers, the chassis one behind the other, with the
    bundles of blue links between the groups attached where they are plugged in. On the right one
    group is enlarged to show the green links along its chassis and the black ones along its
    slots; the links of one router stand out.
    """
    _draw_groups(figure.add_axes((0.01, 0.01, 0.565, 0.90)), fabric)
    _draw_group(figure.add_axes((0.60, 0.36, 0.385, 0.53)), fabric)
    add_legend(figure, fabric, 0.32, _ROUTERS, LINK_INK, _PLACES)


def _draw_groups(axes: Axes, fabric: Fabric) -> None:
    """All groups around a circle, joined by their bundles of blue links."""
    places = circle(fabric)
    found = bundles(fabric, places)
    if len(found.points):
        widths = 0.6 + 1.4 * found.links / found.links.max()
        own = (found.first == ENLARGED) | (found.second == ENLARGED)
        others = ~own if fabric.groups <= MOST_GROUPS else np.zeros_like(own)
        for chosen, alpha, ink in ((others, 0.33, "#6aa5e8"), (own, 0.9, "#1d6fd1")):
            axes.add_collection(
                LineCollection(
                    list(found.points[chosen]), linewidths=widths[chosen], colors=ink, alpha=alpha
                )
            )
    axes.add_collection(PolyCollection(list(places.squares()), facecolors=router_inks(fabric)))
    label_groups(axes, fabric, places, ENLARGED)
    if fabric.groups > MOST_GROUPS:
        words = (
            f"{format_count(len(found.links), 'pair')} of groups are joined like this;\n"
            f"only the bundles of group {ENLARGED} are drawn"
        )
        paper = {"facecolor": "white", "edgecolor": "none"}
        middle = -0.3 * places.reach
        axes.text(0, middle, words, ha="center", fontsize=13, color=TEXT_INK, bbox=paper)
    reach = places.reach
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.axis("off")


def label_groups(axes: Axes, fabric: Fabric, places: Circle, enlarged: int) -> None:
    """Write each group's number behind its last chassis; the one that is enlarged stands out."""
    chassis = int(fabric.router_chassis.max()) + 1
    size = 14 if fabric.groups <= MOST_GROUPS else 9
    for group in range(fabric.groups):
        members = np.flatnonzero(fabric.router_group == group)
        away = 0.5 * chassis + 0.05 * float(np.abs(places.place).max())
        x, y = places.place[members].mean(axis=0) + away * places.outward[members[0]]
        axes.text(
            x,
            y,
            f"g{group}",
            ha="center",
            va="center",
            fontsize=size,
            weight="bold",
            color=LINK_INK["blue"] if group == enlarged else TEXT_INK,
        )


def _draw_group(axes: Axes, fabric: Fabric) -> None:
    """One group enlarged: chassis are rows, slots are columns."""
    members = np.flatnonzero(fabric.router_group == ENLARGED)
    place = np.stack([fabric.router_slot, fabric.router_chassis], axis=1).astype(np.float64)
    slots, chassis = (int(extent) + 1 for extent in place.max(axis=0))
    shown = slots // 3
    inside = (fabric.router_group[fabric.link_source] == ENLARGED) & (
        fabric.link_source < fabric.link_target
    )
    for colour, bulge in (("green", (0.0, 0.62)), ("black", (0.55, 0.0))):
        links = np.flatnonzero(inside & (fabric.link_colour == fabric.colours.index(colour)))
        ends = place[fabric.link_source[links]], place[fabric.link_target[links]]
        lines = arcs(*ends, bends(*ends, bulge))
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
    label_slots(axes, slots, chassis)
    axes.axis("off")


def label_slots(axes: Axes, slots: int, chassis: int) -> None:
    """Write the numbers of the slots below a group that is enlarged, those of the chassis left."""
    for column in range(slots):
        axes.text(column, -0.42, str(column), ha="center", va="top", fontsize=9.5)
    axes.text(-0.6, -0.42, "slot", ha="right", va="top", fontsize=9.5)
    for row in range(chassis):
        axes.text(-0.6, row, f"chassis {row}", ha="right", va="center", fontsize=10)


def _label_peers(axes: Axes, fabric: Fabric, slots: int) -> None:
    """Write under each slot to which groups the blue links of its router in chassis 0 lead."""
    for slot in range(slots):
        links = (fabric.link_source == slot) & (fabric.link_target >= slots)
        peers = np.unique(fabric.router_group[fabric.link_target[links]])
        names = "\n".join(f"g{peer}" for peer in peers if peer != ENLARGED)
        axes.text(slot, -0.8, names, ha="center", va="top", fontsize=9, color=LINK_INK["blue"])
    axes.text(-0.6, -0.8, "blue to", ha="right", va="top", fontsize=9, color=LINK_INK["blue"])
