"""``xc40io run``: a scenario file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sim.cli import options
from sim.cli.job_options import DISPLAYS, changed, job_option
from sim.cli.options import Whole
from sim.cli.runs.what_ifs import WhatIfs, compared, run_or_compare, what_if_options
from sim.config.errors import InputError
from sim.config.files import shipped
from sim.config.jobs import JobsScenario, load_jobs
from sim.config.scenario import Scenario, machine_of

if TYPE_CHECKING:
    from sim.cli.options import Keep, View


@click.command()
@click.argument("name", required=False, metavar="NAME|FILE.yaml")
@click.option("--seed", type=Whole(min=0), help="In place of the scenario's own.")
@click.option(
    "--print", "only_print", is_flag=True, help="Print the complete scenario; run nothing."
)
@click.option(
    "--alone/--no-alone",
    default=True,
    show_default=True,
    help="Of several jobs, run each by itself, too, to see what the others cost it.",
)
@job_option("hints")
@job_option("environment")
@options.changes
@job_option("faults")
@what_if_options
@options.output
def run(
    *,
    name: str | None,
    seed: int | None,
    only_print: bool,
    alone: bool,
    hints: str | None,
    environment: tuple[str, ...],
    assignments: tuple[str, ...],
    faults: tuple[str, ...],
    asked: WhatIfs,
    view: View,
    keep: Keep,
) -> None:
    """Run a scenario, by the name of one that comes with xc40io or by the path of a file.

    xc40io scenarios lists the names; --print shows a scenario with nothing left to a default.
    """
    if name is None:
        raise InputError(
            f"run which scenario? There are {', '.join(shipped('scenarios'))}; "
            "a file of your own is given by its path, which ends in .yaml"
        )
    scenario = load_jobs(name)
    if isinstance(scenario, JobsScenario) and view.mpiio_stats:
        environment += tuple(f"{variable}=1" for variable in DISPLAYS)
    scenario = changed(
        scenario,
        seed=seed,
        assignments=assignments,
        hints=hints,
        environment=environment,
        faults=faults,
    )
    if only_print:
        click.echo(_complete(scenario), nl=False)
    elif not isinstance(scenario, JobsScenario):
        run_or_compare(scenario, asked, view, keep)
    elif not compared(scenario, asked, view, keep):
        from sim.cli.runs.several_jobs import run_jobs_and_print

        run_jobs_and_print(scenario, view, keep, alone=alone)


def _complete(scenario: Scenario | JobsScenario) -> str:
    """Return a scenario with nothing left to a default, as a file."""
    from sim.run.complete import complete_jobs_yaml, complete_yaml
    from sim.run.jobs import machine_of_jobs

    if isinstance(scenario, JobsScenario):
        return complete_jobs_yaml(scenario, machine_of_jobs(scenario))
    return complete_yaml(scenario, machine_of(scenario))
