"""A sweep as a plot: bars, lines with bands, or heat maps.

One axis of words is drawn as bars, one of numbers as lines; two axes of numbers as heat maps, two
of which one is words as lines or as bars, a colour for each value of the shorter one.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from xc40io.config.errors import InputError
from xc40io.engine.types import Floats
from xc40io.studies.axes import Axis
from xc40io.studies.sweep.points import PhaseFigure, Point
from xc40io.studies.sweep.sweep import Sweep
from xc40io.telling.sheet import (
    INK,
    NARROW,
    PALETTE,
    WIDE,
    Heading,
    doublings,
    name_axes,
    name_panel,
    shades,
    sheet,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = "YlGnBu"
_DARK = 0.6  # of the scale of colours: cells that are darker have white numbers
_CELLS = 14  # columns of a heat map whose numbers have room
_FAR = 4.0  # times: numbers further apart than this stand on a logarithmic axis
_PHASES = 4  # panels side by side have no room for more


@dataclass(frozen=True)
class _Line:
    """A row of numbers with its name."""

    name: str
    values: list[list[float]]


def check_plot(axes: Sequence[Axis], *, sampled: bool) -> None:
    """Raise InputError if a sweep over these axes has no plot."""
    several = [axis for axis in axes if len(axis.values) > 1]
    if sampled or not 1 <= len(several) <= 2:
        what = "a sample" if sampled else f"{len(several)} axes with several values"
        raise InputError(
            f"--plot with {what}: right would be one axis or two, or --out, which has all numbers"
        )


def sweep_figure(title: str, done: Sweep) -> Figure:
    """Draw what is shown of each phase by the values of the axes.

    Raises
    ------
    InputError
        If there are not one or two axes with several values, or if nothing was run.
    """
    check_plot(done.axes, sampled=done.sampled)
    phases = done.shown[:_PHASES]
    if not phases:
        raise InputError("--plot: no run succeeded; there is nothing to draw")
    several = done.several
    if len(several) == 1:
        return _one_panel(title, done, several[0], phases)
    if all(_ordered(axis) for axis in several):
        return _heat_maps(title, done, several, phases)
    return _families(title, done, several, phases)


def _ordered(axis: Axis) -> bool:
    return axis.numbers is not None and axis.numbers.ascending


def _heading(title: str, done: Sweep, width: float, names: str) -> Heading:
    caption = ""
    if any(shown.unit == "GB/s" for shown in done.shown):
        caption = "GB = 10^9 bytes."
    if len(done.seeds) > 1:
        caption += f" Medians of {len(done.seeds)} seeds; bands and error bars: least to most."
    setup = textwrap.shorten(f"{title}; {done.words}", round(13.0 * width))
    return Heading(f"Sweep over {names}", setup, caption.strip())


def _one_panel(title: str, done: Sweep, axis: Axis, phases: Sequence[PhaseFigure]) -> Figure:
    """Draw one axis: a line or a row of bars for each phase."""
    heading = _heading(title, done, NARROW, axis.path)
    figure, (axes,) = sheet(heading, rows=1, height=3.0)
    lines = [_Line(shown.phase, [shown.of(point) for point in done.points]) for shown in phases]
    colours = [PALETTE[place % len(PALETTE)] for place in range(len(lines))]
    _draw(axes, axis, lines, colours)
    name_axes(axes, axis.path, phases[0].unit)
    _name_lines(figure, axes, len(lines))
    return figure


def _families(
    title: str, done: Sweep, several: Sequence[Axis], phases: Sequence[PhaseFigure]
) -> Figure:
    """Draw two axes, a panel for each phase: along one, with a colour for each of the other."""
    along, other = several if _ordered(several[0]) else (several[1], several[0])
    if not _ordered(along) and len(other.values) > len(along.values):
        along, other = other, along
    width = WIDE if len(phases) > 1 else NARROW
    heading = _heading(title, done, width, f"{along.path} and {other.path}")
    columns = _columns(other, width)
    rows = 1 - (-len(other.values) // columns)
    figure, panels = sheet(heading, width=width, height=3.0, panels=len(phases), rows=rows)
    few = len(other.values) <= len(PALETTE)
    colours = PALETTE if few else shades(len(other.values))
    for shown, axes in zip(phases, panels, strict=True):
        lines = [
            _Line(
                f"{other.path}={label}",
                [shown.of(point) for point in done.points if _at(point, other, label)],
            )
            for label in other.labels
        ]
        _draw(axes, along, lines, colours)
        name_panel(axes, shown.phase)
        name_axes(axes, along.path, shown.unit)
    _name_lines(figure, panels[0], columns)
    return figure


def _columns(axis: Axis, width: float) -> int:
    """Return how many names of lines fit side by side."""
    longest = len(axis.path) + 1 + max(map(len, axis.labels))
    return max(1, min(len(axis.values), int((width - 0.2) / (0.075 * longest + 0.5))))


def _at(point: Point, axis: Axis, label: str) -> bool:
    return str(point.values[axis.path]) == label


def _draw(axes: Axes, axis: Axis, lines: Sequence[_Line], colours: Sequence[object]) -> None:
    """Draw lines over an axis of numbers, bars over one of words."""
    if _ordered(axis):
        _draw_lines(axes, axis, lines, colours)
    else:
        _draw_bars(axes, axis, lines, colours)
    highest = max((max(values) for line in lines for values in line.values if values), default=1.0)
    axes.set_ylim(0.0, 1.08 * highest)
    axes.yaxis.set_major_formatter("{x:,g}")


def _draw_lines(axes: Axes, axis: Axis, lines: Sequence[_Line], colours: Sequence[object]) -> None:
    """Draw medians as lines and all seeds as bands; ticks stand at the values that were run."""
    assert axis.numbers is not None  # of an ordered axis
    places = np.array(axis.numbers.values, float)
    for line, colour in zip(lines, colours, strict=False):
        low, middle, high = (_reduced(line.values, reduce) for reduce in (min, median, max))
        axes.fill_between(places, low, high, color=colour, alpha=0.22, linewidth=0.0)
        axes.plot(places, middle, label=line.name, color=colour, linewidth=1.6, marker="o")
    if places[0] > 0 and places[-1] / places[0] > _FAR:
        doublings(axes, places.tolist(), _with_room(places, axis.labels, logarithmic=True))
    else:
        axes.set_xticks(places, _with_room(places, axis.labels, logarithmic=False))


def _with_room(places: Floats, labels: Sequence[str], *, logarithmic: bool) -> list[str]:
    """Return labels of ticks; empty where they would touch the one before, or the last one."""
    along = np.log2(places) if logarithmic else places
    along = (along - along[0]) / (along[-1] - along[0])
    width = 0.025 * (max(map(len, labels)) + 1)
    shown, right = [], -1.0
    for place, label in zip(along.tolist(), labels, strict=True):
        fits = place >= right and (place == 1.0 or place + width <= 1.0)
        shown.append(label if fits else "")
        right = place + width if fits else right
    return shown


def _draw_bars(axes: Axes, axis: Axis, lines: Sequence[_Line], colours: Sequence[object]) -> None:
    """Draw a group of bars for each value, with all seeds as bars of error."""
    wide = 0.8 / len(lines)
    for number, (line, colour) in enumerate(zip(lines, colours, strict=False)):
        places = np.arange(len(axis.values)) + (number - (len(lines) - 1) / 2) * wide
        low, middle, high = (_reduced(line.values, reduce) for reduce in (min, median, max))
        seeds = (
            None
            if all(len(values) < 2 for values in line.values)
            else (middle - low, high - middle)
        )
        axes.bar(places, middle, 0.94 * wide, color=colour, label=line.name, yerr=seeds, ecolor=INK)
    axes.set_xticks(range(len(axis.values)), [textwrap.fill(label, 16) for label in axis.labels])
    axes.tick_params(axis="x", length=0)


def _reduced(values: Sequence[list[float]], reduce: object) -> Floats:
    """Return one number for each point; NaN where there is none."""
    assert callable(reduce)
    return np.array([reduce(numbers) if numbers else np.nan for numbers in values], float)


def _heat_maps(
    title: str, done: Sweep, several: Sequence[Axis], phases: Sequence[PhaseFigure]
) -> Figure:
    """Draw two axes of numbers: a map for each phase, with the number in each cell."""
    rows, columns = several
    width = WIDE if len(phases) > 1 else NARROW
    heading = _heading(title, done, width, f"{rows.path} and {columns.path}")
    high = min(max(0.36 * len(rows.values), 1.6), 6.0)
    figure, panels = sheet(heading, width=width, height=high, panels=len(phases), rows=1, left=0.9)
    for shown, axes in zip(phases, panels, strict=True):
        cells = _reduced([shown.of(point) for point in done.points], median)
        _paint(axes, cells.reshape(len(rows.values), len(columns.values)))
        axes.set_xticks(range(len(columns.values)), _thinned(columns.labels, 16 // len(phases)))
        axes.set_yticks(range(len(rows.values)), _thinned(rows.labels, int(high / 0.17)))
        axes.tick_params(length=0)
        name_panel(axes, shown.head)
        name_axes(axes, columns.path, rows.path)
    return figure


def _paint(axes: Axes, cells: Floats) -> None:
    """Paint cells, the first row below, and write their numbers where these have room."""
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    most = float(np.nanmax(cells)) if np.isfinite(cells).any() else 1.0
    axes.pcolormesh(
        np.arange(cells.shape[1] + 1) - 0.5,
        np.arange(cells.shape[0] + 1) - 0.5,
        np.ma.masked_invalid(cells),
        cmap=_COLOURS,
        vmin=0.0,
        vmax=most,
        edgecolors="white",
        linewidth=0.8,
    )
    if cells.shape[1] > _CELLS:
        return
    for (row, column), value in np.ndenumerate(cells):
        if np.isfinite(value):
            colour = "white" if value > _DARK * most else INK
            axes.text(column, row, f"{value:,.3g}", size=8, color=colour, ha="center", va="center")


def _thinned(labels: Sequence[str], room: int) -> list[str]:
    """Return labels of rows or columns; every second, third... of them if all have no room."""
    step = -(-len(labels) // max(room, 1))
    return [label if place % step == 0 else "" for place, label in enumerate(labels)]


def _name_lines(figure: Figure, axes: Axes, columns: int) -> None:
    """Say which colour is which, in rows above the names of the panels."""
    high, wide = figure.get_figheight(), figure.get_figwidth()
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="upper right",
        bbox_to_anchor=(1 - 0.1 / wide, 1 - 0.58 / high),
        ncols=columns,
        frameon=False,
        fontsize=9,
        labelcolor=INK,
        borderaxespad=0.0,
    )
