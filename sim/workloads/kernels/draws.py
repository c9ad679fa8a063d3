"""Sizes that are drawn by chance: every rank has its own, and always the same for one seed.

After Herbein et al. (Performance Impact of I/O on QMCPack Simulations at the Petascale and Beyond,
2013): what the writers of irregular applications write in a step is, one application with another,
distributed normally (QMCPack), exponentially (ENZO) or uniformly (S3D).
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from xc40io.engine.exact import exponential, logarithm

if TYPE_CHECKING:
    import numpy as np

    from xc40io.engine.types import Floats

Distribution: TypeAlias = Literal["fixed", "uniform", "normal", "exponential", "lognormal"]
DISTRIBUTIONS: tuple[str, ...] = get_args(Distribution)


def draw(
    draws: np.random.Generator, distribution: str, mean: Floats, spread: Floats | float, count: int
) -> Floats:
    """Return numbers of one of the :data:`DISTRIBUTIONS`: float64 (count,).

    ``mean`` is one number, or float64 (count,); ``spread`` is a share of it: half the width of the
    uniform distribution, the standard deviation of the normal and of the lognormal one. The others
    have none. Normal numbers may be negative.
    """
    mean = np.broadcast_to(np.asarray(mean, np.float64), count)
    if distribution == "uniform":
        return mean * (1.0 + spread * draws.uniform(-1.0, 1.0, count))
    if distribution == "normal":
        return mean * (1.0 + spread * draws.standard_normal(count))
    if distribution == "exponential":
        return mean * draws.standard_exponential(count)
    if distribution == "lognormal":
        sigma = sqrt(logarithm(1.0 + float(np.max(spread)) ** 2))
        return mean * exponential(sigma * draws.standard_normal(count) - sigma**2 / 2)
    return mean.copy()
