"""How far simulated numbers are from measured ones: all of a report, a row for each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xc40io.telling.sheet import (
    FAINT,
    INK,
    OTHER,
    READ,
    WRITE,
    Heading,
    legend,
    name_axes,
    name_rows,
    room_for,
    sheet,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BAND = (0.75, 1.25)
"""Simulated over measured, from and to which a number is near."""

_ENDS = (0.25, 4.0)
_LOOKS = {"calibration": ("s", OTHER), "check": ("o", WRITE), "prediction": ("D", READ)}
_TICKS = (0.25, 0.5, 0.75, 1.0, 1.25, 2.0, 4.0)


@dataclass(frozen=True)
class Ratio:
    """Simulated over measured of one number; which kind of number it is."""

    ratio: float
    role: str


def draw_ratios(heading: Heading, groups: Mapping[str, Sequence[Ratio]]) -> Figure:
    """Draw a point for each number in the row of its group; one beyond the axis at its end."""
    tall = 0.36 * len(groups) + 0.2
    figure, (axes,) = sheet(heading, width=7.6, height=tall, left=room_for(groups), rows=1)
    axes.axvspan(*BAND, color=INK, alpha=FAINT / 2, linewidth=0)
    axes.axvline(1.0, color=INK, linewidth=0.8)
    for role, (sign, colour) in _LOOKS.items():
        points = [
            (min(max(one.ratio, _ENDS[0]), _ENDS[1]), row)
            for row, ratios in enumerate(groups.values())
            for one in ratios
            if one.role == role
        ]
        x, y = zip(*points, strict=True) if points else ((), ())
        axes.plot(x, y, sign, color=colour, markersize=5, alpha=0.8, label=role, clip_on=False)
    axes.set_xscale("log")
    axes.set_xlim(*_ENDS)
    axes.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
    axes.set_xticks([], minor=True)
    name_rows(axes, list(groups))
    name_axes(axes, "simulated / measured", "")
    legend(axes, len(_LOOKS))
    return figure
