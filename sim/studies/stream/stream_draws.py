"""Several draws of the unknown values of a stream's jobs, and the intervals that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from xc40io.config.errors import FailureError, naming
from xc40io.config.stream import StreamScenario
from xc40io.engine.types import Floats
from xc40io.run.built_machine import Progress
from xc40io.run.streaming.stream_outcome import StreamOutcome, StreamResult
from xc40io.run.streaming.stream_run import Ended, Stream
from xc40io.run.submission import Allocation
from xc40io.studies.processes import Crew, Failure, each
from xc40io.workloads.job_records.job_record import JobRecord
from xc40io.workloads.job_records.stream_jobs import recorded_jobs

_JOBS_OF_A_PART = 64


class Interval(NamedTuple):
    """The least, the middle and the largest of some draws."""

    low: float
    middle: float
    high: float

    @staticmethod
    def of(values: Sequence[float]) -> Interval:
        """Return the interval of some values."""
        return Interval(min(values), float(np.median(values)), max(values))


class Agreement(NamedTuple):
    """How the jobs' seconds in I/O, all ranks together, agree with measured ones."""

    jobs: int  # how many are compared: those that were measured and moved anything
    r: float  # correlation of the seconds; not a number for fewer than three
    log_r: float  # of their logarithms
    ratio: float  # geometric mean of simulated over measured
    low: float  # the least such mean of a draw, if there are several
    high: float  # the largest
    within: float  # share of the jobs whose measured value is between the least and largest draw


@dataclass(frozen=True)
class Draws:
    """A stream, run once for each draw."""

    results: tuple[StreamResult, ...]  # the first is draw 1 unless the scenario says another
    notes: tuple[str, ...]  # what the user should know of the records
    records: Mapping[str, JobRecord]  # what was known of the jobs, by name

    @property
    def first(self) -> StreamResult:
        """The first of them."""
        return self.results[0]

    def in_io(self, name: str) -> Interval:
        """Return the seconds that a rank of a job was in I/O on average."""
        return Interval.of([seconds[name] for seconds in self._seconds])

    @cached_property
    def _seconds(self) -> list[dict[str, float]]:
        """In I/O, of a rank of each job, by draw and name."""
        return [{job.name: job.in_io for job in result.jobs} for result in self.results]

    @property
    def node_hours(self) -> Interval:
        """Node-hours that all jobs together were in I/O."""
        return Interval.of([sum(_node_hours(result)) for result in self.results])

    @property
    def longest(self) -> Interval:
        """Share of these node-hours that are those of one job, the longest of a draw."""
        hours = [_node_hours(result) for result in self.results]
        return Interval.of([max(one) / sum(one) if sum(one) else 0.0 for one in hours])

    def agreement(self) -> Agreement | None:
        """Return how all agrees with what was measured; None if nothing was."""
        measured, simulated = self._pairs()
        if not len(measured):
            return None
        middle = np.exp(np.median(np.log(simulated), axis=0))
        ratios = np.exp(np.log(simulated / measured).mean(axis=1))
        inside = (simulated.min(axis=0) <= measured) & (measured <= simulated.max(axis=0))
        return Agreement(
            jobs=len(measured),
            r=_correlation(middle, measured),
            log_r=_correlation(np.log(middle), np.log(measured)),
            ratio=float(np.exp(np.log(middle / measured).mean())),
            low=float(ratios.min()),
            high=float(ratios.max()),
            within=float(inside.mean()),
        )

    def _pairs(self) -> tuple[Floats, Floats]:
        """Return measured seconds, float64 (jobs,), and simulated ones, float64 (draws, jobs)."""
        found = [_cumulated(result) for result in self.results]
        names = [
            name
            for name, record in self.records.items()
            if (record.measured or 0.0) > 0.0 and all(one.get(name, 0.0) > 0.0 for one in found)
        ]
        measured = np.array([self.records[name].measured for name in names], np.float64)
        return measured, np.array([[one[name] for name in names] for one in found])


