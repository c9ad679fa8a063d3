"""A picture of how busy the links of a dragonfly were: all groups, and the busiest enlarged."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import ListedColormap, Normalize, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from xc40io.topology.arcs import arcs
from xc40io.topology.arrays import FloatArray
from xc40io.topology.dragonfly_drawing import label_groups, label_slots
from xc40io.topology.dragonfly_places import bends, bundles, circle
from xc40io.topology.fabric import Fabric
from xc40io.topology.inks import COMPUTE_INK, EDGE_INK, EMPTY_INK, LNET_INK, TEXT_INK

JOB_INK = "#56606d"
"""Colour of routers with nodes of the job."""

IDLE_INK = "#e3e6ea"
"""Colour of lines none of whose links carried anything."""

_ROUTERS = {
    JOB_INK: "Aries router with nodes of a job",
    LNET_INK: "with an LNET router",
    COMPUTE_INK: "with other nodes only",
    EMPTY_INK: "without nodes",
}


def draw_dragonfly_load(
    figure: Figure, fabric: Fabric, busy: FloatArray, nodes: NDArray[np.integer[Any]]
) -> None:
    """Fill a figure with a dragonfly whose links are coloured by how busy they were.

    On the left all groups, joined by their bundles of blue links; on the right the group with the
    busiest link inside it. A line stands for links in both directions, and of a bundle for many:
    it has the colour of the busiest of them, or a light grey if none carried anything.

    Parameters
    ----------
    figure
        An empty one.
    fabric
        The network.
    busy
        float64[links]: share of the time in which each directed link was busy, 0 to 1.
    nodes
        The nodes of the job, whose routers stand out.
    """
    group = busiest_group(fabric, busy)
    colours = _colours(float(busy.max(initial=0.0)))
    inks = _router_inks(fabric, nodes)
    left = figure.add_axes((0.01, 0.01, 0.565, 0.90))
    _draw_groups(left, fabric, busy, colours, inks, group)
    _draw_group(figure.add_axes((0.60, 0.42, 0.385, 0.47)), fabric, busy, colours, inks, group)
    _explain(figure, colours, inks)
    words = "\n".join(busiest_links(fabric, busy))
    figure.text(0.605, 0.04, words, fontsize=12, color=TEXT_INK, va="bottom", linespacing=1.5)


def busiest_group(fabric: Fabric, busy: FloatArray) -> int:
    """Return the group with the busiest link inside it; of equals the first."""
    source, target = (
        fabric.router_group[fabric.link_source],
        fabric.router_group[fabric.link_target],
    )
    inside = source == target
    if not inside.any():
        return 0
    return int(source[inside][busy[inside].argmax()])


def busiest_links(fabric: Fabric, busy: FloatArray) -> list[str]:
    """Say of each colour which link was the busiest; of equals the first."""
    lines = []
    for colour in fabric.colours:
        links = fabric.links_of(colour)
        if len(links):
            top = int(links[busy[links].argmax()])
            place = fabric.link_name(top).removeprefix(f"{colour} ")
            lines.append(f"Busiest {colour} link: {place}, {100 * busy[top]:.3g} %")
    return lines


def bundle_loads(of_link: NDArray[np.int64], count: int, busy: FloatArray) -> FloatArray:
    """Return how busy the busiest link of each bundle was: float64[bundles].

    ``of_link`` is the bundle of each link, -1 for none.
    """
    loads = np.zeros(count)
    member = of_link >= 0
    np.maximum.at(loads, of_link[member], busy[member])
    return loads


def _colours(most: float) -> ScalarMappable:
    """Return the colours of loads from 0 % to the highest; none so light that it is not seen."""
    shades = colormaps["YlGnBu"](np.linspace(0.2, 1.0, 256))
    return ScalarMappable(Normalize(0.0, 100 * most or 1.0), ListedColormap(shades))


def _router_inks(fabric: Fabric, nodes: NDArray[np.integer[Any]]) -> NDArray[np.str_]:
    """Colour of each router, by whose nodes hang on it."""
    inks = np.full(fabric.routers, EMPTY_INK)
    inks[fabric.compute_router] = COMPUTE_INK
    inks[fabric.service_router] = COMPUTE_INK
    inks[fabric.node_router[nodes]] = JOB_INK
    inks[fabric.lnet_router] = LNET_INK
    return inks


def _draw_groups(
    axes: Axes,
    fabric: Fabric,
    busy: FloatArray,
    colours: ScalarMappable,
    inks: NDArray[np.str_],
    group: int,
) -> None:
    """All groups around a circle; the busiest bundles lie above the others."""
    places = circle(fabric)
    found = bundles(fabric, places)
    loads = bundle_loads(found.of_link, len(found.points), busy)
    _add_lines(axes, found.points, loads, colours, widths=(0.8, 2.6))
    axes.add_collection(PolyCollection(list(places.squares()), facecolors=inks.tolist()))
    label_groups(axes, fabric, places, group)
    axes.set(xlim=(-places.reach, places.reach), ylim=(-places.reach, places.reach))
    axes.set_aspect("equal")
    axes.axis("off")


def _draw_group(
    axes: Axes,
    fabric: Fabric,
    busy: FloatArray,
    colours: ScalarMappable,
    inks: NDArray[np.str_],
    group: int,
) -> None:
    """One group enlarged: chassis are rows, slots are columns."""
    members = np.flatnonzero(fabric.router_group == group)
    place = np.stack([fabric.router_slot, fabric.router_chassis], axis=1).astype(np.float64)
    slots, chassis = (int(extent) + 1 for extent in place.max(axis=0))
    ends = fabric.router_group[fabric.link_source], fabric.router_group[fabric.link_target]
    upward = fabric.link_source < fabric.link_target
    links = np.flatnonzero((ends[0] == group) & (ends[1] == group) & upward)
    first, second = place[fabric.link_source[links]], place[fabric.link_target[links]]
    level = first[:, 1] == second[:, 1]
    lines = np.where(
        level[:, None, None],
        arcs(first, second, bends(first, second, (0.0, 0.62))),
        arcs(first, second, bends(first, second, (0.55, 0.0))),
    )
    loads = np.maximum(busy[links], busy[fabric.link_reverse[links]])
    _add_lines(axes, lines, loads, colours, widths=(0.4, 2.0))
    x, y = place[members].T
    shown: dict[str, Any] = {"s": 62, "c": inks[members].tolist(), "zorder": 3}
    axes.scatter(x, y, edgecolors=EDGE_INK, linewidths=0.6, **shown)
    axes.set(xlim=(-1.4, slots - 0.2), ylim=(-1.0, chassis + 0.1))
    title = f"Group {group}: the green and black links inside it"
    axes.set_title(title, fontsize=13, color=TEXT_INK, loc="left")
    label_slots(axes, slots, chassis)
    axes.axis("off")


def _add_lines(
    axes: Axes,
    lines: FloatArray,
    loads: FloatArray,
    colours: ScalarMappable,
    widths: tuple[float, float],
) -> None:
    """Draw lines, the busiest on top and widest."""
    order = np.argsort(loads, kind="stable")
    share = loads[order] / (loads.max(initial=0.0) or 1.0)
    inks = np.where(
        loads[order, None] > 0.0, colours.to_rgba(100 * loads[order]), to_rgba(IDLE_INK)
    )
    thin, thick = widths
    width = thin + (thick - thin) * share
    axes.add_collection(LineCollection(list(lines[order]), linewidths=width, colors=inks))


def _explain(figure: Figure, colours: ScalarMappable, inks: NDArray[np.str_]) -> None:
    """Add the scale of the loads, and what the colours of the routers mean."""
    bar = figure.colorbar(
        colours, cax=figure.add_axes((0.615, 0.375, 0.36, 0.02)), orientation="horizontal"
    )
    bar.set_label("share of the run in which the link was busy (%)", fontsize=12, color=TEXT_INK)
    bar.ax.tick_params(labelsize=11, colors=TEXT_INK)
    marker: dict[str, Any] = {"linestyle": "none", "marker": "s", "markersize": 11}
    idle = Line2D([], [], linewidth=3, color=IDLE_INK, label="links that carried nothing")
    handles = [
        Line2D([], [], **marker, markeredgecolor=EDGE_INK, markerfacecolor=ink, label=label)
        for ink, label in _ROUTERS.items()
        if ink in inks
    ]
    figure.legend(
        handles=[*handles, idle],
        loc="upper left",
        bbox_to_anchor=(0.605, 0.31),
        frameon=False,
        fontsize=12,
        labelcolor=TEXT_INK,
    )
