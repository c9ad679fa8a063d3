"""What bounds a run, and what would help: each answer is a run that was made.

Where ranks wait, and which stations are busy, says where to look (:mod:`sim.findings.waits`,
:mod:`sim.findings.bottlenecks`). It does not say what a better part would bring: behind a queue
that is gone stands the next one. So the same scenario is run again, once without each part that may
be to blame, and once with each change that may help. The best changes are run with more seeds, and
in pairs: what is advised helps by more than chance, and by more than the model's error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sim.config.jobs import JobsScenario
from sim.config.scenario import Scenario
from sim.config.units import format_seconds
from sim.engine.processors import processors
from sim.findings.bottlenecks import Load, loads, outliers
from sim.findings.critical_path import CriticalPath, critical_paths
from sim.plane.causes import Cause
from sim.plane.stations import StationKind
from sim.run.jobs import JobsResult, simulate_jobs
from sim.run.result import Result
from sim.studies.advice.changes import Change, JobChanges, changes_of_machine
from sim.studies.advice.job_nature import REPLAY
from sim.studies.advice.knobs import Who
from sim.studies.advice.weighing import LEAST, SEEDS, TIE, Weighed, ranked, weighed
from sim.studies.case import Case, Phase, Seconds, collective, may_share_locks, seconds_of
from sim.studies.explain.ideals import Part, rank_computing, single, suspects
from sim.studies.processes import Failure, each
from sim.telling.answer import Column, Table, To, Unit
from sim.telling.data import frame
from sim.telling.units import FLAG, NUMBER, ROWS, TYPED, WORDS
from sim.trust.sureness import chance_column, chance_faster

if TYPE_CHECKING:
    import pandas as pd

WORTH_SAYING = 1.1
"""How many times as fast a phase must become for a part to be to blame, or a change to help."""

_WORTH_A_LOOK = 0.03  # share of the time that ranks wait for a cause
_HIDES = {"mutex", "writers", "threads", "range"}  # others, whose own waits are not followed
_MUCH = 0.2  # share of the time that ranks wait for others, who may wait for anything
_MOST_OF_IT = 0.5  # of what a kind of parts brings: then one of them comes before the kind
_MOST_OF_PATH = 0.5  # of the critical path: then whatever may stand behind it is tried
_LONGER = 0.03  # share of the time that one rank computes more than the one in the middle
_JOB = "job"
_FAULT = "fault"
_AS_GOOD = 1.05  # a job beside, or a fault, is named before a part that brings no more than this
_PAIRED = 4  # changes of which two are made together
_AGAIN = 8  # changes that are run with more seeds
_MOST_OTHERS = 6  # jobs that are left out one by one


@dataclass(frozen=True)
class Tried:
    """A run that was made to find out what something brings."""

    words: str  # what is different: without what, or with what
    typed: str  # how it is asked for on the command line; empty for what cannot be had
    seconds: float  # that the phase took then
    gain: float  # how many times as fast the phase is then; over all seeds that it was run with
    kind: Who | None = None  # who can change it; nobody where it is a part that costs nothing
    key: str = ""  # what programs call the part that costs nothing; empty for a change
    kin: str = ""  # key of the part that it is one piece of: a station among its peers, one rank
    weighed: Weighed | None = None  # of a change that was run with several seeds
    change: Change | None = None  # what was changed
    advised: bool = False  # of a change: it surely helps, and no part of it helps as much

    @property
    def helps(self) -> bool:
        """Whether it is worth saying: a part by its gain, a change if it is advised."""
        return self.gain >= WORTH_SAYING if self.kind is None else self.advised

    @property
    def chance(self) -> float | None:
        """How likely a change helps in reality, too; None if it was not run with several seeds."""
        return None if self.weighed is None or self.kind is None else self.weighed.chance

    @property
    def effort(self) -> tuple[int, ...]:
        """How much there is to change."""
        return () if self.change is None else self.change.effort

    @property
    def tried(self) -> str:
        """What it is: ``as it is``, ``without`` a part, ``with`` a change."""
        if not self.words:
            return "as it is"
        return "without" if self.kind is None else "with"


@dataclass(frozen=True)
class PhaseExplanation:
    """Why one kind of phase takes its time."""

    phase: Phase
    load: Load  # the busiest station, and waits; of a replay's calls that of the whole replay
    path: CriticalPath | None  # of the longest of its repetitions; None for a replay's calls
    seconds: float  # that it took, all its repetitions together
    without: tuple[Tried, ...]  # each part that may be to blame, the largest gain first
    changed: tuple[Tried, ...]  # with each change: those that help first, the best before others

    @property
    def others(self) -> tuple[Tried, ...]:
        """Its seconds without each other job; the job that delays it most comes first."""
        return tuple(one for one in self.without if one.key.startswith(f"{_JOB} "))

    @property
    def of_calls(self) -> bool:
        """Whether it is about one kind of a replay's calls."""
        return self.phase.name != self.load.access

    @property
    def runs(self) -> tuple[Tried, ...]:
        """The run as it is, then all that was tried."""
        return (Tried("", "", self.seconds, 1.0), *self.without, *self.changed)


