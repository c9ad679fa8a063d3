"""``xc40io tune``: the settings with which a job's I/O takes the least time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from xc40io.cli import options
from xc40io.cli.face import INTERRUPTED, typed_command
from xc40io.cli.job_options import described
from xc40io.cli.study.named import one_job_of_words
from xc40io.cli.study_options import Findings, Study, findings_of, study_options, tell_runs
from xc40io.config.scenario import Scenario
from xc40io.studies.axes import parse_axes
from xc40io.studies.output_period import read_time
from xc40io.studies.simulations import Simulations
from xc40io.workloads.job_script.files import is_job_script, load_job_script, split_launch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xc40io.studies.tune.real_run import NextAttempt, RealRun
    from xc40io.studies.tune.tuning import Question, Tuning
    from xc40io.workloads.job_script.edited import EditedScript
    from xc40io.workloads.job_script.script import JobScript

_HELP = """\
Search for the settings with which the I/O of a job takes the least time: of a scenario, a job
script, a command line of IOR or a kernel, a Darshan log, or a result that --save has kept.

\b
  xc40io tune theta-headline
  xc40io tune --nodes 64 --budget 40 -- -a MPIIO -c -w -b 16m -t 16m
  xc40io tune --nodes 16 --ppn 8 -- kernel vpic-io --collective
  xc40io tune yesterday.darshan --allow stripe-count,stripe-size --plot landscape.svg
  xc40io tune theta-headline --allow all --at-most nodes=512 --at-most osts=48
  xc40io tune theta-headline --beside theta-mix
  xc40io tune theta-headline --measured run1.out --measured run2.out:stripe-count=8

\b
KNOBS of --allow (those that the job has not are left out)
  stripe-count, stripe-size        lfs setstripe            by default
  aggregators, lock-mode,          MPICH_MPIIO_HINTS        by default
  buffering
  ranks-per-node, target           the batch script
  collective, layout               the program, or IOR's -c and -F
  all                              all of them

LIMITS of --at-most are nodes=N, files=N, osts=N (of a file) and memory=SIZE (of a node, for
the collective buffers of its aggregators). --over gives a knob choices of its own, or adds any
field as a knob, with paths and values as in xc40io sweep.

On a machine whose usual load is known, as that of cori-knl, the search runs beside it, and both
times are printed, beside it and alone. --beside theta-mix runs the best settings beside each job
of a mix, too, and chooses by what they take there and by how much they delay the others.

