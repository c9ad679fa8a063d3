"""Collective writes with several aggregators for an OST: one lock for all, or a lock each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from xc40io.telling.sheet import (
    FAINT,
    INK,
    OTHER,
    WRITE,
    Heading,
    legend,
    name_axes,
    name_panel,
    sheet,
)
from xc40io.validation.figures.chart import Chart, Records, Runs, on_theta, published, rates
from xc40io.validation.figures.lines import Point, curve, measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MULTIPLIERS = (1, 2, 3, 4)

_MODES = {
    1: "cray_cb_write_lock_mode=1:romio_no_indep_rw=true:",
    0: "",
}
Speedups = Mapping[int, Mapping[int, float]]
"""How many times faster, by lock mode and multiplier."""

_TOP = 1.3  # of the highest point: the legend has its place above all curves
_NAMES = {1: "one shared lock (mode 1)", 0: "extent locks (mode 0)"}


def multiplied(command: str) -> Runs:
    """Describe the runs of one command, by lock mode and multiplier."""
    return {
        (mode, multiplier): on_theta(
            command, count=48, size="1m", hints=f"{hints}cray_cb_nodes_multiplier={multiplier}"
        )
        for mode, hints in _MODES.items()
        for multiplier in MULTIPLIERS
    }


def draw_records(heading: Heading, records: Records) -> Figure:
    """Draw the speed-ups of what is kept of the runs, over the write with one multiplier."""
    raw, whole = (_speedups(records, function) for function in ("raw_write", "write"))
    return draw_speedups(heading, raw, whole, Point(4, published("B08")))


def _speedups(records: Records, function: str) -> dict[int, dict[int, float]]:
    """Return how many times faster runs are than with multiplier 1, by mode and multiplier."""
    speedups: dict[int, dict[int, float]] = {}
    rate = rates(records, function)
    for mode, multiplier in records:
        speedups.setdefault(mode, {})[multiplier] = rate[mode, multiplier] / rate[mode, 1]
    return speedups


def draw_speedups(heading: Heading, raw: Speedups, whole: Speedups, mark: Point) -> Figure:
    """Draw how many times faster writes are with more aggregators.

    Parameters
    ----------
    heading
        What stands around the axes.
    raw, whole
        Speed-ups of the raw file write and of the whole MPI-IO write.
    mark
        Published speed-up of the whole by multiplier.
    """
    figure, panels = sheet(heading, panels=2, rows=1)
    titles = ("raw file write", "MPI-IO write, open to close")
    for axes, speedups, title in zip(panels, (raw, whole), titles, strict=True):
        for mode, colour, sign in ((1, WRITE, "o"), (0, OTHER, "s")):
            curve(axes, speedups[mode], _NAMES[mode], color=colour, marker=sign)
        axes.set_xticks(sorted(speedups[1]))
        axes.set_yticks(range(max(speedups[1]) + 1))
        axes.set_ylim(0, _TOP * max(*raw[1].values(), *raw[1]))
        name_panel(axes, title)
        name_axes(axes, "aggregators for an OST", "times as fast as with one")
    in_proportion(panels[0], sorted(raw[1]))
    measured(panels[1], [mark])
    for axes in panels:
        legend(axes, inside="upper left")
    return figure


def in_proportion(axes: Axes, multipliers: Sequence[int]) -> None:
    """Draw what was published in a word, that raw writes get faster as there are more writers."""
    looks: dict[str, Any] = {"color": INK, "alpha": FAINT, "linewidth": 6, "zorder": 1.5}
    axes.plot(multipliers, multipliers, label="published: “linearly better”", **looks)


CHARTS = (
    Chart(
        name="theta-aggregators",
        heading=Heading(
            title="Several aggregators for an OST, by lock mode",
            setup="IOR on 256 nodes of Theta x 16 ranks, collective write, 16 MiB each, "
            "48 OSTs x 1 MiB",
            caption="Published: with cray_cb_write_lock_mode=1 “raw file write linearly better - "
            "MPI-IO 1.5x faster at 4” (ExaHDF5 slides: 256 nodes, 16 ranks each, 48 OSTs, “1MB”; "
            "how much a rank wrote is not said). “If more than one rank concurrently accesses same "
            "file on OST, causes extent lock contention, cancels out performance improvement”.",
        ),
        runs=partial(multiplied, "-a MPIIO -c -w -b 16m -t 16m"),
        draw=draw_records,
        targets=("B08", "B09"),
    ),
)
"""Aggregators and lock modes."""
