"""The two halves of the score: near, where something was fitted, and far, where nothing was.

What a user brings is always another case: how far a model carries is told by the numbers to whose
kind, on their machine and in their study, nothing was fitted. That is read off the claims and the
machine files as ``xc40io.validation.prediction`` reads off them which checks are predictions: where
any claim of a study, a machine and a kind is none, a value knows of it, and all numbers of the
three are near.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from enum import StrEnum
from typing import NamedTuple

from xc40io.validation.claim import Claim
from xc40io.validation.claim_trial import machines_of
from xc40io.validation.fold import study_of
from xc40io.validation.quantity import NUMBER
from xc40io.workloads.catalogue import traits_of
from xc40io.workloads.traits import METADATA, access_of


class Half(StrEnum):
    """Which half of the score a number is in."""

    NEAR = "near"
    FAR = "far"


class What(StrEnum):
    """What a number is of."""

    WRITE = "write"
    READ = "read"
    METADATA = "metadata"
    RATIO = "ratio"
    OTHER = "messages"


class Place(NamedTuple):
    """Where a number stands in the score."""

    half: Half  # Whether something was fitted near it.
    what: What  # What it is of.
    study: str  # The document or repository that it was published in.


def place_of(claim: Claim, near: Container[str]) -> Place:
    """Return where the numbers of a claim stand; ``near`` has the ids of those that are near."""
    half = Half.NEAR if claim.id in near else Half.FAR
    return Place(half, what_of(claim), study_of(claim))


def near_claims(claims: Mapping[str, Claim], predicted: Container[str]) -> frozenset[str]:
    """Return the ids of the claims that have something fitted near them.

    Parameters
    ----------
    claims
        All claims, by id.
    predicted
        The ids of those that are genuine predictions.

    Raises
    ------
    InputError
        If there is no such machine.
    """
    series = {
        name: {(study_of(claim), what_of(claim), machine) for machine in machines_of(claim)}
        for name, claim in claims.items()
        if claim.metric is not None
    }
    fitted = set().union(*(some for name, some in series.items() if name not in predicted))
    return frozenset(name for name, some in series.items() if some & fitted)


def what_of(claim: Claim) -> What:
    """Return what the numbers of a claim are of.

    A quotient of two alike is a ratio, whatever they are of. What has the word ``read`` in its
    functions or, without ``write`` there, in the names of its runs, reads.
    """
    metric = claim.metric
    assert metric is not None
    moved = any(traits_of(run).bytes for run in claim.runs.values())
    if metric.of_machine or not (moved or _metadata(claim)):
        return What.OTHER
    if metric.dimension == NUMBER:
        return What.RATIO
    if _metadata(claim):
        return What.METADATA
    return What(access_of(_asked(claim)))


def _metadata(claim: Claim) -> bool:
    """Tell whether a claim looks at operations on metadata."""
    calls = claim.metric.expression.calls if claim.metric is not None else ()
    return any(
        function in ("open", "close")
        or traits_of(claim.runs[run]).of(" ".join(words)).access == METADATA
        for function, (run, *words) in calls
        if run in claim.runs
    )


def _asked(claim: Claim) -> str:
    """Return the functions of a metric with their words, and its runs where these do not tell."""
    assert claim.metric is not None
    calls = list(claim.metric.expression.calls)
    told = " ".join(" ".join((function, *words)) for function, (_, *words) in calls)
    return told if "write" in told.lower() else f"{told} {' '.join(run for _, (run, *_) in calls)}"
