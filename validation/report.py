"""The report of a validation: the claims with their verdicts, and what they add up to."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from sim.config.errors import InputError
from sim.config.files import nearest
from sim.studies.simulations import Simulations
from validation.claim import Claim
from validation.verdict import Outcome, Verdict, judge, not_run

ROLES = ("calibration", "check")
"""The roles whose errors are summed up; inputs agree by their nature."""


@dataclass(frozen=True)
class Summary:
    """What some claims add up to.

    Attributes
    ----------
    passed, failed
        Claims with a verdict.
    unjudged
        Claims that are run and have no verdict.
    left_out
        Claims that were not run because they take long.
    not_expressed
        Claims that the simulator cannot express.
    medians
        Median of ``|ln(simulated / measured)|`` over all measured numbers, by role; None without
        any.
    points
        How many numbers that is, by role.
    """

    passed: int
    failed: int
    unjudged: int
    left_out: int
    not_expressed: int
    medians: Mapping[str, float | None]
    points: Mapping[str, int]

    @property
    def claims(self) -> int:
        """All of them."""
        judged = self.passed + self.failed
        return judged + self.unjudged + self.left_out + self.not_expressed


@dataclass(frozen=True)
class Report:
    """What came of a validation.

    Attributes
    ----------
    outcomes
        Of the claims, in their order.
    simulations
        Which have run the scenarios, and can run more.
    """

    outcomes: tuple[Outcome, ...]
    simulations: Simulations = field(repr=False, compare=False)

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
        return {name: summarise(outcomes) for name, outcomes in self.groups.items()}

    @property
    def total(self) -> Summary:
        """What all claims add up to."""
        return summarise(self.outcomes)


def validate(claims: Iterable[Claim], simulations: Simulations, *, full: bool = False) -> Report:
    """Run what claims need, all together, and judge them.

    Parameters
    ----------
    claims
        Which.
    simulations
        What runs their scenarios.
    full
        Whether to run also those that take long.

    Raises
    ------
    InputError
        If a claim asks a run for what it does not have.
    """
    claims = list(claims)
    running = [claim for claim in claims if full or not claim.full]
    wanted = [scenario for claim in running for run in claim.runs for scenario in claim.seeded(run)]
    ended = iter(simulations.run(wanted))
    found = {
        claim.id: {run: list(islice(ended, claim.seeds)) for run in claim.runs} for claim in running
    }
    outcomes = (
        judge(claim, found[claim.id]) if claim.id in found else not_run(claim) for claim in claims
    )
    return Report(tuple(outcomes), simulations)


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
    rows = {claim.target.id for claim in claims.values()}
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
        if (not ids or claim.id in ids or claim.target.id in ids)
        and (not groups or any(group.lower() in claim.family.lower() for group in groups))
        and (claim.fast or not fast)
    ]


def summarise(outcomes: Iterable[Outcome]) -> Summary:
    """Return what some claims add up to."""
    outcomes = list(outcomes)
    without = [outcome for outcome in outcomes if outcome.verdict is Verdict.NONE]
    expressed = [outcome for outcome in without if not outcome.claim.not_expressed]
    unjudged = sum(1 for outcome in expressed if outcome.claim.unjudged and outcome.numbers)
    errors = {
        role: [
            point.error
            for outcome in outcomes
            for point in outcome.points
            if outcome.claim.role == role and point.counts
        ]
        for role in ROLES
    }
    return Summary(
        passed=sum(1 for outcome in outcomes if outcome.verdict is Verdict.PASS),
        failed=sum(1 for outcome in outcomes if outcome.verdict is Verdict.FAIL),
        unjudged=unjudged,
        left_out=len(expressed) - unjudged,
        not_expressed=len(without) - len(expressed),
        medians={
            role: statistics.median(found) if found else None for role, found in errors.items()
        },
        points={role: len(found) for role, found in errors.items()},
    )
