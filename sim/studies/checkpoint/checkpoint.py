"""How often to write a checkpoint, and where: the interval that loses least of a job's time.

What a write, its drain and the read of a restart take comes from simulated runs, with the faults
and the other jobs (``background``) of the scenario, and with several seeds. How long the job then
takes, failures and all, comes from many of its lives (:mod:`~xc40io.studies.checkpoint.job_lives`),
in each of which the model is as far off as nine of ten measured runs say.

Beside it stand the formulas of Young (1974) and of Daly (2006) for the best interval, with the
seconds that a checkpoint would take at the peak rate of the target: what is usually asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario, asked_scenario, machine_of
from xc40io.engine.types import Floats
from xc40io.studies.advice.knobs import AS_IT_IS
from xc40io.studies.checkpoint.job_lives import Cost, Failures, lives
from xc40io.studies.checkpoint.ways import TARGETS, Way, as_it_is, check_targets, ways_of
from xc40io.studies.output_period import DAY, MINUTE
from xc40io.studies.processes import Failure
from xc40io.studies.record import RunRecord
from xc40io.studies.simulations import Progress, Simulations, seeds_of
from xc40io.studies.study_result import KeptStudy
from xc40io.telling.answer import Column, Table
from xc40io.telling.units import PART, QUEUE, WORDS
from xc40io.trust.how_sure import WIDTH, Interval
from xc40io.trust.sureness import Sureness
from xc40io.workloads.traits import FLUSH, PARTNER_COPY, access_of

LIVES = 1000
"""Lives that are followed for each interval."""

_MINUTES = (
    *(1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 60, 75, 90),
    *(120, 150, 180, 240, 300, 360, 480),
)
_NEAR = (0.7, 0.8, 0.9, 1.1, 1.25, 1.4)  # times the best of these, which are tried as well
_SHORTEST, _OFTEST = 0.1, 1_500  # times Young's interval; checkpoints of a life
_MOST_SLOWED = 0.99  # share of the time beside a drain
_TIE = 0.001  # share of the time: intervals that differ by less are as good


@dataclass(frozen=True)
class Question:
    """What is asked about a job.

    Attributes
    ----------
    mtbf
        Seconds between two failures that end the job, on average.
    work
        Seconds that it computes.
    every
        Seconds of computing between two checkpoints now; None if it is not known.
    step
        Seconds of a step of the application: checkpoints stand between steps. 0: anywhere.
    restart
        Seconds from a failure until the job runs again, without the read of the checkpoint.
    """

    mtbf: float
    work: float = DAY
    every: float | None = None
    step: float = 0.0
    restart: float = 5 * MINUTE

    def rounded(self, every: float) -> float:
        """Return an interval in whole steps of the application."""
        return every if not self.step else max(round(every / self.step), 1) * self.step


class Point(NamedTuple):
    """What an interval costs: shares of the job's time, of all lives on average."""

    every: float  # seconds of computing between two checkpoints
    share: float  # that is lost in all
    low: float  # nine of ten lives lose more than this, of twenty ...
    high: float
    writes: float
    waits: float  # for the drain of the checkpoint before
    slowed: float  # computing that took longer beside drains
    restarts: float
    again: float  # computed again after failures
    seconds: float  # that the job takes


_NOTHING = Point(*[0.0] * len(Point._fields))


class Measured(NamedTuple):
    """Seconds of a checkpoint, and where those of nine of ten real runs lie, if that is known."""

    seconds: float
    real: Interval | None = None

    def drawn(self, luck: Floats) -> Floats:
        """Return the seconds of each life, by how far the model is off there."""
        if not self.seconds or self.real is None:
            return np.full(len(luck), self.seconds)
        low, high = math.log(self.real.low), math.log(self.real.high)
        drawn: Floats = np.exp((low + high) / 2.0 + (high - low) / (2.0 * WIDTH) * luck)
        return drawn


