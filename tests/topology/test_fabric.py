from __future__ import annotations

import dragonflies
import numpy as np
import pytest

from xc40io.topology import DragonflyShape, Fabric, build_fabric, dragonfly


def spread_of(members: np.ndarray, sets: int) -> int:
    counts = np.bincount(members, minlength=sets)
    return int(counts.max() - counts.min())


def test_theta_has_its_nodes(theta: Fabric) -> None:
    assert theta.routers == 1152
    assert len(theta.compute_router) == 4392
    assert len(theta.service_blades) == 54
    assert len(theta.service_router) == 108
    assert len(theta.lnet_router) == 30
    assert theta.compute_router.dtype == theta.lnet_router.dtype == np.int32


def test_compute_nodes_fill_every_blade_that_is_no_service_blade(theta: Fabric) -> None:
    blades, nodes = np.unique(theta.compute_router, return_counts=True)
    assert set(nodes) == {4}
    assert sorted([*blades, *theta.service_blades]) == list(range(1152))
    assert (np.diff(theta.compute_router) >= 0).all()


def test_service_blades_and_lnet_routers_are_spread_evenly(theta: Fabric) -> None:
    assert spread_of(theta.router_group[theta.service_blades], 12) == 1
    assert spread_of(theta.router_group[theta.lnet_router], 12) == 1
    assert set(theta.lnet_router) <= set(theta.service_blades)
    assert len(np.unique(theta.lnet_router)) == 30
    chassis = theta.router_group * 6 + theta.router_chassis
    assert len(np.unique(chassis[theta.service_blades])) == 54


def test_the_seed_decides_where_service_blades_are(theta: Fabric) -> None:
    assert np.array_equal(theta.lnet_router, dragonflies.theta(seed=1).lnet_router)
    assert not np.array_equal(theta.lnet_router, dragonflies.theta(seed=2).lnet_router)


def test_links_are_the_bundles_of_the_graph_in_both_directions(theta: Fabric) -> None:
    graph = dragonfly(DragonflyShape(), dragonflies.LINKS)
    assert theta.links == 2 * graph.number_of_edges()
    seen = set()
    for link, (source, target) in enumerate(zip(theta.link_source, theta.link_target, strict=True)):
        edge = graph[int(source)][int(target)]
        seen.add((source, target))
        assert theta.colours[theta.link_colour[link]] == edge["colour"]
        assert theta.link_rate[link] == edge["rate"]
        assert theta.link_latency[link] == edge["latency"]
        assert theta.link_multiplicity[link] == edge["multiplicity"]
    assert len(seen) == theta.links
    assert np.array_equal(theta.link_source[theta.link_reverse], theta.link_target)
    assert np.array_equal(theta.link_target[theta.link_reverse], theta.link_source)


def test_names(theta: Fabric) -> None:
    assert theta.link_name(0) == "green g0c0s0->g0c0s1"
    blue = int(theta.links_of("blue")[0])
    assert theta.link_name(blue) == "blue g0c0s0->g1c0s0"
    assert theta.link_name(int(theta.link_reverse[blue])) == "blue g1c0s0->g0c0s0"
    assert theta.router_name(96 + 3 * 16 + 4) == "c3-0c0s4"


def build(**changes: int) -> Fabric:
    numbers = {
        "compute_nodes": 40,
        "service_blades": 4,
        "service_nodes_per_blade": 2,
        "lnet_routers": 6,
        "nodes_per_router": 4,
        "seed": 3,
    }
    shape = DragonflyShape(groups=2, chassis=2, slots=4, group_links=4)
    return build_fabric(dragonfly(shape, dragonflies.LINKS), **numbers | changes)


def test_more_lnet_routers_than_blades_share_them() -> None:
    counts = np.unique(build().lnet_router, return_counts=True)[1]
    assert sorted(counts) == [1, 1, 2, 2]


def test_the_last_blade_may_be_partly_filled_and_slots_may_stay_empty() -> None:
    fabric = build(compute_nodes=38)
    nodes = np.unique(fabric.compute_router, return_counts=True)[1]
    assert list(nodes) == [4] * 9 + [2]
    assert len(np.union1d(fabric.compute_router, fabric.service_router)) == 14


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"compute_nodes": 49}, "49 compute nodes fill 13 blades, .* 4 service .* only 16 routers"),
        ({"lnet_routers": 9}, "9 LNET routers do not fit on 4 service blades with 8 nodes"),
        ({"compute_nodes": 0}, "0 compute nodes"),
        ({"nodes_per_router": 0}, "0 to a router"),
        ({"service_blades": -1}, "-1 service blades"),
    ],
)
def test_nodes_that_find_no_place(changes: dict[str, int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        build(**changes)
