"""Ratios of paired runs and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from xc40io.studies.ratio import CONFIDENCE, paired

SECONDS = st.lists(st.tuples(st.floats(0.1, 10.0), st.floats(0.1, 10.0)), min_size=2, max_size=12)


def test_one_seed_claims_no_interval() -> None:
    ratio = paired([3.0], [2.0])
    assert ratio.value == pytest.approx(1.5)
    assert (ratio.low, ratio.high, ratio.clear) == (None, None, False)


@given(SECONDS)
def test_the_interval_is_that_of_a_paired_t_test_of_logarithms(
    pairs: list[tuple[float, float]],
) -> None:
    before, after = map(list, zip(*pairs, strict=True))
    ratio = paired(before, after)
    if np.ptp(np.log(before) - np.log(after)) > 1e-6:  # else the test's own rounding decides
        test = stats.ttest_rel(np.log(before), np.log(after))
        low, high = np.exp(test.confidence_interval(CONFIDENCE))
        assert (ratio.low, ratio.high) == (pytest.approx(low), pytest.approx(high))


@given(SECONDS)
def test_the_other_way_round_it_is_the_inverse(pairs: list[tuple[float, float]]) -> None:
    before, after = map(list, zip(*pairs, strict=True))
    one, other = paired(before, after), paired(after, before)
    assert one.low is not None
    assert other.high is not None
    assert one.value * other.value == pytest.approx(1.0)
    assert one.low * other.high == pytest.approx(1.0)
    assert one.clear == other.clear


def test_what_chance_does_to_both_does_not_widen_the_interval() -> None:
    alike = paired([1.0, 2.0, 4.0], [0.5, 1.0, 2.0])
    assert (alike.low, alike.high) == (pytest.approx(2.0), pytest.approx(2.0))
    assert alike.clear
