"""The most probable values, and what the other numbers say of each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.validation.posterior import Evidence, posterior

SMALL = st.floats(-0.3, 0.3)


def of(measured, slopes, prior=0.5, model=0.1, noise=0.05):
    count, values = np.shape(slopes)
    return posterior(
        Evidence(
            np.array(measured, dtype=float),
            np.array(slopes, dtype=float),
            np.full(values, prior),
            model**2 * np.eye(count),
            np.full(count, noise),
        )
    )


def test_what_nobody_sees_stays_as_it_was():
    found = of([0.4, 0.3], [[1.0, 0.0], [1.0, 0.0]])
    assert found.values[1] == 0.0
    assert found.spread[1] == pytest.approx(0.5)
    assert 0.2 < found.values[0] < 0.4
    assert found.spread[0] < 0.1


@given(st.lists(SMALL, min_size=2, max_size=6))
def test_one_value_that_all_see_is_the_mean_drawn_towards_what_was_known(measured):
    found = of(measured, np.ones((len(measured), 1)))
    variance = 0.1**2 + 0.05**2
    known = 1.0 / (1.0 + variance / len(measured) / 0.5**2)
    if (np.abs(found.surprise) <= 1.0).all():  # then no number counts less
        assert found.values[0] == pytest.approx(known * np.mean(measured), abs=1e-9)


@given(st.lists(SMALL, min_size=3, max_size=6), st.integers(0, 2))
def test_what_others_say_of_a_number_does_not_depend_on_it(measured, place):
    slopes = np.ones((len(measured), 1))
    moved = list(measured)
    moved[place] += 1e-6
    before, after = of(measured, slopes), of(moved, slopes)
    rest = np.delete(np.arange(len(measured)), place)
    if (np.abs(before.surprise)[rest] < 0.9).all():  # weights of the others stay as they are
        assert after.left_out[place] == pytest.approx(before.left_out[place], abs=1e-6)


def test_a_number_that_contradicts_the_others_moves_little():
    agreed = [0.1] * 6
    slopes = np.ones((7, 1))
    found = of([*agreed, 2.0], slopes)
    assert abs(found.surprise[-1]) > 2.58
    assert found.left_out[-1] == pytest.approx(0.1, abs=0.03)
    assert found.values[0] == pytest.approx(0.1, abs=0.06)  # the mean is 0.37
    assert (np.abs(found.surprise[:-1]) < 1.0).all()


def test_numbers_of_one_kind_are_off_together():
    model = 0.1**2 * np.array([[1.0, 0.9], [0.9, 1.0]])
    noise, prior = np.full(2, 0.01), np.full(1, 0.5)
    blind = Evidence(np.array([0.10, 0.08]), np.zeros((2, 1)), prior, model, noise)
    assert posterior(blind).left_out[1] == pytest.approx(0.9 * 0.10, rel=0.02)
