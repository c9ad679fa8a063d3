"""The axis of simulated time: its columns, its unit, and what the ranks did when above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from xc40io.config.units import format_seconds
from xc40io.engine.types import Floats, Integers
from xc40io.findings.bottlenecks import Windows, merged
from xc40io.results.pictures.scene import Lane, Scene
from xc40io.telling.sheet import (
    INK,
    READ,
    SMALL,
    WIDE,
    WRITE,
    Heading,
    legend,
    name_axes,
    room_for,
    scale_of,
    sheet,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 240
_ROW = 0.24  # inches of a lane
_SHADE = 0.05  # opacity of what lies behind the curves


@dataclass(frozen=True)
class Clock:
    """The time of a picture, from 0 to the end, in columns of equal width."""

    end: float  # in simulated seconds
    width: float  # seconds of a column
    each: int  # how many time bins of the run a column is made of

    @staticmethod
    def of(end: float, bin_width: float) -> Clock:
        """Return a clock whose columns are few enough to be seen."""
        each = max(ceil(end / bin_width / _COLUMNS), 1)
        return Clock(end, each * bin_width, each)

    @property
    def columns(self) -> int:
        """How many columns there are; the last one may go beyond the end."""
        return max(ceil(self.end / self.width), 1)

    @property
    def factor(self) -> float:
        """What a time in seconds is multiplied with for the axis."""
        return scale_of(self.end)[0]

    @property
    def unit(self) -> str:
        """Of the axis."""
        return scale_of(self.end)[1]

    @property
    def edges(self) -> Floats:
        """Where the columns begin and end on the axis."""
        return np.arange(self.columns + 1, dtype=np.float64) * (self.width * self.factor)

    @property
    def column_words(self) -> str:
        """How wide a column is, for a caption."""
        return format_seconds(self.width)

    def sums(self, bins: Floats) -> Floats:
        """Return the sum over the bins of each column: float64 (..., columns)."""
        wanted = self.columns * self.each
        kept = bins[..., :wanted]
        room = np.zeros((*bins.shape[:-1], wanted))
        room[..., : kept.shape[-1]] = kept
        found: Floats = room.reshape(*bins.shape[:-1], self.columns, self.each).sum(axis=-1)
        return found

    def seconds_in(self, since: Floats, until: Floats, row: Integers, rows: int) -> Floats:
        """Return how long spans of time lie in each column, summed: float64 (rows, columns).

        ``since`` and ``until``: float64 (spans,): the periods; infinity for what has no end.
        ``row``: int64 (spans,): the row that each counts for. ``rows``: how many there are.
        """
        begin, stop = (
            np.clip(time, 0.0, self.columns * self.width) / self.width for time in (since, until)
        )
        # What lies before a time, column by column, is a whole column or the part of one: what a
        # span has of a column is the difference between its two ends.
        change = np.zeros((rows, self.columns + 2))
        for time, sign in ((begin, 1.0), (stop, -1.0)):
            column = np.minimum(time.astype(np.int64), self.columns)
            np.add.at(change, (row, column), sign * (column + 1 - time))
            np.add.at(change, (row, column + 1), sign * (time - column))
        found: Floats = np.cumsum(change, axis=1)[:, : self.columns] * self.width
        return np.maximum(found, 0.0)  # rounding

    def name_axis(self, axes: Axes) -> None:
        """Scale and name the x axis."""
        axes.set_xlim(0.0, self.end * self.factor)
        axes.xaxis.set_major_formatter("{x:,g}")
        axes.set_xlabel(f"simulated time ({self.unit})", size=9.5, color=INK)

    def shade(self, axes: Axes, lanes: Sequence[Lane]) -> None:
        """Lay a shade behind the curves wherever ranks were at work."""
        windows = merged([window for lane in lanes for window in lane.windows])
        spans = self._spans(windows)
        transform = axes.get_xaxis_transform()
        axes.broken_barh(spans, (0, 1), transform=transform, color=INK, alpha=_SHADE, linewidth=0)

    def draw_lanes(
        self, figure: Figure, axes: Axes, lanes: Sequence[Lane], *, gap: float = 0.05
    ) -> Axes:
        """Show above the axes, in rows left free there, what the ranks did when.

        Returns the axes of these rows; ``gap``: inches between both.
        """
        box, tall = axes.get_position(), figure.get_figheight()
        high = _ROW * len(lanes) / tall
        strip = figure.add_axes((box.x0, box.y1 + gap / tall, box.width, high))
        for row, lane in enumerate(lanes):
            colour = _colour(lane.name)
            strip.broken_barh(
                self._spans(lane.windows), (row - 0.34, 0.68), color=colour, linewidth=0.4
            )
        strip.set_yticks(range(len(lanes)), [lane.name for lane in lanes])
        strip.set_ylim(len(lanes) - 0.5, -0.5)
        strip.set_xlim(axes.get_xlim())
        strip.set_xticks([])
        strip.tick_params(axis="y", length=0, labelsize=9, colors=INK)
        strip.spines[:].set_visible(False)
        strip.patch.set_alpha(0.0)
        return strip

    def _spans(self, windows: Windows) -> list[tuple[float, float]]:
        """Return where each window begins on the axis and how long it is."""
        return [(start * self.factor, (stop - start) * self.factor) for start, stop in windows]


def timed_sheet(
    scene: Scene, heading: Heading, *, legend_rows: int = 0, left: float = 0.72, **how: Any
) -> tuple[Figure, Axes]:
    """Return a wide figure with rows above its axes, for what the ranks did and for a legend.

    ``left``: inches at the left at least; ``how``: more of what a sheet takes.
    """
    names = [lane.name for lane in scene.lanes]
    rows, left = len(names) + legend_rows, max(room_for(names), left)
    figure, (axes,) = sheet(heading, width=WIDE, rows=rows, left=left, **how)
    return figure, axes


def end_curves(
    figure: Figure, scene: Scene, clock: Clock, most: float, unit: str, ticks: str = "{x:,g}"
) -> None:
    """Scale and name the axes of curves, and put what the ranks did and the legend above them.

    ``most``: the highest value; ``unit``: of the values; ``ticks``: how these are written.
    """
    (axes,) = figure.axes
    clock.shade(axes, scene.lanes)
    axes.set_ylim(0.0, 1.05 * most or 1.0)
    axes.yaxis.set_major_formatter(ticks)
    name_axes(axes, "", unit)
    clock.name_axis(axes)
    strip = clock.draw_lanes(figure, axes, scene.lanes)
    handles, labels = axes.get_legend_handles_labels()
    legend(strip, columns=len(handles), handles=handles, labels=labels)


def _colour(name: str) -> str:
    """Return the colour of a lane: that of writes, of reads or of what is neither."""
    if "write" in name.lower():
        return WRITE
    return READ if "read" in name.lower() else SMALL
