"""How the ranks went through their files: in which calls, where, and how much at a time.

Which *distribution* sizes follow is found by maximum likelihood. Each candidate is fitted by the
parameters under which the sizes are most likely. Candidates are compared by Akaike's information
criterion (twice the number of parameters less twice the logarithm of the likelihood; the least is
best), and the Kolmogorov-Smirnov statistic, the largest distance between the shares of sizes below
each size and what the distribution says, tells how good even the best one is.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, sqrt
from typing import Any

import numpy as np
from scipy import stats

from xc40io.engine.types import Floats, Indices, Integers
from xc40io.workloads.fitting.sets import FileUse
from xc40io.workloads.trace import TraceOp

_MOSTLY = 0.8  # a share from which on a pattern is said to be that of all calls


@dataclass(frozen=True)
class Fit:
    """A distribution fitted to sizes."""

    distribution: str  # its name, as a skeleton has it
    # mean, spread: its parameters, as a skeleton has them: bytes, and a share of the mean
    mean: float
    spread: float
    log_likelihood: float  # natural logarithm of the likelihood of the sizes
    aic: float  # Akaike's information criterion
    # ks, p_value: Kolmogorov-Smirnov statistic, 0 to 1, and the chance of one as large if the sizes
    # did follow the distribution (slightly too large, since its parameters come from the same
    # sizes)
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


@dataclass(frozen=True)
class CallPattern:
    """How ranks read, or how they wrote."""

    pattern: str  # as a skeleton has it
    # bytes of the call that moved most bytes; of a collective call with several pieces, what a rank
    # moves in it on average
    transfer: int
    # bytes of the piece that moved most bytes, where a collective call has several
    piece: int | None
    # bytes from one call to the next, if that is always the same and not what interleaved ranks
    # have
    stride: int | None
    collective: bool  # whether most calls were collective
    agreement: float  # the share of the steps from one call to the next that the pattern describes


def pattern_of(use: FileUse, op: TraceOp) -> CallPattern:
    """Return how a set of files was read, or written."""
    rows = use.rows
    chosen = (rows.op == op) & (rows.length > 0)
    offset, length = rows.offset[chosen], rows.length[chosen]
    lengths, inverse = np.unique(length, return_inverse=True)
    moved = np.bincount(inverse, length)
    transfer = int(lengths[moved.argmax()])
    collective = bool((rows.coll[chosen] >= 0).mean() > 0.5)
    main = np.ones(len(length), bool)
    if moved.max() > _MOSTLY * moved.sum():  # the others are headers, metadata, remainders
        main = length == transfer
    offset, length = offset[main], length[main]
    rank, index = rows.rank[chosen][main], use.index[chosen][main]
    same = (rank[1:] == rank[:-1]) & (index[1:] == index[:-1])
    behind = (offset[:-1] + length[:-1])[same]
    pattern, stride, share = _order(np.diff(offset)[same], offset[1:][same] == behind)
    if stride == use.ranks * transfer:
        stride = None
    pieces = _pieces_of_a_call(rows.rank[chosen], rows.coll[chosen]) if collective else 1
    piece = transfer if pieces > 1 else None
    return CallPattern(pattern, transfer * pieces, piece, stride, collective, share)


def _pieces_of_a_call(rank: Indices, coll: Integers) -> int:
    """Return in how many pieces a rank moves data in a collective call, on average."""
    together = coll >= 0
    pairs = np.unique(np.stack([rank[together], coll[together]]), axis=1).shape[1]
    return max(round(int(np.count_nonzero(together)) / int(pairs)), 1)


def _order(step: Integers, consecutive: Integers) -> tuple[str, int | None, float]:
    """Name the pattern of steps from call to call; return it, its stride, and how true it is."""
    if len(step) == 0 or consecutive.mean() >= _MOSTLY:
        return "contiguous", None, float(consecutive.mean()) if len(step) else 1.0
    values, counts = np.unique(step, return_counts=True)
    most = int(values[counts.argmax()])
    share = float(counts.max() / len(step))
    if share >= _MOSTLY and most > 0:
        return "strided", most, share
    ascending = float((step > 0).mean())
    return ("boxes", None, ascending) if ascending >= _MOSTLY else ("random", None, 1 - ascending)
