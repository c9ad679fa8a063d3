"""``xc40io jobs``: tables of jobs, as accounting and Darshan have them."""

from __future__ import annotations

import click

from xc40io.cli.options import JSON, MOST_SEEDS, Whole
from xc40io.config.errors import InputError
from xc40io.results.job_table_answer import TableOfJobs, job_table_answer
from xc40io.telling.data import document_of, json_text
from xc40io.telling.text import text_of
from xc40io.workloads.job_records.habits import load_habits
from xc40io.workloads.job_records.job_kinds import MOST_KINDS, kinds_of
from xc40io.workloads.job_records.job_table import read_job_table

_HELP = """\
Work with tables of jobs: what sacct, PBS, Cobalt and Darshan know of them.

\b
  sacct -P -o JobID,State,NNodes,NTasks,Submit,Start,Elapsed,TRESUsageInTot,TRESUsageOutTot >w.txt
  xc40io jobs summary w.txt
  xc40io plan --jobs-from w.txt
  xc40io stream w.txt
"""


@click.group(help=_HELP, short_help="Say what is understood of a table of jobs.")
def jobs() -> None:
    """Group the commands for tables of jobs."""


@jobs.command(short_help="Say what is known of its jobs, and what is assumed.")
@click.argument("path", metavar="FILE")
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
@JSON
def summary(path: str, habits: str, most: int | None, as_json: bool) -> None:
    """Print what is understood of FILE before anything runs: fields, assumptions, kinds of jobs.

    FILE is a table of sacct (-P, -p or --json), an accounting log of PBS or Cobalt, CSV, Parquet,
    JSON or YAML, the text of darshan-parser --total, or a frame of PyDarshan (docs/streams.md).
    """
    table, known = read_job_table(path), load_habits(habits)
    try:
        kinds = kinds_of(table.records, known, most or MOST_KINDS)
    except InputError:
        kinds = None
    answer = job_table_answer(TableOfJobs(path, table, known, kinds))
    click.echo(json_text(document_of(answer)) if as_json else text_of(answer), nl=False)
