"""The next attempt of ``xc40io tune --measured``, held against artificial truths.

::

    python -m xc40io.validation.tuner_truths

Each truth is a machine whose values are drawn from their priors (:mod:`.value_prior`), and with one
mechanism that is another than the tuner has. All settings of some small jobs are run on it. Counted
is how many attempts it takes until one is within 5 % of the best of them: for the tuner, for the
ranking of the simulator alone, for Optuna's TPE, and for a random order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import exp, log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.files import shipped
from xc40io.config.machine import load_machine
from xc40io.config.scenario import Scenario
from xc40io.engine.randomness import stream
from xc40io.engine.types import Floats
from xc40io.studies.advice.job_nature import seconds_of_record
from xc40io.studies.advice.knobs import AGGREGATORS, LOCKS
from xc40io.studies.advice.space import Space
from xc40io.studies.axes import parse_axes
from xc40io.studies.processes import Failure
from xc40io.studies.simulations import Simulations
from xc40io.studies.store import Store
from xc40io.studies.tune.belief import NEAR, Attempt, Belief, beforehand, sure_enough
from xc40io.studies.tune.search import Budget
from xc40io.studies.tune.tuning import Question
from xc40io.telling.text import format_columns
from xc40io.validation.value_prior import free_values


class Asked(NamedTuple):
    """A job, and what may be turned of it."""

    ior: str
    allow: tuple[str, ...]
    over: tuple[str, ...]


_COUNTS, _SIZES = "striping.count=1,2,4,8,16,32,56", "striping.size=1m,4m,16m"
JOBS = {
    "strided": Asked("-a POSIX -w -e -b 1m -t 1m -s 8", (), (_COUNTS, _SIZES)),
    "own files": Asked("-a POSIX -F -w -e -b 16m -t 4m", (), (_COUNTS, _SIZES)),
    "collective": Asked(
        "-a MPIIO -c -w -e -b 8m -t 8m",
        (AGGREGATORS, LOCKS),
        ("striping.count=2,4,8,16", "striping.size=1m,8m"),
    ),
}
MACHINE, NODES, PPN = "theta", 4, 4
_TRUTHS = 12  # of each job
_SURE_OF_A_RUN = 0.02
"""Of logarithms of rates: how far an attempt may be from what its setting really does."""

MECHANISMS: Mapping[str, Mapping[str, Any]] = {
    "as known": {},
    "dearer locks of shared files": {"shared_commit": 8.0},
    "dearer requests": {"ost_request_overhead": 8.0},
    "dearer stripe objects": {"mds.stripe_time": 30.0},
    "one request at a time": {"max_rpcs_in_flight": 0.0},
    "every third OST slow": {"slow": 5.0},
}
"""By how much values of Lustre are other than drawn; 0: 1 in their place. ``slow`` is of OSTs."""

Order = Callable[[Floats], Iterator[int]]
"""Yields the settings that are attempted, one after another, from the real rates."""


class Job(NamedTuple):
    """A job, its settings and what the tuner simulates of them."""

    name: str
    space: Space
    belief: Belief
    runs: tuple[Scenario, ...]


def job_of(name: str, simulations: Simulations) -> Job:
    """Return a job with all that its settings come to."""
    asked = JOBS[name]
    scenario = Scenario.model_validate(
        {"machine": MACHINE, "nodes": NODES, "ppn": PPN, "workload": {"ior": asked.ior}}
    )
    question = Question(
        scenario,
        allow=asked.allow,
        at_most=(),
        over=parse_axes(asked.over),
        objective="write",
        budget=Budget(runs=2),
        repeat=1,
        simulations=simulations,
        beside="nothing",
    )
    space = question.begin().space
    settings = [one for one in space.settings or [] if space.scenario(one) is not None]
    runs = tuple(filter(None, map(space.scenario, settings)))
    return Job(
        name, space, beforehand(space, settings, list(rates(runs, simulations)), "write"), runs
    )


def rates(runs: Sequence[Scenario], simulations: Simulations) -> Floats:
    """Return logarithms of what runs are worth: of 1 over their seconds."""
    found = []
    for ended in simulations.run(runs):
        if isinstance(ended, Failure):
            raise InputError(ended.reason)
        found.append(-log(seconds_of_record(ended, "write", replay=False)))
    return np.array(found)


def truths(job: Job, count: int, simulations: Simulations) -> Iterator[tuple[str, Floats]]:
    """Yield what the settings of a job really do, with the mechanism that is another one."""
    machine = load_machine(MACHINE)
    free = free_values(machine, shipped("machines")[MACHINE])
    for number in range(count):
        name = list(MECHANISMS)[number % len(MECHANISMS)]
        random = stream(number, "truth")
        changes: dict[str, Any] = {}
        for one, prior in free.items():
            value = machine.value(one.path) * exp(prior.spread * random.standard_normal())
            changes[one.path] = float(np.clip(value, one.lower, one.upper))
        slow = {}
        for value, factor in MECHANISMS[name].items():
            path = f"lustre.{value}"
            if value == "slow":
                slow = {f"OST {ost}": factor for ost in range(0, machine.lustre.osts, 3)}
            elif factor:
                changes[path] = factor * changes.get(path, machine.value(path))
            else:
                changes[path] = 1
        update = {"changes": changes, "slow": slow, "seed": number + 1}
        yield name, rates([run.model_copy(update=update) for run in job.runs], simulations)


def attempts_of(order: Iterator[int], real: Floats) -> int:
    """Return how many attempts it takes until one is within 5 % of the best."""
    good = real >= real.max() + log(NEAR)
    return next(count for count, place in enumerate(order, 1) if good[place])


def by_tuner(job: Job, real: Floats) -> Iterator[int]:
    """Yield what the tuner attempts, also where it would stop."""
    for place, _ in _course(job, real):
        yield place


def _course(job: Job, real: Floats) -> Iterator[tuple[int, int | None]]:
    """Yield each attempt, and the best of them if the tuner then stops."""
    attempts: list[Attempt] = []
    belief = job.belief
    while (proposal := belief.proposal(attempts)) is not None:
        attempts.append(Attempt(proposal.place, float(real[proposal.place]), _SURE_OF_A_RUN))
        belief = job.belief.given(attempts)
        stops = sure_enough(belief, attempts)
        yield proposal.place, belief.best(attempts) if stops else None


class Stop(NamedTuple):
    """Where the tuner stops."""

    attempts: int
    good: bool  # whether its best is within 5 % of the best of all


def stop_of(job: Job, real: Floats) -> Stop:
    """Return when the tuner stops, and with what; after the last setting in any case."""
    for count, (_, best) in enumerate(_course(job, real), 1):
        if best is not None:
            return Stop(count, bool(real[best] >= real.max() + log(NEAR)))
    return Stop(len(real), True)


def by_ranking(job: Job, _real: Floats) -> Iterator[int]:
    """Yield the settings as the simulator ranks them."""
    yield from np.argsort(-job.belief.rates, kind="stable").tolist()


def at_random(job: Job, _real: Floats, seed: int) -> Iterator[int]:
    """Yield the settings in a random order."""
    yield from stream(seed, "random order").permutation(len(job.runs)).tolist()


def by_optuna(job: Job, real: Floats, seed: int) -> Iterator[int]:
    """Yield what Optuna's TPE attempts without the simulator; what it repeats is no attempt."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    settings = job.space.settings or []
    known = {job.space.key(setting): place for place, setting in enumerate(settings)}
    study = optuna.create_study(
        sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=4), direction="maximize"
    )
    seen: set[int] = set()
    for _ in range(20 * len(known)):
        trial = study.ask()
        places = tuple(
            trial.suggest_int(knob.name, 0, len(knob.values) - 1)
            if knob.ordered
            else trial.suggest_categorical(knob.name, range(len(knob.values)))
            for knob in job.space.knobs
        )
        place = known.get(job.space.key(job.space.at(places)))
        if place is None:  # it cannot be: asking costs nothing
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        study.tell(trial, float(real[place]))
        if place not in seen:
            seen.add(place)
            yield place
    yield from sorted(set(known.values()) - seen)


