"""Histograms as Lustre tallies them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xc40io.results.exports.proc.stats_texts import Histogram, by_power, by_value, split, under_way

TALLIES = st.lists(st.integers(0, 1 << 29), max_size=30).map(lambda v: np.array(v, np.int64))


@given(TALLIES)
def test_a_bucket_holds_what_is_up_to_its_power_of_two(values: np.ndarray):
    counts = by_power(values)
    assert counts.sum() == len(values)
    for bucket in np.flatnonzero(counts).tolist():
        low = 0 if bucket == 0 else (1 << (bucket - 1)) + 1
        assert counts[bucket] == sum(low <= value <= 1 << bucket for value in values.tolist())


def test_values_beyond_the_last_bucket_are_in_it():
    assert by_value(np.array([0, 3, 31, 32, 1000])).tolist() == [
        1, 0, 0, 1, *[0] * 27, 3
    ]  # fmt: skip
    assert by_power(np.array([1 << 40]))[-1] == 1


@given(TALLIES, TALLIES)
def test_lines_add_up_to_a_hundred_per_cent(read: np.ndarray, written: np.ndarray):
    histogram = Histogram(by_power(read), by_power(written))
    lines = list(histogram.lines(from_first=True))
    assert [line.bucket for line in lines] == list(range(len(lines)))
    for column, values in (("read", read), ("write", written)):
        cells = [getattr(line, column) for line in lines]
        assert sum(count for count, _, _ in cells) == len(values)
        reached = [so_far for _, _, so_far in cells]
        assert reached == sorted(reached)
        assert reached[-1] == (100 if len(values) else 0)


def test_lines_begin_where_something_is_unless_all_are_wanted():
    histogram = split(np.array([256, 256, 16]), np.array([1, 1, 0]), powers=True)
    assert [line.bucket for line in histogram.lines(from_first=False)] == [4, 5, 6, 7, 8]
    assert next(histogram.lines(from_first=False)).read == (1, 100, 100)
    nothing = split(np.zeros(0, np.int64), np.zeros(0, np.int64), powers=True)
    assert list(nothing.lines(from_first=False)) == []


INTERVALS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(0, 2)), max_size=25
)


@given(INTERVALS)
def test_those_under_way_are_counted_line_by_line(intervals: list[tuple[int, int, int]]):
    start, length, line = np.array(intervals, np.int64).reshape(-1, 3).T
    found = under_way(start.astype(float), (start + length).astype(float), line)
    for at in set(zip(start.tolist(), line.tolist(), strict=True)):
        same = (start == at[0]) & (line == at[1])
        before = (line == at[1]) & (start < at[0]) & (start + length > at[0])
        first = int(before.sum()) + 1
        # Those that begin together come one after the other.
        assert sorted(found[same].tolist()) == list(range(first, first + int(same.sum())))
