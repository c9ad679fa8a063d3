"""Which distribution sizes follow: by maximum likelihood, and how well.

Each candidate is fitted by the parameters under which the sizes are most likely. Candidates are
compared by Akaike's information criterion (twice the number of parameters less twice the logarithm
of the likelihood; the least is best), and the Kolmogorov-Smirnov statistic, the largest distance
between the shares of sizes below each size and what the distribution says, tells how good even the
best one is.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, sqrt
from typing import Any

import numpy as np
from scipy import stats

from sim.engine.types import Floats


@dataclass(frozen=True)
class Fit:
    """A distribution fitted to sizes.

    Attributes
    ----------
    distribution
        Its name, as a skeleton has it.
    mean, spread
        Its parameters, as a skeleton has them: bytes, and a share of the mean.
    log_likelihood
        Natural logarithm of the likelihood of the sizes.
    aic
        Akaike's information criterion.
    ks, p_value
        Kolmogorov-Smirnov statistic, 0 to 1, and the chance of one as large if the sizes did follow
        the distribution (slightly too large, since its parameters come from the same sizes).
    """

    distribution: str
    mean: float
    spread: float
    log_likelihood: float
    aic: float
    ks: float
    p_value: float


def fit_sizes(sizes: Floats) -> list[Fit]:
    """Fit every candidate to sizes in bytes, float64 (n,), all above zero; the best first.

    Sizes that are all the same are ``fixed``, and nothing else is fitted.
    """
    if sizes.min() == sizes.max():
        return [Fit("fixed", float(sizes[0]), 0.0, inf, -inf, 0.0, 1.0)]
    fits = [_normal(sizes), _exponential(sizes), _uniform(sizes), _lognormal(sizes)]
    return sorted(fits, key=lambda fit: fit.aic)


def _normal(sizes: Floats) -> Fit:
    mean, deviation = stats.norm.fit(sizes)
    frozen = stats.norm(mean, deviation)
    return _judged("normal", mean, deviation / mean, sizes, frozen, 2)


def _exponential(sizes: Floats) -> Fit:
    _, mean = stats.expon.fit(sizes, floc=0)
    return _judged("exponential", mean, 0.0, sizes, stats.expon(0, mean), 1)


def _uniform(sizes: Floats) -> Fit:
    low, width = stats.uniform.fit(sizes)
    mean = low + width / 2
    return _judged("uniform", mean, width / 2 / mean, sizes, stats.uniform(low, width), 2)


def _lognormal(sizes: Floats) -> Fit:
    sigma, _, median = stats.lognorm.fit(sizes, floc=0)
    mean, spread = median * exp(sigma**2 / 2), sqrt(exp(sigma**2) - 1.0)
    return _judged("lognormal", mean, spread, sizes, stats.lognorm(sigma, 0, median), 2)


def _judged(name: str, mean: float, spread: float, sizes: Floats, frozen: Any, free: int) -> Fit:
    """Return a fit with how well it describes the sizes; ``free`` parameters were fitted."""
    likelihood = float(np.sum(frozen.logpdf(sizes)))
    test = stats.kstest(sizes, frozen.cdf)
    return Fit(
        name,
        float(mean),
        float(spread),
        likelihood,
        2 * free - 2 * likelihood,
        float(test.statistic),
        float(test.pvalue),
    )
