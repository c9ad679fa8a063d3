"""Curves over one axis: series of simulated values, and published points with their error bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xc40io.telling.sheet import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIGNS = ("o", "s", "^", "v", "D", "P", "X")
"""Markers of the curves of one chart, so that they can be told apart without colour."""


@dataclass(frozen=True)
class Point:
    """A published value at x, with the ends of its error bar, if it has one."""

    x: float
    value: float
    bar: tuple[float, float] | None = None


def curve(axes: Axes, points: Mapping[int, float], label: str, **style: Any) -> None:
    """Draw simulated values by x, in the order of x, with a marker at each."""
    x = sorted(points)
    looks: dict[str, Any] = {"marker": "o", "markersize": 4.5, "linewidth": 1.6} | style
    axes.plot(x, [points[each] for each in x], label=label, **looks)


def measured(axes: Axes, points: Sequence[Point], label: str = "published") -> None:
    """Draw published values."""
    for point in points:
        if point.bar is not None:
            axes.plot([point.x] * 2, point.bar, color=INK, linewidth=1, marker="_", zorder=2.5)
    x, value = [point.x for point in points], [point.value for point in points]
    style: dict[str, Any] = {"markeredgecolor": "white", "markersize": 6.5, "zorder": 3}
    axes.plot(x, value, "D", color=INK, label=label, **style)
