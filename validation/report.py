"""The report of a validation: the claims with their verdicts, and what they add up to."""

from __future__ import annotations

import math
import statistics
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from xc40io.config.errors import InputError, nearest
from xc40io.studies.simulations import Simulations
from xc40io.validation.claim import Claim
from xc40io.validation.half import near_claims
from xc40io.validation.prediction import predictions
from xc40io.validation.verdict import Outcome, Verdict, judge, not_run

KINDS = ("calibration", "check", "prediction")
"""The kinds of numbers whose errors are summed up; inputs agree by their nature. Predictions are
those of the checks whose numbers the simulator was never shown
(``xc40io.validation.prediction``)."""

NEAR, FAR = 1.25, 1.5
"""Factors beyond which a simulated number is called off, and far off."""


@dataclass(frozen=True)
class Nearness:
    """How near simulated numbers are to measured ones."""

    numbers: int  # How many there are.
    median: float | None  # Of ``|ln(simulated / measured)|``; None without any.
    # How many are beyond a factor of :data:`NEAR`, and of :data:`FAR`, either way.
    off: int
    far: int

    @classmethod
    def of(cls, errors: Sequence[float]) -> Nearness:
        """Return it for some ``|ln(simulated / measured)|``."""
        return cls(
            len(errors),
            statistics.median(errors) if errors else None,
            sum(1 for error in errors if error > math.log(NEAR)),
            sum(1 for error in errors if error > math.log(FAR)),
        )


@dataclass(frozen=True)
class Summary:
    """What some claims add up to."""

    # Claims with a verdict.
    passed: int
    failed: int
    unjudged: int  # Claims that are run and have no verdict.
    left_out: int  # Claims that were not run because they take long.
    not_expressed: int  # Claims that the simulator cannot express.
    nearness: Mapping[str, Nearness]  # How near all measured numbers are, by kind (:data:`KINDS`).

    @property
    def claims(self) -> int:
        """All of them."""
        judged = self.passed + self.failed
        return judged + self.unjudged + self.left_out + self.not_expressed


@dataclass(frozen=True)
class Report:
    """What came of a validation."""

    outcomes: tuple[Outcome, ...]  # Of the claims, in their order.
    predictions: frozenset[str]  # Ids of the claims that are genuine predictions.
    # Which have run the scenarios, and can run more.
    simulations: Simulations = field(repr=False, compare=False)
    # Ids of the claims that have something fitted near them (``xc40io.validation.half``).
    near: frozenset[str] = frozenset()
    # Of claims whose metric their runs do not have: a sentence each. They have no verdict.
    wrong: tuple[str, ...] = ()

    @property
    def failed(self) -> list[Outcome]:
        """The claims that do not hold."""
        return [outcome for outcome in self.outcomes if outcome.verdict is Verdict.FAIL]

    @cached_property
    def groups(self) -> dict[str, list[Outcome]]:
        """The outcomes by group, in the order in which the groups first come."""
        groups: dict[str, list[Outcome]] = {}
        for outcome in self.outcomes:
            groups.setdefault(outcome.claim.family, []).append(outcome)
        return groups

    @property
    def summaries(self) -> dict[str, Summary]:
        """What the claims of each group add up to."""
        return {
            name: summarise(outcomes, self.predictions) for name, outcomes in self.groups.items()
        }

    @property
    def total(self) -> Summary:
        """What all claims add up to."""
        return summarise(self.outcomes, self.predictions)


def validate(
    claims: Iterable[Claim],
    simulations: Simulations,
    *,
    full: bool = False,
    known: Mapping[str, Claim] | None = None,
) -> Report:
    """Run what claims need, all together, and judge them.

    Parameters
    ----------
    claims
        Which.
    simulations
        What runs their scenarios.
    full
        Whether to run also those that take long.
    known
        All claims, by id, among which the fitted ones are looked for that make a check no
        prediction; those that are run unless given.
    """
    claims = list(claims)
    running = [claim for claim in claims if full or not claim.full]
    wanted = [scenario for claim in running for run in claim.runs for scenario in claim.seeded(run)]
    ended = iter(simulations.run(wanted))
    found = {
        claim.id: {run: list(islice(ended, claim.seeds)) for run in claim.runs} for claim in running
    }
    outcomes: list[Outcome] = []
    wrong = []
    for claim in claims:
        try:
            outcomes.append(judge(claim, found[claim.id]) if claim.id in found else not_run(claim))
        except InputError as error:
            outcomes.append(Outcome(claim, Verdict.NONE, without=str(error)))
            wrong.append(str(error))
    known = known if known is not None else {one.id: one for one in claims}
    predicted = predictions(known)
    near = near_claims(known, predicted)
    return Report(tuple(outcomes), predicted, simulations, near, tuple(wrong))


def select(
    claims: Mapping[str, Claim],
    *,
    groups: Sequence[str] = (),
    ids: Sequence[str] = (),
    fast: bool = False,
) -> list[Claim]:
    """Return some of the claims, in their order.

    Parameters
    ----------
    claims
        All, by their ids.
    groups
        Only those of groups whose names contain one of these, in whatever case.
    ids
        Only these; ``B08`` stands for all claims of that row.
    fast
        Only the fast subset.

    Raises
    ------
    InputError
        If there is no such claim or group.
    """
    rows = {claim.row for claim in claims.values()}
    for name in ids:
        if name not in claims and name not in rows:
            raise InputError(f"--claim {name}: there is no such claim{nearest(name, claims)}")
    families = dict.fromkeys(claim.family for claim in claims.values())
    for group in groups:
        if not any(group.lower() in family.lower() for family in families):
            raise InputError(f"--group {group}: there is none; there are {', '.join(families)}")
    return [
        claim
        for claim in claims.values()
        if (not ids or claim.id in ids or claim.row in ids)
        and (not groups or any(group.lower() in claim.family.lower() for group in groups))
        and (claim.fast or not fast)
    ]


def kinds_of(claim: Claim, predicted: Container[str]) -> tuple[str, ...]:
    """Return the kinds of numbers that those of a claim count as; a prediction is a check too."""
    if claim.role not in KINDS:
        return ()
    return (claim.role, "prediction") if claim.id in predicted else (claim.role,)


def summarise(outcomes: Iterable[Outcome], predicted: Container[str]) -> Summary:
    """Return what some claims add up to; ``predicted`` has the ids of genuine predictions."""
    outcomes = list(outcomes)
    without = [outcome for outcome in outcomes if outcome.verdict is Verdict.NONE]
    expressed = [outcome for outcome in without if not outcome.claim.not_expressed]
    unjudged = sum(1 for outcome in expressed if outcome.claim.unjudged and outcome.numbers)
    errors: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for outcome in outcomes:
        for kind in kinds_of(outcome.claim, predicted):
            errors[kind] += [point.error for point in outcome.points if point.counts]
    return Summary(
        passed=sum(1 for outcome in outcomes if outcome.verdict is Verdict.PASS),
        failed=sum(1 for outcome in outcomes if outcome.verdict is Verdict.FAIL),
        unjudged=unjudged,
        left_out=len(expressed) - unjudged,
        not_expressed=len(without) - len(expressed),
        nearness={kind: Nearness.of(found) for kind, found in errors.items()},
    )
