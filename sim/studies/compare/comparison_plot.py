"""A comparison of targets as a plot."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim.config.units import GB
from sim.studies.compare.comparison import NAMES
from sim.studies.compare.targets import ACCESSES, Cell, Crossing
from sim.telling.sheet import (
    INK,
    NARROW,
    OTHER,
    READ,
    WIDE,
    WRITE,
    Heading,
    doublings,
    name_axes,
    name_panel,
    sheet,
    tenfolds,
)
from sim.workloads.ior.parameters import Access

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLES: dict[str, dict[str, Any]] = {
    "lustre": {"color": WRITE, "marker": "o"},
    "ssd": {"color": READ, "marker": "s"},
    "bb": {"color": OTHER, "marker": "^"},
    "home": {"color": INK, "marker": "D"},
}
_FAR = 30.0  # times: rates further apart than this need a logarithmic axis
_LETTER = 0.075  # inches of a letter of a label
_INCHES = 3.4  # from the first number of nodes to the last, at least


def draw_comparison(
    path: Path, kind: str, title: str, cells: Sequence[Cell], found: Sequence[Crossing]
) -> None:
    """Draw a comparison into a file; ``kind`` is its format, as ``svg`` or ``png``."""
    comparison_figure(title, cells, found).savefig(path, format=kind)


def comparison_figure(title: str, cells: Sequence[Cell], found: Sequence[Crossing]) -> Figure:
    """Draw bandwidth by nodes, a panel for each access and a line for each target."""
    accesses = [access for access in ACCESSES if any(access in cell.rates for cell in cells)]
    width = WIDE if len(accesses) > 1 else NARROW
    letters = round(13.0 * width)
    caption = "GB = 10^9 bytes."
    if found:
        caption += " Dotted: where one target overtakes another, on the line between two runs."
    heading = Heading("Bandwidth by number of nodes", textwrap.shorten(title, letters), caption)
    figure, panels = sheet(heading, width=width, height=3.0, panels=len(accesses), rows=2)
    for access, axes in zip(accesses, panels, strict=True):
        _draw_panel(axes, access, cells)
        for crossing in found:
            if crossing.access is access:
                axes.axvline(crossing.nodes, color=INK, linestyle=":", linewidth=1.0)
    _name_targets(figure, panels[0])
    return figure


def _draw_panel(axes: Axes, access: Access, cells: Sequence[Cell]) -> None:
    """Draw the rates of all targets; ticks stand at the numbers of nodes that were run."""
    kinds = dict.fromkeys(cell.kind for cell in cells)
    lines = {
        kind: [(c.nodes, c.rates[access] / GB) for c in cells if c.kind == kind] for kind in kinds
    }
    for kind, line in lines.items():
        axes.plot(*zip(*line, strict=True), label=NAMES[kind], linewidth=1.6, **_STYLES[kind])
    rates = [rate for line in lines.values() for _, rate in line]
    if max(rates) > _FAR * min(rates):
        tenfolds(axes, (1.0, 2.0, 5.0))
    else:
        axes.set_ylim(0.0, 1.08 * max(rates))
        axes.yaxis.set_major_formatter("{x:,g}")
    counts = sorted({cell.nodes for cell in cells})
    doublings(axes, counts, labels_with_room(counts))
    name_panel(axes, access.value)
    name_axes(axes, "nodes", "GB/s")


def labels_with_room(counts: Sequence[int]) -> list[str]:
    """Return labels for ascending numbers on a logarithmic axis; empty where there is no room.

    The first and the last number are always told, of the others those that touch none before.
    """
    names = [f"{count:,}" for count in counts]
    if len(counts) < 3:
        return names
    inch = _INCHES / log2(counts[-1] / counts[0])
    centre = [inch * log2(count / counts[0]) for count in counts]
    half = [(len(name) + 1) * _LETTER / 2 for name in names]
    shown, right = [names[0]], centre[0] + half[0]
    for place in range(1, len(counts) - 1):
        fits = right <= centre[place] - half[place]
        fits &= centre[place] + half[place] <= centre[-1] - half[-1]
        shown.append(names[place] if fits else "")
        right = centre[place] + half[place] if fits else right
    return [*shown, names[-1]]


def _name_targets(figure: Figure, axes: Axes) -> None:
    """Say which line is which, in a row above the names of the panels."""
    high, wide = figure.get_figheight(), figure.get_figwidth()
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="upper right",
        bbox_to_anchor=(1 - 0.1 / wide, 1 - 0.58 / high),
        ncols=len(NAMES),
        frameon=False,
        fontsize=9,
        labelcolor=INK,
        borderaxespad=0.0,
    )
