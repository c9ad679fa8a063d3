"""Pictures of how busy many stations of one kind were over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xc40io.engine.types import Floats
from xc40io.plane.stations import StationKind
from xc40io.results.pictures.clock import Clock, timed_sheet
from xc40io.results.pictures.scene import Scene
from xc40io.telling.sheet import INK, Heading, name_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

ONE_ALONE = "one alone was used"
"""Why a picture with a row for each would say nothing."""

_COLOURS = "YlGnBu"
_TICKS = 14
_BUSY = 0.01  # share of the time: what is less is white


@dataclass(frozen=True)
class Machinery:
    """What a picture is of."""

    name: str  # what each row is: ``OST``
    kinds: tuple[StationKind, ...]  # of its stations: a row is as busy as the busiest of them
    what: str  # what was busy, for the caption; {} stands for the network


OSTS = Machinery("OST", (StationKind.OST,), "its disk array")
LNET_ROUTERS = Machinery(
    "LNET router",
    (StationKind.LNET, StationKind.IB),
    "the busiest of its links, to {} and to InfiniBand, one direction each,",
)
SERVICE_NODES = Machinery(
    "service node", (StationKind.STORE,), "what keeps the files of a burst buffer or of home there"
)


@dataclass(frozen=True, eq=False)
class Heat:
    """How busy stations were over time."""

    clock: Clock  # the columns
    numbers: tuple[int, ...]  # which of the machine's each row is, ascending
    busy: Floats  # float64 (rows, columns): share of each column, 0 to 1


def heat_of(scene: Scene, machinery: Machinery) -> Heat | None:
    """Return how busy the stations were that did any work; None if there was none."""
    rows: dict[tuple[str, int], Floats] = {}
    for use in scene.result.stations():
        part = use.part if use.kind in machinery.kinds else None
        if part is not None:
            line = use.timeline
            clock = Clock.of(scene.end, line.width)  # the same of all: their bins are as wide
            row = part.what, part.number
            rows[row] = np.maximum(rows.get(row, 0.0), clock.sums(line.busy) / clock.width)
    if not rows:
        return None
    order = sorted(rows)
    return Heat(clock, tuple(number for _, number in order), np.stack([rows[row] for row in order]))


def silent_heat(heat: Heat) -> str:
    """Say why a picture of it would say nothing: it shows how rows differ, and when they work."""
    if len(heat.numbers) < 2:
        return ONE_ALONE
    return hardly_busy(float(heat.busy.mean(axis=1).max()))


def hardly_busy(most: float) -> str:
    """Say why what was busy for such a share of the time at most is not drawn: all is white."""
    return "" if most >= _BUSY else f"none was busy for {100 * _BUSY:.0f} % of the time"


def draw_heat(scene: Scene, machinery: Machinery, heat: Heat) -> Figure:
    """Draw a row for each, a column for each span of time, the darker the busier."""
    clock, rows = heat.clock, len(heat.numbers)
    what = machinery.what.format(scene.result.machine.network.interconnect)
    heading = Heading(
        f"How busy each {machinery.name} was over time",
        scene.setup,
        f"Share of each {clock.column_words} in which {what} was busy; white is idle. "
        f"{machinery.name}s that had nothing to do have no row.",
    )
    high = min(max(0.05 * rows, 1.2), 6.0)
    figure, axes = timed_sheet(scene, heading, height=high)
    image = paint(axes, clock, 100 * heat.busy, 100.0)
    name_numbers(axes, machinery.name, heat.numbers, int(high / 0.17))
    clock.name_axis(axes)
    add_scale(figure, axes, image, "busy (%)")
    clock.draw_lanes(figure, axes, scene.lanes)
    return figure


def paint(axes: Axes, clock: Clock, values: Floats, most: float) -> QuadMesh:
    """Paint a row for each row of values and a column for each span of time; 0 is not painted.

    ``values``: float64 (rows, columns). ``most``: what has the darkest colour.
    """
    axes.grid(visible=False)
    return axes.pcolormesh(
        clock.edges,
        np.arange(len(values) + 1) - 0.5,
        np.ma.masked_equal(values, 0.0),  # what is masked is not painted
        cmap=_COLOURS,
        vmin=0.0,
        vmax=most,
    )


def name_numbers(axes: Axes, name: str, numbers: Sequence[int], room: int) -> None:
    """Write the numbers of some rows, as many as have room, and which; the first row is above."""
    step = -(-len(numbers) // min(room, _TICKS))
    name_axes(axes, "", name if step == 1 else f"{name}: 1 in {step} is named")
    places = range(0, len(numbers), step)
    axes.set_yticks(places, [str(numbers[place]) for place in places])
    axes.set_ylim(len(numbers) - 0.5, -0.5)


def add_scale(figure: Figure, axes: Axes, image: QuadMesh, label: str) -> None:
    """Make room at the right of the axes for the scale of the colours."""
    box, wide = axes.get_position(), figure.get_figwidth()
    axes.set_position((box.x0, box.y0, box.width - 0.75 / wide, box.height))
    draw_scale(figure, image, (box.x1 - 0.6 / wide, box.y0, 0.12 / wide, box.height), label)


def draw_scale(
    figure: Figure, image: QuadMesh, place: tuple[float, float, float, float], label: str
) -> None:
    """Draw the scale of the colours; ``place``: left, bottom, width and height in the figure."""
    bar = figure.colorbar(image, cax=figure.add_axes(place))
    bar.set_label(label, size=9.5, color=INK)
    bar.ax.tick_params(labelsize=9, colors=INK)
    bar.outline.set_visible(False)
