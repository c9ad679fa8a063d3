"""A job on the command line: the options that describe it, and the scenario that they make.

What the options are, :mod:`xc40io.config.job_form` says. A scenario that has a name takes some of
them beside it: its seed, its environment, its faults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, TypeVar

import click

from xc40io.cli.exports import Command
from xc40io.cli.options import Whole
from xc40io.cli.rare import Rare
from xc40io.config.asked_job import read_faults, scenario_of_job, variables_of
from xc40io.config.errors import InputError, shown_path
from xc40io.config.job_form import HELP, JOB, AskedJob, Takes, option_of
from xc40io.config.jobs import Job, JobKind, JobsScenario
from xc40io.config.parts.machine_changes import parse_changes

if TYPE_CHECKING:
    from xc40io.config.asked_workload import Workload
    from xc40io.config.scenario import Scenario

    _Any = TypeVar("_Any", Job, JobKind)


DISPLAYS = (
    "MPICH_MPIIO_HINTS_DISPLAY",
    "MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY",
    "MPICH_MPIIO_STATS",
    "MPICH_MPIIO_TIMERS",
)
"""The variables with which MPI-IO is asked to print all that it can."""


_USUAL = frozenset(
    ("machine", "nodes", "ppn", "stripe_count", "stripe_size", "target", "hints", "seed")
)
"""Fields of a job whose options help tells at once."""


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
    about["cls"] = click.Option if name in _USUAL else Rare
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
    workload: Workload, assignments: tuple[str, ...], job: Mapping[str, Any], **more: int
) -> Scenario:
    """Return the scenario of a job: of the options of :func:`described`, by their names.

    ``more`` is as :func:`~xc40io.config.asked_job.scenario_of_job` takes it, which says what is
    wrong.
    """
    return scenario_of_job(AskedJob(**job), workload, assignments, **more)


def typed_options(context: click.Context, job: Mapping[str, Any]) -> set[str]:
    """Return the options of a job that were typed, by their names."""
    typed = click.core.ParameterSource.COMMANDLINE
    return {option for option in job if context.get_parameter_source(option) == typed}


def refuse_beside(
    context: click.Context, name: str, job: Mapping[str, Any], allowed: Set[str], right: str
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
