"""``xc40io trace``: traces as tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from xc40io.archive.whole_files import check_writable, replacing, write_whole
from xc40io.cli import options
from xc40io.cli.options import JSON
from xc40io.cli.written import FILE
from xc40io.config.extras import need
from xc40io.results.progress import ProgressBar
from xc40io.results.trace_text import format_summary, format_summary_json
from xc40io.topology.text import format_count
from xc40io.workloads.replay.kernel import open_trace
from xc40io.workloads.replay.side_table import side_table_text
from xc40io.workloads.replay.summary import summarise

if TYPE_CHECKING:
    from xc40io.workloads.trace import Trace

_TRACE = "TRACE"

_HELP = """\
Work with traces: what the ranks of a job did, row by row.

\b
  xc40io trace convert job.darshan job.parquet
  xc40io trace summary job.parquet
"""


@click.group(help=_HELP, short_help="Convert a Darshan log to a table; sum a trace up.")
def trace() -> None:
    """Group the commands for traces."""


@trace.command(short_help="Write a trace as CSV or Parquet.")
@click.argument("source", metavar=_TRACE)
@click.argument("target", type=FILE, metavar="TABLE")
@click.option(
    "--files",
    metavar="FILES.yaml",
    help="What else is known of a table's files: striping, size.",
)
@options.recorded
def convert(source: str, target: str, files: str | None, recorded: tuple[str, ...]) -> None:
    """Write TRACE (a Darshan log, CSV or Parquet) as TABLE, which ends in .csv or .parquet.

    What a table has no columns for, the striping and the sizes of the files, goes to a file beside
    it, TABLE.files.yaml, which `--files` of the other commands takes.
    """
    need("tables", target)
    from xc40io.workloads.replay.trace_table import check_table_name, write_table

    beside = f"{target}.files.yaml"
    check_table_name(target)
    check_writable(beside, "TABLE")
    with ProgressBar() as progress:
        progress.say("read")
        opened = open_trace(source, files, progress, recorded)
        _warn(opened)
        with replacing(target, "TABLE") as draft:
            rows = write_table(opened, draft, Path(target).suffix)
    write_whole(beside, side_table_text(opened), "TABLE")
    described = format_count(len(opened.files), "file")
    click.echo(f"{target}: {rows:,} rows; {beside}: {described}")


@trace.command(short_help="Say what a trace amounts to.")
@click.argument("source", metavar=_TRACE)
@click.option(
    "--files",
    metavar="FILES.yaml",
    help="What else is known of a table's files: striping, size.",
)
@options.recorded
@JSON
def summary(source: str, files: str | None, recorded: tuple[str, ...], as_json: bool) -> None:
    """Print what TRACE (CSV, Parquet or a Darshan log) amounts to."""
    with ProgressBar() as progress:
        progress.say("read")
        opened = open_trace(source, files, progress, recorded)
        _warn(opened)
        found = summarise(opened)
    text = format_summary_json(found) if as_json else format_summary(found, source)
    click.echo(text, nl=False)


def _warn(opened: Trace) -> None:
    """Print what was wrong with a trace that can be read all the same."""
    for warning in opened.warnings:
        click.echo(f"warning: {warning}", err=True)
