"""The dragonfly of the Cray XC series as a NetworkX graph.

A dragonfly is a network of *groups*. Inside a group every router reaches every other in at most
two hops; between any two groups there is a direct bundle of optical cables. In the XC series
(Cray WP-Aries01-1112 p. 14-15) one Aries router serves the four nodes of a blade, and the three
ranks of links are known by the colours of their cables:

green
    All 16 routers of a chassis, each with each, over the backplane.
black
    The routers of the same slot in the 6 chassis of a group, each with each, over copper cables.
blue
    Between groups, over active optical cables (AOC). One cable holds four links and is plugged
    into two neighbouring blades, two links into each.

The blue wiring rule was read off the real Theta in its 9-group stage of 2016 and reproduces it
link for link. Call the two neighbouring slots that share cables, in one chassis, a *blade pair*.
A group counts its blade pairs column by column: first slots 0 and 1 of every chassis, then slots
2 and 3, and so on. It deals the cables of its peers onto them one after another, in the order of
the peers' numbers, and starts again at the first blade pair when it has reached the last. The
k-th cable of a group pair joins the k-th blade pair dealt at one end to the k-th dealt at the
other, slot by slot. So the blade pairs of a group carry the same number of cables, give or take
one, and a group can have as many cables as its blue ports hold: 240 on 48 blade pairs, the limit
that Cray states as well (p. 25). A machine grows by groups without a cable being moved. That the
rule held for Theta's last three groups too is an assumption: their wiring is not published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xc40io.topology.arrays import FloatArray, Int64Array
from xc40io.topology.dragonfly_routes import dragonfly_candidates, dragonfly_hop_limits
from xc40io.topology.fabric import Fabric
from xc40io.topology.kinds import Candidates, Fact, Kind, check_shape
from xc40io.topology.links import LinkClass, one_class_each
from xc40io.topology.summary import GB, group_bandwidth, groups_with_lnet, link_facts
from xc40io.topology.text import format_count

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.figure import Figure, FigureBase


CHASSIS_PER_CABINET = 3
COLOURS = ("green", "black", "blue")
AXES = ("group", "chassis", "slot")


@dataclass(frozen=True)
class DragonflyShape:
    """The numbers that fix a dragonfly. The defaults are Theta's in its final, 12-group stage.

    Parameters
    ----------
    groups : int
        Groups of two cabinets.
    chassis : int
        Chassis of a group; a cabinet holds three.
    slots : int
        Blades, hence routers, of a chassis. Even, because two neighbours share their cables.
    nodes_per_router : int
        Compute nodes on a blade.
    green_links, black_links : int
        Parallel links of each connected router pair in a chassis and across the chassis.
    group_links : int
        Single links between every two groups.
    aoc_links : int
        Links in one optical cable; half of them go to each blade of a pair.
    router_blue_ports : int
        Blue links that a router has ports for.
    groups_per_row : int
        Groups whose cabinets stand in one row of the machine room; only names depend on it.

    Raises
    ------
    ValueError
        If a number is below one, cables cannot be shared out evenly, or the blue ports of a group
        do not suffice for its peers.
    """

    groups: int = 12
    chassis: int = 6
    slots: int = 16
    nodes_per_router: int = 4
    green_links: int = 1
    black_links: int = 3
    group_links: int = 48
    aoc_links: int = 4
    router_blue_ports: int = 10
    groups_per_row: int = 6

    def __post_init__(self) -> None:
        check_shape("dragonfly", self)
        if self.slots % 2:
            raise ValueError(
                f"dragonfly slots is {self.slots}: it must be even, "
                "because two neighbouring blades share their optical cables"
            )
        if self.aoc_links % 2:
            raise ValueError(
                f"dragonfly aoc_links is {self.aoc_links}: it must be even, "
                "because half of a cable's links go to each blade of a pair"
            )
        if self.group_links % self.aoc_links:
            raise ValueError(
                f"dragonfly group_links is {self.group_links}: it must be a multiple of the "
                f"{self.aoc_links} links in an optical cable"
            )
        ports = self.router_blue_ports // self.links_per_end
        needed, available = (self.groups - 1) * self.group_cables, ports * self.blade_pairs
        if needed > available:
            raise ValueError(
                f"dragonfly group_links is {self.group_links}: {self.groups - 1} peers would take "
                f"{needed} cables of a group, but its blue ports hold {available}"
            )

    @property
    def routers_per_group(self) -> int:
        """Routers of one group."""
        return self.chassis * self.slots

    @property
    def routers(self) -> int:
        """Routers of the whole machine."""
        return self.groups * self.routers_per_group

    @property
    def blade_pairs(self) -> int:
        """Pairs of neighbouring blades, which share cables, in one group."""
        return self.routers_per_group // 2

    @property
    def group_cables(self) -> int:
        """Optical cables between two groups."""
        return self.group_links // self.aoc_links

    @property
    def links_per_end(self) -> int:
        """Links of an optical cable that go to one of the two blades of a pair."""
        return self.aoc_links // 2


def dragonfly(shape: DragonflyShape, links: Mapping[str, LinkClass]) -> nx.Graph[int]:
    """Build the graph of a dragonfly.

    Parameters
    ----------
    shape : DragonflyShape
        How many of everything.
    links : mapping of str to LinkClass
        What a green, a black and a blue link is; exactly these three keys.

    Returns
    -------
    networkx.Graph
        Nodes are routers, numbered ``(group * chassis + chassis index) * slots + slot``, with the
        attributes ``group``, ``chassis`` (0 to 5 within the group), ``slot`` and ``name`` (Cray's
        form, see :func:`router_name`). Edges are bundles of parallel links, with ``colour``,
        ``multiplicity`` (links in the bundle), ``length``, ``rate`` (payload bytes per second of
        the whole bundle in one direction) and ``latency`` (seconds). The graph carries ``kind``
        ("dragonfly"), ``axes``, ``routers_per_blade``, ``shape`` and ``links``.

    Raises
    ------
    ValueError
        If ``links`` has other keys than the three colours.

    Examples
    --------
    >>> copper = LinkClass(rate=3.4e9, latency=1e-7, length="electrical")
    >>> graph = dragonfly(DragonflyShape(groups=2), dict.fromkeys(COLOURS, copper))
    >>> graph.number_of_nodes(), graph[0][96]["colour"], graph[0][96]["multiplicity"]
    (192, 'blue', 2)
    """
    import networkx as nx

    classes = one_class_each("dragonfly", "colour", COLOURS, links)
    graph: nx.Graph[int] = nx.Graph(
        kind="dragonfly", axes=AXES, routers_per_blade=1, shape=shape, links=classes
    )
    group, chassis, slot = (
        place.tolist()
        for place in np.unravel_index(
            np.arange(shape.routers), (shape.groups, shape.chassis, shape.slots)
        )
    )
    graph.add_nodes_from(
        (router, {"group": g, "chassis": c, "slot": s, "name": router_name(shape, g, c, s)})
        for router, (g, c, s) in enumerate(zip(group, chassis, slot, strict=True))
    )
    bundles = {"green": green_pairs(shape), "black": black_pairs(shape), "blue": blue_pairs(shape)}
    for colour, (first, second, count) in bundles.items():
        link = classes[colour]
        graph.add_edges_from(
            (
                (a, b, {"multiplicity": n, "rate": n * link.rate})
                for a, b, n in zip(first.tolist(), second.tolist(), count.tolist(), strict=True)
            ),
            colour=colour,
            length=link.length,
            latency=link.latency,
        )
    return graph


def router_name(shape: DragonflyShape, group: int, chassis: int, slot: int) -> str:
    """Name a router the way Cray does: ``c<column>-<row>c<chassis>s<slot>``.

    The chassis is counted within its cabinet, three to a cabinet. The cabinets of a group stand
    side by side. On Theta a row of 12 cabinets holds 6 groups, so group 7 has the cabinets c2-1
    and c3-1.
    """
    cabinets_per_group = -(-shape.chassis // CHASSIS_PER_CABINET)
    row, place_in_row = divmod(group, shape.groups_per_row)
    cabinet, chassis = divmod(chassis, CHASSIS_PER_CABINET)
    return f"c{place_in_row * cabinets_per_group + cabinet}-{row}c{chassis}s{slot}"


def green_pairs(shape: DragonflyShape) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Router pairs joined by green links: ``(first, second, links)``, each int64[pairs]."""
    low, high = np.triu_indices(shape.slots, k=1)
    chassis = shape.slots * np.arange(shape.groups * shape.chassis)[:, None]
    return _bundles(chassis + low, chassis + high, shape.green_links)


