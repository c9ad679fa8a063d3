"""The 3-D torus of the Cray XE and XK series as a NetworkX graph.

A torus is a grid of routers whose ends are joined, so that every row of it is a ring. In the XE and
XK series one Gemini router serves two nodes and has links to its neighbours on both sides in each
of the dimensions x, y and z. A blade carries two routers, neighbours in y; the eight blades of a
chassis follow each other in z, and so do the three chassis of a cabinet; x runs along a row of
cabinets, y from row to row. Some links therefore stay on a blade, some in a chassis, and the others
leave it:

mezzanine
    Between the two routers of a blade, in y.
backplane
    Between neighbouring blades of a chassis, in z.
cable
    All others: in x, in y from blade to blade, in z from chassis to chassis and around.

A link is one tile of a router, three lanes wide in each direction. Of the 40 tiles for the network
x and z use 8 on each side, y uses 4 (the tiles and the speeds of the three media stand in gemini.h
of OVIS's LDMS).

The rings are folded, so that no cable is longer than two places: a ring goes out over every second
cabinet of a row, or row of the room, and comes back over the others; within a cabinet it runs up
one chassis and down the next. Names follow from that. The rule was read off the names, numbers and
coordinates of Titan's LNET routers in Oak Ridge's script for their routing, fgr.py, where x counts
the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xc40io.topology.arrays import Int64Array
from xc40io.topology.fabric import Fabric
from xc40io.topology.folding import folded
from xc40io.topology.kinds import Candidates, Fact, Kind, check_shape
from xc40io.topology.links import LinkClass, one_class_each
from xc40io.topology.summary import GB, groups_with_lnet, link_facts
from xc40io.topology.text import format_count
from xc40io.topology.torus_routes import torus_candidates, torus_hop_limit, torus_ways_back

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.figure import FigureBase


AXES = ("x", "y", "z")
MEDIA = ("mezzanine", "backplane", "cable")


@dataclass(frozen=True)
class TorusShape:
    """The numbers that fix a torus. The defaults are Titan's.

    Parameters
    ----------
    x, y, z : int
        Routers around the ring of each dimension. Two routers are joined by one bundle, not by
        two ways round; a single one has no links in that dimension.
    slots : int
        Blades of a chassis; its routers follow each other in z.
    routers_per_blade : int
        Routers of a blade, neighbours in y.
    nodes_per_router : int
        Compute nodes of a router.
    x_links, y_links, z_links : int
        Parallel links between neighbours in each dimension.

    Raises
    ------
    ValueError
        If a number is below one, blades do not fill the rings of y, or chassis the rings of z.
    """

    x: int = 25
    y: int = 16
    z: int = 24
    slots: int = 8
    routers_per_blade: int = 2
    nodes_per_router: int = 2
    x_links: int = 8
    y_links: int = 4
    z_links: int = 8

    def __post_init__(self) -> None:
        check_shape("torus", self)
        if self.y % self.routers_per_blade:
            raise ValueError(
                f"torus y is {self.y}: it must be a multiple of the {self.routers_per_blade} "
                "routers of a blade, which are neighbours in y"
            )
        if self.z % self.slots:
            raise ValueError(
                f"torus z is {self.z}: it must be a multiple of the {self.slots} slots of a "
                "chassis, which follow each other in z"
            )

    @property
    def extents(self) -> tuple[int, int, int]:
        """Routers around the ring of x, of y and of z."""
        return self.x, self.y, self.z

    @property
    def routers(self) -> int:
        """Routers of the whole machine."""
        return self.x * self.y * self.z

    @property
    def rows(self) -> int:
        """Rows of cabinets."""
        return self.y // self.routers_per_blade

    @property
    def cabinets(self) -> int:
        """Cabinets: one for each x and each row."""
        return self.x * self.rows


def torus(shape: TorusShape, links: Mapping[str, LinkClass]) -> nx.Graph[int]:
    """Build the graph of a torus.

    Parameters
    ----------
    shape : TorusShape
        How many of everything.
    links : mapping of str to LinkClass
        What a link over the mezzanine, the backplane and a cable is; exactly these three keys.

    Returns
    -------
    networkx.Graph
        Nodes are routers, numbered cabinet by cabinet and blade by blade, with the attributes
        ``x``, ``y`` and ``z``, ``group`` (the cabinet), ``chassis``, ``slot`` and ``name``
        (Cray's form, see :func:`router_names`). Edges are bundles of parallel links, with
        ``colour`` (the medium), ``multiplicity`` (links in the bundle), ``length``, ``rate``
        (payload bytes per second of the whole bundle in one direction) and ``latency`` (seconds).
        The graph carries ``kind`` ("torus"), ``axes``, ``routers_per_blade``, ``shape`` and
        ``links``.

    Raises
    ------
    ValueError
        If ``links`` has other keys than the three media.

    Examples
    --------
    >>> link = LinkClass(rate=0.9e9, latency=1e-7, length="electrical")
    >>> graph = torus(TorusShape(x=3, y=4, z=8), dict.fromkeys(MEDIA, link))
    >>> graph.number_of_nodes(), graph[0][1]["colour"], graph[0][1]["multiplicity"]
    (96, 'mezzanine', 4)
    """
    import networkx as nx

    classes = one_class_each("torus", "medium", MEDIA, links)
    graph: nx.Graph[int] = nx.Graph(
        kind="torus",
        axes=AXES,
        routers_per_blade=shape.routers_per_blade,
        shape=shape,
        links=classes,
    )
    x, y, z = coordinates(shape)
    cabinet, chassis, slot = _location(shape, x, y, z)
    graph.add_nodes_from(
        (router, dict(zip((*AXES, "group", "chassis", "slot", "name"), place, strict=True)))
        for router, place in enumerate(
            zip(
                *(part.tolist() for part in (x, y, z, cabinet, chassis, slot)),
                router_names(shape),
                strict=True,
            )
        )
    )
    for axis, count in enumerate((shape.x_links, shape.y_links, shape.z_links)):
        first, second, medium = ring_pairs(shape, axis)
        for code, name in enumerate(MEDIA):
            chosen, link = medium == code, classes[name]
            graph.add_edges_from(
                zip(first[chosen].tolist(), second[chosen].tolist(), strict=True),
                colour=name,
                multiplicity=count,
                rate=count * link.rate,
                length=link.length,
                latency=link.latency,
            )
    return graph


def coordinates(shape: TorusShape) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Coordinates x, y and z of every router: int64[routers] each."""
    x, row, z, place = np.unravel_index(
        np.arange(shape.routers), (shape.x, shape.rows, shape.z, shape.routers_per_blade)
    )
    return x, row * shape.routers_per_blade + place, z


def router_number(shape: TorusShape, x: Int64Array, y: Int64Array, z: Int64Array) -> Int64Array:
    """Numbers of the routers with these coordinates, of any common shape: int64."""
    row, place = np.divmod(y, shape.routers_per_blade)
    return ((x * shape.rows + row) * shape.z + z) * shape.routers_per_blade + place


def router_names(shape: TorusShape) -> list[str]:
    """Name all routers the way Cray does: ``c<column>-<row>c<chassis>s<slot>g<router of blade>``.

    Every second row of the room is on a ring's way back; there the chassis count downwards.
    """
    x, y, z = coordinates(shape)
    _, chassis, slot = _location(shape, x, y, z)
    column, row = folded(x, shape.x), folded(y // shape.routers_per_blade, shape.rows)
    parts = (column, row, chassis, slot, y % shape.routers_per_blade)
    return [
        f"c{c}-{r}c{cage}s{blade}g{router}"
        for c, r, cage, blade, router in zip(*(part.tolist() for part in parts), strict=True)
    ]


def ring_pairs(shape: TorusShape, axis: int) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Neighbours along a dimension: ``(first, second, medium)``, each int64[pairs].

    ``second`` follows ``first`` around the ring; ``medium`` is an index into :data:`MEDIA`.
    """
    extent = shape.extents[axis]
    first = np.stack(coordinates(shape))
    if extent < 3:  # no way round: from the first to the second, if there is one
        first = first[:, first[axis] < extent - 1]
    second = first.copy()
    second[axis] = (first[axis] + 1) % extent
    medium = np.full(first.shape[1], MEDIA.index("cable"))
    for bound, size, name in (
        ("y", shape.routers_per_blade, "mezzanine"),
        ("z", shape.slots, "backplane"),
    ):
        if AXES[axis] == bound:
            together = first[axis] // size == second[axis] // size
            # A ring as long as a blade or a chassis closes over a cable.
            medium[together & (second[axis] > first[axis])] = MEDIA.index(name)
    return router_number(shape, *first), router_number(shape, *second), medium


def _location(
    shape: TorusShape, x: Int64Array, y: Int64Array, z: Int64Array
) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Cabinet, chassis within it and slot within that of routers: int64 each."""
    row = y // shape.routers_per_blade
    run, step = np.divmod(z, shape.slots)
    slot = np.where(run % 2 == 0, step, shape.slots - 1 - step)
    back = folded(row, shape.rows) % 2 == 1
    chassis = np.where(back, shape.z // shape.slots - 1 - run, run)
    return x * shape.rows + row, chassis, slot


def _candidates(
    fabric: Fabric, source: Int64Array, target: Int64Array, seed: int, minimal: int, valiant: int
) -> Candidates:
    columns = torus_candidates(fabric, source, target, seed, max(minimal, valiant))
    return Candidates(columns, [*range(minimal), *range(valiant)])


def _hop_limits(fabric: Fabric) -> tuple[int, int]:
    limit = torus_hop_limit(fabric)
    return limit, limit


def _extents(fabric: Fabric) -> list[int]:
    extents: list[int] = (fabric.router_coordinates.max(axis=0) + 1).tolist()
    return extents


def _facts(fabric: Fabric) -> tuple[list[Fact], list[Fact]]:
    """Say what a torus consists of, and how much it carries how far."""
    rings = zip(fabric.axes, _extents(fabric), strict=True)
    return [
        *(Fact(f"routers around a ring of {axis}", extent, "") for axis, extent in rings),
        Fact("cabinets", fabric.groups, ""),
        Fact("chassis in a cabinet", int(fabric.router_chassis.max()) + 1, ""),
        Fact("blades in a chassis", int(fabric.router_slot.max()) + 1, ""),
        Fact("Gemini routers", fabric.routers, ""),
        Fact("routers on a blade", fabric.routers_per_blade, ""),
    ], [
        *groups_with_lnet(fabric, "cabinets"),
        *link_facts(fabric),
        *_ring_facts(fabric),
        Fact("longest route", torus_hop_limit(fabric), "hops"),
    ]


def _ring_facts(fabric: Fabric) -> list[Fact]:
    """How much passes between neighbours in a torus and through its middle, each direction."""
    source, target = (
        fabric.router_coordinates[end] for end in (fabric.link_source, fabric.link_target)
    )
    facts = []
    for number, axis in enumerate(fabric.axes):
        along = source[:, number] != target[:, number]
        if along.any():
            rate, half = fabric.link_rate[along], (source[:, number].max() + 1) // 2
            cut = (source[:, number] < half) & (target[:, number] >= half)
            facts += [
                Fact(f"neighbours in {axis}, at least", float(rate.min()) / GB, "GB/s"),
                Fact(f"neighbours in {axis}, at most", float(rate.max()) / GB, "GB/s"),
                Fact(
                    f"from one half of {axis} to the other",
                    float(fabric.link_rate[cut].sum()) / GB,
                    "GB/s",
                ),
            ]
    return facts


def _subtitle(fabric: Fabric) -> str:
    """Say in one line what the torus consists of."""
    extents = " x ".join(map(str, _extents(fabric)))
    return f"{extents} Gemini routers in {format_count(fabric.groups, 'cabinet')}"


def _draw(figure: FigureBase, fabric: Fabric) -> None:
    from xc40io.topology.torus_drawing import draw_torus

    draw_torus(figure, fabric)


KIND = Kind(
    shape=TorusShape,
    lengths={"mezzanine": "backplane", "backplane": "backplane", "cable": "electrical"},
    graph=torus,
    candidates=_candidates,
    hop_limits=_hop_limits,
    facts=_facts,
    subtitle=_subtitle,
    draw=_draw,
    group="cabinet",
    ways_back=torus_ways_back,
)
