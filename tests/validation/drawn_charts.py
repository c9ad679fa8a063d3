"""Charts drawn from records of runs that were never run."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import cache

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from run_records import phase, record

from xc40io.studies.record import RunRecord
from xc40io.validation.figures.chart import Chart, Records


def invented(place: int) -> RunRecord:
    """A run of which the rates are made up: larger for a later place."""
    rate = 1e9 * (1 + 3 * place)
    made = record(rate, phase("read", 2 * rate), phase("H5Dwrite", rate))
    told = replace(made.library[0], raw_rate=3 * rate)
    return replace(made, library=(told, replace(told, access="read", slowest_rate=2 * rate)))


def records_of(chart: Chart) -> Records:
    """Make up what is kept of the runs of a chart."""
    found: dict[Hashable, RunRecord] = {}
    for place, key in enumerate(chart.runs()):
        found[key] = invented(place)
    return found


@cache
def drawn(chart: Chart) -> Figure:
    """Draw a chart from made-up records, so that all its parts have their places."""
    figure = chart.draw(chart.heading, records_of(chart))
    FigureCanvasAgg(figure).draw()
    return figure
