"""``xc40io trace``: traces as tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from xc40io.archive.whole_files import check_writable, replacing, write_whole
from xc40io.cli import options
from xc40io.cli.options import JSON
from xc40io.cli.written import FILE
from xc40io.config.errors import InputError
from xc40io.config.extras import need
from xc40io.results.progress import ProgressBar
from xc40io.results.trace_text import format_summary, format_summary_json
from xc40io.topology.text import format_count
from xc40io.workloads.darshan.facts import check_no_facts
from xc40io.workloads.replay.kernel import open_trace
from xc40io.workloads.replay.side_table import side_table_text
from xc40io.workloads.replay.summary import summarise
from xc40io.workloads.tracers.opening import is_tracers, open_tracers

if TYPE_CHECKING:
    from xc40io.workloads.trace import Trace

_TRACE = "TRACE"

_HELP = """\
Work with traces: what the ranks of a job did, row by row.

\b
  xc40io trace convert job.darshan job.parquet
  xc40io trace convert job-of-dftracer/ job.parquet
  xc40io trace summary job.parquet
"""


@click.group(help=_HELP, short_help="Convert logs and traces to tables; sum them up.")
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
    """Write TRACE as TABLE, which ends in .csv or .parquet.

    TRACE is a Darshan log, a table, or what a tracer of calls wrote: DFTracer's .pfw or .pfw.gz, or
    the folder of Recorder 3 or of what recorder2text writes. Of DFTracer a folder is taken, too:
    all files of a run.

    What a table has no columns for, the striping and the sizes of the files, goes to a file beside
    it, TABLE.files.yaml, which `--files` of the other commands takes.
    """
    need("tables", target)
    from xc40io.workloads.replay.trace_table import check_table_name, write_table

    beside = f"{target}.files.yaml"
    check_table_name(target)
    check_writable(beside, "TABLE")
    with ProgressBar() as progress:
        opened = _opened(source, files, progress, recorded)
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
    """Print what TRACE amounts to: any that `trace convert` takes."""
    with ProgressBar() as progress:
        opened = _opened(source, files, progress, recorded)
        found = summarise(opened)
    text = format_summary_json(found) if as_json else format_summary(found, source)
    click.echo(text, nl=False)


def _opened(
    source: str, files: str | None, progress: ProgressBar, recorded: tuple[str, ...]
) -> Trace:
    """Open a trace, and print what was wrong with it if it can be read all the same."""
    progress.say("read")
    opened: Trace
    if is_tracers(source):
        check_no_facts(recorded, source)
        if files is not None:
            raise InputError(
                f"{files}: says more of a table; right would be no --files here, and then the one "
                "beside the table that `trace convert` writes"
            )
        opened = open_tracers(source)
    else:
        opened = open_trace(source, files, progress, recorded)
    for warning in opened.warnings:
        click.echo(f"warning: {warning}", err=True)
    return opened
