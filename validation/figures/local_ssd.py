"""A file per process on Lustre and on the local SSDs of the nodes, by the data of a rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xc40io.telling.sheet import (
    READ,
    WRITE,
    Heading,
    doublings,
    legend,
    name_axes,
    name_panel,
    sheet,
)
from xc40io.validation.figures.chart import Chart, Records, Runs, on_theta, rates
from xc40io.validation.figures.lines import curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (16, 32, 64, 128, 256, 512)
"""MiB of a rank."""

AXES = {256: 300.0, 1024: 1000.0}
"""GB/s where the published axes end, by nodes."""


SSD = "#8a5a2b"
"""Colour of the SSDs' writes; their reads are lighter."""
SSD_READ = "#d9a066"


def by_size() -> Runs:
    """Describe the runs by target, nodes and MiB of a rank.

    On the SSDs reads are a run of their own, of files that no cache holds: on Lustre other nodes
    read them, which cannot reach them on an SSD.
    """
    ways = {
        "lustre": "-a POSIX -F -w -r -C -e -b {}m -t 4m",
        "ssd": "-a POSIX -F -w -e -b {}m -t 4m",
        "ssd read": "-a POSIX -F -r -b {}m -t 4m",
    }
    return {
        (way, nodes, size): on_theta(
            command.format(size), count=1, size="1m", nodes=nodes, ppn=2, target=way.split()[0]
        )
        for way, command in ways.items()
        for nodes in AXES
        for size in SIZES
    }


def draw_records(heading: Heading, records: Records) -> Figure:
    """Draw what is kept of the runs of :func:`by_size`."""
    curves: dict[tuple[str, int, str], dict[int, float]] = {}
    for way, access in (
        ("lustre", "write"),
        ("lustre", "read"),
        ("ssd", "write"),
        ("ssd read", "read"),
    ):
        chosen = {key: record for key, record in records.items() if key[0] == way}
        for (_, nodes, size), rate in rates(chosen, access).items():
            curves.setdefault((way.split()[0], nodes, access), {})[size] = rate
    return draw_by_size(heading, curves)


def draw_by_size(
    heading: Heading, curves: Mapping[tuple[str, int, str], Mapping[int, float]]
) -> Figure:
    """Draw bandwidth by the data of a rank, one panel for each number of nodes.

    Parameters
    ----------
    heading
        What stands around the axes.
    curves
        GB/s by MiB of a rank, by target (``lustre``, ``ssd``), nodes and access (``write``,
        ``read``).
    """
    numbers = sorted({nodes for _, nodes, _ in curves})
    figure, panels = sheet(heading, width=8.0, panels=len(numbers), rows=1)
    looks = {
        ("lustre", "write"): ("write on Lustre", WRITE, "o"),
        ("lustre", "read"): ("read on Lustre", READ, "s"),
        ("ssd", "write"): ("write on local SSDs", SSD, "^"),
        ("ssd", "read"): ("read on local SSDs", SSD_READ, "v"),
    }
    for axes, nodes in zip(panels, numbers, strict=True):
        for (target, access), (name, colour, sign) in looks.items():
            curve(axes, curves[target, nodes, access], name, color=colour, marker=sign)
        doublings(axes, SIZES)
        highest = max(max(values.values()) for (_, n, _), values in curves.items() if n == nodes)
        axes.set_ylim(0, max(AXES[nodes], 1.05 * highest))
        name_panel(axes, f"{nodes:,} nodes")
        name_axes(axes, "data of a rank (MiB)", "bandwidth (GB/s)")
    legend(panels[-1], inside="center left", bbox_to_anchor=(0.0, 0.66))
    return figure


CHARTS = (
    Chart(
        name="theta-local-ssd",
        heading=Heading(
            title="File per process on Lustre and on local SSDs, 2 ranks a node",
            setup="IOR on Theta, a file each, synced; over one OST, read by other nodes; on the "
            "SSD of the node, read cold",
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
"""Lustre beside local SSDs."""
