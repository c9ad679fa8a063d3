"""Populations: jobs drawn from distributions of what a machine runs."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import BeforeValidator, Field

from xc40io.config.model import Model, as_tuple
from xc40io.config.parts.provenance import Provenance
from xc40io.config.stream import PopulationRequest
from xc40io.engine.randomness import stream
from xc40io.workloads.job_records.drawn import DrawnValue, load_drawn
from xc40io.workloads.job_records.job_record import JobRecord


class TimeClass(Model):
    """How long jobs of some size may run."""

    most_nodes: float | None = None  # jobs up to so many nodes; None: all larger ones
    seconds: Annotated[float, Field(gt=0)]  # the longest that they may ask for


class TimeLimits(Provenance):
    """The longest times that jobs may ask for, by their size."""

    classes: Annotated[tuple[TimeClass, ...], BeforeValidator(as_tuple), Field(min_length=1)]

    def limit(self, nodes: int) -> float:
        """Return the seconds that a job of so many nodes may ask for at most."""
        for one in self.classes:
            if one.most_nodes is None or nodes <= one.most_nodes:
                return one.seconds
        return self.classes[-1].seconds


class Population(Model):
    """What a machine runs."""

    title: str  # in a few words
    nodes: DrawnValue  # of a job
    limits: TimeLimits  # of the times that jobs ask for
    asked: DrawnValue  # what jobs ask for, as a share of their limit
    used: DrawnValue  # how long they run, as a share of what they ask for
    read: DrawnValue  # bytes of a job
    written: DrawnValue


def load_population(name_or_path: str) -> Population:
    """Read a population: one of ``configs/populations`` by name, or a file.

    Raises
    ------
    InputError
        If there is none of this name, or a field is wrong.
    """
    return load_drawn("populations", name_or_path, Population)


def draw_population(asked: PopulationRequest, seed: int) -> list[JobRecord]:
    """Draw jobs, in the order of their submissions.

    Each quantity has a stream of its own, so that another interval or another distribution of one
    leaves the others as they were.
    """
    population, count = load_population(asked.name), asked.jobs
    gaps = stream(seed, "population", "starts").standard_exponential(count)
    starts = asked.interval * np.cumsum(gaps)
    names = ("nodes", "asked", "used", "read", "written")
    shares = {name: stream(seed, "population", name).random(count) for name in names}
    digits = len(str(count))
    found = []
    for number in range(count):
        drawn = {
            name: getattr(population, name).value(float(shares[name][number])) for name in names
        }
        nodes = int(drawn["nodes"])
        walltime = max(round(population.limits.limit(nodes) * drawn["asked"]), 60)
        found.append(
            JobRecord(
                name=f"job-{number + 1:0{digits}}",
                nodes=nodes,
                start=float(starts[number]),
                walltime=float(walltime),
                runtime=walltime * drawn["used"],
                read=int(drawn["read"]),
                written=int(drawn["written"]),
            )
        )
    return found
