"""The description of several jobs that share a machine: one clock, one network, one Lustre.

In place of a single workload a scenario file may list jobs, each on nodes of its own, and let
further ones be drawn from a mix::

    machine: theta
    jobs:
      - name: checkpoint
        nodes: 8
        ppn: 16
        striping: {count: 8, size: 8m}
        workload: {ior: -a MPIIO -c -w -e -b 64m -t 8m}
      - name: analysis
        start: 2 s
        nodes: 4
        ppn: 16
        workload: {kernel: {name: adios, method: POSIX}}
    mix:
      jobs: 6
      interval: 5 s
      kinds:
        - {name: logs, weight: 3, nodes: 1, ppn: 4, workload: {ior: -w -F -b 1m -t 64k}}
        - {name: post, nodes: {low: 2, high: 16}, ppn: 8, workload: {ior: -w -r -F -b 8m -t 1m}}
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError
from xc40io.config.faults import Faults
from xc40io.config.kept import kept
from xc40io.config.machine import Machine, read_machine
from xc40io.config.model import Model, as_tuple, checked
from xc40io.config.reading import reads
from xc40io.config.scenario import (
    AskedPlacement,
    AskedTarget,
    Background,
    Cores,
    Factor,
    MachineReference,
    Placement,
    Scenario,
    Seed,
    Target,
    Variables,
    load_scenario,
    read_scenario_file,
    with_hints_found,
)
from xc40io.config.striping import AskedStriping, StripeRequest
from xc40io.config.units import Count, Seconds


def _name(name: str) -> str:
    """Refuse a name that cannot stand in a table and in an error."""
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.+-]*", name) is None:
        raise ValueError(f"{name!r} is not a name; right would be letters, digits and _ . + -")
    return name


Name = Annotated[str, AfterValidator(_name)]
"""What a job is called."""

MOST_DRAWN = 1000
"""Jobs of a mix: far more than any machine starts while one of them runs."""


@kept
class NodeDraw(Model):
    """How many nodes a drawn job has: some numbers that are alike, or a range."""

    #: The numbers. A number or a list of numbers in place of the whole stands for them.
    values: Annotated[tuple[Count, ...], BeforeValidator(as_tuple)] = ()
    #: In place of them: at least and at most.
    low: Count | None = None
    high: Count | None = None
    #: Of a range: ``uniform``, all numbers alike; or ``loguniform``, as many jobs between 2 and 4
    #: nodes as between 4 and 8.
    draw: Literal["uniform", "loguniform"] = "uniform"

    @model_validator(mode="after")
    def _one_of_the_two(self) -> NodeDraw:
        given = (bool(self.values), self.low is not None, self.high is not None)
        if given not in ((True, False, False), (False, True, True)):
            raise ValueError("right would be a number, a list of numbers, or {low: 2, high: 16}")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(
                f"low = {self.low} is more than high = {self.high}; right would be low: "
                f"{self.high}, high: {self.low}"
            )
        return self

    def nodes(self, share: float) -> int:
        """Return a number of nodes from a number between 0 and 1 that was drawn."""
        if self.low is None or self.high is None:
            return self.values[int(share * len(self.values))]
        above = self.high + 1
        if self.draw == "loguniform":
            return min(int(self.low * (above / self.low) ** share), self.high)
        return self.low + int(share * (above - self.low))


def _node_draw(value: object) -> object:
    """Read a number or a list of numbers as what nodes are drawn from."""
    if isinstance(value, list):
        return {"values": value}
    return value if isinstance(value, dict | NodeDraw) else {"values": [value]}


class _JobModel(Model):
    """What listed and drawn jobs have in common; see :class:`~xc40io.config.scenario.Scenario`."""

    name: Name  #: What it is called in errors and results; no two jobs have the same name.
    ppn: Count  #: As for a scenario of a single job.
    placement: AskedPlacement = Placement()
    cores: Cores = Cores()
    striping: AskedStriping = StripeRequest()
    target: AskedTarget = Target()
    environment: Variables = Field(default_factory=dict)
    workload: Workload


@kept
class Job(_JobModel):
    """One job."""

    start: Seconds = 0.0  #: Seconds from the beginning of the simulation until the job begins.
    #: How many. They are chosen in the order of the jobs, among those that no earlier one has got;
    #: a node belongs to one job for the whole simulation.
    nodes: Count
    #: What is random in the job follows from it; from the scenario's seed and the name unless
    #: given.
    seed: Seed | None = None


@kept
class JobKind(_JobModel):
    """Jobs that are drawn for a mix."""

    #: The first such job of a mix is called ``NAME-1`` if it is the first of all that are drawn.
    name: Name
    #: How often it is drawn, compared with the weights of the other kinds.
    weight: Annotated[float, Field(gt=0)] = 1.0
    #: A number; a list of numbers that are alike; or a range: see :class:`NodeDraw`.
    nodes: Annotated[NodeDraw, BeforeValidator(_node_draw)]


@kept
class Mix(Model):
    """Jobs drawn at random, for the background of others or as a day's load."""

    jobs: Annotated[int, Field(gt=0, le=MOST_DRAWN)]  #: How many.
    #: Seconds between the starts of two of them, on average: the intervals are exponential, as
    #: between independent arrivals.
    interval: Seconds
    start: Seconds = 0.0  #: Seconds from the beginning of the simulation to the first interval.
    #: From what they are drawn.
    kinds: Annotated[tuple[JobKind, ...], BeforeValidator(as_tuple), Field(min_length=1)]


