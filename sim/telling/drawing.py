"""Charts and pictures of an answer, drawn by Matplotlib: for a page as SVG or image, as files."""

from __future__ import annotations

import re
import textwrap
from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from xc40io.telling.answer import Answer, Block, Chart, Column, Fold, Picture, Section
from xc40io.telling.cells import records
from xc40io.telling.sheet import (
    INK,
    NARROW,
    PALETTE,
    WIDE,
    Heading,
    legend,
    name_axes,
    name_rows,
    room_for,
    sheet,
    take_heading,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAMED = re.compile(r'(\bid="|\bhref="#|url\(#)')
_HEAD = re.compile(r"\A.*?(?=<svg)", re.DOTALL)
_ABOUT = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)
_SIZE = re.compile(r'(<svg[^>]*?) width="[\d.]+pt" height="[\d.]+pt"')


def inline_svg(figure: Figure, name: str, described: str) -> str:
    """Return a figure as an ``svg`` element.

    It has no background, what is drawn in :data:`~xc40io.telling.sheet.INK` has the colour of
    the text around it, and no other figure has the names within it. The same figure gives
    the same text.

    Parameters
    ----------
    figure
        What is drawn.
    name
        Of the figure, without spaces.
    described
        What it shows, for those who cannot see it.
    """
    from matplotlib import rc_context

    written = StringIO()
    with rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    text = _ABOUT.sub("", _HEAD.sub("", written.getvalue()))
    text = _NAMED.sub(rf"\g<1>{name}-", text).replace(INK, "currentColor")
    label = f'role="img" aria-label="{escape(described)}"'
    return _SIZE.sub(lambda found: f"{found[1]} {label}", text, count=1).strip()


def save_figure(figure: Figure, path: Path, kind: str) -> None:
    """Write a figure into a file.

    Parameters
    ----------
    figure
        What is drawn.
    path
        Of the file.
    kind
        Its format: ``svg``, ``png`` or ``pdf``.
    """
    from matplotlib import rc_context

    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
    with rc_context({"svg.hashsalt": "xc40io"}):  # else its names differ from run to run
        figure.savefig(path, format=kind, metadata=metadata[kind])


_MOST_SVG = 250_000
"""Letters of an SVG above which a picture becomes an image: many shapes are slow to draw."""

_PNG_SIZE = slice(16, 24)  # where a PNG tells its width and height
_BAR = 0.34  # inches of a bar

Series = list[tuple[str, str, list[dict[str, Any]]]]  # what is said of it, its colour, its rows


class DrawnFigure(NamedTuple):
    """A figure as a part of a page, which writes its heading and caption as text."""

    name: str
    title: str
    setup: str
    caption: str
    svg: str  # an element; empty if it is an image
    image: str  # a data: URI; empty if it is SVG
    size: tuple[int, int]  # pixels of the image, width and height
    narrow: bool  # whether it need not have the whole width of a page


def figures(answer: Answer) -> Iterator[tuple[str, Figure]]:
    """Yield all figures of an answer with their names, in their order."""
    yield from ((picture.name, figure_of(picture)) for picture in pictures(answer.blocks))


def pictures(blocks: Sequence[Block]) -> Iterator[Picture | Chart]:
    """Yield all that is drawn of blocks, in their order; nothing is drawn yet."""
    for block in blocks:
        match block:
            case Picture() | Chart():
                yield block
            case Section() | Fold():
                yield from pictures(block.blocks)


def figure_of(block: Picture | Chart) -> Figure:
    """Return a figure of Matplotlib."""
    return block.draw() if isinstance(block, Picture) else chart_figure(block)


