"""The description of a workload mix: jobs with weights, for which hardware is planned.

A mix file (``configs/mixes/*.yaml``) lists jobs as scenario files describe them, or names such
files::

    machine: theta
    weights: jobs
    jobs:
      - name: own-files
        weight: 6
        nodes: 256
        ppn: 8
        workload: {ior: -a POSIX -F -w -r -C -e -b 32m -t 8m}
      - name: shared-file
        weight: 3
        scenario: theta-headline
    costs: {lustre.osts: 30000, lnet.routers: 12000}
    currency: EUR
    options:
      - {name: SSDs, set: {ssd.write_rate: 2 GB/s}, target: ssd, jobs: [own-files], cost: 900000}
      - {name: Lustre-2.15, set: {lustre.release: 2.15}, striping: -E 4M -c 1 -E -1 -c 8, cost: 0}

A job with ``scenario`` may be one of several jobs that run at the same time
(:mod:`xc40io.config.jobs`): the mix counts them as one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from xc40io.config.errors import InputError, naming, nearest
from xc40io.config.files import find, read_mapping
from xc40io.config.jobs import Job, JobsScenario, Name, load_jobs
from xc40io.config.machine import Machine, load_machine, read_machine
from xc40io.config.model import Model, as_tuple, checked, explain
from xc40io.config.reading import reads
from xc40io.config.scenario import AskedTarget, Scenario, Seed, with_hints_found
from xc40io.config.striping import AskedStriping
from xc40io.config.units import Count
from xc40io.config.years import Years

Weights = Literal["jobs", "bytes", "node-hours"]
"""Of what the weight of a job is a share: see :class:`WorkloadMix`."""

Weight = Annotated[float, Field(gt=0)]

SEEDS = 2
"""With which each job is run unless told: one would not tell an effect from chance."""

_ONE = ("start", "seed")
"""Fields of one of several jobs that have no meaning in a mix."""


class NamedJob(Model):
    """A job of a mix that is a scenario of its own."""

    name: Name  #: What the job is called in tables.
    weight: Weight = 1.0  #: See :class:`WorkloadMix`.
    scenario: str  #: Its name, or the path of its file, relative to the file of the mix.


class DescribedJob(Job):
    """A job of a mix that is described in its place."""

    weight: Weight = 1.0  #: See :class:`WorkloadMix`.
    rpcs_as_one: Count = 1  #: So many consecutive bulk RPCs are handled as one.
    #: OSTs of a file, or all that a machine has where these are fewer, in place of the number in
    #: ``striping``.
    stripes_at_most: Count | None = None


class Option(Model):
    """What a site may choose as a whole: what it sets of the machine, and which jobs use it."""

    name: Name  #: What it is called in tables.
    #: Parts that are taken from another machine, by its name or file: ``{ssd: theta}``.
    add: dict[str, str] = Field(default_factory=dict)
    set: dict[str, Any] = Field(default_factory=dict)  #: Values of the machine, by path.
    target: AskedTarget | None = None  #: Where the jobs that use it have their files then.
    striping: AskedStriping | None = None  #: How these are striped then, also as a layout.
    #: The jobs that use it where they can; all that can, unless given.
    jobs: Annotated[tuple[Name, ...], BeforeValidator(as_tuple)] | None = None
    #: What it costs; that of its values by ``costs``, unless given.
    cost: Annotated[float, Field(ge=0)] | None = None

    def is_for(self, job: str) -> bool:
        """Tell whether a job would be run otherwise with it."""
        return bool(self.of_jobs) and (self.jobs is None or job in self.jobs)

    @property
    def of_jobs(self) -> dict[str, Any]:
        """What is otherwise of the jobs that use it, by the field of a scenario."""
        said = {"target": self.target, "striping": self.striping}
        return {name: value for name, value in said.items() if value is not None}


class MixJob(Model):
    """A job of a mix, read."""

    #: As described.
    name: Name
    weight: Weight
    run: Scenario | JobsScenario  #: What is run: one job, or several at the same time.
    stripes_at_most: Count | None = None  #: See :class:`DescribedJob`.

    def on(self, machine: Machine, options: Iterable[Option] = ()) -> Scenario | JobsScenario:
        """Return what is run on another machine, of which the OSTs may be fewer, with options."""
        changes: dict[str, Any] = {"machine": machine}
        if self.stripes_at_most is not None and isinstance(self.run, Scenario):
            stripes = min(self.stripes_at_most, machine.lustre.osts)
            changes["striping"] = replace(self.run.striping, count=stripes)
        return self.run.model_copy(update=changes | self.otherwise(options))

    def otherwise(self, options: Iterable[Option]) -> dict[str, Any]:
        """Return the fields of the scenario that are otherwise with options."""
        mine = (option.of_jobs for option in options if option.is_for(self.name))
        return {name: value for fields in mine for name, value in fields.items()}


class _Frame(Model):
    """The fields of a mix but its jobs."""

    #: What it stands for, in one line and in one paragraph.
    title: str = ""
    description: str = ""
    #: What a weight counts: ``jobs``, how many such jobs there are in a day or in any other time;
    #: ``bytes``, their share of all bytes; ``node-hours``, their share of the node-hours that go
    #: into I/O on the machine as it is today.
    weights: Weights = "jobs"
    #: What one unit more of a value of the machine costs, by its path: one OST, one router; of a
    #: rate 10^9 bytes/s.
    costs: dict[str, Annotated[float, Field(ge=0)]] = Field(default_factory=dict)
    currency: str = ""  #: In which.
    #: What may be chosen as a whole, each with a price; see below.
    options: Annotated[tuple[Option, ...], BeforeValidator(as_tuple)] = ()
    seed: Seed = 1  #: Everything random follows from it.
    years: Years | None = None  #: What ``--years`` needs to know.


class WorkloadMix(_Frame):
    """Jobs with weights, on one machine: what :func:`load_mix` returns."""

    machine: Machine  #: As it is today.
    jobs: tuple[MixJob, ...]  #: At least one.

    def __repr__(self) -> str:
        """Return a line: how many jobs, and on which machine."""
        jobs = ", ".join(job.name for job in self.jobs)
        return f"<WorkloadMix on {self.machine.name}: {jobs}>"

    __str__ = __repr__


@reads("a mix, as in configs/mixes")
def load_mix(name_or_path: str | Path) -> WorkloadMix:
    """Read and check a mix.

    Parameters
    ----------
    name_or_path
        The name of a mix that comes with xc40io, as ``theta-mix``, or the path of a file that ends
        in ``.yaml`` or ``.yml``.

    Raises
    ------
    InputError
        If there is no such mix, or a field is unknown, missing or of the wrong type.
    """
    path = find("mixes", name_or_path)
    return read_mix(read_mapping(path), str(path), path.parent)


def read_mix(document: Mapping[str, Any], place: str, folder: Path = Path()) -> WorkloadMix:
    """Return the mix that a mapping describes.

    Parameters
    ----------
    document
        As the file of a mix has it.
    place
        For the messages.
    folder
        From which the files are found that it names.

    Raises
    ------
    InputError
        As :func:`load_mix`.
    """
    frame = {name: value for name, value in document.items() if name not in ("machine", "jobs")}
    try:
        said = _Frame.model_validate(frame)
    except ValidationError as error:
        raise explain(error, place, WorkloadMix) from error
    machine = _machine(document.get("machine"), place, folder)
    check_costs(said.costs, machine, f"{place}: costs")
    listed = document.get("jobs")
    if not isinstance(listed, list) or not listed:
        raise InputError(f"{place}: jobs = {listed!r}: right would be a list of jobs")
    jobs = tuple(
        _job(job, machine, said.seed, f"{place}: jobs.{number}", folder)
        for number, job in enumerate(listed)
    )
    twice = [name for name, count in Counter(job.name for job in jobs).items() if count > 1]
    if twice:
        raise InputError(
            f"{place}: two jobs are called {twice[0]!r}; right would be a name of its own for each"
        )
    names = [job.name for job in jobs]
    fields = {name: getattr(said, name) for name in _Frame.model_fields}
    fields["options"] = tuple(
        _option(option, machine, names, f"{place}: options.{number}", folder)
        for number, option in enumerate(said.options)
    )
    called = [*machine.values(), *(option.name for option in said.options)]
    if twice := [name for name, count in Counter(called).items() if count > 1]:
        raise InputError(
            f"{place}: options: {twice[0]!r} is the name of another option, or of a value of the "
            "machine; right would be a name of its own for each"
        )
    return WorkloadMix(machine=machine, jobs=jobs, **fields)


def _option(
    option: Option, machine: Machine, names: Sequence[str], place: str, folder: Path
) -> Option:
    """Return an option with the values of the parts that it adds; see that it can be."""
    for job in option.jobs or ():
        if job not in names:
            hint = nearest(job, names) or f"; there are {', '.join(names)}"
            raise InputError(f"{place}: jobs: the mix has no job {job}{hint}")
    if not (option.add or option.set or option.of_jobs):
        raise InputError(f"{place}: it changes nothing; right would be set, target or striping")
    added: dict[str, Any] = {}
    for part, source in option.add.items():
        values = _machine(source, f"{place}: add", folder).values(units=True)
        own = {path: value for path, value in values.items() if path.startswith(f"{part}.")}
        if not own:
            raise InputError(
                f"{place}: add: {source} has no {part}; right would be as in ssd: theta"
            )
        added |= own
    whole = option.model_copy(update={"add": {}, "set": added | option.set})
    with naming(place):
        machine.with_changes(whole.set)
    return whole


def check_costs(costs: Mapping[str, float], machine: Machine, place: str) -> None:
    """Raise InputError if something has a cost that a machine does not have, or not by units.

    Parameters
    ----------
    costs
        By path.
    machine
        The machine.
    place
        What the sentence begins with.
    """
    values = machine.values(units=True)
    for path in costs:
        if path not in values:
            raise InputError(f"{place}: {path}: there is no such value{nearest(path, values)}")
        value = values[path]
        if type(value) is not int and not str(value).endswith("B/s"):
            raise InputError(
                f"{place}: {path} = {value} is neither a count nor a rate; right would be the cost "
                "of one more, as of lustre.osts, or of 10^9 bytes/s more, as of lustre.oss_rate"
            )


def _machine(reference: Any, place: str, folder: Path) -> Machine:
    """Return the machine of a mix, by its name, its file, or written out."""
    if isinstance(reference, Machine):
        return reference
    if isinstance(reference, Mapping):
        return read_machine(reference, f"{place}: machine", folder)
    if not isinstance(reference, str):
        raise InputError(f"{place}: machine = {reference!r}: right would be a name, as in theta")
    if reference.endswith((".yaml", ".yml")):
        return load_machine(folder / reference)
    return load_machine(reference)


def _job(one: Any, machine: Machine, seed: int, place: str, folder: Path) -> MixJob:
    """Read one job of a mix."""
    if not isinstance(one, Mapping):
        raise InputError(f"{place} = {one!r}: right would be a mapping of fields to values")
    model: type[NamedJob | DescribedJob] = NamedJob if "scenario" in one else DescribedJob
    if wrong := [name for name in _ONE if name in one]:
        raise InputError(f"{place}: {wrong[0]}: each job of a mix runs by itself, from 0 s on")
    read = checked(model, dict(one), place)
    if isinstance(read, NamedJob):
        run = _named(read.scenario, machine, f"{place}: scenario", folder)
    else:
        run = _described(read, machine, folder)
    job = MixJob(
        name=read.name,
        weight=read.weight,
        run=run.model_copy(update={"seed": seed}),
        stripes_at_most=read.stripes_at_most if isinstance(read, DescribedJob) else None,
    )
    return job.model_copy(update={"run": job.on(machine)})


def _named(name: str, machine: Machine, place: str, folder: Path) -> Scenario | JobsScenario:
    """Return a scenario by its name or file, which must be of the machine of the mix."""
    scenario = load_jobs(folder / name if name.endswith((".yaml", ".yml")) else name)
    own = scenario.machine
    called = own.name if isinstance(own, Machine) else load_machine(own).name
    if called != machine.name or scenario.changes:
        what = f"machine = {called}" if called != machine.name else "it changes the machine"
        raise InputError(
            f"{place} = {name}: {what}; right would be a scenario of {machine.name} as it is, "
            "since a plan changes the machine of all jobs alike"
        )
    return scenario.model_copy(update={"machine": machine})


def _described(job: DescribedJob, machine: Machine, folder: Path) -> Scenario:
    """Return a job that is described in its place as a scenario of its own."""
    own = {name: getattr(job, name) for name in Job.model_fields if name in Scenario.model_fields}
    own |= {
        "workload": job.workload.found_from(folder),
        "environment": with_hints_found(job.environment, folder),
        "seed": 1,
        "rpcs_as_one": job.rpcs_as_one,
    }
    return Scenario(title=job.name, machine=machine, **own)
