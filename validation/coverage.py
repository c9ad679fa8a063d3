"""Whether what is said of how sure a figure is holds: ``python -m xc40io.validation.coverage``.

An interval of nine of ten is right if nine of ten measured numbers lie in it, and a chance of 80 %
if of such pairs of runs four of five come out as simulated. Both are asked of measurements that
knew nothing of it: for each series, the errors of all runs and of ratios are put together without
it, and its numbers are predicted by parameters that were fitted without it. Intervals are asked
without the number alone, too, as of a run whose siblings were measured, and without all of its
site. How much each measured run counts was found from all of them (``validation/near_weights.py``).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import Literal, NamedTuple, get_args

from xc40io.telling.text import format_columns
from xc40io.trust.differences import differences
from xc40io.trust.how_sure import chance_better, expected
from xc40io.trust.model_error import ModelErrors, model_errors
from xc40io.validation.cross_validation import CrossValidation, kept_cross_validation
from xc40io.validation.fold import series_of
from xc40io.validation.half import near_claims
from xc40io.validation.model_error import (
    KnownErrors,
    MeasuredErrors,
    document,
    known_errors,
    rated,
    site_of,
)
from xc40io.validation.prediction import predictions
from xc40io.validation.ratio_error import RatedRatio, by_series

LeftOut = Literal["itself", "series", "site"]
"""What is not known when a number is told: it alone, all of its series, all of its site."""

BANDS = ((0.5, 0.75), (0.75, 0.9), (0.9, 0.97), (0.97, 1.0))
"""Chances that are told together, the first below :data:`~xc40io.trust.how_sure.LIKELY`."""


class CoveredNumber(NamedTuple):
    """A measured number beside the interval that the simulator gives it."""

    group: str  # Of the claim.
    inside: bool  # Whether it lies in the interval of nine of ten.
    familiar: bool  # Whether runs like it were measured, besides its own series.
    near: bool  # Whether something was fitted near it (``xc40io.validation.half``).
    width: float  # Its upper bound over its lower one.


class Chance(NamedTuple):
    """A pair of measured runs beside the chance that one really is faster."""

    stated: float  # The chance of the one that was simulated as the faster one: half or more.
    right: bool  # Whether it was measured as the faster one.
    # What it counts: a series of n runs has n - 1 pairs that do not follow from each other.
    weight: float


class Coverage:
    """What is known of the simulator's errors, with any series left out.

    Parameters
    ----------
    crossed
        The cross-validation.
    """

    def __init__(self, crossed: CrossValidation) -> None:
        self._crossed = crossed
        self._known = known_errors(crossed)
        self._measured = [*self._known.rates, *self._known.metadata]
        self._weights = model_errors().weights
        self._errors = cache(self._without)
        self._near = near_claims(crossed.claims, predictions(crossed.claims))

    def covered(self, without: LeftOut = "series") -> list[CoveredNumber]:
        """Return the measured rates with whether they lie in their intervals.

        ``without``: what else is not known when each is told.
        """
        return [self._covered(one, without) for one in self._measured]

    def chances(self) -> list[Chance]:
        """Return all pairs of comparable runs of a series with their chances."""
        return [chance for same in by_series(rated(self._crossed)) for chance in self._pairs(same)]

    def _covered(self, one: MeasuredErrors, without: LeftOut) -> CoveredNumber:
        first = one.rates[0]
        errors = self._errors(self._groups(one, without), without)
        expects = expected(first.scenario, first.traits, first.phase, errors)
        group = self._crossed.claims[first.claim].family
        inside = abs(one.crossed - expects.center) <= expects.nine_of_ten
        near = any(rate.claim in self._near for rate in one.rates)
        width = math.exp(2.0 * expects.nine_of_ten)
        return CoveredNumber(group, inside, not expects.why, near, width)

    def _pairs(self, same: Sequence[RatedRatio]) -> Iterator[Chance]:
        """Yield the pairs of one series; of runs that differ in nothing there is nothing to say."""
        pairs = [
            (one, other, things)
            for one, other in combinations(same, 2)
            if (things := differences(one.scenario, other.scenario))
        ]
        for one, other, things in pairs:
            measured = math.log(one.measured / other.measured)
            simulated = measured + one.crossed - other.crossed
            errors = self._errors(frozenset({one.series}), "series")
            stated = chance_better(math.exp(abs(simulated)), things, errors)
            yield Chance(stated, measured * simulated > 0.0, (len(same) - 1) / len(pairs))

    def _groups(self, one: MeasuredErrors, without: LeftOut) -> frozenset[str]:
        """Return what a number belongs to of which the rest is not known either."""
        if without == "itself":
            return frozenset(rate.claim + rate.point for rate in one.rates)
        if without == "site":
            return frozenset({site_of(one.rates[0].extent.machine)})
        claims = self._crossed.claims
        return frozenset(series_of(claims[rate.claim]) for rate in one.rates)

    def _without(self, groups: frozenset[str], without: LeftOut) -> ModelErrors:
        """Return the errors as they would be without some measurements."""
        rates, metadata = (
            [one for one in some if not groups & self._groups(one, without)]
            for some in (self._known.rates, self._known.metadata)
        )
        # Nobody asks for ratios of runs but without their series.
        ratios = [ratio for ratio in self._known.ratios if ratio.series not in groups]
        return ModelErrors.model_validate(
            document(KnownErrors(rates, metadata, ratios), self._weights)
        )


def coverage_rows(found: Sequence[CoveredNumber]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each group, with its head, and rows for all: how many lie inside."""
    yield "group", "in the interval", "of", "high over low, median"
    groups: dict[str, list[CoveredNumber]] = {}
    for one in found:
        groups.setdefault(one.group, []).append(one)
    groups |= _together(found)
    groups["all, such runs measured in other series"] = [one for one in found if one.familiar]
    groups["all, no such runs measured elsewhere"] = [one for one in found if not one.familiar]
    yield from ((group, *_covered_words(own)) for group, own in groups.items() if own)


