"""Rooms, tickets and attempts by themselves, with a clock that is set."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from xc40io.web.rooms import Rooms
from xc40io.web.tickets import HOURS, Attempts, Tickets


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def document() -> Any:
    """Return what tells that it is destroyed."""
    ends: list[Any] = []
    return SimpleNamespace(
        on_session_destroyed=ends.append, end=lambda: [end(None) for end in ends]
    )


@given(
    st.integers(1, 6),
    st.integers(1, 4),
    st.lists(st.tuples(st.sampled_from(["ask", "move in", "end", "wait"]), st.integers(0, 19))),
)
def test_nobody_has_more_rooms_than_he_may(most: int, each: int, steps: list[tuple[str, int]]):
    clock = Clock()
    rooms = Rooms(most, each, clock)
    asked: dict[str, float] = {}  # sessions without a page, and when they asked
    there: dict[str, Any] = {}  # those with one
    for number, (what, which) in enumerate(steps):
        session, visitor = f"{which % 3} {number}", str(which % 3)
        waiting = sorted(set(asked) - set(there))
        if what == "ask" and rooms.take(session, visitor):
            asked[session] = clock.now
        elif what == "move in" and waiting:
            there[waiting[0]] = document()
            assert rooms.move_in(waiting[0], there[waiting[0]]) == waiting[0][0]
        elif what == "end" and there:
            _, ended = there.popitem()
            asked.pop(_)
            ended.end()
        elif what == "wait":
            clock.now += 100
            asked = {one: when for one, when in asked.items() if one in there}
        whose = Counter(one[0] for one in asked)
        assert sum(whose.values()) <= most
        assert all(count <= each for count in whose.values())
        for one in "012":
            full = len(asked) >= most or whose[one] >= each
            assert bool(rooms.lack(one)) == full


def test_a_session_that_has_a_room_keeps_it_when_its_browser_comes_again():
    rooms = Rooms(1, 1)
    assert rooms.take("session", "visitor")
    assert rooms.take("session", "visitor")
    assert not rooms.take("another", "visitor")


def test_a_ticket_is_valid_for_its_hours_and_sealed():
    clock = Clock()
    tickets = Tickets("token", clock)
    one, other = tickets.new(), tickets.new()
    visitor = tickets.visitor(one)
    assert visitor
    assert tickets.visitor(other) not in ("", visitor)
    name, end, seal = one.split(".")
    assert not tickets.visitor(f"{name}.{int(end) + 1}.{seal}")
    assert not Tickets("another", clock).visitor(one)
    tickets.give_back(other)
    assert not tickets.visitor(other)
    clock.now += HOURS * 3600 + 1
    assert not tickets.visitor(one)


@given(st.text())
def test_whatever_is_sent_as_a_ticket_or_token_is_none(text: str):
    tickets = Tickets("token of the server")
    assert not tickets.visitor(text)
    assert not tickets.knows(text)


def test_wrong_tokens_cost_ever_more_time_up_to_a_minute():
    clock = Clock()
    attempts = Attempts(clock)
    waits = []
    for _ in range(2000):
        attempts.failed("here")
        waits.append(attempts.wait("here"))
        clock.now += waits[-1]
    assert waits[:5] == [0.0] * 5
    assert waits[5:8] == [1.0, 2.0, 4.0]
    assert waits == sorted(waits)
    assert waits[-1] == 60.0
    assert attempts.wait("elsewhere") == 0.0
    attempts.passed("here")
    attempts.failed("here")
    assert attempts.wait("here") == 0.0
