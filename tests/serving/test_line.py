"""The line of questions that wait: who has a turn, who is told what, who gives up."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from xc40io.serving.workers import Line


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
