"""Lives of jobs under failures: what always holds, and what theory says of the simplest."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.studies.checkpoint.job_lives import Cost, Failures, lives

DAY, HOUR = 86400.0, 3600.0
NEVER = 1e15


def cost(count: int, write: float, drain: float = 0.0, **more: float | bool) -> Cost:
    one = np.ones(count)
    beside = write * float(more.pop("beside", 1.0))
    read = float(more.pop("read", 0.0))
    begin = float(more.pop("begin", 0.0))
    survives, skips = bool(more.pop("survives", True)), bool(more.pop("skips", False))
    slowed = float(more.pop("slowed", 0.0))
    times = write * one, beside * one, drain * one, read * one
    return Cost(*times, begin, survives, slowed, skips)


def test_without_failures_only_writes_cost() -> None:
    spent = lives(10 * HOUR, HOUR, cost(3, 60.0), Failures(NEVER, 3, 1))
    # Ten intervals, and no checkpoint behind the last.
    assert spent.whole == pytest.approx(10 * HOUR + 9 * 60.0)
    assert spent.writes == pytest.approx(9 * 60.0)
    assert spent.lost == pytest.approx(0.0, abs=1e-6)


def test_a_drain_longer_than_the_interval_is_waited_for() -> None:
    spent = lives(3000.0, 1000.0, cost(1, 10.0, 1500.0, beside=2.0), Failures(NEVER, 1, 1))
    # Two checkpoints: the second, at 2,010 s, takes 20 s beside the drain, which ends at 2,510 s.
    assert spent.writes == pytest.approx(30.0)
    assert spent.waits == pytest.approx(480.0)
    assert spent.whole == pytest.approx(3000.0 + 30.0 + 480.0)


def test_where_partners_hold_copies_none_waits_for_a_drain() -> None:
    asked = cost(1, 10.0, 1500.0, beside=2.0, skips=True)
    spent = lives(4000.0, 1000.0, asked, Failures(NEVER, 1, 1))
    # The second at 2,010 s beside the drain until 2,510 s; it is not drained, the third is.
    assert spent.waits == pytest.approx(0.0)
    assert spent.writes == pytest.approx(10.0 + 20.0 + 10.0)


def test_computing_falls_behind_while_a_checkpoint_is_drained() -> None:
    asked = cost(1, 10.0, 400.0, slowed=0.25)
    spent = lives(3000.0, 1000.0, asked, Failures(NEVER, 1, 1))
    # Two drains of 400 s, in each of which 300 s are computed.
    assert spent.slowed == pytest.approx(2 * 100.0)
    assert spent.whole == pytest.approx(3000.0 + 2 * 10.0 + 200.0)
    # Of a drain that is longer than the interval only what is beside computing counts.
    asked = cost(1, 10.0, 5000.0, slowed=0.25, skips=True)
    spent = lives(3000.0, 1000.0, asked, Failures(NEVER, 1, 1))
    assert spent.slowed == pytest.approx(2 * 1000.0 / 3.0)


@pytest.mark.parametrize("every", [600.0, 1800.0, 7200.0])
def test_the_mean_is_that_of_renewal_theory(every: float) -> None:
    """The expected time of an interval of length L is (M + R) (e^(L/M) - 1)."""
    mtbf, write, begin = 6 * HOUR, 120.0, 300.0
    number = round(10 * DAY / every)
    spent = lives(10 * DAY, every, cost(3000, write, begin=begin), Failures(mtbf, 3000, 5))
    # A failure while the job begins again begins that anew: e^(R/M) in place of 1 + R/M.
    again = mtbf * math.exp(begin / mtbf)
    whole = (number - 1) * again * math.expm1((every + write) / mtbf)
    whole += again * math.expm1(every / mtbf)
    assert spent.whole.mean() == pytest.approx(whole, rel=0.01)


def test_what_is_not_drained_is_lost_with_its_node() -> None:
    failures = Failures(4 * HOUR, 500, 3)
    safe = lives(2 * DAY, HOUR, cost(500, 10.0, 1800.0), failures)
    lost = lives(2 * DAY, HOUR, cost(500, 10.0, 1800.0, survives=False), failures)
    assert lost.lost.mean() > 1.3 * safe.lost.mean()


def test_all_settings_meet_the_same_failures() -> None:
    failures = Failures(HOUR, 7, 11)
    assert (failures.gaps(4) == Failures(HOUR, 7, 11).gaps(4)).all()
    assert (failures.gaps(4) != failures.gaps(5)).any()


@settings(max_examples=60, deadline=None)
@given(
    every=st.floats(60.0, 20_000.0),
    write=st.floats(0.01, 500.0),
    drain=st.floats(0.0, 5_000.0),
    mtbf=st.floats(1_000.0, 200_000.0),
    survives=st.booleans(),
    slowed=st.floats(0.0, 0.9),
)
def test_parts_add_up(
    every: float, write: float, drain: float, mtbf: float, survives: bool, slowed: float
) -> None:
    survives = survives or not drain
    spent = lives(
        DAY,
        every,
        cost(20, write, drain, read=5.0, begin=30.0, survives=survives, slowed=slowed),
        Failures(mtbf, 20, 2),
    )
    parts = spent.work + sum(spent[2:])
    assert spent.whole == pytest.approx(parts)
    for part in (spent.writes, spent.waits, spent.slowed, spent.restarts):
        assert (part >= 0.0).all()
    assert (spent.lost >= -1e-6 * spent.whole).all()
    assert (spent.work <= DAY * (1 + 1e-12)).all()
