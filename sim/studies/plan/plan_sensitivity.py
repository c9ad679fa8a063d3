"""How much the throughput of a mix depends on each value of the hardware.

First by Morris' method of elementary effects (Technometrics 33, 1991), which needs few runs and
tells what matters at all; then by Sobol's indices (Saltelli et al., Computer Physics Communications
181, 2010) for the few that do, which share out the variance. Both are SALib's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.extras import need
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario, check_job
from xc40io.config.workload_mix import WorkloadMix
from xc40io.engine.types import Floats
from xc40io.studies.plan.hardware import all_hardware, is_count, scaled
from xc40io.studies.plan.mix_runs import Setting, jobs_of_weights, mix_title, run_mix, throughput
from xc40io.studies.processes import Failure
from xc40io.studies.simulations import Progress, Simulations
from xc40io.studies.study_result import KeptStudy
from xc40io.telling.answer import Column, Table
from xc40io.telling.units import ANY, FACTOR, RATE, WORDS
from xc40io.topology.text import format_count

WIDTH = 0.5
"""Part of a value by which it goes up and down, unless a range is given."""

RUNS = 600
"""The most runs for Morris' method, of all jobs together, unless given."""

_LEVELS = 4
_FEW = 6
"""Values of the hardware that may share out the variance at most."""

_MATTERS = 0.05
"""Of the largest effect: what has less is left out of Sobol's indices."""

_STEPS = (0.5, 0.7, 0.9, 1.1, 1.3)
"""How far a bound moves inward, beyond a half of the width, where a job cannot run at it."""


class Range(NamedTuple):
    """A value of the hardware that is varied."""

    path: str  # of the value
    # low, high: in the units of the machine: bytes/s, seconds, counts
    low: float
    high: float


class Effect(NamedTuple):
    """What one value does to the throughput of the mix, over its range."""

    range: Range  # the value, and between which bounds
    mean: float  # Morris' mu, bytes/s: more than 0 where more of it makes the mix faster
    size: float  # Morris' mu*, bytes/s: the mean of the absolute effects
    spread: float  # Morris' sigma, bytes/s: large where it depends on other values how much it does
    error: float  # half of the 95 % interval of the size, by resampling; bytes/s


class Share(NamedTuple):
    """Which part of the variance of the throughput a value has."""

    path: str  # of the value
    # first, first_error: by itself, 0 to 1, and half of its 95 % interval
    first: float
    first_error: float
    # total, total_error: the same with all that it does together with others
    total: float
    total_error: float


@dataclass(frozen=True)
class MixSensitivity(KeptStudy):
    """What :func:`sensitivity` returns."""

    mix: WorkloadMix  # the jobs, with their weights
    rate: float  # bytes/s of the mix on the machine as it is
    effects: tuple[Effect, ...]  # the largest first
    shares: tuple[Share, ...]  # of the few that matter; none if nobody asked
    trajectories: int  # of Morris
    samples: int  # of Sobol

    def __repr__(self) -> str:
        """Return a line: of which mix, and to how many values."""
        count = format_count(len(self.effects), "value")
        return f"<MixSensitivity of {mix_title(self.mix)!r} to {count}>"

    @property
    def table(self) -> Table:
        """A row for each value: bytes/s, and parts of the variance where they are known."""
        shares = {share.path: share for share in self.shares}
        nothing = dict.fromkeys(Share._fields)
        columns = (
            Column("path", WORDS),
            *(Column(name, ANY) for name in Range._fields[1:]),
            *(Column(name, RATE) for name in Effect._fields[1:]),
            *(Column(name, FACTOR) for name in Share._fields[1:] if shares),
        )

        def row(effect: Effect) -> dict[str, Any]:
            share = shares.get(effect.range.path)
            told = effect._asdict() | (nothing if share is None else share._asdict())
            return told | effect.range._asdict()

        return Table(columns, lambda: list(map(row, self.effects)))


