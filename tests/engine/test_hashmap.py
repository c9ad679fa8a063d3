"""The map from pairs to rows, beside a dict."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xc40io.engine.hashmap import discard, find, keys_with, make_map, pair_key, put

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