@kept
class JobsScenario(Model):
    """Several jobs on one machine: what :func:`load_jobs` returns for a file that lists jobs."""

    #: As for a scenario of a single job. Ranks that compute longer are those of one job where
    #: ``slow`` names it: ``computing of rank 7 of job NAME``.
    title: str = ""
    description: str = ""
    machine: MachineReference
    changes: dict[str, Any] = Field(default_factory=dict)
    background: Background = Background()
    slow: dict[str, Factor] = Field(default_factory=dict)
    faults: Faults = ()
    rpcs_as_one: Count = 1
    jobs: Annotated[tuple[Job, ...], BeforeValidator(as_tuple)] = ()  #: Listed one by one.
    mix: Mix | None = None  #: Drawn, beside those listed.
    #: Everything random follows from it: in the machine from the seed itself, in each job from the
    #: seed and the job's name.
    seed: Seed = 1

    @model_validator(mode="after")
    def _jobs_are_told_apart(self) -> JobsScenario:
        if not self.jobs and self.mix is None:
            raise ValueError("there is no job; right would be jobs: [...], or mix: {...}")
        check_names(self.jobs)
        return self

    def alone(self, job: Job, seed: int) -> Scenario:
        """Return one of the jobs as a scenario of its own, with the seed that it is to have."""
        shared = {name: getattr(self, name) for name in SHARED}
        own = {name: getattr(job, name) for name in OF_A_JOB}
        return Scenario(title=job.name, seed=seed, **shared, **own)


SHARED = ("description", "machine", "changes", "background", "slow", "faults", "rpcs_as_one")
"""The fields of a scenario that all of several jobs have in common."""

OF_A_JOB = ("nodes", "ppn", "placement", "cores", "striping", "target", "environment", "workload")
"""The fields of a scenario that each of several jobs has for itself."""


def check_names(jobs: tuple[Job, ...]) -> None:
    """Raise ValueError if two jobs have the same name."""
    for name, count in Counter(job.name for job in jobs).items():
        if count > 1:
            raise ValueError(
                f"{count} jobs are called {name!r}; right would be a name of its own for each"
            )


@reads("a scenario, as in configs/scenarios")
def load_jobs(name_or_path: str | Path) -> Scenario | JobsScenario:
    """Read and check a scenario, of one job or of several.

    Parameters
    ----------
    name_or_path : str or Path
        As :func:`~xc40io.config.scenario.load_scenario` takes it.

    Raises
    ------
    InputError
        If there is no such scenario, or a field is unknown, missing or of the wrong type.
    """
    path, document = read_scenario_file(name_or_path)
    if "queue" in document:
        raise InputError(
            f"{path}: has a queue: it is a stream of jobs; right would be xc40io stream "
            f"{name_or_path}"
        )
    if not _of_several(document):
        return load_scenario(name_or_path)
    return with_files_found(checked(JobsScenario, document, str(path)), path.parent)


def parse_jobs(document: Mapping[str, Any], place: str) -> Scenario | JobsScenario:
    """Check a scenario that is given by its content, of one job or of several.

    Parameters
    ----------
    document
        As a file would hold it; the machine may be written out.
    place
        What messages call it.

    Raises
    ------
    InputError
        If a field is unknown, missing or of the wrong type.
    """
    machine = document.get("machine")
    if isinstance(machine, dict):
        document = {**document, "machine": read_machine(machine, f"{place}: machine")}
    model: type[Scenario | JobsScenario] = JobsScenario if _of_several(document) else Scenario
    return checked(model, document, place)


def _of_several(document: Mapping[str, Any]) -> bool:
    return "jobs" in document or "mix" in document


def with_files_found(scenario: JobsScenario, folder: Path) -> JobsScenario:
    """Return a scenario with the paths of the files that its jobs name made absolute."""

    def found(job: _JobModel) -> dict[str, Any]:
        return {
            "workload": job.workload.found_from(folder),
            "environment": with_hints_found(job.environment, folder),
        }

    jobs = tuple(job.model_copy(update=found(job)) for job in scenario.jobs)
    updates: dict[str, Any] = {"jobs": jobs}
    if scenario.mix is not None:
        kinds = tuple(kind.model_copy(update=found(kind)) for kind in scenario.mix.kinds)
        updates["mix"] = scenario.mix.model_copy(update={"kinds": kinds})
    return scenario.model_copy(update=updates)


def check_jobs_fit(jobs: tuple[Job, ...], machine: Machine) -> None:
    """Raise InputError if a machine has too few nodes for all jobs together."""
    wanted = sum(job.nodes for job in jobs)
    if wanted > machine.nodes.count:
        raise InputError(
            f"jobs: together they need {wanted:,} nodes; right would be at most the "
            f"{machine.nodes.count:,} compute nodes of {machine.name}"
        )
