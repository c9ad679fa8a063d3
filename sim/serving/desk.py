"""Where a question is worked on: what it may cost, in how many processes, and who is told of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sim.serving.limits import Limits


class Desk(NamedTuple):
    """What whoever answers a question is given.

    Attributes
    ----------
    limits
        What the answer may cost.
    jobs
        Processes for the runs of one question; the answer is the same with any number.
    tell
        Told how much is done, and of how much: runs, or the bytes of one run.
    """

    limits: Limits
    jobs: int
    tell: Callable[[int, int], None]
