"""By which factor to multiply a simulated rate, by what is simulated.

For whoever plans with simulated rates: measured over simulated, of each kind of run. A number to
which something was fitted tells little of the next one, and counts only where there is no other.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from xc40io.validation.claim import Claim
from xc40io.validation.kept import Result
from xc40io.validation.model_error import Rate, rates_of

ONE_NODE, DIRECT = "one node", "direct I/O"
"""Kinds beside those of ``xc40io.trust.run_kind``: through the page cache of one node; past it."""

_WORDS = {
    "own files": "files of their own, several nodes",
    "shared file": "one shared file, each rank by itself",
    "collective": "one shared file, collective calls",
    ONE_NODE: "one node, through its page cache",
    DIRECT: "direct I/O",
    "local SSDs": "local SSDs",
    "burst buffer": "burst buffer",
    "application": "an application or a kernel",
}
"""What the kinds are called, in the order in which they are told."""


class Correction(NamedTuple):
    """Measured over simulated, of the rates of one kind."""

    words: str  # What is simulated.
    # The median of the factors, and the two that are furthest from each other.
    middle: float
    least: float
    most: float
    numbers: int  # How many there are.
    fitted: bool  # Whether something was fitted to each of them.


def corrections(claims: Mapping[str, Claim], kept: Mapping[str, Result]) -> list[Correction]:
    """Return the corrections of all kinds of which there are measured rates."""
    factors: dict[tuple[str, str], dict[bool, list[float]]] = {}
    for name, result in kept.items():
        claim = claims[name]
        fitted = claim.role != "check"
        for rate, ratio in _ratios(claim, result):
            of_kind = factors.setdefault(_kind(rate), {})
            of_kind.setdefault(fitted, []).append(1 / ratio)
    return [
        _correction(f"{words}, {access}", factors[kind, access])
        for kind, words in _WORDS.items()
        for access in ("write", "read")
        if (kind, access) in factors
    ]


def _ratios(claim: Claim, result: Result) -> Iterator[tuple[Rate, float]]:
    """Yield the measured rates of a claim, with simulated over measured, if they count."""
    numbers = dict(zip(_points(claim), result.numbers, strict=False))
    for rate in rates_of(claim):
        number = numbers.get(rate.point)
        if number is not None and number.counts and number.ratio > 0:
            yield rate, number.ratio


def _points(claim: Claim) -> list[str]:
    """Return the names of the points of a claim, in the order in which their numbers are kept."""
    relation = claim.relation
    assert relation is not None  # as of all claims of which results are kept
    if relation.quantiles is not None:
        return list(relation.quantiles.measured())
    return list(relation.values or [""])


def _kind(rate: Rate) -> tuple[str, str]:
    """Return the kind of a rate, and whether it is of a write or a read."""
    layout, access = rate.kind.rsplit(", ", 1)
    if rate.scenario.target.kind != "lustre":
        return layout, access
    if any(one.direct for one in rate.traits.phases):
        return DIRECT, access
    return ONE_NODE if rate.scenario.nodes == 1 else layout, access


def _correction(words: str, factors: Mapping[bool, list[float]]) -> Correction:
    fitted = False not in factors
    found = factors[fitted]
    middle = math.exp(statistics.median(math.log(factor) for factor in found))
    return Correction(words, middle, min(found), max(found), len(found), fitted)
