"""The line that questions wait in until it is their turn."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

Placed = Callable[[int], None]
"""Told the place in line: 1 is next, 0 has its turn."""


class _Ticket(NamedTuple):
    turn: asyncio.Future[None]
    placed: Placed


class Line:
    """Gives turns to so many at once, to others in the order in which they came.

    Parameters
    ----------
    at_once
        Turns at the same time.
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._tickets: deque[_Ticket] = deque()

    @asynccontextmanager
    async def turn(self, placed: Placed) -> AsyncIterator[None]:
        """Wait for a turn, and have it for as long as the context lasts.

        Parameters
        ----------
        placed
            Told the place in line whenever it changes.
        """
        await self._wait(placed)
        placed(0)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, placed: Placed) -> None:
        if self._free:
            self._free -= 1
            return
        ticket = _Ticket(asyncio.get_running_loop().create_future(), placed)
        self._tickets.append(ticket)
        placed(len(self._tickets))
        try:
            await ticket.turn
        except asyncio.CancelledError:
            if ticket in self._tickets:
                self._tickets.remove(ticket)
                self._tell()
            else:  # the turn came at the moment at which it was given up
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Give the turn to whoever is next."""
        if not self._tickets:
            self._free += 1
            return
        self._tickets.popleft().turn.set_result(None)
        self._tell()

    def _tell(self) -> None:
        for place, ticket in enumerate(self._tickets, start=1):
            ticket.placed(place)