def main(store: Path | None = None) -> None:
    """Print how many attempts each way takes."""
    simulations = Simulations(1, Store(store))
    counts: dict[str, list[int]] = {}
    stops: list[Stop] = []
    by_mechanism: dict[str, list[int]] = {}
    for name in JOBS:
        job = job_of(name, simulations)
        for seed, (mechanism, real) in enumerate(truths(job, _TRUTHS, simulations)):
            ways = {
                "tune --measured": partial(by_tuner, job, real),
                "down the simulator's ranking": partial(by_ranking, job, real),
                "Optuna's TPE": partial(by_optuna, job, real, seed),
                "random order": partial(at_random, job, real, seed),
            }
            for way, order in ways.items():
                counts.setdefault(way, []).append(attempts_of(order(), real))
            stops.append(stop_of(job, real))
            by_mechanism.setdefault(mechanism, []).append(counts["tune --measured"][-1])
        sys.stderr.write(f"{name}: {len(job.runs)} settings\n")
    sys.stdout.write(table(counts))
    sys.stdout.write(stops_told(stops))
    for mechanism, some in by_mechanism.items():
        counted = ", ".join(map(str, sorted(some)))
        sys.stdout.write(f"{mechanism}: {counted}\n")


def stops_told(stops: Sequence[Stop]) -> str:
    """Say how good the settings are with which the tuner stops, and after how many attempts."""
    right = sum(stop.good for stop in stops)
    usual = np.quantile([stop.attempts for stop in stops], 0.5, method="higher")
    return (
        f"it stops {len(stops)} times, after {usual:.0f} attempts at the median, {right} times "
        "within 5 % of the best\n"
    )


def table(counts: Mapping[str, Sequence[int]]) -> str:
    """Return the median and the nine-of-ten attempts of each way, as lines of a page."""
    rows = [["way", "median", "nine of ten", "at the first"]]
    for way, some in counts.items():
        at_most = np.quantile(some, [0.5, 0.9], method="higher")
        first = np.mean([one == 1 for one in some])
        rows.append([way, *(f"{one:.0f}" for one in at_most), f"{100 * first:.0f} %"])
    return format_columns(rows)


if __name__ == "__main__":
    main()
