from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whole_networks import all_compute, drawn_words

from xc40io.topology import (
    Fabric,
    LinkClass,
    TorusShape,
    build_fabric,
    candidate_routes,
    describe,
    draw,
    hop_limits,
    place,
    torus,
)

# Raw 3.125, 5 and 6.25 Gbit/s a lane, three lanes a link, 0.74 of it payload.
LINKS = {
    "mezzanine": LinkClass(rate=0.74 * 2.34375e9, latency=80e-9, length="backplane"),
    "backplane": LinkClass(rate=0.74 * 1.875e9, latency=80e-9, length="backplane"),
    "cable": LinkClass(rate=0.74 * 1.171875e9, latency=80e-9, length="electrical"),
}


def full(shape: TorusShape) -> Fabric:
    """A torus with compute nodes on every router."""
    return all_compute(torus(shape, LINKS))


FACING_OR_NOT = ((3, 0, 4), (2, 1, 3))
"""Places in a torus of 6 x 4 x 8: two rings of the first face the origin, none of the second."""


def router_at(fabric: Fabric, *place: int) -> int:
    """The router at a place."""
    return int(np.flatnonzero((fabric.router_coordinates == place).all(axis=1))[0])


@pytest.fixture(scope="module")
def titan() -> Fabric:
    return build_fabric(
        torus(TorusShape(), LINKS),
        compute_nodes=18688,
        service_blades=128,
        service_nodes_per_blade=4,
        lnet_routers=96,
        nodes_per_router=2,
        seed=1,
    )


@st.composite
def shapes(draw: st.DrawFn) -> TorusShape:
    """Tori of up to 7 x 6 x 8 routers, rings of one and two among them."""
    per_blade, slots = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    return TorusShape(
        x=draw(st.integers(1, 7)),
        y=per_blade * draw(st.integers(1, 2)),
        z=slots * draw(st.integers(1, 2)),
        slots=slots,
        routers_per_blade=per_blade,
        x_links=draw(st.integers(1, 8)),
    )


@st.composite
def asked(draw: st.DrawFn) -> tuple[TorusShape, np.ndarray, int]:
    """A torus, some pairs of its routers and a seed."""
    shape = draw(shapes())
    router = st.integers(0, shape.routers - 1)
    pairs = draw(st.lists(st.tuples(router, router), min_size=1, max_size=30))
    return shape, np.array(pairs).T, draw(st.integers(-(2**63), 2**64))


def around(shape: TorusShape, steps: np.ndarray) -> np.ndarray:
    """How far it is when one may go either way around the rings."""
    ahead = np.mod(steps, shape.extents)
    return np.minimum(ahead, shape.extents - ahead)