class Explanation(NamedTuple):
    """Why a run takes its time.

    Attributes
    ----------
    scenario
        What was run.
    results
        What came of it, by job; the only one has no name.
    phases
        Its kinds of phases, job by job and in their order.
    runs
        How many runs were made beside it.
    refused
        Changes that could not be tried, each with the reason.
    """

    scenario: Scenario | JobsScenario
    results: Mapping[str, Result]
    phases: tuple[PhaseExplanation, ...]
    runs: int
    refused: tuple[tuple[str, str], ...]

    @property
    def advice(self) -> tuple[Tried, ...]:
        """What helps and can be done without another machine, the best for all I/O first."""
        found = {
            one.words: one
            for phase in self.phases
            for one in phase.changed
            if one.helps and one.kind is not Who.MACHINE
        }
        return tuple(ranked(found.values(), _whole_gain, lambda one: one.effort))

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

    def to_pandas(self) -> pd.DataFrame:
        """Return its table: docs/python.md."""
        return frame(self.table)


def _worth_their_parts(tried: Sequence[Tried]) -> Iterator[Tried]:
    """Yield changes but those that bring no more than a part of them."""
    for one in tried:
        parts = [other.gain for other in tried if _is_part(other, one)]
        if one.gain > TIE * max(parts, default=0.0):
            yield one


def _is_part(one: Tried, whole: Tried) -> bool:
    return (
        one.change is not None and whole.change is not None and whole.change.has_all_of(one.change)
    )


def _whole_gain(one: Tried) -> float:
    return one.gain if one.weighed is None else one.weighed.whole.value


_SECONDS = Unit("s", float, lambda seconds: format_seconds(seconds, 4))
_TIMES = Unit("", float, lambda times: f"{times:.2f}")

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
    Column("kind", WORDS, to=To.JSON, help="Who can change it; null for a part."),
    Column("key", WORDS, to=To.JSON, help="What programs call a part; empty for a change."),
    Column("kin", WORDS, to=To.JSON, help="Key of the part that it is one piece of."),
    Column("helps", FLAG, to=To.DATA, help="Whether it is worth saying."),
)
"""A run that was made."""


class _Trial(NamedTuple):
    words: str
    typed: str
    case: Case
    kind: Who | None = None
    key: str = ""
    kin: str = ""
    change: Change | None = None


def _of(change: Change) -> _Trial:
    return _Trial(change.words, change.typed, change.case, change.who, change=change)


def explain(
    scenario: Scenario | JobsScenario,
    *,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    moved: Callable[[int, int], None] | None = None,
) -> Explanation:
    """Run a scenario, find out what bounds it, and what would help.

    Parameters
    ----------
    scenario
        Of one job, or of several: then those that are listed are explained, or all if none is.
    jobs
        Processes; one a processor unless given. The answer does not depend on it.
    progress
        Told how many of the other runs are done, and of how many.
    moved
        Told before, while the run itself is made, how many bytes have been moved, and of how many.

    Raises
    ------
    InputError
        If the scenario asks for what the machine or the simulator does not have.
    """
    whole = Case(scenario)
    results = whole.run(record=True, progress=moved)
    explained = _explained(scenario, results)
    told, paths = _told(explained), _paths(explained)
    found = [load for _, load in told]
    kinds = [phase for phase, _ in told]
    runs = _Runs(scenario, seconds_of(results), kinds, jobs or processors(), progress)
    listed = whole.listed()
    makers = [JobChanges(name, listed, result) for name, result in explained.items()]
    runs.make(
        [
            *_trials(listed, results, explained, found, paths),
            *_changes(makers, listed, explained, found),
        ]
    )
    runs.make(_pairs(makers, [runs.change(key) for key in runs.best(_PAIRED)]))
    runs.again(listed, runs.best(_AGAIN), range(1, SEEDS))
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
    return Explanation(scenario, results, phases, runs.made, tuple(sorted(runs.refused)))


