"""Collective writes of HDF5 by the number of nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xc40io.config.units import GB, GIB
from xc40io.telling.sheet import WRITE, Heading, doublings, legend, name_axes, sheet
from xc40io.validation.figures.chart import Chart, Records, Runs, on_theta, published, rates
from xc40io.validation.figures.lines import Point, curve, measured
from xc40io.validation.target import load_targets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NODES = (1, 2, 4, 8, 16, 32, 64, 128, 256)

_ROWS = {1: "B18", 4: "B20", 16: "B22", 64: "B24", 256: "B26"}
_ERROR_BAR = re.compile(r"error bar ([\d.]+)-([\d.]+)")


def by_nodes() -> Runs:
    """Describe the runs by their nodes."""
    command = "-a HDF5 -c -w -b 16m -t 16m"
    return {nodes: on_theta(command, count=48, size="16m", nodes=nodes, ppn=32) for nodes in NODES}


def published_points() -> list[Point]:
    """Return the measured bandwidths in GB/s by nodes, with their error bars."""
    points = []
    for nodes, target in _ROWS.items():
        found = _ERROR_BAR.search(load_targets()[target].notes)
        bar = (float(found[1]), float(found[2])) if found else None
        points.append(Point(nodes, published(target), bar))
    return [*points, Point(8, 4 * GIB / published("B29") / GB)]  # 4 GiB in so many seconds


def draw_records(heading: Heading, records: Records) -> Figure:
    """Draw what is kept of the runs of :func:`by_nodes`, and the published points."""
    return draw_by_nodes(heading, rates(records, "write"), published_points())


def draw_by_nodes(
    heading: Heading, simulated: Mapping[int, float], points: Sequence[Point]
) -> Figure:
    """Draw bandwidth by nodes: GB/s of the runs, and what was measured."""
    figure, (axes,) = sheet(heading)
    curve(axes, simulated, "simulated", color=WRITE)
    measured(axes, points, "measured")
    doublings(axes, sorted(simulated))
    axes.set_ylim(0, 12)
    name_axes(axes, "nodes", "bandwidth (GB/s)")
    legend(axes, inside="upper left")
    return figure


CHARTS = (
    Chart(
        name="theta-hdf5-nodes",
        heading=Heading(
            title="HDF5: collective write by nodes",
            setup="Theta, 32 ranks a node, 16 MiB a rank, 48 OSTs x 16 MiB",
            caption="Published: writes to Lustre saturate at about 10 GB/s; the points with error "
            "bars are digitised, that of 8 nodes is 4 GiB in 1.0 s (hpc-io/vol-cache, "
            "cache_vol.tex and ssd_cache.pdf; whether caches took part is not said).",
        ),
        runs=by_nodes,
        draw=draw_records,
        targets=("B17", *_ROWS.values(), "B29"),
    ),
)
"""HDF5 on Theta."""
