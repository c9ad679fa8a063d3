from __future__ import annotations

import numpy as np
import pytest
from dragonflies import full, shapes
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.topology import DragonflyShape, Fabric, parse_node_list, place


@settings(max_examples=40)
@given(shapes(), st.sampled_from(["contiguous", "random", "spread"]), st.data())
def test_a_job_gets_free_nodes_once_each(
    shape: DragonflyShape, policy: str, data: st.DataObject
) -> None:
    fabric = full(shape)
    total = len(fabric.compute_router)
    taken = data.draw(st.sets(st.integers(0, total - 1), max_size=total - 1))
    count = data.draw(st.integers(1, total - len(taken)))
    nodes = place(policy, count, fabric, seed=7, exclude=sorted(taken))
    assert nodes.dtype == np.int32
    assert len(set(nodes.tolist())) == count
    assert set(nodes.tolist()) <= set(range(total)) - taken


def test_contiguous_takes_the_first_free_nodes(theta: Fabric) -> None:
    assert place("contiguous", 4, theta, exclude=[1, 3]).tolist() == [0, 2, 4, 5]


def test_random_depends_on_the_seed_alone(theta: Fabric) -> None:
    nodes = place("random", 256, theta, seed=1)
    assert np.array_equal(nodes, place("random", 256, theta, seed=1))
    assert not np.array_equal(nodes, place("random", 256, theta, seed=2))
    assert (np.diff(nodes) > 0).all()
    assert len(np.unique(theta.compute_group[nodes])) == 12


def test_spread_takes_the_groups_in_turn(theta: Fabric) -> None:
    nodes = place("spread", 256, theta)
    per_group = np.bincount(theta.compute_group[nodes])
    assert per_group.max() - per_group.min() == 1
    assert theta.compute_group[nodes[:13]].tolist() == [*range(12), 0]


def test_spread_goes_on_when_a_group_is_full(theta: Fabric) -> None:
    first_group = np.flatnonzero(theta.compute_group == 0)
    nodes = place("spread", 111, theta, exclude=first_group[1:])
    assert np.bincount(theta.compute_group[nodes]).tolist() == [1] + [10] * 11


def test_list_keeps_the_order_given(theta: Fabric) -> None:
    assert place("list", 3, theta, nodes=[9, 4, 7]).tolist() == [9, 4, 7]
    assert place("list", 4, theta, nodes="8-10,2").tolist() == [8, 9, 10, 2]


@pytest.mark.parametrize(
    ("policy", "count", "options", "sentence"),
    [
        ("nearest", 1, {}, "placement is 'nearest': choose one of contiguous, random, spread"),
        ("random", 0, {}, "a job on 0 nodes"),
        ("random", 4393, {}, "a job on 4393 nodes: the machine has 4392 compute nodes$"),
        ("spread", 4392, {"exclude": [5]}, "4392 compute nodes, of which 4391 are free"),
        ("spread", 4, {"exclude": [4392]}, "node 4392 does not exist: .* 0 to 4391"),
        ("list", 2, {}, "'list' needs a list"),
        ("random", 2, {"nodes": "0-1"}, "'random' takes no list"),
        ("list", 3, {"nodes": "0-1"}, "a job on 3 nodes: the list names 2"),
        ("list", 2, {"nodes": [4391, 4392]}, "node 4392 does not exist"),
        ("list", 2, {"nodes": [-1, 4]}, "node -1 does not exist"),
        ("list", 3, {"nodes": [4, 4, 5]}, "node 4 listed more than once"),
        ("list", 2, {"nodes": "4-5", "exclude": [5]}, "node 5 listed for the job but taken"),
        ("list", 9, {"nodes": "5000-5008"}, "node 5000, .* 5004 and 4 more does not exist"),
    ],
)
def test_jobs_that_cannot_be_placed(
    theta: Fabric, policy: str, count: int, options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        place(policy, count, theta, **options)


def test_node_lists() -> None:
    assert parse_node_list("0-15,32,40-43").tolist() == [*range(16), 32, 40, 41, 42, 43]
    assert parse_node_list(" 7 , 3-3 ").tolist() == [7, 3]


@given(st.lists(st.integers(0, 5000), min_size=1, unique=True))
def test_node_lists_of_single_numbers(nodes: list[int]) -> None:
    assert parse_node_list(",".join(map(str, nodes))).tolist() == nodes


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "'' is neither a number nor a range"),
        ("1,,2", "'' is neither"),
        ("0-", "'0-' is neither"),
        ("-3", "'-3' is neither"),
        ("nid0004", "'nid0004' is neither"),
        ("9-3", "range 9-3 runs backwards"),
        ("0-999999999", "999999999 is not below 1000000"),
        ("1-4,3", "node 3 listed more than once"),
    ],
)
def test_bad_node_lists(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        parse_node_list(text)
