"""A network as arrays, with the machine's nodes plugged into it.

A graph is good to build and to look at; a simulation wants arrays. A :class:`Fabric` holds both
directions of every bundle of links as *directed links*, numbered from 0, and says which router
every node hangs on. It does not depend on the kind of network: any graph that names its ``axes``,
and whose routers carry these, ``group``, ``chassis``, ``slot`` and ``name``, can be turned into
one.

Two kinds of blade share the slots. A *compute blade* carries the nodes that run applications. A
*service blade* carries nodes that run the machine itself, among them the LNET routers: nodes with
one foot in the Cray's own network and one in the InfiniBand network of the file system, through
which every byte to and from Lustre passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xc40io.topology.arrays import FloatArray, Int32Array
from xc40io.topology.dealing import deal
from xc40io.topology.links import LinkClass

if TYPE_CHECKING:
    import networkx as nx


NO_LINK = -1
"""Where a number of a link is expected and none is meant."""


@dataclass(frozen=True, eq=False)
class Fabric:
    """A network and the nodes on it. The arrays are not to be changed.

    Parameters
    ----------
    kind : str
        What the network is, for instance "dragonfly".
    link_classes : dict of str to LinkClass
        What a single link of each colour is, in the order of the codes in ``link_colour``.
    axes : tuple of str
        What the coordinates of a router are called.
    router_coordinates : int32[routers, axes]
        Place of each router in the network.
    router_group, router_chassis, router_slot : int32[routers]
        Where each router stands; the chassis is counted within its group, which is a group of the
        dragonfly or a cabinet of the torus.
    router_names : tuple of str
        Each router's name in the manufacturer's form.
    routers_per_blade : int
        Routers on one blade; blade b carries those from ``b * routers_per_blade`` on.
    link_source, link_target : int32[links]
        Routers at the two ends of each directed link.
    link_reverse : int32[links]
        The directed link that runs the other way between the same two routers.
    link_multiplicity : int32[links]
        Parallel single links that this directed link stands for.
    link_rate : float64[links]
        Payload bytes per second: multiplicity times the rate of one link.
    link_latency : float64[links]
        Seconds.
    link_colour : int8[links]
        Index into :attr:`colours`. The colour of a link says what cable it is.
    compute_router : int32[compute nodes]
        Router of each compute node. Nodes are numbered in cabinet order.
    service_router : int32[service nodes]
        Router of each service node; the LNET routers come first.
    lnet_router : int32[LNET routers]
        Router of the network that each LNET router hangs on.
    """

    kind: str
    link_classes: dict[str, LinkClass]
    axes: tuple[str, ...]
    router_coordinates: Int32Array
    router_group: Int32Array
    router_chassis: Int32Array
    router_slot: Int32Array
    router_names: tuple[str, ...]
    routers_per_blade: int
    link_source: Int32Array
    link_target: Int32Array
    link_reverse: Int32Array
    link_multiplicity: Int32Array
    link_rate: FloatArray
    link_latency: FloatArray
    link_colour: NDArray[np.int8]
    compute_router: Int32Array
    service_router: Int32Array
    lnet_router: Int32Array

    @property
    def colours(self) -> tuple[str, ...]:
        """Names of the link colours, in the order of their codes."""
        return tuple(self.link_classes)

    @property
    def routers(self) -> int:
        """Number of routers."""
        return len(self.router_group)

    @property
    def links(self) -> int:
        """Number of directed links."""
        return len(self.link_source)

    @property
    def groups(self) -> int:
        """Number of groups."""
        return int(self.router_group.max()) + 1

    @property
    def service_blades(self) -> Int32Array:
        """Numbers of the service blades, in ascending order."""
        return np.unique(self.service_router // self.routers_per_blade)

    @property
    def compute_group(self) -> Int32Array:
        """Group of each compute node, int32[compute nodes]."""
        return self.router_group[self.compute_router]

    @property
    def node_router(self) -> Int32Array:
        """Router of each node, int32[nodes]: the compute nodes, then the service nodes."""
        return np.concatenate([self.compute_router, self.service_router])

    def links_of(self, colour: str) -> NDArray[np.intp]:
        """Directed links of one colour, in ascending order."""
        return np.flatnonzero(self.link_colour == self.colours.index(colour))

    def router_name(self, router: int) -> str:
        """Name of a router in the manufacturer's form, like ``c2-0c1s4``."""
        return self.router_names[router]

    def router_place(self, router: int) -> str:
        """Place of a router in the network, like ``g1c1s4`` or ``x7y2z12``."""
        place = zip(self.axes, self.router_coordinates[router].tolist(), strict=True)
        return "".join(f"{axis[0]}{coordinate}" for axis, coordinate in place)

    def link_name(self, link: int) -> str:
        """Name of a directed link, like ``blue g3c1s4->g7c0s2``."""
        ends = (self.link_source[link], self.link_target[link])
        source, target = (self.router_place(int(end)) for end in ends)
        return f"{self.colours[self.link_colour[link]]} {source}->{target}"


