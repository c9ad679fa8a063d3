"""What bounds a run, and what would help: each answer is a run that was made.

Where ranks wait, and which stations are busy, says where to look (:mod:`xc40io.findings.waits`,
:mod:`xc40io.findings.bottlenecks`). It does not say what a better part would bring: behind a queue
that is gone stands the next one. So the same scenario is run again, once without each part that may
be to blame, and once with each change that may help. The best changes are made in pairs, and from
the best one a knob after another is turned; then they are run with more seeds: what is advised
helps by more than chance, and by more than the model's error.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from operator import attrgetter
from pathlib import Path

import numpy as np

from xc40io.config.jobs import JobsScenario
from xc40io.config.scenario import Scenario, asked_scenario
from xc40io.config.units import format_seconds
from xc40io.engine.processors import processors
from xc40io.findings.bottlenecks import Load, loads, outliers
from xc40io.findings.critical_path import CriticalPath, critical_paths
from xc40io.plane.causes import Cause
from xc40io.plane.stations import StationKind
from xc40io.run.jobs import JobsResult, simulate_jobs
from xc40io.run.result import Result
from xc40io.studies.advice.changes import Change, JobChanges, changes_of_machine
from xc40io.studies.advice.job_knobs import BLOCK
from xc40io.studies.advice.job_nature import nature_of
from xc40io.studies.advice.knobs import SIZE, Who
from xc40io.studies.advice.node_time import NodeTime
from xc40io.studies.advice.weighing import ranked
from xc40io.studies.case import Case, Phase, collective, may_share_locks, seconds_of
from xc40io.studies.explain.ideals import FOR_OTHERS, IDLE, Part, rank_computing, single, suspects
from xc40io.studies.explain.kept_seconds import KeptSeconds
from xc40io.studies.explain.trials import (
    FAULT,
    JOB,
    Trial,
    TrialRun,
    Trials,
    of_change,
    whole_gain,
)
from xc40io.studies.output_period import OutputCost, output_cost
from xc40io.studies.record import record_of
from xc40io.studies.study_result import StudyResult
from xc40io.telling.answer import Column, Table, To, Unit
from xc40io.telling.units import FLAG, NUMBER, ROWS, TYPED, WORDS
from xc40io.topology.text import format_count
from xc40io.trust.sureness import chance_column

_WORTH_A_LOOK = 0.03  # share of the time that ranks wait for a cause
_HIDES = {cause.name.lower() for cause in FOR_OTHERS}  # their own waits are not followed
_MUCH = 0.2  # share of the time that ranks wait for others, who may wait for anything
_MOST_OF_PATH = 0.5  # of the critical path: then whatever may stand behind it is tried
_LONGER = 0.03  # share of the time that one rank computes more than the one in the middle
_PAIRED = 4  # changes of which two are made together
_EXPLORING = 2 / 3  # of a budget, before the best changes are run with more seeds
_AGAIN = 8  # changes that are run with more seeds
_AGAINST_IDLE = SIZE, BLOCK  # knobs that give idle aggregators work
_MOST_OTHERS = 6  # jobs that are left out one by one


@dataclass(frozen=True)
class PhaseExplanation:
    """Why one kind of phase takes its time."""

    phase: Phase
    load: Load  # the busiest station, and waits; of a replay's calls that of the whole replay
    path: CriticalPath | None  # of the longest of its repetitions; None for a replay's calls
    seconds: float  # that it took, all its repetitions together
    without: tuple[TrialRun, ...]  # each part that may be to blame, the largest gain first
    changed: tuple[TrialRun, ...]  # with each change: those that help first, the best before others

    @property
    def others(self) -> tuple[TrialRun, ...]:
        """Its seconds without each other job; the job that delays it most comes first."""
        return tuple(one for one in self.without if one.key.startswith(f"{JOB} "))

    @property
    def of_calls(self) -> bool:
        """Whether it is about one kind of a replay's calls."""
        return self.phase.name != self.load.access

    @property
    def runs(self) -> tuple[TrialRun, ...]:
        """The run as it is, then all that was tried."""
        return (TrialRun("", "", self.seconds, 1.0), *self.without, *self.changed)


