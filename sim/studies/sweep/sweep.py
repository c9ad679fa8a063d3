"""Sweeps: a scenario for all combinations of values of some of its fields, or for a sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.config.scenario import Scenario, asked_scenario, machine_of
from xc40io.engine.randomness import stream
from xc40io.studies.axes import Axis, Over, axes_of
from xc40io.studies.processes import Failure
from xc40io.studies.simulations import Ended, Progress, Simulations, seeds_of
from xc40io.studies.study_result import KeptStudy
from xc40io.studies.sweep.points import PhaseFigure, PhaseTotal, Point
from xc40io.studies.sweep.sweep_tables import table_of, to_xarray
from xc40io.studies.variation import varied
from xc40io.telling.answer import Table
from xc40io.topology.text import format_count
from xc40io.workloads.catalogue import workload_of

if TYPE_CHECKING:
    import xarray as xr

MOST_RUNS = 1_000_000
"""Of a sweep: more would fill the memory with scenarios before the first one is run."""


@dataclass(frozen=True)
class Sweep(KeptStudy):
    """A finished sweep: what :func:`sweep` returns."""

    scenario: Scenario  # what was varied
    axes: tuple[Axis, ...]  # its fields that were, with their values
    seeds: tuple[int, ...]  # with which each point was run
    points: tuple[Point, ...]  # the last axis varies first; of a sample, as they were drawn
    sampled: bool  # whether the points are a sample, in place of all combinations

    @property
    def phases(self) -> tuple[str, ...]:
        """The names of all phases, in the order in which they first came."""
        return tuple(
            dict.fromkeys(
                name for point in self.points for totals in point.totals for name in totals
            )
        )

    def __repr__(self) -> str:
        """Return a line: over what, and how many points."""
        over = ", ".join(axis.path for axis in self.axes)
        return f"<Sweep over {over}: {self.words}>"

    @cached_property
    def shown(self) -> tuple[PhaseFigure, ...]:
        """What is shown: phases that count items, else those that move bytes, else all."""
        for unit, measure in _MEASURES.items():
            found = [
                PhaseFigure(phase, unit, measure)
                for phase in self.phases
                if any(point.measured(phase, measure) for point in self.points)
            ]
            if found:
                return tuple(found)
        return ()

    @property
    def several(self) -> list[Axis]:
        """The axes that have several values."""
        return [axis for axis in self.axes if len(axis.values) > 1]

    @property
    def words(self) -> str:
        """What was run, in a line: ``36 points, seeds 1 to 5``."""
        points = format_count(len(self.points), "point")
        drawn = "drawn from a Latin hypercube, " if self.sampled else ""
        first, last = self.seeds[0], self.seeds[-1]
        return f"{points}, {drawn}{f'seeds {first} to {last}' if first < last else f'seed {first}'}"

    def failures(self) -> Iterator[tuple[Mapping[str, Any], int, str]]:
        """Yield values and seed of each run that could not be, and why."""
        for point in self.points:
            for seed, ended in zip(self.seeds, point.ended, strict=True):
                if isinstance(ended, Failure):
                    yield point.values, seed, ended.reason

    @property
    def table(self) -> Table:
        """A row for each phase of each run."""
        return table_of(self)

    def to_xarray(self) -> xr.Dataset:
        """Return a dataset with a dimension for each axis, seed and phase: docs/sweep.md.

        Raises
        ------
        FailureError
            If xarray is not installed.
        """
        return to_xarray(self)


def _gigabytes(total: PhaseTotal) -> float | None:
    return None if total.bandwidth is None else total.bandwidth / 1e9


_MEASURES: Mapping[str, Callable[[PhaseTotal], float | None]] = {
    "items/s": lambda total: total.item_rate,
    "GB/s": _gigabytes,
    "s": lambda total: total.seconds,
}


def sweep(
    scenario: Scenario | str | Path,
    over: Over,
    *,
    repeat: int = 1,
    sample: int | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    store: str | Path | None = None,
    progress: Progress | None = None,
    most: int = MOST_RUNS,
    check: Callable[[Scenario], None] | None = None,
) -> Sweep:
    """Run a scenario for all combinations of values.

    Every run that has finished is kept at once, and found again by whatever needs it next: by the
    same sweep after an interrupt, by another one, by a validation.

    Parameters
    ----------
    scenario
        What to run, itself or by its name or path; with its seed, and the ones that follow.
    over
        The values of its fields by path: ``{"striping.count": [1, 8], "ior.b": "1m..8m"}``. What a
        path is says :mod:`xc40io.studies.variation`, and what a text of values
        :mod:`xc40io.studies.axes`.
    repeat
        Seeds for each combination.
    sample
        So many points of a Latin hypercube in place of all combinations: each value of an axis
        comes as often as any other, give or take one. They are drawn by the scenario's seed.
    jobs, scheduler, store, progress
        As :meth:`~xc40io.studies.simulations.Simulations.of_study` takes them.
    most
        Runs that there may be.
    check
        Given the scenario of each combination before any is run; may raise InputError.

    Raises
    ------
    InputError
        If there is no such field, or a value with which nothing can be run: before anything is.
    FailureError
        If the workers of a scheduler have other sources.
    """
    scenario = asked_scenario(scenario)
    axes = axes_of(over)
    if not axes:
        raise InputError("--over is missing; right would be --over PATH=VALUES, once or more")
    seeds = seeds_of(scenario.seed, repeat)
    if sample is not None and sample < 1:
        raise InputError(f"sample = {sample}: right would be 1 or more")
    count = (sample or math.prod(len(axis.values) for axis in axes)) * repeat
    if count > most:
        raise InputError(f"the sweep has {count:,} runs; right would be {most:,} at most")
    combinations = list(_sampled(axes, sample, scenario.seed) if sample else _all_of(axes))
    asked = _scenarios(scenario, axes, combinations)
    if check is not None:
        for made in asked:
            if isinstance(made, Scenario):
                check(made)
    simulations = Simulations.of_study(jobs, store, progress, scheduler)
    ended = iter(simulations.run([made for given in asked for made in _seeded(given, seeds)]))
    points = [
        Point(values, tuple(_outcome(given, ended) for _ in seeds))
        for values, given in zip(combinations, asked, strict=True)
    ]
    return Sweep(
        scenario=scenario,
        axes=axes,
        seeds=seeds,
        points=tuple(points),
        sampled=sample is not None,
        **simulations.counted(),
    )


def _all_of(axes: Sequence[Axis]) -> Iterator[dict[str, Any]]:
    """Yield all combinations of values."""
    for values in product(*(axis.values for axis in axes)):
        yield {axis.path: value for axis, value in zip(axes, values, strict=True)}


def _sampled(axes: Sequence[Axis], count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the points of a Latin hypercube over the values of the axes."""
    columns = [
        stream(seed, "latin hypercube", axis.path).permutation(count) * len(axis.values) // count
        for axis in axes
    ]
    for row in zip(*(column.tolist() for column in columns), strict=True):
        yield {axis.path: axis.values[place] for axis, place in zip(axes, row, strict=True)}


