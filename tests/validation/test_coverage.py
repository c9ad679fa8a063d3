"""Whether intervals hold nine of ten measured numbers, and chances come out as they say."""

from __future__ import annotations

import math
import statistics
from typing import get_args

import pytest
from run_records import claim

from xc40io.validation.coverage import (
    Chance,
    Coverage,
    CoveredNumber,
    LeftOut,
    chance_rows,
    coverage_rows,
)
from xc40io.validation.cross_validation import CrossValidation, kept_cross_validation
from xc40io.validation.kept import Number, Result
from xc40io.validation.kept_cross import KeptCross


@pytest.fixture(scope="module")
def coverage() -> Coverage:
    return Coverage(kept_cross_validation())


@pytest.mark.parametrize("without", get_args(LeftOut))
def test_about_nine_of_ten_measured_numbers_lie_in_their_intervals(
    coverage: Coverage, without: LeftOut
) -> None:
    found = coverage.covered(without)
    share = sum(one.inside for one in found) / len(found)
    assert 0.85 <= share <= 0.95, "docs/how-far-to-trust-it.md says nine of ten"


def test_an_interval_is_narrower_where_siblings_were_measured(coverage: Coverage) -> None:
    siblings, strangers = (
        statistics.median(one.width for one in coverage.covered(without) if one.near is near)
        for without, near in (("itself", True), ("site", False))
    )
    assert siblings < 2.5 < 4.5 < strangers


def test_chances_come_out_about_as_often_as_they_say(coverage: Coverage) -> None:
    found = coverage.chances()
    total = sum(one.weight for one in found)
    stated, right = (
        sum(one.weight * getattr(one, what) for one in found) / total
        for what in ("stated", "right")
    )
    assert abs(stated - right) < 0.05


def test_a_number_is_judged_without_its_own_series() -> None:
    """One that alone is far off does not make its own interval wide."""
    off = {"B01": 0.1, "B02": 0.1, "G26": 0.1, "G27": 0.1, "K03": 2.0}
    claims = {}
    for nodes, name in enumerate(off, start=1):
        one = claim("a", {"value": "2 GB/s", "tolerance": "10%"}, metric="write(a)", id=name)
        run = one.runs["a"].model_copy(update={"nodes": nodes})
        claims[name] = one.model_copy(update={"runs": {"a": run}})
    results = {
        name: Result("pass", "", (Number(math.exp(error), True),), "", "")
        for name, error in off.items()
    }
    crossed = CrossValidation(claims, results, {}, KeptCross({}, {}))
    inside = [one.inside for one in Coverage(crossed).covered()]
    assert inside == [True, True, True, True, False]


def test_the_tables_count_what_lies_inside_and_what_was_right() -> None:
    found = [
        CoveredNumber("ours", True, True, True, 1.5),
        CoveredNumber("ours", False, False, False, 2.0),
    ]
    rows = list(coverage_rows(found))
    assert ("ours", "1", "2", "1.75") in rows
    assert ("all", "1", "2", "1.75") in rows
    pairs = [Chance(0.6, True, 1.0), Chance(0.6, False, 3.0), Chance(0.99, True, 1.0)]
    assert list(chance_rows(pairs))[1:] == [
        ("50 to 75 %", "2", "60 %", "25 %"),
        ("97 to 100 %", "1", "99 %", "100 %"),
        ("all", "3", "68 %", "40 %"),
    ]
