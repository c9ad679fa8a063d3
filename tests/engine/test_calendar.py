from __future__ import annotations

import heapq

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.compiler.core import prepare
from xc40io.engine.calendar import (
    MAX_INDEX,
    Calendar,
    drop_next,
    enlarge_calendar,
    in_sight,
    index_of,
    is_alone,
    look_farther,
    make_calendar,
    next_index,
    next_kind,
    next_time,
    pending,
    reschedule_next,
    schedule,
    sees_farther,
)
from xc40io.engine.compiled import entry
from xc40io.engine.component import Component
from xc40io.engine.pool import NoRowLeftError
from xc40io.engine.types import Floats, Integers

Event = tuple[float, int, int]

# Few times, so that many are equal; from a nanosecond apart to hours.
times = st.sampled_from([0.0, 1e-9, 2e-9, 1e-6, 3e-6, 1e-3, 0.0041, 0.5, 1.0, 2.0, 60.0, 7200.0])
entities = st.tuples(st.integers(0, 7), st.integers(0, MAX_INDEX))
events = st.lists(st.tuples(times, entities).map(lambda e: (e[0], *e[1])), max_size=40)


def filled(due: list[Event], room: int | None = None) -> Calendar:
    calendar = make_calendar(room or len(due) + 1)
    for time, kind, index in due:
        schedule(calendar, time, kind, index)
    return calendar


def drained(calendar: Calendar) -> list[Event]:
    order = []
    while pending(calendar):
        order.append((next_time(calendar), next_kind(calendar), next_index(calendar)))
        drop_next(calendar)
    return order


def in_order(due: list[Event]) -> list[Event]:
    """By time; Python's sort keeps the order of scheduling where times are equal."""
    return sorted(due, key=lambda event: event[0])


@given(events)
def test_events_come_by_time_and_then_in_the_order_of_scheduling(due: list[Event]) -> None:
    assert drained(filled(due)) == in_order(due)


@given(events)
def test_nobody_is_alone_up_to_the_second_event(due: list[Event]) -> None:
    calendar = filled(due)
    waiting = in_order(due)
    while len(waiting) > 1:
        assert not is_alone(calendar, waiting[1][0])
        drop_next(calendar)
        waiting.pop(0)


def test_of_two_close_events_the_second_is_known() -> None:
    calendar = filled([(1e-7, 1, 1), (3e-7, 1, 2), (2e-7, 1, 3)])
    assert is_alone(calendar, np.nextafter(2e-7, 0.0))
    assert not is_alone(calendar, 2e-7)


def seen(calendar: Calendar) -> list[int]:
    """Return the entities that come into sight."""
    found = []
    while sees_farther(calendar):
        look_farther(calendar)
        row = in_sight(calendar, 0)
        while row >= 0:
            found.append(int(index_of(calendar.later[row].key)))
            row = calendar.later[row].next
    return found


def test_what_is_close_comes_into_sight_once_and_before_it_is_due() -> None:
    times = [0.0, 1.5e-6, 1.7e-6, 3.5e-6, 8.5e-6, 1.0]
    calendar = filled([(time, 1, number) for number, time in enumerate(times)])
    assert sorted(seen(calendar)) == [1, 2, 3]
    assert seen(calendar) == []
    drop_next(calendar)
    drop_next(calendar)
    drop_next(calendar)
    assert next_index(calendar) == 3
    assert seen(calendar) == [4]


@settings(max_examples=200)
@given(events, st.lists(st.tuples(st.sampled_from("asd"), times), max_size=60))
def test_any_mix_of_adding_moving_and_dropping(
    due: list[Event], acts: list[tuple[str, float]]
) -> None:
    calendar = filled(due, len(due) + len(acts) + 1)
    waiting = in_order(due)
    for number, (act, delay) in enumerate(acts):
        now = waiting[0][0] if waiting else 0.0
        if act == "a":
            schedule(calendar, now + delay, 1, number)
            waiting.append((now + delay, 1, number))
        elif waiting and act == "s":
            reschedule_next(calendar, now + delay)
            waiting.append((now + delay, *waiting.pop(0)[1:]))
        elif waiting:
            drop_next(calendar)
            waiting.pop(0)
        waiting = in_order(waiting)
        assert pending(calendar) == len(waiting)
        if waiting:
            assert next_time(calendar) == waiting[0][0]
    assert drained(calendar) == waiting


@given(events, st.integers(0, 40))
def test_a_larger_calendar_holds_the_same_events(due: list[Event], more: int) -> None:
    calendar = enlarge_calendar(filled(due), len(due) + 1 + more)
    for number in range(more):
        schedule(calendar, 3.0, 0, number)
    added = [(3.0, 0, number) for number in range(more)]
    assert drained(calendar) == in_order(due + added)


def test_an_empty_calendar_has_nothing_before_infinity() -> None:
    calendar = make_calendar(1)
    assert pending(calendar) == 0
    assert next_time(calendar) == float("inf")


class Holding(Component):
    """A calendar, the delays to come, and whose turn each was."""

    calendar: Calendar
    delays: Floats
    order: Integers


@entry(raises=NoRowLeftError)
def hold(holding: Holding) -> None:
    """Move the next entity by each delay in turn; note which ones they were."""
    calendar = holding.calendar
    for i in range(len(holding.delays)):
        holding.order[i] = next_index(calendar)
        reschedule_next(calendar, next_time(calendar) + holding.delays[i])


def test_a_long_run_through_quiet_and_busy_times() -> None:
    """Thousands of entities, whose rhythm changes by a factor of a million and back."""
    random = np.random.default_rng(1)
    entities, moves = 3000, 40_000
    scale = np.concatenate([np.full(moves, 10.0**k) for k in (-6, -8, -2, -7, 0, -5)])
    delays = scale * random.lognormal(0.0, 3.0, len(scale))
    delays[::7] = scale[::7]  # and some ties

    calendar = make_calendar(entities)
    expected = [(float(i % 5), i, i) for i in range(entities)]
    for time, _, index in expected:
        schedule(calendar, time, 0, index)
    order = np.zeros(len(delays), np.int64)
    holding = Holding(calendar=calendar, delays=delays, order=order)
    prepare([hold], holding)
    hold(holding)

    heapq.heapify(expected)
    by_heapq = []
    for sequence, delay in enumerate(delays.tolist(), start=entities):
        time, _, index = expected[0]
        by_heapq.append(index)
        heapq.heapreplace(expected, (time + delay, sequence, index))
    assert order.tolist() == by_heapq
    assert pending(calendar) == entities
    assert next_time(calendar) == expected[0][0]
