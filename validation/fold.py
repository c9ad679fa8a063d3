"""Folds of a cross-validation: which measurements are left out together, and what fixes what.

Thirteen direct writes of one figure say one thing thirteen times: to leave out one of them is to
leave out nothing. What is left out together is a *series*: the rows of one figure, table or log
about one kind of nodes; or a *study*: all rows of one document or repository, which share the
machine of those days and the way of measuring. The first asks how well other operations, other
nodes and other measurements tell of this one; the second how well other people's do, and often
leaves nothing to tell of a parameter. The groups of the claims would mix the two: one holds several
studies, and one study stands in several groups.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal

from xc40io.validation.claim import Claim
from xc40io.validation.claim_trial import machines_of
from xc40io.validation.free_parameter import FreeParameter
from xc40io.validation.target import load_targets

By = Literal["series", "study"]
"""What is left out at a time."""

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+(?=[\s;:]|$)")
_DOCUMENT = re.compile(r"[^(;:,]+")


def study_of(claim: Claim) -> str:
    """Return the document or repository that a claim's number was published in.

    It is the first word of the source if that is ``owner/repository``, else all of it up to the
    first bracket or stop.
    """
    source = _source(claim)
    found = _REPOSITORY.match(source) or _DOCUMENT.match(source)
    return found[0].strip() if found else claim.family


def series_of(claim: Claim) -> str:
    """Return the figure, table or log of a claim's number, with the nodes that it is about."""
    return f"{_source(claim)}, {claim.target.system}"


def _source(claim: Claim) -> str:
    """Return the source of a claim's number; of a row that is said to be as another, its source."""
    source = claim.target.source.strip()
    rows = load_targets()
    while (other := source.removeprefix("as ")) in rows:
        source = rows[other].source.strip()
    return source


FOLDS: Mapping[By, Callable[[Claim], str]] = {"series": series_of, "study": study_of}
"""The name of the fold that a claim is in."""


def fitted_through(
    claims: Mapping[str, Claim], parameters: Mapping[str, FreeParameter]
) -> dict[str, tuple[str, ...]]:
    """Return the free parameters that were fitted, each with the claims that it was fitted to.

    That is, calibrations that name it and run on one of its machines, and inputs from whose number
    it was taken.

    Parameters
    ----------
    claims
        All of them, by id.
    parameters
        All of them, by name.
    """
    naming: dict[str, tuple[str, ...]] = {}
    for name, parameter in parameters.items():
        found = tuple(
            claim.id
            for claim in claims.values()
            if claim.role in ("calibration", "input")
            and claim.names
            and parameter.path in claim.parameters
            and not machines_of(claim).isdisjoint(parameter.machines)
        )
        if found:
            naming[name] = found
    return naming


def whole_alone(
    claims: Mapping[str, Claim], parameters: Mapping[str, FreeParameter]
) -> dict[str, tuple[str, ...]]:
    """Return the calibrations through values that no fit moves, with those values.

    They were fitted to by choosing a word, a count or nothing; without them the value stays, and so
    does their error.
    """
    free = {parameter.path for parameter in parameters.values()}
    return {
        claim.id: claim.parameters
        for claim in claims.values()
        if claim.role == "calibration" and claim.parameters and free.isdisjoint(claim.parameters)
    }
