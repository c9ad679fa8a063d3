"""A machine from a dozen measurements: its most probable values, and what they leave unexplained.

The values that a machine file is least sure of, and that the runs hang on, are moved until the
simulated numbers are as probable as they can be (:mod:`xc40io.validation.posterior`): a value moves
as far as its source allows (:mod:`xc40io.validation.value_prior`), and a number is met no better
than the model meets numbers of its kind (:mod:`xc40io.trust.model_error`). Each value is moved to
both sides to find the slopes; a step is simulated, and corrects them (Broyden's rule).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine, load_machine
from xc40io.config.parts.measured_run import RunPlace
from xc40io.engine.types import Floats
from xc40io.trust.how_sure import expected
from xc40io.trust.model_error import model_errors
from xc40io.validation.claim import Claim
from xc40io.validation.claim_trial import subject_of
from xc40io.validation.dependence import may_depend
from xc40io.validation.free_parameter import Changes, FreeParameter
from xc40io.validation.model_error import Rate, metadata_rates_of, rates_of
from xc40io.validation.posterior import Evidence, improbability, posterior
from xc40io.validation.response import Response
from xc40io.validation.sensitivity_page import load_seen
from xc40io.validation.trial import Reading, Simulate, Trials
from xc40io.validation.value_prior import Prior, free_values, structure, together
from xc40io.workloads.traits import METADATA, OWN, SHARED, access_of

BUDGET = 400
"""Runs, with which a dozen measurements can tell what some thirty values do."""

NINE_OF_TEN = 1.645
"""Standard deviations to each side between which nine of ten lie."""

_LEFT = 4  # steps for which runs are kept back
_LONGEST = 1.0  # of the logarithm of a value in one step: beyond it slopes say little
_ENOUGH = 0.05  # of a value's logarithm: a smaller step changes nothing that is told
_UNKNOWN = 1.0  # elasticity of a value that no table of sensitivities has
_CONTRADICTS = 2.58  # standard deviations: one in a hundred by chance
_LEAST = 0.3  # of one that it has: the table knows few claims


class Value(NamedTuple):
    """A value of the machine, before and after."""

    parameter: FreeParameter
    prior: Prior
    after: float
    spread: float  # standard deviation of its logarithm
    seen_by: tuple[str, ...]  # the readings that depend on it

    @property
    def moved(self) -> float:
        """How many times as large it is."""
        return self.after / self.parameter.value


class Number(NamedTuple):
    """A measured number; before, after and left out are simulated over measured."""

    reading: Reading
    before: float
    after: float
    left_out: float  # with all that the other numbers say
    surprise: float  # by how many standard deviations the other numbers contradict it
    reach: float  # by what factor the values could move it, two standard deviations each
    sure: float  # the factor within which nine of ten numbers of its kind lie
    place: RunPlace | None  # where its run lies among others; None where that is no rate


class Belief(NamedTuple):
    """What is known of all values that may be others: after a fit also of those not tried."""

    parameters: tuple[FreeParameter, ...]
    at: Floats  # the most probable values
    prior: Floats  # standard deviations of their logarithms before
    covariance: Floats  # of the same after


def unmeasured(machine: Machine) -> Belief:
    """Return what is known of a machine before anything was measured."""
    free = free_values(machine)
    spreads = np.array([prior.spread for prior in free.values()])
    values = np.array([one.value for one in free])
    return Belief(tuple(free), values, spreads, np.diag(spreads**2))


@dataclass(frozen=True)
class Fit:
    """What came of a fit."""

    machine: Machine
    file: Path
    values: tuple[Value, ...]  # those that were moved, the ones that moved furthest first
    unseen: tuple[str, ...]  # paths that no measurement depends on
    untried: tuple[str, ...]  # paths for which the budget did not reach
    numbers: tuple[Number, ...]
    runs: int
    steps: int
    known: Mapping[str, object]  # values that needed no fit, by path
    belief: Belief

    @property
    def unmet(self) -> tuple[Number, ...]:
        """The numbers that no value within what is plausible can bring about."""
        return tuple(
            one
            for one in self.numbers
            if is_unmet(*map(math.log, (one.before, one.after, one.reach, one.sure)))
        )

    @property
    def contradicted(self) -> tuple[Number, ...]:
        """The numbers of which all others say something else: one in a hundred by chance."""
        return tuple(one for one in self.numbers if abs(one.surprise) > _CONTRADICTS)


def fit(
    file: Path,
    claims: Mapping[str, Claim],
    simulate: Callable[[Mapping[str, Claim]], Simulate],
    *,
    known: Mapping[str, object] | None = None,
    paths: Sequence[str] = (),
    budget: int = BUDGET,
    told: Callable[[str], None] = lambda _: None,
) -> Fit:
    """Fit a machine to measurements.

    Parameters
    ----------
    file
        The machine file.
    claims
        The measurements; their runs are made on this machine, whatever they name.
    simulate
        Returns what simulates claims.
    known
        Values that need no fit, by path.
    paths
        The only values that may be moved; any that the measurements may see unless given.
    budget
        Most runs.
    told
        Told a line at each step.

    Raises
    ------
    InputError
        If nothing can be fitted, or the budget does not reach for one value.
    """
    machine = load_machine(file)
    base: Changes = {machine.name: dict(known or {})} if known else {}
    here = {name: _on(claim, file) for name, claim in claims.items() if _is_fit_for(claim)}
    if not here:
        raise InputError("no claim has a run and a measured number; right would be some that have")
    trials = Trials([subject_of(claim) for claim in here.values()], simulate(here))
    rates = {reading: rate_of(here[reading.claim], reading) for reading in trials.readings}
    every = free_values(machine.with_changes(known or {}), file, known or {})
    free = chosen(every, rates.values(), paths)

    def depends(claim: str, path: str) -> bool:
        return may_depend(here[claim], path)

    each = len(trials.runs_of(""))
    takes = [2 * len(trials.runs_of(one.path, depends)) for one in free]
    left = budget - (_LEFT + 1) * each
    count = sum(1 for all_so_far in accumulate(takes) if all_so_far <= left)
    tried = dict(list(free.items())[:count])
    if not tried:
        raise InputError(
            f"budget = {budget} runs, of which each step takes {each}; right would be "
            f"{(_LEFT + 1) * each + takes[0]} at least"
        )
    response = Response(trials, tried, base, depends)
    search = _Search(trials, response, tried, rates, budget - sum(takes[:count]), told)
    found = search.run()
    return Fit(
        machine=machine,
        file=file,
        values=tuple(sorted(search.values(found), key=lambda one: -abs(math.log(one.moved)))),
        unseen=tuple(one.path for one, sees in zip(tried, found.sees, strict=True) if not sees),
        untried=tuple(parameter.path for parameter in tuple(free)[count:]),
        numbers=tuple(search.numbers(found)),
        runs=trials.runs,
        steps=found.steps,
        known=known or {},
        belief=search.belief(found, {} if paths else every),
    )


def is_unmet(before: float, after: float, reach: float, sure: float) -> bool:
    """Tell whether no plausible value can bring a number about, all in logarithms."""
    return abs(after) > sure and abs(before) > reach + sure / 2.0


def _is_fit_for(claim: Claim) -> bool:
    return bool(claim.runs) and claim.relation is not None and claim.relation.has_values


def _on(claim: Claim, file: Path) -> Claim:
    """Return a claim whose runs are made on a machine."""
    runs = {
        name: scenario.model_copy(update={"machine": str(file)})
        for name, scenario in claim.runs.items()
    }
    return claim.model_copy(update={"runs": runs})


def rate_of(claim: Claim, reading: Reading) -> Rate | None:
    """Return the phase whose rate a reading is; None of a ratio or a time."""
    rates = (*rates_of(claim), *metadata_rates_of(claim))
    return next((rate for rate in rates if rate.point == reading.run), None)


def chosen(
    free: Mapping[FreeParameter, Prior],
    rates: Iterable[Rate | None],
    paths: Sequence[str] = (),
) -> dict[FreeParameter, Prior]:
    """Return the values that may be moved, those first that the numbers probably hang on most.

    Parameters
    ----------
    free
        All that may be.
    rates
        What is read; None of a ratio or a time.
    paths
        The only ones, if there are some.
    """
    if paths:
        wrong = set(paths) - {parameter.path for parameter in free}
        if wrong:
            raise InputError(
                f"--free {min(wrong)}: the machine has no such rate or time; right would be one of "
                f"{', '.join(sorted(parameter.path for parameter in free))}"
            )
        return {one: prior for one, prior in free.items() if one.path in paths}
    kinds = [rate for rate in rates if rate is not None]
    # A program that does not say whether its calls are collective may make them so.
    collective = any(
        rate.kind != METADATA and rate.traits.sharing not in (OWN, SHARED) for rate in kinds
    )
    where = {rate.traits.where for rate in kinds}
    metadata = any(rate.kind == METADATA for rate in kinds) or not kinds
    unused = {
        "mpi": not collective,
        "burst_buffer": "bb" not in where,
        "ssd": "ssd" not in where,
        "lustre.mds": not metadata,
    }
    known = _elasticities()
    chosen = {
        one: prior
        for one, prior in free.items()
        if not any(away and one.path.startswith(f"{part}.") for part, away in unused.items())
    }
    worth = {
        one: prior.spread * max(known.get(one.path, _UNKNOWN), _LEAST)
        for one, prior in chosen.items()
    }
    return dict(sorted(chosen.items(), key=lambda pair: -worth[pair[0]]))


def _elasticities() -> dict[str, float]:
    """Return the largest elasticity that any claim has of each path, as the table has it."""
    found: dict[str, float] = {}
    for name, seen in load_seen().items():
        path = name.partition(" ")[0]
        largest = max((abs(number) for _, number in seen.best), default=0.0)
        found[path] = max(found.get(path, 0.0), largest)
    return found


class _Found(NamedTuple):
    """Where a search ended."""

    first: Floats  # (readings,): what was simulated before, in logarithms
    now: Floats  # (readings,): and there
    at: Floats  # (values,): by what the values differ, in logarithms
    seen: Floats  # (readings, values): the steepest slopes that were found
    evidence: Evidence  # as seen from there
    steps: int

    @property
    def sees(self) -> list[bool]:
        """Whether any reading depends on each value."""
        return [bool(column.any()) for column in self.seen.T]


class _Search:
    """The search for the most probable values."""

    def __init__(
        self,
        trials: Trials,
        response: Response,
        free: Mapping[FreeParameter, Prior],
        rates: Mapping[Reading, Rate | None],
        enough: int,
        told: Callable[[str], None],
    ) -> None:
        self._trials, self._response, self._free, self._told = trials, response, free, told
        self._enough = enough  # runs, up to which there are some left for slopes once more
        self._rates = [rates[reading] for reading in trials.readings]
        self._measured = np.log([r.measured.base for r in trials.readings if r.measured])
        self._prior = np.array([prior.spread for prior in free.values()])

    def run(self) -> _Found:
        """Find the slopes, go to the most probable values, and return where that is."""
        self._told(f"{len(self._free)} values, {len(self._measured)} numbers")
        at = np.zeros(len(self._free))
        (first,) = self._response.logs([at])
        seen = slopes = self._response.slopes(at, self._prior)
        evidence = Evidence(
            measured=self._measured - first,
            slopes=slopes,
            prior=self._prior,
            model=model_covariance(self._rates, slopes * self._prior),
            noise=np.array([noise_of(reading) for reading in self._trials.readings]),
        )
        now, steps = first, 0
        best = (self._improbability(evidence, at, now), at, now)
        for probed in (True, False):
            while steps < _LEFT:
                move = self._step(evidence, at)
                if np.abs(move).max() < _ENOUGH:
                    break
                (after,) = self._response.logs([at + move])
                # Broyden: the slopes that explain what this step has done, else as they were.
                slopes = slopes + np.outer(after - now - slopes @ move, move) / (move @ move)
                at, now, steps = at + move, after, steps + 1
                evidence = self._from(evidence, at, now, slopes)
                squares = self._improbability(evidence, at, now)
                self._told(f"{self._trials.runs} runs, step {steps}, improbability {squares:.4g}")
                if squares >= best[0]:
                    break
                best = (squares, at, now)
            _, at, now = best
            evidence = self._from(evidence, at, now, slopes)
            if probed and steps and self._trials.runs < self._enough:
                # Where another value binds, those that did have become blind.
                slopes = self._response.slopes(at, posterior(evidence).spread)
                evidence = self._from(evidence, at, now, slopes)
                seen = np.where(np.abs(slopes) > np.abs(seen), slopes, seen)
                steps = min(steps, _LEFT - 2)
        return _Found(first, now, at, seen, evidence, steps)

    def _from(self, evidence: Evidence, at: Floats, now: Floats, slopes: Floats) -> Evidence:
        """Return the evidence if the simulated numbers go on from here along the slopes."""
        return evidence._replace(measured=self._measured - now + slopes @ at, slopes=slopes)

    def _step(self, evidence: Evidence, at: Floats) -> Floats:
        """Return the way to the most probable values, no further than slopes say something."""
        wanted = np.clip(posterior(evidence).values, self._response.lower, self._response.upper)
        return np.clip(wanted - at, -_LONGEST, _LONGEST)

    def _improbability(self, evidence: Evidence, at: Floats, now: Floats) -> float:
        """Return how improbable values are, with the numbers that come of them."""
        errors = evidence.model + np.diag(evidence.noise**2)
        off = improbability(self._measured - now, errors)
        return off + float(((at / self._prior) ** 2).sum())

    def values(self, found: _Found) -> Iterator[Value]:
        """Yield the values that some reading depends on."""
        names = [reading.name for reading in self._trials.readings]
        spread = posterior(found.evidence).spread
        for place, (one, prior) in enumerate(self._free.items()):
            sees = found.seen[:, place]
            if sees.any():
                seen_by = tuple(name for name, slope in zip(names, sees, strict=True) if slope)
                after = one.value * math.exp(float(found.at[place]))
                yield Value(one, prior, after, float(spread[place]), seen_by)

    def belief(self, found: _Found, every: Mapping[FreeParameter, Prior]) -> Belief:
        """Return what is known of all values: of those that were not tried no more than before."""
        others = {one: prior for one, prior in every.items() if one not in self._free}
        covariance = np.diag([*self._prior**2, *(prior.spread**2 for prior in others.values())])
        tried = len(self._free)
        covariance[:tried, :tried] = posterior(found.evidence).covariance
        values = [
            one.value * math.exp(float(log)) for one, log in zip(self._free, found.at, strict=True)
        ]
        return Belief(
            (*self._free, *others),
            np.array([*values, *(one.value for one in others)]),
            np.array([*self._prior, *(prior.spread for prior in others.values())]),
            covariance,
        )

    def numbers(self, found: _Found) -> Iterator[Number]:
        """Yield what was measured beside what was simulated."""
        evidence, told = found.evidence, posterior(found.evidence)
        reach = 2.0 * np.sqrt(((found.seen * self._prior) ** 2).sum(axis=1))
        own = NINE_OF_TEN * np.sqrt(np.diag(evidence.model) + evidence.noise**2)
        columns = (
            np.exp(found.first - self._measured),
            np.exp(found.now - self._measured),
            np.exp(told.left_out - evidence.measured),
            told.surprise,
            np.exp(reach),
            np.exp(own),
        )
        rows = zip(self._trials.readings, np.transpose(columns), self._rates, strict=True)
        for reading, row, rate in rows:
            before, after, left_out, surprise, reach, sure = map(float, row)
            place = None if rate is None else rate.place
            yield Number(reading, before, after, left_out, surprise, reach, sure, place)


def model_covariance(rates: Sequence[Rate | None], reach: Floats) -> Floats:
    """Return the covariance of the model's own errors of some numbers.

    What the validation found of a kind has the errors of the machines' values in it, which were no
    surer there: ``reach``, (readings, values), is what one standard deviation of each does.
    """
    found = np.array([_spread(rate) for rate in rates]) / NINE_OF_TEN
    spreads = np.sqrt(np.maximum(found**2 - (reach**2).sum(axis=1), structure() ** 2))
    alike = np.array([[_are_alike(one, other) for other in rates] for one in rates])
    return shared_errors(spreads, alike)


def shared_errors(spreads: Floats, alike: npt.ArrayLike) -> Floats:
    """Return the covariance of errors: those of numbers that are alike have a part in common.

    Parameters
    ----------
    spreads
        Standard deviations: (numbers,).
    alike
        Which are: (numbers, numbers).
    """
    shares = np.where(alike, together(), 0.0)
    np.fill_diagonal(shares, 1.0)
    covariance: Floats = shares * np.outer(spreads, spreads)
    return covariance


def noise_of(reading: Reading) -> float:
    """Return the standard deviation of a measurement, as a logarithm: no surer than 2 %."""
    return max(reading.tolerance, 0.02) / NINE_OF_TEN


def _spread(rate: Rate | None) -> float:
    """Return within what nine of ten numbers of a kind lie, as a logarithm."""
    if rate is None:
        return model_errors().anywhere
    # The machine is one's own: that it was never measured is what is being mended.
    off = expected(rate.scenario, rate.traits, rate.phase)
    return math.hypot(off.center, off.nine_of_ten)


def _are_alike(one: Rate | None, other: Rate | None) -> bool:
    """Tell whether two numbers have part of their error in common: all are of one machine."""
    return one is not None and other is not None and access_of(one.phase) == access_of(other.phase)
