"""Fitting free parameters anew to some rows, in the logarithms: one step of Gauss and Newton.

Near the values in the machine files a simulated number is a product of powers of the parameters;
the powers are their elasticities. With them a fit by least squares is a system of linear equations
with bounds: no run at all, where :mod:`xc40io.validation.fit` takes many.

The pull goes to the geometric middle of the bounds and not to the present value, which knows of the
rows that are left out. What no row is left to tell of ends there: that is ignorance. It is
strong: a row that hardly sees a parameter and is off for another cause would send it to a bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xc40io.config.extras import need
from xc40io.validation.free_parameter import FreeParameter
from xc40io.validation.sensitivity import BLIND
from xc40io.validation.trial import Floats

PULL = 1.0
"""Weight of the pull: a parameter at a bound counts as much as a row that is off by this part of
its tolerance."""


@dataclass(frozen=True)
class Evidence:
    """Rows to fit to, with what they say of some parameters."""

    off: Floats  # ``ln(simulated / measured)`` with the present values.
    elasticity: Floats  # ``d ln(simulated) / d ln(parameter)``.
    # What each is multiplied by: one over its tolerance, of several numbers of a claim less.
    weight: Floats


def refit(parameters: Sequence[FreeParameter], evidence: Evidence) -> Floats:
    """Return the logarithms of ``value / present value`` that fit the rows best.

    Parameters
    ----------
    parameters
        What may move, within its bounds; a parameter that no row sees goes to the middle of them.
    evidence
        The rows.

    Returns
    -------
    ndarray of float, (parameters,)
    """
    middle = np.array([to_middle(parameter) for parameter in parameters])
    seen = np.flatnonzero((np.abs(evidence.elasticity) >= BLIND).any(axis=0)).tolist()
    if not seen:
        return middle
    chosen = [parameters[number] for number in seen]
    found = middle.copy()
    found[seen] = _solved(chosen, evidence, evidence.elasticity[:, seen], middle[seen])
    return found


def _solved(
    parameters: Sequence[FreeParameter], evidence: Evidence, slopes: Floats, middle: Floats
) -> Floats:
    """Solve the equations of rows and pull within the bounds."""
    need("fit", "fitting the parameters anew")
    from scipy.optimize import lsq_linear

    pull = 2.0 * PULL / np.array([math.log(p.upper / p.lower) for p in parameters])
    matrix = np.concatenate([slopes * evidence.weight[:, np.newaxis], np.diag(pull)])
    right = np.concatenate([-evidence.off * evidence.weight, pull * middle])
    low = [math.log(p.lower / p.value) for p in parameters]
    high = [math.log(p.upper / p.value) for p in parameters]
    # By bounded variables: the answer is exact, and the same on every machine to the last digits.
    solved: Floats = lsq_linear(matrix, right, bounds=(low, high), method="bvls").x
    return np.clip(solved, low, high)


def to_middle(parameter: FreeParameter) -> float:
    """Return the logarithm of the geometric middle of the bounds over the present value."""
    return math.log(math.sqrt(parameter.lower * parameter.upper) / parameter.value)