def sensitivity(
    mix: WorkloadMix,
    paths: Sequence[str] = (),
    *,
    ranges: Mapping[str, tuple[Any, Any]] | None = None,
    width: float = WIDTH,
    runs: int = RUNS,
    sobol: int = 0,
    jobs: int | None = None,
    scheduler: str | None = None,
    store: str | Path | None = None,
    progress: Progress | None = None,
) -> MixSensitivity:
    """Measure how much the throughput of a mix depends on each value of the hardware.

    Parameters
    ----------
    mix
        As :func:`~xc40io.config.workload_mix.load_mix` returns it.
    paths
        The values; all of the hardware unless given.
    ranges
        The least and the most of some values, as a machine file would have them.
    width
        Part by which the others go up and down, more than 0 and less than 1. Of a count the nearest
        ones that there can be are taken, and a bound at which a job cannot run moves inward.
    runs
        The most runs for Morris' method, of all jobs together. It makes as many trajectories as
        these allow, at least two.
    sobol
        Samples of Sobol's indices, a power of 2; 0 for none. Of so many and n values it takes
        samples x (n + 2) runs of each job.
    jobs, scheduler, store, progress
        As for :func:`~xc40io.studies.plan.plan`.

    Raises
    ------
    InputError
        If there is no such value, or too few runs.
    FailureError
        If SALib is not installed.
    """
    _check_samples(sobol)
    _salib()
    simulations = Simulations.of_study(jobs, store, progress, scheduler)
    varied = _ranges(mix, paths, ranges or {}, width)
    trajectories = _trajectories(runs, len(varied), len(mix.jobs))
    points = 1 + trajectories * (len(varied) + 1) + sobol * (_FEW + 2)
    simulations.expect(len(mix.jobs) * points)
    study = _Study(mix, simulations)
    effects = study.morris(varied, trajectories)
    few = [
        effect.range for effect in effects[:_FEW] if effect.size >= _MATTERS * effects[0].size > 0.0
    ]
    shares = study.sobol(few, sobol) if sobol and few else ()
    return MixSensitivity(
        mix, study.rate, effects, shares, trajectories, sobol, **simulations.counted()
    )


class _Study:
    """Runs a mix at points of a space of values."""

    def __init__(self, mix: WorkloadMix, simulations: Simulations) -> None:
        self._mix, self._simulations = mix, simulations
        (present,) = run_mix(mix, [Setting(mix.machine)], [mix.seed], simulations)
        if isinstance(present, Failure):
            raise InputError(f"on the machine as it is: {present.reason}")
        self._counts = jobs_of_weights(mix, present)
        self.rate = throughput(self._counts, present)

    def morris(self, varied: Sequence[Range], trajectories: int) -> tuple[Effect, ...]:
        """Return the effects of values, the largest first."""
        analyze, sample = _salib().morris
        problem, seed = _problem(varied), self._mix.seed
        points = sample(problem, trajectories, num_levels=_LEVELS, seed=seed)
        rates = self._rates(varied, points)
        found = analyze(problem, points, rates, num_levels=_LEVELS, seed=seed)
        effects = [
            Effect(
                one,
                mean=float(found["mu"][place]),
                size=float(found["mu_star"][place]),
                spread=float(found["sigma"][place]),
                error=float(found["mu_star_conf"][place]),
            )
            for place, one in enumerate(varied)
        ]
        return tuple(sorted(effects, key=lambda effect: -effect.size))

    def sobol(self, varied: Sequence[Range], samples: int) -> tuple[Share, ...]:
        """Return each value's share of the variance, the largest first."""
        analyze, sample = _salib().sobol
        problem, seed = _problem(varied), self._mix.seed
        points = sample(problem, samples, calc_second_order=False, seed=seed)
        rates = self._rates(varied, points)
        found = analyze(problem, rates, calc_second_order=False, seed=seed)
        names = ("S1", "S1_conf", "ST", "ST_conf")
        shares = [
            Share(one.path, *(float(found[name][i]) for name in names))
            for i, one in enumerate(varied)
        ]
        return tuple(sorted(shares, key=lambda share: -share.total))

    def _rates(self, varied: Sequence[Range], points: Floats) -> Floats:
        """Return bytes/s of the mix at points of the unit cube: float64 (points,)."""
        machine = self._mix.machine
        settings = []
        for point in points:
            changes = {
                one.path: _value(one, float(part), machine)
                for one, part in zip(varied, point, strict=True)
            }
            settings.append(Setting(machine.with_changes(changes)))
        outcomes = run_mix(self._mix, settings, [self._mix.seed], self._simulations)
        failed = next((one for one in outcomes if isinstance(one, Failure)), None)
        if failed is not None:
            raise InputError(f"--sensitivity: {failed.reason}; right would be narrower ranges")
        return np.array(
            [throughput(self._counts, runs) for runs in outcomes if isinstance(runs, tuple)]
        )


