"""Partial pooling: quantiles of a kind's own errors, its relatives' and all others'."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.validation.pooling import SHARE, WeightedError, pooled, quantile, spread

ERRORS = st.lists(st.floats(0, 3), min_size=1, max_size=30)


def alike(error: float, count: int) -> list[WeightedError]:
    return [WeightedError(error)] * count


@given(ERRORS)
def test_the_median_of_equal_weights_is_the_common_one(errors: list[float]) -> None:
    some = [WeightedError(error) for error in errors]
    assert quantile(some, 0.5) == pytest.approx(statistics.median(errors))


@given(ERRORS, ERRORS, ERRORS)
def test_a_spread_is_in_order_and_within_what_there_is(
    own: list[float], related: list[float], others: list[float]
) -> None:
    found = pooled(*([WeightedError(error) for error in some] for some in (own, related, others)))
    everything = [*own, *related, *others]
    assert round(min(everything), 3) <= found.median <= found.nine_of_ten
    assert found.nine_of_ten <= round(max(everything), 3)


def test_many_numbers_stand_for_themselves_and_one_does_not() -> None:
    many = pooled(alike(0.1, 40), alike(0.5, 40), alike(1.0, 40))
    one = pooled(alike(0.1, 1), alike(0.5, 40), alike(1.0, 40))
    assert many.median == pytest.approx(0.1)
    assert many.nine_of_ten < 0.2
    assert one.median > 0.3
    assert one.nine_of_ten > 0.9


def test_what_others_weigh_does_not_grow_with_their_number() -> None:
    few = pooled(alike(0.1, 4), [], alike(1.0, int(SHARE)))
    many = pooled(alike(0.1, 4), [], alike(1.0, 1000))
    assert many.median == pytest.approx(few.median, abs=0.05)


def test_weights_count() -> None:
    assert spread([WeightedError(0.1, 9.0), WeightedError(1.0, 1.0)]).median < 0.2
    assert spread([WeightedError(0.1, 1.0), WeightedError(1.0, 9.0)]).median > 0.9
