"""What was tried: runs without a part of the path, and with changes, and what each brought."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import NamedTuple

from xc40io.config.jobs import JobsScenario
from xc40io.config.scenario import Scenario
from xc40io.run.simulate import OvertimeError
from xc40io.studies.advice.changes import Change, JobChanges
from xc40io.studies.advice.job_nature import REPLAY
from xc40io.studies.advice.knobs import Who
from xc40io.studies.advice.node_time import NodeTime, node_time
from xc40io.studies.advice.weighing import (
    LEAST,
    MORE,
    SEEDS,
    TIE,
    ChangeEffect,
    left_open,
    ranked,
    weighed,
)
from xc40io.studies.case import Case, Phase, Seconds, seconds_of
from xc40io.studies.explain.kept_seconds import KeptSeconds
from xc40io.studies.processes import Crew, Failure, each
from xc40io.trust.doubts import Doubt, doubt_of, measured_words
from xc40io.trust.sureness import chance_faster

WORTH_SAYING = 1.1
"""How many times as fast a phase must become for a part to be to blame, or a change to help."""

JOB, FAULT = "job", "fault"
"""With which the key of a trial begins that leaves out another job, or a fault."""

_MOST_OF_IT = 0.5  # of what a kind of parts brings: then one of them comes before the kind
_AS_GOOD = 1.05  # a job beside, or a fault, is named before a part that brings no more than this
_STEPS = 4  # knobs that are turned one after another


@dataclass(frozen=True)
class TrialRun:
    """A run that was made to find out what something brings."""

    words: str  # what is different: without what, or with what
    typed: str  # how it is asked for on the command line; empty for what cannot be had
    seconds: float  # that the phase took then
    gain: float  # how many times as fast the phase is then; over all seeds that it was run with
    kind: Who | None = None  # who can change it; nobody where it is a part that costs nothing
    key: str = ""  # what programs call the part that costs nothing; empty for a change
    kin: str = ""  # key of the part that it is one piece of: a station among its peers, one rank
    weighed: ChangeEffect | None = None  # of a change that was run with several seeds
    change: Change | None = None  # what was changed
    advised: bool = False  # of a change: it surely helps, and no part of it helps as much
    nodes: NodeTime | None = None  # what the job's I/O costs, of a change of its nodes
    doubt: Doubt | None = None  # why a change is not advised that is simulated faster
    measured: str = ""  # what measured runs say of it, if they show no such gain: a sentence
    exact: bool = False  # whether its chance is not to be told

    @property
    def helps(self) -> bool:
        """Whether it is worth saying: a part by its gain, a change if it is advised."""
        return self.gain >= WORTH_SAYING if self.kind is None else self.advised

    @property
    def chance(self) -> float | None:
        """How likely a change helps in reality, too; None if it was not run with several seeds."""
        if self.exact or self.weighed is None or self.kind is None:
            return None
        return self.weighed.chance

    @property
    def doubted(self) -> str:
        """Why the change is not advised, if the simulator is known to get such changes wrong."""
        return "" if self.doubt is None else self.doubt.words

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


def worth_telling(tried: Sequence[TrialRun]) -> Iterator[TrialRun]:
    """Yield changes but those that turn a knob which others, no larger, turn as well or better.

    What brings more to one phase, and less to all I/O, is not better; nor what takes more nodes and
    brings no more than these.
    """
    for one in tried:
        rivals = [other for other in tried if other is not one and _rivals(other, one)]
        more = all(one.gain > TIE * other.gain * _dearer(one, other) for other in rivals)
        if more and all(whole_gain(one) >= whole_gain(other) for other in rivals):
            yield one


def _dearer(one: TrialRun, other: TrialRun) -> float:
    """Return how many times as many nodes a change takes as another; 1 or more."""
    return 1.0 if one.change is None else one.change.nodes_beyond(other.change)


def _rivals(other: TrialRun, one: TrialRun) -> bool:
    """Tell whether a change is like another, and no larger; of two of one size the better is.

    It must take nobody whom the other does not take.
    """
    if other.change is None or one.change is None or other.change.job != one.change.job:
        return False
    if other.change.who.place > one.change.who.place:
        return False
    theirs, mine = other.change.turned.keys(), one.change.turned.keys()
    smaller = len(theirs) < len(mine)
    return bool(theirs & mine) and (smaller or (len(theirs) == len(mine) and _before(other, one)))


def _before(other: TrialRun, one: TrialRun) -> bool:
    return (-other.gain, other.words) < (-one.gain, one.words)


def whole_gain(one: TrialRun) -> float:
    """Return how many times as fast all I/O is; of a part, the phase."""
    return one.gain if one.weighed is None else one.weighed.whole.value


class Trial(NamedTuple):
    """A run that is to be made; its fields are as those of :class:`TrialRun`."""

    words: str
    typed: str
    case: Case
    kind: Who | None = None
    key: str = ""
    kin: str = ""
    change: Change | None = None


class Attempt(NamedTuple):
    """A run to be made in some process."""

    case: Case
    until: float | None  # simulated seconds after which it is given up

    def size(self) -> float:
        """Return about how many bytes are simulated one by one."""
        return self.case.size()

    def seconds(self) -> Seconds | None:
        """Make it; return how long its phases took, None if it was given up."""
        try:
            return seconds_of(self.case.run(until=self.until))
        except OvertimeError:
            return None


def of_change(change: Change) -> Trial:
    """Return the run with a change."""
    return Trial(change.words, change.typed, change.case, change.who, change=change)


class Trials:
    """The runs of an explanation: what was tried, and how long each phase took.

    Attributes
    ----------
    base
        Seconds of each kind of phase as it is.
    made
        How many runs there were.
    refused
        Words of what could not be tried, with the reason.
    slower
        Words of what was given up when its I/O had taken twice as long as it is.
    unfinished
        Whether runs are missing.
    interrupted
        Whether somebody has interrupted a run; then no other begins.
    """

    def __init__(
        self,
        scenario: Scenario | JobsScenario,
        base: Seconds,
        clock: float,
        told: Sequence[Phase],
        processes: int,
        progress: Callable[[int, int], None] | None,
        kept: KeptSeconds | None = None,
    ) -> None:
        self._kept = kept
        self._until = math.inf  # by the monotonic clock
        self._ended_early = False
        self.unfinished = False
        self.interrupted = False
        self._scenario = scenario
        self.base = base
        self.made = 0
        self._ahead = 0  # runs that may follow those that are asked for, at most
        self._total: int | None = None  # as it was told last: it only becomes smaller
        self.refused: list[tuple[str, str]] = []
        self.slower: list[str] = []
        self._told = told
        self._counting = _counting(told)
        self._crew = Crew(processes)
        self._progress = progress
        self._trials: dict[str, Trial] = {}
        self._ended: dict[str, dict[int, Seconds]] = {}  # by how far the seed is from the first
        self._bases = {0: base}
        self._doubts: dict[tuple[str, Phase, float], Doubt | None] = {}
        self._clock = clock
        self._longest = max(self._counting, key=base.__getitem__, default=None)

    def make(self, trials: Iterable[Trial]) -> None:
        """Run what was not run before; a change of the machine is the same for every job."""
        fresh = {f"{one.words} {one.typed}": one for one in trials}
        fresh = {key: one for key, one in fresh.items() if key not in self._trials}
        ended = self._run({key: one.case for key, one in fresh.items()}, self._limit())
        self._trials |= {key: one for key, one in fresh.items() if key in ended}
        for key, outcome in ended.items():
            if outcome is None:
                given_up = self._trials[key]
                part = given_up.kind is None
                self.slower.append(f"without {given_up.words}" if part else given_up.words)
            elif isinstance(outcome, Failure):
                self.refused.append((self._trials[key].words, outcome.reason))
            else:
                self._ended[key] = {0: outcome}

    def _limit(self) -> float:
        """Return the simulated seconds after which I/O has surely taken twice as long as it is."""
        return self._clock + self._whole(self.base)

    def until(self, moment: float) -> None:
        """Begin no run after a moment of the monotonic clock, and end those under way then."""
        self._until = moment
        self._ended_early = False

    def expect(self, more: int) -> None:
        """Note how many runs may follow what is asked for next, at most."""
        self._ahead = more

    def again(self, base: Case, keys: Sequence[str]) -> None:
        """Run some changes, and the run as it is, with the seeds that follow.

        With more of them where the first leave open whether it was chance. No others follow.
        """
        self._ahead = (1 + len(keys)) * (MORE - SEEDS)
        self._with_seeds(base, keys, range(1, SEEDS))
        self._ahead = 0
        self._with_seeds(base, [key for key in keys if self._left_open(key)], range(SEEDS, MORE))
        self._tell(0, 0)

    def _left_open(self, key: str) -> bool:
        phases = (phase for phase in self._counting if phase in self._ended[key][0])
        weights = [self._weighed(key, phase) for phase in phases]
        return any(one is not None and left_open(one.whole, one.chance) for one in weights)

    def _with_seeds(self, base: Case, keys: Sequence[str], shifts: Sequence[int]) -> None:
        if not keys:
            return
        cases = {f"{shift}": base.with_seed(shift) for shift in shifts}
        cases |= {
            f"{shift} {key}": self._trials[key].case.with_seed(shift)
            for key in keys
            for shift in shifts
        }
        ended = self._run(cases)
        for into, name in ((self._bases, ""), *((self._ended[key], f" {key}") for key in keys)):
            for shift in shifts:
                one = ended.get(f"{shift}{name}")
                if isinstance(one, dict):
                    into[shift] = one

    @staticmethod
    def most_again(count: int) -> int:
        """Return how many runs :meth:`again` makes at most, of what :meth:`best` gives."""
        return (1 + _most_best(count)) * (MORE - 1)

    @staticmethod
    def most_pairs(count: int) -> int:
        """Return how many pairs there are at most of what :meth:`best` gives."""
        return comb(_most_best(count), 2)

    @staticmethod
    def most_climbed(maker: JobChanges) -> int:
        """Return how many runs :meth:`climb` makes at most."""
        return maker.most_further(far=True) + (_STEPS - 1) * maker.most_further(far=False)

    def climb(self, maker: JobChanges, who: Who) -> None:
        """Turn one knob of a job after another, each time from the best so far that ``who`` can do.

        What two changes bring together does not follow from what each brings: a file for each rank
        may do little until the ranks are on more nodes.
        """
        best = self._top(maker, who)
        for step in range(_STEPS):
            if best is None:
                return
            further = maker.further(self.change(best), who, far=step == 0)
            self.make(map(of_change, further))
            before, best = best, self._top(maker, who)
            if best == before:
                return

    def _top(self, maker: JobChanges, who: Who) -> str | None:
        """Return the best change of a job's knobs that takes somebody, and nobody beyond."""
        mine = {
            key: gain
            for key, gain in self._gains().items()
            if self._trials[key].kind is who and self.change(key).job == maker.name
        }
        return next(iter(self._ranked(mine)), None)

    def best(self, count: int) -> list[str]:
        """Return the changes that bring most to all I/O with the first seed, in their order.

        Of those that turn the same knobs only the best, and of each who can change something one.
        """
        gains = self._gains()
        bought = {key: gains[key] for key in gains if self._trials[key].kind is Who.MACHINE}
        others = {key: gains[key] for key in gains if key not in bought}
        by_knobs: dict[tuple[str, frozenset[str]], str] = {}
        for key in self._ranked(others):
            change = self.change(key)
            by_knobs.setdefault((change.job, frozenset(change.turned)), key)
        kept = list(by_knobs.values())
        by_who = {self._trials[key].kind: key for key in reversed(kept)}
        more = [key for key in by_who.values() if key not in kept[:count]]
        return [*kept[:count], *more, *self._ranked(bought)[:count]]

    def remedies(self, knobs: Iterable[str]) -> list[str]:
        """Return of each of some knobs the change that turns it alone and brings most."""
        gains = self._gains()
        alone = {
            knob: [key for key in gains if {*self.change(key).turned} == {knob}] for knob in knobs
        }
        return [max(keys, key=gains.__getitem__) for keys in alone.values() if keys]

    def _gains(self) -> dict[str, float]:
        """Return how many times as fast all I/O is with each change that is worth it.

        Other settings on more nodes by what they bring for each of these. Without those that the
        simulator is known to get wrong in the phase that takes longest.
        """
        whole = self._whole(self.base)
        gains = {
            key: whole / took / (change.nodes_beyond() if len(change.turned) > 1 else 1.0)
            for key, ended in self._ended.items()
            if (change := self._trials[key].change) and (took := self._whole(ended[0])) > 0.0
        }
        return {
            key: gain
            for key, gain in gains.items()
            if gain >= LEAST
            and (self._longest is None or self._doubt(key, self._longest, gain) is None)
        }

    def _doubt(self, key: str, phase: Phase, gain: float) -> Doubt | None:
        """Return why a change is not advised with which all I/O is so many times as fast."""
        asked = key, phase, gain
        if asked not in self._doubts:
            after = self._trials[key].case.scenario
            self._doubts[asked] = doubt_of(gain, self._scenario, after, phase.name)
        return self._doubts[asked]

    def _ranked(self, gains: Mapping[str, float]) -> list[str]:
        return ranked(gains, gains.__getitem__, lambda key: self.change(key).effort)

    def change(self, key: str) -> Change:
        """Return the change that a key stands for."""
        change = self._trials[key].change
        assert change is not None
        return change

    def without(self, phase: Phase) -> tuple[TrialRun, ...]:
        """Return the runs of a phase without each part, the largest gain first."""
        tried = [self._tried(key, phase) for key in self._of_phase(phase, changes=False)]
        tried.sort(key=lambda one: -one.gain * (_AS_GOOD if _happened(one) else 1.0))
        for one in [one for one in tried if one.kin]:
            _before_its_kind(tried, one, self.base[phase])
        return tuple(tried)

    def changed(self, phase: Phase) -> tuple[TrialRun, ...]:
        """Return the runs of a phase with each change: first those that help."""
        tried = [self._tried(key, phase) for key in self._of_phase(phase, changes=True)]
        helping = [one for one in tried if one.weighed is not None and one.weighed.helps]
        advised = ranked(worth_telling(helping), lambda one: one.gain, lambda one: one.effort)
        others = sorted((one for one in tried if one not in advised), key=lambda one: -one.gain)
        return (*(replace(one, advised=True) for one in advised), *others)

    def _of_phase(self, phase: Phase, *, changes: bool) -> list[str]:
        return [
            key
            for key, ended in self._ended.items()
            if (self._trials[key].change is not None) == changes and ended[0].get(phase, 0.0) > 0.0
        ]

    def _tried(self, key: str, phase: Phase) -> TrialRun:
        trial, ended = self._trials[key], self._ended[key]
        seconds = ended[0][phase]
        weight = self._weighed(key, phase)
        gain = self.base[phase] / seconds if weight is None else weight.gain.value
        whole = gain if weight is None else weight.whole.value
        return TrialRun(
            words=trial.words,
            typed=trial.typed,
            seconds=seconds,
            gain=gain,
            kind=trial.kind,
            key=trial.key,
            kin=trial.kin,
            weighed=weight,
            change=trial.change,
            nodes=self._node_time(key),
            doubt=None if trial.change is None else self._doubt(key, phase, whole),
            measured=""
            if trial.change is None
            else measured_words(whole, self._scenario, trial.case.scenario, phase.name),
        )

    def _weighed(self, key: str, phase: Phase) -> ChangeEffect | None:
        """Return how much faster a change makes a phase; None if it was run with too few seeds."""
        pairs = self._pairs(key)
        if len(pairs) < SEEDS:
            return None
        trial = self._trials[key]
        return weighed(
            ([before[phase] for before, _ in pairs], [after[phase] for _, after in pairs]),
            (
                [self._whole(before) for before, _ in pairs],
                [self._whole(after) for _, after in pairs],
            ),
            lambda times: chance_faster(times, self._scenario, trial.case.scenario, phase.name),
        )

    def _pairs(self, key: str) -> list[tuple[Seconds, Seconds]]:
        """Return the run as it is and with a change, for each seed that both were run with."""
        ended = self._ended[key]
        return [(before, ended[shift]) for shift, before in self._bases.items() if shift in ended]

    def _node_time(self, key: str) -> NodeTime | None:
        """Return the node-seconds of I/O of the changed job, without and with the change."""
        change = self._trials[key].change
        if change is None:
            return None
        own = [phase for phase in self._counting if phase.job == change.job]
        before, after = (
            [sum(one.get(phase, 0.0) for phase in own) for one in runs]
            for runs in zip(*self._pairs(key), strict=True)
        )
        return node_time(change.nodes, before, after)

    def _whole(self, seconds: Seconds) -> float:
        """Return the seconds of all I/O that is told; 0 where a part of it is not there."""
        parts = [seconds.get(phase, 0.0) for phase in self._counting]
        return sum(parts) if all(parts) else 0.0

    def _run(
        self, cases: Mapping[str, Case], until: float | None = None
    ) -> dict[str, Seconds | Failure | None]:
        """Run cases; tell the progress over all that there may be. None of what is given up."""
        ended = self._recalled(cases)
        if cases:
            self._tell(len(ended), len(cases))
        missing = {key: Attempt(case, until) for key, case in cases.items() if key not in ended}
        for key, outcome in self._simulated(missing):
            ended[key] = outcome
            if self._kept is not None and isinstance(outcome, dict):
                self._kept.put(cases[key], outcome)
            self._tell(len(ended), len(cases))
        self.made += len(ended)
        return {key: ended[key] for key in cases if key in ended}  # no process decides the order

    def _recalled(self, cases: Mapping[str, Case]) -> dict[str, Seconds | Failure | None]:
        """Return what is known of cases from before."""
        if self._kept is None:
            return {}
        found = ((key, self._kept.get(case)) for key, case in cases.items())
        return {key: seconds for key, seconds in found if seconds is not None}

    def _simulated(
        self, cases: Mapping[str, Attempt]
    ) -> Iterator[tuple[str, Seconds | Failure | None]]:
        """Yield what comes of cases as they end, until the time is over or somebody interrupts."""
        if not cases:
            return
        if self.interrupted or self._ended_early:
            self.unfinished = True
            return
        left = len(cases)
        try:
            for ended in each(Attempt.seconds, cases, self._crew, size=Attempt.size):
                yield ended
                left -= 1
                if left and time.monotonic() > self._until:
                    self._ended_early = self.unfinished = True
                    return
        except KeyboardInterrupt:
            self.interrupted = self.unfinished = True

    def _tell(self, ended: int, asked: int) -> None:
        total = self.made + asked + self._ahead
        self._total = total if self._total is None else min(self._total, total)
        if self._progress is not None:
            self._progress(self.made + ended, self._total)


def _most_best(count: int) -> int:
    """Return how many changes are the best at most: of jobs, of the machine, one of each who."""
    return 2 * count + len(Who)


def _counting(told: Sequence[Phase]) -> list[Phase]:
    """Return the phases whose seconds are the I/O: of a replay, which also computes, its calls."""
    with_calls = {one.job for one in told if one.name != REPLAY}
    return [one for one in told if one.name != REPLAY or one.job not in with_calls]


def _happened(one: TrialRun) -> bool:
    """Tell whether it came from outside the job: another job, or a fault."""
    return one.key.startswith((JOB, FAULT))


def _before_its_kind(tried: list[TrialRun], one: TrialRun, seconds: float) -> None:
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
