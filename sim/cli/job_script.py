"""A scenario, or a job script, that the command line names, with what was typed beside it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Set
from typing import TYPE_CHECKING, Any

import click

from xc40io.cli.job_options import changed, checked_file, describe, refuse_beside, typed_options
from xc40io.cli.typed_workload import workload_of_words
from xc40io.config.asked_job import variables_of
from xc40io.config.errors import InputError, shown
from xc40io.config.job_form import JOB
from xc40io.config.jobs import JobsScenario, load_jobs
from xc40io.workloads.catalogue import workload_of
from xc40io.workloads.job_script.files import is_job_script, load_job_script, split_launch
from xc40io.workloads.job_script.script import STAND_IN

if TYPE_CHECKING:
    from xc40io.config.asked_workload import Workload
    from xc40io.config.scenario import Scenario

_OF_A_SCRIPT = (
    *("machine", "nodes", "ppn", "core_spec", "cpu_bind", "stripe_count", "stripe_size"),
    *("stripe_offset", "setstripe", "mdt_count", "target", "bb_capacity", "bb_access"),
)
"""Options of a job whose defaults a script tells."""

_STRIPES = ("stripe_count", "stripe_size", "stripe_offset", "setstripe")
"""Those of them of which one may stand for all."""


_OF_A_SCENARIO = {"seed", "hints", "environment", "faults"}
"""Options of a job that may stand beside a scenario."""


def scenario_of_file(
    context: click.Context,
    name: str,
    assignments: tuple[str, ...],
    job: dict[str, Any],
    *,
    right: str,
    load: Callable[[str], Scenario | JobsScenario] = load_jobs,
    stand_in: str | None = None,
) -> Scenario | JobsScenario:
    """Return the scenario of a name, a file or a job script, with what was typed beside it.

    ``right`` says what may stand there; ``load`` makes the scenario of what is no script;
    ``stand_in`` is as :func:`scenario_of_job_script` takes it.

    Raises
    ------
    InputError
        If there is no such scenario, or an option cannot stand beside it.
    """
    if load is load_jobs and is_job_script(name):
        return scenario_of_job_script(context, name, assignments, job, stand_in)
    refuse_stand_in(stand_in, name)
    return checked_file(name, with_typed(context, name, assignments, job, right=right, load=load))


def with_typed(
    context: click.Context,
    name: str,
    assignments: tuple[str, ...],
    job: dict[str, Any],
    *,
    right: str,
    load: Callable[[str], Scenario | JobsScenario],
    beside: Set[str] = _OF_A_SCENARIO,
) -> Scenario | JobsScenario:
    """Return what ``load`` makes of a name, with what was typed beside it: options in ``beside``.

    Raises
    ------
    InputError
        If there is no such scenario, or an option cannot stand beside it.
    """
    refuse_beside(context, name, job, beside, right)
    return changed(
        load(name),
        seed=job["seed"] if "seed" in typed_options(context, job) else None,
        assignments=assignments,
        hints=job["hints"],
        environment=job["environment"],
        faults=job["faults"],
    )


def scenario_of_job_script(
    context: click.Context,
    name: str,
    assignments: tuple[str, ...],
    job: dict[str, Any],
    stand_in: str | None = None,
    *,
    as_it_is: bool = True,
    told: bool = True,
) -> Scenario:
    """Return the scenario of a launch of a script, and tell on stderr what was assumed of it.

    Parameters
    ----------
    context
        Of the command, which knows what was typed.
    name
        The path of the script; behind a colon the number of the launch.
    assignments
        Changes of the machine, as typed.
    job
        The options that describe a job; those that were typed count in place of the script.
    stand_in
        What the programs of the script do that are not known, as ``--as`` has it.
    as_it_is
        Whether it is going to run so; else with other values, of which each may do.
    told
        Whether what was assumed is told.

    Raises
    ------
    InputError
        If the script cannot be read, has no such launch, or has one that cannot run.
    """
    given = typed_options(context, job)
    path, number = split_launch(name)
    said_here = {name: job[name] for name in ("machine", "nodes", "ppn") if name in given}
    program = None if stand_in is None else _stand_in(stand_in)
    script = load_job_script(path, program=program, **said_here)
    scenario = script.scenario(number)
    for remark in script.remarks(number) if told else ():
        click.echo(f"xc40io: {script.place}: {remark}", err=True)
    said = {name: _said(scenario, name) for name in _OF_A_SCRIPT if name not in given}
    typed = given.intersection(_STRIPES)
    if "setstripe" in typed or (typed and scenario.striping.setstripe is not None):
        said = {name: value for name, value in said.items() if name not in _STRIPES}
    if "target" in given:  # what the script says of another one is not about it
        said = {name: value for name, value in said.items() if not name.startswith("bb_")}
    environment = variables_of(scenario.environment, job["hints"], job["environment"])
    made = describe(scenario.workload, assignments, job | said).model_copy(
        update={"environment": environment}
    )
    if not as_it_is:
        return made
    from xc40io.run.described import check_described

    launch = script.launch(number)
    place = f"{script.place}, line {launch.line}"
    layout = "" if typed or launch.layout is None else f"{script.place}, line {launch.layout}"
    check_described(made, place, layout)
    return made


def _stand_in(text: str) -> Workload:
    """Return what ``--as`` describes: the words of a command line.

    Raises
    ------
    InputError
        If they are none.
    """
    try:
        workload = workload_of_words(tuple(shlex.split(text)))
    except ValueError as error:
        raise InputError(f"--as {shown(text)}: {error}; right would be {STAND_IN}") from error
    if workload is None:
        raise InputError(f"--as {shown(text)}: no program is called so; right would be {STAND_IN}")
    workload_of(workload)  # says what is wrong with its options
    return workload


def refuse_stand_in(stand_in: str | None, subject: str) -> None:
    """Raise InputError if --as was typed beside what is no job script."""
    if stand_in is not None:
        raise InputError(
            f"--as {shown(stand_in)} beside {subject}: it says what a program of a job script "
            "does; right would be a script, or a command line behind a double dash"
        )


def _said(scenario: Scenario, name: str) -> Any:
    """Return what a scenario says of a field of a job."""
    value: Any = scenario
    for part in JOB[name].path.split("."):
        value = getattr(value, part)
    return value
