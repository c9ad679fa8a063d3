"""A job on the command line: the options that describe it, and the scenario that they make.

What the options are, :mod:`xc40io.config.job_form` says. A scenario that has a name takes some of
them beside it: its seed, its environment, its faults.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from xc40io.cli.exports import Command
from xc40io.cli.options import Whole
from xc40io.config.errors import InputError, cut, naming, shown_path
from xc40io.config.faults import Fault, parse_fault
from xc40io.config.job_form import (
    HELP,
    HINTS,
    JOB,
    LOOKED_AT,
    Policy,
    Takes,
    in_scenario,
    option_of,
)
from xc40io.config.jobs import Job, JobKind, JobsScenario
from xc40io.config.parts.machine_changes import parse_changes
from xc40io.config.scenario import Background, Cores, Placement, Scenario, Target
from xc40io.config.striping import StripeRequest
from xc40io.config.units import is_count, parse_bytes, parse_rate, parse_seconds
from xc40io.topology import parse_node_list

if TYPE_CHECKING:
    from xc40io.config.asked_workload import Workload

    _Any = TypeVar("_Any", Job, JobKind)

_POLICIES: tuple[str, ...] = get_args(Policy)
_OF_TARGET = ("target", "bb_capacity", "bb_access", "lose_ssd")
_READ_ALONE = (*_OF_TARGET, "placement", "faults", "hints", "environment")

DISPLAYS = (
    "MPICH_MPIIO_HINTS_DISPLAY",
    "MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY",
    "MPICH_MPIIO_STATS",
    "MPICH_MPIIO_TIMERS",
)
"""The variables with which MPI-IO is asked to print all that it can."""


def job_option(name: str, nodes: int | None = None) -> Callable[[Command], Command]:
    """Return what adds the option of a field of a job.

    ``nodes``: unless others are typed.
    """
    field, text = JOB[name], HELP[name]
    about: dict[str, Any] = {"metavar": field.metavar}
    if nodes is not None:
        text += f"  [default: {nodes}, or as many as --placement lists]"
    elif field.default is not None:
        about |= {"default": field.default, "show_default": True}
    if field.takes == Takes.WHOLE:
        about["type"] = Whole(min=field.least, most=field.most)
    elif field.choices:
        about["type"] = click.Choice(field.choices)
    elif field.takes == Takes.SWITCH:
        about["is_flag"] = True
    return click.option(
        option_of(name), name, help=text, multiple=field.takes == Takes.TEXTS, **about
    )


def described(command: Command) -> Command:
    """Add the options that describe a job; :func:`describe` makes a scenario of them."""
    return described_on(JOB["nodes"].default)(command)


def described_on(nodes: int) -> Callable[[Command], Command]:
    """Return what adds the options to a command that has so many nodes unless others are typed."""

    def add(command: Command) -> Command:
        for name in reversed(JOB):
            command = job_option(name, nodes if name == "nodes" else None)(command)
        return command

    return add


def describe(
    workload: Workload,
    assignments: tuple[str, ...],
    job: Mapping[str, Any],
    *,
    io_threads: int = 1,
    nodes: int = JOB["nodes"].default,
) -> Scenario:
    """Return the scenario of a job.

    Parameters
    ----------
    workload
        What it does.
    assignments
        The changes of the machine, as typed.
    job
        The options of :func:`described`, by the names of the fields.
    io_threads
        I/O threads of each rank.
    nodes
        Nodes of the job unless others are typed.

    Raises
    ------
    InputError
        If one of them cannot be.
    """
    placement, listed = _placement(job["placement"])
    changes = parse_changes(assignments)
    typed = {name: _read(name, job[name]) for name in JOB if name not in _READ_ALONE}
    told = in_scenario(typed)
    told["nodes"] = job["nodes"] or listed or nodes
    told["cores"] = Cores(**told["cores"], threads=io_threads)
    told["background"] = Background(**told.get("background", {}))
    told["faults"] = read_faults(job["faults"])
    told["striping"] = StripeRequest(**told.get("striping", {}))
    return Scenario(
        **told,
        changes=changes,
        placement=placement,
        target=_target_of(job),
        environment=variables_of(inherited(), job["hints"], job["environment"]),
        workload=workload,
    )


def typed_options(context: click.Context, job: Mapping[str, Any]) -> set[str]:
    """Return the options of a job that were typed, by their names."""
    typed = click.core.ParameterSource.COMMANDLINE
    return {option for option in job if context.get_parameter_source(option) == typed}


def refuse_beside(
    context: click.Context, name: str, job: Mapping[str, Any], allowed: set[str], right: str
) -> None:
    """Raise InputError if an option of a job was typed that a scenario says itself.

    ``allowed`` are those that may stand beside one; ``right`` says what would be.
    """
    given = typed_options(context, job) - allowed
    for option in job:
        if option in given:
            raise InputError(
                f"{context.info_name} {name} with {_dashed(option)}: what describes the job stands "
                f"in the scenario; right would be {right}"
            )


def _dashed(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _read(name: str, typed: Any) -> Any:
    """Read a size or a rate; name the option if it is none."""
    readers: dict[object, Callable[[object], Any]] = {
        Takes.SIZE: parse_bytes,
        Takes.RATE: parse_rate,
    }
    read = readers.get(JOB[name].takes)
    if read is None or typed is None:
        return typed
    with naming(option_of(name)):
        return read(typed)


def read_faults(sentences: tuple[str, ...]) -> tuple[Fault, ...]:
    """Return the faults that were typed; raise InputError if a sentence tells of none."""
    with naming(option_of("faults")):
        return tuple(map(parse_fault, sentences))


def _target_of(job: Mapping[str, Any]) -> Target:
    """Return where the files are to be, from the options that say so.

    Raises
    ------
    InputError
        If an option belongs to another target, or is not readable.
    """
    kind, capacity, access = job["target"], job["bb_capacity"], job["bb_access"]
    if kind != "bb" and (capacity is not None or access != "striped"):
        raise InputError(
            f"--bb-capacity and --bb-access belong to --target bb, not to --target {kind}"
        )
    if kind != "ssd" and job["lose_ssd"]:
        raise InputError(f"--lose-ssd belongs to --target ssd, not to --target {kind}")
    lost = {}
    for text in job["lose_ssd"]:
        node, equals, seconds = text.partition("=")
        if not equals or not is_count(node.strip()):
            raise InputError(
                f"--lose-ssd {text!r}: right would be NODE=SECONDS, for instance 0=12.5"
            )
        with naming("--lose-ssd"):
            lost[int(node)] = parse_seconds(seconds)
    size = _read("bb_capacity", capacity)
    if size == 0:
        raise InputError("--bb-capacity 0: right would be the bytes of the allocation, as in 10 TB")
    return Target(kind=kind, capacity=size, access=access, lost=lost)


def _placement(text: str) -> tuple[Placement, int | None]:
    """Return the placement that was typed and, for a list of nodes, how many these are."""
    if text in _POLICIES:
        return Placement.model_validate({"policy": text}), None

    try:
        listed = parse_node_list(text)
    except ValueError as error:
        raise InputError(
            f"--placement: {error}; right would be {', '.join(_POLICIES)}, or a list of nodes "
            "as in 0-15,32"
        ) from error
    return Placement(policy="list", nodes=text), len(listed)


def inherited() -> dict[str, str]:
    """Return what MPI-IO would look at in the environment of this process.

    A launcher hands it on to the job.
    """
    return {name: value for name, value in os.environ.items() if name.startswith(LOOKED_AT)}


def variables_of(
    before: Mapping[str, str], hints: str | None, assignments: Sequence[str]
) -> dict[str, str]:
    """Return the environment of a job: what it was before, ``--env``, and above all ``--hints``.

    Raises
    ------
    InputError
        If an assignment is not of the form ``NAME=VALUE``.
    """
    found = dict(before)
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not name or not equals:
            raise InputError(
                f"--env {cut(assignment)}: right would be NAME=VALUE, as in MPICH_MPIIO_STATS=1"
            )
        found[name] = value
    if hints is not None:
        found[HINTS] = hints
    return found


def displaying(environment: Mapping[str, str]) -> dict[str, str]:
    """Return a job's environment in which MPI-IO is asked to print all that it can."""
    return {**environment, **dict.fromkeys(DISPLAYS, "1")}