@dataclass(frozen=True)
class Explanation(StudyResult):
    """Why a run takes its time."""

    scenario: Scenario | JobsScenario  # what was run
    results: Mapping[str, Result]  # what came of it, by job; the only one has no name
    phases: tuple[PhaseExplanation, ...]  # its kinds of phases, job by job and in their order
    runs: int  # how many were made beside it
    refused: tuple[tuple[str, str], ...]  # changes that could not be tried, each with the reason
    slower: tuple[str, ...] = ()  # what was given up when I/O had taken twice as long
    unfinished: bool = False  # whether runs are missing, as time was over or somebody interrupted
    interrupted: bool = False  # whether somebody did
    period: float | None = None  # seconds from one output of the job to the next, if it is known

    def __repr__(self) -> str:
        """Return a line: of what, and how many runs stand behind it."""
        phases = format_count(len(self.phases), "phase")
        return f"<Explanation of {phases} from {format_count(self.runs, 'more run')}>"

    @property
    def cost(self) -> OutputCost | None:
        """What its I/O costs if it comes once in a period, and with the best setting."""
        scenario = self.scenario
        if self.period is None or not isinstance(scenario, Scenario):
            return None
        seconds = sum(one.seconds for one in self.phases)
        settings = (one for one in self.advice if one.kind is Who.SETTINGS)
        best = next(settings, None)
        advised = None if best is None else (scenario.nodes, seconds / whole_gain(best))
        return output_cost(self.period, (scenario.nodes, seconds), advised)

    @property
    def advice(self) -> tuple[TrialRun, ...]:
        """What helps and can be done without another machine, the best for all I/O first."""
        found = {
            one.words: one
            for phase in self.phases
            for one in phase.changed
            if one.helps and one.kind is not Who.MACHINE
        }
        return tuple(ranked(found.values(), whole_gain, lambda one: one.effort))

    def exactly(self) -> Explanation:
        """Return the same without how sure its figures are."""
        phases = (
            replace(one, changed=tuple(replace(each, exact=True) for each in one.changed))
            for one in self.phases
        )
        return replace(self, phases=tuple(phases), exact=True)

    def recorded_run(self) -> Result | JobsResult:
        """Return the run itself, with a recording: for its pictures.

        Of several jobs it is made once more, the same bit for bit: what came of it for all of them
        together is not part of an explanation.
        """
        if isinstance(self.scenario, Scenario):
            return self.results[""]
        return simulate_jobs(self.scenario, alone=False, record=True)

    @property
    def table(self) -> Table:
        """A row for each phase of each run."""
        return Table((*PLACE, Column("runs", ROWS, inner=TRIED)), lambda: self.phases)


_SECONDS = Unit("s", float, lambda seconds: format_seconds(seconds, 4))
_TIMES = Unit("", float, lambda times: f"{times:.2f}")
_NODE_TIME = Unit("node-s", dict, lambda both: NodeTime(**both).words)

PLACE = (
    Column("job", WORDS, lambda one: one.phase.job, help="Empty where there is only one."),
    Column("part", NUMBER, lambda one: one.phase.part, help="Of the workload, from 0."),
    Column("phase", WORDS, lambda one: one.phase.name, help="What is done, as write."),
)
"""Which kind of phase."""

TRIED = (
    Column("tried", WORDS, to=To.PANDAS, help="as it is, without (a part) or with (a change)."),
    Column("words", WORDS, help="What is left out, or changed."),
    Column("typed", TYPED, head="how to ask for it", help="On the command line."),
    Column(
        "who",
        WORDS,
        lambda one: "" if one.kind is None else one.kind.value,
        head="who can change it",
        to=To.PEOPLE | To.PANDAS,
    ),
    Column("seconds", _SECONDS, head="the phase takes", help="All its repetitions together."),
    Column("gain", _TIMES, head="times as fast"),
    chance_column(attrgetter("chance"), "That a change really makes it faster.", head="chance"),
    Column(
        "node_seconds",
        _NODE_TIME,
        lambda one: None if one.nodes is None else one.nodes._asdict(),
        head="it costs",
        to=To.PEOPLE | To.JSON,
        help="Of the job's I/O, before and after; null where its nodes stay as they are.",
        optional=True,
    ),
    Column(
        "doubt",
        WORDS,
        lambda one: one.doubted,
        to=To.JSON,
        help="Why it is not advised although it was simulated faster; else empty.",
    ),
    Column(
        "measured",
        WORDS,
        to=To.JSON,
        help="What measured runs say of it where they show no such gain; else empty.",
    ),
    Column("kind", WORDS, to=To.JSON, help="Who can change it; null for a part."),
    Column("key", WORDS, to=To.JSON, help="What programs call a part; empty for a change."),
    Column("kin", WORDS, to=To.JSON, help="Key of the part that it is one piece of."),
    Column("helps", FLAG, to=To.DATA, help="Whether it is worth saying."),
)
"""A run that was made."""


