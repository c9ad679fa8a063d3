"""The values of an axis, as they are typed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.studies.axes import Axis, Numbers, parse_axes, parse_values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,8,16", [1, 8, 16]),
        ("8m", ["8m"]),
        ("-1, 4", [-1, 4]),
        ("1m..8m", ["1m", "2m", "4m", "8m"]),
        ("512k..2m", ["512k", "1m", "2m"]),
        ("5 us..20 us", ["5 us", "10 us", "20 us"]),
        ("8:56:16", [8, 24, 40, 56]),
        ("1:50:16", [1, 17, 33, 49]),
        ("1:3", [1, 2, 3]),
        ("1m:4m:1m", ["1m", "2m", "3m", "4m"]),
        ("1m,2m,...,8m", ["1m", "2m", "4m", "8m"]),
        ("8,16,...,40", [8, 16, 24, 32, 40]),
        ("1,8,16,...,32", [1, 8, 16, 32]),
        ("random,spread", ["random", "spread"]),
        ("true,false", [True, False]),
        ("['0-3,8', 4]", ["0-3,8", 4]),
        ("*:cb_nodes=4", ["*:cb_nodes=4"]),
    ],
)
def test_what_is_typed_is_what_is_meant(text: str, values: list[Any]) -> None:
    assert parse_values(text, "here") == values


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("striping.count", "right would be PATH=VALUES"),
        ("=1,2", "right would be PATH=VALUES"),
        ("nodes=", "an empty value"),
        ("nodes=1,,2", "an empty value"),
        ("nodes=1,2,1", "1 is there twice"),
        ("nodes=8..1", "from small to large"),
        ("nodes=8:1:2", "FIRST:LAST:STEP"),
        ("nodes=1:9:0", "FIRST:LAST:STEP"),
        ("nodes=1:99999", "10,000 values at most"),
        ("nodes=1,2,...,9.5", "does not reach 9.5"),
        ("nodes=...,8", "two values before the dots"),
        ("nodes=1,2,...", "two values before the dots"),
        ("nodes=[1,", "not a list in YAML"),
        ("nodes=[]", "there are no values"),
        ("x=1m..8 us", "not in one unit"),
    ],
)
def test_what_is_no_axis_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_axes([text])


def test_a_path_has_its_values_in_one() -> None:
    with pytest.raises(InputError, match="given twice"):
        parse_axes(["nodes=1", "nodes=2"])


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ((1, 8), Numbers((1, 8), "")),
        (("512k", "1m"), Numbers((1 << 19, 1 << 20), "bytes")),
        (("5 us", "10 us"), Numbers((5.0, 10.0), "us")),
        (("5 us", "1 ms"), None),
        (("random", 4), None),
        ((True, False), None),
    ],
)
def test_sizes_are_numbers_and_words_are_none(
    values: tuple[Any, ...], numbers: Numbers | None
) -> None:
    assert Axis("path", values).numbers == numbers


@given(st.integers(1, 1000), st.integers(1, 50), st.integers(0, 200))
def test_steps_stay_within_and_come_as_near_as_one(first: int, step: int, more: int) -> None:
    values = parse_values(f"{first}:{first + more}:{step}", "here")
    assert values[0] == first
    assert first + more - step < values[-1] <= first + more
    assert {after - before for before, after in pairwise(values)} <= {step}
