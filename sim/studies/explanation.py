"""What bounds a run, and what would help: each answer is a run that was made.

Where ranks wait, and which stations are busy, says where to look (:mod:`sim.results.waits`,
:mod:`sim.results.stations`). It does not say what a better part would bring: behind a queue that is
gone stands the next one. So the same scenario is run again, once without each part that may be to
blame, and once with each change that may help.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from sim.config.scenario import Scenario, machine_of
from sim.plane.causes import Cause
from sim.plane.stations import StationKind
from sim.results.stations import Load, loads, outliers
from sim.run.result import Result
from sim.run.simulate import simulate
from sim.studies.ideals import PARTS, single
from sim.studies.processes import Failure, each
from sim.studies.remedies import Kind, remedies
from sim.workloads.catalogue import workload_of

WORTH_SAYING = 1.1
"""How many times as fast a phase must become for a part to be to blame, or a change to help."""

_WORTH_A_LOOK = 0.03  # share of the time that ranks wait for a cause
_HIDES = {"meeting", "threads", "other_ranks"}
_MUCH = 0.2  # share of the time that ranks wait for others, who may wait for anything
_LIKE = 1.05  # gains that differ by less are the same

Seconds = dict[tuple[int, str], float]
"""The seconds of each kind of phase, by the place of its part of the workload and its name."""


@dataclass(frozen=True)
class Tried:
    """A run that was made to find out what something brings.

    Attributes
    ----------
    words
        What is different: without what, or with what.
    typed
        How it is asked for on the command line; empty for what cannot be had.
    seconds
        That the phase took then.
    gain
        How many times as fast the phase is then.
    kind
        Who can change it; nobody where it is a part that costs nothing.
    single
        Whether it is about one station among its peers.
    """

    words: str
    typed: str
    seconds: float
    gain: float
    kind: Kind | None = None
    single: bool = False

    @property
    def helps(self) -> bool:
        """Whether it is worth saying."""
        return self.gain >= WORTH_SAYING


@dataclass(frozen=True)
class PhaseExplanation:
    """Why one kind of phase takes its time.

    Attributes
    ----------
    load
        Its busiest station, and what its ranks waited for.
    seconds
        That it took, all its repetitions together.
    without
        What it takes without each part that may be to blame, the largest gain first.
    changed
        What it takes with each change that may help, the largest gain first.
    """

    load: Load
    seconds: float
    without: tuple[Tried, ...]
    changed: tuple[Tried, ...]


class Explanation(NamedTuple):
    """Why a run takes its time.

    Attributes
    ----------
    result
        The run.
    phases
        Its kinds of phases, in their order.
    runs
        How many runs were made beside it.
    refused
        Changes that could not be tried, each with the reason.
    """

    result: Result
    phases: tuple[PhaseExplanation, ...]
    runs: int
    refused: tuple[tuple[str, str], ...]


class _Trial(NamedTuple):
    words: str
    typed: str
    scenario: Scenario
    kind: Kind | None = None
    single: bool = False


def explain(
    scenario: Scenario, *, jobs: int = 1, progress: Callable[[int, int], None] | None = None
) -> Explanation:
    """Run a scenario, find out what bounds it, and what would help.

    Parameters
    ----------
    scenario
        Of one job.
    jobs
        Processes to run in; the answer does not depend on it.
    progress
        Told how many runs are done, and of how many.

    Raises
    ------
    InputError
        If the scenario asks for what the machine or the simulator does not have.
    """
    result = simulate(scenario)
    base, found = _seconds_of(result), loads(result)
    trials = _trials(result, found)
    ended: dict[str, Seconds] = {}
    refused: list[tuple[str, str]] = []
    scenarios = {name: trial.scenario for name, trial in trials.items()}
    for done, (name, outcome) in enumerate(each(_seconds, scenarios, jobs), 1):
        if isinstance(outcome, Failure):
            refused.append((trials[name].words, outcome.reason))
        else:
            ended[name] = outcome
        if progress is not None:
            progress(done, len(trials))
    phases = tuple(
        PhaseExplanation(
            load,
            base[load.test_id, load.access],
            without=_best(trials, ended, base, load, changes=False),
            changed=_best(trials, ended, base, load, changes=True),
        )
        for load in found
    )
    return Explanation(result, phases, len(trials), tuple(sorted(refused)))


def _seconds(scenario: Scenario) -> Seconds:
    """Run a scenario; return how long its phases took."""
    return _seconds_of(simulate(scenario))


def _seconds_of(result: Result) -> Seconds:
    return {
        (part, name): sum(stretch.end - stretch.start for stretch in stretches)
        for part, name, stretches in result.activities
    }


def _trials(result: Result, found: list[Load]) -> dict[str, _Trial]:
    """Return the runs to be made, by names of their own."""
    scenario = result.scenario
    machine = machine_of(scenario)
    causes, kinds = _suspects(found)
    hidden = any(
        wait.cause in _HIDES and wait.share >= _MUCH for load in found for wait in load.waits
    )
    parts = [part for part in PARTS if hidden or part.causes & causes or part.kinds & kinds]
    trials = [_Trial(part.words, "", part.without(scenario, machine)) for part in parts]
    for part in map(single, outliers(result)):
        trials.append(_Trial(part.words, "", part.without(scenario, machine), single=True))
    workload = workload_of(scenario.workload)
    trials += [_Trial(*remedy) for remedy in remedies(scenario, machine, workload, causes)]
    return {f"{number} {trial.words}": trial for number, trial in enumerate(trials)}


def _suspects(found: list[Load]) -> tuple[set[Cause], set[StationKind]]:
    """Return what the ranks waited for, and the kinds of the busiest stations."""
    by_name = {cause.name.lower(): cause for cause in Cause}
    causes = {
        by_name[wait.cause]
        for load in found
        for wait in load.waits
        if wait.share >= _WORTH_A_LOOK and wait.cause in by_name
    }
    return causes, {load.kind for load in found}


def _best(
    trials: dict[str, _Trial],
    ended: dict[str, Seconds],
    base: Seconds,
    load: Load,
    *,
    changes: bool,
) -> tuple[Tried, ...]:
    """Return what came of trials for one kind of phase, the largest gain first."""
    phase = load.test_id, load.access
    tried = [
        Tried(
            words=trial.words,
            typed=trial.typed,
            seconds=ended[name][phase],
            gain=base[phase] / ended[name][phase],
            kind=trial.kind,
            single=trial.single,
        )
        for name, trial in trials.items()
        if (trial.kind is not None) == changes and ended.get(name, {}).get(phase, 0.0) > 0.0
    ]
    tried.sort(key=lambda one: -one.gain)
    # Of what brings the same, a single station comes before all stations of its kind.
    like = [one for one in tried if one.gain * _LIKE >= tried[0].gain and one.single]
    return tuple(like + [one for one in tried if one not in like])
