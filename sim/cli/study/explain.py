"""``xc40io explain``: what bounds a run, and what would help."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import click

from xc40io.cli import options
from xc40io.cli.face import INTERRUPTED, typed_command
from xc40io.cli.job_options import described
from xc40io.cli.study.named import scenario_of_words
from xc40io.cli.study_options import STORE, Findings, Study, findings_of, say, study_options
from xc40io.studies.output_period import read_time
from xc40io.telling.drawing import pictures

_HELP = """\
Say what bounds a run and what would help, each by a run that is made.

The run is a scenario, by its name or the path of its file; a job script; a Darshan log or a trace
table, which is replayed; a result that --save has kept, whose scenario is run again; or a command
line behind a double dash: IOR's options, or mdtest or a kernel with its own. It is simulated as it
is, then without each part of the path that may be to blame (a part that costs nothing), and with
each change that may help: other striping, hints, nodes, hardware. Of several jobs also without each
other job.

\b
  xc40io explain theta-lock-contention
  xc40io explain yesterday.darshan
  xc40io explain --nodes 64 --stripe-count 8 -- -a POSIX -w -e -b 8m -t 8m
  xc40io explain --nodes 16 --ppn 8 -- mdtest -n 100 -F
  xc40io explain --nodes 16 --ppn 8 -- kernel vpic-io --collective
"""


@click.command(help=_HELP)
@described
@options.changes
@options.recorded
@options.stand_in
@options.every
@click.option(
    "--budget",
    metavar="TIME",
    help="Answer after this time, as in 60s, with what is known by then.",
)
@click.option("--why", is_flag=True, help="Tell all reasons, and what else was tried, too.")
@STORE
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
    stand_in: str | None,
    every: str | None,
    budget: str | None,
    why: bool,
    arguments: tuple[str, ...],
    **job: Any,
) -> Findings:
    """Run the command with the options as click has read them."""
    from xc40io.studies.explain.explanation import explain as explain_run
    from xc40io.studies.explain.explanation_answer import explanation_answer
    from xc40io.studies.explain.kept_seconds import KeptSeconds

    period, seconds = read_time("--every", every), read_time("--budget", budget)
    scenario = scenario_of_words(context, arguments, assignments, job, recorded, stand_in)
    kept = KeptSeconds(None if study.store is None else Path(study.store))
    explanation = study.run(
        lambda progress: explain_run(
            scenario,
            jobs=study.processes,
            progress=progress.counting("runs"),
            moved=progress.counting("bytes"),
            budget=seconds,
            kept=kept,
        )
    )
    if kept.note:
        say(kept.note)
    command = typed_command()
    explanation = explanation.exactly() if study.exact else explanation
    explanation = replace(explanation, period=period)
    answer = explanation_answer(explanation, command, why=why)
    # Made once, and only if somebody wants it:
    shown = cache(lambda: explanation_answer(explanation, command, explanation.recorded_run()))
    return findings_of(answer)._replace(
        pictures=lambda: pictures(shown().blocks),
        page=shown,
        status=INTERRUPTED if explanation.interrupted else 0,
    )
