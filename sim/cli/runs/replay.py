"""``xc40io replay``: what a job did, by its Darshan log or a trace, on a simulated machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from sim.cli import options
from sim.cli.exports import Command, write_exports
from sim.cli.job import describe, described
from sim.cli.runs.log_replay import LogReplay
from sim.cli.what_if import WhatIfs, compared, what_if_options

if TYPE_CHECKING:
    from sim.cli.options import Keep, View
    from sim.config.scenario import Scenario
    from sim.findings.replay_report import ReplayReport
    from sim.run.result import Result

_HELP = """\
Replay what a job did on a simulated machine.

LOG is a Darshan log, or a trace: a table that ends in .csv or .parquet. Of a Darshan log the
replay as recorded comes first, on the machine and nodes that the log tells of; then the what-if,
if another machine, other nodes, striping, hints or values of the machine are asked for. Several
what-ifs stand side by side with --what-if. What you know of the recorded run goes into --recorded.

\b
  xc40io replay yesterday.darshan --stripe-count 48
  xc40io replay yesterday.darshan --what-if striping.count=8 --what-if striping.count=48
  xc40io replay yesterday.darshan --recorded machine=cori-knl --recorded ppn=32 --explain
  xc40io replay trace.parquet --nodes 16 --ppn 32
"""

TABLES = (".csv", ".parquet")
"""What the names of trace tables end in."""

_FROM_LOG = {
    "machine": "Name or YAML file.  [default: where the job ran, as far as the log tells]",
    "nodes": "Compute nodes of the job.  [default: as recorded]",
    "ppn": "Ranks on each node.  [default: as recorded]",
}


def _defaults_from_log(command: Command) -> Command:
    """Take the defaults from options that describe the job: the log tells instead."""
    for option in getattr(command, "__click_params__", ()):
        if option.name in _FROM_LOG:
            option.default, option.show_default = None, False
            option.help = _FROM_LOG[option.name]
    return command


@click.command(help=_HELP, short_help="Replay a Darshan log or a trace.")
@click.argument("log", metavar="LOG")
@_defaults_from_log
@described
@click.option(
    "--timing",
    type=click.Choice(("think", "start", "asap")),
    default="think",
    show_default=True,
    help="Between calls: compute as long as recorded, begin no call before its recorded start, or "
    "do everything as soon as possible.",
)
@click.option("--files", metavar="FILE.yaml", help="Says more of the files of a trace table.")
@options.recorded
@click.option("--explain", is_flag=True, help="Also print how the calls were reconstructed.")
@options.changes
@what_if_options
@options.output
def replay(
    log: str,
    timing: str,
    files: str | None,
    recorded: tuple[str, ...],
    explain: bool,
    assignments: tuple[str, ...],
    asked: WhatIfs,
    view: View,
    keep: Keep,
    **job: Any,
) -> None:
    """Replay a log or a trace and print what came of it."""
    from sim.cli.runs.running import check_keep, in_turn, run_and_print, save_result
    from sim.workloads.darshan.facts import check_no_facts

    check_keep(keep)
    if log.lower().endswith(TABLES):
        check_no_facts(recorded, log)
        scenario = _table_scenario(log, timing, files, assignments, job)
        if not compared(scenario, asked, view, keep):
            run_and_print(scenario, view, keep)
        return
    if files is not None:
        from sim.config.errors import InputError

        raise InputError(
            f"--files {files}: a Darshan log says itself what there is to know of its files; right "
            "would be --files with a table that ends in .csv or .parquet"
        )
    view = view._replace(explain=explain)
    replayed = LogReplay.of(log, timing, assignments, job, recorded)
    print_log_warnings(replayed.log.warnings)
    if asked.any and compared(replayed.scenario(), asked, view, keep):
        return
    report = replayed.run(record=keep.recorded)
    in_turn(
        lambda: save_result(report, keep, view),
        lambda: print_replay(report, view),
        lambda: write_exports(report, keep.exports),
    )


def print_log_warnings(warnings: Iterable[str]) -> None:
    """Say what is wrong with a log."""
    for warning in warnings:
        click.echo(f"xc40io: warning: {warning}", err=True)


def print_replay(report: ReplayReport, view: View) -> None:
    """Print a replay of a log."""
    from sim.results.replay_answer import replay_answer
    from sim.telling.data import document_of, json_text
    from sim.telling.text import text_of

    if view.as_json:
        from sim.results.file_stats import add_file_stats

        document = document_of(replay_answer(report))
        if view.file_stats:
            for told, run in zip(document["runs"], report.runs, strict=True):
                add_file_stats(told["xc40io"], run)
        click.echo(json_text(document), nl=False)
        return
    click.echo(text_of(replay_answer(report, explain=view.explain)))
    _print_more(report.runs[-1], view)


def _print_more(result: Result, view: View) -> None:
    """Print what only a simulator knows of the last run."""
    from sim.results.mpiio.mpiio_report import mpiio_blocks
    from sim.results.programs.forms import output_of
    from sim.results.run_text import format_run

    if view.mpiio_stats:
        from sim.cli.runs.running import displaying

        records = [record for _, record in result.mpi_records]
        for block in mpiio_blocks(records, displaying(result.scenario.environment)):
            click.echo(block)
    if view.getstripe:
        click.echo(output_of(result).layouts())
    click.echo(format_run(result, lustre_stats=view.lustre_stats), nl=False)
    if view.file_stats:
        from sim.results.file_stats import format_file_stats

        click.echo(format_file_stats(result), nl=False)


def scenario_of_log(
    path: str,
    assignments: tuple[str, ...],
    job: dict[str, Any],
    recorded: tuple[str, ...] = (),
) -> Scenario:
    """Return the scenario in which a log or a trace table is replayed.

    Of a log it is said where the job ran, as far as that is known, and what was slow.

    Parameters
    ----------
    path
        Of the log, or of the table.
    assignments
        Changes of the machine, as typed.
    job
        The options that describe the job; None: as the log tells.
    recorded
        What is known of the recorded run, as typed.

    Raises
    ------
    InputError
        If it cannot be replayed so.
    """
    if path.lower().endswith(TABLES):
        return _table_scenario(path, "think", None, assignments, job)
    replayed = LogReplay.of(path, "think", assignments, job, recorded)
    scenario = replayed.scenario()
    what_if = f"; what-if: {replayed.change}" if replayed.change else ""
    click.echo(f"xc40io: {path}: {replayed.where()}{what_if}", err=True)
    print_log_warnings((*replayed.log.warnings, *replayed.slow_sentences()))
    return scenario


def _table_scenario(
    path: str,
    timing: str,
    files: str | None,
    assignments: tuple[str, ...],
    job: dict[str, Any],
) -> Scenario:
    """Return the scenario of a trace table; its ranks fill the nodes unless told how many."""
    from sim.config.asked_workload import Workload
    from sim.config.machine import DEFAULT_MACHINE, load_machine
    from sim.workloads.darshan.place import dealt_to
    from sim.workloads.replay.kernel import open_trace

    machine = job["machine"] or DEFAULT_MACHINE
    trace = open_trace(path, files)
    cores = load_machine(machine).nodes.cores
    nodes, ppn = job["nodes"], job["ppn"]
    if nodes is None and ppn is None:
        nodes, ppn = trace.nodes, trace.ppn
    nodes, ppn = dealt_to(trace.ranks, cores, nodes, ppn, idle=True)
    kernel: dict[str, Any] = {"name": "replay", "trace": path, "timing": timing}
    if files is not None:
        kernel["files"] = files
    job = job | {"machine": machine, "nodes": nodes, "ppn": ppn}
    return describe(Workload(kernel=kernel), assignments, job)
