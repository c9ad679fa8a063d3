"""The score beside that of an earlier day: which numbers moved, and whether the change may land.

It lands when it carries over: when the mean of the far half falls, and nothing near gets much
worse. Where nothing far moved the mean of the near half is asked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from xc40io.validation.claim import Claim
from xc40io.validation.half import Half
from xc40io.validation.kept import Result
from xc40io.validation.number import DistinctNumber, Measurement
from xc40io.validation.score import (
    Score,
    Scored,
    Tally,
    counting,
    is_put_alike,
    ratios_by_measurement,
)

SMALLEST_GROUP = 3
"""Numbers that a group has at least if its mean alone may hold a change back."""

RISE = 0.02
"""By how much the mean of such a group may rise."""

_EXACT = 1e-9  # what rounding may make of means that are the same


@dataclass(frozen=True)
class Pair:
    """A distinct number then and now, each over the measurements that both know."""

    # What it was and is.
    before: Scored
    now: Scored

    @property
    def number(self) -> DistinctNumber:
        """Which number."""
        return self.now.number

    @property
    def change(self) -> float:
        """Return by how much its ``|ln|`` grew, as it counts; below 0 if it came nearer."""
        return self.now.error - self.before.error

    @property
    def shift(self) -> float:
        """Return by what part it is another number now, either way: ``|ln(now / before)|``."""
        if self.now.ratio == self.before.ratio:
            return 0.0
        both = self.now.ratio > 0 and self.before.ratio > 0
        return abs(math.log(self.now.ratio / self.before.ratio)) if both else math.inf


@dataclass(frozen=True)
class Comparison:
    """Two scores of the same numbers."""

    pairs: tuple[Pair, ...]  # The numbers that both know.
    unlike: tuple[str, ...] = ()  # The claims that were put differently then.
    unknown: tuple[str, ...] = ()  # The claims of which there was no result then.

    @property
    def moved(self) -> list[Pair]:
        """The numbers that are others now, those first that the score feels most."""
        return sorted(
            (pair for pair in self.pairs if pair.shift),
            key=lambda pair: (abs(pair.change), pair.shift),
            reverse=True,
        )

    @cached_property
    def before(self) -> Score:
        """The score then."""
        return Score(tuple(pair.before for pair in self.pairs))

    @cached_property
    def now(self) -> Score:
        """The score now, of the same numbers."""
        return Score(tuple(pair.now for pair in self.pairs))

    @property
    def risen(self) -> dict[str, tuple[Tally, Tally]]:
        """The groups that hold the change back, with their near numbers as they were and are."""
        before = self.before.halves[Half.NEAR].groups
        return {
            name: (before[name], now)
            for name, now in self.now.halves[Half.NEAR].groups.items()
            if now.numbers >= SMALLEST_GROUP and _rise(before[name], now) > RISE + _EXACT
        }

    @cached_property
    def judged(self) -> Half:
        """The half whose mean tells whether the change lands: far, unless nothing moved there."""
        far = any(pair.shift for pair in self.pairs if pair.number.place.half is Half.FAR)
        return Half.FAR if far else Half.NEAR

    @property
    def rise(self) -> float:
        """By how much the mean over the judged half rose; below 0 if it fell."""
        return _rise(self.before.halves[self.judged].total, self.now.halves[self.judged].total)

    @property
    def is_nearer(self) -> bool:
        """Whether the mean over the judged half fell."""
        return self.rise < -_EXACT

    @property
    def is_worse(self) -> bool:
        """Whether the mean over the judged half rose."""
        return self.rise > _EXACT

    @property
    def lands(self) -> bool:
        """Whether a change of physics lands: the mean falls, and nothing near gets much worse."""
        return self.is_nearer and not self.risen


def _rise(before: Tally, now: Tally) -> float:
    return (now.mean or 0.0) - (before.mean or 0.0)


def compare(score: Score, claims: Mapping[str, Claim], earlier: Mapping[str, Result]) -> Comparison:
    """Compare a score with the results of an earlier day.

    Parameters
    ----------
    score
        The one of today.
    claims
        Of which it is, by id: as they are put today.
    earlier
        The results then. Those of claims that were put differently are not compared.
    """
    counted = {claim.id: claim for claim in counting(claims.values())}
    return Comparison(
        tuple(_pairs(score, ratios_by_measurement(counted, earlier))),
        tuple(
            name
            for name, claim in counted.items()
            if name in earlier and not is_put_alike(claim, earlier[name].digest)
        ),
        tuple(name for name in counted if name not in earlier),
    )


def _pairs(score: Score, then: Mapping[Measurement, float]) -> Iterator[Pair]:
    """Yield the numbers of a score that were known then."""
    for scored in score.scored:
        both = [reader for reader in scored.ratios if reader in then]
        if both:
            before = Scored(scored.number, {reader: then[reader] for reader in both})
            ratios = {reader: scored.ratios[reader] for reader in both}
            yield Pair(before, replace(scored, ratios=ratios))