@settings(max_examples=60)
@given(shapes())
def test_rings_are_closed_and_bundles_are_counted(shape: TorusShape) -> None:
    graph = torus(shape, LINKS)
    neighbours = sum({1: 0, 2: 1}.get(extent, 2) for extent in shape.extents)
    assert sorted(graph) == list(range(shape.routers))
    assert set(dict(graph.degree).values()) == {neighbours}
    assert nx.is_connected(graph)
    links = dict(zip("xyz", (shape.x_links, shape.y_links, shape.z_links), strict=True))
    for first, second, edge in graph.edges(data=True):
        moved = [axis for axis in "xyz" if graph.nodes[first][axis] != graph.nodes[second][axis]]
        assert len(moved) == 1
        assert edge["multiplicity"] == links[moved[0]]
        assert edge["rate"] == edge["multiplicity"] * LINKS[edge["colour"]].rate
    assert nx.diameter(graph) == sum(extent // 2 for extent in shape.extents)


@settings(max_examples=40)
@given(shapes())
def test_all_routers_see_the_same_network(shape: TorusShape) -> None:
    """Moved by one place along a ring of equal links, a torus is the same torus."""
    graph = torus(shape, LINKS)
    at = {tuple(place[axis] for axis in "xyz"): router for router, place in graph.nodes(data=True)}
    for first, second, edge in graph.edges(data=True):
        ends = [tuple(graph.nodes[end][axis] for axis in "xyz") for end in (first, second)]
        moved = [at[(x + 1) % shape.x, y, z] for x, y, z in ends]
        assert graph.edges[moved] == edge


@settings(max_examples=60)
@given(shapes())
def test_media_follow_the_blades_and_the_chassis(shape: TorusShape) -> None:
    graph = torus(shape, LINKS)
    for first, second, edge in graph.edges(data=True):
        a, b = graph.nodes[first], graph.nodes[second]
        same_blade = first // shape.routers_per_blade == second // shape.routers_per_blade
        same_chassis = (a["group"], a["chassis"]) == (b["group"], b["chassis"])
        apart = abs(a["y"] - b["y"]) + abs(a["z"] - b["z"])
        if edge["colour"] == "mezzanine":
            assert same_blade
        elif edge["colour"] == "backplane":
            assert same_chassis
            assert abs(a["slot"] - b["slot"]) == 1
        else:  # a ring within one blade or chassis is closed over a cable
            assert not same_chassis or apart > 1
    names = [place["name"] for _, place in graph.nodes(data=True)]
    assert len(set(names)) == shape.routers


def test_titan_has_its_links(titan: Fabric) -> None:
    pairs: Counter[str] = Counter()
    links: Counter[str] = Counter()
    for _, _, edge in torus(TorusShape(), LINKS).edges(data=True):
        pairs[edge["colour"]] += 1
        links[edge["colour"]] += edge["multiplicity"]
    assert titan.routers == 25 * 16 * 24
    assert pairs == {
        "mezzanine": 9600 // 2,
        "backplane": 9600 * 7 // 8,
        "cable": 9600 + 9600 // 2 + 9600 // 8,
    }
    assert sum(links.values()) == 9600 * 40 // 2  # 40 of 48 tiles are for the network


def test_titan_has_its_nodes(titan: Fabric) -> None:
    assert len(titan.compute_router) == 18688
    assert len(titan.service_blades) == 128
    assert set(np.unique(titan.compute_router, return_counts=True)[1]) == {2}
    assert set(np.unique(titan.service_router, return_counts=True)[1]) == {2}
    both = [*np.unique(titan.compute_router), *np.unique(titan.service_router)]
    assert sorted(both) == list(range(9600))
    cabinets = titan.router_group[titan.lnet_router]
    assert len(np.unique(cabinets)) == len(titan.lnet_router) == 96


@pytest.mark.parametrize(
    ("name", "place"),
    [  # of Titan's LNET routers, from the names and node numbers in fgr.py of Oak Ridge
        ("c3-1c1s4g0", (23, 14, 11)),
        ("c10-5c0s5g1", (5, 11, 21)),
        ("c5-0c0s5g0", (22, 0, 5)),
        ("c4-0c0s2g0", (2, 0, 2)),
        ("c0-1c2s2g0", (0, 14, 2)),
    ],
)
def test_names_are_those_of_titan(titan: Fabric, name: str, place: tuple[int, int, int]) -> None:
    router = titan.router_names.index(name)
    assert tuple(titan.router_coordinates[router]) == place


def test_places_and_links_are_named_by_coordinates(titan: Fabric) -> None:
    assert titan.router_place(0) == "x0y0z0"
    assert titan.link_name(0) == "mezzanine x0y0z0->x0y1z0"
    assert titan.link_name(1) == "mezzanine x0y1z0->x0y0z0"


def test_cables_are_no_longer_than_two_places(titan: Fabric) -> None:
    names = (re.match(r"c(\d+)-(\d+)c", name) for name in titan.router_names)
    cabinet = np.array([[int(part) for part in name.groups()] for name in names if name])
    reach = np.abs(cabinet[titan.link_source] - cabinet[titan.link_target])
    assert reach.max() == 2
    assert (reach.min(axis=1) == 0).all()


@settings(max_examples=80)
@given(asked())
def test_routes_are_minimal_and_go_x_then_y_then_z(
    question: tuple[TorusShape, np.ndarray, int],
) -> None:
    shape, (sources, targets), seed = question
    fabric = full(shape)
    routes = candidate_routes(fabric, sources, targets, seed)
    for turned, ends in (
        (routes, (sources, targets)),
        (routes.reversed(fabric), (targets, sources)),
    ):
        far = around(shape, np.subtract(*(fabric.router_coordinates[end] for end in ends)))
        assert turned.start.shape == (len(sources), 4)
        assert (turned.hops == far.sum(axis=1)[:, None]).all()
        for pair in range(len(sources)):
            for candidate in range(4):
                route = turned.route(pair, candidate)
                walk = [ends[0][pair], *fabric.link_target[route]]
                assert list(fabric.link_source[route]) == walk[:-1]
                assert walk[-1] == ends[1][pair]
                moved = np.diff(fabric.router_coordinates[walk], axis=0) != 0
                axes = moved.argmax(axis=1)
                assert (np.diff(axes) >= 0).all()
                assert np.bincount(axes, minlength=3).tolist() == far[pair].tolist()
    assert routes.hops.max() <= hop_limits(fabric)[0]
    assert hop_limits(fabric)[0] == hop_limits(fabric)[1]


@settings(max_examples=40)
@given(asked())
def test_the_last_candidates_are_the_first_again(
    question: tuple[TorusShape, np.ndarray, int],
) -> None:
    shape, (sources, targets), seed = question
    fabric = full(shape)
    routes = candidate_routes(fabric, sources, targets, seed, minimal=2, valiant=2)
    for pair in range(len(sources)):
        for first, again in ((0, 2), (1, 3)):
            assert np.array_equal(routes.route(pair, first), routes.route(pair, again))


def test_routers_that_face_each_other_have_both_ways() -> None:
    fabric = full(TorusShape(x=6, y=4, z=8))
    pairs = [router_at(fabric, 0, 0, 0)] * 2, [router_at(fabric, *far) for far in FACING_OR_NOT]
    routes = candidate_routes(fabric, *pairs, seed=1, minimal=4, valiant=0)
    facing, other = ({tuple(routes.route(pair, n)) for n in range(4)} for pair in range(2))
    assert not set(routes.route(0, 0)) & set(routes.route(0, 1))
    assert len(facing) == 4
    assert len(other) == 1


def test_the_first_way_of_two_is_drawn_evenly() -> None:
    fabric = full(TorusShape(x=8, y=2, z=8))
    x = fabric.router_coordinates[:, 0]
    near = np.flatnonzero(x == 0)
    far = [router_at(fabric, 4, *fabric.router_coordinates[router, 1:]) for router in near]
    forwards = []
    for seed in range(40):
        routes = candidate_routes(fabric, near, far, seed, minimal=1, valiant=0)
        forwards.append(x[fabric.link_target[routes.links[routes.start[:, 0]]]] == 1)
    assert 0.4 < np.mean(forwards) < 0.6


def test_a_pair_has_the_same_routes_whatever_else_is_asked(titan: Fabric) -> None:
    sources, targets = titan.compute_router[:3000:7], titan.compute_router[9000:12000:7]
    together = candidate_routes(titan, sources, targets, seed=5)
    alone = candidate_routes(titan, sources[40:41], targets[40:41], seed=5)
    for candidate in range(4):
        assert np.array_equal(alone.route(0, candidate), together.route(40, candidate))


def test_facts_of_titan(titan: Fabric) -> None:
    facts = {fact.label: fact.value for fact in describe(titan)}
    assert len(facts) == len(describe(titan))
    assert facts["Gemini routers"] == 9600
    assert facts["cabinets"] == 200
    assert facts["compute blades"] == 18688 // 4
    assert facts["longest route"] == 12 + 8 + 12
    # 9.375 and 15 GB/s raw in z, 4.6875 and 9.375 in y.
    assert facts["neighbours in z, at least"] == pytest.approx(0.74 * 9.375)
    assert facts["neighbours in z, at most"] == pytest.approx(0.74 * 15)
    assert facts["neighbours in y, at least"] == pytest.approx(0.74 * 4.6875)
    assert facts["neighbours in y, at most"] == pytest.approx(0.74 * 9.375)
    # Through the middle and around, of 16 x 24 rings.
    assert facts["from one half of x to the other"] == pytest.approx(2 * 384 * 0.74 * 9.375)


def test_spread_takes_the_cabinets_in_turn(titan: Fabric) -> None:
    nodes = place("spread", 200, titan)
    assert len(np.unique(titan.compute_group[nodes])) == 200


def test_a_picture_says_what_the_machine_has(tmp_path: Path, titan: Fabric) -> None:
    text = drawn_words(titan, "Titan, Cray XK7", tmp_path)
    for words in (
        "Titan, Cray XK7",
        "25 x 16 x 24 Gemini routers in 200 cabinets, 18,688 compute nodes",
        "96 routers with an LNET router",
        "19,200 mezzanine links on a blade, 1.73 GB/s each way per link",
        ">c24<",
        ">row 7<",
    ):
        assert words in text


def test_a_single_blade_can_be_drawn(tmp_path: Path) -> None:
    draw(full(TorusShape(x=1, y=2, z=1, slots=1)), tmp_path / "one.png", "One blade")
    assert (tmp_path / "one.png").stat().st_size > 0


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ({"x": 0}, "torus x is 0: it must be 1 or more"),
        ({"y": 15}, "y is 15: it must be a multiple of the 2 routers of a blade"),
        ({"z": 20}, "z is 20: it must be a multiple of the 8 slots"),
        ({"y_links": 0}, "y_links is 0"),
    ],
)
def test_impossible_shapes(numbers: dict[str, int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        TorusShape(**numbers)


def test_every_medium_needs_a_link_class() -> None:
    with pytest.raises(ValueError, match="given for cable: give one class each for mezzanine"):
        torus(TorusShape(), {"cable": LINKS["cable"]})


def test_nodes_that_find_no_place_are_refused() -> None:
    graph = torus(TorusShape(x=3, y=4, z=8), LINKS)
    numbers = {"service_nodes_per_blade": 4, "lnet_routers": 4, "nodes_per_router": 2, "seed": 0}
    with pytest.raises(ValueError, match=r"fill 46 blades, .* 3 service .* 96 routers, 2 to a bl"):
        build_fabric(graph, compute_nodes=181, service_blades=3, **numbers)
    fabric = build_fabric(graph, compute_nodes=180, service_blades=3, **numbers)
    assert len(fabric.lnet_router) == 4
    assert len(np.unique(fabric.lnet_router)) == 4
