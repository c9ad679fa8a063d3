"""What came of real runs of a job whose settings are searched for, and what to try next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from typing import NamedTuple

from xc40io.studies.advice.knobs import Setting
from xc40io.studies.tune.belief import (
    Attempt,
    Belief,
    Proposal,
    beforehand,
    sure_enough,
    surely_apart,
)
from xc40io.studies.tune.trial import Trial
from xc40io.studies.tune.tuning import Tuning


class RealRun(NamedTuple):
    """What one attempt came to."""

    source: str  # the file that tells of it
    setting: Setting  # of the knobs
    seconds: float  # of the job's I/O, as they are minimised
    noise: float  # standard deviation of their logarithm
    assumed: tuple[str, ...] = ()  # knobs of which the output says nothing: as the job has them


@dataclass(frozen=True)
class NextAttempt:
    """What a search and real runs together say."""

    found: Tuning
    runs: tuple[RealRun, ...]

    @cached_property
    def candidates(self) -> tuple[Trial, ...]:
        """Settings that could be run, but those that the simulator is known to get wrong.

        What was attempted is one whatever the simulator says of it.
        """
        found = self.found
        tried = {found.space.key(run.setting) for run in self.runs}
        return tuple(
            trial
            for trial in found.trials
            if trial.seconds
            and (found.space.key(trial.setting) in tried or found.doubt_about(trial) is None)
        )

    @cached_property
    def attempts(self) -> tuple[Attempt, ...]:
        """The real runs, each at the place of its setting among the candidates."""
        space = self.found.space
        places = {space.key(one.setting): place for place, one in enumerate(self.candidates)}
        return tuple(
            Attempt(places[space.key(run.setting)], -log(run.seconds), run.noise)
            for run in self.runs
        )

    @cached_property
    def before(self) -> Belief:
        """What the simulator says of the candidates."""
        settings = [trial.setting for trial in self.candidates]
        rates = [-log(trial.mean) for trial in self.candidates]
        return beforehand(self.found.space, settings, rates, self.found.longest_phase)

    @cached_property
    def after(self) -> Belief:
        """What is known after the real runs."""
        return self.before.given(self.attempts)

    @cached_property
    def best(self) -> int:
        """The place of the best setting of the real runs."""
        return self.after.best(self.attempts)

    @cached_property
    def good_enough(self) -> float:
        """The chance that it is within 5 % of the best candidate."""
        return self.after.good_enough(self.best)

    @cached_property
    def proposal(self) -> Proposal | None:
        """What to try next; None where another run is not worth it, or everything was tried."""
        stop = sure_enough(self.after, self.attempts)
        return None if stop else self.after.proposal(self.attempts)

    def seconds(self, place: int) -> float:
        """Return the corrected seconds of a candidate."""
        return exp(-float(self.after.rates[place]))

    def ranked(self) -> list[Proposal]:
        """Return all candidates beside the best attempt, those first that are likely fastest."""
        places: Sequence[int] = range(len(self.candidates))
        rows = [self.after.compared(place, self.best) for place in places]
        return sorted(rows, key=lambda one: -one.times)

    @property
    def contradicting(self) -> tuple[tuple[RealRun, float], ...]:
        """The runs beyond what nine of ten are, with how many times as fast as simulated."""
        return tuple(
            (run, exp(attempt.rate - float(self.before.rates[attempt.place])))
            for run, attempt in zip(self.runs, self.attempts, strict=True)
            if surely_apart(self.before, attempt)
        )
