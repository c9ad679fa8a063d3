"""What the pictures of all networks have in common: colours, and the words beside them."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import FigureBase
from matplotlib.lines import Line2D

from xc40io.topology.fabric import Fabric
from xc40io.topology.summary import GB
from xc40io.topology.text import format_count

COMPUTE_INK, SERVICE_INK, LNET_INK, EMPTY_INK = "#bdc5cf", "#8e6bbf", "#f3722c", "#eef0f2"
TEXT_INK, EDGE_INK = "#22262b", "#7b8592"


def router_inks(fabric: Fabric) -> list[str]:
    """Colour of each router, by what hangs on it."""
    inks = np.full(fabric.routers, EMPTY_INK)
    inks[fabric.compute_router] = COMPUTE_INK
    inks[fabric.service_router] = SERVICE_INK
    inks[fabric.lnet_router] = LNET_INK
    return [str(ink) for ink in inks]


def add_legend(
    figure: FigureBase,
    fabric: Fabric,
    top: float,
    routers: dict[str, tuple[str, str]],
    link_inks: dict[str, str],
    places: dict[str, str],
) -> None:
    """Explain in a figure the colours of the routers and links that there are, with their counts.

    Parameters
    ----------
    figure, top
        Where: at the right, from this height downwards, as a part of the figure's.
    fabric
        The network.
    routers
        For each colour of a router what to count and what to add behind it.
    link_inks, places
        For each kind of link its colour, and where it leads.
    """
    figure.legend(
        handles=_router_lines(fabric, routers) + _link_lines(fabric, link_inks, places),
        loc="upper left",
        bbox_to_anchor=(0.60, top),
        frameon=False,
        fontsize=12.5,
        labelcolor=TEXT_INK,
        labelspacing=0.75,
        handlelength=2.2,
    )


def _router_lines(fabric: Fabric, kinds: dict[str, tuple[str, str]]) -> list[Line2D]:
    """Return a line of the legend for each colour that routers have."""
    ink, routers = np.unique(router_inks(fabric), return_counts=True)
    found = dict(zip(ink.tolist(), routers.tolist(), strict=True))
    return [
        Line2D(
            [],
            [],
            linestyle="none",
            marker="s",
            markersize=11,
            markeredgecolor=EDGE_INK,
            markeredgewidth=0.5,
            markerfacecolor=ink,
            label=format_count(found[ink], what) + remark,
        )
        for ink, (what, remark) in kinds.items()
        if ink in found
    ]


def _link_lines(fabric: Fabric, inks: dict[str, str], where: dict[str, str]) -> list[Line2D]:
    """Return a line of the legend for each kind of link that there is, with its rate."""
    lines = []
    for colour, place in where.items():
        links = fabric.links_of(colour)
        if len(links):
            total = int(fabric.link_multiplicity[links].sum()) // 2
            rate = fabric.link_classes[colour].rate / GB
            count = format_count(total, f"{colour} link")
            label = f"{count} {place}, {rate:.2f} GB/s each way per link"
            lines.append(Line2D([], [], linewidth=3, color=inks[colour], label=label))
    return lines
