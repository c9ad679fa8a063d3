"""A few workers, so that several questions are answered at once and none holds up the server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

from xc40io.config.errors import FailureError, InputError
from xc40io.serving.line import SOMEBODY, Asking, Line, Placed
from xc40io.serving.question_limits import Limits
from xc40io.serving.worker import Progress, Worker, WorkerAnswer, WorkerQuestion, WorkerRefusal

Report = Callable[[int, int], Awaitable[None]]
"""Told how much is done, and of how much."""


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
    each
        Questions of one visitor that are answered at the same time; all of them unless given.
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
        each: int | None = None,
        start: Callable[[], Worker] = Worker,
        warm: bool = False,
    ) -> None:
        self.limits = limits
        self._jobs = jobs
        self._line = Line(at_once, each, limits.waiting)
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
        asking: Asking = SOMEBODY,
    ) -> dict[str, Any]:
        """Return the answer to a question; if it is cancelled, the process that works on it ends.

        Its seconds are counted from when it has its turn, and a process that is ready for it.

        Parameters
        ----------
        work
            What answers it: ``module:function``, as
            :class:`~xc40io.serving.worker.WorkerQuestion` has it.
        arguments
            What the function is called with.
        report
            Told how far it has come.
        placed
            Told the place in line, if the question has to wait.
        asking
            Whose question it is, and how large: turns are dealt by that.

        Raises
        ------
        InputError
            If it cannot be answered, or not within its limits, or if too many of the visitor wait.
        FailureError
            If the process has ended by itself.
        """
        question = WorkerQuestion(work, arguments, self.limits, self._jobs)
        async with self._line.turn(placed, asking):
            worker = self._chosen()
            try:
                await _awake(worker)
                async with asyncio.timeout(self.limits.seconds):
                    said = await _heard(worker, question, report)
            except (TimeoutError, EOFError, OSError) as error:
                told = self._told(worker, error)
                self._replace(worker)
                raise told from error
            except BaseException:  # cancelled, by the client or at the end
                self._replace(worker)
                raise
            self._busy.remove(worker)
            self._idle.append(worker)
        if isinstance(said, WorkerRefusal):
            raise InputError(said.reason)
        return said.document

    def _chosen(self) -> Worker:
        """Return a worker, which is busy from then on: one that is ready, if there is one."""
        for worker in [one for one in self._idle if not one.alive]:
            self._idle.remove(worker)
            worker.end()
        self._idle.sort(key=_is_awake)
        worker = self._idle.pop() if self._idle else self._start()
        self._busy.add(worker)
        return worker

    def _replace(self, worker: Worker) -> None:
        """End a worker; where workers are to be warm, start another."""
        if worker not in self._busy:  # ended already, with all of them
            return
        self._busy.remove(worker)
        worker.end()
        if self._warm:
            self._idle.append(self._start())

    def _told(self, worker: Worker, error: Exception) -> Exception:
        """Return as whoever asked is to be told it why a process has not answered."""
        if isinstance(error, TimeoutError):
            return self.limits.too_long()
        if worker not in self._busy:  # all of them are ended
            return FailureError(
                "the process that worked on it has ended with the server; right would be to ask a "
                "new one"
            )
        return FailureError(
            f"the process that worked on it {worker.why_ended()}; right would be fewer bytes, "
            "ranks or runs"
        )


def _is_awake(worker: Worker) -> bool:
    """Return whether a worker is ready for questions; whoever asks it hears that it has ended."""
    try:
        return worker.awake()
    except (EOFError, OSError):
        return False


async def _awake(worker: Worker) -> None:
    """Wait until a worker is ready for questions."""
    while not worker.awake():
        await _readable(worker)


async def _heard(
    worker: Worker, question: WorkerQuestion, report: Report
) -> WorkerAnswer | WorkerRefusal:
    """Ask a question, report how far it has come, and return what is said in the end."""
    worker.ask(question)
    while True:
        await _readable(worker)
        said = worker.hear()
        if isinstance(said, WorkerAnswer | WorkerRefusal):
            return said
        if isinstance(said, Progress):
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
