"""Calibration: free parameters fitted to the claims with the role calibration, by least squares.

What is made small is the sum of the squares of ``ln(simulated / measured) / tolerance`` over these
claims, each of which counts as much as any other however many numbers it has. Parameters move on a
logarithmic scale and stay within their bounds. A weak pull towards the values in the machine files
keeps in place what no claim determines.

A parameter that no claim sees is left alone: there is nothing to fit it to. So is one that only one
claim sees, unless it is asked for by name: it would be a knob of that claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from xc40io.config.errors import InputError
from xc40io.validation.free_parameter import DIGITS, Changes, FreeParameter, merged, rounded
from xc40io.validation.sensitivity import Sensitivity, measure_sensitivity
from xc40io.validation.trial import BudgetSpentError, Floats, Reading, Simulate, Subject, Trials

STEP = 0.07
"""Relative step to each side for the slopes: wider than the pieces in which a simulation is
constant."""

SEEDS = 3
"""Seeds that each number is averaged over."""

PULL = 0.1
"""Weight of the pull: a parameter at the far end of its bounds counts as much as a claim that is
off by this part of its tolerance."""

_ENOUGH = 1e-3  # relative gain in the sum of squares that is worth another step
_AT_BOUND = 0.01  # distance from a bound, of the logarithm, that counts as none


@dataclass(frozen=True)
class Options:
    """How to fit."""

    # See :data:`SEEDS`, :data:`STEP` and :data:`PULL`.
    seeds: int = SEEDS
    step: float = STEP
    pull: float = PULL
    budget: int | None = None  # Most runs to simulate; without it there is no limit.
    lone_too: bool = False  # Whether to fit parameters that only one claim sees as well.


@dataclass(frozen=True)
class Fit:
    """What became of a parameter."""

    parameter: FreeParameter  # Which one.
    after: float  # Its value on the first of its machines; the one before, if it was not fitted.
    # Standard deviation of the logarithm of the value if the claims are off by their tolerances;
    # infinite if it was not fitted.
    spread: float
    seen_by: tuple[str, ...]  # The claims that see it.
    left: str = ""  # Why it was left alone; empty if it was fitted.

    @property
    def at_bound(self) -> str:
        """``lower`` or ``upper`` if it was fitted and ended there, else empty."""
        if self.left:
            return ""
        for name in ("lower", "upper"):
            if abs(math.log(self.after / getattr(self.parameter, name))) < _AT_BOUND:
                return name
        return ""


@dataclass(frozen=True)
class Calibration:
    """What came of a calibration."""

    fits: tuple[Fit, ...]  # The parameters, in the order in which they were given.
    readings: tuple[Reading, ...]  # What was fitted to.
    # What was read, in base units: geometric means over the seeds.
    before: Floats
    after: Floats
    runs: int  # Runs that it took.
    seeds: int  # Seeds that each number is averaged over.
    ended: str  # Why it ended, a sentence.

    @property
    def fitted(self) -> tuple[Fit, ...]:
        """The parameters that were fitted and have another value than before."""
        return tuple(
            fit
            for fit in self.fits
            if not fit.left and rounded(fit.after, DIGITS) != rounded(fit.parameter.value, DIGITS)
        )


def calibrate(
    parameters: Sequence[FreeParameter],
    subjects: Sequence[Subject],
    simulate: Simulate,
    options: Options | None = None,
    *,
    told: Callable[[str], None] = lambda _: None,
) -> Calibration:
    """Fit parameters to claims.

    Parameters
    ----------
    parameters
        What may be changed.
    subjects
        The claims; every reading has a measured number.
    simulate
        What runs them.
    options
        How.
    told
        Told a line at each step.

    Raises
    ------
    InputError
        If there is nothing to fit, if the budget does not reach to find out what the claims see, or
        if a claim reads what cannot be compared.
    """
    options = options or Options()
    _check(parameters, subjects)
    trials = Trials(subjects, simulate, seeds=options.seeds, budget=options.budget)
    try:
        trials.logs([{}])
        told(f"what the claims see of {len(parameters)} parameters")
        seen = measure_sensitivity(trials, parameters, step=options.step)
    except BudgetSpentError as error:
        raise InputError(
            f"budget = {options.budget} runs is too small to find out what the claims see, which "
            f"takes {error.runs}; right would be some times that"
        ) from None
    left = {parameter: _why_left(seen, parameter, options) for parameter in parameters}
    chosen = [parameter for parameter in parameters if not left[parameter]]
    search = _Search(trials, chosen, options, told)
    ended = search.run() if chosen else "There was nothing to fit."
    fits = tuple(
        Fit(
            parameter,
            search.value(parameter) if not left[parameter] else parameter.value,
            search.spread(parameter) if not left[parameter] else math.inf,
            seen.seen_by(parameter),
            left[parameter],
        )
        for parameter in parameters
    )
    return _outcome(trials, fits, ended, options)


def _check(parameters: Sequence[FreeParameter], subjects: Sequence[Subject]) -> None:
    """Raise InputError unless there is something to fit, and to fit it to."""
    if not parameters or not subjects:
        noun = "parameters" if not parameters else "claims"
        raise InputError(f"there are no {noun} to calibrate with")
    for subject in subjects:
        for reading in subject.readings:
            if reading.measured is None or not reading.measured.base or not reading.tolerance:
                raise InputError(
                    f"claim {reading.name} has no measured value with a tolerance, to which a "
                    "parameter could be fitted"
                )


def _why_left(seen: Sensitivity, parameter: FreeParameter, options: Options) -> str:
    """Return why a parameter is not fitted; nothing if it is."""
    claims = seen.seen_by(parameter)
    if not claims:
        return "no claim sees it"
    if parameter in seen.lone and not options.lone_too:
        return f"only {seen.lone[parameter]} sees it"
    return ""


class _Search:
    """The search for the best values; remembers the best point it has been at."""

    def __init__(
        self,
        trials: Trials,
        parameters: Sequence[FreeParameter],
        options: Options,
        told: Callable[[str], None],
    ) -> None:
        self._trials = trials
        self._parameters = list(parameters)
        self._options = options
        self._told = told
        self._measured = _measured(trials)
        self._weights = _weights(trials)
        self._best = np.zeros(len(self._parameters))  # logarithms of value / value before
        self._least = math.inf
        self._slopes: Floats = np.zeros((0, len(self._parameters)))
        self._widths = np.array([math.log(p.upper / p.lower) for p in self._parameters])

    def run(self) -> str:
        """Search; return why it ended."""
        from scipy.optimize import least_squares

        low = [math.log(parameter.lower / parameter.value) for parameter in self._parameters]
        high = [math.log(parameter.upper / parameter.value) for parameter in self._parameters]
        try:
            # scipy tries its steps one after another; the slopes are simulated all at once.
            found = least_squares(
                self._residuals,
                np.zeros(len(self._parameters)),
                jac=self._slopes_at,
                bounds=(low, high),
                method="trf",
                x_scale=1.0,
                ftol=_ENOUGH,
                xtol=self._options.step / 10,
                gtol=None,
            )
        except BudgetSpentError:
            return f"The budget of {self._options.budget} runs was spent."
        return "Another step would gain nothing." if found.status > 0 else "It took too many steps."

    def value(self, parameter: FreeParameter) -> float:
        """Return the best value, with as many digits as mean anything, within the bounds."""
        value = parameter.value * math.exp(self._best[self._parameters.index(parameter)])
        if abs(math.log(value / parameter.value)) < self._options.step / 10:
            return parameter.value
        return min(max(rounded(value, DIGITS), parameter.lower), parameter.upper)

    def spread(self, parameter: FreeParameter) -> float:
        """Return the standard deviation of the logarithm of a value."""
        covariance = np.linalg.pinv(self._slopes.T @ self._slopes)
        number = self._parameters.index(parameter)
        return math.sqrt(max(float(covariance[number, number]), 0.0))

    def _values(self, point: Floats) -> dict[FreeParameter, float]:
        pairs = zip(self._parameters, point, strict=True)
        return {parameter: parameter.value * math.exp(log) for parameter, log in pairs}

    def _residuals(self, point: Floats) -> Floats:
        """Return by what part of its tolerance each reading is off, and the pull."""
        changes = merged(p.changes(value) for p, value in self._values(point).items())
        logs = self._trials.logs([changes])[0].mean(axis=0)
        off = (logs - self._measured) * self._weights
        residuals = np.concatenate([off, self._options.pull * point / self._widths])
        squares = float(residuals @ residuals)
        if squares < self._least:
            self._least, self._best = squares, point.copy()
        self._told(f"{self._trials.runs} runs, sum of squares {squares:.4g}")
        return residuals

    def _slopes_at(self, point: Floats) -> Floats:
        """Return the slopes of the residuals, by the logarithms of the values."""
        here = measure_sensitivity(
            self._trials, self._parameters, step=self._options.step, at=self._values(point)
        )
        slopes = np.nan_to_num(here.elasticity) * self._weights[:, np.newaxis]
        self._slopes = np.concatenate([slopes, np.diag(self._options.pull / self._widths)])
        return self._slopes


def _measured(trials: Trials) -> Floats:
    """Return the logarithms of what was measured."""
    return np.log([r.measured.base for r in trials.readings if r.measured is not None])


def _weights(trials: Trials) -> Floats:
    """Return what the logarithm of each reading is multiplied by."""
    counts = {subject.claim: len(subject.readings) for subject in trials.subjects}
    return np.array([1.0 / (r.tolerance * math.sqrt(counts[r.claim])) for r in trials.readings])


def _outcome(trials: Trials, fits: Sequence[Fit], ended: str, options: Options) -> Calibration:
    """Return the calibration; if the rounded values are no better, everything stays as it was."""
    changes: Changes = merged(fit.parameter.changes(fit.after) for fit in fits)
    logs = trials.logs([{}, changes], beyond_budget=True).mean(axis=1)
    squares = (((logs - _measured(trials)) * _weights(trials)) ** 2).sum(axis=1)
    if changes and squares[1] >= squares[0]:
        fits = [replace(fit, after=fit.parameter.value) for fit in fits]
        logs[1] = logs[0]
        ended = f"{ended} Nothing was better than the values before."
    return Calibration(
        fits=tuple(fits),
        readings=trials.readings,
        before=np.exp(logs[0]),
        after=np.exp(logs[1]),
        runs=trials.runs,
        seeds=options.seeds,
        ended=ended,
    )
