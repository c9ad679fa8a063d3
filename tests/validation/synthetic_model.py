"""A cheap stand-in for the simulator: claims whose numbers are products of powers of parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from xc40io.config.machine import load_machine
from xc40io.validation.free_parameter import FreeParameter
from xc40io.validation.quantity import parse_quantity
from xc40io.validation.trial import Reading, Request, Simulate, Subject

THETA = load_machine("theta")

Law = Callable[[Callable[[str], float]], float]
"""The number of a claim, from the factors by which parameters differ from the machine file's."""


def parameter(path: str, lower: float = 0.1, upper: float = 10.0) -> FreeParameter:
    """Make a parameter of Theta, its bounds as factors of its value."""
    value = THETA.values()[path]
    return FreeParameter(
        path=path,
        machines={"theta": THETA},
        files={"theta": Path("theta.yaml")},
        lower=lower * value,
        upper=upper * value,
        reason="a synthetic bound",
    )


def subject(claim: str, measured: float | None, *, fitted: Sequence[str] = ()) -> Subject:
    quantity = None if measured is None else parse_quantity(measured)
    return Subject(
        claim=claim,
        machines=frozenset({"theta"}),
        runs=frozenset({f"run of {claim}"}),
        readings=(Reading(claim, "", quantity, 0.2),),
        parameters=tuple(fitted),
    )


def model(laws: Mapping[str, Law], noise: float = 0.0, pieces: float = 0.0) -> Simulate:
    """Return a simulator.

    Its numbers vary by the relative ``noise``, another one for each claim, seed and point, and
    parameters act only in steps of the relative size ``pieces``.
    """

    def simulate(requests: Sequence[Request]) -> list[dict[str, float]]:
        return [{"": _number(laws[request.claim], request, noise, pieces)} for request in requests]

    return simulate


def _number(law: Law, request: Request, noise: float, pieces: float) -> float:
    changes = request.changes.get("theta", {})

    def factor(path: str) -> float:
        log = math.log(float(changes.get(path, THETA.values()[path])) / THETA.values()[path])  # type: ignore[arg-type]
        return math.exp(round(log / pieces) * pieces if pieces else log)

    words = np.frombuffer(request.key.encode(), dtype=np.uint8)
    chance = np.random.default_rng(words).standard_normal()
    return law(factor) * math.exp(noise * chance)
