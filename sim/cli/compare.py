"""``xc40io compare``: the same IOR command on Lustre, local SSDs, a burst buffer and home."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sim.cli import options
from sim.cli.face import typed_command
from sim.cli.forms import Forms, form_options
from sim.cli.job import describe, described

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from sim.config.scenario import Scenario, Target
    from sim.results.page.content import Page
    from sim.studies.targets import Cell, Crossing

_KINDS = ("lustre", "ssd", "bb", "home")
_PLOTS = ("svg", "png", "pdf")
_HELP = """\
Run the same IOR command on several targets and numbers of nodes; print one table, and where one
target overtakes another.

\b
  xc40io compare --targets lustre,ssd --node-counts 64,256,1024 --ppn 2 --plot ssd.svg \\
      -- -a POSIX -F -w -e -b 64m -t 4m

Local SSDs and a private burst buffer take files of one process or of one node, read where they were
written. A read of its own, -r without -w, reads files that no cache holds.
"""


@click.command(help=_HELP, short_help="Compare Lustre, local SSDs and a burst buffer.")
@described
@click.option(
    "--targets", default="lustre,ssd", show_default=True, help=f"Several of {', '.join(_KINDS)}."
)
@click.option("--node-counts", help="Numbers of nodes, as in 16,64,256.  [default: --nodes]")
@click.option("--plot", metavar="FILE", help="Draw it too: a name that ends in .svg, .png or .pdf.")
@form_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@options.changes
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- IOR ARGUMENTS]")
def compare(
    *,
    targets: str,
    node_counts: str | None,
    plot: str | None,
    plots: str | None,
    html: str | None,
    as_json: bool,
    assignments: tuple[str, ...],
    arguments: tuple[str, ...],
    **job: Any,
) -> None:
    """Run all and print the table."""
    from sim.archive.files import check_writable, replacing
    from sim.config.scenario import Workload, machine_of
    from sim.results.progress import ProgressBar
    from sim.studies.comparison import comparison_document, format_comparison
    from sim.studies.targets import compare as run_all
    from sim.studies.targets import crossings

    chosen = _targets(targets, job)
    counts = _counts(node_counts)
    kind = _kind_of_plot(plot)
    if plot is not None:
        check_writable(plot, "--plot")
    forms = Forms(plots, html)
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
        from sim.studies.comparison_plot import draw_comparison

        with replacing(plot, "--plot") as draft:
            draw_comparison(draft, kind, title, cells, found)
    text = comparison_document(cells, found)
    click.echo(text if as_json else format_comparison(title, cells, found), nl=False)
    forms.draw(lambda: [("comparison", _figure(title, cells, found))])
    forms.write(lambda: _page(scenario, title, cells, found))


def _figure(title: str, cells: Sequence[Cell], found: Sequence[Crossing]) -> Figure:
    from sim.studies.comparison_plot import comparison_figure

    return comparison_figure(title, cells, found)


def _page(scenario: Scenario, title: str, cells: Sequence[Cell], found: Sequence[Crossing]) -> Page:
    from sim.studies.comparison_page import comparison_page

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

    if text is None:
        return []
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise InputError(f"--node-counts {text!r}: right would be numbers, as in 16,64,256")
    return sorted({int(part) for part in parts})


def _kind_of_plot(path: str | None) -> str:
    """Return the format of a plot, by the end of its name."""
    from sim.config.errors import InputError

    kind = "" if path is None else path.rpartition(".")[2].lower()
    if path is not None and kind not in _PLOTS:
        raise InputError(f"--plot {path}: right would be a name that ends in .svg, .png or .pdf")
    return kind
