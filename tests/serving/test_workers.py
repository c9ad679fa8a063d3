"""Workers: what happens to those that are at work when all of it ends, or one question does."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import time
from functools import partial
from typing import Any

import pytest

from xc40io.config.errors import FailureError, InputError
from xc40io.serving.question_limits import Limits
from xc40io.serving.worker import Desk, Worker
from xc40io.serving.workers import Workers

SLEEP, ADD, END = f"{__name__}:sleep", f"{__name__}:add", f"{__name__}:end"
LATE = f"{__name__}:late"


def sleep(asked: dict[str, Any], desk: Desk) -> dict[str, Any]:
    """Say that it has begun, then work for longer than anybody waits."""
    desk.tell(1, 2)
    time.sleep(asked["seconds"])
    return {}


def add(asked: dict[str, Any], _desk: Desk) -> dict[str, Any]:
    """Return a sum."""
    return {"sum": asked["a"] + asked["b"]}


def end(asked: dict[str, Any], _desk: Desk) -> dict[str, Any]:
    """End the process in some way."""
    if asked["signal"]:
        os.kill(os.getpid(), asked["signal"])
    os._exit(asked["status"])


def late() -> None:
    """Take longer to start than a question may take."""
    time.sleep(2.0)


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


def test_the_start_of_a_process_is_not_in_the_time_of_its_question():
    async def scenario() -> None:
        with Workers(Limits(seconds=1.5), 1, 1, start=partial(Worker, LATE)) as workers:
            assert await workers.answer(ADD, {"a": 1, "b": 2}, unheard) == {"sum": 3}

    asyncio.run(scenario())


def test_it_is_said_how_a_process_ended_and_the_next_question_has_another():
    ways = [
        ({"signal": signal.SIGKILL}, r"was killed \(?.*SIGKILL"),
        ({"signal": signal.SIGTERM}, r"was ended by a signal \(SIGTERM\)"),
        ({"signal": 0, "status": 7}, "ended with exit status 7"),
    ]

    async def scenario() -> None:
        with Workers(Limits(), 1, 1) as workers:
            for asked, said in ways:
                with pytest.raises(FailureError, match=said):
                    await workers.answer(END, asked, unheard)
            assert await workers.answer(ADD, {"a": 1, "b": 2}, unheard) == {"sum": 3}
            for process in multiprocessing.active_children():
                process.kill()
                process.join()
            assert await workers.answer(ADD, {"a": 3, "b": 4}, unheard) == {"sum": 7}

    asyncio.run(scenario())
