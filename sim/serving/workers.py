"""A few workers, so that several questions are answered at once and none holds up the server."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, NamedTuple

from xc40io.config.errors import FailureError, InputError
from xc40io.serving.question_limits import Limits
from xc40io.serving.worker import Answered, Asked, Progress, Refused, Worker

Report = Callable[[int, int], Awaitable[None]]
"""Told how much is done, and of how much."""


Placed = Callable[[int], None]
"""Told the place in line: 1 is next, 0 has its turn."""


class _Ticket(NamedTuple):
    turn: asyncio.Future[None]
    placed: Placed


class Line:
    """Gives turns to so many questions at once, to others in the order in which they came."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._tickets: deque[_Ticket] = deque()

    @asynccontextmanager
    async def turn(self, placed: Placed) -> AsyncIterator[None]:
        """Wait for a turn, and have it for as long as the context lasts.

        ``placed`` is told the place in line whenever it changes.
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


class Workers:
    """Answers questions in processes of their own; used as a context, which ends them.

    Parameters
    ----------
    limits
        What each question may cost.
    at_once
        Questions that are answered at the same time; others wait in a line.
    jobs
        Processes for the runs of one question.
    start
        What starts a worker.
    warm
        Whether to start all of them at once, and another in place of each that had to be ended:
        nobody waits then for a process to start.
    """

    def __init__(
        self,
        limits: Limits,
        at_once: int,
        jobs: int,
        *,
        start: Callable[[], Worker] = Worker,
        warm: bool = False,
    ) -> None:
        self._limits = limits
        self._jobs = jobs
        self._line = Line(at_once)
        self._start = start
        self._warm = warm
        self._at_once = at_once
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()

    def __enter__(self) -> Workers:
        if self._warm:
            self._idle += [self._start() for _ in range(self._at_once)]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._warm = False
        for worker in (*self._idle, *self._busy):
            worker.end()
        self._idle.clear()
        self._busy.clear()

    async def answer(
        self,
        work: str,
        arguments: dict[str, Any],
        report: Report,
        placed: Placed = lambda _place: None,
    ) -> dict[str, Any]:
        """Return the answer to a question; if it is cancelled, the process that works on it ends.

        Parameters
        ----------
        work
            What answers it: ``module:function``, as :class:`~xc40io.serving.worker.Asked` has it.
        arguments
            What the function is called with.
        report
            Told how far it has come.
        placed
            Told the place in line, if the question has to wait.

        Raises
        ------
        InputError
            If it cannot be answered, or not within its limits.
        FailureError
            If the process has ended by itself.
        """
        question = Asked(work, arguments, self._limits, self._jobs)
        async with self._line.turn(placed):
            worker = self._idle.pop() if self._idle else self._start()
            self._busy.add(worker)
            try:
                async with asyncio.timeout(self._limits.seconds):
                    said = await _heard(worker, question, report)
            except (TimeoutError, EOFError, OSError) as error:
                self._replace(worker)
                raise self._told(error) from error
            except BaseException:  # cancelled, by the client or at the end
                self._replace(worker)
                raise
            self._busy.remove(worker)
            self._idle.append(worker)
        if isinstance(said, Refused):
            raise InputError(said.reason)
        return said.document

    def _replace(self, worker: Worker) -> None:
        """End a worker; where workers are to be warm, start another."""
        if worker not in self._busy:  # ended already, with all of them
            return
        self._busy.remove(worker)
        worker.end()
        if self._warm:
            self._idle.append(self._start())

    def _told(self, error: Exception) -> Exception:
        """Return as whoever asked is to be told it why a process has not answered."""
        if isinstance(error, TimeoutError):
            return self._limits.too_long()
        return FailureError(
            "the process that worked on it has ended, perhaps for want of memory; right would be "
            "fewer bytes, ranks or runs"
        )


async def _heard(worker: Worker, question: Asked, report: Report) -> Answered | Refused:
    """Ask a question, report how far it has come, and return what is said in the end."""
    worker.ask(question)
    while True:
        await _readable(worker)
        said = worker.hear()
        if not isinstance(said, Progress):
            return said
        await report(*said)


async def _readable(worker: Worker) -> None:
    """Wait until a worker says something, or ends."""
    loop = asyncio.get_running_loop()
    speaks = asyncio.Event()
    loop.add_reader(worker.fileno(), speaks.set)
    try:
        await speaks.wait()
    finally:
        loop.remove_reader(worker.fileno())
