"""A picture of the bandwidth of the file system over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xc40io.config.units import GB
from xc40io.engine.types import Floats
from xc40io.plane.stations import StationKind
from xc40io.results.pictures.clock import Clock, end_curves, timed_sheet
from xc40io.results.pictures.scene import Scene
from xc40io.telling.sheet import INK, READ, WRITE, Heading

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLES: dict[str, dict[str, Any]] = {
    "written, into the OSSs": {"color": WRITE, "fill": True, "alpha": 0.85},
    "read, out of the OSSs": {"color": READ, "fill": True, "alpha": 0.85},
    "both, at the disks of the OSTs": {"color": INK, "linewidth": 1.0},
    "both, at the disks of service nodes": {"color": INK, "linewidth": 1.0},
}


@dataclass(frozen=True, eq=False)
class Bandwidth:
    """Bytes/s over time."""

    clock: Clock  # the columns
    rates: dict[str, Floats]  # float64 (columns,) by what is meant, in bytes/s


def bandwidth_of(scene: Scene) -> Bandwidth | None:
    """Return the bandwidth of the servers and their disks; None if nothing reached them.

    The disks of an OST serve reads and writes from one queue, and are counted together; its OSS has
    a station for each way. Both count bytes when their service begins.
    """
    written, read, osts, disks = list(_STYLES)
    sums: dict[str, Floats] = {}
    width = 0.0
    for use in scene.result.stations():
        if use.kind is StationKind.OSS:
            what = written if use.part is not None and use.part.way == "in" else read
        elif use.kind is StationKind.OST:
            what = osts
        elif use.name.startswith("disks of"):  # what stands behind them moves the same bytes
            what = disks
        else:
            continue
        line = use.timeline
        width = line.width
        sums[what] = sums.get(what, 0.0) + line.bytes
    if not sums:
        return None
    clock = Clock.of(scene.end, width)
    ordered = {what: sums[what] for what in _STYLES if what in sums}
    return Bandwidth(clock, {w: clock.sums(b) / clock.width for w, b in ordered.items()})


def draw_bandwidth(scene: Scene, bandwidth: Bandwidth) -> Figure:
    """Draw bandwidth over time; above it stands what the ranks did when."""
    clock = bandwidth.clock
    heading = Heading(
        "Bandwidth of the file system over time",
        scene.setup,
        f"Each step is {clock.column_words}. Bytes are counted when a server starts on them; "
        "bytes that only move in or out of the nodes' page caches are not counted. "
        "GB\u00a0=\u00a010^9\u00a0bytes.",
    )
    figure, axes = timed_sheet(scene, heading, legend_rows=1)
    for what, rates in bandwidth.rates.items():
        axes.stairs(rates / GB, clock.edges, label=what, **_STYLES[what])
    top = max(float(np.max(rates)) for rates in bandwidth.rates.values())
    end_curves(figure, scene, clock, top / GB, "GB/s")
    return figure
