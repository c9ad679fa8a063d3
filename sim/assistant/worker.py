"""The process that answers questions, one after another, and how it is spoken to.

It is started afresh (*spawn*) and stays warm: to start it costs seconds, a small run a tenth of
one.
Whatever it does, it can be ended at any moment: nothing it keeps is ever half written.
"""

from __future__ import annotations

import multiprocessing
import os
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from sim.assistant.limits import Limits

_PAUSE = 0.25
"""Seconds between two words on how far a question has come."""


class Asked(NamedTuple):
    """A question for a worker: the tool's name, its checked arguments, and what it may cost."""

    tool: str
    arguments: dict[str, Any]
    limits: Limits
    jobs: int


class Progress(NamedTuple):
    """How many runs are done, and of how many."""

    done: int
    total: int


class Answered(NamedTuple):
    """An answer, as its model writes it."""

    document: dict[str, Any]


class Refused(NamedTuple):
    """Why there is no answer, in a sentence."""

    reason: str


Said = Progress | Answered | Refused
"""What a worker says."""


class Worker:
    """A process that answers questions."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,))
        self._process.start()
        theirs.close()

    def ask(self, question: Asked) -> None:
        """Ask a question; :meth:`hear` it until it says something else than progress.

        Raises
        ------
        OSError
            If the process is gone.
        """
        self._ours.send(question)

    def fileno(self) -> int:
        """Return what becomes readable when the process says something, or ends."""
        return self._ours.fileno()

    def hear(self) -> Said:
        """Return what the process says next.

        Raises
        ------
        EOFError
            If it has ended.
        """
        said: Said = self._ours.recv()
        return said

    def end(self) -> None:
        """End the process at once; those that it has started end when it is gone."""
        self._process.kill()
        self._process.join()
        self._ours.close()


def _serve(theirs: Connection) -> None:
    """Answer questions until nobody asks any more."""
    from sim.config.sealed import seal
    from sim.studies.processes import become_worker

    become_worker()
    seal()
    while True:
        try:
            asked: Asked = theirs.recv()
        except EOFError:
            os._exit(0)
        theirs.send(_answer(asked, theirs.send))


def _answer(asked: Asked, say: Callable[[Said], None]) -> Said:
    """Return what comes of a question."""
    from sim.assistant.catalogue import TOOLS
    from sim.assistant.desk import Desk
    from sim.config.errors import FailureError, InputError

    tool = TOOLS[asked.tool]
    desk = Desk(asked.limits, asked.jobs, _now_and_then(say))
    try:
        answer = tool.work()(tool.question.model_validate(asked.arguments), desk)
    except (InputError, FailureError) as error:
        return Refused(" ".join(str(error).split()))
    except MemoryError:
        return Refused("there is not enough memory for it; right would be a smaller run")
    except Exception:
        traceback.print_exc()
        return Refused("xc40io failed at it; what failed stands on its standard error")
    return Answered(answer.model_dump(mode="json"))


def _now_and_then(say: Callable[[Said], None]) -> Callable[[int, int], None]:
    """Return a function that tells how far a question has come: more than before, now and then."""
    told, most = 0.0, -1

    def tell(done: int, total: int) -> None:
        nonlocal told, most
        now = time.monotonic()
        if done > most and (now - told >= _PAUSE or done == total):
            told, most = now, done
            say(Progress(done, total))

    return tell
