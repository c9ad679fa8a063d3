"""The landscape of a tuning: the best times by the two knobs that decide most, and the search."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xc40io.engine.types import Floats
from xc40io.studies.advice.knobs import Knob
from xc40io.studies.tune.trial import Trial
from xc40io.studies.tune.tuning import Tuning
from xc40io.telling.sheet import (
    INK,
    OTHER,
    READ,
    WIDE,
    WRITE,
    Heading,
    name_axes,
    name_panel,
    sheet,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = "YlGnBu_r"
_FAR = 4.0  # times: seconds further apart than this stand on a logarithmic axis
_DARK = 0.4  # of the scale of colours: cells that are darker have white numbers


def tuning_figure(title: str, found: Tuning) -> Figure:
    """Draw the landscape beside the way that the search took."""
    rows, columns = _drawn_knobs(found)
    heading = Heading(
        "Seconds of I/O by setting",
        textwrap.shorten(title, round(13.0 * WIDE)),
        "Left: the shortest time of all tries with these two values, in seconds; white was not "
        "tried; > was given up then. Frame: the best; dotted: as it is now. Right: every try in "
        "the order of the search, with its first seed, and the best so far; triangles were given "
        "up.",
    )
    high = min(max(0.36 * (len(rows.values) if rows else 4), 2.6), 6.0)
    figure, (map_axes, way_axes) = sheet(
        heading, width=WIDE, height=high, panels=2, rows=1, left=0.95
    )
    _draw_map(map_axes, found, rows, columns)
    _draw_way(way_axes, found)
    return figure


def _drawn_knobs(found: Tuning) -> tuple[Knob | None, Knob]:
    """Return the knobs down and across: those that decide most, of equal ones the first."""
    knobs = sorted(found.space.knobs, key=lambda knob: -found.importance.get(knob.name, 0.0))
    if len(knobs) == 1:
        return None, knobs[0]
    return knobs[0], knobs[1]


def _draw_map(axes: Axes, found: Tuning, rows: Knob | None, columns: Knob) -> None:
    """Paint a cell for each pair of values, with the shortest time of all tries in it."""
    down = _labels(found, rows)
    across = _labels(found, columns)
    cells, longer = np.full((2, len(down), len(across)), np.nan)
    for trial in found.trials:
        if trial.seconds:
            place = _cell(trial, rows, columns, down, across)
            kind = longer if trial.given_up else cells
            kind[place] = np.fmin(kind[place], trial.mean)
    _paint(axes, np.fmin(cells, longer), longer)
    best = _cell(found.best, rows, columns, down, across)
    now = _cell(found.present, rows, columns, down, across)
    _frame(axes, now, "dotted")
    _frame(axes, best, "solid")
    axes.set_xticks(range(len(across)), across)
    axes.set_yticks(range(len(down)), down)
    axes.tick_params(length=0)
    name_panel(axes, "landscape (s)")
    name_axes(axes, columns.name, "" if rows is None else rows.name)


def _frame(axes: Axes, cell: tuple[int, int], style: str) -> None:
    """Draw a frame around a cell."""
    from matplotlib.patches import Rectangle

    row, column = cell
    corner = column - 0.47, row - 0.44
    axes.add_patch(
        Rectangle(corner, 0.94, 0.88, fill=False, edgecolor=READ, linewidth=2.4, linestyle=style)
    )


def _labels(found: Tuning, knob: Knob | None) -> list[str]:
    """Return the values of a knob that were tried, as labels, in their order."""
    if knob is None:
        return [""]
    choices = [knob.label(value) for value in knob.values]
    tried = {_label(trial, knob) for trial in found.trials}
    others = sorted(tried - set(choices))
    return [*others, *(label for label in choices if label in tried)]


def _label(trial: Trial, knob: Knob | None) -> str:
    if knob is None:
        return ""
    return "-" if knob.idles(trial.setting) else knob.written(trial.setting)


def _cell(
    trial: Trial, rows: Knob | None, columns: Knob, down: Sequence[str], across: Sequence[str]
) -> tuple[int, int]:
    return down.index(_label(trial, rows)), across.index(_label(trial, columns))


def _paint(axes: Axes, cells: Floats, longer: Floats) -> None:
    """Paint cells on a logarithmic scale, the first row below, and write their numbers.

    ``longer``: the seconds of those that take more than these.
    """
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    logs = np.log(cells)
    least, most = float(np.nanmin(logs)), float(np.nanmax(logs))
    most = max(most, least + 1e-9)
    axes.pcolormesh(
        np.arange(cells.shape[1] + 1) - 0.5,
        np.arange(cells.shape[0] + 1) - 0.5,
        np.ma.masked_invalid(logs),
        cmap=_COLOURS,
        vmin=least,
        vmax=most + 0.15 * (most - least),
        edgecolors="white",
        linewidth=0.8,
    )
    for (row, column), value in np.ndenumerate(cells):
        if np.isfinite(value):
            dark = (np.log(value) - least) / (most - least) < _DARK
            axes.text(
                column,
                row,
                f"{'> ' if value == longer[row, column] else ''}{value:,.3g}",
                size=7,
                color="white" if dark else INK,
                ha="center",
                va="center",
            )


def _draw_way(axes: Axes, found: Tuning) -> None:
    """Draw every try in the order of the search, and the best so far as a line."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    ran = [(number, trial) for number, trial in enumerate(found.trials, start=1) if trial.seconds]
    numbers = [number for number, _ in ran]
    seconds = [trial.seconds[0] for _, trial in ran]
    axes.plot(numbers, np.minimum.accumulate(seconds), color=WRITE, drawstyle="steps-post")
    for marker, given_up in (("o", False), ("^", True)):
        alike = {at: one.seconds[0] for at, one in ran if one.given_up is given_up}
        axes.scatter([*alike], [*alike.values()], s=14, color=OTHER, zorder=3, marker=marker)
    if max(seconds) > _FAR * min(seconds):
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    name_panel(axes, "the search (s)")
    name_axes(axes, "try", "")
