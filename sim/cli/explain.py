"""``xc40io explain``: what bounds a run, and what would help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sim.cli import options
from sim.cli.job import describe, described

if TYPE_CHECKING:
    from sim.config.scenario import Scenario

_HELP = """\
Say what bounds a run and what would help, each by a run that is made.

The run is a scenario, by its name or the path of its file, or an IOR command line behind a double
dash. It is simulated as it is, then without each part of the path that may be to blame (a part that
costs nothing), and with each change that may help: other striping, hints, nodes, hardware.

\b
  xc40io explain theta-lock-contention
  xc40io explain --nodes 64 --stripe-count 8 -- -a POSIX -w -e -b 8m -t 8m
"""


@click.command(help=_HELP, short_help="Say what bounds a run and what would help.")
@described
@options.changes
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes to run in.  [default: one a processor]"
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[NAME|FILE.yaml|-- IOR]")
@click.pass_context
def explain(
    context: click.Context,
    /,
    *,
    assignments: tuple[str, ...],
    as_json: bool,
    jobs: int | None,
    arguments: tuple[str, ...],
    **job: Any,
) -> None:
    """Run the command with the options as click has read them."""
    from sim.engine.processors import processors
    from sim.results.json_text import json_text
    from sim.results.progress import ProgressBar
    from sim.studies.explanation import explain as explain_run
    from sim.studies.explanation_text import explanation_document, format_explanation

    scenario = _scenario(context, assignments, job, arguments)
    with ProgressBar("runs") as progress:
        explanation = explain_run(scenario, jobs=jobs or processors(), progress=progress)
    if as_json:
        click.echo(json_text(explanation_document(explanation)), nl=False)
    else:
        click.echo(format_explanation(explanation), nl=False)


def _scenario(
    context: click.Context,
    assignments: tuple[str, ...],
    job: dict[str, Any],
    arguments: tuple[str, ...],
) -> Scenario:
    """Return the scenario that is asked for: of a file, or of an IOR command line."""
    from sim.config.changes import parse_changes
    from sim.config.errors import InputError
    from sim.config.scenario import Workload, load_scenario

    if not arguments or arguments[0].startswith("-"):
        return describe(Workload(ior=arguments), assignments, job)
    name, *rest = arguments
    if rest:
        raise InputError(
            f"explain {name} {' '.join(rest)}: right would be one scenario, or an IOR command line "
            "behind a double dash"
        )
    typed = click.core.ParameterSource.COMMANDLINE
    given = [option for option in job if context.get_parameter_source(option) == typed]
    if wrong := [option for option in given if option != "seed"]:
        raise InputError(
            f"explain {name} with --{wrong[0].replace('_', '-')}: what describes the job stands in "
            "the scenario; right would be --set or --seed, or an IOR command line"
        )
    scenario = load_scenario(name)
    updates: dict[str, Any] = {"changes": scenario.changes | parse_changes(assignments)}
    if "seed" in given:
        updates |= {"seed": job["seed"]}
    return scenario.model_copy(update=updates)
