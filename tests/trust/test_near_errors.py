"""How far a number may be off: what the measured runs near it were off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from xc40io.config.parts.measured_run import MeasuredRun, RunPlace
from xc40io.trust.near_errors import (
    Errors,
    Weights,
    distances,
    errors_at,
    places,
)

WEIGHTS = Weights(
    access=2.0,
    kind=3.0,
    machine=1.0,
    nodes=0.5,
    ranks_a_node=0.5,
    bytes_a_rank=0.1,
    call=0.4,
    zero=1.0,
    pool=0.1,
    freedom=5.0,
    nine_of_ten=2.0,
)
HERE: dict[str, Any] = {
    "access": "write",
    "kind": "own files, write",
    "machine": "theta",
    "nodes": 64,
    "ranks_a_node": 16,
    "bytes_a_rank": 1 << 26,
    "call": 1 << 20,
}
ERRORS = st.lists(st.floats(-2.0, 2.0), min_size=2, max_size=8)


def told(errors: list[float], at: dict[str, Any], runs: list[dict[str, Any]]) -> Errors:
    """What is expected at one run of measured runs with these errors."""
    measured = [MeasuredRun(**HERE | run, error=off) for run, off in zip(runs, errors, strict=True)]
    apart = distances(places([RunPlace(**HERE | at)]), places(measured))
    return errors_at(apart, np.array(errors), WEIGHTS)


def test_runs_at_one_place_count_alike() -> None:
    found = told([1.0, 1.0, 1.0], {}, [{}] * 3)
    # Three of one and one of nothing: 3/4, before those that are alike count a little more.
    assert found.center == pytest.approx(0.75, abs=0.05)
    once = told([1.0], {}, [{}])
    assert once.center < found.center
    assert once.deviation > found.deviation


def test_one_that_is_far_off_counts_less_than_its_share() -> None:
    found = told([0.0] * 5 + [3.0], {}, [{}] * 6)
    assert found.center < 3.0 / 7.0
    assert found.deviation < np.sqrt(9.0 / 6.1)


@pytest.mark.parametrize(
    "apart",
    [
        {"access": "read"},
        {"kind": "shared file, write"},
        {"machine": "cori-knl"},
        {"nodes": 4096},
        {"ranks_a_node": 1},
        {"bytes_a_rank": 1 << 10},
        {"call": 1 << 10},
    ],
)
def test_the_nearer_a_run_is_the_more_it_counts(apart: dict[str, Any]) -> None:
    assert told([0.0, 1.0], {}, [{}, apart]).center < told([0.0, 1.0], apart, [{}, apart]).center


def test_where_nothing_is_near_the_error_is_that_of_all() -> None:
    far = told([0.5, -0.5, 1.0], {"nodes": 10**9, "kind": "else", "call": 1}, [{}] * 3)
    assert far.center == pytest.approx(0.0, abs=1e-3)
    assert far.deviation == pytest.approx(np.sqrt(np.mean(np.square([0.5, 0.5, 1.0]))), rel=0.02)


def test_a_call_that_is_not_known_makes_no_distance() -> None:
    runs: list[dict[str, Any]] = [{"call": 1 << 10}, {"call": 1 << 24}]
    assert told([0.0, 1.0], {"call": None}, runs) == told([0.0, 1.0], {}, [{}, {}])


@given(ERRORS, st.floats(0.01, 10.0))
def test_errors_that_are_larger_make_it_as_much_wider(errors: list[float], times: float) -> None:
    assume(max(map(abs, errors)) > 0.01)
    runs: list[dict[str, Any]] = [{"nodes": 2**number} for number in range(len(errors))]
    one, other = (told([by * off for off in errors], {}, runs) for by in (1.0, times))
    assert other.deviation == pytest.approx(times * one.deviation)
    assert other.center == pytest.approx(times * one.center, abs=1e-9)
