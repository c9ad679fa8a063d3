"""How many times as fast one run is as another, with an interval where several seeds were run.

Each pair of runs has the same seed: common random numbers. What chance does to one of them it does
to the other, so the interval of their ratio is much narrower than the intervals of their times
(Law, "Simulation Modeling and Analysis", chapter on variance reduction).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import cos, exp, log, pi, sin, sqrt, tan
from typing import NamedTuple

CONFIDENCE = 0.95
"""How sure the interval is."""


class Ratio(NamedTuple):
    """A ratio of times."""

    value: float  # times as fast: the geometric mean over the seeds
    # low, high: the bounds of the interval of :data:`CONFIDENCE`; None where one seed was run
    low: float | None = None
    high: float | None = None

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out 1: that nothing changes."""
        return self.low is not None and self.high is not None and not self.low <= 1.0 <= self.high

    @property
    def words(self) -> str:
        """The ratio with its interval, if it has one."""
        if self.low is None or self.high is None:
            return f"{self.value:.3f}"
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def paired(before: Sequence[float], after: Sequence[float]) -> Ratio:
    """Return how many times as fast the second runs are as the first, pair by pair.

    The interval is Student's t interval of the mean logarithm of the ratios: ratios multiply, so
    their logarithms add, and twice as fast is as far from 1 as half as fast.

    Parameters
    ----------
    before, after
        Seconds by seed, the same seeds in the same order; all more than 0.
    """
    logs = [log(one / other) for one, other in zip(before, after, strict=True)]
    count = len(logs)
    mean = sum(logs) / count
    if count < 2:
        return Ratio(exp(mean))
    spread = sqrt(sum((each - mean) ** 2 for each in logs) / (count - 1))
    half = _student(count - 1) * spread / sqrt(count)
    return Ratio(exp(mean), exp(mean - half), exp(mean + half))


@cache
def _student(freedom: int) -> float:
    """Return how far from 0 a value of Student's t stays with :data:`CONFIDENCE`.

    SciPy has it, too, for more than 100 MB that these studies need for nothing else.
    """
    low, high = 0.0, pi / 2
    while low < (middle := (low + high) / 2) < high:
        below = _within(middle, freedom) < CONFIDENCE
        low, high = (middle, high) if below else (low, middle)
    return tan(low) * sqrt(freedom)


def _within(angle: float, freedom: int) -> float:
    """Return how likely a value of Student's t is within ±tan(angle) times the root of freedom.

    By the finite series of Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and
    26.7.4.
    """
    odd = freedom % 2
    term = cos(angle) if odd else 1.0
    total = 0.0
    for step in range(2 + odd, freedom + 1, 2):
        total += term
        term *= cos(angle) ** 2 * (step - 1) / step
    total *= sin(angle)
    return (angle + total) * 2 / pi if odd else total
