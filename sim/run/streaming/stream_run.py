"""Run a stream of jobs."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

import numpy as np
import simpy

from xc40io.config.errors import InputError
from xc40io.config.stream import StreamJob, StreamScenario
from xc40io.engine.types import Floats
from xc40io.machine.plane import Plane
from xc40io.plane.causes import DOING, Cause
from xc40io.plane.stations import StationKind
from xc40io.run.built_machine import Progress
from xc40io.run.job_list import SeededJob, all_jobs, seed_of
from xc40io.run.job_run import JobRun
from xc40io.run.jobs import machine_of_jobs, submission_of
from xc40io.run.streaming.backfill import QueuedJob, Running, begin_now
from xc40io.run.streaming.stream_machine import StreamMachine, partition, slots_of
from xc40io.run.streaming.stream_outcome import Bandwidth, StreamOutcome, StreamResult
from xc40io.run.submission import Allocation, Submission
from xc40io.workloads.kernels.production import CumulatedSeconds

Process = Generator[simpy.Event, object, None]
Ended = Callable[[StreamOutcome], None]

_NOT_IN_IO = (Cause.THINK, Cause.MEETING, Cause.THREADS)


class Entry(NamedTuple):
    """A job of a stream with what is random in it decided, and what it asks the queue for."""

    job: StreamJob
    seed: int
    walltime: float

    @property
    def waiting(self) -> QueuedJob:
        """The job as the queue sees it."""
        return QueuedJob(self.job.name, self.job.nodes, self.walltime)


class StreamRun:
    """One run of a stream.

    Parameters
    ----------
    scenario
        The stream.
    machine
        Where, built and at rest.
    entries
        The jobs.
    allocations
        What each gets, by its name, if that is known from an earlier run.
    ended
        Told of each job when its nodes are given back.
    """

    def __init__(
        self,
        scenario: StreamScenario,
        machine: StreamMachine,
        entries: Sequence[Entry],
        allocations: dict[str, Allocation] | None = None,
        ended: Ended | None = None,
    ) -> None:
        self._scenario = scenario
        self._machine = machine
        self._entries = {entry.job.name: entry for entry in entries}
        self._allocations = allocations or {}
        self._ended = ended
        self._queue: list[QueuedJob] = []
        self._running: dict[str, Running] = {}
        self.outcomes: list[StreamOutcome] = []
        self._left, self._done = len(entries), machine.environment.event()

    def in_turn(self) -> list[StreamOutcome]:
        """Run the jobs one after the other, each on a machine at rest."""

        def one_by_one() -> Process:
            for entry in self._entries.values():
                yield from self._job(entry)

        self._run(one_by_one())
        return self.outcomes

    def as_they_come(self) -> list[StreamOutcome]:
        """Run the jobs as they are submitted and as the queue lets them begin."""
        clock = self._machine.environment
        for entry in sorted(self._entries.values(), key=lambda one: one.job.start):
            clock.process(self._arrive(entry))
        self._run(self._wait())
        return self.outcomes

    def _wait(self) -> Process:
        yield self._done

    def _run(self, process: Process) -> None:
        clock = self._machine.environment
        done = clock.process(process)
        try:
            clock.run(until=done)
        except RuntimeError as error:
            if done.triggered or clock.peek() < np.inf:
                raise
            raise InputError(
                f"after {clock.now:.4g} simulated s ranks wait for each other for ever; right "
                "would be jobs that end by themselves"
            ) from error

    def _arrive(self, entry: Entry) -> Process:
        """Wait for the time at which a job is submitted; put it into the queue."""
        yield self._machine.environment.timeout(entry.job.start)
        self._queue.append(entry.waiting)
        self._dispatch()

    def _dispatch(self) -> None:
        """Let those jobs begin that may do so now."""
        clock, policy = self._machine.environment, self._scenario.queue.policy
        now, free = float(clock.now), int(np.count_nonzero(self._machine.free))
        if policy == "recorded":
            begun = _that_fit(self._queue, free)
        else:
            running = list(self._running.values())
            begun = begin_now(self._queue, free, running, now, backfill=policy == "easy")
        for job in begun:
            self._queue.remove(job)
            self._running[job.name] = Running(job.nodes, now + job.walltime)
            clock.process(self._job_of_the_queue(self._entries[job.name]))

    def _job_of_the_queue(self, entry: Entry) -> Process:
        """Run a job, give back its nodes, and see who gets them."""
        yield from self._job(entry)
        del self._running[entry.job.name]
        self._dispatch()
        self._left -= 1
        if self._left == 0:
            self._done.succeed()

    def _job(self, entry: Entry) -> Process:
        """Run a job on nodes that are free, and clean them behind it."""
        name = entry.job.name
        submission = submission_of(
            self._scenario,
            self._machine.machine,
            SeededJob(entry.job, drawn=False, seed=entry.seed),
            self._allocations.get(name),
        )._replace(start=0.0)  # it begins at once: it has waited in the queue
        run = self._machine.admit(submission)
        yield from run.process()
        found = _outcome(entry, run)
        yield from self._machine.clean(run)
        outcome = found(float(self._machine.environment.now))
        self.outcomes.append(outcome)
        if self._ended is not None:
            self._ended(outcome)


def _that_fit(queue: Sequence[QueuedJob], free: int) -> list[QueuedJob]:
    """Return the jobs, in their order, that find nodes."""
    found = []
    for job in queue:
        if job.nodes <= free:
            found.append(job)
            free -= job.nodes
    return found


def _outcome(entry: Entry, run: JobRun) -> Callable[[float], StreamOutcome]:
    """Return a function that makes a job's outcome from the time its nodes were given back."""
    job, placed = run.job, run.placed
    moved = {"read": 0, "write": 0}
    for row in job.rows:
        for way in moved:
            moved[way] += row.bytes if way in row.phase else 0
    doing = job.all_ranks.waited(job.filesystem.plane).doing
    kept = [place for place, cause in enumerate(DOING) if cause not in _NOT_IN_IO]
    cumulated = run.outcome if isinstance(run.outcome, CumulatedSeconds) else None

    def given_back(time: float) -> StreamOutcome:
        return StreamOutcome(
            name=entry.job.name,
            workload=placed.submission.workload.title,
            nodes=placed.nodes,
            ranks=len(job.all_ranks),
            submitted=entry.job.start,
            started=run.started,
            ended=run.ended,
            given_back=time,
            walltime=entry.walltime,
            bytes_read=moved["read"],
            bytes_written=moved["write"],
            in_io=float(doing[:, kept].sum(axis=1).mean()),
            cumulated=cumulated,
            allocation=run.allocation,
        )

    return given_back


