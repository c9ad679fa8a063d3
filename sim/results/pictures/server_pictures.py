"""Pictures of the servers over time, as a centre's dashboards have them.

What MDTs were asked for, what each OST wrote and read, the load of the OSSs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xc40io.config.units import GB
from xc40io.engine.types import Floats, Integers
from xc40io.findings.servers import counted_in, of_osts, ost_series, to_mds
from xc40io.plane.operations import Op
from xc40io.results.pictures.clock import Clock, end_curves, timed_sheet
from xc40io.results.pictures.heat import ONE_ALONE, draw_scale, name_numbers, paint
from xc40io.results.pictures.scene import Scene
from xc40io.telling.sheet import (
    INK,
    WIDE,
    WRITE,
    Heading,
    name_panel,
    sheet,
    whole_ticks,
)
from xc40io.topology.text import format_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLES = {
    Op.CREATE: ("create", "#0072b2"),
    Op.OPEN: ("open", "#56b4e9"),
    Op.CLOSE: ("close", "#009e73"),
    Op.STAT: ("stat", "#e69f00"),
    Op.UNLINK: ("unlink", "#d55e00"),
    Op.MKDIR: ("mkdir", "#cc79a7"),
    Op.RENAME: ("rename", "#7a5195"),
    Op.READDIR: ("readdir", "#6b4c2a"),
    Op.FSYNC: ("sync", "#f0e442"),
    Op.TRUNCATE: ("truncate", "#22262b"),
    Op.FLOCK: ("lock bytes", "#8a929c"),
    Op.FUNLOCK: ("unlock bytes", "#c3c8ce"),
}
"""What each is called, and its colour."""

_FEWEST = 100  # operations of which a rate over time means something


@dataclass(frozen=True, eq=False)
class MdtOperations:
    """Operations/s over time."""

    clock: Clock  # the columns
    rates: dict[Op, Floats]
    """float64 (columns,) by operation, in operations/s; of all MDTs together."""


def mdt_operations_of(scene: Scene) -> MdtOperations | None:
    """Return the operations that MDTs served over time; None if none was recorded."""
    recording = scene.result.recording
    if recording is None:
        return None
    requests = to_mds(recording.requests)
    requests = requests[np.isfinite(requests["begun"])]
    if not len(requests) or scene.end <= 0.0:
        return None
    clock = Clock.of(scene.end, scene.result.station_table.bin_width)
    column = counted_in(requests["begun"], clock.width, clock.columns)
    counts = {
        operation: np.bincount(column[requests["op"] == operation], minlength=clock.columns)
        for operation in _STYLES
    }
    return MdtOperations(
        clock, {op: count / clock.width for op, count in counts.items() if count.any()}
    )


def silent_mdt_operations(found: MdtOperations) -> str:
    """Say why a picture of it would say nothing: so few operations are no rate."""
    count = round(sum(float(rates.sum()) for rates in found.rates.values()) * found.clock.width)
    return "" if count >= _FEWEST else f"{format_count(count, 'operation')} in all"


def draw_mdt_operations(scene: Scene, found: MdtOperations) -> Figure:
    """Draw operations/s by type, one above the other; above stands what the ranks did when."""
    clock = found.clock
    mdts = scene.result.machine.lustre.mds.mdts
    together = "" if mdts == 1 else f", of all {mdts} MDTs together"
    heading = Heading(
        "MDT operations by type over time",
        scene.setup,
        f"Each step is {clock.column_words}. An operation is counted when a thread of the MDS "
        f"starts on it; the types are stacked{together}.",
    )
    figure, axes = timed_sheet(scene, heading, legend_rows=1, left=1.0)
    below = np.zeros(clock.columns)
    for operation, rates in found.rates.items():
        name, colour = _STYLES[operation]
        axes.stairs(below + rates, clock.edges, baseline=below, fill=True, color=colour, label=name)
        below = below + rates
    end_curves(figure, scene, clock, float(below.max()), "operations/s", "{x:,.0f}")
    return figure


_SCALE = 0.75  # inches at the right for the scale of the colours


@dataclass(frozen=True, eq=False)
class ServerRates:
    """Bytes/s of OSTs over time."""

    clock: Clock  # the columns
    numbers: tuple[int, ...]  # which OSTs these are, ascending: those that moved anything
    ways: dict[str, Floats]
    """float64 (OSTs, columns) each, in bytes/s, by what was done: ``written``, ``read``."""


def server_rates_of(scene: Scene) -> ServerRates | None:
    """Return the bytes/s of each OST over time; None if nothing was recorded, or nothing moved.

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


