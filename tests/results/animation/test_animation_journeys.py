"""Journeys: they fill their time, and go where they are sent."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.results.animation.journeys import Doing, Journey, JourneyKind, Step, Stop

SECONDS = st.floats(0.0, 10.0)


def journey(begin: float = 0.0) -> Journey:
    return Journey(JourneyKind.WRITE, "write", 1, begin, 0)


@given(
    begin=SECONDS,
    lasts=st.floats(1e-6, 10.0),
    stops=st.lists(
        st.builds(Stop, st.integers(0, 3), st.just(Doing.LEFT), SECONDS), min_size=1, max_size=5
    ),
)
def test_whatever_holds_it_up_it_arrives_when_it_was_recorded(
    begin: float, lasts: float, stops: list[Stop]
) -> None:
    way = journey(begin)
    way.pass_through(begin + lasts, stops)
    times = [begin, *(step.until for step in way.steps)]
    assert times == sorted(set(times))
    if len({0, *(stop.place for stop in stops)}) > 1 or any(stop.seconds for stop in stops):
        assert way.now == pytest.approx(begin + lasts)
    assert way.now <= begin + lasts


def test_it_rests_where_it_is_held_up_and_moves_in_the_rest_of_the_time() -> None:
    way = journey()
    way.pass_through(
        10.0, [Stop(0, Doing.RIGHT, 2.0), Stop(1, Doing.INSIDE), Stop(2, Doing.LEFT, 4.0)]
    )
    assert way.steps == [
        Step(2.0, 0, Doing.RIGHT),
        Step(4.0, 1, Doing.MOVES),
        Step(6.0, 2, Doing.MOVES),
        Step(10.0, 2, Doing.LEFT),
    ]


def test_what_was_held_up_for_longer_than_there_is_time_is_shortened() -> None:
    way = journey()
    way.pass_through(3.0, [Stop(0, Doing.RIGHT, 4.0), Stop(1, Doing.LEFT, 2.0)])
    assert [(step.until, step.place) for step in way.steps] == [(2.0, 0), (3.0, 1)]


def test_what_has_not_come_stays_until_the_end() -> None:
    way = journey()
    way.go(4.0, (1, 2))
    way.stay(inf, Doing.LEFT)
    way.go(inf, (3,))
    way.pass_through(inf, [Stop(4, Doing.LEFT)])
    way.cut(9.0)
    assert way.steps == [
        Step(2.0, 1, Doing.SMALL),
        Step(4.0, 2, Doing.SMALL),
        Step(9.0, 2, Doing.LEFT),
    ]


def test_the_end_cuts_what_is_under_way() -> None:
    way = journey()
    way.go(8.0, (1, 2, 3, 4))
    way.cut(3.0)
    assert way.steps == [Step(2.0, 1, Doing.SMALL), Step(3.0, 2, Doing.SMALL)]
