"""A picture of what each OST wrote and read over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sim.config.units import GB
from sim.engine.types import Floats
from sim.findings.servers import ost_series
from sim.results.pictures.clock import Clock
from sim.results.pictures.heat import name_numbers
from sim.results.pictures.scene import Scene
from sim.telling.sheet import INK, WIDE, Heading, name_axes, name_panel, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

_COLOURS = "YlGnBu"
_SCALE = 0.75  # inches at the right for the scale of the colours


@dataclass(frozen=True, eq=False)
class ServerRates:
    """Bytes/s of OSTs over time."""

    clock: Clock  # the columns
    numbers: tuple[int, ...]  # which OSTs these are, ascending: those that moved anything
    ways: dict[str, Floats]
    """float64 (OSTs, columns) each, in bytes/s, by what was done: ``written``, ``read``."""


def server_rates_of(scene: Scene) -> ServerRates | None:
    """Return what each OST wrote and read; None if nothing was recorded, or nothing moved.

    None also if the recording stopped early: then it is not known what was read and what written.
    """
    recording = scene.result.recording
    if recording is None or recording.stopped is not None:
        return None
    series = ost_series(scene.result, "pictures")
    clock = Clock.of(scene.end, series.width)
    ways = {"written": series.written, "read": series.read}
    rates = {way: clock.sums(moved) / clock.width for way, moved in ways.items() if moved.any()}
    if not rates:
        return None
    used = np.flatnonzero(np.any([moved.any(axis=1) for moved in rates.values()], axis=0))
    return ServerRates(clock, tuple(used.tolist()), {way: rates[way][used] for way in rates})


def draw_server_rates(scene: Scene, found: ServerRates) -> Figure:
    """Draw a row for each OST, a column for each span of time; writes at the left."""
    clock, ways, osts = found.clock, found.ways, len(found.numbers)
    each = scene.result.machine.lustre.osts_per_oss
    heading = Heading(
        "What each OST wrote and read over time",
        scene.setup,
        f"Each column is {clock.column_words}; white is nothing. Bytes are counted when the disk "
        f"array starts on them; OSTs without any have no row. {_servers(each)} "
        "GB\u00a0=\u00a010^9\u00a0bytes.",
    )
    high = min(max(0.05 * osts, 1.2), 6.0)
    figure, panels = sheet(heading, width=WIDE, height=high, panels=len(ways), rows=1)
    top = max(float(rates.max()) for rates in ways.values()) / GB
    for axes, (way, rates) in zip(panels, ways.items(), strict=True):
        shown = np.ma.masked_equal(rates / GB, 0.0)
        edges = np.arange(osts + 1) - 0.5
        image = axes.pcolormesh(clock.edges, edges, shown, cmap=_COLOURS, vmin=0, vmax=top)
        axes.grid(visible=False)
        name_numbers(axes, found.numbers, int(high / 0.17))
        _part_servers(axes, found.numbers, each)
        name_panel(axes, way)
        name_axes(axes, "", "OST")
        clock.name_axis(axes)
    _make_room(figure)
    _scale(figure, image)
    return figure


def _servers(each: int) -> str:
    """Say how OSTs belong to OSSs."""
    if each == 1:
        return "Each OST has an OSS of its own."
    return f"Each OSS has {each} OSTs; lines separate the OSTs of different OSSs."


def _part_servers(axes: Axes, numbers: tuple[int, ...], each: int) -> None:
    """Draw a line between the OSTs of different OSSs that have several."""
    if each > 1:
        borders = np.flatnonzero(np.diff(np.array(numbers) // each)) + 0.5
        axes.hlines(borders, *axes.get_xlim(), color=INK, linewidth=0.4)


def _make_room(figure: Figure) -> None:
    """Make all axes narrower, so that there is room at the right."""
    wide = figure.get_figwidth()
    share = 1 - _SCALE / wide
    for axes in figure.axes:
        box = axes.get_position()
        axes.set_position((box.x0 * share, box.y0, box.width * share, box.height))


def _scale(figure: Figure, image: QuadMesh) -> None:
    """Draw the scale of the colours at the right."""
    box, wide = figure.axes[-1].get_position(), figure.get_figwidth()
    bar = figure.colorbar(
        image, cax=figure.add_axes((box.x1 + 0.15 / wide, box.y0, 0.12 / wide, box.height))
    )
    bar.set_label("GB/s", size=9.5, color=INK)
    bar.ax.tick_params(labelsize=9, colors=INK)
    bar.outline.set_visible(False)
