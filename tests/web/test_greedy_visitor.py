"""A server as the command starts it, a visitor who asks for too much, and another one."""

from __future__ import annotations

import asyncio

from explorers import served
from visitors import Visitor

TOKEN = "of the class"
SMALL = "?nodes=2&ppn=2&block=2m&transfer=1m&stripe_count=4&run=1"
LARGE = "?nodes=8&ppn=8&block=32g&transfer=16m&run=1&seed={seed}"
"""A run of a minute."""


def test_a_small_run_is_made_beside_six_large_ones_of_another():
    async def scenario(url: str) -> None:
        greedy, other = Visitor(url), Visitor(url)
        await greedy.sign_in(TOKEN)
        large = [asyncio.create_task(greedy.run(LARGE.format(seed=seed))) for seed in range(6)]
        pages = await asyncio.gather(*(greedy.ask("/") for _ in range(20)))
        assert {page.code for page in pages} <= {200, 302}
        await other.sign_in(TOKEN)
        assert await other.run(SMALL) == "done"
        assert not any(task.done() for task in large)
        for task in large:
            task.cancel()
        await asyncio.gather(*large, return_exceptions=True)

    with served(
        "--token", TOKEN, "--at-once", "2", "--rpcs", "9000000", "--seconds", "900"
    ) as server:
        asyncio.run(scenario(server.url))