class Stream:
    """A stream that can be run: its machine and its jobs, checked.

    Parameters
    ----------
    scenario
        The stream.
    jobs
        Those of a table and those that were drawn, beside the ones that the scenario lists.

    Raises
    ------
    InputError
        If the scenario asks for what the machine or the simulator does not have, a job has more
        nodes than the queue, or asks for what a stream does not know.
    """

    def __init__(self, scenario: StreamScenario, jobs: Sequence[StreamJob] = ()) -> None:
        self.scenario = scenario
        self.machine = machine_of_jobs(scenario)
        partition(scenario, self.machine)  # refuses a queue of more nodes
        every = [*_listed(scenario), *jobs]
        self.entries = [_entry(scenario, job) for job in every]
        submissions = [self._checked(entry) for entry in self.entries]
        self._slots = slots_of(submissions)
        self._system = _system_cores(submissions)
        self.bytes = sum(job.bytes_to_move for job in submissions)

    def run(self, progress: Progress | None = None, ended: Ended | None = None) -> StreamResult:
        """Run the stream as its jobs come; ``ended`` is told of each when it has ended."""
        began = time.perf_counter()
        machine = self.build(progress)
        jobs = StreamRun(self.scenario, machine, self.entries, ended=ended).as_they_come()
        if progress is not None:
            progress(self.bytes, self.bytes)
        events, rpcs, moved = machine.plane.counts.tolist()
        return StreamResult(
            scenario=self.scenario,
            machine=self.machine,
            nodes=len(machine.nodes),
            jobs=tuple(sorted(jobs, key=lambda job: (job.started, job.name))),
            bandwidth=_bandwidth(machine),
            events=events,
            rpcs=rpcs,
            bulk_bytes=moved,
            notes=(*machine.conditions.notes(), *machine.faults.notes()),
            wall=time.perf_counter() - began,
        )

    def run_in_turn(self, allocations: dict[str, Allocation]) -> list[StreamOutcome]:
        """Run those jobs one after the other that have an allocation, each by itself."""
        entries = [entry for entry in self.entries if entry.job.name in allocations]
        return StreamRun(self.scenario, self.build(), entries, allocations).in_turn()

    def build(self, progress: Progress | None = None) -> StreamMachine:
        """Return the machine of the stream, at rest."""

        def watch(plane: Plane) -> None:
            if progress is not None:
                progress(min(int(plane.counts[2]), self.bytes), self.bytes)

        return StreamMachine(self.scenario, self.machine, self._slots, self._system, watch)

    def _checked(self, entry: Entry) -> Submission:
        """Return a job as it will be handed to the machine.

        Raises
        ------
        InputError
            If it cannot run there.
        """
        job, queue = entry.job, self.scenario.queue
        most = self.machine.nodes.count if queue.nodes is None else queue.nodes
        if job.nodes > most:
            raise InputError(
                f"jobs.{job.name}.nodes = {job.nodes:,}; right would be at most the {most:,} "
                f"compute nodes of the queue on {self.machine.name}"
            )
        if job.placement.nodes is not None:
            raise InputError(
                f"jobs.{job.name}.placement: a job of a stream gets nodes that are free; right "
                "would be contiguous, random or spread"
            )
        if job.target.kind != "lustre":
            raise InputError(
                f"jobs.{job.name}.target = {job.target.kind}: the files of a stream are on Lustre; "
                "right would be lustre"
            )
        return submission_of(self.scenario, self.machine, SeededJob(job, False, entry.seed), None)


