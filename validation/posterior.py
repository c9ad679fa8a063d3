"""What values of a machine are after measurements, if every error is Gaussian on logarithms.

A measurement is ``ln(measured / simulated)`` at the values that are known beforehand. It is what
the values are off, times the slopes of the simulated numbers, plus an error: of the measurement,
and of the model itself, which is not met better than the model can. The most probable values
(maximum a posteriori) and what is said of each number without itself follow in closed form
(Rasmussen and Williams, Gaussian Processes for Machine Learning, sections 2.2 and 5.4.2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xc40io.engine.types import Floats

_FREEDOM = 4.0
"""Degrees of freedom of the errors: with few, one number that contradicts the others moves little.
Those of the kept errors are 4.4 if a Student distribution is fitted to them."""

_ROUNDS = 20
"""Weights of contradicting numbers are found again and again: they settle in fewer."""


class Evidence(NamedTuple):
    """What measurements say of values; everything in natural logarithms."""

    measured: Floats  # (readings,): measured over simulated at the values known beforehand
    slopes: Floats  # (readings, values): of what is simulated
    prior: Floats  # (values,): standard deviations of the values before any measurement
    model: Floats  # (readings, readings): covariance of the model's own errors
    noise: Floats  # (readings,): standard deviations of the measurements


class Posterior(NamedTuple):
    """What is known after the measurements."""

    values: Floats  # (values,): by what the most probable values differ from those before
    covariance: Floats  # (values, values): of them
    left_out: Floats  # (readings,): what the other readings say of each, as Evidence.measured
    surprise: Floats  # (readings,): by how many standard deviations each differs from that

    @property
    def spread(self) -> Floats:
        """Standard deviations of the values."""
        spread: Floats = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return spread


def posterior(evidence: Evidence) -> Posterior:
    """Return the most probable values.

    A reading that the others contradict counts as if it were less sure, as errors with a long tail
    have it (iteratively reweighted).
    """
    measured, slopes, prior, model, noise = evidence
    known = slopes * prior**2  # covariance of readings and values
    of_values = known @ slopes.T
    own = np.diag(model) + noise**2
    errors = model + np.diag(noise**2)
    more = np.zeros(len(measured))  # variance of numbers that contradict, beyond their own
    inside = surprise = solved = more
    for _ in range(_ROUNDS):
        inverse = np.linalg.inv(of_values + errors + np.diag(more))
        inside, solved = np.diag(inverse), inverse @ measured
        # What others leave of it, were it as sure as any of its kind.
        surprise = (solved / inside) / np.sqrt(1.0 / inside - more)
        more = own * (np.maximum(surprise**2, 1.0) - 1.0) / (_FREEDOM + 1.0)
    gain = known.T @ inverse
    covariance = np.diag(prior**2) - gain @ known
    return Posterior(
        gain @ measured,
        covariance,
        measured - solved / inside,
        surprise,
    )


def improbability(off: Floats, errors: Floats) -> float:
    """Return twice the negative logarithm of how probable errors with a long tail are.

    Parameters
    ----------
    off, errors
        By what readings are off, and the covariance of their errors. What is constant is left out.
    """
    alone = np.linalg.solve(np.linalg.cholesky(errors), off)
    return float((_FREEDOM + 1.0) * np.log1p(alone**2 / _FREEDOM).sum())