@dataclass(frozen=True)
class WayFound:
    """A way to write, what it takes, and what each interval costs."""

    way: Way
    bytes: int  # of a checkpoint
    write: Measured  # that the job waits for
    beside: float  # seconds of the same while the one before is drained
    drain: Measured  # from there until it is on Lustre; 0 s if it is written there
    read: Measured
    slowed: float = 0.0  # share of the time beside a drain by which computing falls behind
    points: tuple[Point, ...] = ()  # by their intervals
    formulas: tuple[float, float] = (0.0, 0.0)  # seconds: Young's and Daly's at the peak rate
    by_young: Point = _NOTHING  # what Young's costs

    @property
    def best(self) -> Point:
        """The interval that loses least."""
        return min(self.points, key=lambda point: point.share)

    @property
    def as_good(self) -> tuple[float, float]:
        """Seconds: the shortest and the longest interval that lose hardly more."""
        near = [one.every for one in self.points if one.share <= self.best.share + _TIE]
        return min(near), max(near)


@dataclass(frozen=True)
class Checkpoint(KeptStudy):
    """What :func:`checkpoint` returns."""

    scenario: Scenario
    question: Question
    ways: tuple[WayFound, ...]  # the one that loses least comes first
    now: tuple[WayFound, Point] | None  # as the job does it, if it is known how often
    refused: tuple[tuple[str, str], ...]  # ways that cannot be, each with the reason

    @property
    def best(self) -> WayFound:
        """The way that loses least."""
        return self.ways[0]

    @property
    def table(self) -> Table:
        """A row for each way and interval."""
        rows = [
            {"way": one.way.name, **point._asdict()} for one in self.ways for point in one.points
        ]
        return Table(POINTS, lambda: rows)


POINT = (
    Column("every", QUEUE, help="Of computing between two checkpoints."),
    Column("share", PART, help="Of the job's time, lost in all."),
    Column("low", PART, help="Of 20 lives one loses less."),
    Column("high", PART, help="Of 20 lives one loses more."),
    Column("writes", PART, help="Waiting for writes."),
    Column("waits", PART, help="Waiting for the drain of the one before."),
    Column("slowed", PART, help="Computing that took longer beside drains."),
    Column("restarts", PART, help="Beginning again, the read included."),
    Column("again", PART, help="Computed again after failures."),
    Column("seconds", QUEUE, help="That the job takes."),
)
POINTS = (Column("way", WORDS), *POINT)


def checkpoint(
    scenario: Scenario | str | Path,
    mtbf: float,
    *,
    work: float = Question.work,
    every: float | None = None,
    step: float = Question.step,
    restart: float = Question.restart,
    state: int | None = None,
    exchange: float = 0.0,
    targets: Sequence[str] = TARGETS,
    repeat: int = 2,
    jobs: int | None = None,
    store: str | Path | None = None,
    progress: Progress | None = None,
    scheduler: str | None = None,
    exact: bool = False,
) -> Checkpoint:
    """Find how often to write a checkpoint, and where.

    Parameters
    ----------
    scenario
        The job that writes one checkpoint; with ``state`` only its nodes, machine and surroundings
        count.
    mtbf
        Seconds between two failures that end the job, on average.
    work, every, step, restart
        As :class:`Question` has them, in seconds.
    state
        Bytes of a checkpoint, in place of what the scenario writes.
    exchange
        Bytes that a rank sends to its neighbours for a second of computing.
    targets
        Where it may be written: some of ``lustre``, ``ssd``, ``bb``.
    repeat
        Seeds to run each write with, from the scenario's own on.
    jobs, store, progress, scheduler
        As :meth:`~xc40io.studies.simulations.Simulations.of_study` has them.
    exact
        Leave out how far real runs may be from what was simulated.

    Raises
    ------
    InputError
        If something cannot be so.

    Notes
    -----
    J. W. Young, "A first order approximation to the optimum checkpoint interval" (1974); J. T.
    Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps" (2006).
    """
    job = asked_scenario(scenario)
    question = Question(mtbf, work, every, step, restart)
    machine = machine_of(job)
    check_targets(tuple(targets), machine)
    seeds = seeds_of(job.seed, repeat)
    runs = Simulations.of_study(jobs, store, progress, scheduler)
    own: list[Way] = []
    if state is None:
        state = _written(job, runs)
        own = [as_it_is(job, state)]
    ways = [*own, *ways_of(job, state, tuple(targets), exchange)]
    found, refused = _measured(ways, state, runs, seeds, exact=exact)
    if not found:
        raise InputError("; ".join(f"{name}: {reason}" for name, reason in refused))
    failures = Failures(mtbf, LIVES, job.seed)
    luck = failures.luck()
    costs = {one.way.name: _cost(one, question, luck) for one in found}
    tried = {one.way.name: _followed(one, costs[one.way.name], question, failures) for one in found}
    first = tried.get(AS_IT_IS) or next(iter(tried.values()))
    now = None
    if question.every is not None:
        cost = costs[first.way.name]
        now = first, _point(question.rounded(question.every), cost, question, failures)
    ranked = tuple(sorted(tried.values(), key=lambda one: one.best.share))
    return Checkpoint(job, question, ranked, now, tuple(refused), exact=exact, **runs.counted())


