"""Measure what a class waits for the explorer, without and with a visitor who asks for too much.

python tests/crowd                                 # 20 visitors, some five minutes
python tests/crowd --visitors 8 --seconds 30 --think 10

Each visitor opens a link that makes a small run, looks at it for a while, and opens the next. The
greedy one asks for 50 pages that he does not look at, opens six more with large runs, and that
again and again.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import time
from contextlib import suppress
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from explorers import served
from tornado.httpclient import HTTPClientError
from visitors import Visitor

TOKEN = "of the class"
SMALL = "?nodes=4&ppn=4&block=8m&transfer=1m&stripe_count=4&run=1&seed={seed}"
LARGE = "?nodes=8&ppn=8&block=4g&transfer=16m&stripe_count=8&run=1&seed={seed}"
PAGES, RUNS = 50, 6


@click.command()
@click.option("--visitors", default=20, show_default=True, help="The greedy one is the last.")
@click.option("--seconds", default=120.0, show_default=True, help="Of each of the two parts.")
@click.option("--think", default=40.0, show_default=True, help="Seconds between two runs.")
@click.option("--at-once", default=2, show_default=True, help="Runs at the same time.")
def crowd(visitors: int, seconds: float, think: float, at_once: int) -> None:
    """Print the seconds from opening a link until its run is shown: median, 90 %, longest."""
    options = ("--token", TOKEN, "--at-once", str(at_once))
    with served(*options) as server:
        for name, greedy in (("without", False), ("with", True)):
            waits, refused = asyncio.run(lesson(server.url, visitors, seconds, think, greedy))
            late = statistics.quantiles(waits, n=10)[-1]
            print(
                f"{name} the greedy one: {len(waits)} runs, {refused} refused; median "
                f"{statistics.median(waits):.1f} s, 90 % {late:.1f} s, longest {max(waits):.1f} s",
                flush=True,
            )


async def lesson(
    url: str, visitors: int, seconds: float, think: float, greedy: bool
) -> tuple[list[float], int]:
    """Return how long each run of the others took, and how many pages were refused to them."""
    waits: list[float] = []
    refused: list[str] = []
    until = time.monotonic() + seconds
    tasks = [
        asyncio.create_task(learn(url, number, until, think, waits, refused))
        for number in range(visitors - 1)
    ]
    glutton = asyncio.create_task(want(url)) if greedy else None
    await asyncio.gather(*tasks)
    if glutton is not None:
        glutton.cancel()
        with suppress(asyncio.CancelledError):
            await glutton
    return waits, len(refused)


async def learn(
    url: str, number: int, until: float, think: float, waits: list[float], refused: list[str]
) -> None:
    """Be one of the class."""
    drawn = random.Random(number)
    visitor = Visitor(url)
    await visitor.sign_in(TOKEN)
    await asyncio.sleep(drawn.uniform(0, min(think, until - time.monotonic())))
    while time.monotonic() < until:
        began = time.monotonic()
        try:
            seed = time.monotonic_ns() % 2**31  # not known from before
            ended = await visitor.run(SMALL.format(seed=seed))
        except (HTTPClientError, AssertionError) as error:
            refused.append(str(error))
        else:
            waits.append(time.monotonic() - began) if ended == "done" else refused.append(ended)
        left = until - time.monotonic()
        await asyncio.sleep(max(0.0, min(left, drawn.uniform(0.5, 1.5) * think)))


async def want(url: str) -> None:
    """Be the greedy one."""
    visitor = Visitor(url)
    await visitor.sign_in(TOKEN)

    async def large() -> None:
        with suppress(HTTPClientError, AssertionError):
            await visitor.run(LARGE.format(seed=time.monotonic_ns() % 2**31))

    async with asyncio.TaskGroup() as group:
        going: list[asyncio.Task[None]] = []
        while True:
            await asyncio.gather(*(visitor.ask("/") for _ in range(PAGES)))
            going = [one for one in going if not one.done()]
            going += [group.create_task(large()) for _ in range(RUNS)]
            await asyncio.sleep(10)


if __name__ == "__main__":
    crowd()
