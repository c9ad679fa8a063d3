from __future__ import annotations

import gzip
import re
from collections import Counter
from pathlib import Path

import networkx as nx
import pytest
from dragonflies import LINKS, shapes
from hypothesis import given, settings

from xc40io.topology import DragonflyShape, LinkClass, dragonfly

WIRING = Path(__file__).with_name("theta_wiring_2016.txt.gz")
COLOURS = {"g": "green", "k": "black", "b": "blue"}


def blue_ports_in_use(graph: nx.Graph) -> Counter[int]:
    ports: Counter[int] = Counter()
    for first, second, edge in graph.edges(data=True):
        if edge["colour"] == "blue":
            ports[first] += edge["multiplicity"]
            ports[second] += edge["multiplicity"]
    return ports


def links_between_groups(graph: nx.Graph) -> Counter[tuple[int, int]]:
    links: Counter[tuple[int, int]] = Counter()
    for first, second, edge in graph.edges(data=True):
        ends = sorted(graph.nodes[router]["group"] for router in (first, second))
        if ends[0] != ends[1]:
            links[ends[0], ends[1]] += edge["multiplicity"]
    return links


def test_the_generator_reproduces_the_real_theta_of_2016() -> None:
    """Theta in its 9-group stage, from the CODES project (see condense_wiring.py).

    Nothing differs between table and generator: every pair of routers has the same number of links
    of the same colour, blue ones included, and every router has the same name and place. What the
    generator leaves out is which of a router's 48 tiles a link is plugged into, and the tiles that
    are unused or lead to the processors.
    """
    with gzip.open(WIRING, "rt") as lines:
        rows = [line.split() for line in lines if not line.startswith("#")]
    names = [row[0] for row in rows]
    real = {}
    for near, _, *links in rows:
        for link in links:
            count, colour, far = re.fullmatch(r"(\d+)([gkb])(\d+)", link).groups()
            real[COLOURS[colour], frozenset((near, names[int(far)]))] = int(count)

    graph = dragonfly(DragonflyShape(groups=9), LINKS)
    generated = {
        (edge["colour"], frozenset(graph.nodes[end]["name"] for end in ends)): edge["multiplicity"]
        for *ends, edge in graph.edges(data=True)
    }
    assert generated == real
    assert {row[0]: row[1] for row in rows} == {
        router["name"]: f"{router['group']}:{router['chassis']}:{router['slot']}"
        for _, router in graph.nodes(data=True)
    }


def test_links_of_theta() -> None:
    graph = dragonfly(DragonflyShape(), LINKS)
    pairs: Counter[str] = Counter()
    links: Counter[str] = Counter()
    for _, _, edge in graph.edges(data=True):
        pairs[edge["colour"]] += 1
        links[edge["colour"]] += edge["multiplicity"]
        assert edge["rate"] == edge["multiplicity"] * LINKS[edge["colour"]].rate
        assert edge["length"] == LINKS[edge["colour"]].length
    assert graph.number_of_nodes() == 1152
    assert pairs == {"green": 12 * 6 * 120, "black": 12 * 16 * 15, "blue": 66 * 24}
    assert links == {"green": 8640, "black": 8640, "blue": 66 * 48}


def test_blue_ports_of_theta_are_used_evenly() -> None:
    ports = blue_ports_in_use(dragonfly(DragonflyShape(), LINKS))
    # 11 peers of 12 cables on 48 blade pairs: 2 or 3 cables each, 2 links of a cable per blade.
    assert Counter(ports.values()) == {6: 12 * 72, 4: 12 * 24}


@settings(max_examples=40)
@given(shapes())
def test_wiring_rules_hold_for_every_shape(shape: DragonflyShape) -> None:
    graph = dragonfly(shape, LINKS)
    assert sorted(graph) == list(range(shape.routers))
    for first, second, edge in graph.edges(data=True):
        a, b = graph.nodes[first], graph.nodes[second]
        same = {part: a[part] == b[part] for part in ("group", "chassis", "slot")}
        if edge["colour"] == "green":
            assert same == {"group": True, "chassis": True, "slot": False}
        elif edge["colour"] == "black":
            assert same == {"group": True, "chassis": False, "slot": True}
        else:
            assert not same["group"]
    colours = Counter(colour for _, _, colour in graph.edges(data="colour"))
    chassis_count = shape.groups * shape.chassis
    assert colours["green"] == chassis_count * shape.slots * (shape.slots - 1) // 2
    columns = shape.groups * shape.slots
    assert colours["black"] == columns * shape.chassis * (shape.chassis - 1) // 2

    between = links_between_groups(graph)
    assert len(between) == shape.groups * (shape.groups - 1) // 2
    assert set(between.values()) <= {shape.group_links}
    ports = blue_ports_in_use(graph)
    used = [ports[router] for router in graph]
    assert max(used) <= shape.router_blue_ports
    assert max(used) - min(used) <= 2
    assert nx.is_connected(graph)


def test_numbering_and_names() -> None:
    graph = dragonfly(DragonflyShape(), LINKS)
    router = (3 * 6 + 4) * 16 + 7
    assert graph.nodes[router] == {"group": 3, "chassis": 4, "slot": 7, "name": "c7-0c1s7"}
    assert graph.nodes[7 * 96]["name"] == "c2-1c0s0"
    assert len(set(nx.get_node_attributes(graph, "name").values())) == 1152


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ({"groups": 0}, "groups is 0"),
        ({"slots": 15}, "slots is 15: it must be even"),
        ({"aoc_links": 3}, "aoc_links is 3: it must be even"),
        ({"group_links": 50}, "multiple of the 4 links"),
        # 11 peers may have 240 / 11 = 21 cables each, not 22.
        ({"group_links": 88}, "11 peers would take 242 cables of a group, .* hold 240"),
        ({"groups": 22}, "21 peers would take 252 cables"),
    ],
)
def test_impossible_shapes(numbers: dict[str, int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        DragonflyShape(**numbers)


def test_a_machine_grows_without_a_cable_being_moved() -> None:
    before = dragonfly(DragonflyShape(groups=9), LINKS)
    after = dragonfly(DragonflyShape(groups=12), LINKS)
    assert before.adj == after.subgraph(before).adj


def test_as_many_cables_as_the_ports_hold() -> None:
    graph = dragonfly(DragonflyShape(group_links=84), LINKS)
    assert max(blue_ports_in_use(graph).values()) == 10


def test_every_colour_needs_a_link_class() -> None:
    with pytest.raises(ValueError, match="given for green"):
        dragonfly(DragonflyShape(), {"green": LINKS["green"]})


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"rate": 0.0}, "link rate is 0.0"),
        ({"latency": -1e-9}, "link latency is -1e-09"),
        ({"length": "long"}, "choose one of backplane, electrical, optical"),
    ],
)
def test_impossible_links(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        LinkClass(**{"rate": 1e9, "latency": 1e-7, "length": "optical"} | values)
