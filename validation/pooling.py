"""Spreads of errors from few numbers: partial pooling by weights.

A kind of run of which two numbers are known says little by itself, and the numbers of all kinds
together say nothing of one. So quantiles are taken over the kind's own numbers, each with the
weight one, its relatives' (:data:`SHARE` together) and all others' (:data:`SHARE` together). With
twenty numbers a kind stands for itself; with one, four of five parts are others'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

SHARE = 2.0
"""What the numbers of a kind's relatives weigh together, and what all others do."""

_DIGITS = 3


class WeightedError(NamedTuple):
    """An error with its weight."""

    error: float  # A logarithm without its sign.
    weight: float = 1.0  # More than zero.


class Spread(NamedTuple):
    """How far a kind may be off."""

    # Quantiles of ``|ln(simulated / measured)|``.
    median: float
    nine_of_ten: float


def pooled(
    own: Sequence[WeightedError],
    relatives: Sequence[WeightedError],
    others: Sequence[WeightedError],
) -> Spread:
    """Return the spread of a kind from its own numbers, its relatives' and all others'."""
    return spread([*own, *_sharing(relatives), *_sharing(others)])


def _sharing(some: Sequence[WeightedError]) -> list[WeightedError]:
    """Return errors that weigh :data:`SHARE` together, and no more than they do."""
    total = sum(weight for _, weight in some)
    part = min(1.0, SHARE / total) if total else 1.0
    return [WeightedError(error, weight * part) for error, weight in some]


def spread(some: Sequence[WeightedError]) -> Spread:
    """Return the spread of errors with weights; there is one at least."""
    return Spread(*(round(quantile(some, part), _DIGITS) for part in (0.5, 0.9)))


def quantile(some: Sequence[WeightedError], part: float) -> float:
    """Return a quantile of errors with weights.

    Each error stands in the middle of its weight, and between two it is interpolated: with equal
    weights the median is the common one.
    """
    ordered = sorted(some)
    weights = np.array([weight for _, weight in ordered])
    places = (np.cumsum(weights) - weights / 2) / weights.sum()
    return float(np.interp(part, places, [error for error, _ in ordered]))
