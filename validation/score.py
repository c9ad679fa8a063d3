"""The score: how far all distinct simulated numbers are from what was measured.

A change of physics is judged by it and not by the rows that it was made for: by the means of
``|ln(simulated / measured)|`` over the distinct numbers (``xc40io.validation.number``) of its two
halves, those near which something was fitted and the others (``xc40io.validation.half``). A number
that is far off counts at most :data:`MOST`, so that one wild row does not outweigh ten near ones;
so does one whose run does not end.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import get_args

from xc40io.telling.data import document_of
from xc40io.validation.claim import Claim, Role, is_direction
from xc40io.validation.error import error_of
from xc40io.validation.frozen import digest_of
from xc40io.validation.half import Half, What
from xc40io.validation.kept import Result, load_kept, results_in
from xc40io.validation.number import (
    DistinctNumber,
    Kind,
    Measurement,
    distinct_numbers,
    measurements,
)
from xc40io.validation.report import FAR, NEAR, Report
from xc40io.validation.report_answer import report_answer
from xc40io.validation.verdict import Verdict

MOST = math.log(4)
"""What a number counts at most."""

_ROLES = get_args(Role)


@dataclass(frozen=True)
class Tally:
    """What the errors of some numbers add up to."""

    numbers: int  # How many there are.
    # Of ``|ln(simulated / measured)|``, at most :data:`MOST` each; None without any.
    median: float | None
    mean: float | None
    # How many are within a factor of :data:`~xc40io.validation.report.NEAR`, and of
    # :data:`~xc40io.validation.report.FAR`, either way.
    near: int
    fair: int

    @classmethod
    def of(cls, errors: Iterable[float]) -> Tally:
        """Return it for some ``|ln(simulated / measured)|``."""
        counted = [counted_error(error) for error in errors]
        return cls(
            len(counted),
            statistics.median(counted) if counted else None,
            statistics.fmean(counted) if counted else None,
            sum(1 for error in counted if error <= math.log(NEAR)),
            sum(1 for error in counted if error <= math.log(FAR)),
        )


def counted_error(error: float) -> float:
    """Return what a ``|ln(simulated / measured)|`` counts."""
    return min(error, MOST)


@dataclass(frozen=True)
class Scored:
    """A distinct number beside what was measured."""

    number: DistinctNumber  # Which.
    # Simulated over measured by reader; 0 if its run does not end.
    ratios: Mapping[Measurement, float]
    kept: bool = False  # Whether it was simulated some other day.

    @property
    def ratio(self) -> float:
        """Return simulated over measured, the geometric mean over the readers."""
        ratios = self.ratios.values()
        return statistics.geometric_mean(ratios) if all(ratios) else 0.0

    @property
    def error(self) -> float:
        """Return ``|ln(simulated / measured)|``, at most :data:`MOST`."""
        return counted_error(error_of(self.ratio))


@dataclass(frozen=True)
class Score:
    """The distinct numbers of some claims, each beside what was measured."""

    scored: tuple[Scored, ...]  # Those of which there is a result, in the order of the claims.
    missing: tuple[DistinctNumber, ...] = ()  # Those of which there is none.
    # Whether each rule of users' guides holds, by claim; they have no numbers.
    directions: Mapping[str, bool] = field(default_factory=dict)

    @property
    def groups(self) -> dict[str, Tally]:
        """The groups of claims, in their order."""
        return self._by(lambda number: number.group)

    @property
    def kinds(self) -> dict[str, Tally]:
        """The kinds of numbers."""
        return {
            kind.value: Tally.of(one.error for one in self.scored if one.number.kind is kind)
            for kind in Kind
        }

    @cached_property
    def halves(self) -> dict[Half, Score]:
        """The scores of what is near and of what is far."""
        return {
            half: Score(tuple(one for one in self.scored if one.number.place.half is half))
            for half in Half
        }

    @property
    def whats(self) -> dict[str, Tally]:
        """What the numbers are of."""
        found = self._by(lambda number: number.place.what.value)
        return {what.value: found[what.value] for what in What if what.value in found}

    @property
    def studies(self) -> dict[str, Tally]:
        """The documents and repositories that they were published in, in their order."""
        return self._by(lambda number: number.place.study)

    @property
    def mean_of_studies(self) -> float | None:
        """The mean in which each study counts alike, however many numbers it has."""
        means = [tally.mean for tally in self.studies.values() if tally.mean is not None]
        return statistics.fmean(means) if means else None

    def of(self, what: str) -> Score:
        """Return the score of the numbers of one kind."""
        return Score(tuple(one for one in self.scored if one.number.place.what.value == what))

    def _by(self, name_of: Callable[[DistinctNumber], str]) -> dict[str, Tally]:
        """Return what the numbers add up to by some name, in the order of the names."""
        errors: dict[str, list[float]] = {}
        for one in self.scored:
            errors.setdefault(name_of(one.number), []).append(one.error)
        return {name: Tally.of(some) for name, some in errors.items()}

    @cached_property
    def total(self) -> Tally:
        """All of them."""
        return Tally.of(one.error for one in self.scored)

    @property
    def kept(self) -> tuple[DistinctNumber, ...]:
        """Those that were simulated some other day."""
        return tuple(one.number for one in self.scored if one.kept)


def score_of(report: Report) -> Score:
    """Return the score of a validation; claims that were left out have their kept results."""
    claims = {outcome.claim.id: outcome.claim for outcome in report.outcomes}
    results = results_in(document_of(report_answer(report)))
    found = score(claims, report.predictions, results, load_kept(), near=report.near)
    directions = {
        outcome.claim.id: outcome.verdict is Verdict.PASS
        for outcome in report.outcomes
        if is_direction(outcome.claim)
    }
    return replace(found, directions=directions)


def score(
    claims: Mapping[str, Claim],
    predicted: Container[str],
    results: Mapping[str, Result],
    kept: Mapping[str, Result] | None = None,
    *,
    near: Container[str] = (),
) -> Score:
    """Return the score of some claims.

    Parameters
    ----------
    claims
        Which, by id.
    predicted
        The ids of the genuine predictions.
    results
        What came of those that were run.
    kept
        What came of claims on some other day, in place of those that were not run; only of those
        that were put as they are put now.
    near
        The ids of the claims that have something fitted near them.

    Raises
    ------
    InputError
        If there is no such machine, or it cannot run a scenario of a claim.
    """
    now = ratios_by_measurement(claims, results)
    before = ratios_by_measurement(claims, kept or {})
    scored, missing = [], []
    for number in distinct_numbers(claims, predicted, near):
        fresh = {one: now[one] for one in number.readers if one in now}
        known = fresh or {one: before[one] for one in number.readers if one in before}
        if known:
            scored.append(Scored(number, known, kept=not fresh))
        else:
            missing.append(number)
    return Score(tuple(scored), tuple(missing))


def counting(claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims that have a number which counts: no others need to run."""
    return [claim for claim in claims if measurements(claim)]


