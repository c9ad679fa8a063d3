"""The line of questions that wait for a worker: dealt among visitors, turn about."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count, zip_longest
from typing import NamedTuple

from xc40io.config.errors import InputError

Placed = Callable[[int], None]
"""Told the place in line: 1 is next, 0 has its turn."""

SMALL = 20_000.0
"""Bulk RPCs and ranks of all runs of a question that is no large one: some three seconds' work."""

_PASSED_OVER = 8
"""Turns of its visitor after which a question waits no longer for smaller ones that came later."""

_REMEMBERED = 1000
"""Visitors of whom the last turn is known."""


class Asking(NamedTuple):
    """Whose question it is, and how much work about."""

    visitor: str = ""
    cost: float = 0.0  # bulk RPCs and ranks of all its runs, about


SOMEBODY = Asking()
"""Asks something small; where there is one visitor, he need not be told apart."""


@dataclass(eq=False)
class _Ticket:
    number: int  # in the order in which questions came
    cost: float
    placed: Placed
    turn: asyncio.Future[None]
    passed: int = 0  # turns that its visitor had for questions that came later
    place: int = -1  # that it was told last

    @property
    def rank(self) -> tuple[bool, float, int]:
        """What orders the questions of one visitor: small ones first, but none for ever."""
        return self.passed < _PASSED_OVER, self.cost, self.number


class Line:
    """Gives turns to so many questions at once, each to the visitor who had one longest ago.

    So from when a visitor asks until his first question has its turn, each other visitor has at
    most one. Of his own questions the smallest goes first. His large ones never fill all places:
    one is left for what is small, his own or another's, where there are two or more.

    Parameters
    ----------
    at_once
        Questions that have their turn at the same time.
    each
        Those of one visitor among them, at most.
    waiting
        Questions of one visitor that wait, at most.
    """

    def __init__(self, at_once: int, each: int | None = None, waiting: int = 64) -> None:
        self._free = at_once
        self._each = at_once if each is None else each
        self._large = max(1, at_once - 1)
        self._most = waiting
        self._tickets: dict[str, list[_Ticket]] = {}  # of each visitor of whom any wait
        self._served: OrderedDict[str, int] = OrderedDict()  # the last turn of visitors
        self._going: Counter[tuple[str, bool]] = Counter()  # of a visitor, and whether large
        self._numbers = count()
        self._turns = count()

    @asynccontextmanager
    async def turn(self, placed: Placed, asking: Asking = SOMEBODY) -> AsyncIterator[None]:
        """Wait for a turn, and have it for as long as the context lasts.

        ``placed`` is told the place in line whenever it changes.

        Raises
        ------
        InputError
            If too many questions of the visitor wait already.
        """
        await self._wait(placed, asking)
        try:
            placed(0)
            yield
        finally:
            self._end(asking)

    async def _wait(self, placed: Placed, asking: Asking) -> None:
        mine = self._tickets.setdefault(asking.visitor, [])
        if len(mine) >= self._most:
            raise InputError(
                f"{len(mine)} of your questions wait already, as many as may; right would be to "
                "ask again when one of them has its turn, or to cancel one"
            )
        turn = asyncio.get_running_loop().create_future()
        ticket = _Ticket(next(self._numbers), asking.cost, placed, turn)
        mine.append(ticket)
        self._deal()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it came when it was given up
                self._end(asking)
            else:
                self._leave(asking.visitor, ticket)
                self._deal()
            raise

    def _end(self, asking: Asking) -> None:
        """Take a turn back, and give it to whoever is next."""
        self._going[asking.visitor, asking.cost > SMALL] -= 1
        self._going += Counter()  # forgets who has none
        self._free += 1
        self._deal()

    def _deal(self) -> None:
        """Give free turns away, and tell others their place."""
        while self._free and (found := self._next()) is not None:
            visitor, ticket = found
            for other in self._tickets[visitor]:
                other.passed += other.number < ticket.number
            self._leave(visitor, ticket)
            self._served.pop(visitor, None)
            self._served[visitor] = next(self._turns)
            if len(self._served) > _REMEMBERED:
                self._served.popitem(last=False)
            self._free -= 1
            self._going[visitor, ticket.cost > SMALL] += 1
            ticket.turn.set_result(None)
        for place, ticket in enumerate(self._in_order(), start=1):
            if ticket.place != place:
                ticket.place = place
                ticket.placed(place)

    def _next(self) -> tuple[str, _Ticket] | None:
        """Return the question whose turn it is, and its visitor."""
        for visitor in self._visitors():
            tickets = self._tickets[visitor]
            large = self._going[visitor, True]
            if self._going[visitor, False] + large >= self._each:
                continue
            may = [
                one
                for one in tickets  # one that is given up leaves by itself, a moment later
                if not one.turn.done() and (one.cost <= SMALL or large < self._large)
            ]
            if may:
                return visitor, min(may, key=lambda one: one.rank)
        return None

    def _visitors(self) -> list[str]:
        """Return those of whom questions wait: who had a turn longest ago, or none, first."""
        return sorted(self._tickets, key=lambda one: self._served.get(one, -1))

    def _leave(self, visitor: str, ticket: _Ticket) -> None:
        self._tickets[visitor].remove(ticket)
        if not self._tickets[visitor]:
            del self._tickets[visitor]

    def _in_order(self) -> Iterator[_Ticket]:
        """Yield those that wait as they would have their turns if nobody came."""
        ranked = (
            sorted(self._tickets[visitor], key=lambda one: one.rank) for visitor in self._visitors()
        )
        for each_one in zip_longest(*ranked):
            yield from (one for one in each_one if one is not None)
