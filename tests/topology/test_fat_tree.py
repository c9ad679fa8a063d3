"""The fat tree: every message between leaves goes over one spine, and any spine will do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole_networks import drawn_words

from xc40io.topology import (
    Fabric,
    LinkClass,
    build_fabric,
    candidate_routes,
    cut_off,
    describe,
    graph_of,
    hop_limits,
    place,
)
from xc40io.topology.fat_tree import FatTreeShape, fat_tree

CABLE = {"uplink": LinkClass(rate=12e9, latency=1e-7, length="electrical")}


def tree(leaves: int, spines: int, links: int = 1, service: int = 0) -> Fabric:
    """Return a fat tree with two compute nodes on every leaf that has no service nodes."""
    return build_fabric(
        fat_tree(FatTreeShape(leaves, spines, links), CABLE),
        compute_nodes=2 * (leaves - service),
        service_blades=service,
        service_nodes_per_blade=2,
        lnet_routers=0,
        nodes_per_router=2,
        seed=3,
    )


@given(st.integers(1, 9), st.integers(1, 7), st.integers(0, 99))
def test_routes_lead_up_to_a_spine_and_down_again(leaves: int, spines: int, seed: int) -> None:
    fabric = tree(leaves, spines)
    source, target = (ends.ravel() for ends in np.meshgrid(range(leaves), range(leaves)))
    routes = candidate_routes(fabric, source, target, seed)
    back = routes.reversed(fabric)
    for pair, (begin, end) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        met = set()
        for candidate in range(4):
            links = routes.route(pair, candidate)
            home = back.route(pair, candidate)
            if begin == end:
                assert len(links) == len(home) == 0
                continue
            up, down = links.tolist()
            assert (fabric.link_source[up], fabric.link_target[down]) == (begin, end)
            assert fabric.link_target[up] == fabric.link_source[down] >= leaves
            assert home.tolist() == fabric.link_reverse[[down, up]].tolist()
            met.add(int(fabric.link_target[up]))
        assert begin == end or len(met) == min(4, spines)
    assert routes.hops.max() <= hop_limits(fabric)[0]


def test_nodes_and_servers_have_leaves_of_their_own() -> None:
    fabric = tree(6, 3, service=2)
    assert set(fabric.compute_router) | set(fabric.service_router) == set(range(6))
    assert not set(fabric.compute_router) & set(fabric.service_router)
    spread = place("spread", 4, fabric)
    assert len(set(fabric.compute_router[spread].tolist())) == 4
    with pytest.raises(ValueError, match="the network has only 6 routers"):
        build_fabric(
            fat_tree(FatTreeShape(6, 3), CABLE),
            compute_nodes=14,
            service_blades=0,
            service_nodes_per_blade=1,
            lnet_routers=0,
            nodes_per_router=2,
            seed=1,
        )


def test_spines_stand_in_for_each_other() -> None:
    fabric = tree(3, 2)
    up = [link for link in range(fabric.links) if fabric.link_name(link) == "uplink l0s0->l1s1"]
    assert cut_off(fabric, up) == []
    assert fabric.router_name(0) == "leaf0"
    assert fabric.router_name(4) == "spine1"


def test_what_it_consists_of_and_its_picture(tmp_path: Path) -> None:
    fabric = tree(6, 3, links=2, service=1)
    facts = {fact.label: fact.value for fact in describe(fabric)}
    assert (facts["leaf switches"], facts["spine switches"], facts["uplink links"]) == (6, 3, 36)
    assert facts["one leaf to all others"] == pytest.approx(3 * 2 * 12.0)
    assert not any("LNET" in label for label in facts)
    words = drawn_words(fabric, "A cluster", tmp_path)
    assert "Fat tree of 6 leaf and 3 spine switches" in words
    assert "LNET" not in words


def test_what_is_none_is_refused() -> None:
    numbers = {"leaves": 2, "spines": 0, "uplink_rate": 1e9, "payload_fraction": 1.0}
    with pytest.raises(ValueError, match="fat tree spines is 0: it must be 1 or more"):
        graph_of("fat_tree", numbers | {"hop_latency": 0.0})
    fabric = tree(2, 2)
    with pytest.raises(ValueError, match="no node hangs on a spine"):
        candidate_routes(fabric, [0], [3], seed=1)
    for name in ("ring", "fabric"):
        with pytest.raises(ValueError, match=f"no kind of network that is called {name}"):
            graph_of(name, numbers)
