from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xc40io.engine.ordered import (
    LEVELS,
    LOW,
    SortedLists,
    enlarge_ordered,
    following,
    height_of,
    insert,
    last_not_after,
    lists_beside,
    make_ordered,
    remove,
)

LARGEST = 2**63 - 1
keys = st.integers(0, 40) | st.just(LARGEST)
steps = st.lists(st.tuples(st.integers(0, 2), keys), max_size=80)


def rows_of(ordered: SortedLists, list_id: int) -> list[int]:
    rows = []
    row = following(ordered, list_id, -1)
    while row >= 0:
        rows.append(int(row))
        row = following(ordered, list_id, row)
    return rows


@given(steps, keys)
def test_lists_stay_sorted_and_searches_find_what_bisection_finds(
    steps: list[tuple[int, int]], sought: int
) -> None:
    ordered = make_ordered(3, len(steps))
    plain: list[dict[int, int]] = [{}, {}, {}]
    for row, (list_id, key) in enumerate(steps):  # a key that is there is taken out instead
        if key in plain[list_id]:
            remove(ordered, list_id, plain[list_id].pop(key))
        else:
            insert(ordered, list_id, row, key)
            plain[list_id][key] = row
    for list_id, held in enumerate(plain):
        present = sorted(held)
        assert rows_of(ordered, list_id) == [held[key] for key in present]
        position = bisect_right(present, sought)
        expected = held[present[position - 1]] if position else -1
        assert last_not_after(ordered, list_id, sought) == expected


@given(st.lists(st.integers(0, 3), max_size=40), st.randoms())
def test_equal_keys_keep_the_order_in_which_they_came(keys: list[int], random: Random) -> None:
    ordered = make_ordered(1, len(keys))
    for row, key in enumerate(keys):
        insert(ordered, 0, row, key)
    left = sorted(range(len(keys)), key=lambda row: keys[row])
    assert rows_of(ordered, 0) == left
    while left:
        remove(ordered, 0, left.pop(random.randrange(len(left))))
        assert rows_of(ordered, 0) == left


def test_lists_beside_others_share_their_rows() -> None:
    ordered = make_ordered(1, 2)
    beside = lists_beside(ordered, 1)
    insert(ordered, 0, 1, 10)
    insert(beside, 0, 0, 20)
    ordered = enlarge_ordered(ordered, 1, 3)
    beside = lists_beside(ordered, 2, beside)
    insert(beside, 0, 2, 15)
    assert rows_of(ordered, 0) == [1]
    assert rows_of(beside, 0) == [2, 0]
    assert rows_of(beside, 1) == []


def test_an_empty_list_has_no_first_row() -> None:
    ordered = make_ordered(1, 4)
    assert following(ordered, 0, -1) == -1
    assert last_not_after(ordered, 0, LARGEST) == -1


def test_enlarged_lists_keep_what_they_held() -> None:
    ordered = make_ordered(1, 2)
    insert(ordered, 0, 1, 10)
    insert(ordered, 0, 0, 20)
    ordered = enlarge_ordered(ordered, 2, 5)
    insert(ordered, 0, 4, 15)
    insert(ordered, 1, 3, 7)
    assert rows_of(ordered, 0) == [1, 4, 0]
    assert rows_of(ordered, 1) == [3]


def test_each_level_thins_out_to_about_a_quarter() -> None:
    rows = 4096
    heights = np.array([height_of(row) for row in range(rows)])
    assert ((heights > LOW).reshape(-1, 16).sum(axis=1) == 1).all()  # whose links stand apart
    on_level = [int((heights > level).sum()) for level in range(LEVELS)]
    assert on_level[0] == rows
    assert all(0.15 * lower < upper < 0.4 * lower for lower, upper in pairwise(on_level[:4]))
