"""The axis of simulated time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from sim.results.pictures.clock import Clock
from sim.results.pictures.scene import Lane


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