class _Runs:
    """The runs of an explanation: what was tried, and how long each phase took.

    Attributes
    ----------
    base
        Seconds of each kind of phase as it is.
    made
        How many runs there were.
    refused
        Words of what could not be tried, with the reason.
    """

    def __init__(
        self,
        scenario: Scenario | JobsScenario,
        base: Seconds,
        told: Sequence[Phase],
        processes: int,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._scenario = scenario
        self.base = base
        self.made = 0
        self.refused: list[tuple[str, str]] = []
        self._told = told
        self._counting = _counting(told)
        self._processes = processes
        self._progress = progress
        self._trials: dict[str, _Trial] = {}
        self._ended: dict[str, list[Seconds]] = {}
        self._bases = [base]

    def make(self, trials: Iterable[_Trial]) -> None:
        """Run what was not run before; a change of the machine is the same for every job."""
        fresh = {f"{one.words} {one.typed}": one for one in trials}
        fresh = {key: one for key, one in fresh.items() if key not in self._trials}
        self._trials |= fresh
        ended = self._run({key: one.case for key, one in fresh.items()})
        for key, outcome in ended.items():
            if isinstance(outcome, Failure):
                self.refused.append((self._trials[key].words, outcome.reason))
            else:
                self._ended[key] = [outcome]

    def again(self, base: Case, keys: Sequence[str], more: Iterable[int]) -> None:
        """Run some trials, and the run as it is, with the seeds that follow."""
        if not keys:
            return
        shifts = list(more)
        cases = {f"{shift}": base.with_seed(shift) for shift in shifts}
        cases |= {
            f"{shift} {key}": self._trials[key].case.with_seed(shift)
            for key in keys
            for shift in shifts
        }
        ended = self._run(cases)
        bases = [ended[f"{shift}"] for shift in shifts]
        self._bases += [one for one in bases if not isinstance(one, Failure)]
        for key in keys:
            for shift in shifts:
                one = ended[f"{shift} {key}"]
                if not isinstance(one, Failure):
                    self._ended[key].append(one)

    def best(self, count: int) -> list[str]:
        """Return the changes that bring most to all I/O with the first seed, in their order."""
        gains = {
            key: self._whole(self.base) / took
            for key, ended in self._ended.items()
            if self._trials[key].change is not None and (took := self._whole(ended[0])) > 0.0
        }
        good = [key for key, gain in gains.items() if gain >= LEAST]
        jobs, machine = (
            ranked(
                [key for key in good if (self._trials[key].kind is Who.MACHINE) is bought],
                gains.__getitem__,
                lambda key: self._change(key).effort,
            )[:count]
            for bought in (False, True)
        )
        return [*jobs, *machine]

    def change(self, key: str) -> Change:
        """Return the change that a key stands for."""
        return self._change(key)

    def without(self, phase: Phase) -> tuple[Tried, ...]:
        """Return what came of a phase without each part, the largest gain first."""
        tried = [self._tried(key, phase) for key in self._of_phase(phase, changes=False)]
        tried.sort(key=lambda one: -one.gain * (_AS_GOOD if _happened(one) else 1.0))
        for one in [one for one in tried if one.kin]:
            _before_its_kind(tried, one, self.base[phase])
        return tuple(tried)

    def changed(self, phase: Phase) -> tuple[Tried, ...]:
        """Return what came of a phase with each change: first those that help."""
        tried = [self._tried(key, phase) for key in self._of_phase(phase, changes=True)]
        helping = [one for one in tried if one.weighed is not None and one.weighed.helps]
        advised = ranked(_worth_their_parts(helping), lambda one: one.gain, lambda one: one.effort)
        others = sorted((one for one in tried if one not in advised), key=lambda one: -one.gain)
        return (*(replace(one, advised=True) for one in advised), *others)

    def _of_phase(self, phase: Phase, *, changes: bool) -> list[str]:
        return [
            key
            for key, ended in self._ended.items()
            if (self._trials[key].change is not None) == changes and ended[0].get(phase, 0.0) > 0.0
        ]

    def _tried(self, key: str, phase: Phase) -> Tried:
        trial, ended = self._trials[key], self._ended[key]
        seconds = ended[0][phase]
        weight = None
        if len(ended) == SEEDS and len(self._bases) == SEEDS:
            weight = weighed(
                ([one[phase] for one in self._bases], [one[phase] for one in ended]),
                ([self._whole(one) for one in self._bases], [self._whole(one) for one in ended]),
                lambda times: chance_faster(times, self._scenario, trial.case.scenario),
            )
        return Tried(
            words=trial.words,
            typed=trial.typed,
            seconds=seconds,
            gain=self.base[phase] / seconds if weight is None else weight.gain.value,
            kind=trial.kind,
            key=trial.key,
            kin=trial.kin,
            weighed=weight,
            change=trial.change,
        )

    def _change(self, key: str) -> Change:
        change = self._trials[key].change
        assert change is not None
        return change

    def _whole(self, seconds: Seconds) -> float:
        """Return the seconds of all I/O that is told; 0 where a part of it is not there."""
        parts = [seconds.get(phase, 0.0) for phase in self._counting]
        return sum(parts) if all(parts) else 0.0

    def _run(self, cases: Mapping[str, Case]) -> dict[str, Seconds | Failure]:
        """Run cases; tell the progress over all that were asked for so far."""
        ended: dict[str, Seconds | Failure] = {}
        if self._progress is not None and cases:
            self._progress(self.made, self.made + len(cases))
        for key, outcome in each(_seconds, cases, self._processes, size=Case.size):
            ended[key] = outcome
            if self._progress is not None:
                self._progress(self.made + len(ended), self.made + len(cases))
        self.made += len(cases)
        return {key: ended[key] for key in cases}  # in an order that no process decides


def _counting(told: Sequence[Phase]) -> list[Phase]:
    """Return the phases whose seconds are the I/O: of a replay, which also computes, its calls."""
    with_calls = {one.job for one in told if one.name != REPLAY}
    return [one for one in told if one.name != REPLAY or one.job not in with_calls]


def _seconds(case: Case) -> Seconds:
    """Make a run; return how long its phases took."""
    return seconds_of(case.run())


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
) -> Iterator[_Trial]:
    """Yield the runs without a part of the path, a fault or another job."""
    for part in _parts(explained, found, paths):
        yield _Trial(part.words, "", part.without(case, case.machine), key=part.key, kin=part.kin)
    for fault in case.scenario.faults:
        words = f"the {_FAULT} {str(fault)!r}"
        yield _Trial(words, "", case.without_fault(fault), key=f"{_FAULT} {fault}")
    if len(results) > 1:
        yield from _absences(case, results)