def left_out_rows(coverage: Coverage) -> Iterator[tuple[str, ...]]:
    """Yield a row for each thing that is left out, with its head."""
    yield "told without", "which", "in the interval", "of", "high over low, median"
    for without in get_args(LeftOut):
        for which, own in _together(coverage.covered(without)).items():
            yield without, which, *_covered_words(own)


def _together(found: Sequence[CoveredNumber]) -> dict[str, list[CoveredNumber]]:
    near, far = ([one for one in found if one.near is wanted] for wanted in (True, False))
    return {"all": list(found), "near": near, "far": far}


def _covered_words(own: Sequence[CoveredNumber]) -> tuple[str, str, str]:
    inside = sum(one.inside for one in own)
    return f"{inside}", f"{len(own)}", f"{statistics.median(one.width for one in own):.2f}"


def chance_rows(found: Sequence[Chance]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each band of chances, with its head: how many come out as simulated."""
    yield "chance that it really is faster", "pairs", "on average", "it was"
    for low, high in BANDS:
        own = [one for one in found if low <= one.stated and (one.stated < high or high == 1.0)]
        if own:
            band = f"{100 * low:.0f} to {100 * high:.0f} %"
            yield band, f"{len(own)}", _share(own, "stated"), _share(own, "right")
    yield "all", f"{len(found)}", _share(found, "stated"), _share(found, "right")


def _share(some: Sequence[Chance], what: str) -> str:
    """Return the mean of chances, or of how many were right, by weight."""
    total = sum(one.weight for one in some)
    return f"{100 * sum(one.weight * getattr(one, what) for one in some) / total:.0f} %"


def main() -> None:
    """Print all tables."""
    coverage = Coverage(kept_cross_validation())
    print(format_columns(list(coverage_rows(coverage.covered()))))
    print(format_columns(list(left_out_rows(coverage))))
    print(format_columns(list(chance_rows(coverage.chances()))), end="")


if __name__ == "__main__":
    main()
