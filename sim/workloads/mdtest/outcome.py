"""What only mdtest leaves of a run: when the ranks began and ended each phase."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xc40io.config.kept import kept
from xc40io.engine.types import Floats
from xc40io.workloads.mdtest.options import MdtestCommand
from xc40io.workloads.mdtest.parameters import Operation


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class MdtestWall:
    """How far the ranks were when a deadline had stopped them, before all went on to the most."""

    # files of a rank
    least: int
    most: int
    mean: float


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class MdtestPhase:
    """One phase of an iteration."""

    # what was done, and in which iteration, from 0
    operation: Operation
    iteration: int
    items: int  # of a rank; of a tree its directories
    # float64 (ranks,): when each began and ended, and when it had called sync if it had to, in
    # simulated seconds
    start: Floats
    end: Floats
    synced: Floats
    barrier: float  # seconds of the barrier that follows, which mdtest counts
    stonewall: MdtestWall | None = None  # what a deadline has stopped, if it has

    @property
    def seconds(self) -> Floats:
        """Seconds of each rank from its begin to the end of the barrier: float64 (ranks,)."""
        seconds: Floats = self.synced.max() + self.barrier - self.start
        return seconds

    @property
    def rates(self) -> Floats:
        """Items/s of each rank by these seconds: float64 (ranks,)."""
        return _rates(self.items, self.seconds)

    @property
    def rate(self) -> float:
        """Items/s of all ranks: the slowest rank's items/s, times the ranks.

        For trees: the directories of one tree, as rank 0 counts them.
        """
        if self.operation in (Operation.TREE_CREATION, Operation.TREE_REMOVAL):
            return float(self.rates[0])
        return float(self.rates.min()) * len(self.start)

    @property
    def own_rates(self) -> Floats:
        """Items/s of each rank by its time before the barrier: float64 (ranks,)."""
        return _rates(self.items, self.own_seconds)

    @property
    def own_seconds(self) -> Floats:
        """Seconds of each rank before the barrier: float64 (ranks,)."""
        own: Floats = self.end - self.start
        return own


def _rates(items: int, seconds: Floats) -> Floats:
    """Return items/s; infinite where no time passed, 0 where nothing was done."""
    if not items:
        return np.zeros_like(seconds)
    never = np.full_like(seconds, np.inf)
    rates: Floats = np.divide(items, seconds, out=never, where=seconds > 0.0)
    return rates


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class MdtestRun:
    """All iterations with some number of ranks."""

    tasks: int  # how many ranks took part
    phases: tuple[MdtestPhase, ...]  # in order


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class MdtestOutcome:
    """A finished mdtest command."""

    command: MdtestCommand  # as it was understood
    # where it was launched: nodes of the job, ranks, and ranks of the first node
    nodes: int
    tasks: int
    per_node: int
    stride: int  # by how many ranks the items of the next phase were shifted
    runs: tuple[MdtestRun, ...]  # one for each number of ranks