def black_pairs(shape: DragonflyShape) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Router pairs joined by black links: ``(first, second, links)``, each int64[pairs]."""
    low, high = np.triu_indices(shape.chassis, k=1)
    group = shape.routers_per_group * np.arange(shape.groups)[:, None, None]
    column = group + np.arange(shape.slots)[:, None]
    return _bundles(column + shape.slots * low, column + shape.slots * high, shape.black_links)


def blue_pairs(shape: DragonflyShape) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Router pairs joined by blue links: ``(first, second, links)``, each int64[pairs].

    The rule is in the module's docstring. ``first`` lies in the lower-numbered group.
    """
    lower, upper = np.triu_indices(shape.groups, k=1)
    # A group skips itself when it counts its peers, so the upper group is one less to the lower.
    first = _dealt_routers(shape, group=lower, peer=upper - 1)
    second = _dealt_routers(shape, group=upper, peer=lower)
    # Bundles of more cables than a group has blade pairs come round to the same routers again.
    pairs, repeats = np.unique(
        np.stack([first.ravel(), second.ravel()]), axis=1, return_counts=True
    )
    return pairs[0], pairs[1], repeats * shape.links_per_end


def _dealt_routers(shape: DragonflyShape, group: Int64Array, peer: Int64Array) -> Int64Array:
    """Routers where the cables from ``group`` to its ``peer``-th peer are plugged in.

    Both arguments are int64[group pairs]; the result is int64[group pairs, cables, 2].
    """
    dealt = peer[:, None] * shape.group_cables + np.arange(shape.group_cables)
    column, chassis = np.divmod(dealt % shape.blade_pairs, shape.chassis)
    even_slot = (group[:, None] * shape.chassis + chassis) * shape.slots + 2 * column
    routers: Int64Array = even_slot[:, :, None] + np.arange(2)
    return routers


