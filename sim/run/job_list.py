"""The jobs of a scenario: those listed and those drawn from its mix, each with its seed.

With nothing left to chance and to defaults a scenario runs the same wherever it is taken:
:func:`complete_yaml`, :func:`complete_jobs_yaml`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.jobs import Job, JobKind, JobsScenario, Mix, check_names
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.scenario_text import resolved_jobs_yaml, resolved_yaml
from xc40io.engine.randomness import stream
from xc40io.workloads.catalogue import workload_of


def all_jobs(scenario: JobsScenario) -> tuple[Job, ...]:
    """Return the jobs of a scenario: those listed, and after them those drawn.

    Raises
    ------
    InputError
        If one that is drawn has the name of one that is listed.
    """
    jobs = scenario.jobs
    if scenario.mix is not None:
        jobs += draw_jobs(scenario.mix, scenario.seed)
    try:
        check_names(jobs)
    except ValueError as error:
        raise InputError(f"mix: {error}") from error
    return jobs


def draw_jobs(mix: Mix, seed: int) -> tuple[Job, ...]:
    """Draw the jobs of a mix, in the order of their starts.

    The kinds are drawn by their weights, the intervals between the starts are exponential, and the
    nodes of each job are drawn as its kind says: three streams, so that another interval or another
    kind's nodes leaves the rest as it was.
    """
    weights = np.array([kind.weight for kind in mix.kinds])
    chosen = stream(seed, "mix", "kinds").choice(
        len(mix.kinds), size=mix.jobs, p=weights / weights.sum()
    )
    gaps = stream(seed, "mix", "starts").standard_exponential(mix.jobs)
    starts = mix.start + mix.interval * np.cumsum(gaps)
    shares = stream(seed, "mix", "nodes").random(mix.jobs)
    drawn = zip(chosen.tolist(), starts.tolist(), shares.tolist(), strict=True)
    return tuple(
        _job(mix.kinds[kind], number, start, share)
        for number, (kind, start, share) in enumerate(drawn, start=1)
    )


def _job(kind: JobKind, number: int, start: float, share: float) -> Job:
    """Return a job of some kind: the ``number``-th that is drawn."""
    own = {name: getattr(kind, name) for name in JobKind.model_fields if name != "weight"}
    name, nodes = f"{kind.name}-{number}", kind.nodes.nodes(share)
    return Job(**own | {"name": name, "start": start, "nodes": nodes})


class SeededJob(NamedTuple):
    """A job with what is random in it decided."""

    job: Job
    drawn: bool
    seed: int


def seeded_jobs(scenario: JobsScenario) -> tuple[SeededJob, ...]:
    """Return all jobs of a scenario, listed and drawn, each with its seed."""
    listed = len(scenario.jobs)
    return tuple(
        SeededJob(job, number >= listed, seed_of(job, scenario.seed))
        for number, job in enumerate(all_jobs(scenario))
    )


def seed_of(job: Job, seed: int) -> int:
    """Return the seed of a job: its own, or one that follows from the scenario's and its name."""
    if job.seed is not None:
        return job.seed
    return int(stream(seed, "job", job.name).integers(1 << 31))


def complete_yaml(scenario: Scenario, machine: Machine) -> str:
    """Return the complete scenario of one job as YAML.

    Parameters
    ----------
    scenario
        As loaded.
    machine
        Its machine, with the scenario's changes made; it is written out in full, with its sources.

    Raises
    ------
    InputError
        If a file that the workload is read from is not there.
    """
    updates = {"workload": workload_of(scenario.workload).asked()}
    return resolved_yaml(scenario.model_copy(update=updates), machine)


def complete_jobs_yaml(scenario: JobsScenario, machine: Machine) -> str:
    """Return the complete scenario of several jobs as YAML: drawn jobs are listed.

    Parameters and errors: as for :func:`complete_yaml`.
    """
    jobs = tuple(
        (job.model_copy(update={"workload": workload_of(job.workload).asked()}), seed)
        for job, _, seed in seeded_jobs(scenario)
    )
    return resolved_jobs_yaml(scenario, machine, jobs)
