"""``xc40io compare``: runs side by side, or one IOR command on several targets."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any

import click

from sim.cli import options
from sim.cli.face import typed_command
from sim.cli.forms import Forms, form_options
from sim.cli.job import describe, described
from sim.cli.plot import kind_of_plot, plot_option
from sim.cli.study.subject import (
    is_kept,
    is_log,
    refuse_facts,
    scenario_of_name,
    typed_options,
    workload_of_words,
)
from sim.cli.what_if import WhatIfs, print_sides, what_if_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from sim.config.scenario import Scenario, Target
    from sim.studies.compare.side import Side
    from sim.studies.compare.targets import Cell, Crossing
    from sim.telling.answer import Answer

_KINDS = ("lustre", "ssd", "bb", "home")
_OF_TARGETS = ("targets", "node_counts", "plot")
_HELP = """\
Run several things side by side, with the same seeds: how many times as fast each is as the first,
what bound each, and why it differs. Named are scenarios, by name or file, logs to be replayed, and
results that --save has kept; before a command line, machines. --what-if adds the first of them
with other values.

\b
  xc40io compare theta-headline theta-twice-the-osts --repeat 5
  xc40io compare monday.xc40io tuesday.xc40io
  xc40io compare theta cori-knl --nodes 64 -- -a POSIX -F -w -e -b 64m -t 4m
  xc40io compare theta-headline --what-if lnet.routers=15 --what-if lnet.routers=44

With --targets or --node-counts, and with neither a name nor a what-if, one IOR command runs on
several targets and numbers of nodes: one table, and where one target overtakes another.

\b
  xc40io compare --targets lustre,ssd --node-counts 64,256,1024 --ppn 2 --plot ssd.svg \\
      -- -a POSIX -F -w -e -b 64m -t 4m

