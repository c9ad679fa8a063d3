"""The sheet of paper that every figure is drawn on: heading, axes, caption, colours.

Matplotlib is imported only when something is drawn, and without its global state. Whatever is
drawn in :data:`INK` follows the colour of the text when a figure becomes part of a page; the other
colours are from the palette of Okabe and Ito and from viridis, which most colour-blind people can
tell apart, and which differ in lightness, so that all can in grey print.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#22262b"
WRITE, READ = "#0072b2", "#e69f00"
OTHER = "#009e73"
PALETTE = (WRITE, READ, OTHER, "#cc79a7", "#56b4e9", "#d55e00", "#f0e442")
"""Colours of kinds that have no order, in the order in which they are given out."""

SMALL, REST = "#565c64", "#e3e6ea"
"""Of all small kinds together, dark so that no pink looks like it; of having nothing to do."""

FAINT = 0.18
"""Opacity of the lines of a grid."""

ROLES = ("title", "setup", "caption")
"""What the words around the axes of a figure are: the fields of a :class:`Heading`."""

NARROW, WIDE = 6.4, 9.2
"""Inches of a figure that fits on a small screen, and of one that has to be scrolled there."""

_DPI = 150
_LINE = 0.175  # inches of a line of the caption
_LETTER = 4.6  # points of a letter of the caption, on average
_RIGHT = 0.15  # inches right of the axes
_HEAD, _FOOT = 0.66, 0.16  # inches above the axes, and below the caption
_NAME = 38  # letters of a line of a row's name
_GAP = 0.78  # inches between two axes
_LEAST_SHOWN = 0.5  # of a unit of time: an axis that is shorter has the next
_EDGE = 0.1  # inches above the axes of a figure without a heading
_ROW = 0.24  # inches of what stands in a row of its own above the axes


@dataclass(frozen=True)
class Heading:
    """What stands around the axes; nothing where it stands in a page beside the figure.

    Attributes
    ----------
    title
        What is shown, in a few words.
    setup
        How it was run, in one line.
    caption
        What was published about it, and where.
    """

    title: str = ""
    setup: str = ""
    caption: str = ""


def sheet(
    heading: Heading,
    *,
    width: float = NARROW,
    height: float = 2.9,
    labels: float = 0.5,
    panels: int = 1,
    rows: int = 0,
    left: float = 0.72,
) -> tuple[Figure, list[Axes]]:
    """Return a figure with its heading and its caption, and its empty axes.

    Parameters
    ----------
    heading
        What stands around the axes.
    width
        Inches of the figure.
    height
        Inches of the axes.
    labels
        Inches below the axes for their labels.
    panels
        Axes side by side.
    rows
        Rows to leave free above the axes, for a legend or for their names.
    left
        Inches left of the axes.
    """
    from matplotlib.figure import Figure

    lines = textwrap.wrap(heading.caption, int((width - 0.3) * 72 / _LETTER))
    below = labels + (_FOOT if lines else 0.0) + _LINE * len(lines)
    tall = (_HEAD if heading.title else _EDGE) + _ROW * rows + height + below
    figure = Figure(figsize=(width, tall), dpi=_DPI, facecolor="white")
    edge = 0.15 / width
    words = (
        figure.text(edge, 1 - 0.14 / tall, heading.title, size=12.5, weight="bold", **_TOP),
        figure.text(edge, 1 - 0.40 / tall, heading.setup, size=9.5, **_TOP),
        figure.text(edge, 0.1 / tall, "\n".join(lines), size=8.5, **_BOTTOM),
    )
    for written, role in zip(words, ROLES, strict=True):
        written.set_gid(role)
    each = (width - left - _RIGHT - _GAP * (panels - 1)) / panels
    axes = []
    for panel in range(panels):
        start = left + panel * (each + _GAP)
        place = (start / width, below / tall, each / width, height / tall)
        axes.append(_plain(figure.add_axes(place)))
    return figure, axes


def stacked(figure: Figure, axes: Axes, parts: int, gap: float = 0.14) -> list[Axes]:
    """Cut axes into several of equal height, one above the other; return them from the top down.

    All but the lowest are without labels below. ``gap``: inches between them.
    """
    box, between = axes.get_position(), gap / figure.get_figheight()
    high = (box.height - between * (parts - 1)) / parts
    places = [box.y1 - high - part * (high + between) for part in range(parts)]
    axes.set_position((box.x0, places[-1], box.width, high))
    upper = [figure.add_axes((box.x0, place, box.width, high)) for place in places[:-1]]
    for part in upper:
        _plain(part).tick_params(axis="x", labelbottom=False)
    return [*upper, axes]


def take_heading(figure: Figure) -> Heading:
    """Return what stands around the axes of a figure, and leave it out of the figure.

    For a page, which writes it as text. A figure marks these words by their roles, as
    :func:`sheet` does.
    """
    found: dict[str, str] = {}
    for words in figure.texts:
        role = words.get_gid()
        if role in ROLES:
            found[role] = " ".join(words.get_text().split("\n"))
            words.set_visible(False)
    return Heading(**found)


def name_panel(axes: Axes, name: str) -> None:
    """Write what one of several axes shows above it, in a row left free there."""
    axes.set_title(name, size=9.5, color=INK, loc="left", pad=5)


_TOP: dict[str, Any] = {"color": INK, "va": "top"}
_BOTTOM: dict[str, Any] = {"color": INK, "va": "bottom"}


def _plain(axes: Axes) -> Axes:
    """Return axes without a box around them, with faint horizontal lines."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(INK)
    axes.tick_params(colors=INK, labelsize=9)
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=INK, alpha=FAINT, linewidth=0.6)
    axes.patch.set_alpha(0.0)
    return axes


