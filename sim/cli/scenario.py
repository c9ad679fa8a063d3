"""``xc40io run``: a scenario file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sim.cli import options

if TYPE_CHECKING:
    from sim.config.scenario import Scenario
from sim.cli.environment import environment as environment_options
from sim.cli.environment import variables_of


@click.command(short_help="Run a scenario file.")
@click.argument("name", required=False, metavar="NAME|FILE.yaml")
@click.option("--seed", type=click.IntRange(min=0), help="In place of the scenario's own.")
@click.option(
    "--print", "only_print", is_flag=True, help="Print the complete scenario; run nothing."
)
@environment_options
@options.changes
@options.output
def run(
    *,
    name: str | None,
    seed: int | None,
    only_print: bool,
    hints: str | None,
    environment: tuple[str, ...],
    assignments: tuple[str, ...],
    as_json: bool,
    getstripe: bool,
    lustre_stats: bool,
    mpiio_stats: bool,
) -> None:
    """Run a scenario, by the name of one that comes with xc40io or by the path of a file.

    xc40io scenarios lists the names; --print shows a scenario with nothing left to a default.
    """
    from sim.config.errors import InputError
    from sim.config.files import shipped
    from sim.config.machine import parse_changes
    from sim.config.scenario import load_scenario, machine_of, resolved_yaml

    if name is None:
        raise InputError(
            f"run which scenario? There are {', '.join(shipped('scenarios'))}; "
            "a file of your own is given by its path, which ends in .yaml"
        )
    scenario = load_scenario(name)
    updates: dict[str, object] = {
        "changes": scenario.changes | parse_changes(assignments),
        "environment": variables_of(scenario.environment, hints, environment),
    }
    if seed is not None:
        updates |= {"seed": seed}
    scenario = scenario.model_copy(update=updates)
    if only_print:
        click.echo(resolved_yaml(_with_all_options(scenario), machine_of(scenario)), nl=False)
        return
    from sim.cli.running import run_and_print

    run_and_print(
        scenario,
        as_json=as_json,
        getstripe=getstripe,
        lustre_stats=lustre_stats,
        mpiio_stats=mpiio_stats,
    )


def _with_all_options(scenario: Scenario) -> Scenario:
    """Return a scenario with nothing of its kernel left to a default."""
    from sim.config.scenario import Workload
    from sim.workloads.kernels import make_kernel

    if scenario.workload.kernel is None:
        return scenario
    kernel = make_kernel(scenario.workload.kernel)
    said = kernel.model_dump(mode="json", exclude_none=True)
    workload = Workload(kernel={"name": kernel.name, **said})
    return scenario.model_copy(update={"workload": workload})
