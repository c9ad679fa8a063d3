"""The map from pairs to rows, beside a dict."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xc40io.engine.hashmap import (
    _home,
    discard,
    enlarge_map,
    find,
    keys_with,
    make_map,
    pair_key,
    put,
)

pairs = st.tuples(st.integers(0, 40), st.integers(0, 3))


@given(st.lists(st.tuples(st.booleans(), pairs), max_size=120))
def test_keys_that_were_taken_out_are_gone_and_all_others_stay(
    steps: list[tuple[bool, tuple[int, int]]],
) -> None:
    table, known = make_map(64), dict[int, int]()
    for row, (enters, pair) in enumerate(steps):
        key = pair_key(*pair)
        if not enters:
            assert discard(table, key) == known.pop(key, -1)
        elif key not in known and len(known) < 32:
            put(table, key, row)
            known[key] = row
    assert int(table.used[0]) == len(known)
    for first in range(41):
        for second in range(4):
            key = pair_key(first, second)
            assert find(table, key) == known.get(key, -1)


def test_keys_are_found_by_their_second_number() -> None:
    table = make_map(16)
    for row, pair in enumerate([(5, 1), (0, 2), (3, 1), (0, 0)]):
        put(table, pair_key(*pair), row)
    wanted = np.array([False, True, False])
    assert keys_with(table, wanted).tolist() == [pair_key(3, 1), pair_key(5, 1)]


def ending_at(room: int, count: int) -> list[int]:
    """Return keys whose search begins at the last slots of a map."""
    empty = make_map(room)
    keys = (pair_key(first, 0) for first in range(10_000))
    return [key for key in keys if _home(empty, key) >= room - 2][:count]


@given(st.sets(pairs, max_size=32), st.integers(0, 12))
def test_a_larger_map_has_the_same_rows_also_round_its_end(
    some: set[tuple[int, int]], last: int
) -> None:
    keys = [*{pair_key(*pair) for pair in some} | set(ending_at(128, last))]
    table = make_map(64)
    for row, key in enumerate(keys):
        put(table, key, row)
    larger = enlarge_map(table, 128)
    assert (len(larger.keys), int(larger.used[0])) == (128, len(keys))
    for row, key in enumerate(keys):
        assert find(larger, key) == row
    for row, key in enumerate(keys[::2]):
        assert discard(larger, key) == 2 * row
    for row, key in enumerate(keys):
        assert find(larger, key) == (row if row % 2 else -1)


def test_pairs_with_the_same_second_number_do_not_crowd() -> None:
    table = make_map(4096)
    homes = {int(_home(table, pair_key(first, 7))) for first in range(2048)}
    assert len(homes) > 1024
