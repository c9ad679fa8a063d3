"""The daily probes of Cori: the distribution over many simulated days beside the measured one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xc40io.config.units import GB
from xc40io.telling.sheet import (
    FAINT,
    INK,
    WRITE,
    Heading,
    legend,
    name_axes,
    name_rows,
    room_for,
    sheet,
)
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.figures.chart import Chart, Records, Runs
from xc40io.validation.measure import measure
from xc40io.validation.relation import QUANTILES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROWS = ("E40", "E41", "E42", "E43", "E44")

_NAMES = ("p05", "p25", "p50", "p75", "p95")
_OFFSET = 0.18  # of a row's height: the two distributions stand above and below its middle


@dataclass(frozen=True)
class Probe:
    """A probe: quantiles in GB/s by name, as measured and as simulated."""

    name: str
    measured: Mapping[str, float]
    simulated: Mapping[str, float]


def claims_of_probes() -> dict[str, Claim]:
    """Return the claims about distributions of the probes, by their ids."""
    return {
        claim.id: claim
        for claim in load_claims().values()
        if claim.target.id in ROWS and claim.relation is not None and claim.relation.quantiles
    }


def days() -> Runs:
    """Return the runs of these claims by claim, name of the run and seed."""
    return {
        (claim.id, run, day): scenario
        for claim in claims_of_probes().values()
        for run in claim.runs
        for day, scenario in enumerate(claim.seeded(run))
    }


def draw_records(heading: Heading, records: Records) -> Figure:
    """Draw what is kept of the runs of :func:`days`."""
    return draw_probes(heading, [_probe(claim, records) for claim in claims_of_probes().values()])


def _probe(claim: Claim, records: Records) -> Probe:
    """Return the distributions of a claim."""
    assert claim.metric is not None
    assert claim.relation is not None
    assert claim.relation.quantiles is not None
    values = []
    for day in range(claim.seeds):

        def look(function: str, run: str, words: tuple[str, ...], day: int = day) -> float:
            return measure(records[claim.id, run, day], function, words)

        values.append(claim.metric.value(look) / GB)
    measured = claim.relation.quantiles.measured()
    return Probe(
        name=claim.title.removeprefix("daily probe, ").removesuffix(", distribution"),
        measured={name: quantity.base / GB for name, quantity in measured.items()},
        simulated={name: float(np.quantile(values, QUANTILES[name])) for name in _NAMES},
    )


def draw_probes(heading: Heading, probes: Sequence[Probe]) -> Figure:
    """Draw the quantiles of each probe: measured above, simulated below."""
    from matplotlib.patches import Patch
    from matplotlib.ticker import LogLocator

    names = [probe.name for probe in probes]
    tall = 0.55 * len(probes) + 0.2
    figure, (axes,) = sheet(heading, width=7.6, height=tall, left=room_for(names), rows=1)
    for row, probe in enumerate(probes):
        _draw_quantiles(axes, row - _OFFSET, probe.measured, INK)
        _draw_quantiles(axes, row + _OFFSET, probe.simulated, WRITE)
    name_rows(axes, names)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", color=INK, alpha=FAINT, linewidth=0.6)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.tick_params(axis="x", which="minor", length=0)
    name_axes(axes, "bandwidth (GB/s)", "")
    handles = [Patch(color=INK, label="measured"), Patch(color=WRITE, label="simulated")]
    legend(axes, 2, handles=handles)
    return figure


def _draw_quantiles(axes: Axes, y: float, quantiles: Mapping[str, float], colour: str) -> None:
    """Draw a line from p05 to p95, a box from p25 to p75 and a ring at the median."""
    low, left, middle, right, high = (quantiles[name] for name in _NAMES)
    axes.plot([low, high], [y, y], color=colour, linewidth=1.2)
    axes.barh(y, right - left, 0.24, left=left, color=colour)
    axes.plot(middle, y, "o", color="white", markeredgecolor=colour, markersize=5.5)


CHARTS = (
    Chart(
        name="cori-daily-probes",
        heading=Heading(
            title="Cori's daily probes: distributions over days",
            setup="256 Xeon Phi nodes x 16 ranks; lines from 5 to 95 %, boxes from 25 to 75 %, "
            "rings at the median",
            caption="Measured after 10 August 2017 (NERSC/tokio-abcutils, summaries of a year). "
            "Simulated: other jobs as on a usual day, nodes chosen at random, one seed a day; less "
            "data a rank where the table says so.",
        ),
        runs=days,
        draw=draw_records,
        targets=ROWS,
        full=True,
    ),
)
"""Distributions over days."""