def run_stream(
    scenario: StreamScenario,
    *,
    draws: int = 1,
    alone: bool = False,
    processes: int = 1,
    progress: Progress | None = None,
    ended: Ended | None = None,
    place: str = "",
) -> Draws:
    """Run a stream for several draws of the unknown values of its jobs.

    Parameters
    ----------
    scenario
        The stream; its ``draw`` is the first.
    draws
        How many.
    alone
        Whether the jobs of the first draw also run by themselves.
    processes
        How many are at work. What comes of it is the same with any number.
    progress
        Told how many bytes all draws have moved, and how many they move.
    ended
        Told of each job of a single draw when it has ended.
    place
        What messages call the file that describes the stream, if there is one.

    Raises
    ------
    InputError
        If the scenario asks for what the machine or the simulator does not have, or its records
        cannot be read.
    FailureError
        If one of several runs did not end well.
    """
    with naming(place):
        chosen = recorded_jobs(scenario)
        stream = Stream(scenario, chosen.jobs)
    if draws == 1:
        results = [stream.run(progress, ended)]
    else:
        told = None if progress is None else _of_draws(progress, draws, stream.bytes)
        results = _several(scenario, draws, processes, told)
    if alone:
        results[0] = with_alone(stream, results[0], processes)
    records = {record.name: record for record in chosen.records}
    return Draws(tuple(results), chosen.notes, records)


def _of_draws(progress: Progress, draws: int, moved: int) -> Callable[[int], None]:
    """Return a function that tells the bytes of all draws done so far: each moves about as many."""

    def tell(ended: int) -> None:
        progress(ended * moved, draws * moved)

    return tell


def _several(
    scenario: StreamScenario, draws: int, processes: int, tell: Callable[[int], None] | None
) -> list[StreamResult]:
    """Run the draws; ``tell`` is called with the number of those that have ended."""
    items = {
        f"draw {draw}": scenario.model_copy(update={"draw": draw})
        for draw in range(scenario.draw, scenario.draw + draws)
    }
    found: dict[str, StreamResult] = {}
    for name, ended in each(_run_draw, items, Crew(processes), size=_alike):
        if isinstance(ended, Failure):
            raise FailureError(f"{name}: {ended.reason}")
        found[name] = ended
        if tell is not None:
            tell(len(found))
    return [found[name] for name in items]


def _alike(scenario: StreamScenario) -> float:  # noqa: ARG001
    """Return how long a draw takes: all about as long."""
    return 1.0


def _run_draw(scenario: StreamScenario) -> StreamResult:
    return Stream(scenario, recorded_jobs(scenario).jobs).run()


def _node_hours(result: StreamResult) -> list[float]:
    return [len(job.nodes) * job.in_io / 3600.0 for job in result.jobs]


def _cumulated(result: StreamResult) -> dict[str, float]:
    """Return the seconds of all ranks together in I/O, by job, where the workload tells them."""
    return {job.name: sum(job.cumulated) for job in result.jobs if job.cumulated is not None}


def _correlation(one: Floats, other: Floats) -> float:
    """Return Pearson's r; not a number where it means nothing."""
    if len(one) < 3 or one.std() == 0.0 or other.std() == 0.0:
        return float("nan")
    return float(np.corrcoef(one, other)[0, 1])


def with_alone(stream: Stream, result: StreamResult, processes: int) -> StreamResult:
    """Return the result of a stream with the results of its jobs run alone.

    The jobs of a part run on one machine, each when the nodes of the one before are clean: on the
    same nodes and OSTs and with the same seeds, so that only the other jobs are missing. The parts
    are the same whatever the number of processes, and so is what comes of them.

    Raises
    ------
    FailureError
        If one of the runs did not end well.
    """
    parts = {
        f"jobs {first} to {first + len(part) - 1}": part
        for first in range(0, len(result.jobs), _JOBS_OF_A_PART)
        if (part := [(job.name, job.allocation) for job in result.jobs[first:][:_JOBS_OF_A_PART]])
    }
    found: dict[str, StreamOutcome] = {}
    for name, ended in each(partial(_run_part, stream), parts, Crew(processes), size=len):
        if isinstance(ended, Failure):
            raise FailureError(f"the {name} by themselves: {ended.reason}")
        found |= {job.name: job for job in ended}
    jobs = tuple(
        replace(job, alone=found[job.name].seconds, alone_in_io=found[job.name].in_io)
        for job in result.jobs
    )
    return replace(result, jobs=jobs)


def _run_part(stream: Stream, part: list[tuple[str, Allocation]]) -> list[StreamOutcome]:
    """Run some jobs one after the other."""
    return stream.run_in_turn(dict(part))
