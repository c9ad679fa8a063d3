"""Networks of any kind whose routers are all alike, and the words in their pictures."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import networkx as nx

from xc40io.topology import Fabric, build_fabric, draw


def all_compute(graph: nx.Graph) -> Fabric:
    """The network of a graph with compute nodes on every router."""
    shape = graph.graph["shape"]
    return build_fabric(
        graph,
        compute_nodes=shape.routers * shape.nodes_per_router,
        service_blades=0,
        service_nodes_per_blade=0,
        lnet_routers=0,
        nodes_per_router=shape.nodes_per_router,
        seed=0,
    )


def drawn_words(fabric: Fabric, title: str, folder: Path) -> str:
    """The picture of a network, its words as they are written."""
    path = folder / "picture.svg"
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        draw(fabric, path, title)
    return path.read_text()