def _listed(scenario: StreamScenario) -> list[StreamJob]:
    """Return the jobs that a scenario lists, and the jobs of its mix."""
    drawn = [job for job in all_jobs(scenario) if not isinstance(job, StreamJob)]
    return [
        *scenario.jobs,
        *(
            StreamJob(**{name: getattr(job, name) for name in type(job).model_fields})
            for job in drawn
        ),
    ]


def _entry(scenario: StreamScenario, job: StreamJob) -> Entry:
    walltime = scenario.queue.walltime if job.walltime is None else job.walltime
    return Entry(job, seed_of(job, scenario.seed), walltime)


def _system_cores(submissions: Sequence[Submission]) -> int:
    """Return the cores that the jobs leave to the system: all the same number."""
    kept = {job.scenario.cores.system: job.name for job in submissions}
    if len(kept) > 1:
        (one, first), (other, second), *_ = kept.items()
        raise InputError(
            f"jobs.{second}.cores.system = {other}, but {one} for job {first}; right would be the "
            "same number for all jobs"
        )
    return next(iter(kept))


def _bandwidth(machine: StreamMachine) -> Bandwidth:
    """Return the bytes that the disk arrays of the OSTs moved over time."""
    stations, bins = machine.plane.stations, machine.plane.bins
    rows = stations.row[(stations.kind == int(StationKind.OST)) & (stations.row >= 0)]
    moved: Floats = bins.bytes[rows].sum(axis=0)
    width = float(bins.width[0])
    last = int(np.ceil(float(machine.environment.now) / width))
    return Bandwidth(width, moved[: max(last, 1)])
