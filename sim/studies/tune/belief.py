"""What is known of the real speed of a job's settings: simulated, and measured in attempts.

A real rate is the simulated one times an error. Errors of the settings of one job have a part in
common, of the machine and the job, which cancels where settings are compared, and parts of their
own, one for each thing that settings differ in (:mod:`xc40io.trust.differences`): the less they
differ in it, the more they have of it in common. How large the parts are is known from measured
runs (:mod:`xc40io.trust.how_sure`). Errors are Gaussian on logarithms, so that attempts condition
them in closed form (Rasmussen and Williams, Gaussian Processes for Machine Learning, section 2.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from xc40io.engine.randomness import stream
from xc40io.engine.types import Floats
from xc40io.studies.advice.knobs import Setting
from xc40io.studies.advice.space import Space
from xc40io.trust.differences import differences
from xc40io.trust.how_sure import WIDTH, expected, ratio_spread
from xc40io.workloads.catalogue import traits_of

NEAR = 0.95
"""Of the best rate: a setting that reaches it is good enough."""

SURE = 0.9
"""From this chance on that the best attempt is near the best of all, no other is worth a run."""

_DRAWS = 4000


def sigma(nine_of_ten: float) -> float:
    """Return the standard deviation of Gaussian errors of which nine of ten are as small."""
    return nine_of_ten / WIDTH


class Attempt(NamedTuple):
    """What came of a real run."""

    place: int  # of its setting among the candidates
    rate: float  # logarithm of the real rate
    noise: float  # standard deviation of that: runs differ


class Proposal(NamedTuple):
    """What to try next."""

    place: int  # of the setting among the candidates
    better: float  # the chance that it is faster than the best attempt
    times: float  # as fast as that, as is to be expected


@dataclass(frozen=True)
class Belief:
    """Logarithms of the real rates of some settings, as a Gaussian."""

    rates: Floats  # (settings,): most probable
    covariance: Floats  # (settings, settings)

    def given(self, attempts: Sequence[Attempt]) -> Belief:
        """Return what is known after attempts."""
        if not attempts:
            return self
        at = np.array([one.place for one in attempts])
        rates = np.array([one.rate for one in attempts])
        known = self.covariance[:, at]
        within = known[at] + np.diag([one.noise**2 for one in attempts])
        gain = known @ np.linalg.pinv(within, hermitian=True)
        return Belief(
            self.rates + gain @ (rates - self.rates[at]),
            self.covariance - gain @ known.T,
        )

    @property
    def spread(self) -> Floats:
        """The standard deviation of each setting's."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def drawn(self) -> Floats:
        """Return draws of all settings' rates together, the same ones every time."""
        values, vectors = np.linalg.eigh(self.covariance)
        normal = stream(0, "belief").standard_normal((_DRAWS, len(values)))
        found: Floats = self.rates + normal * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
        return found

    def best(self, attempts: Sequence[Attempt]) -> int:
        """Return the place of the best setting among those that were attempted."""
        return max((one.place for one in attempts), key=lambda place: float(self.rates[place]))

    def good_enough(self, place: int) -> float:
        """Return the chance that a setting is within 5 % of the best of all."""
        return float(self._near[place])

    @cached_property
    def _near(self) -> Floats:
        """The same of all settings."""
        rates = self.drawn()
        found: Floats = (rates >= rates.max(axis=1, keepdims=True) + np.log(NEAR)).mean(axis=0)
        return found

    def proposal(self, attempts: Sequence[Attempt]) -> Proposal | None:
        """Return the setting that most likely is near the best of all; None if all were tried.

        It is asked of those that were not attempted. ``self`` knows of the attempts.
        """
        left = [
            place
            for place in range(len(self.rates))
            if place not in {one.place for one in attempts}
        ]
        if not left:
            return None
        near = self._near
        place = max(left, key=lambda one: (float(near[one]), float(self.rates[one])))
        if not attempts:
            return Proposal(place, 0.5, 1.0)
        return self.compared(place, self.best(attempts))

    def compared(self, place: int, other: int) -> Proposal:
        """Return how a setting does beside another one."""
        more = float(self.rates[place] - self.rates[other])
        covariance = self.covariance
        variance = covariance[place, place] + covariance[other, other]
        apart = float(np.sqrt(max(variance - 2.0 * covariance[place, other], 1e-12)))
        return Proposal(place, NormalDist(0.0, apart).cdf(more), exp(more))


def beforehand(
    space: Space, settings: Sequence[Setting], rates: Sequence[float], phase: str
) -> Belief:
    """Return what is known of settings before any attempt.

    Parameters
    ----------
    space, settings
        The candidates.
    rates
        Logarithms of what was simulated.
    phase
        The one that takes longest.
    """
    scenario = space.nature.scenario
    places = np.array([space.places(setting) for setting in settings], float)
    groups: dict[tuple[str, ...], list[int]] = {}
    for number in range(len(space.knobs)):
        groups.setdefault(_turned(space, number), []).append(number)
    common: Floats = np.zeros((len(settings), len(settings)))
    for things, numbers in groups.items():
        alike = np.ones_like(common)
        for number in numbers:
            alike *= _alike(places[:, number], space, number)
        common += sigma(ratio_spread(things).nine_of_ten) ** 2 / 2.0 * alike
    whole = sigma(expected(scenario, traits_of(scenario), phase).nine_of_ten) ** 2
    common += max(whole - float(np.diag(common).max(initial=0.0)), 0.0)
    return Belief(np.array(rates, float), common)


def _alike(places: Floats, space: Space, number: int) -> Floats:
    """Return how much of an error settings have in common by a knob: 1 to 0.

    Of ordered choices the less the more steps are between them, of words all or nothing.
    """
    apart = np.abs(places[:, None] - places[None, :])
    knob = space.knobs[number]
    steps = max(len(knob.values) - 1, 1) if knob.ordered else 1
    found: Floats = np.maximum(1.0 - apart / steps, 0.0)
    return found


def _turned(space: Space, number: int) -> tuple[str, ...]:
    """Return in what runs differ between which one knob is turned."""
    knob = space.knobs[number]
    runs = [
        run
        for value in knob.values
        if (run := space.scenario({**space.present, knob.name: value})) is not None
    ]
    found = {thing for run in runs[1:] for thing in differences(runs[0], run)}
    return tuple(sorted(found)) or (knob.name,)


def sure_enough(belief: Belief, attempts: Sequence[Attempt]) -> bool:
    """Tell whether the best attempt is near enough to the best of all to stop."""
    return bool(attempts) and belief.good_enough(belief.best(attempts)) >= SURE


def surely_apart(belief: Belief, attempt: Attempt) -> bool:
    """Tell whether an attempt came out beyond what nine of ten would."""
    apart = abs(attempt.rate - float(belief.rates[attempt.place]))
    return apart > WIDTH * float(np.hypot(belief.spread[attempt.place], attempt.noise))
