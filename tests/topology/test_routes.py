from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from dragonflies import full, shapes
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.topology import DragonflyShape, Fabric, Routes, candidate_routes, hop_limits

MINIMAL, VALIANT = (0, 1), (2, 3)


def all_pairs(fabric: Fabric) -> tuple[np.ndarray, np.ndarray]:
    routers = np.arange(fabric.routers)
    return np.repeat(routers, fabric.routers), np.tile(routers, fabric.routers)


def count(fabric: Fabric, route: np.ndarray, colour: str) -> int:
    return int((fabric.link_colour[route] == fabric.colours.index(colour)).sum())


def check_walk(fabric: Fabric, route: np.ndarray, source: int, target: int) -> None:
    stations = [source, *fabric.link_target[route]]
    assert list(fabric.link_source[route]) == stations[:-1]
    assert stations[-1] == target


@st.composite
def asked(draw: st.DrawFn) -> tuple[DragonflyShape, list[tuple[int, int]], int]:
    """A dragonfly, some pairs of its routers and a seed."""
    shape = draw(shapes())
    router = st.integers(0, shape.routers - 1)
    pairs = draw(st.lists(st.tuples(router, router), min_size=1, max_size=30))
    return shape, pairs, draw(st.integers(-(2**63), 2**64))


@settings(max_examples=60)
@given(asked())
def test_routes_are_walks_within_the_hop_limits(
    question: tuple[DragonflyShape, list[tuple[int, int]], int],
) -> None:
    shape, pairs, seed = question
    fabric = full(shape)
    sources, targets = np.array(pairs).T
    routes = candidate_routes(fabric, sources, targets, seed)
    back = routes.reversed(fabric)
    for pair, (source, target) in enumerate(pairs):
        apart = fabric.router_group[source] != fabric.router_group[target]
        for candidate in (*MINIMAL, *VALIANT):
            route = routes.route(pair, candidate)
            check_walk(fabric, route, source, target)
            check_walk(fabric, back.route(pair, candidate), target, source)
            if source == target:
                assert len(route) == 0
        for candidate in MINIMAL:
            route = routes.route(pair, candidate)
            assert count(fabric, route, "blue") == int(apart)
            assert count(fabric, route, "green") <= 1 + apart
            assert count(fabric, route, "black") <= 1 + apart
        for candidate in VALIANT:
            route = routes.route(pair, candidate)
            assert len(route) <= 10
            third = apart and shape.groups > 2
            assert count(fabric, route, "blue") == (2 if third else int(apart))
    assert routes.hops[:, MINIMAL].max() <= hop_limits(fabric)[0]
    assert routes.hops[:, VALIANT].max() <= hop_limits(fabric)[1]


@settings(max_examples=30)
@given(asked(), st.data())
def test_a_pair_has_the_same_routes_whatever_else_is_asked(
    question: tuple[DragonflyShape, list[tuple[int, int]], int], data: st.DataObject
) -> None:
    shape, pairs, seed = question
    fabric = full(shape)
    together = candidate_routes(fabric, *np.array(pairs).T, seed)
    order = data.draw(st.permutations(range(len(pairs))))
    chosen = order[: data.draw(st.integers(1, len(pairs)))]
    alone = candidate_routes(fabric, *np.array([pairs[i] for i in chosen]).T, seed)
    for place, pair in enumerate(chosen):
        for candidate in range(4):
            assert np.array_equal(alone.route(place, candidate), together.route(pair, candidate))


@pytest.fixture(scope="module")
def small() -> Fabric:
    """5 groups of 3 x 4 routers; each group pair has 3 cables, so 6 facing routers."""
    return full(DragonflyShape(groups=5, chassis=3, slots=4, group_links=12))


@pytest.fixture(scope="module")
def every_route(small: Fabric) -> Routes:
    return candidate_routes(small, *all_pairs(small), seed=5)


