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
from collections.abc import Callable, Iterator, Sequence
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
from xc40io.validation.fit import NINE_OF_TEN, WIDTHS, Fit, chosen, model_covariance
from xc40io.validation.measure import measure
from xc40io.validation.metric import Metric, parse_metric
from xc40io.validation.model_error import Rate
from xc40io.validation.sensitivity import BLIND
from xc40io.validation.value_prior import Prior
from xc40io.workloads.job_script.start_line import start_line

FILE = Path(__file__).resolve().parent / "next_runs.yaml"

NODE_HOURS = 10.0
"""Of the real machine, that a run may take."""

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


def advise(
    found: Fit,
    run: Run,
    *,
    budget: int,
    asked: str | Scenario | None = None,
    node_hours: float = NODE_HOURS,
) -> Advice:
    """Return what to measure next.

    Parameters
    ----------
    found
        The fit.
    run
        What simulates scenarios.
    budget
        Most runs to simulate.
    asked
        The path of a value, or a job, of which the time is asked; all values unless given.
    node_hours
        Of the real machine, that a run may take.

    Raises
    ------
    InputError
        If the value is none that may be another, or the job does not run.
    """
    paths = [one.path for one in found.belief.parameters]
    if isinstance(asked, str) and asked not in paths:
        raise InputError(
            f"{asked!r} is no value that the measurements may move{nearest(asked, paths)}"
        )
    search = _Search(found, run, budget)
    target = [_Job(asked, (parse_metric("simulated(it)"),))] if isinstance(asked, Scenario) else []
    all_jobs = [*target, *_jobs(found.machine)]
    name = asked if isinstance(asked, str) else "the job" if target else "all values"
    if (missing := (1 + _FEWEST) * len(all_jobs) - budget) > 0:
        return Advice(name, math.inf, (), 0, missing)
    tried = []
    for job, ended in zip(all_jobs, search.ended([one.scenario for one in all_jobs]), strict=True):
        if isinstance(ended, RunRecord):
            line = _line(found.machine, job.scenario, ended)
            if job in target or line.node_hours <= node_hours:
                tried.append(_Tried(job, ended, line))
        elif job in target:
            raise InputError(f"what is asked does not run: {ended.reason}")
    slopes = search.slopes(tried)
    targets = np.eye(len(paths))
    if isinstance(asked, str):
        targets = targets[[paths.index(asked)]]
    if target:
        _, targets = tried.pop(0), slopes.pop(0)
    before = _variances(found.belief.covariance, targets)
    worth = [
        one.line._replace(**search.worth(one.job, slope, targets))
        for one, slope in zip(tried, slopes, strict=True)
    ]
    worth.sort(key=lambda one: -one.narrowed)
    return Advice(
        asked=name,
        factor=math.exp(NINE_OF_TEN * math.sqrt(before.mean())),
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
    def rates(self) -> list[Rate | None]:
        """The rates that are read, with their phases; None of a time."""
        calls = [call for one in self.metrics for call in one.expression.calls]
        return [
            None if name == "simulated" else Rate("", "", self.scenario, " ".join(words) or name)
            for name, (_, *words) in calls
        ]


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
    """Slopes of runs around the fitted values, simulated as far as the budget reaches."""

    def __init__(self, found: Fit, run: Run, budget: int) -> None:
        self._found, self._run, self._budget = found, run, budget
        self._belief = found.belief
        spread = np.sqrt(np.diag(self._belief.covariance))
        self._spread = dict(zip(self._belief.parameters, map(float, spread), strict=True))
        self._values = dict(zip(self._belief.parameters, map(float, self._belief.at), strict=True))
        self.simulated = 0

    def ended(
        self, scenarios: Sequence[Scenario], moved: Sequence[dict[str, float]] = ()
    ) -> Sequence[Ended]:
        """Simulate runs with the values that were fitted, but for those that are moved."""
        self.simulated += len(scenarios)
        fitted = {one.path: value for one, value in self._values.items() if value != one.value}
        changes = {**self._found.known, **fitted}
        return self._run(
            [
                scenario.model_copy(
                    update={
                        "machine": str(self._found.file),
                        "changes": {**changes, **scenario.changes, **more},
                    }
                )
                for scenario, more in zip(scenarios, moved or [{}] * len(scenarios), strict=True)
            ]
        )

    def slopes(self, tried: Sequence[_Tried]) -> list[Floats]:
        """Return the slopes of what is read by all values; 0 where the budget does not reach."""
        each = (self._budget - self.simulated) // max(len(tried), 1)
        moves = [(run, *move) for run, one in enumerate(tried) for move in self._moves(one, each)]
        parameters = self._belief.parameters
        ended = self.ended(
            [tried[run].job.scenario for run, _, _ in moves],
            [
                {parameters[n].path: self._values[parameters[n]] * math.exp(step)}
                for _, n, step in moves
            ],
        )
        found = [np.zeros((len(one.job.metrics), len(parameters))) for one in tried]
        for (run, n, step), record in zip(moves, ended, strict=True):
            if isinstance(record, RunRecord):
                job, before = tried[run].job, tried[run].record
                slope = (job.logs(record) - job.logs(before)) / step
                found[run][:, n] = np.where(np.abs(slope) < BLIND, 0.0, slope)
        return found

    def _moves(self, tried: _Tried, most: int) -> Iterator[tuple[int, float]]:
        """Yield the values that a run may hang on, and by how much each is moved: made slower."""
        spreads = {one: Prior(spread, "") for one, spread in self._spread.items()}
        for one in list(chosen(spreads, tried.job.rates))[:most]:
            width, value = float(np.clip(self._spread[one], *WIDTHS)), self._values[one]
            sides = [
                float(np.clip(side, math.log(one.lower / value), math.log(one.upper / value)))
                for side in (-width, width)
            ]
            slower, faster = sides if "/s" in one.show(value) else sides[::-1]
            if step := slower or faster:
                yield self._belief.parameters.index(one), step

    def worth(self, job: _Job, slopes: Floats, targets: Floats) -> dict[str, Any]:
        """Return by how much a run narrows what is asked, and which values most."""
        covariance, paths = self._belief.covariance, [one.path for one in self._belief.parameters]
        noise = _NOISE**2 * np.eye(len(slopes))
        errors = model_covariance(job.rates, slopes * self._belief.prior) + noise
        asked = expected_loss(covariance, slopes, errors, targets).sum()
        own = expected_loss(covariance, slopes, errors, np.eye(len(paths))) / np.diag(covariance)
        most = [int(n) for n in np.argsort(-own) if own[n] > _NARROWS]
        return {
            "narrowed": float(asked / _variances(covariance, targets).sum()),
            "most": tuple(paths[n] for n in most),
        }