Printed are lines to paste, the gain with its interval, what binds before and after, and how far the
model itself is off. Every run is kept at once: after an interrupt the same command goes on.
"""


@click.command(help=_HELP)
@described
@click.option(
    "--allow", metavar="KNOB,...", help="Knobs that may be turned, or all.  [default: above]"
)
@click.option(
    "--at-most", multiple=True, metavar="NAME=MOST", help="A limit of settings. May be repeated."
)
@click.option(
    "--over",
    multiple=True,
    metavar="PATH=VALUES",
    help="A field and the values that it may take. May be repeated.",
)
@click.option(
    "--objective",
    type=click.Choice(("all", "write", "read")),
    default="all",
    show_default=True,
    help="The phases of I/O whose seconds are minimised.",
)
@click.option(
    "--budget",
    metavar="RUNS|SECONDSs",
    default="60",
    show_default=True,
    help="Runs, as 60, or seconds, as in 120s; with seconds the answer depends on the computer.",
)
@click.option(
    "--beside",
    metavar="typical|MIX|nothing",
    help="What others do meanwhile: what they usually do, jobs of a mix, or nothing.  "
    "[default: typical where the machine has statistics of it]",
)
@click.option(
    "--measured",
    multiple=True,
    metavar="FILE[:KNOB=VALUE,...]",
    help="What a real attempt has printed, with what it does not say of its setting: asks for the "
    "next attempt. May be repeated.",
)
@study_options(
    repeat="Seeds with which the best settings are run: --seed and those that follow.",
    seeds=3,
    store=True,
)
@options.changes
@options.recorded
@options.stand_in
@options.every
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[NAME|FILE|-- COMMAND]")
@click.pass_context
def tune(
    context: click.Context,
    /,
    *,
    study: Study,
    allow: str | None,
    at_most: tuple[str, ...],
    over: tuple[str, ...],
    objective: Any,
    budget: str,
    beside: str | None,
    measured: tuple[str, ...],
    assignments: tuple[str, ...],
    recorded: tuple[str, ...],
    stand_in: str | None,
    every: str | None,
    arguments: tuple[str, ...],
    **job: Any,
) -> Findings:
    """Search, and print what was found."""
    from xc40io.studies.advice.job_knobs import read_allowed
    from xc40io.studies.advice.space import parse_limits
    from xc40io.studies.tune.real_run import NextAttempt
    from xc40io.studies.tune.search import Budget
    from xc40io.studies.tune.tuning import Question

    asked: dict[str, Any] = {
        "allow": read_allowed(allow),
        "at_most": parse_limits(at_most),
        "over": parse_axes(over),
        "objective": objective,
        "budget": Budget.parse(budget),
        "repeat": study.repeat,
        "beside": beside,
    }
    period = read_time("--every", every)
    scenario = one_job_of_words(context, arguments, assignments, job, recorded, stand_in)
    script = _script(arguments, scenario)  # as it is now: a search takes minutes
    real: list[RealRun] = []
    found = study.run(
        lambda progress: _search(
            Question(
                scenario,
                simulations=Simulations.of_study(progress=progress, **study.where),
                **asked,
            ),
            measured,
            real,
        ),
        counted="runs" if asked["budget"].seconds is None else "seconds",
    )
    tell_runs(found)
    if not found.finished:
        click.echo("xc40io: interrupted; what follows is the best so far", err=True)
    told = replace(found, exact=study.exact, period=period)
    if real:
        return _next_attempt(scenario, NextAttempt(told, tuple(real)))
    return _findings(
        scenario, told, None if script is None else _edited(script, arguments[0], found)
    )


def _script(arguments: tuple[str, ...], job: Scenario) -> JobScript | None:
    """Return the job script that a job stands in, if it does."""
    if not arguments or not is_job_script(arguments[0]):
        return None
    told: dict[str, Any] = {"machine": job.machine, "nodes": job.nodes, "ppn": job.ppn}
    return load_job_script(split_launch(arguments[0])[0], program=job.workload, **told)


def _edited(script: JobScript, name: str, found: Tuning) -> EditedScript:
    """Return a job script, as it was typed, with the best setting."""
    from xc40io.studies.tune.lines_to_paste import edit_of

    return edit_of(script, split_launch(name)[1], found.space, found.best)


def _search(question: Question, measured: Sequence[str], real: list[RealRun]) -> Tuning:
    """Return what is found; after an interrupt what there is so far, if there is anything.

    What files of real attempts tell is added to ``real``, and their settings are tried, too.
    """
    tuner = question.begin()
    if measured:
        from xc40io.validation.measured.attempts import read_attempts

        real += read_attempts(measured, tuner)
        tuner.include([run.setting for run in real], [run.source for run in real])
    try:
        return tuner.run()
    except KeyboardInterrupt:
        return tuner.found()


def _next_attempt(scenario: Scenario, asked: NextAttempt) -> Findings:
    """Return what to try next after real attempts."""
    from xc40io.studies.sweep.sweep_answer import title_of
    from xc40io.studies.tune.next_answer import next_answer

    return findings_of(next_answer(f"Tune {title_of(scenario)}", asked))._replace(
        status=0 if asked.found.finished else INTERRUPTED
    )


def _findings(scenario: Scenario, found: Tuning, edited: EditedScript | None) -> Findings:
    """Return what was found in all its forms."""
    from xc40io.studies.sweep.sweep_answer import title_of
    from xc40io.studies.tune.tune_answer import tuning_answer

    title = f"Tune {title_of(scenario)}"
    return findings_of(tuning_answer(title, found, edited=edited))._replace(
        page=lambda: tuning_answer(title, found, typed_command(), edited),
        status=0 if found.finished else INTERRUPTED,
    )
