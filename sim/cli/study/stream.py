"""``xc40io stream``: jobs that arrive, wait in a queue, run and give back their nodes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xc40io.archive.part_file import PartFile
from xc40io.cli import options
from xc40io.cli.face import typed_command
from xc40io.cli.options import MOST_SEEDS, Whole
from xc40io.cli.study_options import Findings, Study, findings_of, say, study_options
from xc40io.config.errors import InputError, shown_path
from xc40io.config.files import DESCRIPTION, shipped, text_of
from xc40io.config.job_form import JOB
from xc40io.config.machine import load_machine
from xc40io.config.parts.machine_changes import parse_changes
from xc40io.config.stream import StreamScenario, checked_stream, load_stream
from xc40io.config.text.yaml_text import parse_yaml
from xc40io.telling.data import csv_text
from xc40io.topology.text import format_count
from xc40io.workloads.job_records.coarseness import MOST_RPCS, rpcs_as_one
from xc40io.workloads.job_records.job_table import read_job_table

if TYPE_CHECKING:
    from xc40io.run.built_machine import Progress
    from xc40io.run.streaming.stream_outcome import StreamOutcome
    from xc40io.studies.stream.stream_draws import Draws

_HELP = """\
Run a stream of jobs: a scenario with a queue, or a table of what accounting knows of jobs.

\b
  xc40io stream theta-month --plot month.png
  xc40io stream week.csv --draws 5
  xc40io stream week.csv --queue recorded --alone --csv jobs.csv

A table is a CSV, Parquet or YAML file with a row for each job: nodes, ranks, start, walltime,
runtime, read, written, and what else is known of it; or the text that darshan-parser --total
prints. What is not known is drawn (docs/streams.md); several --draws tell how much depends on it.
"""


@click.command(help=_HELP)
@click.option(
    "--seed", type=Whole(min=0, most=JOB["seed"].most), help="In place of the scenario's own."
)
@click.option(
    "--queue",
    type=click.Choice(["easy", "fcfs", "recorded"]),
    help="Who begins when: EASY backfilling, strictly in turn, or as recorded.",
)
@click.option("--nodes", type=Whole(min=1), help="Compute nodes that jobs get.")
@click.option("--machine", metavar="NAME|FILE", help="Of a table's jobs.  [default: theta]")
@click.option("--habits", metavar="NAME|FILE", help="What to draw from where the table is silent.")
@click.option(
    "--draws",
    type=Whole(min=1, most=MOST_SEEDS),
    default=1,
    show_default=True,
    metavar="N",
    help="Draw what is not known of the jobs N times, and run each draw.",
)
@click.option(
    "--alone/--no-alone",
    default=False,
    show_default=True,
    help="Run each job by itself, too, on the same nodes and OSTs: what the others cost it.",
)
@click.option(
    "--rpcs-as-one",
    type=Whole(min=1),
    metavar="N",
    help="Handle N bulk RPCs as one.  [default of a table: so many that it takes minutes]",
)
@click.option(
    "--most-calls",
    type=Whole(min=0),
    metavar="N",
    help="Let a call stand for several where there are more; 0: never.  [default: by the job, so "
    "that the stream takes minutes]",
)
@click.option(
    "--most-ranks-per-node",
    type=Whole(min=0),
    metavar="N",
    help="Let a rank stand for several where there are more; 0: never.  [default: as above]",
)
@study_options(exact=False)
@options.changes
@click.argument("subject", metavar="NAME|FILE")
def stream(
    *,
    study: Study,
    subject: str,
    draws: int,
    alone: bool,
    assignments: tuple[str, ...],
    **given: Any,
) -> Findings:
    """Run a stream and print what came of it."""
    from xc40io.studies.stream.stream_answer import stream_answer
    from xc40io.studies.stream.stream_draws import run_stream

    began = time.perf_counter()
    described = subject.endswith((".yaml", ".yml")) and not _is_table(subject)
    scenario = _changed(_scenario(subject, given), given, assignments)

    rows = None if study.csv is None else _Rows(PartFile(study.csv, "--csv"))

    def run(progress: Progress) -> Draws:
        return run_stream(
            scenario,
            draws=draws,
            alone=alone,
            processes=study.processes,
            progress=progress,
            ended=None if rows is None else rows.ended,
            place=shown_path(subject) if described else "",
        )

    try:
        found = study.run(run, counted="bytes")
    except KeyboardInterrupt:
        if rows is not None:
            rows.tell()
        raise
    if rows is not None:
        rows.remove()
    wall = time.perf_counter() - began
    told = findings_of(stream_answer(found, typed_command()))
    return told._replace(
        text=lambda: f"{told.text()}# Wall time: {wall:.2f} s\n",
        document=lambda: told.document() | {"wall_seconds": wall},
    )


class _Rows:
    """The rows of jobs as they end: lines of CSV, below the names of the columns."""

    def __init__(self, part: PartFile) -> None:
        self._part = part
        self._count = 0

    def ended(self, job: StreamOutcome) -> None:
        """Add the row of a job that has ended."""
        from xc40io.studies.stream.stream_answer import job_row

        names, row = csv_text(job_row(job)).splitlines(keepends=True)
        self._part.add(row if self._count else names + row)
        self._count += 1

    def tell(self) -> None:
        """Say where they are, of work that was interrupted."""
        if self._count and self._part.path is not None:
            ended = format_count(self._count, "job")
            say(f"{ended} had ended; what is known of them is in {self._part.path}")

    def remove(self) -> None:
        """Remove them: the whole table is known."""
        self._part.remove()


def _scenario(subject: str, given: dict[str, Any]) -> StreamScenario:
    """Return the stream that a scenario describes, or one of the jobs of a table."""
    if not _is_table(subject):
        wrong = [option for option in ("machine", "habits") if given[option] is not None]
        if wrong:
            raise InputError(
                f"stream {subject} with --{wrong[0]}: the scenario says so itself; right would be "
                f"--{wrong[0]} with a table of jobs"
            )
        return load_stream(subject)
    policy = given["queue"] or "easy"
    known = read_job_table(subject, recorded=policy == "recorded").records
    moved = sum(one.read + one.written for one in known)
    machine = load_machine(given["machine"] or "theta")
    document = {
        "machine": machine,
        "queue": {"policy": policy},
        "records": {"table": subject, "habits": given["habits"] or "production"},
        "rpcs_as_one": rpcs_as_one(moved, MOST_RPCS, machine),
    }
    return checked_stream(document, "stream")


def _is_table(subject: str) -> bool:
    """Tell whether a subject is a table of jobs: a scenario is a name, or a mapping of fields."""
    if subject in shipped("streams") or not Path(subject).suffix:
        return False
    if not subject.endswith((".yaml", ".yml")):
        return True
    document = parse_yaml(text_of(subject, DESCRIPTION), subject)
    return not (isinstance(document, dict) and {"queue", "machine"} & document.keys())


def _changed(
    scenario: StreamScenario, given: dict[str, Any], assignments: tuple[str, ...]
) -> StreamScenario:
    """Return a scenario with what was typed beside it."""
    queue = {"policy": given["queue"], "nodes": given["nodes"]}
    chosen = {name: value for name, value in queue.items() if value is not None}
    updates: dict[str, Any] = {
        "queue": scenario.queue.model_copy(update=chosen),
        "changes": scenario.changes | parse_changes(assignments),
    }
    for name in ("seed", "rpcs_as_one", "most_calls", "most_ranks_per_node"):
        if given[name] is not None:
            updates[name] = given[name]
    return scenario.model_copy(update=updates)
