"""``xc40io replay``: what a job did, by its Darshan log or a trace, on a simulated machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from xc40io.cli import options
from xc40io.cli.exports import Command, write_exports
from xc40io.cli.face import INTERRUPTED
from xc40io.cli.job_options import described
from xc40io.cli.options import TABLES, Keep, View
from xc40io.cli.runs.what_ifs import WhatIfs, compared, run_or_compare, what_if_options
from xc40io.cli.study_options import STORE, Study, findings_of, say, tell_runs
from xc40io.config.errors import InputError
from xc40io.config.job_form import AskedJob
from xc40io.results.progress import ProgressBar
from xc40io.workloads.darshan.log_folder import logs_of, means_logs

if TYPE_CHECKING:
    from xc40io.studies.logs.log_gains import LogGains

_HELP = """\
Replay what a job did on a simulated machine.

LOG is a Darshan log, or a trace: a table that ends in .csv or .parquet. Of a Darshan log the
replay as recorded comes first, on the machine and nodes that the log tells of; then the what-if,
if another machine, other nodes, striping, hints or values of the machine are asked for. Several
what-ifs stand side by side with --what-if. What you know of the recorded run goes into --recorded.

Several logs, or folders with logs in and below them, are replayed by their counters, each as
recorded and with a few other stripes and hints: a table, the log first of which a change would have
saved most seconds. What has finished is kept, and told after an interrupt; the same command then
goes on.

\b
  xc40io replay yesterday.darshan --stripe-count 48
  xc40io replay yesterday.darshan --what-if striping.count=8 --what-if striping.count=48
  xc40io replay yesterday.darshan --recorded machine=cori-knl --recorded ppn=32 --explain
  xc40io replay trace.parquet --nodes 16 --ppn 32
  xc40io replay darshan-logs/2026/11 --json >november.json
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


_OF_SEVERAL = {"logs", "recorded", "as_json", "jobs", "store"}
"""What may be typed beside several logs."""


def _check_of_several(context: click.Context) -> None:
    """Raise InputError if something is typed that several logs have not."""
    for param in context.command.params:
        name = param.name or ""
        typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if typed and name not in _OF_SEVERAL:
            raise InputError(
                f"{param.opts[-1]} beside several logs, replayed by their counters: right would be "
                "one log, or --recorded, --jobs, --store or --json"
            )


def _replay_many(logs: tuple[str, ...], recorded: tuple[str, ...], study: Study) -> None:
    """Replay several logs, and print what changes would have saved."""
    from xc40io.studies.logs.log_gains import replay_logs
    from xc40io.studies.logs.log_gains_answer import log_gains_answer

    named = logs_of(logs)

    def make(progress: ProgressBar) -> LogGains:
        progress.say("replayed")
        jobs, store = study.processes, study.store
        return replay_logs(named, recorded=recorded, jobs=jobs, store=store, progress=progress)

    found = study.run(make, counted="logs")
    tell_runs(found)
    if not found.finished:
        done = len(found.logs) + len(found.bad)
        say(
            f"interrupted: {done:,} of {found.asked:,} logs; runs that have finished are kept, and "
            "the same command goes on"
        )
    status = 0 if found.finished else INTERRUPTED
    study.tell(findings_of(log_gains_answer(found))._replace(status=status))


@click.command(help=_HELP)
@click.argument("logs", nargs=-1, required=True, metavar="LOG|FOLDER...")
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
@STORE
@click.pass_context
def replay(
    context: click.Context,
    /,
    *,
    logs: tuple[str, ...],
    store: str | None,
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

    if means_logs(logs):
        _check_of_several(context)
        _replay_many(logs, recorded, Study(as_json=view.as_json, jobs=asked.jobs, store=store))
        return
    if store is not None:
        raise InputError(
            f"--store {store} beside one log: right would be several logs, or a folder of them"
        )
    (log,) = logs
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