def build_fabric(
    graph: nx.Graph[int],
    *,
    compute_nodes: int,
    service_blades: int,
    service_nodes_per_blade: int,
    lnet_routers: int,
    nodes_per_router: int,
    seed: int,
) -> Fabric:
    """Turn a graph into arrays and put the nodes on it.

    Theta's real map of service blades is not public; the system's own slides call it irregular.
    So the blades are dealt out by chance, from ``seed``, but evenly: one to every group in turn,
    and within a group one to every chassis in turn. The LNET routers sit on the blades dealt
    first, one to a blade until every blade has one; on a blade they alternate between its routers.
    Compute nodes fill the remaining blades in the order of the router numbers,
    ``nodes_per_router`` to a router.

    Parameters
    ----------
    graph : networkx.Graph
        Routers 0 to n-1 and bundles of links, with the attributes that
        :func:`~xc40io.topology.dragonfly.dragonfly` and :func:`~xc40io.topology.torus.torus` give
        them. Where the graph carries ``hosts``, nodes hang on its first so many routers alone.
    compute_nodes, service_blades, service_nodes_per_blade, lnet_routers : int
        How many of each. LNET routers are service nodes.
    nodes_per_router : int
        Compute nodes on each router of a compute blade.
    seed : int
        Fixes where the service blades are.

    Returns
    -------
    Fabric
        The same for the same arguments, whatever was computed before.

    Raises
    ------
    ValueError
        If the network has too few routers for the blades, or the service blades too few nodes for
        the LNET routers.
    """
    per_blade = graph.graph["routers_per_blade"]
    hosts: int = graph.graph.get("hosts", len(graph))
    _check_room(
        routers=hosts,
        routers_per_blade=per_blade,
        compute_nodes=compute_nodes,
        service_blades=service_blades,
        service_nodes=service_blades * service_nodes_per_blade,
        lnet_routers=lnet_routers,
        nodes_per_router=nodes_per_router,
    )
    places = [graph.nodes[router] for router in range(len(graph))]
    axes = tuple(graph.graph["axes"])
    part = {
        name: np.array([place[name] for place in places], dtype=np.int32)
        for name in {*axes, "group", "chassis", "slot"}
    }
    blades = _service_blades(
        part["group"][:hosts:per_blade], part["chassis"][:hosts:per_blade], service_blades, seed
    )
    # The n-th node of every blade, for n = 0, 1, ...; they alternate between its routers.
    turn = np.arange(service_nodes_per_blade, dtype=np.int32) % per_blade
    service_router = (per_blade * blades + turn[:, None]).ravel()
    on_service_blade = np.isin(np.arange(hosts) // per_blade, blades)
    compute_routers = np.flatnonzero(~on_service_blade).astype(np.int32)

    bundles = sorted(graph.edges(data=True), key=lambda bundle: bundle[:2])
    ends = np.array([bundle[:2] for bundle in bundles], dtype=np.int32).reshape(-1, 2)
    attributes = [bundle[2] for bundle in bundles]
    colours = {colour: code for code, colour in enumerate(graph.graph["links"])}
    colour = np.array([colours[bundle["colour"]] for bundle in attributes], dtype=np.int8)
    multiplicity = np.array([bundle["multiplicity"] for bundle in attributes], dtype=np.int32)
    rate = np.array([bundle["rate"] for bundle in attributes], dtype=np.float64)
    latency = np.array([bundle["latency"] for bundle in attributes], dtype=np.float64)
    return Fabric(
        kind=graph.graph["kind"],
        link_classes=dict(graph.graph["links"]),
        axes=axes,
        router_coordinates=np.stack([part[axis] for axis in axes], axis=1),
        router_group=part["group"],
        router_chassis=part["chassis"],
        router_slot=part["slot"],
        router_names=tuple(place["name"] for place in places),
        routers_per_blade=per_blade,
        # Bundle i becomes the directed links 2 i, as listed, and 2 i + 1, the other way.
        link_source=ends.ravel(),
        link_target=ends[:, ::-1].ravel(),
        link_reverse=np.arange(2 * len(ends), dtype=np.int32) ^ 1,
        link_multiplicity=np.repeat(multiplicity, 2),
        link_rate=np.repeat(rate, 2),
        link_latency=np.repeat(latency, 2),
        link_colour=np.repeat(colour, 2),
        compute_router=np.repeat(compute_routers, nodes_per_router)[:compute_nodes],
        service_router=service_router,
        lnet_router=service_router[:lnet_routers],
    )


def _check_room(
    *,
    routers: int,
    routers_per_blade: int,
    compute_nodes: int,
    service_blades: int,
    service_nodes: int,
    lnet_routers: int,
    nodes_per_router: int,
) -> None:
    """Raise ValueError unless all nodes find a place."""
    if compute_nodes < 1 or nodes_per_router < 1:
        raise ValueError(
            f"{compute_nodes} compute nodes, {nodes_per_router} to a router: both must be 1 or more"
        )
    if min(service_blades, service_nodes, lnet_routers) < 0:
        raise ValueError(
            f"{service_blades} service blades with {service_nodes} nodes and {lnet_routers} "
            "LNET routers: none may be below zero"
        )
    compute_blades = -(-compute_nodes // (nodes_per_router * routers_per_blade))
    if (compute_blades + service_blades) * routers_per_blade > routers:
        each = f", {routers_per_blade} to a blade" if routers_per_blade > 1 else ""
        raise ValueError(
            f"{compute_nodes} compute nodes fill {compute_blades} blades, and there are "
            f"{service_blades} service blades: the network has only {routers} routers{each}"
        )
    if lnet_routers > service_nodes:
        raise ValueError(
            f"{lnet_routers} LNET routers do not fit on {service_blades} service blades "
            f"with {service_nodes} nodes in all"
        )


def _service_blades(group: Int32Array, chassis: Int32Array, count: int, seed: int) -> Int32Array:
    """Numbers of the service blades, in the order in which they were dealt out.

    ``group`` and ``chassis`` are int32[blades].
    """
    dice = np.random.Generator(np.random.Philox(key=seed))
    shuffled = dice.permutation(len(group))
    one_per_chassis = deal(shuffled, owner=group * (chassis.max() + 1) + chassis)
    one_per_group = deal(one_per_chassis, owner=group)
    return one_per_group[:count].astype(np.int32)
