"""A replay on the command line: what is said of it, and printed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from xc40io.cli.job_options import displaying
from xc40io.cli.options import TABLES, View
from xc40io.results.file_stats import add_file_stats, format_file_stats
from xc40io.results.mpiio.mpiio_report import mpiio_blocks
from xc40io.results.programs.forms import output_of
from xc40io.results.replay_answer import replay_answer
from xc40io.results.run_text import format_run
from xc40io.studies.log_replay import LogReplay, table_scenario
from xc40io.telling.data import document_of, json_text
from xc40io.telling.text import text_of

if TYPE_CHECKING:
    from xc40io.config.job_form import AskedJob
    from xc40io.config.scenario import Scenario
    from xc40io.findings.replay_report import ReplayReport
    from xc40io.run.result import Result


def print_log_warnings(warnings: Iterable[str]) -> None:
    """Say what is wrong with a log."""
    for warning in warnings:
        click.echo(f"xc40io: warning: {warning}", err=True)


def print_replay(report: ReplayReport, view: View) -> None:
    """Print a replay of a log."""
    if view.as_json:
        document = document_of(replay_answer(report, exact=view.exact))
        if view.file_stats:
            for told, run in zip(document["runs"], report.runs, strict=True):
                add_file_stats(told["xc40io"], run)
        click.echo(json_text(document), nl=False)
        return
    answer = replay_answer(report, explain=view.explain)
    head, *tables = answer.blocks
    click.echo(text_of(replace(answer, blocks=[head])))
    _print_more(report.runs[-1], view)
    click.echo()
    click.echo(text_of(replace(answer, blocks=tables)), nl=False)


def _print_more(result: Result, view: View) -> None:
    """Print what only a simulator knows of the last run."""
    if view.mpiio_stats:
        records = [record for _, record in result.mpi_records]
        for block in mpiio_blocks(records, displaying(result.scenario.environment)):
            click.echo(block)
    if view.getstripe:
        click.echo(output_of(result).layouts())
    text = format_run(
        result, lustre_stats=view.lustre_stats, exact=view.exact, verbose=view.verbose
    )
    click.echo(text, nl=False)
    if view.file_stats:
        click.echo(format_file_stats(result), nl=False)


def scenario_of_log(
    path: str,
    assignments: tuple[str, ...],
    job: AskedJob,
    recorded: tuple[str, ...] = (),
) -> Scenario:
    """Return the scenario in which a log or a trace table is replayed.

    Of a log it is said where the job ran, as far as that is known, and what was slow.

    What is None of the job is as the log tells.

    Raises
    ------
    InputError
        If it cannot be replayed so.
    """
    if path.lower().endswith(TABLES):
        return table_scenario(path, "think", None, assignments, job, recorded)
    replayed = LogReplay.of(path, "think", assignments, job, recorded)
    scenario = replayed.scenario()
    what_if = f"; what-if: {replayed.change}" if replayed.change else ""
    click.echo(f"xc40io: {path}: {replayed.where()}{what_if}", err=True)
    print_log_warnings((*replayed.log.warnings, *replayed.slow_sentences()))
    return scenario