def changed(
    scenario: Scenario | JobsScenario,
    *,
    seed: int | None,
    assignments: Sequence[str],
    hints: str | None,
    environment: Sequence[str],
    faults: tuple[str, ...] = (),
) -> Scenario | JobsScenario:
    """Return a scenario, as it was loaded, with what was typed beside it.

    Hints and variables are for all of its jobs, faults beside its own.

    Raises
    ------
    InputError
        If one of them is not of its form.
    """
    updates: dict[str, Any] = {
        "changes": scenario.changes | parse_changes(assignments),
        "faults": scenario.faults + read_faults(faults),
    }
    if seed is not None:
        updates["seed"] = seed
    if isinstance(scenario, JobsScenario):
        return _with_environment(scenario.model_copy(update=updates), hints, environment)
    updates["environment"] = variables_of(scenario.environment, hints, environment)
    return scenario.model_copy(update=updates)


def checked_file(name: str, scenario: Scenario | JobsScenario) -> Scenario | JobsScenario:
    """Return a scenario; one of a file that cannot run is an InputError with the file's name."""
    if name.endswith((".yaml", ".yml")):
        from xc40io.run.described import check_described

        check_described(scenario, shown_path(name))
    return scenario


def _with_environment(
    scenario: JobsScenario, hints: str | None, assignments: Sequence[str]
) -> JobsScenario:
    """Return a scenario with variables set in the environments of all its jobs."""

    def with_variables(job: _Any) -> _Any:
        environment = variables_of(job.environment, hints, assignments)
        return job.model_copy(update={"environment": environment})

    updates: dict[str, Any] = {"jobs": tuple(map(with_variables, scenario.jobs))}
    if scenario.mix is not None:
        kinds = tuple(map(with_variables, scenario.mix.kinds))
        updates["mix"] = scenario.mix.model_copy(update={"kinds": kinds})
    return scenario.model_copy(update=updates)