def is_put_alike(claim: Claim, digest: str) -> bool:
    """Tell whether a digest is of this claim as it is put, in whatever role.

    The role says what a number is taken for, and changes nothing about the number.
    """
    return digest == digest_of(claim) or any(
        digest == digest_of(claim.model_copy(update={"role": role})) for role in _ROLES
    )


def ratios_by_measurement(
    claims: Mapping[str, Claim], results: Mapping[str, Result]
) -> dict[Measurement, float]:
    """Return simulated over measured wherever a claim was put as it is put now."""
    return {
        Measurement(name, point): ratio
        for name, claim in claims.items()
        if name in results and is_put_alike(claim, results[name].digest)
        for point, ratio in _ratios(claim, results[name]).items()
        if claim.counts(point)
    }


def _ratios(claim: Claim, result: Result) -> dict[str, float]:
    """Return simulated over measured by point; 0 where a run did not end."""
    points = claim.relation.measured() if claim.relation is not None else {}
    if not result.numbers and result.verdict == "fail":
        return dict.fromkeys(points, 0.0)
    named = {one.name: one.ratio for one in result.numbers if one.name is not None}
    if named or len(points) != len(result.numbers):
        return {point: named[point] for point in points if point in named}
    return {point: one.ratio for point, one in zip(points, result.numbers, strict=True)}
