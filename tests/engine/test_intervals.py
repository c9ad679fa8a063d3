"""Lists of intervals that overlap, beside plain lists of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xc40io.engine.intervals import (
    LEVELS,
    Intervals,
    add_interval,
    enlarge_intervals,
    first_beyond,
    make_intervals,
    next_over,
    remove_interval,
)
from xc40io.engine.types import Indices

LARGEST = 2**63 - 1
places = st.integers(0, 30) | st.just(LARGEST)
pairs = st.tuples(places, places).map(sorted)
steps = st.lists(st.tuples(st.booleans(), st.integers(0, 1), pairs), max_size=80)

Plain = dict[int, tuple[int, int, int]]
"""Where each row of a list starts and ends, and its number."""


def empty() -> Indices:
    return np.full(LEVELS, -1, np.int32)


def rows_over(
    intervals: Intervals, heads: Indices, first: int, last: int, number: int
) -> list[int]:
    rows, row = [], next_over(intervals, heads, -1, first, last, number)
    while row >= 0:
        rows.append(int(row))
        row = next_over(intervals, heads, row, first, last, number)
    return rows


def in_order(held: Plain) -> list[int]:
    return sorted(held, key=lambda row: (held[row][0], -held[row][2]))


@given(steps, pairs, st.integers(0, 81))
def test_what_lies_over_others_is_found_as_by_looking_at_all(
    steps: list[tuple[bool, int, list[int]]], sought: list[int], number: int
) -> None:
    intervals = make_intervals(len(steps))
    lists: list[tuple[Indices, Plain]] = [(empty(), {}), (empty(), {})]
    for row, (adds, which, (start, end)) in enumerate(steps):
        heads, held = lists[which]
        if adds or not held:
            held[row] = start, end, row * 7 % 80 + 1
            add_interval(intervals, heads, row, *held[row])
        else:
            gone = sorted(held)[start % len(held)]
            remove_interval(intervals, heads, gone)
            del held[gone]
    first, last = sought
    for heads, held in lists:
        rows = in_order(held)
        over = [row for row in rows if held[row][0] <= last and held[row][1] >= first]
        assert rows_over(intervals, heads, first, last, -1) == over
        covering = [row for row in rows if held[row][0] <= first and held[row][1] >= last]
        assert rows_over(intervals, heads, last, first, -1) == covering
        younger = [row for row in covering if held[row][2] > number]
        assert rows_over(intervals, heads, last, first, number) == younger
        beyond = next((row for row in rows if held[row][0] > first), -1)
        assert first_beyond(intervals, heads, first) == beyond


def test_enlarged_lists_keep_what_they_held() -> None:
    intervals, heads = make_intervals(2), empty()
    add_interval(intervals, heads, 1, 10, 20, 1)
    add_interval(intervals, heads, 0, 5, 12, 2)
    intervals = enlarge_intervals(intervals, 5)
    add_interval(intervals, heads, 4, 7, 7, 3)
    assert rows_over(intervals, heads, 11, 30, -1) == [0, 1]
    remove_interval(intervals, heads, 0)
    assert rows_over(intervals, heads, 0, 30, -1) == [4, 1]
