"""Ways around links that are down.

When a link goes down the machine computes its routes anew. A route that led over the link is
replaced by a shortest one between the same two routers over the links that are left: of several
that are equally short one is drawn, so that the traffic of the link spreads over them.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xc40io.topology.draws import Draws
from xc40io.topology.fabric import Fabric

if TYPE_CHECKING:
    import networkx as nx


class Detours:
    """The network without some of its links.

    Parameters
    ----------
    fabric : Fabric
        The whole network.
    down : collection of int
        Directed links that are down.
    seed : int
        Another seed draws other ways.
    """

    def __init__(self, fabric: Fabric, down: Collection[int], seed: int) -> None:
        import networkx as nx

        self._fabric = fabric
        self._graph = nx.DiGraph(graph_of(fabric, down))  # a copy: a view is slow to walk over
        self._seed = seed
        self._before: dict[int, dict[int, list[int]]] = {}

    def between(self, source: int, target: int, number: int = 0) -> NDArray[np.int32]:
        """Return the links of a shortest way between two routers, in the order of travel.

        Parameters
        ----------
        source, target : int
            Routers.
        number : int
            Another one draws another way, where there are several.

        Raises
        ------
        networkx.NetworkXNoPath
            If no way is left.
        """
        import networkx as nx

        if source not in self._before:
            found = nx.predecessor(self._graph, source)
            assert isinstance(found, dict)  # all routers, as no target is given
            self._before[source] = found
        before = self._before[source]
        if target not in before:
            raise nx.NetworkXNoPath(f"no way is left from router {source} to router {target}")
        draw = Draws(self._seed, np.array([source], np.int64), np.array([target], np.int64))
        way = [target]
        while way[-1] != source:
            nearer = before[way[-1]]
            way.append(nearer[int(draw(number, len(way))[0]) % len(nearer)])
        steps = pairwise(reversed(way))
        return np.array([self._link(*step) for step in steps], np.int32)

    def _link(self, source: int, target: int) -> int:
        """Return the directed link from one router to another."""
        from_source = self._fabric.link_source == source
        return int(np.flatnonzero(from_source & (self._fabric.link_target == target))[0])


def graph_of(fabric: Fabric, down: Collection[int]) -> nx.DiGraph[int]:
    """Return the routers of a network and its directed links, but those that are down."""
    import networkx as nx

    ends = [(int(fabric.link_source[link]), int(fabric.link_target[link])) for link in down]
    left = nx.restricted_view(_whole(fabric), [], ends)
    assert isinstance(left, nx.DiGraph)
    return left


@lru_cache(maxsize=2)
def _whole(fabric: Fabric) -> nx.DiGraph[int]:
    """Return the routers of a network and all its directed links."""
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(fabric.routers))
    ends = zip(fabric.link_source.tolist(), fabric.link_target.tolist(), strict=True)
    graph.add_edges_from(ends)
    return graph


def cut_off(fabric: Fabric, down: Collection[int]) -> list[int]:
    """Return the routers that cannot be reached from all others without some links.

    Empty if every router still reaches every other one; else those beyond the largest part.
    """
    import networkx as nx

    graph = graph_of(fabric, down)
    ends = [(int(fabric.link_source[link]), int(fabric.link_target[link])) for link in down]
    if all(nx.has_path(graph, *pair) for pair in ends):  # the usual case, and quick to see
        return []
    parts = sorted(nx.strongly_connected_components(graph), key=len)
    return sorted(router for part in parts[:-1] for router in part)
