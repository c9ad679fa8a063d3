"""Jobs of a mix that a job is run beside, one after another: what each makes of the other's I/O.

A neighbour begins at the same time. What it takes is held against a run of it without the job, on
the same nodes and with the same seed. Of two jobs on a real machine nobody knows how their files
lie to each other: others make files in between. So a shared file of the job, which would begin on
the OST behind those of the neighbour, begins on one that is drawn by the seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.jobs import OF_A_JOB, SHARED, Job, JobsScenario
from xc40io.config.scenario import Scenario, machine_of
from xc40io.config.workload_mix import MixJob, WorkloadMix
from xc40io.engine.randomness import stream
from xc40io.studies.advice.job_nature import (
    Objective,
    bytes_of_record,
    replays,
    seconds_of_record,
)
from xc40io.studies.case import Case
from xc40io.studies.plan.mix_runs import JobRuns, jobs_of_weights
from xc40io.studies.processes import Failure, bytes_to_move
from xc40io.studies.record import RunRecord, of_job
from xc40io.studies.simulations import Ended, Simulations
from xc40io.workloads.catalogue import traits_of
from xc40io.workloads.traits import OWN

MOST = 6
"""Jobs of a mix that a job is run beside: those that stand for most bytes, or node-hours."""

_NAME = "tuned"  # of the job among its neighbours


class NeighbourRun(NamedTuple):
    """A job beside others: one neighbour, or the mean over all of a mix."""

    seconds: float  # of the job's I/O, for as many bytes as it moves now
    others: float  # how many times as long the others' I/O takes as without the job


@dataclass(frozen=True)
class Neighbour:
    """A job of a mix, or several that run at the same time."""

    mixed: MixJob
    jobs: tuple[Job, ...]

    @property
    def name(self) -> str:
        """As the mix calls it."""
        return self.mixed.name

    @property
    def nodes(self) -> int:
        """Compute nodes of all its jobs."""
        return sum(job.nodes for job in self.jobs)

    def alone(self, scenario: Scenario, seed: int) -> JobsScenario:
        """Return its run without the job, on the job's machine."""
        shared = {name: getattr(scenario, name) for name in SHARED}
        return JobsScenario(**shared, jobs=self.jobs, seed=seed)

    def beside(self, scenario: Scenario, seed: int) -> JobsScenario:
        """Return its run beside the job; it gets its nodes and its files first, as without it."""
        own = {name: getattr(scenario, name) for name in OF_A_JOB}
        plain = scenario.striping.setstripe is None
        if plain and _shares_a_file(scenario) and scenario.striping.offset < 0:
            osts = machine_of(scenario).lustre.osts
            first = int(stream(seed, "beside", self.name).integers(osts))
            own["striping"] = replace(scenario.striping, offset=first)
        job = Job(name=self.own_name, seed=seed, **own)
        together = self.alone(scenario, seed)
        return together.model_copy(update={"jobs": (*together.jobs, job)})

    def runs(self, record: RunRecord) -> JobRuns:
        """Return the bytes and seconds of a run of it alone, counted as in a mix."""
        together = not isinstance(self.mixed.run, Scenario)
        return JobRuns((record if together else of_job(record, self.name),), together)

    @property
    def own_name(self) -> str:
        """What the job is called beside it."""
        name, taken = _NAME, {job.name for job in self.jobs}
        while name in taken:
            name += "_"
        return name


def _shares_a_file(scenario: Scenario) -> bool:
    """Tell whether all ranks of a command write one file."""
    parts = traits_of(scenario).parts
    return bool(parts) and not any(part.sharing == OWN for part in parts)


