"""Workers: what happens to those that are at work when all of it ends, or one question does."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from xc40io.config.errors import FailureError, InputError
from xc40io.serving.question_limits import Limits
from xc40io.serving.worker import Desk
from xc40io.serving.workers import Workers

SLEEP, ADD = f"{__name__}:sleep", f"{__name__}:add"


def sleep(asked: dict[str, Any], desk: Desk) -> dict[str, Any]:
    """Say that it has begun, then work for longer than anybody waits."""
    desk.tell(1, 2)
    time.sleep(asked["seconds"])
    return {}


def add(asked: dict[str, Any], _desk: Desk) -> dict[str, Any]:
    """Return a sum."""
    return {"sum": asked["a"] + asked["b"]}


async def begun(workers: Workers) -> asyncio.Task[Any]:
    """Return a question that a worker is at."""
    told = asyncio.Event()

    async def report(_done: int, _total: int) -> None:
        told.set()

    task = asyncio.create_task(workers.answer(SLEEP, {"seconds": 600}, report))
    await asyncio.wait_for(told.wait(), 60)
    return task


async def unheard(_done: int, _total: int) -> None:
    """Listen to nothing."""


def test_who_is_at_work_ends_with_all_others():
    async def scenario() -> None:
        with Workers(Limits(), 1, 1) as workers:
            task = await begun(workers)
            began = time.monotonic()
        assert time.monotonic() - began < 30  # it does not wait for the answer
        with pytest.raises(FailureError, match="has ended"):
            await task

    asyncio.run(asyncio.wait_for(scenario(), 60))


def test_a_question_that_is_given_up_leaves_its_place_to_the_next():
    async def scenario() -> None:
        limits = Limits(seconds=60.0)
        with Workers(limits, 1, 1, warm=True) as workers:
            task = await begun(workers)
            waiting = asyncio.create_task(workers.answer(ADD, {"a": 1, "b": 2}, unheard))
            task.cancel()
            assert await waiting == {"sum": 3}

    asyncio.run(scenario())


def test_what_takes_too_long_is_ended_with_a_sentence():
    async def scenario() -> None:
        limits = Limits(seconds=1.0, command="xc40io web")
        said = pytest.raises(InputError, match=r"longer than 1 s \(xc40io web --seconds\)")
        with Workers(limits, 1, 1) as workers, said:
            await workers.answer(SLEEP, {"seconds": 600}, unheard)

    asyncio.run(scenario())
