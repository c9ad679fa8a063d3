"""Where a question is worked on: what it may cost, in how many processes, and who is told of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sim.assistant.limits import Limits


class Desk(NamedTuple):
    """What whoever answers a question is given.

    Attributes
    ----------
    limits
        What the answer may cost.
    jobs
        Processes for the runs of one question; the answer is the same with any number.
    tell
        Told how many runs are done, and of how many.
    """

    limits: Limits
    jobs: int
    tell: Callable[[int, int], None]
