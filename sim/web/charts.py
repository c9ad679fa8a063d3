"""The charts of the page: bandwidths, where the time went, how busy the OSTs were."""

# Bokeh's types know neither all of its models nor what their properties take.
# pyright: reportArgumentType=false, reportCallIssue=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColorBar,
    ColumnDataSource,
    FactorRange,
    HoverTool,
    LinearColorMapper,
    Range1d,
)
from bokeh.palettes import YlGnBu9
from bokeh.plotting import figure

from xc40io.config.units import GB
from xc40io.findings.waits import Part, part_of
from xc40io.telling.sheet import INK, PALETTE, REST, SMALL, scale_of
from xc40io.trust.sureness import gigabytes, simulated
from xc40io.web.published import Comparable
from xc40io.web.runs import HeatMap, Outcome, PhaseOutcome

Row = tuple[str, str] | str
"""Of a chart: a phase, or a side and a phase."""

_ROW = 34  # pixels of a row
WORTH_TELLING = 0.005  # share of the time


COLOURS = {
    Part.DISKS: PALETTE[0],
    Part.LOCKS: PALETTE[5],
    Part.NETWORK: PALETTE[2],
    Part.NODE: PALETTE[1],
    Part.METADATA: PALETTE[3],
    Part.MPI: PALETTE[4],
    Part.STORAGE: PALETTE[6],
    Part.START: SMALL,
    Part.OTHER: REST,
}
"""Of the parts of the path, in the order in which they are drawn."""


def rows_of(outcomes: Mapping[str, Outcome]) -> dict[Row, PhaseOutcome]:
    """Return the phases of all sides, by the rows that they have in charts."""
    several = len(outcomes) > 1
    names = dict.fromkeys(phase.phase for outcome in outcomes.values() for phase in outcome.phases)
    return {
        ((name, side) if several else name): phase
        for name in names
        for side, outcome in outcomes.items()
        for phase in outcome.phases
        if phase.phase == name
    }


def bandwidth_chart(
    rows: Mapping[Row, PhaseOutcome], published: Mapping[Row, Sequence[Comparable]]
) -> Any:
    """Return bars of the bandwidths, with diamonds for what was published."""
    most = max(
        [phase.bandwidth for phase in rows.values()]
        + [one.point.bandwidth for points in published.values() for one in points],
        default=GB,
    )
    chart = _chart(rows, "GB/s (GB = 10^9 bytes)", Range1d(0, 1.25 * most / GB))
    source = ColumnDataSource(
        {
            "row": list(rows),
            "bandwidth": [phase.bandwidth / GB for phase in rows.values()],
            "text": [simulated(phase.bandwidth, phase.real, gigabytes) for phase in rows.values()],
            "seconds": [phase.seconds for phase in rows.values()],
        }
    )
    bars = chart.hbar(y="row", right="bandwidth", height=0.62, color=SMALL, source=source)
    chart.text(
        x="bandwidth", y="row", text="text", source=source, x_offset=5, text_baseline="middle",
        text_font_size="13px", text_color=INK,
    )  # fmt: skip
    chart.add_tools(_hover(bars, "<b>@text GB/s</b> in @seconds{0.0000} simulated s"))
    _add_published(chart, published)
    return chart


def _add_published(chart: Any, published: Mapping[Row, Sequence[Comparable]]) -> None:
    """Draw diamonds where something comparable was published."""
    points = [(row, one.point) for row, found in published.items() for one in found]
    if not points:
        return
    source = ColumnDataSource(
        {
            "row": [_below(row) for row, _ in points],
            "bandwidth": [point.bandwidth / GB for _, point in points],
            "title": [point.title for _, point in points],
            "written": [point.written for _, point in points],
        }
    )
    marks = chart.scatter(
        x="bandwidth", y="row", marker="diamond", size=15, source=source,
        fill_color="white", line_color=INK, line_width=2,
    )  # fmt: skip
    chart.add_tools(_hover(marks, "<b>published: @written</b><br>@title"))


def _below(row: Row) -> tuple[str | float, ...]:
    """Return the lower edge of a row's bar: what stands there hides no figure at its end."""
    return (row, -0.31) if isinstance(row, str) else (*row, -0.31)


