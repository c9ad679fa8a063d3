"""Tuning: which settings make the I/O of a job take the least time, found in few runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import inf, log
from pathlib import Path
from typing import Any

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.config.scenario import Scenario, asked_scenario
from xc40io.config.workload_mix import WorkloadMix
from xc40io.studies.advice.job_knobs import knobs_of, read_allowed
from xc40io.studies.advice.job_nature import (
    OBJECTIVES,
    Objective,
    bytes_of_record,
    longest_phase,
    nature_of,
    replays,
    seconds_of_record,
)
from xc40io.studies.advice.knobs import Setting
from xc40io.studies.advice.space import Limit, Space, parse_limits
from xc40io.studies.advice.weighing import LEAST, MORE, SEEDS, TIE, left_open
from xc40io.studies.axes import Axis, Over, axes_of
from xc40io.studies.output_period import OutputCost, output_cost
from xc40io.studies.processes import Failure, bytes_to_move
from xc40io.studies.ratio import Ratio, paired
from xc40io.studies.simulations import Ended, Progress, Simulations, seeds_of
from xc40io.studies.study_result import KeptStudy
from xc40io.studies.tune.beside import (
    ALONE,
    NOTHING,
    TYPICAL,
    OtherLoad,
    read_beside,
    without_others,
)
from xc40io.studies.tune.company import MixOutcome, candidates, keep_company
from xc40io.studies.tune.neighbours import Neighbours
from xc40io.studies.tune.search import BATCH, Budget, Search
from xc40io.studies.tune.trial import (
    RunnerUp,
    Trial,
    best_sound,
    by_seed,
    compared,
    doubt_about,
    level,
    runners_up,
)
from xc40io.telling.answer import Column, Table
from xc40io.telling.units import FACTOR, FLAG, NUMBER, SECONDS, WORDS
from xc40io.topology.text import format_count
from xc40io.trust.doubts import Doubt
from xc40io.trust.how_sure import LIKELY
from xc40io.trust.sureness import chance_faster

RUNNERS_UP = 5
"""How many settings stand behind the best one in the answer."""

GIVEN_UP = 3.0
"""Times as long as the best so far: a setting that takes longer is given up."""

_GOOD = 5  # best settings whose neighbours are tried

_NEAR = log(1.15)
"""Of logarithms of seconds: settings further from the best get no further seed."""


@dataclass(frozen=True)
class Tuning(KeptStudy):
    """What :func:`tune` returns."""

    space: Space  # what could be set, and what the job is
    objective: Objective  # what was to become small
    budget: Budget  # what there was to spend
    seeds: tuple[int, ...]  # with which the best settings were run
    trials: tuple[Trial, ...]  # all settings that were tried, in order; the first is the present
    importance: Mapping[str, float]  # of each knob, adding up to 1; empty if all did alike
    exhaustive: bool  # whether all settings were tried
    finished: bool  # whether the search came to its end; False after an interrupt
    confirmed: tuple[tuple[float, ...], tuple[float, ...]] | None = None  # seconds now and with the
    # best, with seeds that took no part in the search; None if it was interrupted before
    beside: OtherLoad = ALONE  # what others did meanwhile
    idle: tuple[tuple[float, ...], tuple[float, ...]] | None = None  # beside the usual load: the
    # seconds now and with the best on an idle machine, with the same seeds as `confirmed`
    company: MixOutcome | None = None  # beside a mix: what came of settings beside its jobs
    period: float | None = None  # seconds from one output of the job to the next, if it is known

    @property
    def present(self) -> Trial:
        """The setting as it is now."""
        return self.trials[0]

    @property
    def cost(self) -> OutputCost | None:
        """What the I/O costs if it comes once in a period, now and with the best."""
        if self.period is None or not self.present.seconds:
            return None
        now, best = ((one.scenario.nodes, one.mean) for one in (self.present, self.best))
        return output_cost(self.period, now, None if self.already_best else best)

    @property
    def ranked(self) -> list[Trial]:
        """All settings that could be run, the best first.

        Settings with more seeds come first: only settings near the best got more seeds.
        """
        ran = [trial for trial in self.trials if trial.seconds]
        return sorted(
            ran, key=lambda trial: (-len(trial.seconds), level(trial, len(trial.seconds)))
        )

    @property
    def longest_phase(self) -> str:
        """The phase that takes longest now, of those whose time is minimised."""
        now = self.present
        return longest_phase(now.records[0], self.objective, replay=replays(now.scenario))

    @cached_property
    def not_advised(self) -> tuple[tuple[Trial, Doubt], ...]:
        """Settings that were simulated faster than the best, and why they are not advised."""
        least = compared(self.present, self.best).value * TIE
        found = [
            (compared(self.present, trial).value, trial, doubt)
            for trial in self.trials
            if trial.seconds and compared(self.present, trial).value > least
            if (doubt := self.doubt_about(trial)) is not None
        ]
        return tuple((trial, doubt) for _, trial, doubt in sorted(found, key=lambda one: -one[0]))

    def doubt_about(self, trial: Trial) -> Doubt | None:
        """Return why a setting is not advised though it is faster; None if it may be."""
        return doubt_about(trial, self.present, self.longest_phase)

    @cached_property
    def best(self) -> Trial:
        """The best setting; of those that are as good, the one with the least to change.

        Beside the jobs of a mix the one that was chosen there. None that is only faster by what the
        simulator is known to get wrong.
        """
        if self.company is not None:
            return self.company.chosen
        return best_sound(self.trials, self.space, self.longest_phase)

    def __repr__(self) -> str:
        """Return a line: what the best setting brings, and how many were tried."""
        tried = format_count(len(self.trials), "setting")
        if self.already_best:
            return f"<Tuning: nothing of {tried} is certain to be faster than it is now>"
        return f"<Tuning: {self.gain.value:.3g} times as fast with the best of {tried}>"

    @property
    def gain(self) -> Ratio:
        """How many times as fast the job's I/O is with the best setting as it is now.

        From seeds that took no part in the search: what is best of many is so by luck, too.
        """
        if self.company is not None:
            return self.company.gain
        if self.confirmed is not None:
            return paired(*self.confirmed)
        return compared(self.present, self.best)

    @property
    def idle_gain(self) -> Ratio | None:
        """The same on an idle machine, where the search was made beside the usual load."""
        return None if self.idle is None else paired(*self.idle)

    @property
    def fresh_seeds(self) -> tuple[int, ...]:
        """Seeds that took no part in the search, with which the best was run."""
        first = fresh_seeds(self.seeds)
        count = len(first) if self.confirmed is None else len(self.confirmed[0])
        return tuple(range(first[0], first[0] + count))

    @property
    def chance(self) -> float:
        """How likely a real run is to be faster with the best setting."""
        pair = self.present.scenario, self.best.scenario
        return chance_faster(self.gain.value, *pair, self.longest_phase)

    @property
    def already_best(self) -> bool:
        """Whether nothing has to change: nothing that was tried is surely, and really, faster."""
        gain = self.gain
        return (
            self.best is self.present
            or gain.value < LEAST
            or (gain.low is not None and not gain.clear)
            or self.chance < LIKELY
        )

    @property
    def runners_up(self) -> tuple[RunnerUp, ...]:
        """The settings behind the best one, the nearest first."""
        behind = runners_up(self.trials, self.best)
        sound = (one for one in behind if self.doubt_about(one.trial) is None)
        return tuple(islice(sound, RUNNERS_UP))

    @property
    def failures(self) -> tuple[Trial, ...]:
        """The settings that could not be run."""
        return tuple(trial for trial in self.trials if trial.failure)

    @property
    def table(self) -> Table:
        """A row for each run: trial, seed, the knobs, seconds, why not; and beside what.

        Beside the jobs of a mix for each seed the mean over these, and how many times as long the
        others' I/O takes.
        """
        columns = (
            *(Column("trial", NUMBER), Column("seed", NUMBER)),
            *(Column(knob.name, WORDS) for knob in self.space.knobs),
            *(Column("seconds", SECONDS), Column("given_up", FLAG), Column("failure", WORDS)),
            *(Column("beside", WORDS), Column("others", FACTOR)),
        )
        return Table(columns, lambda: list(self._rows()))

    def _rows(self) -> Iterator[dict[str, Any]]:
        searched = TYPICAL if self.beside.usual else NOTHING
        for trial in self.trials:
            for seed, seconds in by_seed(trial, self.seeds):
                yield self._row(trial, seed, seconds, searched)
        pair = self.present, self.best
        for beside, pairs in ((searched, self.confirmed), (NOTHING, self.idle)):
            for trial, times in zip(pair, pairs or (), strict=False):
                for seed, seconds in zip(self.fresh_seeds, times, strict=True):
                    yield self._row(trial, seed, seconds, beside)
        if self.company is not None:
            for met, seeds in self.company.runs():
                for seed, one in zip(seeds, met.meetings, strict=True):
                    yield self._row(met.trial, seed, one.seconds, self.beside.name, one.others)

    def _row(
        self,
        trial: Trial,
        seed: int,
        seconds: float | None,
        beside: str,
        others: float | None = None,
    ) -> dict[str, Any]:
        number = next(place for place, one in enumerate(self.trials) if one is trial)
        setting = {knob.name: knob.written(trial.setting) for knob in self.space.knobs}
        run = {"seconds": seconds, "given_up": trial.given_up, "failure": trial.failure}
        return {"trial": number, "seed": seed, **setting, **run, "beside": beside, "others": others}

    def written(self, setting: Setting) -> list[str]:
        """Return the values of the knobs as they are typed; ``-`` for one that does nothing."""
        knobs = self.space.knobs
        return ["-" if knob.idles(setting) else knob.written(setting) for knob in knobs]


def fresh_seeds(seeds: Sequence[int]) -> tuple[int, ...]:
    """Return as many seeds behind those of a search, three at least: the best is run with them."""
    first = seeds[-1] + 1
    return tuple(range(first, first + max(len(seeds), SEEDS)))


@dataclass(frozen=True)
class Question:
    """What a search is asked: how to run which job, what may be turned, and for what."""

    scenario: Scenario  # as it is now
    allow: Sequence[str]
    at_most: Sequence[Limit]
    over: Sequence[Axis]
    objective: Objective
    budget: Budget
    repeat: int
    simulations: Simulations
    beside: str | WorkloadMix | None = None

    def begin(self) -> Tuner:
        """Run the job as it is: what it does decides what can be turned.

        Raises
        ------
        InputError
            If it cannot be run, or there is nothing that may be turned.
        """
        began, scenario = time.monotonic(), self.scenario
        self.simulations.expect(self.budget.runs, seconds=self.budget.seconds)
        if isinstance(scenario.machine, str):  # read once, not for each setting
            scenario = scenario.model_copy(update={"machine": load_machine(scenario.machine)})
        beside = read_beside(self.beside, scenario)
        scenario = beside.loaded(scenario)
        seeds = seeds_of(scenario.seed, self.repeat)
        (ended,) = self.simulations.run([scenario])
        now = with_run(Trial({}, scenario), ended, None, self.objective)
        nature = nature_of(scenario, now.records[0])
        knobs = knobs_of(nature, self.allow, self.over)
        if not knobs:
            raise InputError(
                "there is nothing to tune: the job has no choice for any of the knobs allowed "
                f"({', '.join(self.allow) or 'none'}); right would be --allow all, or --over "
                "PATH=VALUES"
            )
        space = Space(nature, tuple(knobs), tuple(self.at_most))
        search = Search(space, scenario.seed)
        search.tell(space.present, log(now.seconds[0]))
        now = replace(now, setting=space.present)
        return Tuner(self, beside, space, search, seeds, [now], began)


@dataclass
class Tuner:
    """A search for good settings that can be stopped at any time; see :func:`tune`."""

    question: Question
    beside: OtherLoad  # what others do meanwhile
    space: Space
    search: Search
    seeds: tuple[int, ...]  # with which the best settings are run
    trials: list[Trial]  # the first is as it is now
    began: float  # by the clock that never goes back
    exhaustive: bool = False
    finished: bool = False
    gives_up: bool = True  # runs that cannot be the best; not where real ones are compared with all
    confirmed: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    idle: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    company: MixOutcome | None = None

    def run(self) -> Tuning:
        """Search until the budget is spent, or nothing is left to try; return what was found.

        Raises
        ------
        InputError
            If the job cannot be run as it is with another seed, or beside others.
        """
        self._explore()
        self._race()
        self._simplify()
        self._confirm()
        if self.beside.mix is not None:
            self.company = self._meet(self.beside.mix)
        self.finished = True
        return self.found()

    def include(self, settings: Sequence[Setting], names: Sequence[str]) -> None:
        """Try settings that were run for real; ``names``: what to call each.

        Raises
        ------
        InputError
            If one cannot be run.
        """
        self.gives_up = False
        for setting, name in zip(settings, names, strict=True):
            if not self._known(setting, 1):
                self._try([setting])
            key = self.space.key(setting)
            trial = next(one for one in self.trials if self.space.key(one.setting) == key)
            if trial.failure:
                raise InputError(f"{name}: the job cannot be run with its setting: {trial.failure}")

    def found(self) -> Tuning:
        """Return the tuning with the runs that were made so far."""
        return Tuning(
            space=self.space,
            objective=self.question.objective,
            budget=self.question.budget,
            seeds=self.seeds,
            trials=tuple(self.trials),
            importance=self.search.importance(),
            exhaustive=self.exhaustive,
            finished=self.finished,
            confirmed=self.confirmed,
            beside=self.beside,
            idle=self.idle,
            company=self.company,
            **self.question.simulations.counted(),
        )

    def _explore(self) -> None:
        """Try settings with one seed, while there are runs to spend and settings to try."""
        settings = self.space.settings
        most = self.question.budget.to_explore(len(self.seeds))
        counted = self.question.budget.runs is not None  # else the clock decides how many
        if settings is not None and counted and len(settings) <= most:
            self._try([one for one in settings if not self._known(one, 1)])
            self.exhaustive = True
            return
        while len(self.trials) < most and not self.question.budget.over(
            time.monotonic() - self.began
        ):
            count = min(BATCH, most - len(self.trials))
            asked = self.search.ask(count, self._good())
            if not asked:
                self.exhaustive = settings is not None
                return
            self._try(asked)

    def _good(self) -> list[Setting]:
        """Return the best settings so far with the first seed, the best first."""
        ran = [trial for trial in self.trials if trial.seconds]
        return [trial.setting for trial in sorted(ran, key=lambda one: one.seconds[0])[:_GOOD]]

    def _try(self, settings: Sequence[Setting]) -> None:
        """Run settings with the first seed, and tell the search their results."""
        made = [(one, self.space.scenario(one)) for one in settings]
        fresh = [Trial(one, scenario) for one, scenario in made if scenario is not None]
        scenarios, most = [trial.scenario for trial in fresh], self._most()
        until = [self._clock(scenario, most) for scenario in scenarios]
        ended = self.question.simulations.run(scenarios, until)
        for trial, one, limit in zip(fresh, ended, until, strict=True):
            over = not isinstance(one, Failure) and one.simulated >= limit
            done = (
                replace(trial, seconds=(most,), given_up=True) if over else self._with(trial, one)
            )
            self.trials.append(done)
            self.search.tell(done.setting, log(done.seconds[0]) if done.seconds else None)

    def _most(self) -> float:
        """Return the seconds of I/O after which a setting with the first seed is given up."""
        if not self.gives_up or self.question.objective != "all":  # else others count, too
            return inf
        return GIVEN_UP * min(trial.seconds[0] for trial in self.trials if trial.seconds)

    def _clock(self, scenario: Scenario, most: float) -> float:
        """Return the simulated seconds after which I/O has taken so many for as many bytes."""
        now = self.trials[0]
        moved, usual = bytes_to_move(scenario), bytes_to_move(now.scenario)
        more = max(moved / usual, 1.0) if usual else 1.0
        return now.records[0].simulated - now.seconds[0] + more * most

    def _race(self) -> None:
        """Give the next seeds to the present setting and to those that are near the best."""
        for number, width in enumerate(self.question.budget.widths(len(self.seeds)), start=1):
            ran = [trial for trial in self.trials if len(trial.seconds) == number]
            ran.sort(key=lambda trial: level(trial, number))
            first = list(islice(filter(self._sound, ran), width))
            least = level(first[0], number)
            near = [trial for trial in first if level(trial, number) - least < _NEAR]
            racing = list({id(trial): trial for trial in (self.trials[0], *near)}.values())
            seed = {"seed": self.seeds[number]}
            ended = self.question.simulations.run(
                [trial.scenario.model_copy(update=seed) for trial in racing]
            )
            for trial, one in zip(racing, ended, strict=True):
                place = next(at for at, other in enumerate(self.trials) if other is trial)
                self.trials[place] = self._with(trial, one)

    def _simplify(self) -> None:
        """Turn back each knob of the best setting that brings nothing, one after another."""
        while True:
            best = self._best()
            simpler = [
                Trial(setting, scenario)
                for setting in self.space.simpler(best.setting)
                if not self._known(setting, len(best.seconds))
                and (scenario := self.space.scenario(setting)) is not None
            ]
            for trial in simpler:
                self._run_all(trial, len(best.seconds))
            if not simpler or self._best() is best:
                return

    def _longest(self) -> str:
        now = self.trials[0]
        return longest_phase(now.records[0], self.question.objective, replay=replays(now.scenario))

    def _sound(self, trial: Trial) -> bool:
        """Tell whether a setting is not faster by what the simulator is known to get wrong."""
        return doubt_about(trial, self.trials[0], self._longest()) is None

    def _best(self) -> Trial:
        return best_sound(self.trials, self.space, self._longest())

    def _known(self, setting: Setting, seeds: int) -> bool:
        """Tell whether a setting was run with so many seeds, or cannot be run."""
        key = self.space.key(setting)
        return any(
            self.space.key(trial.setting) == key
            and (trial.failure or trial.given_up or len(trial.seconds) >= seeds)
            for trial in self.trials
        )

    def _run_all(self, trial: Trial, seeds: int) -> None:
        """Run a setting with the first seeds, and add it to what was tried."""
        runs = [trial.scenario.model_copy(update={"seed": seed}) for seed in self.seeds[:seeds]]
        for ended in self.question.simulations.run(runs):
            trial = self._with(trial, ended)
        key = self.space.key(trial.setting)
        others = [one for one in self.trials if self.space.key(one.setting) != key]
        self.trials[:] = [*others, trial]

    def _confirm(self) -> None:
        """Run the best setting, and the present one, with seeds that took no part so far.

        Where others did what they usually do, also on an idle machine.
        """
        best, present = self._best(), self.trials[0]
        if self.beside.mix is not None or (best is present and not self.beside.usual):
            return
        pair = present.scenario, best.scenario
        idle = [without_others(one) for one in pair] if self.beside.usual else []
        runs = [*pair, *idle]
        seeds = fresh_seeds(self.seeds)
        seconds = self._fresh(runs, seeds)
        gain = paired(*seconds[:2]) if all(seconds) else Ratio(0.0)
        if left_open(gain, chance_faster(gain.value, *pair, self._longest())):
            more = self._fresh(runs, range(seeds[-1] + 1, seeds[0] + MORE))
            seconds = [one + other for one, other in zip(seconds, more, strict=True)]
        if all(seconds[:2]):
            self.confirmed = seconds[0], seconds[1]
        if idle and all(seconds):
            self.idle = seconds[2], seconds[3]

    def _fresh(
        self, scenarios: Sequence[Scenario], seeds: Sequence[int]
    ) -> list[tuple[float, ...]]:
        """Return the seconds of scenarios by fresh seed; none of one that cannot be run.

        The first is the job as it is, which must run.
        """
        runs = [one.model_copy(update={"seed": seed}) for one in scenarios for seed in seeds]
        ended = iter(self.question.simulations.run(runs))
        found = []
        for scenario in scenarios:
            trial = Trial({}, scenario)
            for one in [next(ended) for _ in seeds]:
                if isinstance(one, Failure) and scenario is scenarios[0]:
                    raise InputError(f"the job cannot be run as it is: {one.reason}")
                trial = self._with(trial, one)
            found.append(trial.seconds if len(trial.seconds) == len(seeds) else ())
        return found

    def _meet(self, mix: WorkloadMix) -> MixOutcome:
        """Run the present setting, the best and those next to it beside the jobs of a mix."""
        space, present = self.space, self.trials[0]
        best = self._best()
        others = [one.trial for one in runners_up(self.trials, best) if self._sound(one.trial)]
        tried = candidates(present, best, others, lambda trial: trial.records[0].osts)
        usual = bytes_of_record(present.records[0])
        return keep_company(
            Neighbours(
                mix, present.scenario, usual, self.question.objective, self.question.simulations
            ),
            tried,
            lambda trial: space.effort(trial.setting),
            self.seeds[0],
            fresh_seeds(self.seeds),
        )

    def _with(self, trial: Trial, ended: Ended) -> Trial:
        """Return a setting with the result of one more run."""
        return with_run(trial, ended, self.trials[0], self.question.objective)


def with_run(trial: Trial, ended: Ended, present: Trial | None, objective: Objective) -> Trial:
    """Return a setting with the result of one more run; `present`: None of the first of all.

    Raises
    ------
    InputError
        If the job cannot be run as it is.
    """
    reason = ended.reason if isinstance(ended, Failure) else "; ".join(ended.troubles)
    if reason and present is not None and trial is not present:
        return Trial(trial.setting, trial.scenario, failure=reason)
    if isinstance(ended, Failure):
        raise InputError(f"the job cannot be run as it is: {reason}")
    seconds = seconds_of_record(ended, objective, replay=replays(trial.scenario))
    if present is not None:
        moved, now = (bytes_of_record(one) for one in (ended, present.records[0]))
        seconds *= now / moved if moved and now else 1.0
    return replace(trial, records=(*trial.records, ended), seconds=(*trial.seconds, seconds))


def tune(
    scenario: Scenario | str | Path,
    *,
    allow: str | Sequence[str] | None = None,
    at_most: Mapping[str, int | str] | None = None,
    over: Over | None = None,
    objective: Objective = "all",
    budget: int | str = 60,
    repeat: int = 3,
    jobs: int | None = None,
    scheduler: str | None = None,
    store: str | Path | None = None,
    progress: Progress | None = None,
    beside: str | WorkloadMix | None = None,
) -> Tuning:
    """Search for the settings with which the I/O of a job takes the least time.

    Where all settings are no more than the budget, all are tried; else the search begins with what
    the sites' guides say and goes on with the neighbours of the best and with Optuna's
    tree-structured Parzen estimator. A setting begins with one seed; those near the best are run
    with more. Every run that has finished is kept at once, so that the same search again begins
    where it was stopped, and comes to the same answer.

    Parameters
    ----------
    scenario
        The job as it is now, itself or by its name or path.
    allow
        Names of knobs that may be turned, or ``all``:
        :data:`xc40io.studies.advice.job_knobs.NAMES`. What neither program nor batch script has to
        be changed for, unless given.
    at_most
        Limits: ``{"osts": 8, "memory": "2GiB"}``, see :data:`xc40io.studies.advice.space.LIMITS`.
    over
        Values of fields by path, in place of the choices of a knob, or as a knob more:
        ``{"striping.count": [8, 16], "nodes": "64..256"}``.
    objective
        Of which phases the seconds are to become few.
    budget
        Runs, or seconds as ``120s``: with seconds the answer depends on how fast this computer is.
    repeat
        Seeds with which the best settings are run: that of the scenario, and those that follow.
    jobs, scheduler, store, progress
        As :meth:`~xc40io.studies.simulations.Simulations.of_study` takes them.
    beside
        What others do meanwhile: ``typical``, what they usually do, another day for each seed;
        ``nothing``; or a mix as :func:`~xc40io.config.workload_mix.load_mix` returns it, its name
        or its file, beside whose jobs the best settings are run: docs/tune.md. ``typical`` unless
        given, where the machine has statistics of others and the job no background of its own.

    Raises
    ------
    InputError
        If the job cannot be run as it is, a name or a value is none, or nothing can be turned.
    FailureError
        If Optuna is not installed.
    """
    if objective not in OBJECTIVES:
        raise InputError(f"objective = {objective!r}: right would be {', '.join(OBJECTIVES)}")
    spent = Budget.parse(str(budget))
    question = Question(
        asked_scenario(scenario),
        allow=read_allowed(allow if allow is None or isinstance(allow, str) else ",".join(allow)),
        at_most=parse_limits(f"{name}={most}" for name, most in (at_most or {}).items()),
        over=axes_of(over or ()),
        objective=objective,
        budget=spent,
        repeat=repeat,
        simulations=Simulations.of_study(jobs, store, progress, scheduler),
        beside=beside,
    )
    return question.begin().run()
