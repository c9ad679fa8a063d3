"""Trees of mdtest against a walk that does it as mdtest's source does: by recursion."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xc40io.workloads.mdtest.names import ordered_items, walk, walked_items
from xc40io.workloads.mdtest.parameters import MdtestTest

tests = st.builds(
    MdtestTest,
    depth=st.integers(0, 3),
    branches=st.integers(1, 4),
    items_per_directory=st.integers(1, 3),
    leaf_only=st.booleans(),
)


def recursive(test: MdtestTest, level: int = 0, directory: int = 0) -> Iterator[tuple[int, int]]:
    """Yield directory and level, one after the other, as they are walked through."""
    yield directory, level
    if level < test.depth:
        for branch in range(test.branches):
            yield from recursive(test, level + 1, directory * test.branches + 1 + branch)


@given(tests)
def test_a_tree_is_walked_depth_first(test: MdtestTest) -> None:
    expected = [directory for directory, _ in recursive(test)]
    assert walk(test).tolist() == expected
    assert sorted(expected) == list(range(test.tree_directories))


def upwards(test: MdtestTest, level: int = 0, directory: int = 0) -> Iterator[int]:
    """Yield the directories in the order in which mdtest removes them."""
    for branch in range(test.branches if level < test.depth else 0):
        yield from upwards(test, level + 1, directory * test.branches + 1 + branch)
    yield directory


@given(tests)
def test_a_tree_is_removed_from_its_leaves(test: MdtestTest) -> None:
    assert walk(test, upwards=True).tolist() == list(upwards(test))


@given(tests)
def test_items_are_made_where_the_walk_comes_by(test: MdtestTest) -> None:
    each = test.items_per_directory
    first = 0 if not test.leaf_only else test.tree_directories - test.branches**test.depth
    expected = [
        (directory - first) * each + item
        for directory, level in recursive(test)
        if not test.leaf_only or level == test.depth
        for item in range(each)
    ]
    assert walked_items(test).tolist() == expected


@given(tests, st.integers(1, 5), st.booleans())
def test_every_rank_looks_at_every_item_once(test: MdtestTest, ranks: int, shuffled: bool) -> None:
    asked = MdtestTest(random=shuffled)
    order = ordered_items(asked, ranks, test.rank_items, seed=1)
    assert (np.sort(order, axis=1) == np.arange(test.rank_items)).all()
    assert (order == ordered_items(asked, ranks, test.rank_items, seed=1)).all()
