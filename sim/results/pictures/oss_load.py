"""A picture of the load of the OSSs over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sim.engine.types import Floats, Integers
from sim.results.pictures.clock import Clock
from sim.results.pictures.scene import Scene
from sim.telling.sheet import INK, WIDE, WRITE, Heading, legend, name_axes, room_for, sheet
from topology.text import format_count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    rpcs = recording.rpcs[np.isfinite(recording.rpcs["arrived"])]
    if not len(rpcs):
        return None
    lustre = scene.result.machine.lustre
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
    names = [lane.name for lane in scene.lanes]
    left = max(room_for(names), 0.72)
    figure, (axes,) = sheet(heading, width=WIDE, rows=len(names) + 1, left=left)
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
    clock.shade(axes, scene.lanes)
    axes.set_ylim(0.0, 1.05 * float(loads.max()) or 1.0)
    axes.yaxis.set_major_formatter("{x:,g}")
    name_axes(axes, "", "bulk RPCs of an OSS")
    clock.name_axis(axes)
    strip = clock.draw_lanes(figure, axes, scene.lanes)
    handles, labels = axes.get_legend_handles_labels()
    legend(strip, columns=len(handles), handles=handles, labels=labels)
    return figure
