"""The search for good settings: what to try next, and how much of it may be tried.

Three sources take turns: what the guides of sites say, the neighbours of the best so far, and the
tree-structured Parzen estimator of Optuna (Bergstra et al., NeurIPS 2011), which learns which
values the good tries have in common. Settings are asked for in batches of fixed size and told in
order, so that the search goes the same way on any number of processes.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

from xc40io.config.errors import InputError
from xc40io.config.extras import need
from xc40io.config.units import MIB
from xc40io.engine.randomness import stream
from xc40io.studies.advice.job_knobs import LAYOUT, OWN_FILES
from xc40io.studies.advice.job_nature import JobNature
from xc40io.studies.advice.knobs import AGGREGATORS, BUFFERING, COUNT, LOCKS, SIZE, Setting
from xc40io.studies.advice.space import Places, Space

BATCH = 4
"""Settings that are asked for at a time: fixed, so that the answer does not depend on processes."""

_STARTUP = 4  # tries before the estimator begins to learn
_ASKED = 24  # times that it is asked for a setting that was not tried before
_DRAWN = 400  # the same, of a draw among all


_FORM = re.compile(r"(\d{1,9})\s*(s)?", re.ASCII)
_FIRST, _LATER = 5, 3
"""How many settings near the best get a second seed, and how many each later one."""

_RACING = 3
"""The present setting and its rivals take a third of the runs at most for their further seeds."""

_EVER = 10**6  # runs of a search that is limited by seconds alone

_GUIDED = 8 * MIB
_LARGE = 16 * MIB
_SEVERAL = 4


@dataclass(frozen=True)
class Budget:
    """What a search may spend: runs, or seconds of the clock."""

    runs: int | None = None  # the most; None where seconds are counted
    seconds: float | None = None  # after which nothing more is tried; None where runs are counted

    @staticmethod
    def parse(text: str) -> Budget:
        """Read ``60``, runs, or ``120s``, seconds.

        Raises
        ------
        InputError
            If it is neither, or too little to compare anything.
        """
        found = _FORM.fullmatch(text.strip())
        if found is None or int(found[1]) < (1 if found[2] else 2):
            raise InputError(
                f"--budget {text}: right would be a number of runs, 2 or more, as 60, or of "
                "seconds, as in 120s"
            )
        if found[2]:
            return Budget(seconds=float(found[1]))
        return Budget(runs=int(found[1]))

    @property
    def words(self) -> str:
        """For a person."""
        return f"{self.seconds:g} s" if self.runs is None else f"{self.runs:,} runs"

    def over(self, seconds: float) -> bool:
        """Tell whether nothing more is to be tried after so many seconds."""
        return self.seconds is not None and seconds >= self.seconds

    def widths(self, seeds: int) -> list[int]:
        """Return how many settings, beside the present one, get the second seed, the third..."""
        widths = [_FIRST if number == 0 else _LATER for number in range(seeds - 1)]
        if self.runs is None:
            return widths
        most = max(self.runs // _RACING, 0)
        while widths and sum(widths) + len(widths) > most:
            if max(widths) > 1:
                widths[widths.index(max(widths))] -= 1
            else:
                widths.pop()
        return widths

    def to_explore(self, seeds: int) -> int:
        """Return how many settings can be tried with one seed, the present one included."""
        if self.runs is None:
            return _EVER
        widths = self.widths(seeds)
        return self.runs - sum(widths) - len(widths)


class Search:
    """What was tried, and what comes next.

    Parameters
    ----------
    space
        The settings there are.
    seed
        Everything random follows from it.

    Raises
    ------
    FailureError
        If Optuna is not installed.
    """

    def __init__(self, space: Space, seed: int) -> None:
        self._space = space
        self._optuna = _load_optuna()
        with _quiet():
            sampler = self._optuna.samplers.TPESampler(
                seed=seed, multivariate=True, n_startup_trials=_STARTUP
            )
            self._study = self._optuna.create_study(sampler=sampler)
        distributions = self._optuna.distributions
        self._distributions = {
            knob.name: distributions.IntDistribution(0, len(knob.values) - 1)
            if knob.ordered
            else distributions.CategoricalDistribution(tuple(range(len(knob.values))))
            for knob in space.knobs
        }
        self._guided = [space.near(wanted) for wanted in self._advice()]
        self._random = stream(seed, "tune")
        self._values: dict[tuple[Any, ...], float | None] = {}
        self._asked: set[tuple[Any, ...]] = set()

    def _advice(self) -> Iterator[Mapping[str, Any]]:
        return guided(self._space.nature, {knob.name for knob in self._space.knobs})

    def tell(self, setting: Setting, value: float | None) -> None:
        """Remember the result of a setting: smaller is better; None if it cannot be run."""
        key = self._space.key(setting)
        self._asked.add(key)
        self._values[key] = value
        places = self._space.places(setting)
        if (
            value is not None and self._space.at(places) == setting
        ):  # else it is none of the choices
            self._teach(places, value)

    def ask(self, count: int, good: Sequence[Setting]) -> list[Setting]:
        """Return settings to try next, none of which was asked for before.

        Parameters
        ----------
        count
            The most of them; fewer where hardly any are left.
        good
            The best settings so far, the best first.
        """
        found: list[Setting] = []
        neighbours = chain.from_iterable(map(self._space.neighbours, good))
        estimated = self._estimated()
        self._take(iter(self._guided), count, found)
        self._take(neighbours, len(found) + (count - len(found) + 1) // 2, found)
        self._take(estimated, count, found)
        self._take(neighbours, count, found)
        self._take(self._any(), count, found)
        return found

    def _take(self, source: Iterator[Setting], count: int, found: list[Setting]) -> None:
        """Add new possible settings, until there are ``count``."""
        while len(found) < count:
            setting = next(source, None)
            if setting is None:
                return
            key = self._space.key(setting)
            if key not in self._asked and self._space.scenario(setting) is not None:
                self._asked.add(key)
                found.append(setting)

    def _estimated(self) -> Iterator[Setting]:
        """Yield what the estimator proposes."""
        for _ in range(_ASKED):
            with _quiet():
                trial = self._study.ask(self._distributions)
                # What it comes to is told as a trial of its own, with all others of the batch.
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
            yield self._space.at(tuple(trial.params[knob.name] for knob in self._space.knobs))

    def _any(self) -> Iterator[Setting]:
        """Yield any settings: the remaining ones of a small space, else random ones."""
        settings = self._space.settings
        if settings is not None:
            yield from (settings[place] for place in self._random.permutation(len(settings)))
            return
        for _ in range(_DRAWN):
            yield self._space.at(tuple(int(self._random.integers(n)) for n in self._space.shape))

    def _teach(self, places: Places, value: float) -> None:
        """Tell the estimator the result of a setting."""
        names = [knob.name for knob in self._space.knobs]
        with _quiet():
            self._study.add_trial(
                self._optuna.trial.create_trial(
                    params=dict(zip(names, places, strict=True)),
                    distributions=self._distributions,
                    value=value,
                )
            )

    def importance(self) -> dict[str, float]:
        """Return how much each knob decides, as shares that add up to 1; none if all do alike.

        It is PED-ANOVA's (Watanabe et al., IJCAI 2023), which asks how far the values among the
        best tenth of the tries are from those among all. The first decides most; of equal ones the
        knob that is turned first.
        """
        values = [value for value in self._values.values() if value is not None]
        if len(values) < _STARTUP or max(values) - min(values) < _ALIKE:
            return {}
        with _quiet():
            found = self._optuna.importance.get_param_importances(
                self._study,
                evaluator=self._optuna.importance.PedAnovaImportanceEvaluator(),
            )
        shares = {knob.name: float(found[knob.name]) for knob in self._space.knobs}
        return dict(sorted(shares.items(), key=lambda pair: -pair[1]))


_ALIKE = 1e-3
"""Logarithms of seconds: tries that are no further apart came to the same."""


def _load_optuna() -> Any:
    need("tune", "tune")
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Optuna from telling users that one of its parts is experimental."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def guided(nature: JobNature, names: Container[str]) -> Iterator[dict[str, Any]]:
    """Yield values of knobs that the guides of sites propose for a job, the likeliest first.

    ALCF's guide for Theta: a large shared file over all OSTs, or 48 of them, in stripes of 8 MiB or
    of a rank's block; a file of one stripe for each rank; several aggregators an OST only with one
    group lock (facts of Theta's I/O slides). NERSC's and Titan's guides say the same with other
    numbers. `names` are the knobs that can be turned; others are named here, too, and stay as they
    are: :meth:`~xc40io.studies.advice.space.Space.near` passes over them.
    """
    osts = nature.machine.lustre.osts
    if nature.own_files:
        yield {COUNT: 1, SIZE: _GUIDED}
        yield {COUNT: 1, SIZE: MIB}
        yield {COUNT: 4, SIZE: _GUIDED}
        yield {COUNT: 2, SIZE: nature.block or _GUIDED}
        return
    block = nature.block or _GUIDED
    regular = _regular(osts, nature.ranks)
    yield {COUNT: osts, SIZE: _GUIDED, BUFFERING: "on"}
    if LAYOUT in names:
        yield {LAYOUT: OWN_FILES, COUNT: 1, SIZE: _GUIDED}
    yield {COUNT: regular, SIZE: block, BUFFERING: "on"}
    if nature.collective:
        # A call keeps all OSTs busy only if each of them has a stripe of it.
        yield {COUNT: osts, SIZE: max((nature.call or 0) // osts, MIB), BUFFERING: "on"}
        grouped = {BUFFERING: "on", LOCKS: "group"}
        yield {COUNT: osts, SIZE: _GUIDED, AGGREGATORS: _SEVERAL, **grouped}
        yield {COUNT: osts, SIZE: _LARGE, AGGREGATORS: 1, **grouped}
        return
    yield {COUNT: osts, SIZE: block}
    yield {COUNT: 3 * osts // 4, SIZE: _GUIDED}
    yield {COUNT: osts, SIZE: _LARGE}


def _regular(osts: int, ranks: int) -> int:
    """Return the largest count of OSTs with which each serves the same ranks in every segment.

    It divides the ranks, or they divide it: then no two ranks come to conflict over the extent
    locks of one stripe object where each has a stripe to itself.
    """
    counts = (3 << power for power in range(osts.bit_length()))
    doublings = (1 << power for power in range(osts.bit_length()))
    fitting = [count for count in (osts, *counts, *doublings) if count <= osts]
    return max(count for count in fitting if ranks % count == 0 or count % ranks == 0)
