"""What to measure next: the run that narrows most what is asked, by expected information.

After a fit the logarithms of a machine's values have a covariance ``C``. A run whose numbers have
the slopes ``g``, and errors of their own with the covariance ``S``, takes from the variance
``h'Ch`` of a target with the slopes ``h`` as much as ``h'Cg (S + g'Cg)^-1 g'Ch``, whatever it will
show: the expected information, if errors are Gaussian. Slopes are simulated to the slower side of
each value, where it binds if it ever does.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import BeforeValidator

from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError, nearest
from xc40io.config.files import read_mapping
from xc40io.config.machine import Machine
from xc40io.config.model import Model, checked
from xc40io.config.scenario import Scenario
from xc40io.engine.types import Floats
from xc40io.studies.record import RunRecord
from xc40io.studies.simulations import Ended
from xc40io.validation.fit import NINE_OF_TEN, Belief, chosen, model_covariance
from xc40io.validation.measure import measure
from xc40io.validation.metric import Metric, parse_metric
from xc40io.validation.model_error import Rate
from xc40io.validation.response import WIDTHS
from xc40io.validation.sensitivity import BLIND
from xc40io.validation.value_prior import Prior
from xc40io.workloads.job_script.start_line import start_line

FILE = Path(__file__).resolve().parent / "next_runs.yaml"

NODE_HOURS = 10.0
"""Of the real machine, that a run may take."""

BUDGET = 300
"""Runs to simulate."""

_NOISE = 0.03  # standard deviation of what the repetitions of a run measure
_MOST_BUSY = 128  # nodes
_LASTS = 120.0  # seconds of all repetitions, if their number allows
_REPETITIONS = (3, 10)
_SHOWN = 3
_FEWEST = 4  # values that each run is tried with, if there are so many
_NARROWS = 0.05  # of a value's variance, from which on it is named

Run = Callable[[Sequence[Scenario]], Sequence[Ended]]


class NextRun(NamedTuple):
    """What a measurement would bring."""

    command: str  # a line that starts it
    stripes: int  # OSTs of each file, -1 for all; 0 for the default of the machine
    nodes: int
    minutes: float
    narrowed: float  # part of the variance of what is asked that it takes away
    most: tuple[str, ...]  # paths of the values that it narrows, the most first

    @property
    def node_hours(self) -> float:
        """Of the real machine."""
        return self.nodes * self.minutes / 60.0


@dataclass(frozen=True)
class Advice:
    """The runs that are worth most, the first one first."""

    asked: str  # for what
    factor: float  # within which nine of ten lie now, of what is asked
    runs: tuple[NextRun, ...]
    simulated: int  # runs that it took
    missing: int = 0  # runs of the budget without which nothing can be told


def expected_loss(covariance: Floats, slopes: Floats, errors: Floats, targets: Floats) -> Floats:
    """Return by how much the variance of each target falls when a run is measured.

    Parameters
    ----------
    covariance
        Of the values: (values, values).
    slopes, errors
        Of the numbers of the run by the values, (numbers, values); the covariance of their errors.
    targets
        Slopes of what is asked by the values, (targets, values).
    """
    seen = slopes @ covariance
    shared = seen @ targets.T
    loss: Floats = (shared * np.linalg.solve(seen @ slopes.T + errors, shared)).sum(axis=0)
    return loss


class Target(NamedTuple):
    """What is asked: a number that follows from simulated runs."""

    name: str
    runs: int  # that it takes
    # Returns its logarithm with other values of the machine, by their paths; NaN if a run fails.
    logs: Callable[[Sequence[Mapping[str, float]]], Floats]


def time_of(scenario: Scenario, machine: Machine, run: Run) -> Target:
    """Return the time of a job on a machine as what is asked.

    Raises
    ------
    InputError
        If it does not run there.
    """

    def logs(points: Sequence[Mapping[str, float]]) -> Floats:
        ended = run([_with(scenario, machine, changes) for changes in points])
        if not isinstance(ended[0], RunRecord):
            raise InputError(f"what is asked does not run: {ended[0].reason}")
        times = [one.simulated if isinstance(one, RunRecord) else math.nan for one in ended]
        found: Floats = np.log(np.array(times))
        return found

    return Target("the job", 1, logs)


def _with(scenario: Scenario, machine: Machine, changes: Mapping[str, float]) -> Scenario:
    """Return a run on a machine with other values; what it changes itself stays so."""
    update = {"machine": machine, "changes": {**changes, **scenario.changes}}
    return scenario.model_copy(update=update)


def advise(
    machine: Machine,
    belief: Belief,
    run: Run,
    *,
    budget: int | None = None,
    asked: str | Target | None = None,
    node_hours: float = NODE_HOURS,
) -> Advice:
    """Return what to measure next.

    Parameters
    ----------
    machine
        On which it is.
    belief
        What is known of its values.
    run
        What simulates scenarios.
    budget
        Most runs to simulate; :data:`BUDGET` unless given.
    asked
        The path of a value, or a number; all values unless given.
    node_hours
        Of the real machine, that a run may take.

    Raises
    ------
    InputError
        If the value is none that may be another, or what is asked does not run.
    """
    budget = BUDGET if budget is None else budget
    search = _Search(machine, belief, run)
    targets = np.eye(len(search.paths))
    if isinstance(asked, str):
        if asked not in search.paths:
            hint = nearest(asked, search.paths)
            raise InputError(f"{asked!r} is no value that the measurements may move{hint}")
        targets = targets[[search.paths.index(asked)]]
    target = asked if isinstance(asked, Target) else None
    name = asked if isinstance(asked, str) else target.name if target else "all values"
    own = target.runs if target else 0
    jobs = list(_jobs(machine))
    if (missing := (1 + _FEWEST) * (len(jobs) + own) - budget) > 0:
        return Advice(name, math.inf, (), 0, missing)
    tried = [one for one in search.tried(jobs) if one.line.node_hours <= node_hours]
    each = (budget - search.simulated - own) // max(len(tried) + own, 1)
    if target:
        targets = search.slopes_of(target, each)
    before = float(_variances(belief.covariance, targets).mean())
    worth = [
        one.line._replace(**search.worth(one.job, slopes, targets))
        for one, slopes in zip(tried, search.slopes(tried, each), strict=True)
    ]
    worth.sort(key=lambda one: -one.narrowed)
    return Advice(
        asked=name,
        factor=math.exp(NINE_OF_TEN * math.sqrt(before)),
        runs=tuple(one for one in worth if one.narrowed > 0.0)[:_SHOWN],
        simulated=search.simulated,
    )


class _Entry(Model):
    """A run as the file holds it."""

    nodes: int | Literal["busy"]
    ppn: int | Literal["cores"]
    stripes: int = 0
    workload: Workload
    tells: Annotated[tuple[str, ...], BeforeValidator(tuple)]


class _Job(NamedTuple):
    """A run, and what is read of it."""

    scenario: Scenario
    metrics: tuple[Metric, ...]

    def logs(self, record: RunRecord) -> Floats:
        """Return the logarithms of what is read."""
        read = [
            one.value(lambda name, _, words: measure(record, name, words)) for one in self.metrics
        ]
        logs: Floats = np.log(read)
        return logs

    @property
    def rates(self) -> list[Rate]:
        """The rates that are read, with their phases."""
        calls = [call for one in self.metrics for call in one.expression.calls]
        return [Rate("", "", self.scenario, " ".join(words) or name) for name, (_, *words) in calls]


class _Tried(NamedTuple):
    """A run that was simulated."""

    job: _Job
    record: RunRecord
    line: NextRun


def _jobs(machine: Machine) -> Iterator[_Job]:
    """Yield the runs of the table on a machine."""
    for number, content in enumerate(read_mapping(FILE)["runs"], start=1):
        entry = checked(_Entry, content, f"{FILE}: run {number}")
        nodes = _busy_nodes(machine) if entry.nodes == "busy" else entry.nodes
        if nodes <= machine.nodes.count:
            scenario = Scenario(
                machine=machine,
                nodes=nodes,
                ppn=machine.nodes.cores if entry.ppn == "cores" else entry.ppn,
                striping={"count": entry.stripes} if entry.stripes else {},
                workload=entry.workload,
            )
            yield _Job(scenario, tuple(map(parse_metric, entry.tells)))


def _busy_nodes(machine: Machine) -> int:
    """Return how many nodes keep all OSTs busy, a power of two; no more than are simulated soon."""
    lustre, nodes = machine.lustre, machine.nodes
    wanted = lustre.osts * lustre.ost_write_rate / nodes.node_copy_rate
    most = min(_MOST_BUSY, nodes.count)
    return int(min(2 ** math.ceil(math.log2(max(wanted, 2.0))), 2 ** math.floor(math.log2(most))))


def _line(machine: Machine, scenario: Scenario, record: RunRecord) -> NextRun:
    """Return the line of a run, repeated so that it lasts, and what it takes."""
    seconds = max(record.simulated, 1e-3)
    repetitions = int(np.clip(math.ceil(_LASTS / seconds), *_REPETITIONS))
    words = [*shlex.split(scenario.workload.command), "-i", str(repetitions)]
    return NextRun(
        command=start_line(machine, scenario.nodes, scenario.ppn, words),
        stripes=scenario.striping.count or 0,
        nodes=scenario.nodes,
        minutes=max(repetitions * seconds / 60.0, 1.0),
        narrowed=0.0,
        most=(),
    )


def _variances(covariance: Floats, targets: Floats) -> Floats:
    variances: Floats = ((targets @ covariance) * targets).sum(axis=1)
    return variances


class _Search:
    """Slopes of runs around the most probable values."""

    def __init__(self, machine: Machine, belief: Belief, run: Run) -> None:
        self._machine, self._run, self._belief = machine, run, belief
        self._spread = np.sqrt(np.diag(belief.covariance))
        self._values = [float(value) for value in belief.at]
        self.paths = [one.path for one in belief.parameters]
        self.simulated = 0

    def tried(self, jobs: Sequence[_Job]) -> list[_Tried]:
        """Simulate runs, and return those that end."""
        self.simulated += len(jobs)
        ended = self._run([_with(job.scenario, self._machine, self._point()) for job in jobs])
        return [
            _Tried(job, record, _line(self._machine, job.scenario, record))
            for job, record in zip(jobs, ended, strict=True)
            if isinstance(record, RunRecord)
        ]

    def slopes(self, tried: Sequence[_Tried], each: int) -> list[Floats]:
        """Return the slopes of what is read, by the values that each run hangs on most."""
        moves = [
            (n, *move) for n, one in enumerate(tried) for move in self._moves(one.job.rates, each)
        ]
        self.simulated += len(moves)
        ended = self._run(
            [
                _with(tried[n].job.scenario, self._machine, self._point(place, step))
                for n, place, step in moves
            ]
        )
        found = [np.zeros((len(one.job.metrics), len(self.paths))) for one in tried]
        for (n, place, step), record in zip(moves, ended, strict=True):
            if isinstance(record, RunRecord):
                job, before = tried[n].job, tried[n].record
                found[n][:, place] = _seen((job.logs(record) - job.logs(before)) / step)
        return found

    def slopes_of(self, target: Target, each: int) -> Floats:
        """Return the slopes of what is asked: (1, values)."""
        moves = list(self._moves((), each))
        self.simulated += target.runs * (1 + len(moves))
        logs = target.logs([self._point(), *(self._point(*move) for move in moves)])
        found = np.zeros((1, len(self.paths)))
        for (place, step), log in zip(moves, logs[1:], strict=True):
            found[:, place] = _seen(np.array([(log - logs[0]) / step]))
        return found

    def worth(self, job: _Job, slopes: Floats, targets: Floats) -> dict[str, Any]:
        """Return by how much a run narrows what is asked, and which values most."""
        covariance = self._belief.covariance
        noise = _NOISE**2 * np.eye(len(slopes))
        errors = model_covariance(job.rates, slopes * self._belief.prior) + noise
        asked = float(_variances(covariance, targets).sum())
        loss = float(expected_loss(covariance, slopes, errors, targets).sum())
        own = expected_loss(covariance, slopes, errors, np.eye(len(self.paths))) / self._spread**2
        most = [int(n) for n in np.argsort(-own) if own[n] > _NARROWS]
        return {
            "narrowed": loss / asked if asked else 0.0,
            "most": tuple(self.paths[n] for n in most),
        }

    def _point(self, moved: int | None = None, step: float = 0.0) -> dict[str, float]:
        """Return the values that are others than the machine has, of which one is moved."""
        values = zip(self._belief.parameters, self._values, strict=True)
        point = {one.path: value for one, value in values if value != one.value}
        if moved is not None:
            point[self.paths[moved]] = self._values[moved] * math.exp(step)
        return point

    def _moves(self, rates: Iterable[Rate | None], most: int) -> Iterator[tuple[int, float]]:
        """Yield the values that rates may hang on, and by how much each is moved: made slower."""
        parameters = self._belief.parameters
        spreads = zip(parameters, self._spread, strict=True)
        for one in list(chosen({one: Prior(float(sd), "") for one, sd in spreads}, rates))[:most]:
            place = parameters.index(one)
            width, value = float(np.clip(self._spread[place], *WIDTHS)), self._values[place]
            low, high = (
                float(np.clip(side, math.log(one.lower / value), math.log(one.upper / value)))
                for side in (-width, width)
            )
            slower, faster = (low, high) if "/s" in one.show(value) else (high, low)
            if step := slower or faster:
                yield place, step


def _seen(slopes: Floats) -> Floats:
    """Return slopes without those that say nothing."""
    return np.where(np.abs(np.nan_to_num(slopes)) < BLIND, 0.0, np.nan_to_num(slopes))
