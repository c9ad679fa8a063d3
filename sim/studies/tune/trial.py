"""Settings that were tried, with what came of their runs, and the best of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

from xc40io.config.scenario import Scenario
from xc40io.studies.advice.knobs import Setting
from xc40io.studies.advice.space import Space
from xc40io.studies.advice.weighing import ranked
from xc40io.studies.ratio import Ratio, paired
from xc40io.studies.record import RunRecord
from xc40io.trust.doubts import Doubt, doubt_of


@dataclass(frozen=True)
class Trial:
    """A setting and the results of its runs.

    Where it moves other bytes than the job does now, its seconds are those for as many bytes.
    """

    setting: Setting  # the values of the knobs
    scenario: Scenario  # the job with them
    records: tuple[RunRecord, ...] = ()  # of the first seeds; none if a run could not be
    seconds: tuple[float, ...] = ()  # of the job's I/O, by seed
    failure: str = ""  # why it cannot be run
    given_up: bool = False  # whether it takes more seconds than these, and cannot be the best

    @property
    def mean(self) -> float:
        """Seconds on average over its seeds."""
        return sum(self.seconds) / len(self.seconds)


class RunnerUp(NamedTuple):
    """A setting behind the best one."""

    trial: Trial
    slower: Ratio  # how many times as long its I/O takes, over the seeds that both were run with


def by_seed(trial: Trial, seeds: Sequence[int]) -> list[tuple[int, float | None]]:
    """Return the seconds of a setting with each seed that it was run with."""
    if trial.failure:
        return [(seeds[0], None)]
    return list(zip(seeds, trial.seconds, strict=False))


def level(trial: Trial, seeds: int) -> float:
    """Return the mean logarithm of the seconds with the first seeds."""
    return sum(map(log, trial.seconds[:seeds])) / seeds


def best_of(trials: Iterable[Trial], space: Space) -> Trial:
    """Return the best of the settings with most seeds; only settings near the best get many.

    Of those that take as long, the one with the least to change.
    """
    ran = [trial for trial in trials if trial.seconds]
    most = max(len(trial.seconds) for trial in ran)
    racing = [trial for trial in ran if len(trial.seconds) == most]
    return ranked(
        racing, lambda trial: exp(-level(trial, most)), lambda trial: space.effort(trial.setting)
    )[0]


def compared(before: Trial, after: Trial) -> Ratio:
    """Compare two settings over the seeds that both were run with."""
    common = min(len(before.seconds), len(after.seconds))
    return paired(before.seconds[:common], after.seconds[:common])


def doubt_about(trial: Trial, present: Trial, phase: str) -> Doubt | None:
    """Return why a setting is not advised that is faster than the present one; None if it may be.

    ``phase``: the one that takes longest.
    """
    if trial is present or not trial.seconds:
        return None
    gain = compared(present, trial).value
    return doubt_of(gain, present.scenario, trial.scenario, phase)


def best_sound(trials: Sequence[Trial], space: Space, phase: str) -> Trial:
    """Return the best setting that is not faster by what the simulator is known to get wrong.

    The first is the present one.
    """
    present, left = trials[0], list(trials)
    while doubt_about(best := best_of(left, space), present, phase) is not None:
        left = [trial for trial in left if trial is not best]
    return best


def runners_up(trials: Iterable[Trial], best: Trial) -> tuple[RunnerUp, ...]:
    """Return all settings behind the best one, the nearest first."""
    others = [trial for trial in trials if trial.seconds and trial is not best]
    found = [RunnerUp(trial, compared(trial, best)) for trial in others]
    return tuple(sorted(found, key=lambda one: one.slower.value))
