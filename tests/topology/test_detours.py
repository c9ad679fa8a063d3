"""Ways around links that are down, on any dragonfly."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from dragonflies import full, shapes, theta
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.topology import Detours, DragonflyShape, cut_off


@settings(max_examples=40, deadline=None)
@given(shape=shapes(), data=st.data(), seed=st.integers(0, 2**63))
def test_a_detour_is_a_shortest_walk_over_links_that_are_up(
    shape: DragonflyShape, data: st.DataObject, seed: int
) -> None:
    fabric = full(shape)
    if fabric.links == 0:
        return
    link = st.integers(0, fabric.links - 1)
    down = data.draw(st.lists(link, max_size=3))
    source, target = data.draw(st.integers(0, fabric.routers - 1)), fabric.routers - 1
    graph = nx.DiGraph()
    graph.add_nodes_from(range(fabric.routers))
    up = [i for i in range(fabric.links) if i not in down]
    graph.add_edges_from((fabric.link_source[i], fabric.link_target[i]) for i in up)
    detours = Detours(fabric, down, seed)
    if not nx.has_path(graph, source, target):
        with pytest.raises(nx.NetworkXNoPath):
            detours.between(source, target)
        return
    way = detours.between(source, target, data.draw(st.integers(0, 9)))
    stops = [source, *fabric.link_target[way].tolist()]
    assert fabric.link_source[way].tolist() == stops[:-1]
    assert stops[-1] == target
    assert not set(way.tolist()) & set(down)
    assert len(way) == nx.shortest_path_length(graph, source, target)


def test_the_traffic_of_a_link_spreads_over_several_ways() -> None:
    fabric = theta()
    blue = int(fabric.links_of("blue")[0])
    detours = Detours(fabric, [blue, int(fabric.link_reverse[blue])], seed=1)
    ends = int(fabric.link_source[blue]), int(fabric.link_target[blue])
    ways = {tuple(detours.between(*ends, number).tolist()) for number in range(20)}
    assert len(ways) > 1
    again = Detours(fabric, [blue, int(fabric.link_reverse[blue])], seed=1)
    assert all(np.array_equal(again.between(*ends, i), detours.between(*ends, i)) for i in range(4))


def test_who_is_cut_off_is_told() -> None:
    fabric = theta()
    of_seven = np.flatnonzero(fabric.link_source == 7)
    assert cut_off(fabric, of_seven[1:].tolist()) == []
    assert cut_off(fabric, of_seven.tolist()) == [7]
