"""The published bandwidths of runs of IOR, as the explorer shows them beside a run."""

from __future__ import annotations

from collections.abc import Iterator

from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.quantity import RATE
from xc40io.validation.target import FIRMNESS
from xc40io.web.published import Point
from xc40io.web.translation import settings_of

_ACCESSES = ("write", "read")
_AXIS = "A"  # only the axis of a chart is known: no measurement
_PRINTED = "T"
_NO_CACHE = "nothing from the client cache (fsync; each rank reads what others wrote)"
"""What the slides call so: not O_DIRECT, which is a control of its own."""


def published_points() -> list[Point]:
    """Return what was published of one phase of one run of IOR, each number once."""
    found = {point.id: point for claim in load_claims().values() for point in _points(claim)}
    return list(found.values())


def _points(claim: Claim) -> Iterator[Point]:
    """Yield the point that a claim is about, if it is the bandwidth of a phase of a run."""
    if claim.metric is None or claim.relation is None or claim.relation.value is None:
        return
    calls = list(claim.metric.expression.calls)
    if (
        claim.metric.dimension != RATE
        or len(calls) != 1
        or claim.unjudged
        or claim.target.firmness == _AXIS
    ):
        return
    ((access, (run, *_)),) = calls
    if claim.metric.text != f"{access}({run})" or access not in _ACCESSES:
        return
    settings = settings_of(claim.runs[run])
    if settings is None:
        return
    value, target = claim.relation.value, claim.target
    source = target.source
    if target.firmness != _PRINTED:
        source += f", where the number was {FIRMNESS[target.firmness]}"
    title = claim.title.replace("no client cache", _NO_CACHE)
    yield Point(claim.id, title, access, value.base, str(value), source, settings)