def _changes(
    makers: Sequence[JobChanges],
    case: Case,
    explained: Mapping[str, Result],
    found: Sequence[Load],
) -> Iterator[_Trial]:
    """Yield the runs with a change."""
    for maker in makers:
        yield from map(_of, maker.single())
    causes = _causes(found)
    for result in explained.values():
        yield from map(_of, changes_of_machine(case, result, causes))


def _pairs(makers: Sequence[JobChanges], best: Sequence[Change]) -> Iterator[_Trial]:
    """Yield the runs with two of the best changes of a job made together."""
    for maker in makers:
        for one, other in combinations(best, 2):
            yield from map(_of, maker.together(one, other))


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
        for part in suspects(causes, kinds)
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


def _absences(case: Case, results: Mapping[str, Result]) -> list[_Trial]:
    """Return the runs without each other job: the largest ones, and without all but one."""
    moved = {name: sum(row.bytes for row in result.rows) for name, result in results.items()}
    largest = sorted(moved, key=lambda name: -moved[name])[:_MOST_OTHERS]
    trials = [
        _Trial(words, "", case.without_jobs(frozenset({name}), results), key=words)
        for name in largest
        if (words := f"{_JOB} {name}")
    ]
    if len(results) == 2:
        return trials
    for name in results:
        others = frozenset(results.keys() - {name})
        words = f"all jobs but {name}"
        trials.append(_Trial(words, "", case.without_jobs(others, results), key=words))
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


def _happened(one: Tried) -> bool:
    """Tell whether it came from outside the job: another job, or a fault."""
    return one.key.startswith((_JOB, _FAULT))


def _before_its_kind(tried: list[Tried], one: Tried, seconds: float) -> None:
    """Put one station, or one rank, before all of its kind if it brings most of their gain.

    Without all disks a run is always faster than without one; but where that one alone holds the
    others up, it is the one to be named.
    """
    kind = next((other for other in tried if other.key == one.kin), None)
    if kind is None or not one.helps or tried.index(one) < tried.index(kind):
        return
    if seconds - one.seconds >= _MOST_OF_IT * (seconds - kind.seconds):
        tried.remove(one)
        tried.insert(tried.index(kind), one)
