"""A picture of what the metadata targets were asked for over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sim.engine.types import Floats
from sim.findings.servers import counted_in, to_mds
from sim.plane.operations import Op
from sim.results.pictures.clock import Clock
from sim.results.pictures.scene import Scene
from sim.telling.sheet import WIDE, Heading, legend, name_axes, room_for, sheet

if TYPE_CHECKING:
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


@dataclass(frozen=True, eq=False)
class MdtOperations:
    """Operations/s over time."""

    clock: Clock  # the columns
    rates: dict[Op, Floats]
    """float64 (columns,) by operation, in operations/s; of all MDTs together."""


def mdt_operations_of(scene: Scene) -> MdtOperations | None:
    """Return what the MDTs were asked for; None if nothing was recorded or nobody asked."""
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
    names = [lane.name for lane in scene.lanes]
    left = max(room_for(names), 1.0)
    figure, (axes,) = sheet(heading, width=WIDE, rows=len(names) + 1, left=left)
    below = np.zeros(clock.columns)
    for operation, rates in found.rates.items():
        name, colour = _STYLES[operation]
        axes.stairs(below + rates, clock.edges, baseline=below, fill=True, color=colour, label=name)
        below = below + rates
    clock.shade(axes, scene.lanes)
    axes.set_ylim(0.0, 1.05 * float(below.max()))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    name_axes(axes, "", "operations/s")
    clock.name_axis(axes)
    strip = clock.draw_lanes(figure, axes, scene.lanes)
    handles, labels = axes.get_legend_handles_labels()
    legend(strip, columns=len(handles), handles=handles, labels=labels)
    return figure
