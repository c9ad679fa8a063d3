"""A file per process on Lustre, by the data of a rank; local SSDs will stand beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from validation.figures.chart import Chart, Records, Runs, on_theta, rates
from validation.figures.lines import curve
from validation.figures.sheet import (
    INK,
    READ,
    WRITE,
    Heading,
    doublings,
    legend,
    name_axes,
    name_panel,
    sheet,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (16, 32, 64, 128, 256, 512)
"""MiB of a rank."""

AXES = {256: 300.0, 1024: 1000.0}
"""GB/s where the published axes end, by nodes."""


def by_size() -> Runs:
    """Describe the runs on Lustre by nodes and MiB of a rank."""
    return {
        (nodes, size): on_theta(
            f"-a POSIX -F -w -r -C -e -b {size}m -t 4m", count=1, size="1m", nodes=nodes, ppn=2
        )
        for nodes in AXES
        for size in SIZES
    }


def draw_records(heading: Heading, records: Records) -> Figure:
    """Draw what is kept of the runs of :func:`by_size`."""
    curves: dict[tuple[int, str], dict[int, float]] = {}
    for access in ("write", "read"):
        for (nodes, size), rate in rates(records, access).items():
            curves.setdefault((nodes, access), {})[size] = rate
    return draw_by_size(heading, curves)


def draw_by_size(heading: Heading, curves: Mapping[tuple[int, str], Mapping[int, float]]) -> Figure:
    """Draw bandwidth by the data of a rank, one panel for each number of nodes.

    Parameters
    ----------
    heading
        What stands around the axes.
    curves
        GB/s on Lustre by MiB of a rank, by nodes and access (``write``, ``read``).
    """
    numbers = sorted({nodes for nodes, _ in curves})
    figure, panels = sheet(heading, width=8.0, panels=len(numbers), rows=1)
    for axes, nodes in zip(panels, numbers, strict=True):
        for access, colour, sign in (("write", WRITE, "o"), ("read", READ, "s")):
            curve(axes, curves[nodes, access], f"{access} on Lustre", color=colour, marker=sign)
        doublings(axes, SIZES)
        axes.set_ylim(0, AXES[nodes])
        name_panel(axes, f"{nodes:,} nodes")
        axes.text(0.98, 0.97, _MISSING, transform=axes.transAxes, **_NOTE)
        name_axes(axes, "data of a rank (MiB)", "bandwidth (GB/s)")
        legend(axes, inside="upper left")
    return figure


_MISSING = "local SSDs: not simulated yet"
_NOTE: dict[str, Any] = {"ha": "right", "va": "top", "size": 8.5, "style": "italic", "color": INK}

CHARTS = (
    Chart(
        name="theta-local-ssd",
        heading=Heading(
            title="File per process on Lustre, 2 ranks a node (local SSDs to come)",
            setup="IOR on Theta, a file each over one OST, synced, read by other nodes",
            caption="Published: “a few SSDs will be slower overall than Lustre, but outperforms "
            "Lustre at scale based on aggregated bandwidth”; a node's SSD reads about 1,000 MB/s "
            "and writes about 500 MB/s (Theta I/O slides; curves without numbers on axes of 0 to "
            "300 and 0 to 1,000 GB/s; whether caches took part is not said).",
        ),
        runs=by_size,
        draw=draw_records,
        targets=("B15", "B16"),
    ),
)
"""Lustre where local SSDs will stand beside it."""
