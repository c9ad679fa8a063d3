"""The runs of all pages: made by workers, and known from then on."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from sim.config.errors import FailureError, InputError
from sim.serving.workers import Workers
from sim.web.outcome import Animation, Outcome
from sim.web.settings import Settings
from sim.web.simulating import ANIMATE, RUN

Answer = TypeVar("Answer", bound=BaseModel)
"""What comes of a run."""


class Kind(NamedTuple, Generic[Answer]):
    """What is made of a setting.

    Attributes
    ----------
    work
        What workers are asked for.
    answer
        What comes of it.
    kept
        How many are kept: the same setting has the same outcome.
    """

    work: str
    answer: type[Answer]
    kept: int


SIMULATED = Kind(RUN, Outcome, 128)
ANIMATED = Kind(ANIMATE, Animation, 16)

_Known = OrderedDict[Settings, Any]


class Run(Generic[Answer]):
    """A run of a setting: waiting, under way or ended. A page looks at it from time to time.

    Attributes
    ----------
    settings
        What is run.
    place
        In the line of those that wait; 0: it has its turn.
    done, total
        Bytes moved so far, and to move; 0 until the first is known.
    outcome
        When it has ended well.
    error
        When it has not: a sentence.
    cancelled
        Whether it was given up.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.place = 0
        self.done = 0
        self.total = 0
        self.outcome: Answer | None = None
        self.error = ""
        self.cancelled = False
        self._task: asyncio.Task[None] | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended, in whichever way."""
        return self.outcome is not None or bool(self.error) or self.cancelled

    def cancel(self) -> None:
        """Give it up; the process that works on it is ended."""
        if not self.over:
            self.cancelled = True
            if self._task is not None:
                self._task.cancel()

    def begin(self, workers: Workers, kind: Kind[Answer], known: _Known) -> None:
        """Have a worker make it; needs a running loop."""
        work = self._work(workers, kind, known)
        self._task = asyncio.get_running_loop().create_task(work)

    async def _work(self, workers: Workers, kind: Kind[Answer], known: _Known) -> None:
        try:
            asked = self.settings.model_dump()
            document = await workers.answer(kind.work, asked, self._report, self._placed)
        except (InputError, FailureError) as error:
            self.error = str(error)
            return
        self.outcome = known[self.settings] = kind.answer.model_validate(document)
        while len(known) > kind.kept:
            known.popitem(last=False)

    async def _report(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def _placed(self, place: int) -> None:
        self.place = place


class Runs:
    """Where pages have runs made.

    Parameters
    ----------
    workers
        That make them.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._known: dict[str, _Known] = {}

    def start(self, settings: Settings, kind: Kind[Answer]) -> Run[Answer]:
        """Return the run of a setting: ended if it is known already, else waiting for its turn."""
        known = self._known.setdefault(kind.work, OrderedDict())
        run: Run[Answer] = Run(settings)
        run.outcome = known.get(settings)
        if run.outcome is None:
            run.begin(self._workers, kind, known)
        else:
            known.move_to_end(settings)
        return run
