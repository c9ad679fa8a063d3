"""Advice taken at its word: asked for, applied, and run on seeds that the adviser did not see."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.engine.randomness import stream
from xc40io.studies.advice.job_knobs import knobs_of
from xc40io.studies.advice.job_nature import nature_of, replays, seconds_of_record
from xc40io.studies.advice.knobs import Setting
from xc40io.studies.advice.space import Space
from xc40io.studies.explain.explanation import explain
from xc40io.studies.processes import Failure, bytes_to_simulate
from xc40io.studies.ratio import Ratio, paired
from xc40io.studies.simulations import Simulations
from xc40io.studies.tune.tuning import tune

SEEDS = 1001, 1002, 1003
"""Of the runs that judge; advisers begin at the seed of the scenario, which is 1."""

KNOBS = (
    *("stripe-count", "stripe-size", "aggregators", "lock-mode", "buffering"),
    *("ranks-per-node", "collective", "layout"),
)
"""What may be turned by ``tune`` and by the plain search: all but the place of the files."""

HARM = 1.03
"""How many times as long a job takes that advice has harmed, and as fast one that it has helped."""

_BUDGET = 40
"""Runs of ``tune``."""

_DRAWN = 60
"""Settings that the plain search draws."""
_AGAIN = 3
"""How many of its best are run with the seeds that judge."""


class JudgedTrial(NamedTuple):
    """A piece of advice, or the find of a search, and what it brought."""

    words: str  # what is to be changed
    promised: float  # times as fast, as it was printed
    gain: float  # times as fast: the geometric mean over the seeds that judge

    @property
    def verdict(self) -> str:
        """``helped``, ``harmed`` or ``nothing``."""
        if self.gain >= HARM:
            return "helped"
        return "harmed" if self.gain < 1 / HARM else "nothing"


class JobTrial(NamedTuple):
    """What came of all advice on one job."""

    job: str
    explained: tuple[
        JudgedTrial, ...
    ]  # remedies that explain printed for who runs or writes the job
    tuned: JudgedTrial | None  # what tune printed; None where it said to change nothing
    searched: float  # times as fast with the best that a plain search over all knobs found

    @property
    def advised(self) -> float:
        """Times as fast with the best of the advice; 1 where there was none."""
        found = [*self.explained, *([self.tuned] if self.tuned is not None else [])]
        return max((one.gain for one in found), default=1.0)

    @property
    def missed(self) -> float:
        """Times as fast as with the advice that the plain search got."""
        return self.searched / max(self.advised, 1.0)


class Subject(NamedTuple):
    """A job that advice is asked for."""

    job: str  # its name
    scenario: Scenario

    def size(self) -> float:
        """Return about how many bytes a run of it simulates."""
        return bytes_to_simulate(self.scenario)


def try_advice(subject: Subject) -> JobTrial:
    """Ask for advice on a job, follow each piece of it, and search without any."""
    job, scenario = subject
    simulations = Simulations()
    explained = explain(scenario, jobs=1)
    remedies = tuple(
        JudgedTrial(
            one.change.words,
            one.weighed.whole.value,
            _gain(simulations, scenario, one.change.case.scenario),
        )
        for one in explained.advice
        if one.change is not None
        and one.weighed is not None
        and isinstance(one.change.case.scenario, Scenario)
    )
    return JobTrial(job, remedies, _tuned(simulations, scenario), _searched(simulations, scenario))


def _tuned(simulations: Simulations, scenario: Scenario) -> JudgedTrial | None:
    """Return what ``tune`` advises, judged; None where it advises nothing."""
    try:
        found = tune(scenario, allow=KNOBS, budget=_BUDGET, jobs=1, beside="nothing")
    except InputError:  # nothing can be turned
        return None
    if found.already_best:
        return None
    setting = found.best.setting
    words = ", ".join(
        f"{knob.name} {knob.label(setting[knob.name])}"
        for knob in found.space.knobs
        if not knob.idles(setting) and setting.get(knob.name) != knob.present
    )
    return JudgedTrial(words, found.gain.value, _gain(simulations, scenario, found.best.scenario))


def _gain(simulations: Simulations, before: Scenario, after: Scenario) -> float:
    """Return how many times as fast the job's I/O becomes, over the seeds that judge."""
    return _ratio(_seconds(simulations, before, SEEDS), _seconds(simulations, after, SEEDS)).value


def _ratio(before: Sequence[float], after: Sequence[float]) -> Ratio:
    return paired(before, after) if math.inf not in after else Ratio(0.0)


def _seconds(simulations: Simulations, scenario: Scenario, seeds: Sequence[int]) -> list[float]:
    """Return the seconds of a job's I/O by seed; without end where it cannot be run."""
    runs = [scenario.model_copy(update={"seed": seed}) for seed in seeds]
    return [
        math.inf
        if isinstance(ended, Failure) or ended.troubles
        else seconds_of_record(ended, "all", replay=replays(scenario))
        for ended in simulations.run(runs)
    ]


def _searched(simulations: Simulations, scenario: Scenario) -> float:
    """Return how many times as fast the best setting is that is found without any knowledge."""
    (now,) = simulations.run([scenario])
    if isinstance(now, Failure):
        raise InputError(f"the job cannot be run as it is: {now.reason}")
    nature = nature_of(scenario, now)
    space = Space(nature, tuple(knobs_of(nature, KNOBS, ())), ())
    made = {
        str(space.key(setting)): made
        for setting in _drawn(space)
        if (made := space.scenario(setting)) is not None
    }
    seeds = (scenario.seed,)
    times = {key: _seconds(simulations, one, seeds)[0] for key, one in made.items()}
    best = sorted(times, key=lambda key: times[key])[:_AGAIN]
    return max((_gain(simulations, scenario, made[key]) for key in best), default=1.0)


def _drawn(space: Space) -> Iterator[Setting]:
    """Yield settings at random, all of them where there are few."""
    settings = space.settings
    draw = stream(space.nature.scenario.seed, "plain search")
    if settings is not None:
        places = draw.permutation(len(settings))[:_DRAWN]
        yield from (settings[place] for place in places)
        return
    for _ in range(_DRAWN):
        yield space.at(tuple(int(draw.integers(choices)) for choices in space.shape))