class Neighbours:
    """Those jobs of a mix that a job is run beside.

    Parameters
    ----------
    mix
        The jobs of others.
    scenario
        The job as it is now.
    usual
        The bytes that it moves now.
    objective
        Of which of its phases the seconds are looked at.
    simulations
        What runs them.

    Raises
    ------
    InputError
        If no job of the mix finds room beside the job, or one cannot be run.
    """

    def __init__(
        self,
        mix: WorkloadMix,
        scenario: Scenario,
        usual: int,
        objective: Objective,
        simulations: Simulations,
    ) -> None:
        self._usual, self._simulations = usual, simulations
        self._objective: Objective = objective
        room = machine_of(scenario).nodes.count - scenario.nodes
        self.all = chosen_neighbours(mix, room)
        self.left_out = tuple(
            job.name for job in mix.jobs if job.name not in {one.name for one in self.all}
        )
        if not self.all:
            raise InputError(
                f"--beside: no job of the mix has room on the {room:,} nodes that the job leaves; "
                "right would be a mix with smaller jobs, or nothing"
            )
        self.shares = self._shares(mix, scenario)

    def _shares(self, mix: WorkloadMix, scenario: Scenario) -> tuple[float, ...]:
        """Return how much of the time that these jobs are in I/O each of them is."""
        ended = self._simulations.run([one.alone(scenario, scenario.seed) for one in self.all])
        runs = [
            one.runs(_done(one.name, record)) for one, record in zip(self.all, ended, strict=True)
        ]
        there = mix.model_copy(update={"jobs": tuple(one.mixed for one in self.all)})
        counts = jobs_of_weights(there, runs)
        times = [count * run.mean for count, run in zip(counts, runs, strict=True)]
        return tuple(each / sum(times) for each in times)

    def meet(
        self, scenarios: Sequence[Scenario], seeds: Sequence[int]
    ) -> list[tuple[NeighbourRun, ...] | Failure]:
        """Run settings of the job beside each neighbour; return the means over these, by seed."""
        asked = [
            run
            for scenario in scenarios
            for seed in seeds
            for one in self.all
            for run in (one.alone(scenario, seed), one.beside(scenario, seed))
        ]
        ended = iter(self._simulations.run(asked))
        return [self._met(scenario, len(seeds), ended) for scenario in scenarios]

    def _met(
        self, scenario: Scenario, seeds: int, ended: Iterator[Ended]
    ) -> tuple[NeighbourRun, ...] | Failure:
        """Return the means of a setting by seed, or why it could not be run."""
        pairs = [[(next(ended), next(ended)) for _ in self.all] for _ in range(seeds)]
        found = []
        for of_seed in pairs:
            met = []
            for one, (alone, beside) in zip(self.all, of_seed, strict=True):
                try:
                    told = _done(one.name, alone), _done(one.name, beside)
                except InputError as error:
                    return Failure(str(error))
                met.append(self._meeting(scenario, one, *told))
            found.append(self._mean(met))
        return tuple(found)

    def _meeting(
        self, scenario: Scenario, one: Neighbour, alone: RunRecord, beside: RunRecord
    ) -> NeighbourRun:
        """Return a job's seconds beside a neighbour, and how many times as long that one takes."""
        mine = of_job(beside, one.own_name)
        seconds = seconds_of_record(mine, self._objective, replay=replays(scenario))
        moved = bytes_of_record(mine)
        before, after = (
            sum(bound.seconds for job in one.jobs for bound in of_job(record, job.name).bounds)
            for record in (alone, beside)
        )
        scale = self._usual / moved if self._usual and moved else 1.0
        return NeighbourRun(seconds * scale, after / before)

    def _mean(self, met: Sequence[NeighbourRun]) -> NeighbourRun:
        """Return the means over all neighbours, by how much of the time each is in I/O."""
        seconds, others = (
            sum(share * one[place] for share, one in zip(self.shares, met, strict=True))
            for place in range(2)
        )
        return NeighbourRun(seconds, others)


def chosen_neighbours(mix: WorkloadMix, room: int) -> tuple[Neighbour, ...]:
    """Return the jobs of a mix that stand for most, at most :data:`MOST`, as the mix lists them.

    Where weights count jobs, that is the bytes they move; else the weights themselves. Jobs that
    need more nodes than there is `room` are left out.
    """
    fitting = [one for one in map(_neighbour, mix.jobs) if one.nodes <= room]
    kept = sorted(fitting, key=lambda one: -_stands_for(mix, one))[:MOST]
    return tuple(one for one in fitting if one in kept)


def _neighbour(job: MixJob) -> Neighbour:
    if isinstance(job.run, Scenario):
        own = {name: getattr(job.run, name) for name in OF_A_JOB}
        return Neighbour(job, (Job(name=job.name, **own),))
    listed = Case(job.run).listed().scenario
    assert isinstance(listed, JobsScenario)
    return Neighbour(job, listed.jobs)


def _stands_for(mix: WorkloadMix, one: Neighbour) -> float:
    each = sum(map(bytes_to_move, one.jobs)) if mix.weights == "jobs" else 1.0
    return one.mixed.weight * each


def _done(name: str, ended: Ended) -> RunRecord:
    """Return the record of a run beside a neighbour; InputError where it could not be."""
    reason = ended.reason if isinstance(ended, Failure) else "; ".join(ended.troubles)
    if isinstance(ended, Failure) or reason:
        raise InputError(f"beside {name}: {reason}")
    return ended
