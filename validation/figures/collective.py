"""Collective I/O: bandwidth by striping, and beside independent I/O by the data of a rank."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from sim.config.units import format_bytes
from validation.figures.chart import Chart, Records, Runs, on_theta, rates
from validation.figures.lines import curve
from validation.figures.shared_file import draw_records, stripings
from validation.figures.sheet import (
    READ,
    WRITE,
    Heading,
    doublings,
    legend,
    name_axes,
    name_panel,
    sheet,
    tenfolds,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATA_SIZES = tuple(1 << power for power in range(16, 27))
"""Bytes of a rank, 64 KiB to 64 MiB."""

WAYS = {"collective": "-c ", "independent": ""}


def data_sizes() -> Runs:
    """Describe the runs by way and by bytes of a rank."""
    return {
        (way, size): on_theta(f"-a MPIIO {option}-w -r -b {size} -t {size}", count=48, size="16m")
        for way, option in WAYS.items()
        for size in DATA_SIZES
    }


def draw_data_records(heading: Heading, records: Records) -> Figure:
    """Draw what is kept of the runs of :func:`data_sizes`."""
    curves: dict[tuple[str, str], dict[int, float]] = {}
    for access in ("write", "read"):
        for (way, size), rate in rates(records, access).items():
            curves.setdefault((access, way), {})[size] = rate
    return draw_by_size(heading, curves)


def draw_by_size(heading: Heading, curves: Mapping[tuple[str, str], Mapping[int, float]]) -> Figure:
    """Draw bandwidth by the data of a rank, writes on the left and reads on the right.

    Parameters
    ----------
    heading
        What stands around the axes.
    curves
        GB/s by bytes of a rank, by access (``write``, ``read``) and way (``collective``,
        ``independent``).
    """
    figure, panels = sheet(heading, width=8.0, panels=2, rows=1)
    for axes, access in zip(panels, ("write", "read"), strict=True):
        for way, colour, sign in (("collective", WRITE, "o"), ("independent", READ, "s")):
            curve(axes, curves[access, way], way, color=colour, marker=sign)
        sizes = sorted(curves[access, "collective"])[::2]
        doublings(axes, sizes, [format_bytes(size) for size in sizes])
        tenfolds(axes)
        name_panel(axes, access)
        name_axes(axes, "data of a rank", "bandwidth (GB/s)")
        legend(axes, inside="lower right")
    return figure


def _striping_chart(name: str, title: str, setup: str, options: str) -> Chart:
    return Chart(
        name=name,
        heading=Heading(
            title=title,
            setup=f"IOR on 256 nodes of Theta x 16 ranks, 8 MiB a rank, collective, {setup}",
            caption="Published: as many aggregators as OSTs, buffers as large as stripes; “for "
            "larger contiguous data, independent read has no lock contention and may be faster” "
            "(Theta I/O slides; the chart is in the ExaHDF5 slides, without its numbers).",
        ),
        runs=partial(stripings, f"-a MPIIO -c -w -r {options}-b 8m -t 8m"),
        draw=partial(draw_records, None, {}),
        targets=("A32", "B06"),
    )


CHARTS = (
    _striping_chart(
        "theta-collective",
        "Shared file, collective: bandwidth by striping",
        "past the client's cache",
        "-C -e ",
    ),
    _striping_chart(
        "theta-collective-cached",
        "Shared file, collective, through the client's cache: bandwidth by striping",
        "no fsync",
        "",
    ),
    Chart(
        name="theta-data-size",
        heading=Heading(
            title="Collective and independent I/O by the data of a rank",
            setup="IOR on 256 nodes of Theta x 16 ranks, MPI-IO, 48 OSTs x 16 MiB, with the "
            "client's cache",
            caption="Published: “for small discontiguous chunk data, collective faster”, “for "
            "larger contiguous data” independent “may be faster” (Theta I/O slides; the chart is "
            "in the ExaHDF5 slides, without its numbers).",
        ),
        runs=data_sizes,
        draw=draw_data_records,
        targets=("B07",),
    ),
)
"""Collective I/O."""
