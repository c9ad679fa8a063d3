"""What the lessons share: run IOR, say what came of it, draw it, set published numbers beside it.

A lesson is a notebook in this folder, so Jupyter finds this module when it runs one. Figures look
as those of ``xc40io`` do: paper and colours are those of :mod:`xc40io.telling.sheet`.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from IPython.display import Image, display

import xc40io
from xc40io.config.scenario import checked_scenario
from xc40io.findings.waits import waits
from xc40io.results.pictures.album import album_of
from xc40io.telling.sheet import (
    INK,
    PALETTE,
    Heading,
    doublings,
    legend,
    name_axes,
    name_rows,
    room_for,
    sheet,
    tenfolds,
)
from xc40io.validation.target import FIRMNESS, load_targets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GB = 1e9
"""Bytes of a gigabyte."""

_COLUMNS = 96  # letters of a printed line
_DPI = 90


def run(ior: str, *, nodes: int, ppn: int, record: bool = False, **fields: Any) -> xc40io.Result:
    """Simulate an IOR command.

    Parameters
    ----------
    ior
        IOR's arguments: ``-w -b 8m -t 1m``.
    nodes, ppn
        Compute nodes, and processes (ranks) on each.
    record
        Whether to keep when each call, RPC and lock was: ``result.recording``.
    fields
        Other fields of :class:`xc40io.Scenario`. The machine is Theta unless given.

    Raises
    ------
    InputError
        If a field is unknown or wrong, or if the machine cannot run it.
    """
    asked = {"machine": "theta", "nodes": nodes, "ppn": ppn, "workload": {"ior": ior}, **fields}
    return xc40io.simulate(checked_scenario(asked, "run"), record=record)


def seconds(result: xc40io.Result, phase: str = "write") -> float:
    """Return how long a phase took, in seconds; the sum if there are several of that name."""
    phases = result.to_pandas()["phases"]
    return float(phases[phases.phase == phase].seconds.sum())


def speed(result: xc40io.Result, phase: str = "write") -> float:
    """Return how fast a phase moved bytes, in GB/s (GB = 10^9 bytes)."""
    phases = result.to_pandas()["phases"]
    return float(phases[phases.phase == phase].bytes.sum()) / seconds(result, phase) / GB


def why(result: xc40io.Result, most: int = 4) -> None:
    """Print what an average rank waited for in the whole run, the longest first."""
    for wait in waits(result)[:most]:
        print(f"{100 * wait.share:5.1f} %  {wait.words}")


def beside(row: str, simulated: str) -> None:
    """Print a published number, where it comes from, and the simulated one.

    Parameters
    ----------
    row
        The id of a row of ``validation/targets.csv``: ``B02``.
    simulated
        What to set beside it, with its unit.
    """
    target = load_targets()[row]
    value = target.value if target.unit == "-" else f"{target.value} {target.unit}"
    setting = f"; {target.config}" if target.config else ""
    print(f"{row}  published  {value}")
    print(f"     simulated  {simulated}")
    about = f"{target.claim}{setting}. {target.source} ({FIRMNESS[target.firmness]})."
    print(textwrap.fill(about, _COLUMNS, initial_indent=" " * 5, subsequent_indent=" " * 5))


def show(figure: Figure) -> None:
    """Show a figure below the cell, as PNG."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=_DPI, metadata={"Software": None})
    display(Image(picture.getvalue()))  # type: ignore[no-untyped-call]


def picture(result: xc40io.Result, name: str) -> None:
    """Show one of the pictures that ``xc40io ... --plots`` draws: ``osts``, ``locks``, ``gantt``.

    Raises
    ------
    LookupError
        If the run has nothing to show there; names those that there are.
    """
    names = []
    for picture in album_of(result).pictures:
        if picture.name == name:
            return show(picture.draw())
        names.append(picture.name)
    raise LookupError(f"no picture {name!r} of this run; there are {', '.join(names)}")


def bars(title: str, values: Mapping[str, float], unit: str, setup: str = "") -> None:
    """Show a bar for each value, with its number; the names stand at the left.

    Parameters
    ----------
    title, setup
        What is shown, and how it was run.
    values
        The length of each bar by its name.
    unit
        What the numbers are: ``GB/s``.
    """
    figure, (axes,) = sheet(
        Heading(title, setup), height=0.34 * len(values), left=room_for(values), labels=0.5
    )
    axes.barh(range(len(values)), list(values.values()), height=0.66, color=PALETTE[0])
    most = max(values.values())
    for row, value in enumerate(values.values()):
        said = f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
        axes.text(value + 0.01 * most, row, said, va="center", size=9, color=INK)
    name_rows(axes, list(values))
    axes.set_xlim(0, 1.14 * most)
    axes.grid(visible=False)
    name_axes(axes, unit, "")
    show(figure)


def lines(
    title: str,
    x: tuple[str, Sequence[float]],
    y: str,
    series: Mapping[str, Sequence[float]],
    *,
    setup: str = "",
    published: Mapping[float, float] | None = None,
    labels: Sequence[str] | None = None,
    logarithmic: bool = False,
) -> None:
    """Show lines over values that double, with a tick at each value that was run.

    Parameters
    ----------
    title, setup
        What is shown, and how it was run.
    x
        What the values along the x axis are, with their unit, and the values.
    y
        What the y axis shows, with its unit.
    series
        The heights of each line, by its name.
    published
        Published heights by their value of x: black marks.
    labels
        What is written at the ticks, if not the values themselves.
    logarithmic
        Whether the y axis is scaled in powers of ten.
    """
    name, values = x
    figure, (axes,) = sheet(Heading(title, setup), height=2.6, rows=1)
    for (line, heights), colour in zip(series.items(), PALETTE, strict=False):
        axes.plot(values, heights, marker="o", markersize=4.5, color=colour, label=line)
    if published:
        marks = list(published), list(published.values())
        axes.plot(*marks, "D", color=INK, markersize=6, label="published", zorder=3)
    doublings(axes, values, labels)
    if logarithmic:
        tenfolds(axes, (1.0, 3.0))
    else:
        axes.set_ylim(bottom=0)
    name_axes(axes, name, y)
    legend(axes, columns=len(series) + bool(published))
    show(figure)


def spans(title: str, rows: Mapping[str, Mapping[str, float]], unit: str, setup: str = "") -> None:
    """Show how times add up: a row for each name, cut into its parts one after the other.

    Parameters
    ----------
    title, setup
        What is shown, and how it was run.
    rows
        For each row the lengths of its parts; the same parts in all rows.
    unit
        Of the lengths, and what they are: ``time since the OSC sent it (ms)``.
    """
    parts = list(next(iter(rows.values())))
    lines_of_legend = (len(parts) + 2) // 3
    figure, (axes,) = sheet(
        Heading(title, setup), height=0.4 * len(rows), rows=lines_of_legend, left=room_for(rows)
    )
    places, left = range(len(rows)), [0.0] * len(rows)
    for part, colour in zip(parts, PALETTE, strict=False):
        lengths = [row[part] for row in rows.values()]
        axes.barh(places, lengths, left=left, height=0.66, color=colour, label=part)
        left = [start + length for start, length in zip(left, lengths, strict=True)]
    name_rows(axes, list(rows))
    axes.grid(visible=False)
    name_axes(axes, unit, "")
    legend(axes, columns=3)
    show(figure)
