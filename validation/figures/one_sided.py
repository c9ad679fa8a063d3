"""One-sided against two-phase collective writes: HDF5's exerciser in one to three dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any

from xc40io.config.scenario import Scenario
from xc40io.config.units import format_bytes
from xc40io.telling.sheet import (
    INK,
    READ,
    WIDE,
    WRITE,
    Heading,
    doublings,
    legend,
    name_axes,
    name_panel,
    sheet,
    tenfolds,
)
from xc40io.validation.figures.chart import Chart, Records, Runs, rates
from xc40io.validation.figures.lines import curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DRIVERS = {"mpi": "two-phase (MPI driver)", "one-sided": "one-sided (CCIO driver)"}

RANKS = {1: (4096,), 2: (64, 64), 3: (16, 16, 16)}
"""Ranks along each dimension, by the number of dimensions."""

DOUBLE = 8
"""Bytes of an element."""

_ELEMENTS: dict[int, list[tuple[int, ...]]] = {
    1: [(64 * 8**power,) for power in range(6)],
    2: [(8, 8), (32, 16), (64, 64), (256, 128), (512, 512)],
    3: [(4, 4, 4), (8, 8, 8), (16, 16, 16), (32, 32, 32)],
}


def patterns() -> Runs:
    """Describe the runs by driver, number of dimensions and bytes of a rank."""
    return {
        (driver, dimensions, DOUBLE * prod(elements)): _exerciser(driver, elements)
        for driver in DRIVERS
        for dimensions, sizes in _ELEMENTS.items()
        for elements in sizes
    }


def _exerciser(driver: str, elements: tuple[int, ...]) -> Scenario:
    kernel: dict[str, Any] = {
        "name": "exerciser",
        "driver": driver,
        "numdims": len(elements),
        "dimranks": list(RANKS[len(elements)]),
        "minels": list(elements),
    }
    return Scenario.model_validate(
        {
            "machine": "theta",
            "nodes": 256,
            "ppn": 16,
            "striping": {"count": 48, "size": "16m"},
            "workload": {"kernel": kernel},
        }
    )


def draw_records(heading: Heading, records: Records) -> Figure:
    """Draw what is kept of the runs of :func:`patterns`."""
    curves: dict[tuple[str, int], dict[int, float]] = {}
    for (driver, dimensions, size), rate in rates(records, "phase", "H5Dwrite").items():
        curves.setdefault((driver, dimensions), {})[size] = rate
    return draw_by_message(heading, curves)


def draw_by_message(
    heading: Heading, curves: Mapping[tuple[str, int], Mapping[int, float]]
) -> Figure:
    """Draw bandwidth by the message of a rank, one panel for each number of dimensions.

    Parameters
    ----------
    heading
        What stands around the axes.
    curves
        GB/s by bytes of a rank, by driver and number of dimensions.
    """
    numbers = sorted({dimensions for _, dimensions in curves})
    figure, panels = sheet(heading, width=WIDE, labels=0.64, panels=len(numbers), rows=1)
    for axes, dimensions in zip(panels, numbers, strict=True):
        for driver, colour, sign in (("mpi", WRITE, "o"), ("one-sided", READ, "s")):
            curve(axes, curves[driver, dimensions], DRIVERS[driver], color=colour, marker=sign)
        slow, fast = (curves[driver, dimensions] for driver in DRIVERS)
        for size, rate in fast.items():
            _write_above(axes, size, rate, f"{rate / slow[size]:.1f}x")
        sizes = [format_bytes(size).replace(" ", "\n") for size in sorted(fast)]
        doublings(axes, sorted(fast), sizes)
        axes.margins(x=0.13)  # room for what is written above the first and the last point
        tenfolds(axes)
        axes.set_ylim(0.02, 30)
        name_panel(axes, f"{dimensions}-d")
        name_axes(axes, "data of a rank", "H5Dwrite (GB/s)")
        axes.tick_params(axis="x", labelsize=8)
    legend(panels[0], inside="lower right")
    return figure


def _write_above(axes: Axes, x: int, y: float, text: str) -> None:
    """Write a word above a point."""
    place: dict[str, Any] = {"xytext": (-5, 6), "textcoords": "offset points", "ha": "center"}
    axes.annotate(text, (x, y), size=7.5, color=INK, **place)


CHARTS = (
    Chart(
        name="theta-one-sided",
        heading=Heading(
            title="HDF5: one-sided against two-phase collective writes",
            setup="HDF5 exerciser on 256 nodes of Theta x 16 ranks, 48 OSTs x 16 MiB; at the "
            "points: times as fast as two-phase",
            caption="Published: “can see 10x speedup or no speedup”; “at 1-d smaller messages "
            "benefit because of relative increase in overhead for the collective meta-data "
            "planning phase, for larger message sizes degradation from 4mb to 16mb”; “3+ "
            "dimensional datasets benefit the most” (ExaHDF5 slides).",
        ),
        runs=patterns,
        draw=draw_records,
        targets=("B12",),
    ),
)
"""One-sided collective writes."""
