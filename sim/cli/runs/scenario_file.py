"""``xc40io run``: a scenario file, or a job script."""

from __future__ import annotations

from typing import Any

import click

from xc40io.cli import options
from xc40io.cli.job_options import DISPLAYS, changed, described
from xc40io.cli.job_script import scenario_of_file
from xc40io.cli.options import Keep, View
from xc40io.cli.runs.what_ifs import WhatIfs, compared, run_or_compare, what_if_options
from xc40io.config.errors import InputError
from xc40io.config.files import shipped
from xc40io.config.jobs import JobsScenario
from xc40io.config.scenario import Scenario, machine_of
from xc40io.run.job_list import complete_jobs_yaml, complete_yaml

_RIGHT = "--set, --fault, --seed, --hints or --env"
"""What may stand beside a scenario."""


@click.command()
@click.argument("name", required=False, metavar="NAME|FILE")
@click.option(
    "--print", "only_print", is_flag=True, help="Print the complete scenario; run nothing."
)
@click.option(
    "--alone/--no-alone",
    default=True,
    show_default=True,
    help="Of several jobs, run each by itself, too, to see what the others cost it.",
)
@described
@options.changes
@options.stand_in
@what_if_options
@options.output
@click.pass_context
def run(
    context: click.Context,
    /,
    *,
    name: str | None,
    only_print: bool,
    alone: bool,
    assignments: tuple[str, ...],
    stand_in: str | None,
    asked: WhatIfs,
    view: View,
    keep: Keep,
    **job: Any,
) -> None:
    """Run a scenario, by the name of one that comes with xc40io or by the path of a file.

    A batch script for Slurm, PBS or Cobalt is a scenario, too: the first launch of a program that
    is known, or the second one of job.sh:2. Options of a job count in place of what a script says;
    beside any other scenario stand --seed, --hints, --env, --fault and --set.

    xc40io scenarios lists the names; --print shows a scenario with nothing left to a default.
    """
    if name is None:
        raise InputError(
            f"run which scenario? There are {', '.join(shipped('scenarios'))}; "
            "a file of your own is given by its path, which ends in .yaml"
        )
    scenario = scenario_of_file(context, name, assignments, job, right=_RIGHT, stand_in=stand_in)
    if isinstance(scenario, JobsScenario) and view.mpiio_stats:
        displays = [f"{variable}=1" for variable in DISPLAYS]
        scenario = changed(scenario, seed=None, assignments=(), hints=None, environment=displays)
    if only_print:
        click.echo(_complete(scenario), nl=False)
    elif not isinstance(scenario, JobsScenario):
        run_or_compare(scenario, asked, view, keep)
    elif not compared(scenario, asked, view, keep):
        from xc40io.cli.runs.several_jobs import run_jobs_and_print

        run_jobs_and_print(scenario, view, keep, alone=alone)


def _complete(scenario: Scenario | JobsScenario) -> str:
    """Return a scenario with nothing left to a default, as a file."""
    from xc40io.run.jobs import machine_of_jobs

    if isinstance(scenario, JobsScenario):
        return complete_jobs_yaml(scenario, machine_of_jobs(scenario))
    return complete_yaml(scenario, machine_of(scenario))
