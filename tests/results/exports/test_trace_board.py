"""Lanes of a trace: what overlaps does not stand in one, and no more of them than needed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xc40io.results.exports.trace.board import cut, lanes, lanes_by

INTERVALS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=30)


@given(INTERVALS)
def test_a_lane_has_no_two_at_once(intervals: list[tuple[int, int]]):
    start, length = np.array(intervals, np.int64).reshape(-1, 2).T
    end = start + length
    lane = lanes(start, end)
    for one in np.unique(lane):
        mine = np.lexsort((end[lane == one], start[lane == one]))
        begin, stop = start[lane == one][mine], end[lane == one][mine]
        assert (begin[1:] >= stop[:-1]).all()
    if len(start):
        at_once = max(int(((start <= at) & (at < end)).sum()) for at in start)
        assert lane.max() + 1 <= max(at_once, 1) + int((length == 0).sum())


@given(INTERVALS, st.integers(1, 3))
def test_lanes_of_different_keys_know_nothing_of_each_other(
    intervals: list[tuple[int, int]], keys: int
):
    start, length = np.array(intervals, np.int64).reshape(-1, 2).T
    key = np.arange(len(start)) % keys
    found = lanes_by(key, start, start + length)
    for one in range(keys):
        mine = key == one
        assert np.array_equal(found[mine], lanes(start[mine], (start + length)[mine]))


@given(st.integers(0, 20), st.integers(1, 20), st.lists(st.integers(0, 40), max_size=8))
def test_pieces_touch_and_have_no_border_inside(start: int, length: int, borders: list[int]):
    pieces = cut(start, start + length, np.array(sorted(borders), np.int64))
    assert pieces[0][0] == start
    assert pieces[-1][1] == start + length
    for before, after in pairwise(pieces):
        assert before[1] == after[0]
    assert not any(low < border < high for border in borders for low, high in pieces)
    assert all(low < high for low, high in pieces)