Local SSDs and a private burst buffer take files of one process or of one node, read where they were
written. A read of its own, -r without -w, reads files that no cache holds.
"""


@click.command(help=_HELP, short_help="Compare scenarios, machines, results, or targets.")
@described
@click.option(
    "--targets", default="lustre,ssd", show_default=True, help=f"Several of {', '.join(_KINDS)}."
)
@click.option("--node-counts", help="Numbers of nodes, as in 16,64,256.  [default: --nodes]")
@plot_option
@form_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@options.changes
@options.recorded
@what_if_options
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[A B ...] [-- COMMAND]")
@click.pass_context
def compare(
    context: click.Context,
    /,
    *,
    asked: WhatIfs,
    plots: str | None,
    html: str | None,
    as_json: bool,
    assignments: tuple[str, ...],
    recorded: tuple[str, ...],
    arguments: tuple[str, ...],
    **others: Any,
) -> None:
    """Compare what is named, or targets."""
    forms = Forms(plots, html)
    names, words = _split(arguments)
    if not any(map(is_log, names)):
        refuse_facts(recorded, *names[:1])
    of_targets = {name: others.pop(name) for name in _OF_TARGETS}
    if not names and not asked.texts:
        if asked.any:
            raise click.UsageError("--repeat and --jobs stand beside names or --what-if", context)
        _compare_targets(
            **of_targets,
            forms=forms,
            as_json=as_json,
            assignments=assignments,
            arguments=words,
            **others,
        )
        return
    from sim.studies.compare.side import sides_of

    _refuse_targets(context)
    first, *rest = _sides(context, names, words, assignments, others, recorded)
    if not rest and not asked.texts:
        raise click.UsageError(
            f"{names[0]} beside what? Right would be another one, or --what-if", context
        )
    same, *changed = sides_of(first, asked.texts)
    print_sides([same, *rest, *changed], asked, forms, as_json)


def _split(arguments: tuple[str, ...]) -> tuple[list[str], tuple[str, ...]]:
    """Return what is named before a command line, and that command line."""
    names = list(takewhile(lambda word: not word.startswith("-"), arguments))
    if names[-1:] == ["mdtest"]:
        names.pop()
    return names, arguments[len(names) :]


def _refuse_targets(context: click.Context) -> None:
    """Raise InputError if an option was typed that belongs to a comparison of targets."""
    from sim.config.errors import InputError

    for name in sorted(typed_options(context, dict.fromkeys(_OF_TARGETS))):
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
) -> list[Side]:
    """Return what is to be run: a command line on each machine, or each of what is named."""
    from sim.config.scenario import machine_of
    from sim.studies.compare.side import AS_IT_IS, Side

    workload = workload_of_words(words) if words else None
    if workload is None:
        return [_side(context, name, assignments, job, recorded) for name in names]
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
) -> Side:
    """Return what is named; of a kept result what came of it, if nothing was typed beside it."""
    from sim.studies.compare.side import Side, side_of_content

    if is_kept(name) and not assignments and not typed_options(context, job):
        from sim.results.saved import load

        return side_of_content(name, load(name))
    facts = recorded if is_log(name) else ()
    return Side(name, scenario_of_name(context, name, assignments, job, facts))


def _compare_targets(
    *,
    targets: str,
    node_counts: str | None,
    plot: str | None,
    forms: Forms,
    as_json: bool,
    assignments: tuple[str, ...],
    arguments: tuple[str, ...],
    **job: Any,
) -> None:
    """Run an IOR command on all targets and print the table."""
    from sim.archive.files import check_writable, replacing
    from sim.config.scenario import Workload, machine_of
    from sim.results.progress import ProgressBar
    from sim.studies.compare.comparison import comparison_document, format_comparison
    from sim.studies.compare.targets import compare as run_all
    from sim.studies.compare.targets import crossings

    chosen = _targets(targets, job)
    counts = _counts(node_counts)
    kind = "" if plot is None else kind_of_plot(plot)
    if plot is not None:
        check_writable(plot, "--plot")
    forms.check()
    scenario = describe(Workload(ior=arguments), assignments, job | {"target": "lustre"})
    counts = counts or [scenario.nodes]
    for target in chosen:  # what cannot be is said before anything is run
        machine_of(scenario.model_copy(update={"target": target, "nodes": max(counts)}))
    with ProgressBar("runs") as progress:
        cells = run_all(scenario, chosen, counts, progress)
    found = crossings(cells)
    title = f"ior {' '.join(arguments)} on {job['machine']}, {job['ppn']} ranks a node"
    if plot is not None:
        from sim.studies.compare.comparison_plot import draw_comparison

        with replacing(plot, "--plot") as draft:
            draw_comparison(draft, kind, title, cells, found)
    from sim.telling.answer import Picture

    text = comparison_document(cells, found)
    click.echo(text if as_json else format_comparison(title, cells, found), nl=False)
    forms.draw(lambda: [Picture("comparison", lambda: _figure(title, cells, found))])
    forms.write(lambda: _page(scenario, title, cells, found))


def _figure(title: str, cells: Sequence[Cell], found: Sequence[Crossing]) -> Figure:
    from sim.studies.compare.comparison_plot import comparison_figure

    return comparison_figure(title, cells, found)


def _page(
    scenario: Scenario, title: str, cells: Sequence[Cell], found: Sequence[Crossing]
) -> Answer:
    from sim.studies.compare.comparison_page import comparison_page

    return comparison_page(scenario, title, typed_command(), cells, found)


def _targets(text: str, job: dict[str, Any]) -> list[Target]:
    """Return the targets that were listed; the options of a burst buffer belong to it alone."""
    from sim.cli.job import target_of
    from sim.config.errors import InputError

    kinds = [kind.strip() for kind in text.split(",")]
    wrong = [kind for kind in kinds if kind not in _KINDS]
    if wrong or len(set(kinds)) < len(kinds):
        raise InputError(
            f"--targets {text!r}: right would be several of {', '.join(_KINDS)}, each once"
        )
    if "bb" not in kinds and (job["bb_capacity"] is not None or job["bb_access"] != "striped"):
        raise InputError("--bb-capacity and --bb-access belong to a comparison with bb")
    if job.pop("target") != "lustre":
        raise InputError("--target: a comparison has --targets")
    none = {"bb_capacity": None, "bb_access": "striped", "lose_ssd": ()}
    only = {"bb": ("bb_capacity", "bb_access"), "ssd": ("lose_ssd",)}
    found = []
    for kind in kinds:
        own = {name: job[name] for name in only.get(kind, ())}
        found.append(target_of({"target": kind} | none | own))
    job.update(none)
    return found


def _counts(text: str | None) -> list[int]:
    """Return the numbers of nodes that were listed, ascending; none if none were."""
    from sim.config.errors import InputError
    from sim.config.units import is_count

    if text is None:
        return []
    parts = [part.strip() for part in text.split(",")]
    if not all(is_count(part) and int(part) > 0 for part in parts):
        raise InputError(f"--node-counts {text!r}: right would be numbers, as in 16,64,256")
    return sorted({int(part) for part in parts})
