"""Distinct simulated numbers: what several measurements read off one run counts once.

``D01`` and ``D09`` are two measurements, of a new and of an aged file system, and one simulated
number beside both: were it counted twice, who moves it would be praised or blamed twice. Two
numbers are the same if the same metric is read off the same scenarios, whatever these are called;
that two come out alike does not make them one.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from xc40io.studies.store import scenario_hash
from xc40io.validation.claim import Claim
from xc40io.validation.half import Place, place_of
from xc40io.validation.metric import EACH


class Kind(StrEnum):
    """What a number says of the simulator."""

    FITTED = "fitted"
    PREDICTED = "predicted"
    OTHER = "other checks"


class Measurement(NamedTuple):
    """One measured number of a claim."""

    claim: str  # Its id.
    point: str = ""  # Of which run or quantile, for a claim with several numbers; otherwise empty.

    def __str__(self) -> str:
        """Return the claim and, where it has several numbers, the point."""
        return f"{self.claim} {self.point}".rstrip()


@dataclass(frozen=True)
class DistinctNumber:
    """A simulated number, with all that was measured of it."""

    # The measurements that are set beside it, in the order of the claims.
    readers: tuple[Measurement, ...]
    group: str  # That of the first of them.
    # Fitted if any of its readers was fitted, predicted if all are predictions
    # (``xc40io.validation.prediction``).
    kind: Kind
    # Where it stands in the score (``xc40io.validation.half``); that of the first of its readers.
    place: Place

    def __str__(self) -> str:
        """Return its readers."""
        return ", ".join(map(str, self.readers))


def measurements(claim: Claim) -> list[Measurement]:
    """Return the measured numbers of a claim that count; none of an input, which agrees anyway."""
    if claim.role not in ("calibration", "check") or claim.relation is None:
        return []
    return [
        Measurement(claim.id, point) for point in claim.relation.measured() if claim.counts(point)
    ]


def distinct_numbers(
    claims: Mapping[str, Claim], predicted: Container[str], near: Container[str] = ()
) -> list[DistinctNumber]:
    """Return the distinct numbers that are compared with measurements, in the order of the claims.

    Parameters
    ----------
    claims
        Those whose numbers are wanted, by id.
    predicted
        The ids of the genuine predictions.
    near
        The ids of the claims that have something fitted near them.

    Raises
    ------
    InputError
        If there is no such machine, or it cannot run a scenario of a claim.
    """
    readers: dict[str, list[Measurement]] = {}
    for claim in claims.values():
        for measurement in measurements(claim):
            readers.setdefault(number_key(claim, measurement.point), []).append(measurement)
    return [
        DistinctNumber(
            tuple(found),
            claims[found[0].claim].family,
            _kind(found, claims, predicted),
            place_of(claims[found[0].claim], near),
        )
        for found in readers.values()
    ]


def _kind(
    readers: list[Measurement], claims: Mapping[str, Claim], predicted: Container[str]
) -> Kind:
    names = {reader.claim for reader in readers}
    if any(claims[name].role == "calibration" for name in names):
        return Kind.FITTED
    return Kind.PREDICTED if all(name in predicted for name in names) else Kind.OTHER


def number_key(claim: Claim, point: str) -> str:
    """Return what tells a simulated number from others.

    Parameters
    ----------
    claim
        One with a metric.
    point
        Of which run, for a claim with several numbers.
    """
    return _of_seeds(claim, ast.unparse(_placed(claim, point)))


def part_keys(claim: Claim) -> tuple[str, ...]:
    """Return the same of the numbers that a claim's metric multiplies or divides."""
    calls = (part for part in ast.walk(_placed(claim, "")) if isinstance(part, ast.Call))
    return tuple(_of_seeds(claim, ast.unparse(call)) for call in calls)


def _of_seeds(claim: Claim, read: str) -> str:
    return read if claim.seeds == 1 else f"{_statistic(claim)} of {read}"


def _statistic(claim: Claim) -> str:
    quantiles = claim.relation is not None and claim.relation.quantiles is not None
    return "median" if quantiles else claim.statistic


def _place(claim: Claim, run: str) -> str:
    """Return what a run is, whatever it is called."""
    if run not in claim.runs:  # it is a number of nodes of a machine
        return f"{claim.machine} {run}"
    return " ".join(map(scenario_hash, claim.seeded(run)))


def _placed(claim: Claim, point: str) -> ast.expr:
    """Return the metric of a claim with places instead of the names of its runs."""
    assert claim.metric is not None
    each = point if point in claim.names else claim.names[0]
    tree = deepcopy(claim.metric.expression.tree)
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.args[0], ast.Constant):
            run = str(call.args[0].value)
            call.args[0] = ast.Constant(_place(claim, each if run == EACH else run))
    return tree
