"""The jobs of a workload mix, run on machines: the result of each, and the mix's throughput."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from xc40io.config.errors import InputError, naming
from xc40io.config.faults import Fault
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario, machine_of
from xc40io.config.workload_mix import MixJob, Option, WorkloadMix
from xc40io.findings.bottlenecks import SATURATED
from xc40io.findings.waits import Wait
from xc40io.plane.causes import Cause
from xc40io.run.described import check_described
from xc40io.run.job_list import all_jobs
from xc40io.studies.processes import Failure
from xc40io.studies.ratio import Ratio, paired
from xc40io.studies.record import Bound, RunRecord
from xc40io.studies.simulations import Runnable, Simulations

_COMPUTING = Cause.THINK.name.lower()
_WHOLE = "all"
_MOSTLY = 0.5
"""Share of a phase from which on what the last rank waited for is named, where no station binds."""


class Setting(NamedTuple):
    """The machine and conditions that the jobs of a mix run on."""

    machine: Machine
    # what happens to it, beside the faults of the jobs' own scenarios
    faults: tuple[Fault, ...] = ()
    options: tuple[Option, ...] = ()  # with which jobs are run otherwise


class Refusal(NamedTuple):
    """A job that cannot use an option, and runs as it was."""

    option: str  # its name
    job: str  # its name
    reason: str


@dataclass(frozen=True)
class JobRuns:
    """The result of a job of a mix on one machine."""

    records: tuple[RunRecord, ...]  # its runs, one a seed
    together: bool = False  # whether it is several jobs at the same time

    @cached_property
    def bytes(self) -> int:
        """What was read and written, with the first seed."""
        phases = self.records[0].phases
        whole = [phase for phase in phases if phase.name == _WHOLE and phase.bytes]
        counted = whole if len(whole) == 1 else [one for one in phases if one.name != _WHOLE]
        return sum(phase.bytes for phase in counted)

    @cached_property
    def seconds(self) -> tuple[float, ...]:
        """For each seed the seconds of I/O: see docs/plan.md."""
        return tuple(map(self._seconds, self.records))

    def _seconds(self, record: RunRecord) -> float:
        if self.together:
            return record.simulated
        computed = (
            wait.seconds
            for bound in record.bounds
            for wait in bound.waits
            if wait.cause == _COMPUTING
        )
        return sum(bound.seconds for bound in record.bounds) - sum(computed)

    @property
    def mean(self) -> float:
        """Seconds of I/O on average over the seeds."""
        return sum(self.seconds) / len(self.seconds)

    @property
    def rate(self) -> float:
        """Bytes/s."""
        return self.bytes / self.mean

    @cached_property
    def waits(self) -> tuple[Wait, ...]:
        """What a rank waited for in all phases, longest first; the mean of all seeds."""
        seconds: dict[str, float] = {}
        words: dict[str, str] = {}
        for record in self.records:
            for bound in record.bounds:
                for wait in bound.waits:
                    mean = wait.seconds / len(self.records)
                    seconds[wait.cause] = seconds.get(wait.cause, 0.0) + mean
                    words[wait.cause] = wait.words
        waits = [
            Wait(cause, words[cause], value, value / self.mean)
            for cause, value in seconds.items()
            if cause != _COMPUTING
        ]
        return tuple(sorted(waits, key=lambda wait: -wait.seconds))

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """What bound its phases, with the first seed; the longest first."""
        return tuple(sorted(self.records[0].bounds, key=lambda bound: -bound.seconds))


Outcome = tuple[JobRuns, ...] | Failure
"""What the jobs of a mix came to on one machine, or why they could not run."""


def run_mix(
    mix: WorkloadMix, settings: Sequence[Setting], seeds: Sequence[int], simulations: Simulations
) -> list[Outcome]:
    """Run all jobs of a mix in each setting, with each seed.

    Parameters
    ----------
    mix
        The jobs.
    settings
        On what they run.
    seeds
        Each job is run with each.
    simulations
        What runs them, and knows what was run before.

    Returns
    -------
    list
        In the order of the settings.

    Raises
    ------
    InputError
        If the machine as it is cannot run one of the jobs, before any has run.
    """
    check_jobs(mix)
    made = [[_placed(job, setting) for job in mix.jobs] for setting in settings]
    asked = [
        scenario.model_copy(update={"seed": seed})
        for scenarios in made
        if not _failure(scenarios)
        for scenario in scenarios
        if not isinstance(scenario, Failure)
        for seed in seeds
    ]
    ended = iter(simulations.run(asked))
    outcomes: list[Outcome] = []
    for scenarios in made:
        failure = _failure(scenarios)
        if failure is not None:
            outcomes.append(failure)
            continue
        runs = [[next(ended) for _ in seeds] for _ in mix.jobs]
        outcomes.append(_outcome(mix.jobs, runs))
    return outcomes


def check_jobs(mix: WorkloadMix) -> None:
    """Raise InputError, which names the job, unless the machine of a mix can run all its jobs."""
    for job in mix.jobs:
        with naming("on the machine as it is"):
            check_described(job.on(mix.machine), job.name)


def usable(
    mix: WorkloadMix, simulations: Simulations
) -> tuple[tuple[Option, ...], tuple[Refusal, ...]]:
    """Return the options of a mix for those of its jobs that can use them, and what cannot.

    Each job that an option is for is run with it alone: only a run tells whether files that nodes
    share would be on the SSD of one of them.
    """
    pairs = [(one, job) for one in mix.options for job in mix.jobs if one.is_for(job.name)]
    tried: list[Runnable | Failure] = [
        _placed(job, Setting(mix.machine.with_changes(one.set), options=(one,)))
        if isinstance(job.run, Scenario)
        else Failure("it is several jobs at the same time")
        for one, job in pairs
    ]
    ended = iter(simulations.run([run for run in tried if not isinstance(run, Failure)]))
    outcomes = [run if isinstance(run, Failure) else next(ended) for run in tried]
    refused = tuple(
        Refusal(one.name, job.name, outcome.reason.removeprefix(f"{job.name}: "))
        for (one, job), outcome in zip(pairs, outcomes, strict=True)
        if isinstance(outcome, Failure)
    )
    wrong = {(each.option, each.job) for each in refused}
    able = {one.name: [job.name for each, job in pairs if each is one] for one in mix.options}
    options = (
        one.model_copy(
            update={"jobs": tuple(job for job in able[one.name] if (one.name, job) not in wrong)}
        )
        for one in mix.options
    )
    return tuple(options), refused


def _placed(job: MixJob, setting: Setting) -> Runnable | Failure:
    """Return a job on a machine, or why it cannot run there."""
    run = job.on(setting.machine, setting.options)
    placed = run.model_copy(update={"faults": (*run.faults, *setting.faults)})
    try:
        if isinstance(placed, Scenario):
            machine_of(placed)
    except InputError as error:
        return Failure(f"{job.name}: {error}")
    return placed


def _failure(scenarios: Sequence[Runnable | Failure]) -> Failure | None:
    return next((one for one in scenarios if isinstance(one, Failure)), None)


def _outcome(jobs: Sequence[MixJob], runs: Sequence[Sequence[RunRecord | Failure]]) -> Outcome:
    """Put the runs of all jobs together."""
    done = []
    for job, ended in zip(jobs, runs, strict=True):
        records = [one for one in ended if isinstance(one, RunRecord)]
        failed = next((one for one in ended if isinstance(one, Failure)), None)
        if failed is not None:
            return Failure(f"{job.name}: {failed.reason}")
        done.append(JobRuns(tuple(records), not isinstance(job.run, Scenario)))
    return tuple(done)


def jobs_of_weights(mix: WorkloadMix, present: Sequence[JobRuns]) -> tuple[float, ...]:
    """Return the number of each job in the mix, up to a common factor.

    Parameters
    ----------
    mix
        With its weights.
    present
        What the jobs come to on the machine as it is.

    Raises
    ------
    InputError
        If a job moves no bytes.
    """
    for job, runs in zip(mix.jobs, present, strict=True):
        if not runs.bytes or not runs.mean > 0.0:
            raise InputError(
                f"{job.name}: it moves no bytes; right would be jobs that read or write, whose "
                "throughput can be planned"
            )
    units = {
        "jobs": [1.0 for _ in present],
        "bytes": [float(runs.bytes) for runs in present],
        "node-hours": [
            _nodes(job.run) * runs.mean for job, runs in zip(mix.jobs, present, strict=True)
        ],
    }[mix.weights]
    return tuple(job.weight / unit for job, unit in zip(mix.jobs, units, strict=True))


def _nodes(run: Runnable) -> int:
    """Return the nodes of a job, or of all jobs that run at the same time."""
    if isinstance(run, Scenario):
        return run.nodes

    return sum(job.nodes for job in all_jobs(run))


def throughput(counts: Sequence[float], runs: Sequence[JobRuns], seed: int | None = None) -> float:
    """Return the bytes/s of a mix: all bytes of all its jobs over all their seconds of I/O.

    Parameters
    ----------
    counts
        How many of each job there are.
    runs
        What each came to.
    seed
        Place of the seed, from 0; the mean of all unless given.
    """
    moved = sum(count * one.bytes for count, one in zip(counts, runs, strict=True))
    taken = sum(
        count * (one.mean if seed is None else one.seconds[seed])
        for count, one in zip(counts, runs, strict=True)
    )
    return moved / taken


class MixResult(NamedTuple):
    """What a mix came to on one machine: how many of each job there are, and its runs."""

    counts: Sequence[float]
    runs: Sequence[JobRuns]


def mix_ratio(before: MixResult, after: MixResult) -> Ratio:
    """Return how many times as fast a mix is in bytes a second, seed by seed."""
    seeds = range(len(before.runs[0].seconds))
    slow, fast = ([1.0 / throughput(*one, seed) for seed in seeds] for one in (before, after))
    return paired(slow, fast)


def job_ratio(before: JobRuns, after: JobRuns) -> Ratio:
    """Return how many times as fast a job is, seed by seed."""
    return paired(
        [seconds / before.bytes for seconds in before.seconds],
        [seconds / after.bytes for seconds in after.seconds],
    )


def bound_words(bound: Bound) -> str:
    """Say in a few words what bound a phase."""
    if bound.binds and bound.busy < SATURATED:
        return f"{bound.phase}: {bound.kind} in turn"
    if bound.binds:
        return f"{bound.phase}: {bound.kind} {100 * bound.busy:.0f} %"
    if bound.share > _MOSTLY:
        return f"{bound.phase}: no station; mostly {bound.wait} ({100 * bound.share:.0f} %)"
    kind, busy = max(bound.kinds.items(), key=lambda item: item[1], default=(bound.kind, 0.0))
    return f"{bound.phase}: no station (busiest {kind} {100 * busy:.0f} %)"


def bottlenecks(runs: JobRuns) -> str:
    """Say what bound each phase of a job, the longest first."""
    return "; ".join(map(bound_words, runs.bounds))


def mix_title(mix: WorkloadMix) -> str:
    """Say in a line what a mix is."""
    return mix.title or f"A mix of jobs on {mix.machine.name}"
