"""The description of a stream of jobs: jobs that arrive, wait in a queue, run and give back nodes.

Where a scenario of several jobs (:mod:`xc40io.config.jobs`) has them all on the machine at once, a
stream may be longer than a machine full::

    machine: theta
    queue: {policy: easy}
    jobs:
      - {name: first, start: 0 s, walltime: 1 h, nodes: 4000, ppn: 1, workload: {ior: -w -F -b 64m}}
      - {name: second, start: 5 s, walltime: 10 min, nodes: 512, ppn: 1, workload: {ior: -w -b 8m}}
    records: {table: week.csv}
    population: {name: theta, jobs: 200, interval: 20 min}
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from xc40io.config.errors import InputError, naming
from xc40io.config.files import check_is_file
from xc40io.config.jobs import Job, JobsScenario, check_names, with_files_found
from xc40io.config.model import Model, as_tuple, checked
from xc40io.config.reading import reads
from xc40io.config.scenario import read_scenario_file
from xc40io.config.units import Count, Seconds

MOST_JOBS = 100_000
"""Jobs of a stream: years of a machine."""


class Queue(Model):
    """How jobs get their nodes."""

    #: ``easy``: first come, first served, and a later job may go first where that delays the first
    #: one that waits by nothing (EASY backfilling: D. Lifka, The ANL/IBM SP Scheduling System,
    #: 1995). ``fcfs``: first come, first served, strictly. ``recorded``: each at its ``start``, as
    #: soon after it as there are nodes.
    policy: Literal["easy", "fcfs", "recorded"] = "easy"
    nodes: Count | None = None  #: Compute nodes that jobs get; all of the machine unless given.
    walltime: Seconds = 3600.0  #: Seconds that a job is taken to ask for that names none.


class StreamJob(Job):
    """One job of a stream."""

    #: Seconds from the beginning of the simulation until the job is submitted; until it begins,
    #: where the queue is ``recorded``.
    start: Seconds = 0.0
    #: Seconds that it asks for. Nothing ends a job that takes longer; the queue then takes it to
    #: end at any time.
    walltime: Annotated[Seconds, Field(gt=0)] | None = None


class Records(Model):
    """A table of what accounting knows of jobs (docs/streams.md)."""

    #: Path of a CSV, Parquet or YAML file, or of the text of ``darshan-parser --total``; relative
    #: to the scenario's file.
    table: str
    #: What is taken to be so where the table does not say: a name (``configs/habits``) or a path.
    habits: str = "production"


class PopulationRequest(Model):
    """Jobs drawn from distributions of what a machine runs."""

    name: str  #: Of the distributions: a name (``configs/populations``) or a path.
    jobs: Annotated[int, Field(gt=0, le=MOST_JOBS)]  #: How many are drawn.
    #: Seconds between two submissions on average; they are independent of each other.
    interval: Annotated[Seconds, Field(gt=0)]
    habits: str = "production"  #: As for :class:`Records`.


class StreamScenario(JobsScenario):
    """A stream of jobs on one machine."""

    queue: Queue  #: How they get their nodes.
    jobs: Annotated[tuple[StreamJob, ...], BeforeValidator(as_tuple)] = ()  #: Listed one by one.
    records: Records | None = None  #: Jobs of a table, beside those listed.
    population: PopulationRequest | None = None  #: Jobs that are drawn, beside both.
    draw: Count = 1  #: Which draw of what is not known of the jobs: 1, 2, ...
    #: Most calls that a rank of a job of a table or a population makes on a file and step; longer
    #: ones then stand for several. 0: no limit. None: for each job so many that the stream takes
    #: minutes (:mod:`xc40io.workloads.job_records.coarseness`).
    most_calls: Annotated[int, Field(ge=0)] | None = None
    #: Most ranks of a node of such a job that are simulated; each then stands for several. 0 and
    #: None: as above.
    most_ranks_per_node: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _jobs_are_told_apart(self) -> StreamScenario:
        if not (self.jobs or self.mix or self.records or self.population):
            raise ValueError(
                "there is no job; right would be jobs: [...], mix: {...}, records: {table: FILE} "
                "or population: {name: NAME, jobs: N, interval: TIME}"
            )
        check_names(self.jobs)
        return self


@reads("a stream of jobs, as in configs/streams")
def load_stream(name_or_path: str | Path) -> StreamScenario:
    """Read and check a stream of jobs.

    Parameters
    ----------
    name_or_path
        A name of ``configs/streams``, or a path that ends in ``.yaml`` or ``.yml``.

    Raises
    ------
    InputError
        If there is no such scenario, it is none of a stream, or a field is unknown, missing or of
        the wrong type.
    """
    path, document = read_scenario_file(name_or_path, "streams")
    if "queue" not in document:
        raise InputError(
            f"{path}: queue is missing: this is not a stream of jobs; right would be queue: "
            "{policy: easy}, or xc40io run for jobs that are on the machine at once"
        )
    scenario = with_files_found(checked_stream(document, str(path)), path.parent)
    assert isinstance(scenario, StreamScenario)  # as it was before
    if scenario.records is None:
        return scenario
    table = str(path.parent / scenario.records.table)
    with naming(f"{path}: records.table"):
        check_is_file(Path(table))
    records = scenario.records.model_copy(update={"table": table})
    return scenario.model_copy(update={"records": records})


def checked_stream(document: Mapping[str, Any], place: str) -> StreamScenario:
    """Check a stream that is given by its content; ``place`` is what messages call it.

    Raises
    ------
    InputError
        If a field is unknown, missing or of the wrong type.
    """
    return checked(StreamScenario, document, place)
