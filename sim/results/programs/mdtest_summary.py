"""From the clock readings of all ranks to the rows of mdtest's summary (4.1).

The rate of an iteration is that of its slowest rank, from its own begin to the end of the barrier,
times the ranks; its time is that of the slowest rank. Beside it stand, if asked for, the ranks'
own figures up to the barrier. Deviations are sample deviations: divided by the iterations minus
one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from xc40io.engine.types import Floats
from xc40io.workloads.mdtest.outcome import MdtestPhase, MdtestRun
from xc40io.workloads.mdtest.parameters import (
    DIRECTORY_OPERATIONS,
    FILE_OPERATIONS,
    MdtestTest,
    Operation,
)

TREES = (Operation.TREE_CREATION, Operation.TREE_REMOVAL)


class Spread(NamedTuple):
    """Largest, smallest and mean of some figures, and the deviation of a sample."""

    largest: float
    smallest: float
    mean: float
    deviation: float


class SummaryRow(NamedTuple):
    """A row of the summary."""

    operation: Operation  # which
    iterations: Spread  # over the iterations: operations/s, or seconds
    ranks: Spread  # over all ranks of all iterations, before the barrier


def summary_rows(run: MdtestRun, test: MdtestTest, *, times: bool) -> Iterator[SummaryRow]:
    """Yield the rows that mdtest prints; rows of phases that were not asked for hold zeros.

    ``run`` and ``test``: what was done, and what was asked for. ``times``: whether the figures are
    seconds, or operations/s.
    """
    shown: list[Operation] = []
    if test.directories:
        shown += DIRECTORY_OPERATIONS
    if test.files:
        shown += FILE_OPERATIONS
    for operation in (*shown, *TREES):
        done = [phase for phase in run.phases if phase.operation is operation]
        of_iterations = [_of_iteration(phase, times=times) for phase in done]
        of_ranks = [_of_ranks(phase, times=times) for phase in done]
        nothing = [0.0] * test.iterations
        yield SummaryRow(
            operation,
            _spread(of_iterations or nothing),
            _spread(np.concatenate(of_ranks).tolist() if of_ranks else nothing),
        )


def _of_iteration(phase: MdtestPhase, *, times: bool) -> float:
    if not times:
        return phase.rate
    return float(phase.seconds[0] if phase.operation in TREES else phase.seconds.max())


def _of_ranks(phase: MdtestPhase, *, times: bool) -> Floats:
    """Return the figures of the ranks before the barrier; of a tree there is rank 0's alone."""
    if phase.operation in TREES:
        return np.array([_of_iteration(phase, times=times)])
    return phase.own_seconds if times else phase.own_rates


def _spread(values: Sequence[float]) -> Spread:
    mean = math.fsum(values) / len(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    deviation = math.sqrt(squares / (len(values) - 1)) if len(values) > 1 else 0.0
    return Spread(max(values), min(values), mean, deviation)