def time_chart(rows: Mapping[Row, PhaseOutcome]) -> Any:
    """Return a bar for each phase, cut into what its ranks waited for."""
    chart = _chart(rows, "share of the phase's time (%)", Range1d(0, 100))
    left = dict.fromkeys(rows, 0.0)
    for part, colour in COLOURS.items():
        shares = {row: 100 * _share(phase, part) for row, phase in rows.items()}
        shown = [row for row, share in shares.items() if share > 0.0]
        source = ColumnDataSource(
            {
                "row": shown,
                "left": [left[row] for row in shown],
                "right": [left[row] + shares[row] for row in shown],
                "share": [shares[row] for row in shown],
                "part": [part.value] * len(shown),
                "causes": [_causes(rows[row], part) for row in shown],
            }
        )
        bars = chart.hbar(
            y="row", left="left", right="right", height=0.62, color=colour, source=source,
            line_color="white", line_width=1,
        )  # fmt: skip
        chart.add_tools(_hover(bars, "<b>@part: @share{0.0} %</b><br>@causes"))
        for row, share in shares.items():
            left[row] += share
    return chart


def _share(phase: PhaseOutcome, part: Part) -> float:
    return sum(wait.share for wait in phase.waits if part_of(wait.cause) == part)


def _causes(phase: PhaseOutcome, part: Part) -> str:
    """Return what a part consists of, the longest first."""
    found = [
        wait for wait in phase.waits if part_of(wait.cause) == part and wait.share >= WORTH_TELLING
    ]
    return "; ".join(f"{wait.words} ({100 * wait.share:.1f} %)" for wait in found[:4])


_BAR = {"major_label_text_font_size": "13px", "title_text_font_size": "13px"}


def heat_chart(heat: HeatMap) -> Any:
    """Return a row for each OST, a column for each span of time, the darker the busier."""
    columns = len(heat.busy[0])
    factor, unit = scale_of(columns * heat.width)
    wide, high = columns * heat.width * factor, len(heat.osts)
    chart = figure(
        height=min(130 + 5 * high, 380),
        sizing_mode="stretch_width",
        x_range=(0, wide),
        y_range=(high, 0),
        tools="",
        toolbar_location=None,
    )
    mapper = LinearColorMapper(palette=YlGnBu9[::-1], low=0, high=100, nan_color="white")
    busy = np.array(heat.busy)
    busy[busy == 0.0] = np.nan  # what is not a number has no colour
    image = chart.image(image=[busy], x=0, y=0, dw=wide, dh=high, color_mapper=mapper)
    chart.add_tools(_hover(image, "<b>@image{0} % busy</b> at $x{0.[000]} " + unit))
    step = -(-high // 12)
    chart.yaxis.ticker = [place + 0.5 for place in range(0, high, step)]
    chart.yaxis.major_label_overrides = {
        place + 0.5: str(heat.osts[place]) for place in range(0, high, step)
    }
    chart.yaxis.axis_label = "OST" if step == 1 else f"OST: 1 in {step} is named"
    chart.xaxis.axis_label = f"simulated time ({unit})"
    ticker = BasicTicker(desired_num_ticks=5)
    bar = ColorBar(color_mapper=mapper, ticker=ticker, width=10, title="%", **_BAR)
    chart.add_layout(bar, "right")
    return _plain(chart)


def _chart(rows: Mapping[Row, PhaseOutcome], label: str, across: Range1d) -> Any:
    """Return an empty chart with a row for each phase, the first above."""
    down = FactorRange(factors=[*rows][::-1])
    chart = figure(
        height=70 + _ROW * len(rows),
        sizing_mode="stretch_width",
        y_range=down,
        x_range=across,
        tools="",
        toolbar_location=None,
    )
    chart.xaxis.axis_label = label
    chart.ygrid.visible = False
    return _plain(chart)


def _plain(chart: Any) -> Any:
    """Return a chart without frames, with letters that can be read on a projector."""
    chart.outline_line_color = None
    chart.background_fill_color = chart.border_fill_color = None
    for axis in (*chart.xaxis, *chart.yaxis):
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size = "13px"
        axis.major_label_text_font_size = "13px"
        axis.axis_label_text_color = axis.major_label_text_color = INK
        axis.minor_tick_line_color = None
        axis.axis_line_color = SMALL
    return chart


def _hover(renderer: Any, text: str) -> HoverTool:
    """Return the text on the element below the pointer."""
    return HoverTool(
        renderers=[renderer], tooltips=f'<div style="max-width:320px">{text}</div>', visible=False
    )
