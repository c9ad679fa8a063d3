"""``xc40io explain``: what bounds a run, and what would help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sim.cli import options
from sim.cli.face import typed_command
from sim.cli.findings import Findings, Study, study_options
from sim.cli.job import describe, described
from sim.cli.study.subject import refuse_facts, scenario_of_name, workload_of_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sim.config.jobs import JobsScenario
    from sim.config.scenario import Scenario
    from sim.run.jobs import JobsResult
    from sim.run.result import Result
    from sim.studies.explain.explanation import Explanation
    from sim.telling.answer import Picture

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
@study_options(plots=True)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[NAME|FILE|-- COMMAND]")
@click.pass_context
def explain(
    context: click.Context,
    /,
    *,
    study: Study,
    assignments: tuple[str, ...],
    recorded: tuple[str, ...],
    arguments: tuple[str, ...],
    **job: Any,
) -> Findings:
    """Run the command with the options as click has read them."""
    from functools import cache

    from sim.studies.explain.explained_run import explained_run
    from sim.studies.explain.explanation import explain as explain_run
    from sim.studies.explain.explanation_page import explanation_page
    from sim.studies.explain.explanation_text import explanation_document, format_explanation

    scenario = _scenario(context, assignments, job, arguments, recorded)
    explanation = study.run(
        lambda progress: explain_run(scenario, jobs=study.processes, progress=progress)
    )
    run = cache(lambda: explained_run(explanation))  # made once, and only if somebody wants it
    return Findings(
        text=lambda: format_explanation(explanation),
        document=lambda: explanation_document(explanation),
        table=lambda: explanation.to_pandas().to_csv(index=False),
        pictures=lambda: _pictures(explanation, run),
        page=lambda: explanation_page(explanation, run(), typed_command()),
    )


def _pictures(
    explanation: Explanation, run: Callable[[], Result | JobsResult]
) -> Iterator[Picture]:
    """Yield the pictures of the answers, then those of the run."""
    from sim.results.pictures.album import pictures_of, pictures_of_jobs
    from sim.run.jobs import JobsResult
    from sim.studies.explain.explanation_plot import explanation_pictures

    yield from explanation_pictures(explanation)
    made = run()
    yield from pictures_of_jobs(made) if isinstance(made, JobsResult) else pictures_of(made)


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
