"""When a stonewalled run has settled."""

from __future__ import annotations

import numpy as np
import pytest

from xc40io.workloads.settling import Settling

RANKS = 4


def stop_of(calls_at, tolerance: float = 0.02, room: int = 10**9, moved_at=None) -> float | None:
    """Return when a run of 30 seconds is stopped, if its ranks have made so many calls by then."""
    settling = Settling(tolerance)
    for step in range(1, 301):
        seconds = step / 10
        calls = np.asarray(calls_at(seconds), np.int64)
        moved = np.inf if moved_at is None else moved_at(seconds)
        if settling.has_settled(seconds, calls, room, moved):
            break
    return settling.stopped


def even(rate: float):
    return lambda seconds: np.full(RANKS, rate * seconds)


def test_an_even_pace_settles_at_once_and_a_changing_one_when_it_has_changed():
    assert stop_of(even(1000)) < 1.5
    slower = stop_of(lambda t: np.full(RANKS, 1000 * min(t, 0.4) + 100 * max(t - 0.4, 0.0)))
    assert slower is not None
    assert slower > 2.0


def test_few_calls_tell_no_rate():
    assert stop_of(even(1000)) < stop_of(even(10))


def test_a_run_goes_on_while_the_fastest_rank_gains_on_the_others():
    gaining = stop_of(lambda t: 1000 * t + np.array([0, 0, 0, 900 * min(t, 5.0) * t]))
    assert gaining is None or gaining > 5.0


def test_a_run_goes_on_while_a_cache_fills():
    filling = stop_of(even(1000), moved_at=lambda t: RANKS * 1000 * max(t - 3.0, 0.0))
    assert filling is not None
    assert filling > 3.0


def test_a_run_stops_before_its_calls_run_out():
    assert stop_of(lambda t: np.full(RANKS, 100 * t * t), room=900) == pytest.approx(2.7)
    settling = Settling(0.02, cut=False)
    assert not settling.has_settled(3.0, np.full(RANKS, 900), 900)


def test_without_a_tolerance_nothing_settles():
    assert stop_of(even(1000), tolerance=0.0) is None
