"""A fit by slopes that are kept: what some measured rows say of values, and of the other rows.

It is the first step of :mod:`xc40io.validation.fit`, with the same posterior.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from xc40io.engine.types import Floats
from xc40io.validation.fit import NINE_OF_TEN, is_unmet, shared_errors
from xc40io.validation.posterior import Evidence, posterior


class Row(NamedTuple):
    """A measured number, and what values of the machine do to the simulated one."""

    name: str
    measured: float  # in base units
    simulated: float
    noise: float  # standard deviation of the measurement, as a logarithm
    model: float  # that of the model's own error
    kind: str  # numbers of one kind have part of that error in common
    slopes: tuple[float, ...]


class Moved(NamedTuple):
    """A value that may be moved: how far it may be off, and its bounds, in logarithms."""

    path: str
    spread: float
    lower: float
    upper: float


class Found(NamedTuple):
    """The rows on a machine file, and the values."""

    rows: tuple[Row, ...]
    values: tuple[Moved, ...]


def evidence_of(found: Found, given: Sequence[int]) -> Evidence:
    """Return what some rows say of the values."""
    rows = [found.rows[n] for n in given]
    model = np.array([row.model for row in rows])
    alike = [[bool(one.kind) and one.kind == other.kind for other in rows] for one in rows]
    return Evidence(
        measured=np.array([math.log(row.measured / row.simulated) for row in rows]),
        slopes=np.array([row.slopes for row in rows]),
        prior=np.array([value.spread for value in found.values]),
        model=shared_errors(model, alike),
        noise=np.array([row.noise for row in rows]),
    )


def fitted(found: Found, given: Sequence[int]) -> Floats:
    """Return by what the most probable values differ after some rows were given, in logarithms."""
    if not given:
        return np.zeros(len(found.values))
    lower, upper = (np.array([getattr(one, b) for one in found.values]) for b in ("lower", "upper"))
    return np.clip(posterior(evidence_of(found, given)).values, lower, upper)


def ratios(found: Found, at: Floats) -> list[float]:
    """Return simulated over measured of all rows where the values differ by so much."""
    return [
        row.simulated / row.measured * math.exp(float(np.dot(row.slopes, at))) for row in found.rows
    ]


def unmet(found: Found) -> list[Row]:
    """Return the rows that no value within what is plausible can bring about (``Fit.unmet``)."""
    every = range(len(found.rows))
    after = ratios(found, fitted(found, every))
    reach = 2.0 * np.sqrt(
        (
            (np.array([row.slopes for row in found.rows]) * [v.spread for v in found.values]) ** 2
        ).sum(axis=1)
    )
    return [
        row
        for n, row in enumerate(found.rows)
        if is_unmet(
            math.log(row.simulated / row.measured),
            math.log(after[n]),
            float(reach[n]),
            NINE_OF_TEN * math.hypot(row.model, row.noise),
        )
    ]
