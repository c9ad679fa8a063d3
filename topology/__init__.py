"""Networks of supercomputers as graphs and arrays; knows nothing of time.

A machine's network comes about in two steps. A builder turns a handful of numbers into a
NetworkX graph: :func:`dragonfly` makes the one of the Cray XC series, :func:`torus` that of the XE
and XK series, :func:`graph_of` that of any kind by its name. :func:`build_fabric` then turns the
graph into arrays and plugs the compute nodes and LNET routers in; everything else works on the
resulting :class:`Fabric`, whatever the network.

>>> from xc40io.topology import DragonflyShape, LinkClass, build_fabric, dragonfly
>>> links = {
...     "green": LinkClass(rate=3.36e9, latency=100e-9, length="backplane"),
...     "black": LinkClass(rate=3.36e9, latency=100e-9, length="electrical"),
...     "blue": LinkClass(rate=3.0e9, latency=100e-9, length="optical"),
... }
>>> fabric = build_fabric(
...     dragonfly(DragonflyShape(groups=12), links),
...     compute_nodes=4392, service_blades=54, service_nodes_per_blade=2,
...     lnet_routers=30, nodes_per_router=4, seed=1,
... )
>>> fabric.routers, fabric.link_name(0), fabric.router_name(1000)
(1152, 'green g0c0s0->g0c0s1', 'c8-1c2s8')

Which ways could a message take from node 0 to the first LNET router, and which nodes would a job
of 256 get if they were spread over all groups?

>>> routes = candidate_routes(fabric, fabric.compute_router[:1], fabric.lnet_router[:1], seed=1)
>>> routes.hops.shape  # one pair of routers, two minimal and two non-minimal candidates
(1, 4)
>>> place("spread", 256, fabric).shape
(256,)

Modules: :mod:`~xc40io.topology.links` (the kinds of cable), :mod:`~xc40io.topology.dragonfly` and
:mod:`~xc40io.topology.torus` (the graphs of Cray's networks), :mod:`~xc40io.topology.fat_tree`
(that of clusters), :mod:`~xc40io.topology.kinds` (what each kind says of itself),
:mod:`~xc40io.topology.fabric` (the same as arrays, with the nodes on it),
:mod:`~xc40io.topology.routes` (candidate routes between routers),
:mod:`~xc40io.topology.detours` (ways around links that are down),
:mod:`~xc40io.topology.placement` (which compute nodes a job gets), :mod:`~xc40io.topology.summary`
(what the network consists of) and :mod:`~xc40io.topology.drawing` (a picture of it). What is
particular to a kind of network in the last three has a module of its own beside them.
:func:`~xc40io.topology.drawing.draw` is imported when it is first used: a simulation draws nothing.
"""

from typing import TYPE_CHECKING

from xc40io.topology.detours import Detours, cut_off
from xc40io.topology.dragonfly import DragonflyShape, dragonfly
from xc40io.topology.fabric import Fabric, build_fabric
from xc40io.topology.kinds import Fact, graph_of, kind_of, shape_of
from xc40io.topology.links import LinkClass
from xc40io.topology.placement import POLICIES, parse_node_list, place
from xc40io.topology.routes import Routes, candidate_routes, hop_limits
from xc40io.topology.summary import describe, group_bandwidth
from xc40io.topology.torus import TorusShape, torus

if TYPE_CHECKING:
    from xc40io.topology.drawing import draw

__all__ = [
    "POLICIES",
    "Detours",
    "DragonflyShape",
    "Fabric",
    "Fact",
    "LinkClass",
    "Routes",
    "TorusShape",
    "build_fabric",
    "candidate_routes",
    "cut_off",
    "describe",
    "dragonfly",
    "draw",
    "graph_of",
    "group_bandwidth",
    "hop_limits",
    "kind_of",
    "parse_node_list",
    "place",
    "shape_of",
    "torus",
]


def __getattr__(name: str) -> object:
    """Import :func:`~xc40io.topology.drawing.draw` from its home (PEP 562)."""
    if name != "draw":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from xc40io.topology.drawing import draw

    return draw