def name_axes(axes: Axes, x: str, y: str) -> None:
    """Write what the axes show, with units."""
    axes.set_xlabel(x, size=9.5, color=INK)
    axes.set_ylabel(y, size=9.5, color=INK)


_SCALES = ((1.0, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns"))


def scale_of(long: float) -> tuple[float, str]:
    """Return what seconds are multiplied with on an axis of so many, and the unit: few zeros."""
    return next((each for each in _SCALES if long * each[0] >= _LEAST_SHOWN), _SCALES[-1])


def whole_ticks(axes: Axes) -> None:
    """Give the y axis of a count ticks at whole numbers, however few there are."""
    from matplotlib.ticker import MaxNLocator

    axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
    axes.yaxis.set_major_formatter("{x:,.0f}")


def legend(axes: Axes, columns: int = 1, *, inside: str = "", **content: Any) -> None:
    """Add the legend: above the axes at the right, or ``inside`` them, where Matplotlib is told.

    Whatever else is given is what Matplotlib is to show, in place of all that has a label.
    """
    place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0)}
    axes.legend(
        **({"loc": inside} if inside else place),
        ncols=columns,
        frameon=False,
        fontsize=8.5 if inside else 9,
        labelcolor=INK,
        handlelength=1.6,
        columnspacing=1.2,
        borderaxespad=0.2,
        **content,
    )


def room_for(names: Iterable[str]) -> float:
    """Return the inches that the names of rows take left of the axes."""
    return 0.25 + 0.078 * min(max(map(len, names), default=0), _NAME)


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Give the y axis a row for each name, from the top down."""
    wrapped = [textwrap.fill(name, _NAME) for name in names]
    axes.set_yticks(range(len(wrapped)), wrapped)
    axes.set_ylim(len(wrapped) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def doublings(axes: Axes, values: Sequence[float], labels: Sequence[str] | None = None) -> None:
    """Scale the x axis in powers of two, with a tick at each value."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(values), labels or [f"{value:g}" for value in values])
    axes.set_xticks([], minor=True)


def tenfolds(axes: Axes, between: Sequence[float] = (1.0,)) -> None:
    """Scale the y axis in powers of ten; label these multiples of them as plain numbers."""
    from matplotlib.ticker import LogLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=list(between)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.tick_params(axis="y", which="minor", length=0)


def shades(count: int) -> list[tuple[float, float, float, float]]:
    """Return colours for an ordered series, from dark to light, none of them too light."""
    from matplotlib import colormaps

    viridis = colormaps["viridis"]
    return [viridis(0.88 * place / max(count - 1, 1)) for place in range(count)]
