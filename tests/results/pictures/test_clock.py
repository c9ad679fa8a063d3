"""The axis of simulated time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from xc40io.results.pictures.clock import Clock
from xc40io.results.pictures.scene import Lane


@given(
    bins=st.integers(1, 1024),
    share=st.floats(0.01, 1.0),
    width=st.sampled_from([0.001, 0.016, 2.048]),
)
def test_columns_are_few_and_hold_all_bins_up_to_the_end(bins: int, share: float, width: float):
    clock = Clock.of((bins - 1 + share) * width, width)
    values = np.arange(3 * 1024.0).reshape(3, 1024)
    values[:, bins:] = 0.0
    assert 1 <= clock.columns <= 240
    assert clock.edges[-1] >= clock.end * clock.factor * (1 - 1e-12)
    assert clock.sums(values).sum() == pytest.approx(values.sum())


def test_a_column_is_the_sum_of_its_bins():
    clock = Clock(end=5.0, width=2.0, each=2)
    assert clock.sums(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])).tolist() == [3.0, 7.0, 11.0]
    assert clock.sums(np.array([1.0, 2.0, 3.0])).tolist() == [3.0, 3.0, 0.0]


@given(
    spans=st.lists(
        st.tuples(st.floats(0.0, 12.0), st.floats(0.0, 12.0), st.integers(0, 2)), max_size=20
    )
)
def test_seconds_of_spans_are_what_each_column_has_of_them(
    spans: list[tuple[float, float, int]],
):
    clock = Clock(end=10.0, width=2.5, each=1)
    since, until = (np.array([pick(one[:2]) for one in spans]) for pick in (min, max))
    row = np.array([one[2] for one in spans], np.int64)
    found = clock.seconds_in(since, until, row, 3)
    for line in range(3):
        for column in range(4):
            begin, end = 2.5 * column, 2.5 * (column + 1)
            inside = np.clip(until, begin, end) - np.clip(since, begin, end)
            expected = inside[row == line].sum() if len(spans) else 0.0
            assert found[line, column] == pytest.approx(expected, abs=1e-9)


def test_what_has_no_end_lasts_to_the_last_column():
    clock = Clock(end=10.0, width=2.5, each=1)
    found = clock.seconds_in(np.array([5.0]), np.array([np.inf]), np.zeros(1, np.int64), 1)
    assert found.tolist() == [[0.0, 0.0, 2.5, 2.5]]
    never = clock.seconds_in(np.array([np.inf]), np.array([np.inf]), np.zeros(1, np.int64), 1)
    assert not never.any()


def test_short_runs_are_told_in_milliseconds():
    assert (Clock.of(0.02, 0.001).unit, Clock.of(0.02, 0.001).edges[-1]) == ("ms", 20.0)
    assert (Clock.of(20.0, 0.032).unit, Clock.of(20.0, 0.032).column_words) == ("s", "96 ms")


def test_lanes_stand_above_the_axes_with_the_same_time():
    figure = Figure()
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.5))
    clock = Clock.of(4.0, 0.016)
    clock.name_axis(axes)
    lanes = [Lane("write", [(0.0, 1.5)]), Lane("read", [(1.5, 4.0)])]
    strip = clock.draw_lanes(figure, axes, lanes)
    assert [label.get_text() for label in strip.get_yticklabels()] == ["write", "read"]
    assert strip.get_xlim() == axes.get_xlim() == (0.0, 4.0)
    assert strip.get_position().y0 > axes.get_position().y1


@pytest.mark.parametrize(
    ("end", "unit", "last"), [(2.0, "s", 2.0), (0.2, "ms", 200.0), (2e-4, "us", 200.0)]
)
def test_times_have_the_unit_that_needs_no_zeros(end: float, unit: str, last: float):
    clock = Clock.of(end, end / 10)
    assert clock.unit == unit
    assert clock.edges[-1] == pytest.approx(last)
