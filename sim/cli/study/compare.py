"""``xc40io compare``: runs side by side, or one IOR command on several targets."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any

import click

from xc40io.cli import options
from xc40io.cli.job_options import describe, described, typed_options
from xc40io.cli.job_script import refuse_stand_in
from xc40io.cli.runs.what_ifs import side_by_side, what_if_option
from xc40io.cli.study.named import (
    is_kept,
    is_log,
    refuse_facts,
    scenario_of_name,
)
from xc40io.cli.study.sweep import swept
from xc40io.cli.study_options import Findings, Study, study_options
from xc40io.cli.typed_workload import TYPED, workload_of_words
from xc40io.config.errors import InputError
from xc40io.config.scenario import machine_of
from xc40io.studies.axes import parse_axes
from xc40io.workloads.job_script.files import is_job_script

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xc40io.studies.compare.side import Side

_HELP = """\
Run several things side by side, with the same seeds: how many times as fast each is as the first,
what bound each, and why it differs. Named are scenarios, by name or file, job scripts, logs to be
replayed, and results that --save has kept; before a command line, machines. --what-if adds the
first of them with other values.

\b
  xc40io compare theta-headline theta-twice-the-osts --repeat 5
  xc40io compare monday.xc40io tuesday.xc40io
  xc40io compare theta cori-knl --nodes 64 -- -a POSIX -F -w -e -b 64m -t 4m
  xc40io compare theta-headline --what-if lnet.routers=15 --what-if lnet.routers=44

With neither a name nor a what-if it is a sweep of a command line over targets and numbers of nodes,
which says where one target overtakes another: the first line does what the second one does.

\b
  xc40io compare --targets lustre,ssd --node-counts 64,256 -- -a POSIX -F -w -e -b 64m -t 4m
  xc40io sweep --over nodes=64,256 --over target.kind=lustre,ssd -- -a POSIX -F -w -e -b 64m -t 4m

Local SSDs and a private burst buffer take files of one process or of one node, read where they were
written. A read of its own, -r without -w, reads files that no cache holds.
"""


@click.command(help=_HELP)
@described
@click.option(
    "--targets",
    default="lustre,ssd",
    show_default=True,
    help="Several of lustre, ssd, bb, home: as --over target.kind= of xc40io sweep.",
)
@click.option("--node-counts", help="Numbers of nodes, as in 16,64,256.  [default: --nodes]")
@what_if_option
@study_options(repeat="Seeds to run everything with; two or more give intervals.", plots=True)
@options.changes
@options.recorded
@options.stand_in
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[A B ...] [-- COMMAND]")
@click.pass_context
def compare(
    context: click.Context,
    /,
    *,
    study: Study,
    what_ifs: tuple[str, ...],
    targets: str,
    node_counts: str | None,
    assignments: tuple[str, ...],
    recorded: tuple[str, ...],
    stand_in: str | None,
    arguments: tuple[str, ...],
    **job: Any,
) -> Findings:
    """Compare what is named, or targets."""
    from xc40io.studies.compare.side import sides_of

    names, words = _split(arguments)
    if not any(map(is_log, names)):
        refuse_facts(recorded, *names[:1])
    if not any(map(is_job_script, names)):
        refuse_stand_in(stand_in, names[0] if names else "a command line")
    if not names and not what_ifs:
        return _targets(targets, node_counts, study, assignments, words, job)
    _refuse_targets(context)
    first, *rest = _sides(context, names, words, assignments, job, recorded, stand_in)
    if not rest and not what_ifs:
        raise click.UsageError(
            f"{names[0]}: compared with what? Right would be another one, or --what-if", context
        )
    same, *changed = sides_of(first, what_ifs)
    return side_by_side([same, *rest, *changed], study)


def _targets(
    targets: str,
    node_counts: str | None,
    study: Study,
    assignments: tuple[str, ...],
    words: tuple[str, ...],
    job: dict[str, Any],
) -> Findings:
    """Return what ``xc40io sweep`` finds over targets, and numbers of nodes if there are any."""
    over = [f"nodes={node_counts}"] if node_counts else []
    axes = parse_axes([*over, f"target.kind={targets}"])
    workload = workload_of_words(words)
    assert workload is not None  # words that name something were split off
    return swept(describe(workload, assignments, job), axes, study)


def _split(arguments: tuple[str, ...]) -> tuple[list[str], tuple[str, ...]]:
    """Return what is named before a command line, and that command line."""
    names = list(takewhile(_names_something, arguments))
    return names, arguments[len(names) :]


def _names_something(word: str) -> bool:
    """Tell whether a word is no part of a command line that begins with it."""
    return not word.startswith("-") and word not in TYPED


def _refuse_targets(context: click.Context) -> None:
    """Raise InputError if an option was typed that belongs to a comparison of targets."""
    for name in sorted(typed_options(context, {"targets": "", "node_counts": ""})):
        raise InputError(
            f"--{name.replace('_', '-')} beside names or --what-if: it belongs to a comparison of "
            "targets; right would be --what-if target=ssd, --what-if nodes=64, or --plots"
        )


def _sides(
    context: click.Context,
    names: Sequence[str],
    words: tuple[str, ...],
    assignments: tuple[str, ...],
    job: dict[str, Any],
    recorded: tuple[str, ...],
    stand_in: str | None,
) -> list[Side]:
    """Return what is to be run: a command line on each machine, or each of what is named."""
    from xc40io.studies.compare.side import AS_IT_IS, Side

    workload = workload_of_words(words) if words else None
    if workload is None:
        return [_side(context, name, assignments, job, recorded, stand_in) for name in names]
    scenario = describe(workload, assignments, job)
    if not names:
        return [Side(AS_IT_IS, scenario)]
    scenarios = [scenario.model_copy(update={"machine": name}) for name in names]
    for each in scenarios:
        machine_of(each)  # raises InputError if there is none, or if it has no room
    return [Side(name, each) for name, each in zip(names, scenarios, strict=True)]


def _side(
    context: click.Context,
    name: str,
    assignments: tuple[str, ...],
    job: dict[str, Any],
    recorded: tuple[str, ...],
    stand_in: str | None,
) -> Side:
    """Return what is named; of a kept result what came of it, if nothing was typed beside it."""
    from xc40io.studies.compare.side import Side, side_of_content

    if is_kept(name) and not assignments and not typed_options(context, job):
        from xc40io.results.saved import load

        return side_of_content(name, load(name))
    facts = recorded if is_log(name) else ()
    said = stand_in if is_job_script(name) else None
    return Side(name, scenario_of_name(context, name, assignments, job, facts, said))
