"""The lives of a job that writes checkpoints and is killed by failures, again and again.

A life: compute for an interval, write a checkpoint, go on. A failure ends the job at once; it
begins again, reads the newest checkpoint that is safe, and computes anew what is newer than that.
Where a checkpoint is first written near the nodes and then drained, it is safe once it is drained,
at most one is drained at a time, and a failure ends a drain by compute nodes. While one is drained,
the job computes more slowly. Where partners hold copies, a checkpoint is safe once it is written,
and one that would have to wait for the drain is not drained.

Failures come at random, each as likely at any time (exponential gaps). All lives are followed side
by side, a checkpoint a step. The gaps of a life are those of its number, whatever the interval and
the target: lives of two settings differ by the settings alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.engine.randomness import stream
from xc40io.engine.types import Floats

Mask = npt.NDArray[np.bool_]

_LONGEST = 20.0
"""Times the work: a life that takes longer is given up; almost all of it is lost."""


@dataclass(frozen=True)
class Failures:
    """When failures come: the same for all settings.

    Attributes
    ----------
    mtbf
        Seconds between two failures of the job's nodes, on average.
    lives
        How many are followed.
    seed
        Of the draws.
    """

    mtbf: float
    lives: int
    seed: int

    def gaps(self, number: int) -> Floats:
        """Return the seconds from the failure of a number to the one before it, of each life."""
        return stream(self.seed, "failure", number).exponential(self.mtbf, self.lives)

    def luck(self) -> Floats:
        """Return of each life how far the model is off there: a standard normal number."""
        return stream(self.seed, "model error").standard_normal(self.lives)


class Cost(NamedTuple):
    """What a checkpoint costs: seconds, of each life."""

    write: Floats  # that the job waits for it while nothing is drained
    beside: Floats  # the same while the checkpoint before is drained
    drain: Floats  # until it is safe, behind that; 0: it is safe as soon as it is written
    read: Floats  # of the newest one after a failure
    begin: float  # until the job runs again after a failure, without that read
    survives: bool = True  # whether what is written near the nodes survives a failure of one
    slowed: float = 0.0  # share of the time beside a drain by which computing falls behind
    skips: bool = False  # whether none waits for the drain of the one before


class Spent(NamedTuple):
    """Where the time of each life went, in seconds."""

    whole: Floats
    work: Floats  # that was done: less than all where a life was given up
    writes: Floats  # at checkpoints
    waits: Floats  # for the drain of the one before
    slowed: Floats  # that computing took longer beside drains
    restarts: Floats  # until the job runs again, the read included
    lost: Floats  # computing that has to be done again, and whatever else a failure undid


def lives(work: float, every: float, cost: Cost, failures: Failures) -> Spent:
    """Follow the lives of a job.

    Parameters
    ----------
    work
        Seconds that it computes.
    every
        Seconds of computing between two checkpoints; none is written at the end.
    cost, failures
        Of a checkpoint; when failures come.
    """
    life = _Lives(work, every, cost, failures)
    while life.step():
        pass
    told = life.writes, life.waits, life.slowed, life.restarts
    return Spent(life.now, life.done, *told, life.now - life.done - sum(told))


class _Lives:
    """All lives, each at the beginning of an interval."""

    def __init__(self, work: float, every: float, cost: Cost, failures: Failures) -> None:
        self._work, self._every, self._cost, self._failures = work, every, cost, failures
        count = failures.lives
        self.now, self.done = np.zeros(count), np.zeros(count)
        self.writes, self.waits, self.slowed, self.restarts = np.zeros((4, count))
        self._safe = np.zeros(count)  # work to which a restart comes back
        self._draining = np.zeros(count)  # work that will be safe when the drain has ended
        self._drained = np.full(count, -np.inf)  # when it ends
        self._struck = np.zeros(count, np.int64)  # failures so far
        self._gaps = failures.gaps(0)[None]
        self._failure = self._gaps[0].copy()  # when the next one comes

    def step(self) -> bool:
        """Go on by an interval and its checkpoint, or to a failure; False: all have ended."""
        cost = self._cost
        alive = (self.done < self._work) & (self.now < _LONGEST * self._work)
        if not alive.any():
            return False
        computed = np.minimum(self._every, self._work - self.done)
        last = self.done + computed >= self._work
        beside = np.maximum(self._drained - self.now, 0.0)
        slowed = cost.slowed * np.minimum(beside, computed / (1.0 - cost.slowed))
        at = self.now + computed + slowed
        write = np.where(self._drained > at, cost.beside, cost.write)
        write = np.where(last, 0.0, write)
        written = at + write
        wait = np.where(last | cost.skips, 0.0, np.maximum(self._drained - written, 0.0))
        end = written + wait
        struck = alive & (self._failure < end)
        well = alive & ~struck
        self.slowed[well] += slowed[well]
        self._go_on(well, computed, write, wait, end)
        self._fail(struck, computed, written)
        return True

    def _go_on(
        self, well: Mask, computed: Floats, write: Floats, wait: Floats, end: Floats
    ) -> None:
        """Let lives go on to the end of their checkpoint."""
        self.now[well] = end[well]
        self.done[well] += computed[well]
        self.writes[well] += write[well]
        self.waits[well] += wait[well]
        safe = self.done if self._cost.survives else self._draining  # that drain has ended by now
        self._safe[well] = safe[well]
        self._draining[well] = self.done[well]
        drained = well & (self._drained <= end)  # another one is, of those that need not wait
        self._drained[drained] = (end + self._cost.drain)[drained]

    def _fail(self, struck: Mask, computed: Floats, written: Floats) -> None:
        """Let lives begin again from what is safe."""
        if not struck.any():
            return
        failure, cost = self._failure, self._cost
        if cost.survives:
            reached = np.where(written <= failure, self.done + computed, self._safe)
        else:
            reached = np.where(self._drained <= failure, self._draining, self._safe)
            self._drained[struck] = -np.inf
        self._safe[struck] = self._draining[struck] = self.done[struck] = reached[struck]
        begun = failure + cost.begin + cost.read
        # A failure before the job runs again cuts that restart short, which is counted already.
        self.restarts[struck] += (begun - np.maximum(failure, self.now))[struck]
        self.now[struck] = begun[struck]
        self._struck[struck] += 1
        if self._struck.max() >= len(self._gaps):
            self._gaps = np.vstack([self._gaps, self._failures.gaps(len(self._gaps))])
        self._failure[struck] += self._gaps[self._struck, np.arange(len(failure))][struck]
