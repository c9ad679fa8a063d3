"""Collective I/O: bandwidth by striping, and beside independent I/O by the data of a rank."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from xc40io.config.units import GB, format_bytes
from xc40io.telling.sheet import (
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
from xc40io.validation.figures.chart import Chart, Records, Runs, on_theta, rates
from xc40io.validation.figures.lines import curve
from xc40io.validation.figures.shared_file import draw_bars, draw_records, stripings
from xc40io.validation.measure import measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATA_SIZES = tuple(1 << power for power in range(16, 27))
"""Bytes of a rank, 64 KiB to 64 MiB."""

_ROOM = 1.3  # times what is below and above all points of a logarithmic axis

WAYS = {"collective": "-c ", "independent": ""}


ALONE = {"write": "-w -e", "read": "-r"}
"""What keeps the client's cache out of it: a run that writes and syncs, and one that reads a file
which was there before. An aggregator that reads what it has written itself finds it in the cache of
its node; -C does not help, because it moves ranks and not the aggregators."""


def alone() -> Runs:
    """Describe the runs past the cache by access and striping."""
    return {
        (access, striping): run
        for access, options in ALONE.items()
        for striping, run in stripings(f"-a MPIIO -c {options} -b 8m -t 8m").items()
    }


def draw_alone(heading: Heading, records: Records) -> Figure:
    """Draw the bars of what is kept of the runs of :func:`alone`."""
    rate = {
        (access, striping): measure(record, access) / GB
        for (access, striping), record in records.items()
    }
    counted = dict.fromkeys(striping for _, striping in records)
    both = {striping: (rate["write", striping], rate["read", striping]) for striping in counted}
    return draw_bars(heading, both)


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
    rates_seen = [rate for points in curves.values() for rate in points.values()]
    limits = (min(rates_seen) / _ROOM, max(rates_seen) * _ROOM)  # the same left and right
    for axes, access in zip(panels, ("write", "read"), strict=True):
        for way, colour, sign in (("collective", WRITE, "o"), ("independent", READ, "s")):
            curve(axes, curves[access, way], way, color=colour, marker=sign)
        sizes = sorted(curves[access, "collective"])[::2]
        doublings(axes, sizes, [format_bytes(size) for size in sizes])
        tenfolds(axes, between=(1.0, 2.0, 5.0))
        axes.set_ylim(*limits)
        name_panel(axes, access)
        name_axes(axes, "data of a rank", "bandwidth (GB/s)")
        legend(axes, inside="lower right")
    return figure


_SETUP = "IOR on 256 nodes of Theta x 16 ranks, 8 MiB a rank, collective, "
_PUBLISHED = (
    "Published: as many aggregators as OSTs, buffers as large as stripes; “for larger contiguous "
    "data, independent read has no lock contention and may be faster” (Theta I/O slides; the chart "
    "is in the ExaHDF5 slides, without its numbers)."
)

CHARTS = (
    Chart(
        name="theta-collective",
        heading=Heading(
            title="Shared file, collective: bandwidth by striping",
            setup=f"{_SETUP}synced, read by a later run",
            caption=_PUBLISHED,
        ),
        runs=alone,
        draw=draw_alone,
        targets=("A32", "B06"),
    ),
    Chart(
        name="theta-collective-cached",
        heading=Heading(
            title="Shared file, collective, through the client's cache: bandwidth by striping",
            setup=f"{_SETUP}no fsync",
            caption=_PUBLISHED,
        ),
        runs=partial(stripings, "-a MPIIO -c -w -r -b 8m -t 8m"),
        draw=partial(draw_records, None, {}),
        targets=("A32", "B06"),
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