def drawn(block: Picture | Chart) -> DrawnFigure:
    """Return a figure as a part of a page.

    It is drawn as SVG, which is sharp on every screen and on paper, or where that would be long as
    an image.
    """
    from matplotlib import rc_context
    from matplotlib.collections import QuadMesh

    figure = figure_of(block)
    heading = take_heading(figure)
    for axes in figure.axes:
        for mesh in axes.findobj(QuadMesh):
            mesh.set_rasterized(True)  # as SVG it would be an element a cell
    told = block.name, heading.title, heading.setup, heading.caption
    narrow = figure.get_figwidth() < (NARROW + WIDE) / 2
    with rc_context({"savefig.bbox": "tight", "savefig.pad_inches": 0.05}):  # no room for a heading
        svg = inline_svg(figure, block.name, f"{heading.title}. {heading.setup}")
        if len(svg) <= _MOST_SVG:
            return DrawnFigure(*told, svg, "", (0, 0), narrow)
        written = BytesIO()
        figure.savefig(written, format="png", metadata={"Software": None})
    data = written.getvalue()
    width, height = (int.from_bytes(data[_PNG_SIZE][place : place + 4], "big") for place in (0, 4))
    image = f"data:image/png;base64,{b64encode(data).decode()}"
    return DrawnFigure(*told, "", image, (width, height), narrow)


def chart_figure(chart: Chart) -> Figure:
    """Draw a chart: a group of bars for each name, or a line for each colour."""
    found = series(chart)
    heading = Heading(chart.title, chart.setup, chart.caption)
    if chart.mark == "lines":
        figure, (axes,) = sheet(heading, width=WIDE, rows=1)
        _lines(axes, chart, found)
    else:
        names = list(dict.fromkeys(row[chart.y] for _, _, rows in found for row in rows))
        high = _BAR * len(names) * len(found) + 0.3
        figure, (axes,) = sheet(heading, width=WIDE, height=high, rows=1, left=room_for(names))
        _bars(axes, chart, found, names)
    legend(axes, columns=4)
    return figure


def series(chart: Chart) -> Series:
    """Return the rows of each colour, as values by column."""
    rows = [
        {each.name: each.value(row) for each in chart.table.columns}
        for row in records(chart.table.rows)
    ]
    names = list(dict.fromkeys(row[chart.colour] for row in rows))
    return [
        (name, colour, [row for row in rows if row[chart.colour] == name])
        for colour, name in zip(PALETTE, names, strict=False)
    ]


def column_of(chart: Chart, name: str) -> Column:
    """Return a column of a chart's table."""
    return next(each for each in chart.table.columns if each.name == name)


def errors(chart: Chart, rows: list[dict[str, Any]]) -> tuple[list[float], list[float]] | None:
    """Return how far the intervals of rows reach below and above; None without any."""
    if chart.interval is None or all(row[chart.interval[0]] is None for row in rows):
        return None
    low, high = chart.interval
    measured = chart.x if chart.mark == "bars" else chart.y
    return (
        [0.0 if row[low] is None else row[measured] - row[low] for row in rows],
        [0.0 if row[high] is None else row[high] - row[measured] for row in rows],
    )


def _lines(axes: Axes, chart: Chart, found: Series) -> None:
    for name, colour, rows in found:
        rows.sort(key=lambda row: row[chart.x])
        x, y = ([row[key] for row in rows] for key in (chart.x, chart.y))
        how: dict[str, Any] = {"color": colour, "marker": "o", "capsize": 3, "linewidth": 1.6}
        axes.errorbar(x, y, yerr=errors(chart, rows), label=name, **how)
    if chart.rule is not None:
        axes.axhline(chart.rule, color=INK, linestyle=":", linewidth=1.0)
    ticks = sorted({row[chart.x] for _, _, rows in found for row in rows})
    axes.set_xticks(ticks, [f"{tick:,g}" for tick in ticks])
    axes.set_ylim(bottom=0.0)
    name_axes(axes, column_of(chart, chart.x).label, column_of(chart, chart.y).label)


def _bars(axes: Axes, chart: Chart, found: Series, names: list[str]) -> None:
    thick = 0.8 / len(found)
    for place, (name, colour, rows) in enumerate(found):
        axes.barh(
            [names.index(row[chart.y]) - 0.4 + thick * (place + 0.5) for row in rows],
            [row[chart.x] for row in rows],
            xerr=errors(chart, rows),
            height=0.9 * thick,
            color=colour,
            ecolor=INK,
            label=name,
        )
    name_rows(axes, [textwrap.shorten(name, 70, placeholder="...") for name in names])
    if chart.rule is not None:
        axes.axvline(chart.rule, color=INK, linestyle=":", linewidth=1.0)
    axes.grid(visible=False)
    name_axes(axes, column_of(chart, chart.x).label, "")