def _problem(varied: Sequence[Range]) -> dict[str, Any]:
    """Describe the unit cube to SALib."""
    return {
        "num_vars": len(varied),
        "names": [one.path for one in varied],
        "bounds": [[0.0, 1.0]] * len(varied),
    }


def _value(one: Range, part: float, machine: Machine) -> Any:
    """Return a value of a range, 0 its least and 1 its most; of a count the nearest one."""
    value = one.low + part * (one.high - one.low)
    if not is_count(one.path, machine):
        return round(value) if type(machine.values()[one.path]) is int else value
    now: int = machine.values()[one.path]
    return scaled(one.path, value / now, machine)


def _ranges(
    mix: WorkloadMix, paths: Sequence[str], given: Mapping[str, tuple[Any, Any]], width: float
) -> list[Range]:
    """Return the bounds within which each value is varied."""
    if not 0.0 < width < 1.0:
        raise InputError(f"--range {width}: right would be a part of the value, as in 30%")
    known = all_hardware(mix)
    chosen = list(dict.fromkeys([*(paths or known), *given]))
    values = mix.machine.values()
    for path in chosen:
        if path not in values or type(values[path]) not in (int, float):
            raise InputError(
                f"--sensitivity: {path} is not a number of {mix.machine.name}; right would be some "
                f"of {', '.join(known)}"
            )
    found = [
        _given(path, given[path], mix.machine) if path in given else _around(mix, path, width)
        for path in chosen
    ]
    return [one for one in found if one.low < one.high]


def _given(path: str, bounds: tuple[Any, Any], machine: Machine) -> Range:
    """Return the range that was asked for."""
    low, high = (machine.with_changes({path: bound}).values()[path] for bound in bounds)
    if not low < high:
        raise InputError(
            f"--range {path}={bounds[0]}:{bounds[1]}: right would be a smaller number and a larger"
        )
    return Range(path, low, high)


def _around(mix: WorkloadMix, path: str, width: float) -> Range:
    """Return a range around the value of a machine, in which all jobs can run."""

    def possible(factor: float) -> bool:
        try:
            machine = mix.machine.with_changes({path: scaled(path, factor, mix.machine)})
            for job in mix.jobs:
                run = job.on(machine)
                if isinstance(run, Scenario):
                    check_job(run, machine)
        except InputError:
            return False
        return True

    now = float(mix.machine.values()[path])
    sides = []
    for sign in (-1.0, 1.0):
        steps = [1.0 + sign * width * (1.5 - step) for step in _STEPS]
        factor = next((each for each in steps if possible(each)), 1.0)
        sides.append(float(scaled(path, factor, mix.machine)))
    return Range(path, min(sides[0], now), max(sides[1], now))


def _trajectories(runs: int, values: int, jobs: int) -> int:
    """Return the number of trajectories that ``runs`` allow; raise InputError if fewer than two."""
    each = (values + 1) * jobs
    if runs < 2 * each:
        raise InputError(
            f"--runs {runs}: a trajectory through {values} values takes {each} runs, {values + 1} "
            f"of each job, and there have to be two; right would be {2 * each} or more, or fewer "
            "values"
        )
    return runs // each


def _check_samples(samples: int) -> None:
    if samples < 0 or samples & (samples - 1):
        raise InputError(f"--sobol {samples}: right would be a power of 2, as 16")


class _Salib(NamedTuple):
    """The functions of SALib that are used, to analyze and to sample, by method."""

    morris: tuple[Any, Any]
    sobol: tuple[Any, Any]


def _salib() -> _Salib:
    """Return the functions of SALib that are used; raise FailureError if it is not installed."""
    need("plan", "--sensitivity")
    from SALib.analyze import morris as morris_analysis
    from SALib.analyze import sobol as sobol_analysis
    from SALib.sample import morris as morris_sample
    from SALib.sample import sobol as sobol_sample

    return _Salib(
        (morris_analysis.analyze, morris_sample.sample),
        (sobol_analysis.analyze, sobol_sample.sample),
    )