def explain(
    scenario: Scenario | JobsScenario | str | Path,
    *,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    moved: Callable[[int, int], None] | None = None,
    budget: float | None = None,
    kept: KeptSeconds | None = None,
) -> Explanation:
    """Run a scenario, find out what bounds it, and what would help.

    An interrupt while other runs are made ends with what is known by then.

    Parameters
    ----------
    scenario
        Of one job, itself or by its name or path, or of several: then those that are listed are
        explained, or all if none is.
    jobs
        Processes; one a processor unless given. The answer does not depend on it.
    progress
        Told how many of the other runs are done, and of how many.
    moved
        Told before, while the run itself is made, how many bytes have been moved, and of how many.
    budget
        Seconds after which the answer is what is known by then. It depends on how fast this
        computer is. A third of them goes to more seeds for the best changes.
    kept
        Where runs that have finished are kept, for the next time.

    Raises
    ------
    InputError
        If the scenario asks for what the machine or the simulator does not have.
    """
    scenario = scenario if isinstance(scenario, JobsScenario) else asked_scenario(scenario)
    began = time.monotonic()
    whole = Case(scenario)
    results = whole.run(record=True, progress=moved)
    explained = _explained(scenario, results)
    told, paths = _told(explained), _paths(explained)
    found = [load for _, load in told]
    kinds = [phase for phase, _ in told]
    base, clock = seconds_of(results), max(one.started + one.simulated for one in results.values())
    runs = Trials(scenario, base, clock, kinds, jobs or processors(), progress, kept)
    if budget is not None:
        runs.until(began + _EXPLORING * budget)
    listed = whole.listed()
    makers = [
        JobChanges(name, listed, nature_of(result.scenario, record_of(result)))
        for name, result in explained.items()
    ]
    climbs = [(maker, who) for maker in makers for who in maker.who] if len(makers) == 1 else []
    seeds = runs.most_again(_AGAIN)
    later = seeds + sum(runs.most_climbed(maker) for maker, _ in climbs)
    runs.expect(later + len(makers) * runs.most_pairs(_PAIRED))
    runs.make(
        [
            *_trials(listed, results, explained, found, paths),
            *_idle(makers),
            *_changes(makers, listed, explained, found),
        ]
    )
    runs.expect(later)
    runs.make(_pairs(makers, [runs.change(key) for key in runs.best(_PAIRED)]))
    for maker, who in climbs:  # of several jobs each can be explained by itself
        later -= runs.most_climbed(maker)
        runs.expect(later)
        runs.climb(maker, who)
    if budget is not None:
        runs.until(began + budget)
    known = any(maker.of_idle_aggregators() for maker in makers)
    remedies = runs.remedies(_AGAINST_IDLE) if known else []
    runs.again(listed, list(dict.fromkeys([*runs.best(_AGAIN), *remedies])))
    phases = tuple(
        PhaseExplanation(
            phase,
            load,
            paths.get(phase),
            runs.base[phase],
            without=runs.without(phase),
            changed=runs.changed(phase),
        )
        for phase, load in told
    )
    return Explanation(
        scenario,
        results,
        phases,
        runs.made,
        tuple(sorted(runs.refused)),
        tuple(sorted(runs.slower)),
        runs.unfinished,
        runs.interrupted,
    )


def _explained(
    scenario: Scenario | JobsScenario, results: Mapping[str, Result]
) -> dict[str, Result]:
    """Return the jobs that are explained: of several those that are listed, if any is."""
    if isinstance(scenario, JobsScenario) and scenario.jobs:
        return {job.name: results[job.name] for job in scenario.jobs}
    return dict(results)


def _told(explained: Mapping[str, Result]) -> list[tuple[Phase, Load]]:
    """Return the kinds of phases that are to be explained, in their order."""
    told: list[tuple[Phase, Load]] = []
    for job, result in explained.items():
        seconds = seconds_of({job: result})
        by_phase = {Phase(job, load.test_id, load.access): load for load in loads(result)}
        told += by_phase.items()
        calls = [phase for phase in seconds if phase not in by_phase]
        most = max((seconds[phase] for phase in calls), default=0.0)
        load = next(iter(by_phase.values()), None)
        told += [
            (phase, load)
            for phase in calls
            if load is not None and seconds[phase] >= _WORTH_A_LOOK * most
        ]
    return told


def _paths(explained: Mapping[str, Result]) -> dict[Phase, CriticalPath]:
    """Return the critical path of each kind of phase."""
    return {
        Phase(job, activity.part, activity.name): path
        for job, result in explained.items()
        for activity, path in critical_paths(result)
    }


def _trials(
    case: Case,
    results: Mapping[str, Result],
    explained: Mapping[str, Result],
    found: Sequence[Load],
    paths: Mapping[Phase, CriticalPath],
) -> Iterator[Trial]:
    """Yield the runs without a part of the path, a fault or another job."""
    for part in _parts(explained, found, paths):
        yield Trial(part.words, "", part.without(case, case.machine), key=part.key, kin=part.kin)
    for fault in case.scenario.faults:
        words = f"the {FAULT} {str(fault)!r}"
        yield Trial(words, "", case.without_fault(fault), key=f"{FAULT} {fault}")
    if len(results) > 1:
        yield from _absences(case, results)