def _written(job: Scenario, runs: Simulations) -> int:
    """Return the bytes that a job writes; raise InputError if it cannot run, or writes none."""
    (ended,) = runs.run([job])
    if isinstance(ended, Failure):
        raise InputError(ended.reason)
    if not ended.written:
        raise InputError(
            "the job writes no bytes, so it is no checkpoint; right would be one that writes its "
            "state, or --state SIZE"
        )
    return ended.written


def _measured(
    ways: Sequence[Way], state: int, runs: Simulations, seeds: Sequence[int], *, exact: bool
) -> tuple[list[WayFound], list[tuple[str, str]]]:
    """Run all ways; return what they take, and those that cannot be, each with the reason."""
    every = [
        scenario.model_copy(update={"seed": seed})
        for way in ways
        for scenario in (way.write, way.read)
        for seed in seeds
    ]
    ended = runs.run(every)
    found, refused = [], []
    for place, way in enumerate(ways):
        own = ended[2 * place * len(seeds) : 2 * (place + 1) * len(seeds)]
        wrong = next((_trouble(one) for one in own if _trouble(one)), "")
        if wrong:
            refused.append((way.name, wrong))
            continue
        records = [one for one in own if isinstance(one, RunRecord)]
        writes, reads = records[: len(seeds)], records[len(seeds) :]
        found.append(_found(way, state, writes, reads, exact=exact))
    return found, refused


def _trouble(ended: RunRecord | Failure) -> str:
    """Say why a run is no checkpoint; nothing of one that is."""
    if isinstance(ended, Failure):
        return ended.reason
    return ended.troubles[0] if ended.troubles else ""


def _found(
    way: Way, state: int, writes: Sequence[RunRecord], reads: Sequence[RunRecord], *, exact: bool
) -> WayFound:
    """Return what a way takes, by its runs."""
    sure = None if exact else Sureness(way.write)
    copied = _row(writes, PARTNER_COPY, "0") if way.partner else 0.0
    read = _taken(reads, "read", None if exact else Sureness(way.read), copied)
    if not way.staged:
        write = _taken(writes, "write", sure)
        return WayFound(way, state, write, write.seconds, Measured(0.0), read)
    near = ("local write", PARTNER_COPY) if way.partner else ("local write",)
    alone, beside = (sum(_row(writes, name, step) for name in near) for step in ("0", "1"))
    return WayFound(
        way,
        state,
        _within("local write", alone, sure),
        beside,
        _within(FLUSH, _row(writes, FLUSH, "1"), sure),
        read,
        _slowed(writes),
    )


def _slowed(records: Sequence[RunRecord]) -> float:
    """Return by which share computing fell behind beside a drain, on average over the seeds."""
    shares = [
        row.parts["slowed"] for each in records for row in each.phases if "slowed" in row.parts
    ]
    return min(max(sum(shares) / len(shares), 0.0), _MOST_SLOWED)


