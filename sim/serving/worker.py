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

from xc40io.config.errors import FailureError, InputError
from xc40io.config.files import seal
from xc40io.config.places import found_at
from xc40io.serving.question_limits import Limits
from xc40io.studies.process_end import Memory
from xc40io.studies.processes import become_worker

_PAUSE = 0.25
"""Seconds between two words on how far a question has come."""

_PATIENCE = 1.0
"""Seconds for a process that has closed its pipe to be gone."""


class Desk(NamedTuple):
    """Where a question is worked on: what whoever answers it is given."""

    limits: Limits  # what the answer may cost
    jobs: int  # processes for the runs of one question; the answer is the same with any number
    tell: Callable[[int, int], None]
    """Told how much is done, and of how much: runs, or the bytes of one run."""


class WorkerQuestion(NamedTuple):
    """A question for a worker."""

    work: str
    """What answers it: ``module:function``, imported by the worker and called with the arguments
    and a :class:`Desk`; it returns what JSON can say."""
    arguments: dict[str, Any]  # checked, as far as whoever asks can check them
    limits: Limits  # what the answer may cost
    jobs: int  # processes for its runs


class Ready(NamedTuple):
    """The worker has started: it can be asked."""


class Progress(NamedTuple):
    """How much is done, and of how much: runs, or the bytes of one run."""

    done: int
    total: int


class WorkerAnswer(NamedTuple):
    """An answer, as JSON can say it."""

    document: dict[str, Any]


class WorkerRefusal(NamedTuple):
    """Why there is no answer, in a sentence."""

    reason: str


Said = Ready | Progress | WorkerAnswer | WorkerRefusal
"""What a worker says."""


class Worker:
    """A process that answers questions.

    Before the first it calls ``warm``, a ``module:function``, and then says that it is ready;
    ``nice`` says by how much others go before it where processors are few.
    """

    def __init__(self, warm: str = "", nice: int = 0) -> None:
        context = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, warm, nice))
        self._memory = Memory()
        self._ready = False
        self._process.start()
        theirs.close()

    @property
    def alive(self) -> bool:
        """Whether the process is there."""
        return self._process.is_alive()

    def awake(self) -> bool:
        """Return whether the process has said that it is ready.

        Raises
        ------
        EOFError, OSError
            If it has ended before.
        """
        if not self._ready and self._ours.poll():
            self._ready = isinstance(self._ours.recv(), Ready)
        return self._ready

    def ask(self, question: WorkerQuestion) -> None:
        """Ask a question, once it is ready; :meth:`hear` it until it says more than progress.

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

    def why_ended(self) -> str:
        """Return what is known of why a process has ended by itself: ``was killed (SIGKILL)``."""
        self._process.join(_PATIENCE)
        return self._memory.words_of_end(self._process.exitcode)

    def end(self) -> None:
        """End the process at once; those that it has started end when it is gone.

        The pipe lasts as long as somebody listens: that is where its end is heard.
        """
        self._process.kill()
        self._process.join()


def _serve(theirs: Connection, warm: str, nice: int) -> None:
    """Answer questions until nobody asks any more."""
    become_worker()
    os.nice(nice)
    seal()
    if warm:
        found_at(warm)()
    theirs.send(Ready())
    while True:
        try:
            asked: WorkerQuestion = theirs.recv()
        except EOFError:
            os._exit(0)
        theirs.send(_answer(asked, theirs.send))


def _answer(asked: WorkerQuestion, say: Callable[[Said], None]) -> Said:
    """Return the answer to a question."""
    desk = Desk(asked.limits, asked.jobs, _now_and_then(say))
    try:
        return WorkerAnswer(found_at(asked.work)(asked.arguments, desk))
    except (InputError, FailureError) as error:
        return WorkerRefusal(" ".join(str(error).split()))
    except MemoryError:
        return WorkerRefusal("there is not enough memory for it; right would be a smaller run")
    except Exception:
        traceback.print_exc()
        return WorkerRefusal("xc40io failed at it; what failed stands on its standard error")


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