def test_inside_a_group_the_two_minimal_candidates_take_both_orders(
    small: Fabric, every_route: Routes
) -> None:
    sources, targets = all_pairs(small)
    corner = (
        (small.router_group[sources] == small.router_group[targets])
        & (small.router_chassis[sources] != small.router_chassis[targets])
        & (small.router_slot[sources] != small.router_slot[targets])
    )
    first_colours = []
    for pair in np.flatnonzero(corner):
        candidates = [every_route.route(pair, candidate) for candidate in MINIMAL]
        colours = [[small.colours[small.link_colour[x]] for x in route] for route in candidates]
        assert sorted(colours) == [["black", "green"], ["green", "black"]]
        first_colours.append(colours[0][0])
    assert set(first_colours) == {"black", "green"}


def test_between_groups_the_two_minimal_candidates_differ_in_their_gateway(
    small: Fabric, every_route: Routes
) -> None:
    sources, targets = all_pairs(small)
    blue = small.colours.index("blue")
    for pair in np.flatnonzero(small.router_group[sources] != small.router_group[targets])[::7]:
        routes = [every_route.route(pair, candidate) for candidate in MINIMAL]
        gateways = [route[small.link_colour[route] == blue][0] for route in routes]
        assert gateways[0] != gateways[1]


def test_all_blue_links_are_used_about_equally(small: Fabric, every_route: Routes) -> None:
    for columns in (MINIMAL, VALIANT):
        routes = [every_route.route(p, c) for p in range(small.routers**2) for c in columns]
        uses = np.bincount(np.concatenate(routes), minlength=small.links)[small.links_of("blue")]
        # 48 or more uses a link; draws scatter them by about the square root.
        assert uses.min() > uses.mean() - 5 * uses.mean() ** 0.5
        assert uses.max() < uses.mean() + 5 * uses.mean() ** 0.5


def test_valiant_between_groups_visits_all_third_groups(small: Fabric) -> None:
    source, target = 0, 12 * 3 + 5
    routes = [
        candidate_routes(small, [source], [target], seed, minimal=0, valiant=1).links
        for seed in range(60)
    ]
    visited = {int(g) for route in routes for g in small.router_group[small.link_target[route]]}
    assert visited == {0, 1, 2, 3, 4}


def test_the_seed_changes_the_draws(small: Fabric, every_route: Routes) -> None:
    again = candidate_routes(small, *all_pairs(small), seed=5)
    other = candidate_routes(small, *all_pairs(small), seed=6)
    assert np.array_equal(again.links, every_route.links)
    assert not np.array_equal(other.hops, every_route.hops)


def test_numbers_of_candidates(small: Fabric) -> None:
    routes = candidate_routes(small, [0, 1], [50, 1], seed=1, minimal=1, valiant=3)
    assert routes.start.shape == routes.stop.shape == (2, 4)
    assert routes.links.dtype == np.int32
    assert routes.start.dtype == np.int64


def test_theta_needs_up_to_five_and_ten_hops(theta: Fabric) -> None:
    sources, targets = np.meshgrid(theta.compute_router[::16], theta.lnet_router)
    hops = candidate_routes(theta, sources.ravel(), targets.ravel(), seed=1).hops
    assert hop_limits(theta) == (5, 10)
    assert list(hops.max(axis=0)) == [5, 5, 10, 10]


def test_questions_that_make_no_sense(small: Fabric) -> None:
    with pytest.raises(ValueError, match="router 60 does not exist: they are 0 to 59"):
        candidate_routes(small, [0], [60], seed=1)
    with pytest.raises(ValueError, match="router -1 does not exist"):
        candidate_routes(small, [-1], [0], seed=1)
    with pytest.raises(ValueError, match="2 sources and 1 targets"):
        candidate_routes(small, [0, 1], [2], seed=1)
    with pytest.raises(ValueError, match="at least one is needed"):
        candidate_routes(small, [0], [1], seed=1, minimal=0, valiant=0)
    with pytest.raises(ValueError, match="there is no kind of network that is called mesh"):
        candidate_routes(replace(small, kind="mesh"), [0], [1], seed=1)
