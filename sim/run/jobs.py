"""Run the jobs of a scenario together, and each by itself to see what the others cost it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.faults import said_faults
from xc40io.config.jobs import Job, JobsScenario, check_jobs_fit
from xc40io.config.kept import kept
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario, changed_machine, check_job
from xc40io.config.units import format_seconds
from xc40io.engine.types import Indices
from xc40io.run.built_machine import Progress
from xc40io.run.foreseen import Foreseen, Foretold
from xc40io.run.job_list import SeededJob, all_jobs, seeded_jobs
from xc40io.run.result import Result, save
from xc40io.run.simulate import run_jobs
from xc40io.run.submission import Allocation, Submission, in_job
from xc40io.topology.text import format_count
from xc40io.workloads.catalogue import workload_of
from xc40io.workloads.job_results import phase_title

_NONE: Mapping[str, Allocation] = MappingProxyType({})


@kept
class JobPhase(NamedTuple):
    """What one phase of a job came to, all its repetitions or steps together."""

    name: str  # ``write``; with the place of the test before it where an IOR command has several.
    bytes: int  # Read or written.
    seconds: float  # From the first rank's begin to the last one's end, summed.

    @property
    def bandwidth(self) -> float | None:
        """Bytes/s; None where there are no bytes."""
        return self.bytes / self.seconds if self.bytes and self.seconds > 0.0 else None

    def slowdown(self, alone: JobPhase | None) -> float | None:
        """Return its time as a multiple of that alone; None if it did not run alone.

        Where other bytes were moved, as under a deadline, of the time for each byte.
        """
        if alone is None or alone.seconds <= 0.0:
            return None
        if self.bytes != alone.bytes and self.bandwidth and alone.bandwidth:
            return alone.bandwidth / self.bandwidth
        return self.seconds / alone.seconds


@kept
class Alone(NamedTuple):
    """What a job came to on the same nodes and OSTs and at the same time, without the others."""

    seconds: float  # That it took.
    phases: tuple[JobPhase, ...]  # Its phases, as :func:`phases_of` returns them.


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class JobOutcome:
    """What has come of one job."""

    job: Job  # As listed or drawn.
    drawn: bool  # Whether it was drawn from the mix.
    # As that of a run of a single job; its scenario is the job by itself. What the machine did, as
    # its stations, locks and page caches tell, is that of all jobs.
    result: Result
    alone: Alone | None  # The job without the others; None if that was not asked for.

    @property
    def nodes(self) -> Indices:
        """The compute nodes that it had: int32 (nodes,)."""
        return self.result.allocation.nodes

    @property
    def start(self) -> float:
        """When it began, in simulated seconds."""
        return self.result.started

    @property
    def end(self) -> float:
        """When it ended, in simulated seconds."""
        return self.result.started + self.result.simulated

    @property
    def phases(self) -> tuple[JobPhase, ...]:
        """What its phases came to."""
        return phases_of(self.result)

    @property
    def slowdown(self) -> float | None:
        """How many times as long it took as it did by itself; None if that was not asked for."""
        if self.alone is None or self.alone.seconds == 0.0:
            return None
        return self.result.simulated / self.alone.seconds

    def phase_pairs(self) -> Iterator[tuple[JobPhase, JobPhase | None]]:
        """Yield each phase, and the same phase of the job by itself if there is one."""
        by_name = {phase.name: phase for phase in self.alone.phases} if self.alone else {}
        for phase in self.phases:
            yield phase, by_name.get(phase.name)


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class JobsResult:
    """A finished run of several jobs.

    Attributes
    ----------
    scenario, machine
        What was run.
    jobs
        One outcome for each, in the order of the scenario; the drawn ones last.
    wall
        Real seconds from the first to the last: checking, building, running, and the jobs by
        themselves.
    """

    scenario: JobsScenario
    machine: Machine
    jobs: tuple[JobOutcome, ...]
    wall: float

    def __repr__(self) -> str:
        """Return a line: how many jobs, where, and how long."""
        return (
            f"<JobsResult of {format_count(len(self.jobs), 'job')} on {self.machine.name}: "
            f"{format_seconds(self.simulated, 4)} simulated>"
        )

    @property
    def simulated(self) -> float:
        """When the last job ended, in simulated seconds."""
        return max(outcome.end for outcome in self.jobs)

    @property
    def whole(self) -> Result:
        """Any of the results: what the machine did is the same in all of them."""
        return self.jobs[0].result

    def save(self, path: str | Path) -> None:
        """Keep everything in a file: :meth:`Result.save <xc40io.run.result.Result.save>`."""
        save(self, path)


def simulate_jobs(
    scenario: JobsScenario,
    *,
    alone: bool = True,
    record: bool = False,
    progress: Progress | None = None,
    say: Callable[[str], None] | None = None,
) -> JobsResult:
    """Run the jobs of a scenario together to the end of the last one.

    Parameters
    ----------
    scenario
        What to run.
    alone
        Whether to run each job by itself, too: on the same nodes and OSTs, from the same time on
        and with the same seeds, so that only the other jobs are missing. That takes about as long
        again.
    record
        Whether to record what all jobs do together.
    progress
        Told from time to time how far all runs have come; before, if it takes that, what the jobs
        together will be.
    say
        Told what is being run, before each run.

    Raises
    ------
    InputError
        If the scenario asks for what the machine or the simulator does not have, or two jobs for
        the same node.
    """
    began = time.perf_counter()
    machine = machine_of_jobs(scenario)
    jobs = seeded_jobs(scenario)
    check_jobs_fit(tuple(entry.job for entry in jobs), machine)
    tell = say or _tell_nobody
    alone_too = alone and len(jobs) > 1
    part = _Parts(progress, 1 + alone_too)

    tell("all jobs")
    together = _run(scenario, machine, jobs, _NONE, record=record, progress=part)
    part.ended()
    at_work = _at_work(together)
    outcomes = []
    for entry, result in zip(jobs, together, strict=True):
        by_itself: Result | None = None
        if alone_too:
            tell(f"{entry.job.name} alone")
            own = {entry.job.name: result.allocation}
            (by_itself,) = _run(scenario, machine, [entry], own, progress=part)
            part.ended()
        elif alone:
            by_itself = result
        outcomes.append(_outcome(entry, result, by_itself, at_work))
    wall = time.perf_counter() - began
    return JobsResult(scenario=scenario, machine=machine, jobs=tuple(outcomes), wall=wall)


def simulate_some(
    scenario: JobsScenario,
    names: Collection[str],
    allocations: Mapping[str, Allocation] = _NONE,
    *,
    record: bool = False,
    progress: Progress | None = None,
    until: float | None = None,
) -> list[Result]:
    """Run some of the jobs of a scenario together; return a result for each, in their order.

    Parameters
    ----------
    scenario
        The jobs.
    names
        Of those that are to run; the others are not there.
    allocations
        What each gets, by name: with what it got in a run of all jobs, only the others are missing.
    record
        Whether to record what each did.
    progress
        Told from time to time how far the run has come.
    until
        Simulated seconds after which it is given up; never unless given.

    Raises
    ------
    InputError
        As :func:`simulate_jobs`.
    OvertimeError
        If it is given up.
    """
    machine = machine_of_jobs(scenario)
    jobs = [entry for entry in seeded_jobs(scenario) if entry.job.name in names]
    check_jobs_fit(tuple(entry.job for entry in jobs), machine)
    results = _run(
        scenario, machine, jobs, allocations, record=record, progress=progress, until=until
    )
    at_work = _at_work(results)
    return [dataclasses.replace(result, at_work=at_work) for result in results]


def _run(
    scenario: JobsScenario,
    machine: Machine,
    jobs: Sequence[SeededJob],
    allocations: Mapping[str, Allocation],
    *,
    record: bool = False,
    progress: Progress | None = None,
    until: float | None = None,
) -> list[Result]:
    """Run jobs together, each with its given allocation, if any."""
    submissions = [
        submission_of(scenario, machine, entry, allocations.get(entry.job.name)) for entry in jobs
    ]
    there = {entry.job.name for entry in jobs}
    away = {job.name for job in all_jobs(scenario)} - there
    return run_jobs(
        machine,
        submissions,
        background=scenario.background,
        seed=scenario.seed,
        faults=[
            one for one in said_faults(scenario.faults, scenario.slow) if one.fault.job not in away
        ],
        record=record,
        progress=progress,
        until=until,
    )


class _Parts:
    """Tells how far all runs have come, of which each tells of itself: first that of all jobs.

    ``times``: how many times as much as in that one is done in all.
    """

    def __init__(self, tell: Progress | None, times: int) -> None:
        self._tell = tell
        self._times = times
        self._total = self._before = self._own = 0

    def __call__(self, done: int, total: int) -> None:
        self._total = self._total or total * self._times
        self._own = total
        if self._tell is not None:
            self._tell(min(self._before + done, self._total), self._total)

    def foretell(self, run: Foreseen) -> None:
        """Tell what the first run will be."""
        if isinstance(self._tell, Foretold) and not self._total:
            self._tell.foretell(run)

    def ended(self) -> None:
        """Note that a run has ended: the next one begins where it is done."""
        self._before += self._own


def _tell_nobody(words: str) -> None:
    """Say nothing."""


def machine_of_jobs(scenario: JobsScenario) -> Machine:
    """Return the machine of a scenario, with the scenario's changes made.

    Raises
    ------
    InputError
        If there is no such machine, or the changes do not fit.
    """
    return changed_machine(scenario.machine, scenario.changes, scenario.rpcs_as_one)


def submission_of(
    scenario: JobsScenario, machine: Machine, entry: SeededJob, allocation: Allocation | None
) -> Submission:
    """Return a job as it is handed to the machine, checked."""
    view: Scenario = scenario.alone(entry.job, entry.seed)
    try:
        check_job(view, machine)
        workload = workload_of(view.workload)
        own = {"name": entry.job.name, "start": entry.job.start, "allocation": allocation}
        job = Submission.to(machine, view, workload, **own)
        job.check(machine)
    except InputError as error:
        raise in_job(entry.job.name, error) from error
    return job


def _outcome(
    entry: SeededJob,
    result: Result,
    by_itself: Result | None,
    at_work: tuple[tuple[float, float], ...],
) -> JobOutcome:
    """Return the outcome of a job; its result gets the times at which jobs were at work."""
    return JobOutcome(
        job=entry.job,
        drawn=entry.drawn,
        result=dataclasses.replace(result, at_work=at_work),
        alone=None if by_itself is None else Alone(by_itself.simulated, phases_of(by_itself)),
    )


def _at_work(results: Sequence[Result]) -> tuple[tuple[float, float], ...]:
    """Return when any job was at work, each period in simulated seconds."""
    return tuple(
        (stretch.start, stretch.end)
        for result in results
        for activity in result.activities
        for stretch in activity.stretches
    )


def phases_of(result: Result) -> tuple[JobPhase, ...]:
    """Return the sums of the phases of a run, in the order in which they first came."""
    several = any(row.part for row in result.rows)
    sums: dict[str, JobPhase] = {}
    for row in result.rows:
        name = phase_title(row.part, row.phase, several=several)
        before = sums.get(name, JobPhase(name, 0, 0.0))
        sums[name] = JobPhase(name, before.bytes + row.bytes, before.seconds + row.seconds)
    return tuple(sums.values())
