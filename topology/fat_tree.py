"""A fat tree of two levels, as clusters on InfiniBand have it.

Nodes hang on *leaf* switches, and every leaf has as many cables to every *spine* switch as to every
other one. A message to a node of another leaf goes up to a spine and down again, and any spine will
do. With fewer cables up than nodes on a leaf the tree is *oversubscribed*: its nodes cannot all
send to other leaves at their full rate.

Which spine a message takes is weighed as it leaves, among several that are drawn for the two
leaves: so do switches with adaptive routing. Static tables (ftree, d-mod-k) have one spine for each
node that a message goes to, and spread nodes over spines as draws do pairs of leaves.

Service nodes, servers of the file system among them, have leaves of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xc40io.topology.arrays import Int64Array
from xc40io.topology.draws import Draws
from xc40io.topology.fabric import NO_LINK, Fabric
from xc40io.topology.kinds import Candidates, Fact, Kind, check_shape
from xc40io.topology.links import LinkClass, one_class_each
from xc40io.topology.summary import GB, groups_with_lnet, link_facts

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.figure import FigureBase


AXES = ("level", "switch")
CLASSES = ("uplink",)
_SPINE = 0  # purpose of a draw


@dataclass(frozen=True)
class FatTreeShape:
    """The numbers that fix a fat tree.

    Parameters
    ----------
    leaves, spines : int
        Switches of each level.
    uplinks : int
        Parallel cables between each leaf and each spine.

    Raises
    ------
    ValueError
        If a number is below one.
    """

    leaves: int
    spines: int
    uplinks: int = 1

    def __post_init__(self) -> None:
        check_shape("fat tree", self)


def fat_tree(shape: FatTreeShape, links: Mapping[str, LinkClass]) -> nx.Graph[int]:
    """Build the graph of a fat tree.

    Parameters
    ----------
    shape : FatTreeShape
        How many of everything.
    links : mapping of str to LinkClass
        What an ``uplink`` is; exactly this key.

    Returns
    -------
    networkx.Graph
        Nodes are switches, first the leaves, each a group of its own, then the spines, all of them
        one group; their attributes, and those of the edges and the graph, are those of
        :func:`~xc40io.topology.dragonfly.dragonfly`. ``hosts`` says that nodes hang on leaves.

    Raises
    ------
    ValueError
        If ``links`` has other keys.

    Examples
    --------
    >>> cable = LinkClass(rate=12e9, latency=1e-7, length="electrical")
    >>> graph = fat_tree(FatTreeShape(leaves=4, spines=2, uplinks=3), {"uplink": cable})
    >>> graph.number_of_nodes(), graph[0][4]["multiplicity"], graph[0][4]["rate"] == 3 * cable.rate
    (6, 3, True)
    """
    import networkx as nx

    classes = one_class_each("fat tree", "uplink", CLASSES, links)
    leaves, spines, cable = range(shape.leaves), range(shape.spines), classes["uplink"]
    graph: nx.Graph[int] = nx.Graph(
        kind="fat_tree",
        axes=AXES,
        routers_per_blade=1,
        hosts=shape.leaves,
        shape=shape,
        links=classes,
    )
    for leaf in leaves:
        place = {"level": 0, "switch": leaf, "group": leaf, "chassis": 0, "slot": 0}
        graph.add_node(leaf, **place, name=f"leaf{leaf}")
    for spine in spines:
        place = {"level": 1, "switch": spine, "group": shape.leaves, "chassis": 0, "slot": spine}
        graph.add_node(shape.leaves + spine, **place, name=f"spine{spine}")
    graph.add_edges_from(
        ((leaf, shape.leaves + spine) for leaf in leaves for spine in spines),
        colour="uplink",
        multiplicity=shape.uplinks,
        length=cable.length,
        rate=shape.uplinks * cable.rate,
        latency=cable.latency,
    )
    return graph


def _candidates(
    fabric: Fabric, source: Int64Array, target: Int64Array, seed: int, minimal: int, valiant: int
) -> Candidates:
    """Draw spines for pairs of leaves, each another one as long as there are others."""
    leaves, spines = _levels(fabric)
    if max(source.max(initial=0), target.max(initial=0)) >= leaves:
        raise ValueError("routes of a fat tree lead from leaf to leaf: no node hangs on a spine")
    up = np.full((leaves, spines), NO_LINK, np.int32)
    upward = np.flatnonzero(fabric.link_source < leaves)
    up[fabric.link_source[upward], fabric.link_target[upward] - leaves] = upward
    first, count = Draws(seed, source, target)(_SPINE) % spines, min(minimal + valiant, spines)
    apart = (source != target)[:, None]
    columns = []
    for number in range(count):
        spine = (first + number) % spines
        way = np.stack([up[source, spine], fabric.link_reverse[up[target, spine]]], axis=1)
        columns.append(np.where(apart, way, np.int32(NO_LINK)))
    return Candidates(columns, [number % count for number in range(minimal + valiant)])


def _levels(fabric: Fabric) -> tuple[int, int]:
    """Return how many leaves and spines there are."""
    spines = int(fabric.router_coordinates[:, 0].sum())
    return fabric.routers - spines, spines


def _hop_limits(fabric: Fabric) -> tuple[int, int]:
    longest = 2 if _levels(fabric)[0] > 1 else 0
    return longest, longest


def _facts(fabric: Fabric) -> tuple[list[Fact], list[Fact]]:
    """Say what a fat tree consists of, and how much it carries."""
    leaves, spines = _levels(fabric)
    upward = float(fabric.link_rate[fabric.link_source == 0].sum())
    return [
        Fact("leaf switches", leaves, ""),
        Fact("spine switches", spines, ""),
    ], [
        *groups_with_lnet(fabric, "leaves"),
        *link_facts(fabric),
        Fact("one leaf to all others", upward / GB, "GB/s"),
        Fact("longest route", _hop_limits(fabric)[0], "hops"),
    ]


def _subtitle(fabric: Fabric) -> str:
    leaves, spines = _levels(fabric)
    return f"Fat tree of {leaves} leaf and {spines} spine switches"


def _draw(figure: FigureBase, fabric: Fabric) -> None:
    """Draw the leaves in a row below the spines, with the cables between them."""
    from matplotlib.collections import LineCollection

    from xc40io.topology.inks import (
        COMPUTE_INK,
        EDGE_INK,
        EMPTY_INK,
        LNET_INK,
        SERVICE_INK,
        add_legend,
        router_inks,
    )

    level, number = fabric.router_coordinates.T
    across = (number + 0.5) / np.bincount(level)[level]
    place = np.stack([across, level.astype(np.float64)], axis=1)
    upward = np.flatnonzero(fabric.link_source < fabric.link_target)
    ends = np.stack([place[fabric.link_source[upward]], place[fabric.link_target[upward]]], axis=1)
    axes = figure.add_axes((0.02, 0.05, 0.56, 0.84))
    axes.add_collection(LineCollection(list(ends), linewidths=0.7, colors=_UPLINK_INK, alpha=0.5))
    inks = router_inks(fabric)
    x, y = place.T
    axes.scatter(x, y, s=110, c=inks, marker="s", edgecolors=EDGE_INK, linewidths=0.6, zorder=3)
    axes.set(xlim=(0, 1), ylim=(-0.15, 1.15))
    axes.axis("off")
    routers = {
        COMPUTE_INK: ("router", ", leaves with compute nodes"),
        SERVICE_INK: ("router", ", leaves with service nodes and servers"),
        LNET_INK: ("router", ", leaves with LNET routers"),
        EMPTY_INK: ("router", " without nodes"),
    }
    add_legend(figure, fabric, 0.80, routers, {"uplink": _UPLINK_INK}, {"uplink": "to the spines"})


_UPLINK_INK = "#343a40"

KIND = Kind(
    shape=FatTreeShape,
    lengths={"uplink": "electrical"},
    graph=fat_tree,
    candidates=_candidates,
    hop_limits=_hop_limits,
    facts=_facts,
    subtitle=_subtitle,
    draw=_draw,
    group="leaf",
)