def silent_server_rates(found: ServerRates) -> str:
    """Say why a picture of it would say nothing: it shows how OSTs differ."""
    return "" if len(found.numbers) > 1 else ONE_ALONE


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
        image = paint(axes, clock, rates / GB, top)
        name_numbers(axes, "OST", found.numbers, int(high / 0.17))
        _part_servers(axes, found.numbers, each)
        name_panel(axes, way)
        clock.name_axis(axes)
    _make_room(figure)
    box, wide = figure.axes[-1].get_position(), figure.get_figwidth()
    draw_scale(figure, image, (box.x1 + 0.15 / wide, box.y0, 0.12 / wide, box.height), "GB/s")
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


_DIGITS = 9  # what is left of sums that should cancel is no load


@dataclass(frozen=True, eq=False)
class OssLoad:
    """How many bulk RPCs an OSS worked at, on average over each column."""

    clock: Clock  # the columns
    loads: Floats  # float64 (OSSs, columns): of those that had any


def oss_load_of(scene: Scene) -> OssLoad | None:
    """Return the load of each OSS; None if nothing was recorded, or no RPC came."""
    recording = scene.result.recording
    if recording is None or scene.end <= 0.0:
        return None
    lustre = scene.result.machine.lustre
    rpcs = of_osts(recording, lustre.osts)
    rpcs = rpcs[np.isfinite(rpcs["arrived"])]
    if not len(rpcs):
        return None
    clock = Clock.of(scene.end, scene.result.station_table.bin_width)
    edges = np.arange(clock.columns + 1, dtype=np.float64) * clock.width
    # A thread waits until the blocks of a write are on the disks, and until a read is sent.
    done = np.where(rpcs["write"] == 1, rpcs["served"] + lustre.ost_write_latency, rpcs["ended"])
    server = rpcs["ost"] // lustre.osts_per_oss
    loads = [
        mean_load(rpcs["arrived"][server == oss], done[server == oss], edges)
        for oss in np.unique(server).tolist()
    ]
    return OssLoad(clock, np.stack(loads))


def mean_load(since: Floats, until: Floats, edges: Floats) -> Floats:
    """Return how many intervals there are at a time, on average between two edges each.

    ``since`` and ``until``: float64 (n,): seconds; an interval without an end has its end at
    infinity. ``edges``: float64 (columns + 1,): ascending.
    """
    past = _seconds_since(since, edges) - _seconds_since(until[np.isfinite(until)], edges)
    mean: Floats = np.diff(past) / np.diff(edges)
    return np.round(mean, _DIGITS)


def _seconds_since(times: Floats, edges: Floats) -> Floats:
    """Return the sum of the seconds that have passed at each edge since the times before it."""
    ordered = np.sort(times)
    before: Integers = np.searchsorted(ordered, edges)
    sums = np.append(0.0, np.cumsum(ordered))
    seconds: Floats = before * edges - sums[before]
    return seconds


def silent_oss_load(found: OssLoad) -> str:
    """Say why a picture of it would say nothing: it shows how OSSs differ."""
    return "" if len(found.loads) > 1 else ONE_ALONE


def draw_oss_load(scene: Scene, found: OssLoad) -> Figure:
    """Draw the mean of all OSSs, in the band between the least and the most loaded one."""
    clock, loads = found.clock, found.loads
    heading = Heading(
        "Load of the OSSs over time",
        scene.setup,
        f"Each step is {clock.column_words}. The load is how many bulk RPCs an OSS works on: each "
        "keeps an I/O thread busy, a write from when its bytes have arrived until they are on the "
        f"disks, a read until it is sent. {format_count(len(loads), 'OSS')} had a load.",
    )
    figure, axes = timed_sheet(scene, heading, legend_rows=1)
    axes.stairs(
        loads.max(axis=0),
        clock.edges,
        baseline=loads.min(axis=0),
        fill=True,
        color=WRITE,
        alpha=0.3,
        label="from the least to the most loaded OSS",
    )
    axes.stairs(
        loads.mean(axis=0),
        clock.edges,
        color=INK,
        linewidth=1.2,
        label="their mean",
    )
    end_curves(figure, scene, clock, float(loads.max()), "bulk RPCs of an OSS")
    whole_ticks(axes)
    return figure
