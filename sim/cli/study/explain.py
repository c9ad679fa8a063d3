"""``xc40io explain``: what bounds a run, and what would help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sim.cli import options
from sim.cli.face import typed_command
from sim.cli.forms import Forms, form_options
from sim.cli.job import describe, described
from sim.cli.study.subject import refuse_facts, scenario_of_name, workload_of_words
from sim.cli.whole import Whole

if TYPE_CHECKING:
    from sim.config.jobs import JobsScenario
    from sim.config.scenario import Scenario

_HELP = """\
Say what bounds a run and what would help, each by a run that is made.

The run is a scenario, by its name or the path of its file; a Darshan log or a trace table, which is
replayed; a result that --save has kept, whose scenario is run again; or a command line behind a
double dash, IOR's options or mdtest and its options. It is simulated as it is, then without each
part of the path that may be to blame (a part that costs nothing), and with each change that may
help: other striping, hints, nodes, hardware. Of several jobs also without each other job.

\b
  xc40io explain theta-lock-contention
  xc40io explain yesterday.darshan
  xc40io explain --nodes 64 --stripe-count 8 -- -a POSIX -w -e -b 8m -t 8m
  xc40io explain --nodes 16 --ppn 8 -- mdtest -n 100 -F
"""


@click.command(help=_HELP, short_help="Say what bounds a run and what would help.")
@described
@options.changes
@options.recorded
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@form_options
@click.option("--jobs", type=Whole(min=1), help="Processes to run in.  [default: one a processor]")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[NAME|FILE|-- COMMAND]")
@click.pass_context
def explain(
    context: click.Context,
    /,
    *,
    assignments: tuple[str, ...],
    recorded: tuple[str, ...],
    as_json: bool,
    plots: str | None,
    html: str | None,
    jobs: int | None,
    arguments: tuple[str, ...],
    **job: Any,
) -> None:
    """Run the command with the options as click has read them."""
    from sim.engine.processors import processors
    from sim.results.progress import ProgressBar
    from sim.studies.explain.explanation import explain as explain_run
    from sim.studies.explain.explanation_answer import explanation_answer
    from sim.telling.data import document_of, json_text
    from sim.telling.drawing import drawings
    from sim.telling.text import text_of

    scenario = _scenario(context, assignments, job, arguments, recorded)
    forms = Forms(plots, html)
    forms.check()
    with ProgressBar("runs") as progress:
        explanation = explain_run(scenario, jobs=jobs or processors(), progress=progress)
    answer = explanation_answer(explanation, typed_command())
    click.echo(json_text(document_of(answer)) if as_json else text_of(answer), nl=False)
    if forms.asked:
        shown = explanation_answer(explanation, typed_command(), explanation.recorded_run())
        forms.draw(lambda: drawings(shown.blocks))
        forms.write(lambda: shown)


def _scenario(
    context: click.Context,
    assignments: tuple[str, ...],
    job: dict[str, Any],
    arguments: tuple[str, ...],
    recorded: tuple[str, ...],
) -> Scenario | JobsScenario:
    """Return the scenario that is asked for: of a file, or of an IOR command line."""
    from sim.config.errors import InputError

    workload = workload_of_words(arguments)
    if workload is not None:
        refuse_facts(recorded)
        return describe(workload, assignments, job)
    name, *rest = arguments
    if rest:
        raise InputError(
            f"explain {name} {' '.join(rest)}: right would be one scenario, log or result, or a "
            "command line behind a double dash"
        )
    return scenario_of_name(context, name, assignments, job, recorded)
