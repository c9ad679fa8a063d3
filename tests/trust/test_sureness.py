"""How sure a figure is, in words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from xc40io.trust.how_sure import Interval
from xc40io.trust.sureness import (
    chance_words,
    mebibytes,
    rate,
    real_words,
    seconds,
    span,
    two_figures,
)


def test_bounds_have_two_figures_and_their_unit_once() -> None:
    found = Interval(36.4e9, 61.7e9, measured=True)
    assert span(found, rate) == "36 to 62 GB/s"
    assert span(Interval(36_412 << 20, 61_702 << 20, measured=True), mebibytes) == (
        "36,000 to 62,000 MiB/s"
    )
    assert span(Interval(0.8, 1.4, measured=True), seconds) == "800 ms to 1.4 s"


def test_what_was_never_measured_says_so() -> None:
    assert real_words(Interval(11e9, 22e9, True), rate) == "9 of 10 real runs: 11 to 22 GB/s"
    less = Interval(1e9, 2e9, measured=False, why="nobody looked")
    assert real_words(less, rate).endswith(", less sure")


def test_no_chance_is_told_as_certain() -> None:
    assert [chance_words(chance) for chance in (0.9999, 0.93, 0.5, 0.0001)] == [
        "over 99 %",
        "93 %",
        "50 %",
        "under 1 %",
    ]


@given(st.floats(1e-6, 1e15))
def test_two_figures_are_near(value: float) -> None:
    assert abs(two_figures(value) - value) <= 0.051 * value