def _bundles(
    first: Int64Array, second: Int64Array, links: int
) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Flatten router pairs that all have the same number of links."""
    return first.ravel(), second.ravel(), np.full(first.size, links)


def _candidates(
    fabric: Fabric, source: Int64Array, target: Int64Array, seed: int, minimal: int, valiant: int
) -> Candidates:
    columns = dragonfly_candidates(fabric, source, target, seed, minimal, valiant)
    return Candidates(columns, range(minimal + valiant))


def _facts(fabric: Fabric) -> tuple[list[Fact], list[Fact]]:
    """Say what a dragonfly consists of, and how much it carries how far."""
    minimal, valiant = dragonfly_hop_limits(fabric)
    return [
        Fact("groups", fabric.groups, ""),
        Fact("chassis in a group", int(fabric.router_chassis.max()) + 1, ""),
        Fact("routers in a chassis", int(fabric.router_slot.max()) + 1, ""),
        Fact("Aries routers (blades)", fabric.routers, ""),
    ], [
        *groups_with_lnet(fabric, "groups"),
        *link_facts(fabric),
        *_group_facts(fabric),
        Fact("longest minimal route", minimal, "hops"),
        Fact("longest non-minimal route", valiant, "hops"),
    ]


def _group_facts(fabric: Fabric) -> list[Fact]:
    """How much passes between groups, each direction."""
    between = group_bandwidth(fabric)
    if fabric.groups == 1:
        return []
    apart = ~np.eye(fabric.groups, dtype=bool)
    return [
        Fact("one group to another, at least", float(between[apart].min()) / GB, "GB/s"),
        Fact("one group to all others, at least", float(between.sum(axis=1).min()) / GB, "GB/s"),
    ]


def _subtitle(fabric: Fabric) -> str:
    """Say in one line what the dragonfly consists of."""
    slots, chassis = (int(place.max()) + 1 for place in (fabric.router_slot, fabric.router_chassis))
    return f"{format_count(fabric.groups, 'group')} x {chassis} chassis x {slots} Aries routers"


def _draw(figure: FigureBase, fabric: Fabric) -> None:
    from xc40io.topology.dragonfly_drawing import draw_dragonfly

    draw_dragonfly(figure, fabric)


def _draw_load(
    figure: Figure, fabric: Fabric, busy: FloatArray, nodes: NDArray[np.integer[Any]]
) -> None:
    from xc40io.topology.dragonfly_load import draw_dragonfly_load

    draw_dragonfly_load(figure, fabric, busy, nodes)


KIND = Kind(
    shape=DragonflyShape,
    lengths={"green": "backplane", "black": "electrical", "blue": "optical"},
    graph=dragonfly,
    candidates=_candidates,
    hop_limits=dragonfly_hop_limits,
    facts=_facts,
    subtitle=_subtitle,
    draw=_draw,
    group="group",
    draw_load=_draw_load,
    groups="the groups of the dragonfly",
)
