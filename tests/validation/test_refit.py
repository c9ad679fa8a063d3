"""Fitting again by elasticities: the answers of a model of straight lines are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_model import parameter

from xc40io.validation.refit import PULL, Evidence, refit, to_middle

COPY, COMMIT = parameter("nodes.write_copy_rate"), parameter("lustre.journal_commit")
NARROW = parameter("lustre.ost_spread", lower=0.5, upper=1.2)


def evidence(off: list[float], slopes: list[list[float]], weight: float = 4.0) -> Evidence:
    return Evidence(np.array(off), np.array(slopes), np.full(len(off), weight))


@given(
    st.lists(
        st.tuples(st.floats(-0.5, 0.5), st.floats(0.3, 1.5), st.sampled_from([-1, 1])),
        min_size=1,
        max_size=6,
    )
)
def test_one_parameter_is_where_the_closed_form_says(
    rows: list[tuple[float, float, int]],
) -> None:
    off = [one for one, _, _ in rows]
    slopes = [[size * sign] for _, size, sign in rows]
    pull = 2.0 * PULL / math.log(COPY.upper / COPY.lower)
    above = -sum(16.0 * o * e[0] for o, e in zip(off, slopes, strict=True))
    below = sum(16.0 * e[0] ** 2 for e in slopes) + pull**2
    assert refit([COPY], evidence(off, slopes))[0] == pytest.approx(above / below, abs=1e-9)


def test_two_that_two_rows_tell_apart_are_both_found() -> None:
    slopes = [[1.0, -0.5], [0.2, -1.0]]
    true = np.array([0.4, -0.3])
    off = list(-(np.array(slopes) @ true))
    found = refit([COPY, COMMIT], evidence(off, slopes, weight=100.0))
    assert found == pytest.approx(true, abs=0.01)


@given(st.floats(-5, 5), st.floats(-2, 2), st.floats(1, 100))
def test_bounds_are_kept(off: float, slope: float, weight: float) -> None:
    found = refit([NARROW], evidence([off], [[slope]], weight))
    assert math.log(0.5) - 1e-12 <= found[0] <= math.log(1.2) + 1e-12


def test_without_a_row_that_sees_it_a_parameter_is_in_the_middle() -> None:
    blind = evidence([0.3], [[0.01]])
    assert refit([NARROW], blind)[0] == to_middle(NARROW) == pytest.approx(math.log(0.6) / 2)
    nothing = Evidence(np.zeros(0), np.zeros((0, 2)), np.zeros(0))
    assert list(refit([NARROW, COPY], nothing)) == [to_middle(NARROW), to_middle(COPY)]
    mixed = refit([COPY, NARROW], evidence([0.3], [[1.0, 0.0]]))
    assert mixed[0] == pytest.approx(-0.3, rel=0.1)
    assert mixed[1] == to_middle(NARROW)