def _taken(
    records: Sequence[RunRecord], access: str, sure: Sureness | None, more: float = 0.0
) -> Measured:
    """Return the seconds of all phases that read, or that do not, and some more."""
    told = [
        (bound.phase, bound.seconds)
        for record in records
        for bound in record.bounds
        if access_of(bound.phase) == access
    ]
    longest = max(told, key=itemgetter(1))[0]
    return _within(longest, sum(seconds for _, seconds in told) / len(records) + more, sure)


def _row(records: Sequence[RunRecord], name: str, step: str) -> float:
    """Return the seconds of a row, on average over the seeds."""
    found = [
        row.seconds
        for each in records
        for row in each.phases
        if (row.name, row.step) == (name, step)
    ]
    return sum(found) / len(found)


def _within(phase: str, seconds: float, sure: Sureness | None) -> Measured:
    """Return seconds with those of nine of ten real runs."""
    return Measured(seconds, None if sure is None else sure.seconds(phase, seconds))


def _cost(found: WayFound, question: Question, luck: Floats) -> Cost:
    """Return what a checkpoint costs in each life."""
    write = found.write.drawn(luck)
    return Cost(
        write,
        write * found.beside / found.write.seconds,
        found.drain.drawn(luck),
        found.read.drawn(luck),
        question.restart,
        found.way.survives,
        found.slowed,
        found.way.partner,
    )


def _followed(found: WayFound, cost: Cost, question: Question, failures: Failures) -> WayFound:
    """Return a way with what each interval costs."""
    peak = found.bytes / found.way.peak()
    formulas = young(peak, question.mtbf), daly(peak, question.mtbf)
    near, least = young(found.write.seconds, question.mtbf), question.work / _OFTEST

    def point(every: float) -> Point:
        return _point(question.rounded(every), cost, question, failures)

    shortest = max(_SHORTEST * near, least)
    usual = {question.rounded(MINUTE * minutes) for minutes in _MINUTES}
    tried = {every: point(every) for every in usual if shortest <= every <= question.work}
    best = min(tried.values(), key=lambda one: one.share).every if tried else near
    for times in _NEAR if tried else (1.0,):
        every = question.rounded(_whole(max(times * best, least)))
        if every not in tried:
            tried[every] = point(every)
    points = tuple(tried[every] for every in sorted(tried))
    by_young = point(max(formulas[0], least))
    return replace(found, points=points, formulas=formulas, by_young=by_young)


def _whole(seconds: float) -> float:
    """Round an interval to what one would type: whole minutes, or seconds of a short one."""
    return max(round(seconds / MINUTE), 1) * MINUTE if seconds >= MINUTE else round(seconds, 1)


def _point(every: float, cost: Cost, question: Question, failures: Failures) -> Point:
    """Follow the lives of the job with an interval."""
    spent = lives(question.work, every, cost, failures)
    lost = 1.0 - spent.work / spent.whole
    low, high = np.quantile(lost, (0.05, 0.95))

    def share(part: Floats) -> float:
        return float(np.mean(part / spent.whole))

    return Point(
        every,
        float(lost.mean()),
        float(low),
        float(high),
        share(spent.writes),
        share(spent.waits),
        share(spent.slowed),
        share(spent.restarts),
        share(spent.lost),
        float(spent.whole.mean()),
    )


def young(seconds: float, mtbf: float) -> float:
    """Return Young's interval between checkpoints that take so many seconds each."""
    return math.sqrt(2.0 * seconds * mtbf)


def daly(seconds: float, mtbf: float) -> float:
    """Return Daly's interval, of higher order."""
    if seconds >= 2.0 * mtbf:
        return mtbf
    part = seconds / (2.0 * mtbf)
    return young(seconds, mtbf) * (1.0 + math.sqrt(part) / 3.0 + part / 9.0) - seconds
