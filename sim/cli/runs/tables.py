"""``xc40io jobs``: tables of jobs, as accounting and Darshan have them."""

from __future__ import annotations

import click

from xc40io.cli.face import INTERRUPTED
from xc40io.cli.options import COMPLETED, JOBS, JSON, MOST_SEEDS, Whole
from xc40io.cli.study_options import say
from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.engine.processors import processors
from xc40io.results.job_table_answer import TableOfJobs, job_table_answer
from xc40io.results.progress import ProgressBar
from xc40io.studies.logs.log_table import log_table
from xc40io.studies.logs.log_table_answer import log_table_answer
from xc40io.telling.answer import Answer
from xc40io.telling.data import document_of, json_text
from xc40io.telling.text import text_of
from xc40io.workloads.darshan.log_folder import is_log, logs_of, means_logs
from xc40io.workloads.job_records.habits import Habits, load_habits
from xc40io.workloads.job_records.job_kinds import MOST_KINDS, JobKinds, kinds_of
from xc40io.workloads.job_records.job_table import JobTable, read_job_table

_HELP = """\
Work with tables of jobs: what sacct, PBS, Cobalt and Darshan know of them.

\b
  sacct -P -o JobID,State,NNodes,NTasks,Submit,Start,Elapsed,TRESUsageInTot,TRESUsageOutTot >w.txt
  xc40io jobs summary w.txt
  xc40io jobs summary darshan-logs/2026/11
  xc40io plan --jobs-from w.txt
  xc40io stream w.txt
"""


@click.group(help=_HELP, short_help="Say what is understood of a table of jobs.")
def jobs() -> None:
    """Group the commands for tables of jobs."""


@jobs.command(short_help="Say what is known of its jobs, and what is assumed.")
@click.argument("paths", nargs=-1, required=True, metavar="FILE|FOLDER|LOG...")
@click.option(
    "--habits",
    default="production",
    show_default=True,
    metavar="NAME|FILE",
    help="What is taken for what the table does not tell.",
)
@click.option(
    "--kinds",
    "most",
    type=Whole(min=1, most=MOST_SEEDS),
    metavar="N",
    help="Kinds of jobs to tell of, those that move most bytes.  [default: 6]",
)
@click.option(
    "--machine",
    metavar="NAME|FILE",
    help="Where the jobs ran: what a node has room for, where the table does not tell it.",
)
@COMPLETED
@JOBS
@JSON
@click.pass_context
def summary(
    context: click.Context,
    paths: tuple[str, ...],
    habits: str,
    most: int | None,
    machine: str | None,
    completed: bool,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Print what is understood of FILE before anything runs: fields, assumptions, kinds of jobs.

    FILE is a table of sacct (-P, -p or --json), an accounting log of PBS or Cobalt, CSV, Parquet,
    JSON or YAML, the Standard Workload Format, the text of darshan-parser --total, or a frame of
    PyDarshan (docs/streams.md). Or Darshan logs, and folders with such in and below them: a row for
    each, by their counters.
    """
    known, room = load_habits(habits), load_machine(machine) if machine else None
    known = known.on(room) if room else known
    if not means_logs(paths) and not is_log(paths[0]):
        table = read_job_table(paths[0], cores=room.nodes.cores if room else None)
        table = table.completed if completed else table
        of = TableOfJobs(paths[0], table, known, _kinds(table, known, most))
        _print(job_table_answer(of), as_json=as_json)
        return
    named = logs_of(paths)
    with ProgressBar("logs") as progress:
        progress.say("read")
        found = log_table(named, jobs or processors(), progress)
    if found.jobs:
        table = found.table().completed if completed else found.table()
        place = paths[0] if len(paths) == 1 else f"{len(named):,} logs"
        of = TableOfJobs(place, table, known, _kinds(table, known, most))
        _print(log_table_answer(found, of), as_json=as_json)
    if not found.finished:
        say(f"interrupted: {len(found.jobs) + len(found.bad):,} of {len(named):,} logs were read")
        context.exit(INTERRUPTED)


def _kinds(table: JobTable, habits: Habits, most: int | None) -> JobKinds | None:
    """Return the kinds of jobs of a table; None where of no job the bytes are known."""
    try:
        return kinds_of(table.records, habits, most or MOST_KINDS)
    except InputError:
        return None


def _print(answer: Answer, *, as_json: bool) -> None:
    click.echo(json_text(document_of(answer)) if as_json else text_of(answer), nl=False)
