"""The line of questions that wait: who has a turn, who is told what, who gives up."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.serving.line import SMALL, Asking, Line


async def settled() -> None:
    """Let all that can go on go on."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_others_wait_in_their_order_and_are_told_their_place():
    async def scenario() -> None:
        line, told, release = Line(1), {}, asyncio.Event()

        async def asks(name: str) -> None:
            async with line.turn(lambda place: told.setdefault(name, []).append(place)):
                await release.wait()

        tasks = [asyncio.create_task(asks(name)) for name in "abc"]
        await settled()
        assert told == {"a": [0], "b": [1], "c": [2]}
        tasks[1].cancel()
        await settled()
        assert told["c"] == [2, 1]
        tasks[0].cancel()
        await settled()
        assert told["c"] == [2, 1, 0]
        release.set()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(scenario())


@given(
    st.integers(1, 3),
    st.lists(
        st.tuples(st.sampled_from(["come", "give up", "end"]), st.integers(0, 9)), max_size=40
    ),
)
def test_no_turn_is_lost_and_none_given_twice(at_once: int, steps: list[tuple[str, int]]):
    async def scenario() -> None:
        line, running, tasks, ends = Line(at_once), set(), [], {}

        async def asks(number: int) -> None:
            async with line.turn(lambda _place: None):
                running.add(number)
                try:
                    await ends[number].wait()
                finally:
                    running.discard(number)

        for what, number in steps:
            if what == "come":
                ends[len(tasks)] = asyncio.Event()
                tasks.append(asyncio.create_task(asks(len(tasks))))
            elif number < len(tasks):
                _ = tasks[number].cancel() if what == "give up" else ends[number].set()
            await settled()
            left = sum(not task.done() for task in tasks)
            assert len(running) == min(at_once, left)
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    asyncio.run(scenario())


class Played:
    """A line that is played: who has turns, in which order, and who waits."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.turns: list[str] = []  # names of questions, in the order of their turns
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.ends: dict[str, asyncio.Event] = {}

    @property
    def going(self) -> list[str]:
        return [name for name in self.turns if not self.tasks[name].done()]

    async def come(self, name: str, visitor: str, cost: float = 1.0) -> None:
        self.ends[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._asks(name, Asking(visitor, cost)))
        await settled()

    async def _asks(self, name: str, asking: Asking) -> None:
        async with self.line.turn(lambda _place: None, asking):
            self.turns.append(name)
            await self.ends[name].wait()

    async def end(self, name: str) -> None:
        self.ends[name].set()
        await settled()

    async def end_all(self) -> list[str]:
        """End one question after another; return the order of all turns."""
        while self.going:
            await self.end(self.going[0])
        return self.turns


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["come", "come", "end", "give up"]),
        st.sampled_from("abcd"),
        st.sampled_from([1.0, 2.0, 2 * SMALL, 3 * SMALL]),
        st.integers(0, 9),
    ),
    max_size=40,
)


@given(st.integers(1, 3), st.integers(1, 3), STEPS)
def test_nobody_waits_for_more_than_one_question_of_each_other_visitor(at_once, each, steps):
    async def scenario() -> None:
        played = Played(Line(at_once, each))
        whose: dict[str, str] = {}
        bursts: dict[
            str, list[str]
        ] = {}  # the last questions of each visitor, from when he had none
        asked: list[tuple[int, list[str]]] = []  # bursts, and how many turns there were before

        async def one_step(step) -> None:
            what, visitor, cost, which = step
            if what == "come":
                name = str(len(whose))
                if all(played.tasks[old].done() for old in whose if whose[old] == visitor):
                    bursts[visitor] = []
                    asked.append((len(played.turns), bursts[visitor]))
                bursts[visitor].append(name)
                whose[name] = visitor
                await played.come(name, visitor, cost)
            elif what == "end" and played.going:
                await played.end(played.going[which % len(played.going)])
            elif what == "give up" and whose:
                played.tasks[str(which % len(whose))].cancel()
                await settled()
            running = Counter(whose[name] for name in played.going)
            assert sum(running.values()) <= at_once
            assert all(number <= each for number in running.values())

        for step in steps:
            await one_step(step)
        await played.end_all()
        assert all(task.done() for task in played.tasks.values())  # nobody waits for ever
        for before, burst in asked:
            turns = [played.turns.index(name) for name in burst if name in played.turns]
            ahead = Counter(whose[one] for one in played.turns[before : min(turns, default=before)])
            assert all(number <= 1 for number in ahead.values())

    asyncio.run(scenario())


def test_a_small_question_is_not_behind_six_large_ones_of_another_or_of_ones_own():
    async def scenario(visitor: str, at_once: int, each: int | None) -> list[str]:
        played = Played(Line(at_once, each))
        for number in range(6):
            await played.come(f"large {number}", "greedy", 5 * SMALL)
        await played.come("small", visitor, 1.0)
        return await played.end_all()

    for visitor, at_once, each in (("other", 2, 1), ("other", 2, None), ("greedy", 2, None)):
        assert asyncio.run(scenario(visitor, at_once, each))[:2] == ["large 0", "small"]
    for visitor in ("other", "greedy"):  # one place: it is next
        assert asyncio.run(scenario(visitor, 1, 1))[:2] == ["large 0", "small"]


def test_all_that_a_page_asked_for_can_be_given_up_at_once():
    async def scenario() -> None:
        played = Played(Line(1))
        for name in "abc":
            await played.come(name, "page")
        for name in "abc":
            played.tasks[name].cancel()
        await settled()
        await played.come("other", "other")
        assert played.going == ["other"]

    asyncio.run(scenario())


def test_small_ones_that_keep_coming_do_not_hold_up_a_large_one_for_ever():
    async def scenario() -> None:
        played = Played(Line(1))
        await played.come("first", "a")
        await played.come("large", "a", 5 * SMALL)
        for number in range(20):
            await played.come(f"small {number}", "a")
        turns = await played.end_all()
        assert 1 < turns.index("large") < 12

    asyncio.run(scenario())


def test_no_more_of_a_visitor_wait_than_may():
    async def scenario() -> None:
        played = Played(Line(1, 1, waiting=2))
        for name in "abc":
            await played.come(name, "greedy")
        await played.come("d", "greedy")
        with pytest.raises(InputError, match="2 of your questions wait already"):
            await played.tasks["d"]
        await played.come("e", "other")
        assert await played.end_all() == ["a", "e", "b", "c"]

    asyncio.run(scenario())
