"""What makes the errors of two runs differ: found from the errors themselves.

The weights are those that make measured numbers most probable when each is told by the others:
without itself, without its series, and without its machines' site, each a third. A prior keeps
weights that the numbers say little of near one standard value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln, stdtrit

from xc40io.config.parts.measured_run import MeasuredRun as Run
from xc40io.engine.types import Floats
from xc40io.trust.near_errors import Errors, Weights, distances, errors_at, places

_BEFORE = {
    "access": 1.0,
    "kind": 1.0,
    "machine": 1.0,
    "nodes": 0.1,
    "ranks_a_node": 0.1,
    "bytes_a_rank": 0.1,
    "call": 0.1,
    "zero": 1.0,
    "pool": 1.0,
    "freedom": 5.0,
}
"""Weights before any number is seen: a difference of one kind counts as one e-fold, as tenfold
sizes do about half."""

_WIDTH = 1.5  # standard deviation of the logarithms of all of these, before any number is seen
_DIGITS = 3
_NINE_OF_TEN = 0.95  # below the upper bound of an interval of nine of ten


def near_weights(runs: Sequence[Run], told_apart: Sequence[Floats]) -> Weights:
    """Return the most probable weights.

    Parameters
    ----------
    runs
        The measured ones.
    told_apart
        For each way to leave out: (runs, runs), 1 where the first is told by the second.
    """
    errors = np.array([run.error for run in runs])
    at = places(runs)
    apart = distances(at, at)
    start = np.log(list(_BEFORE.values()))

    def improbability(logarithms: Floats) -> float:
        weights = _weights(logarithms)
        told = [errors_at(apart, errors, weights, known) for known in told_apart]
        likely = sum(_likelihood(errors, one, weights.freedom) for one in told) / len(told_apart)
        return 0.5 * float((((logarithms - start) / _WIDTH) ** 2).sum()) - likely

    return _weights(minimize(improbability, start, method="L-BFGS-B").x, _DIGITS)


def _weights(logarithms: Floats, digits: int = 15) -> Weights:
    """Return weights from their logarithms, to so many significant digits."""
    rounded = [float(f"{value:.{digits}g}") for value in np.exp(logarithms)]
    named = dict(zip(_BEFORE, rounded, strict=True))
    nine = float(f"{stdtrit(named['freedom'], _NINE_OF_TEN):.{digits}g}")
    return Weights(**named, nine_of_ten=nine)


def _likelihood(errors: Floats, told: Errors, freedom: float) -> float:
    """Return the logarithm of a Student density, but for a constant."""
    off = (errors - told.center) / told.deviation
    shape = gammaln((freedom + 1) / 2) - gammaln(freedom / 2) - 0.5 * np.log(freedom)
    tails = 0.5 * (freedom + 1) * np.log1p(off**2 / freedom)
    return float((shape - tails - np.log(told.deviation)).sum())
