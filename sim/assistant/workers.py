"""A few workers, so that several questions are answered at once and none holds up the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

import anyio

from sim.assistant.limits import Limits
from sim.assistant.worker import Answered, Asked, Progress, Refused, Worker
from sim.config.errors import FailureError, InputError

Report = Callable[[int, int], Awaitable[None]]
"""Told how many runs are done, and of how many."""


class Workers:
    """Answers questions in processes of their own; used as a context, which ends them.

    Parameters
    ----------
    limits
        What each question may cost.
    at_once
        Questions that are answered at the same time; others wait.
    jobs
        Processes for the runs of one question.
    """

    def __init__(self, limits: Limits, at_once: int, jobs: int) -> None:
        self._limits = limits
        self._jobs = jobs
        self._room = anyio.Semaphore(at_once)
        self._idle: list[Worker] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self._idle:
            worker.end()
        self._idle.clear()

    async def answer(self, tool: str, arguments: dict[str, Any], report: Report) -> dict[str, Any]:
        """Return the answer to a question; if it is cancelled, the process that works on it ends.

        Parameters
        ----------
        tool
            Its name.
        arguments
            As the tool's model of them writes them.
        report
            Told how far it has come.

        Raises
        ------
        InputError
            If it cannot be answered, or not within its limits.
        FailureError
            If the process has ended by itself.
        """
        question = Asked(tool, arguments, self._limits, self._jobs)
        async with self._room:
            worker = self._idle.pop() if self._idle else Worker()
            try:
                with anyio.fail_after(self._limits.seconds):
                    said = await _heard(worker, question, report)
            except (TimeoutError, EOFError, OSError) as error:
                worker.end()
                raise self._told(error) from error
            except BaseException:  # cancelled, by the client or at the end
                worker.end()
                raise
            self._idle.append(worker)
        if isinstance(said, Refused):
            raise InputError(said.reason)
        return said.document

    def _told(self, error: Exception) -> Exception:
        """Return as whoever asked is to be told it why a process has not answered."""
        if isinstance(error, TimeoutError):
            return InputError(
                f"the answer took longer than {self._limits.seconds:g} s (xc40io mcp --seconds), "
                "and the runs were ended; right would be fewer bytes, ranks or runs, or "
                "rpcs_as_one: 8 in the scenario"
            )
        return FailureError(
            "the process that worked on it has ended, perhaps for want of memory; right would be "
            "fewer bytes, ranks or runs"
        )


async def _heard(worker: Worker, question: Asked, report: Report) -> Answered | Refused:
    """Ask a question, report how far it has come, and return what is said in the end."""
    worker.ask(question)
    while True:
        await anyio.wait_readable(worker)
        said = worker.hear()
        if not isinstance(said, Progress):
            return said
        await report(*said)