def _changes(
    makers: Sequence[JobChanges],
    case: Case,
    explained: Mapping[str, Result],
    found: Sequence[Load],
) -> Iterator[Trial]:
    """Yield the runs with a change."""
    for maker in makers:
        yield from map(of_change, maker.single())
    causes = _causes(found)
    for result in explained.values():
        yield from map(of_change, changes_of_machine(case, result, causes))


def _idle(makers: Sequence[JobChanges]) -> Iterator[Trial]:
    """Yield the runs in which collective calls leave no aggregator idle, where they do now."""
    for maker in makers:
        known = maker.of_idle_aggregators()
        if known is not None:
            of_job = f" of job {maker.name}" if maker.name else ""
            yield Trial(f"{known[0]}{of_job}", "", known[1].case, key=IDLE)


def _pairs(makers: Sequence[JobChanges], best: Sequence[Change]) -> Iterator[Trial]:
    """Yield the runs with two of the best changes of a job made together."""
    for maker in makers:
        for one, other in combinations(best, 2):
            yield from map(of_change, maker.together(one, other))


def _parts(
    results: Mapping[str, Result], found: Sequence[Load], paths: Mapping[Phase, CriticalPath]
) -> list[Part]:
    """Return the parts to be tried: those that the waits and the stations speak of.

    Where ranks wait for others whose own waits are not followed, that may hide anything: then all
    parts that there are; and so where one thing is most of the critical path.
    """
    first = next(iter(results.values()))  # what stations did is the same in all of them
    table = first.station_table
    served = {StationKind(kind) for kind in np.unique(table.kind[table.requests > 0]).tolist()}
    waited = {
        cause
        for result in results.values()
        for cause, seconds in result.waiting().items()
        if seconds > 0.0
    } | _causes(found)
    hidden = any(
        wait.cause in _HIDES and wait.share >= _MUCH for load in found for wait in load.waits
    )
    causes, kinds = _causes(found), {load.kind for load in found}
    if hidden or any(path.shares()[0].share >= _MOST_OF_PATH for path in paths.values()):
        causes, kinds = set(Cause), set(StationKind)
    parts = [
        part
        for part in suspects(causes, kinds, first.machine)
        if (part.kinds & served if part.kinds else part.causes & waited)
        and (not part.hints or _may_share_locks(results))
    ]
    parts += map(single, outliers(first))
    for name, result in results.items():
        rank = _longest_computing(result)
        if rank is not None:
            parts.append(rank_computing(rank, name))
    return parts


def _may_share_locks(results: Mapping[str, Result]) -> bool:
    """Tell whether group locks can be tried in all jobs that use aggregators, if any does."""
    users = [result for result in results.values() if collective(result)]
    return bool(users) and all(map(may_share_locks, users))


def _longest_computing(result: Result) -> int | None:
    """Return the rank that computes longest between its calls, if it stands out."""
    seconds = result.doing[:, Cause.THINK]  # its own: not that for which others wait
    top = int(seconds.argmax())
    more = float(seconds[top] - np.median(seconds))
    return top if more > _LONGER * result.simulated else None


def _absences(case: Case, results: Mapping[str, Result]) -> list[Trial]:
    """Return the runs without each other job: the largest ones, and without all but one."""
    moved = {name: sum(row.bytes for row in result.rows) for name, result in results.items()}
    largest = sorted(moved, key=lambda name: -moved[name])[:_MOST_OTHERS]
    trials = [
        Trial(words, "", case.without_jobs(frozenset({name}), results), key=words)
        for name in largest
        if (words := f"{JOB} {name}")
    ]
    if len(results) == 2:
        return trials
    for name in results:
        others = frozenset(results.keys() - {name})
        words = f"all jobs but {name}"
        trials.append(Trial(words, "", case.without_jobs(others, results), key=words))
    return trials


def _causes(found: Sequence[Load]) -> set[Cause]:
    """Return the causes of waiting, and what ranks did meanwhile, if large beside computing."""
    by_name = {cause.name.lower(): cause for cause in Cause}
    causes = set()
    for load in found:
        both = (*load.waits, *load.doing)
        shares = {by_name[wait.cause]: wait.share for wait in both if wait.cause in by_name}
        left = 1.0 - shares.get(Cause.THINK, 0.0)
        causes |= {
            cause
            for cause, share in shares.items()
            if share >= _WORTH_A_LOOK * (1.0 if cause is Cause.THINK else left)
        }
    return causes
