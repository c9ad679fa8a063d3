"""How sure a figure is, in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.trust.how_sure import Interval
from xc40io.trust.sureness import (
    chance_words,
    mebibytes,
    plain,
    rate,
    real_words,
    seconds,
    simulated,
    span,
    sure_card,
    sure_words,
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
    assert abs(float(plain(value).replace(",", "")) - value) <= 0.051 * value


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (28e9, 150e9, "64 GB/s"),
        (41e9, 84e9, "64 GB/s"),
        (55e9, 74.9e9, "64.5 GB/s"),
        (62.7e9, 66.1e9, "64.5 GB/s"),
        (64.48e9, 64.5e9, "64.49 GB/s"),
    ],
)
def test_a_rate_has_the_digits_that_its_interval_allows(low: float, high: float, told: str) -> None:
    assert simulated(64.4912e9, Interval(low, high, True), rate) == told


def test_near_rates_keep_the_same_last_digit() -> None:
    """Beside each other 99 and 101 differ by 2, not by a tenth."""
    near = [simulated(value, Interval(60e9, 160e9, True), rate) for value in (98.6e9, 101.4e9)]
    assert near == ["99 GB/s", "101 GB/s"]


def test_an_exact_rate_keeps_its_digits() -> None:
    assert simulated(64.5423e9, None, rate) == "64.54 GB/s"
    assert sure_words(64.5423e9, None, rate) == "simulated 64.54 GB/s"


def test_the_interval_comes_first() -> None:
    real = Interval(28.1e9, 151e9, True)
    assert sure_words(64.4e9, real, rate) == "9 of 10 real runs: 28 to 150 GB/s; simulated 64 GB/s"
    card = sure_card("write", 64.4e9, real._replace(measured=False), rate, "2 s")
    assert (card.value, card.note) == (
        "28 to 150 GB/s",
        "9 of 10 real runs, less sure; simulated 64 GB/s; 2 s",
    )
