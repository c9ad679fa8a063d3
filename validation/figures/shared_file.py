"""One file written and read by all ranks, independently: bandwidth by stripe count and size.

The chart that ALCF showed: groups of bars, a group for each stripe count, in it a pair of bars
(write, read) for each stripe size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from xc40io.telling.sheet import INK, READ, WIDE, WRITE, Heading, legend, sheet
from xc40io.validation.figures.chart import Chart, Records, Runs, on_theta, published, rates

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COUNTS = (1, 8, 16, 32, 48, 56)
SIZES = (1, 2, 4, 8, 16, 32)
"""Stripe counts, and stripe sizes in MiB."""

Striping = tuple[int, int]
"""Stripe count, and stripe size in MiB."""

PUBLISHED_TOP = 140.0
"""GB/s: where the axis of the published chart of independent I/O without caching ends."""

UNCACHED = "-a MPIIO -w -r -C -e"
"""Synced by an fsync, and read by nodes that have not written: what the client's cache does is not
seen."""

_BAR = 0.4  # of the place that a stripe size has; two of them stand side by side
_SPACE = 1.2  # places between two groups


@dataclass(frozen=True)
class Mark:
    """A published value for one striping, GB/s; whether of the write is for the caption to say."""

    striping: Striping
    value: float


def stripings(command: str) -> Runs:
    """Describe the 36 runs of one command, by their striping."""
    return {
        (count, size): on_theta(command, count=count, size=f"{size}m")
        for count in COUNTS
        for size in SIZES
    }


def draw_records(
    top: float | None, marks: Mapping[str, Striping], heading: Heading, records: Records
) -> Figure:
    """Draw the bars of what is kept of the runs; ``marks`` are stripings by published rows."""
    both = {"write": rates(records, "write"), "read": rates(records, "read")}
    bars = {key: (both["write"][key], both["read"][key]) for key in records}
    shown = [Mark(striping, published(target)) for target, striping in marks.items()]
    return draw_bars(heading, bars, top=top, marks=shown)


def draw_bars(
    heading: Heading,
    bars: Mapping[Striping, tuple[float, float]],
    *,
    top: float | None = None,
    marks: Sequence[Mark] = (),
) -> Figure:
    """Draw bandwidth by stripe count and stripe size in groups of bars.

    Parameters
    ----------
    heading
        What stands around the axes.
    bars
        Write and read, in GB/s, by striping.
    top
        GB/s where the axis ends; a bar that is higher is cut off there, and its value written on
        it. Above all bars unless given.
    marks
        Published values.
    """
    figure, (axes,) = sheet(heading, width=WIDE, height=3.1, labels=0.72, rows=1)
    top = top or _above(max(map(max, bars.values())))
    places = _places(list(bars))
    for way, (name, colour) in enumerate((("write", WRITE), ("read", READ))):
        x = [place + (way - 0.5) * _BAR for place in places.values()]
        heights = [bars[striping][way] for striping in places]
        axes.bar(x, [min(height, top) for height in heights], _BAR, color=colour, label=name)
        for at, height in zip(x, heights, strict=True):
            if height > top:
                _write_on(axes, at, top, f"{height:.0f}")
    _mark(axes, places, marks)
    _label(axes, places)
    axes.set_ylim(0, top)
    axes.set_ylabel("bandwidth (GB/s)", size=9.5, color=INK)
    legend(axes, 3)
    return figure


def _above(highest: float) -> float:
    """Return a round number above the highest bar."""
    step = float(10 ** math.floor(math.log10(highest)) / 2)
    return step * math.ceil(1.02 * highest / step)


def _places(stripings: Sequence[Striping]) -> dict[Striping, float]:
    """Return where the pair of bars of each striping stands, by stripe count, then by size."""
    counts = sorted({count for count, _ in stripings})
    sizes = sorted({size for _, size in stripings})
    width = len(sizes) + _SPACE
    return {
        (count, size): group * width + place
        for group, count in enumerate(counts)
        for place, size in enumerate(sizes)
        if (count, size) in set(stripings)
    }


def _write_on(axes: Axes, x: float, top: float, text: str) -> None:
    """Write the value of a bar that is cut off on its upper end."""
    axes.annotate(
        text,
        (x, top),
        xytext=(0, -2),
        textcoords="offset points",
        rotation=90,
        ha="center",
        va="top",
        size=7,
        color="black",
    )


def _mark(axes: Axes, places: Mapping[Striping, float], marks: Sequence[Mark]) -> None:
    """Draw the published values, each across its pair of bars."""
    if marks:
        x, y = [places[mark.striping] for mark in marks], [mark.value for mark in marks]
        axes.plot(x, y, "D", color=INK, markeredgecolor="white", markersize=6.5, label="published")


def _label(axes: Axes, places: Mapping[Striping, float]) -> None:
    """Write the stripe sizes below their bars, and the stripe counts below the groups."""
    axes.set_xticks(list(places.values()), [f"{size}" for _, size in places])
    axes.tick_params(axis="x", length=0, labelsize=8, pad=2)
    for count in sorted({count for count, _ in places}):
        group = [place for (own, _), place in places.items() if own == count]
        axes.annotate(
            f"{count} OST" + "s" * (count > 1),
            ((group[0] + group[-1]) / 2, 0),
            xycoords=("data", "axes fraction"),
            xytext=(0, -17),
            textcoords="offset points",
            ha="center",
            va="top",
            size=9.5,
            color=INK,
        )
    axes.set_xlim(-1.0, max(places.values()) + 1.0)
    axes.set_xlabel("stripe count, and stripe size (MiB)", size=9.5, color=INK, labelpad=22)


CHARTS = (
    Chart(
        name="theta-shared-file-8mb",
        heading=Heading(
            title="Shared file, 8 MiB a rank: bandwidth by striping",
            setup="IOR on 256 nodes of Theta x 16 ranks, independent, past the client's cache",
            caption="Published: “More OSTs is better”, “8 MB stripe size is sufficient” (Theta I/O "
            "slides; bars without numbers on an axis from 0 to 140 GB/s, where higher ones are cut "
            "off here, with their value). Mark: about 60 GB/s with 48 OSTs and stripes of 8 MB "
            "(ExaHDF5 slides, where neither nodes nor write or read are named).",
        ),
        runs=partial(stripings, f"{UNCACHED} -b 8m -t 8m"),
        draw=partial(draw_records, PUBLISHED_TOP, {"B02": (48, 8)}),
        targets=("B02", "B03", "B04", "B05"),
    ),
    Chart(
        name="theta-shared-file-1mb",
        heading=Heading(
            title="Shared file, 1 MiB a rank: bandwidth by striping",
            setup="IOR on 256 nodes of Theta x 16 ranks, independent, past the client's cache",
            caption="Published: with 48 OSTs and stripes of 8 MB “~15 GB/s at 1MB/Proc vs ~60 GB/s "
            "at 8MB/proc” (ExaHDF5 slides; mark; neither nodes nor write or read are named).",
        ),
        runs=partial(stripings, f"{UNCACHED} -b 1m -t 1m"),
        draw=partial(draw_records, None, {"B01": (48, 8)}),
        targets=("B01",),
    ),
)
"""Independent I/O past the client's cache."""
