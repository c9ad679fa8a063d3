"""Verdicts: whether what was published of a machine holds in the runs of a claim."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from xc40io.config.errors import InputError, naming
from xc40io.config.machine import load_machine
from xc40io.mpi.communicator import Collectives
from xc40io.studies.processes import Failure
from xc40io.studies.record import RunRecord
from xc40io.studies.simulations import Ended
from xc40io.validation.claim import Claim
from xc40io.validation.error import error_of
from xc40io.validation.free_parameter import Changes
from xc40io.validation.measure import measure
from xc40io.validation.quantity import Quantity
from xc40io.validation.relation import QUANTILES, Relation
from xc40io.validation.trend import trend_complaints


class Verdict(StrEnum):
    """Whether a claim holds."""

    PASS = "pass"
    FAIL = "fail"
    NONE = "no verdict"


@dataclass(frozen=True)
class Point:
    """A measured number beside the simulated one."""

    name: str  # Of the run or the quantile, for a claim with several numbers; otherwise empty.
    measured: Quantity  # As its source prints it.
    simulated: float  # In the base unit of the measured one.
    holds: bool  # Whether the two agree within the tolerance.
    # Whether it counts in medians and the score (:meth:`~xc40io.validation.claim.Claim.counts`).
    counts: bool = True

    @property
    def ratio(self) -> float:
        """Simulated over measured."""
        return self.simulated / self.measured.base if self.measured.base else math.inf

    @property
    def error(self) -> float:
        """Return how far the two are apart: ``|ln(simulated / measured)|``."""
        return error_of(self.ratio)


@dataclass(frozen=True)
class Outcome:
    """What came of a claim."""

    claim: Claim  # The claim.
    verdict: Verdict  # Whether it holds.
    points: tuple[Point, ...] = ()  # Measured numbers beside simulated ones.
    # The metric by the names of the runs; without a name if it is of several runs together.
    numbers: Mapping[str, float] = field(default_factory=dict)
    stated: str = ""  # Of a parameter that is a word: what the machine file says.
    complaints: tuple[str, ...] = ()  # What does not hold, in words.
    without: str = ""  # Why there is no verdict, if there is none.
    # What is kept of the runs: of each one for every seed.
    records: Mapping[str, tuple[RunRecord, ...]] = field(default_factory=dict, repr=False)

    @property
    def remarks(self) -> list[str]:
        """What one should know of the runs: above all that they were simplified."""
        coarse = {scenario.rpcs_as_one for scenario in self.claim.runs.values()} - {1}
        remarks = [f"{rpcs} bulk RPCs handled as one" for rpcs in sorted(coarse)]
        if self.claim.seeds > 1:
            remarks.append(f"{self.claim.seeds} seeds, {self.claim.statistic}")
        return remarks


Samples = Mapping[str, Sequence[float]]
"""The metric by the names of the runs, for each seed."""


def judge(
    claim: Claim, ended: Mapping[str, Sequence[Ended]], changes: Changes | None = None
) -> Outcome:
    """Return what comes of a claim.

    Parameters
    ----------
    claim
        The claim.
    ended
        What came of its runs, by their names, for each seed; empty for a claim without runs.
    changes
        Of a claim without runs: what is changed of its machine, by the machine's name.

    Raises
    ------
    InputError
        If the metric asks a run for what it does not have; the message names the claim.
    """
    if claim.not_expressed:
        return Outcome(claim, Verdict.NONE, without=claim.not_expressed)
    with naming(f"claim {claim.id}"):
        if claim.machine is not None:
            return _judge_machine(claim, claim.machine, changes or {})
        return _judge_runs(claim, ended)


def not_run(claim: Claim) -> Outcome:
    """Return what comes of a claim that is left out because it takes long."""
    return Outcome(claim, Verdict.NONE, without="takes long: runs with --full")


def _judge_runs(claim: Claim, ended: Mapping[str, Sequence[Ended]]) -> Outcome:
    """Judge a claim by its runs."""
    failures = {
        f"run {run} did not end: {one.reason}": None
        for run, ends in ended.items()
        for one in ends
        if isinstance(one, Failure)
    }
    if failures:
        return Outcome(claim, Verdict.FAIL, complaints=tuple(failures))
    records = {
        run: tuple(one for one in ends if isinstance(one, RunRecord)) for run, ends in ended.items()
    }
    return _judge_samples(claim, _samples(claim, records), records)


def _judge_samples(
    claim: Claim, samples: Samples, records: Mapping[str, tuple[RunRecord, ...]]
) -> Outcome:
    """Judge a claim by what its metric is for each seed."""
    relation = claim.relation
    assert relation is not None
    numbers = {run: _STATISTICS[claim.statistic](values) for run, values in samples.items()}
    points = tuple(_points(claim, relation, numbers, samples))
    complaints = [_disagreement(point) for point in points if not point.holds]
    complaints += _bounds(relation, numbers)
    if relation.is_trend:
        complaints += trend_complaints(relation, claim.curves, numbers)
    return Outcome(
        claim=claim,
        verdict=_verdict(claim, complaints),
        points=points,
        numbers=numbers,
        complaints=tuple(complaints),
        without=claim.unjudged,
        records=records,
    )


def _verdict(claim: Claim, complaints: Sequence[str]) -> Verdict:
    if claim.unjudged:
        return Verdict.NONE
    return Verdict.FAIL if complaints else Verdict.PASS


def _samples(claim: Claim, records: Mapping[str, Sequence[RunRecord]]) -> dict[str, list[float]]:
    """Return the metric of each run, or of all together, for each seed."""
    metric = claim.metric
    assert metric is not None

    def value(each: str, seed: int) -> float:
        def look(function: str, run: str, words: tuple[str, ...]) -> float:
            return measure(records[run][seed], function, words)

        return metric.value(look, each)

    names = claim.names if metric.of_each else ("",)
    return {name: [value(name, seed) for seed in range(claim.seeds)] for name in names}


def _variation(values: Sequence[float]) -> float:
    return float(np.std(values) / np.mean(values))


_STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {
    "median": statistics.median,
    "mean": statistics.fmean,
    "largest": max,
    "smallest": min,
    "variation": _variation,
}


def _points(
    claim: Claim, relation: Relation, numbers: Mapping[str, float], samples: Samples
) -> list[Point]:
    """Return the measured numbers beside the simulated ones."""
    tolerance = relation.tolerance or 0.0
    single = relation.value or relation.ratio
    if single is not None:
        counts = claim.counts("")
        return [_point("", single, next(iter(numbers.values())), tolerance, counts=counts)]
    if relation.values is not None:
        return [
            _point(run, measured, numbers[run], tolerance, counts=claim.counts(run))
            for run, measured in relation.values.items()
        ]
    if relation.quantiles is None:
        return []
    values = next(iter(samples.values()))
    return [
        _point(
            name,
            measured,
            float(np.quantile(values, QUANTILES[name])),
            relation.quantiles.tolerance,
            counts=claim.counts(name),
        )
        for name, measured in relation.quantiles.measured().items()
    ]


def _point(
    name: str, measured: Quantity, simulated: float, tolerance: float, *, counts: bool = True
) -> Point:
    holds = abs(simulated - measured.base) <= tolerance * measured.base * (1 + _EXACT)
    return Point(name, measured, simulated, holds, counts)


_EXACT = 1e-9  # what rounding may make of numbers that are the same


def _disagreement(point: Point) -> str:
    place = f"{point.name}: " if point.name else ""
    simulated = point.measured.show(point.simulated)
    return f"{place}{simulated} simulated, {point.measured} measured"


def _bounds(relation: Relation, numbers: Mapping[str, float]) -> list[str]:
    """Return what is beyond the bounds."""
    complaints = []
    for run, number in numbers.items():
        place = f"{run}: " if run else ""
        most, least = relation.at_most, relation.at_least
        if most is not None and number > most.base:
            complaints.append(f"{place}{most.show(number)} is more than {most}")
        if least is not None and number < least.base:
            complaints.append(f"{place}{least.show(number)} is less than {least}")
    return complaints


def _judge_machine(claim: Claim, name: str, changes: Changes) -> Outcome:
    """Judge a claim by what the machine file says, without a run."""
    try:
        machine = load_machine(name)
        changed = changes.get(machine.name)
        machine = machine.with_changes(changed) if changed else machine
    except InputError as error:
        return Outcome(claim, Verdict.FAIL, complaints=(str(error),))
    if claim.parameter is not None:
        return _judge_parameter(claim, claim.parameter.of(machine))
    metric = claim.metric
    assert metric is not None

    def look(function: str, nodes: str, words: tuple[str, ...]) -> float:
        return measure(Collectives(machine.mpi, int(nodes), int(nodes)), function, words)

    samples = {nodes: [metric.value(look, nodes)] for nodes in claim.names}
    return _judge_samples(claim, samples, {})


def _judge_parameter(claim: Claim, found: Quantity | str | bool) -> Outcome:
    """Compare a row that is itself a parameter with the machine's."""
    relation, parameter = claim.relation, claim.parameter
    assert relation is not None
    assert parameter is not None
    if relation.equals is not None:
        met = relation.equals == (found.base if isinstance(found, Quantity) else found)
        complaints = () if met else (f"{parameter.text} = {found}",)
        verdict = _verdict(claim, complaints)
        stated = str(found).lower()
        return Outcome(claim, verdict, stated=stated, complaints=complaints, without=claim.unjudged)
    if not isinstance(found, Quantity):
        raise InputError(f"{parameter.text} = {found!r} is not a number; right would be equals")
    try:
        relation.check(found.dimension)
    except ValueError as error:
        raise InputError(f"relation: {error}") from error
    return _judge_samples(claim, {"": [found.base]}, {})