def _seeded(given: Scenario | Failure, seeds: Sequence[int]) -> Iterator[Scenario]:
    """Yield a scenario with each seed; none if it cannot be run."""
    if isinstance(given, Scenario):
        yield from (given.model_copy(update={"seed": seed}) for seed in seeds)


def _outcome(given: Scenario | Failure, ended: Iterator[Ended]) -> Ended:
    return given if isinstance(given, Failure) else next(ended)


def _scenarios(
    scenario: Scenario, axes: Sequence[Axis], combinations: Sequence[Mapping[str, Any]]
) -> list[Scenario | Failure]:
    """Return the scenario of each combination, or why not; refuse a value that none can have."""
    if isinstance(scenario.machine, str):  # read once, not for each
        scenario = scenario.model_copy(update={"machine": load_machine(scenario.machine)})
    made = [_scenario(scenario, values) for values in combinations]
    possible: set[tuple[str, str]] = set()
    reasons: dict[tuple[str, str], str] = {}
    for values, given in zip(combinations, made, strict=True):
        for path, value in values.items():
            if isinstance(given, Failure):
                reasons.setdefault((path, str(value)), given.reason)
            else:
                possible.add((path, str(value)))
    for axis in axes:
        for label in axis.labels:
            pair = (axis.path, label)
            if pair in reasons and pair not in possible:
                raise InputError(f"--over {axis.path}={label}: {reasons[pair]}")
    return made


def _scenario(scenario: Scenario, values: Mapping[str, Any]) -> Scenario | Failure:
    """Return a scenario with new values, or why it cannot be run."""
    try:
        made = varied(scenario, values)
        machine_of(made)
        workload_of(made.workload)
    except InputError as error:
        return Failure(str(error).removeprefix("--over: "))
    return made
