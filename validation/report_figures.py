"""The published curves that have to do with a report, for its page."""

from __future__ import annotations

from xc40io.telling.answer import Block, Picture, Text
from xc40io.validation.figures.chart import Chart
from xc40io.validation.figures.gallery import GalleryFigure, all_charts, charts_known, draw
from xc40io.validation.report import Report


def figure_blocks(report: Report, *, fast: bool = False) -> list[Block]:
    """Return the charts about the claims of a report; what has not been run for them yet is.

    Parameters
    ----------
    report
        The report.
    fast
        Whether to run nothing more: those charts alone whose runs are known.
    """
    charts = charts_of(report)
    shown = charts_known(charts, report.simulations) if fast else charts
    blocks = [block for drawn in draw(shown, report.simulations) for block in _blocks(drawn)]
    if left := len(charts) - len(shown):
        blocks.append(Text(f"{left} more are left out: their runs take longer than --fast allows."))
    return blocks


def _blocks(drawn: GalleryFigure) -> list[Block]:
    heading, figure = drawn.chart.heading, drawn.figure
    if figure is None:
        return [Text(f"{heading.title}. No figure: {drawn.reason}.")]
    return [Picture(drawn.chart.name, lambda: figure), Text(f"{heading.setup}.")]


def charts_of(report: Report) -> list[Chart]:
    """Return the charts about rows of which the report has claims that were run."""
    run = [outcome.claim for outcome in report.outcomes if outcome.records]
    rows = {claim.target.id for claim in run}
    long = {claim.target.id for claim in run if claim.full}
    return [
        chart
        for chart in all_charts(full=True)
        if (long if chart.full else rows).intersection(chart.targets)
    ]
