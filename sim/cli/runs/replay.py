"""``xc40io replay``: what a job did, by its Darshan log or a trace, on a simulated machine."""

from __future__ import annotations

from typing import Any

import click

from xc40io.cli import options
from xc40io.cli.exports import Command, write_exports
from xc40io.cli.job_options import described
from xc40io.cli.options import TABLES, Keep, View
from xc40io.cli.runs.what_ifs import WhatIfs, compared, run_or_compare, what_if_options
from xc40io.config.errors import InputError
from xc40io.config.job_form import AskedJob
from xc40io.results.progress import ProgressBar

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


@click.command(help=_HELP)
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
    from xc40io.cli.runs.printing import check_keep, in_turn, save_result
    from xc40io.cli.runs.replayed import print_log_warnings, print_replay
    from xc40io.studies.log_replay import LogReplay, table_scenario

    described_job = AskedJob(**job)

    check_keep(keep)
    if log.lower().endswith(TABLES):
        scenario = table_scenario(log, timing, files, assignments, described_job, recorded)
        run_or_compare(scenario, asked, view, keep)
        return
    if files is not None:
        raise InputError(
            f"--files {files}: a Darshan log says itself what there is to know of its files; right "
            "would be --files with a table that ends in .csv or .parquet"
        )
    view = view._replace(explain=explain)
    replayed = LogReplay.of(log, timing, assignments, described_job, recorded)
    print_log_warnings(replayed.log.warnings)
    if asked.any and compared(replayed.scenario(), asked, view, keep):
        return
    report = replayed.run(record=keep.recorded, watch=ProgressBar)
    in_turn(
        lambda: save_result(report, keep, view),
        lambda: print_replay(report, view),
        lambda: write_exports(report, keep.exports, exact=view.exact),
    )
