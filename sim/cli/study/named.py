"""What a study is about, as it is named on the command line: a scenario, a log, a kept result."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xc40io.archive.archive import is_archive
from xc40io.cli.job_options import describe, typed_options
from xc40io.cli.job_script import refuse_stand_in, scenario_of_file
from xc40io.cli.options import TABLES
from xc40io.cli.typed_workload import workload_of_words
from xc40io.config.errors import InputError
from xc40io.config.files import shipped
from xc40io.config.job_form import FROM_LOG, AskedJob
from xc40io.config.jobs import JobsScenario, load_jobs
from xc40io.workloads.job_script.files import is_job_script

if TYPE_CHECKING:
    from xc40io.config.scenario import Scenario


def is_kept(name: str) -> bool:
    """Tell whether a name is the path of a result that ``--save`` has kept.

    A file that is nothing else is one that is damaged.
    """
    if is_archive(name):
        return True
    others = (".yaml", ".yml", _LOG, *TABLES)
    if name.lower().endswith(others) or name in shipped("scenarios") or is_job_script(name):
        return False
    with suppress(OSError):  # a name may be too long for one
        return Path(name).is_file() or name.lower().endswith(".xc40io")
    return False


def refuse_facts(recorded: tuple[str, ...], subject: str = "a command line") -> None:
    """Raise InputError if --recorded was typed beside what is no log."""
    if recorded:
        from xc40io.workloads.darshan.facts import check_no_facts

        check_no_facts(recorded, subject)


def is_log(name: str) -> bool:
    """Tell whether a name is that of a Darshan log."""
    return name.lower().endswith(_LOG)


_LOG = ".darshan"


def scenario_of_words(
    context: click.Context,
    arguments: tuple[str, ...],
    assignments: tuple[str, ...],
    job: dict[str, Any],
    recorded: tuple[str, ...],
    stand_in: str | None,
) -> Scenario | JobsScenario:
    """Return the one scenario that is asked for: a name, or a command line."""
    workload = workload_of_words(arguments)
    if workload is not None:
        refuse_facts(recorded)
        refuse_stand_in(stand_in, "a command line")
        return describe(workload, assignments, job)
    name, *rest = arguments
    if rest:
        raise InputError(
            f"{context.info_name} {name} {' '.join(rest)}: right would be one scenario, log or "
            "result, or a command line behind a double dash"
        )
    return scenario_of_name(context, name, assignments, job, recorded, stand_in)


def one_job_of_words(
    context: click.Context,
    arguments: tuple[str, ...],
    assignments: tuple[str, ...],
    job: dict[str, Any],
    recorded: tuple[str, ...],
    stand_in: str | None,
) -> Scenario:
    """Return the same, but of one job; InputError if it has several."""
    found = scenario_of_words(context, arguments, assignments, job, recorded, stand_in)
    if isinstance(found, JobsScenario):
        raise InputError(
            f"{context.info_name} {arguments[0]}: it has several jobs; right would be a scenario "
            "of a single one"
        )
    return found


def scenario_of_name(
    context: click.Context,
    name: str,
    assignments: tuple[str, ...],
    job: dict[str, Any],
    recorded: tuple[str, ...] = (),
    stand_in: str | None = None,
) -> Scenario | JobsScenario:
    """Return the scenario that is named: by its name, its file, a job script, a log, a result.

    Parameters
    ----------
    context
        Of the command, which knows what was typed.
    name
        As typed.
    assignments
        Changes of the machine, as typed.
    job
        The options that describe a job.
    recorded
        What is known of the run that a log is of, as typed.
    stand_in
        What the programs of a job script do that are not known, as typed.

    Raises
    ------
    InputError
        If there is no such scenario, or an option cannot stand beside it.
    """
    given = typed_options(context, job)
    if not is_log(name):
        refuse_facts(recorded, name)
    if is_log(name) or name.lower().endswith(TABLES):
        refuse_stand_in(stand_in, name)
        from xc40io.cli.runs.replayed import scenario_of_log

        untold: dict[str, Any] = dict.fromkeys(set(FROM_LOG) - given)
        asked = AskedJob(**job | untold)
        return scenario_of_log(name, assignments, asked, recorded)
    right = "--set, --fault, --seed, --hints or --env, or a command line behind a double dash"
    load = _of_result if is_kept(name) else load_jobs
    return scenario_of_file(
        context, name, assignments, job, right=right, load=load, stand_in=stand_in
    )


def _of_result(path: str) -> Scenario | JobsScenario:
    """Return the scenario of a result; of a replayed log that of the what-if, if there was one."""
    from xc40io.results.saved import load
    from xc40io.run.jobs import JobsResult
    from xc40io.run.result import Result

    content = load(path)
    found: Scenario | JobsScenario
    if isinstance(content, Result | JobsResult):
        found = content.scenario
    else:
        found = content.runs[-1].scenario
    return found
