"""Runs side by side as one picture: how many times as fast each is as the first."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from sim.config.scenario import Scenario
from sim.results.pictures.scene import setup_of, setup_of_jobs
from sim.studies.case import Case, Phase
from sim.studies.compare.side import Side
from sim.studies.compare.side_by_side import PhaseOfSide, SideBySide
from sim.studies.compare.side_by_side_text import first_text, phase_title
from sim.studies.ratio import CONFIDENCE, Ratio
from sim.telling.answer import Picture
from sim.telling.sheet import (
    INK,
    PALETTE,
    WIDE,
    Heading,
    legend,
    name_axes,
    name_rows,
    room_for,
    sheet,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW = 0.34  # inches of a row of bars
_MOST = len(PALETTE)  # kinds of phases that are drawn


def side_by_side_pictures(found: SideBySide) -> Iterator[Picture]:
    """Yield the picture with its name; none where the sides have no kind of phase in common."""
    shown = _shown(found)
    if shown:
        yield Picture("side-by-side", partial(_figure, found, shown))


def _figure(found: SideBySide, shown: Mapping[Phase, tuple[PhaseOfSide, ...]]) -> Figure:
    """Draw how many times as fast each side is, phase by phase.

    Where all what-ifs are numbers of one value, a line for each kind of phase over that value, with
    ticks at the numbers that were run; else bars.
    """
    values = numbers_of(found.sides)
    caption = "The same seeds on all sides." if found.common_seeds else "Seeds differ."
    if len(found.seeds[0]) > 1:
        caption += f" Lines: {100 * CONFIDENCE:.0f} % intervals over {len(found.seeds[0])} seeds."
    if len(shown) < len(found.phases):
        caption += f" The {len(shown)} longest kinds of phases."
    names = [side.name for side in found.sides]
    heading = Heading(f"Side by side: times as fast as {first_text(found)}", _setup(found), caption)
    if values is None:
        height = _ROW * len(names) * len(shown) + 0.3
        figure, (axes,) = sheet(heading, width=WIDE, height=height, rows=1, left=room_for(names))
        _draw_bars(axes, found, shown)
    else:
        figure, (axes,) = sheet(heading, width=WIDE, rows=1)
        _draw_lines(axes, found, shown, values)
    legend(axes, columns=4)
    return figure


def numbers_of(sides: Sequence[Side]) -> list[float] | None:
    """Return the number of each side, if the what-ifs are numbers of one value; else None."""
    paths = {path for side in sides[1:] for path in side.values}
    if len(paths) != 1 or any(len(side.values) != 1 for side in sides[1:]):
        return None
    (path,) = paths
    found = [_present(sides[0], path), *(side.values[path] for side in sides[1:])]
    if not all(type(value) in (int, float) for value in found) or len(set(found)) < len(found):
        return None
    return [float(value) for value in found]


def _present(side: Side, path: str) -> Any:
    """Return the value that a side has at a path; None where it is none of a number's."""
    known = Case(side.scenario).machine.values()
    path = path.removeprefix("machine.")
    if path in known:
        return known[path]
    part: Any = side.scenario
    for name in path.split("."):
        part = getattr(part, name, None)
    return part


def _shown(found: SideBySide) -> dict[Phase, tuple[PhaseOfSide, ...]]:
    """Return the kinds of phases that have ratios; of many the longest."""
    rated = {
        phase: sides
        for phase, sides in found.phases.items()
        if any(one.ratio is not None for one in sides)
    }
    longest = sorted(rated, key=lambda phase: -rated[phase][0].mean)[:_MOST]
    return {phase: sides for phase, sides in rated.items() if phase in longest}


def _setup(found: SideBySide) -> str:
    """Say in a line what the first side runs."""
    scenario = found.sides[0].scenario
    if isinstance(scenario, Scenario):
        return setup_of(scenario)
    names = [job.name for job in scenario.jobs]
    return setup_of_jobs(scenario, Case(scenario).machine.name, names)


def _draw_lines(
    axes: Axes,
    found: SideBySide,
    shown: Mapping[Phase, tuple[PhaseOfSide, ...]],
    values: Sequence[float],
) -> None:
    for colour, (phase, sides) in zip(PALETTE, shown.items(), strict=False):
        points = sorted((values[one.side], one.ratio or Ratio(1.0)) for one in sides)
        axes.errorbar(
            [value for value, _ in points],
            [ratio.value for _, ratio in points],
            yerr=_errors([ratio for _, ratio in points]),
            label=phase_title(found, phase),
            color=colour,
            marker="o",
            capsize=3,
            linewidth=1.6,
        )
    axes.axhline(1.0, color=INK, linestyle=":", linewidth=1.0)
    axes.set_xticks(sorted(values), [f"{value:,g}" for value in sorted(values)])
    axes.set_ylim(bottom=0.0)
    (path,) = found.sides[1].values
    name_axes(axes, path, "times as fast")


def _draw_bars(
    axes: Axes, found: SideBySide, shown: Mapping[Phase, tuple[PhaseOfSide, ...]]
) -> None:
    thick = 0.8 / len(shown)
    for place, (colour, (phase, sides)) in enumerate(zip(PALETTE, shown.items(), strict=False)):
        ratios = [one.ratio or Ratio(1.0) for one in sides]
        axes.barh(
            [one.side - 0.4 + thick * (place + 0.5) for one in sides],
            [ratio.value for ratio in ratios],
            xerr=_errors(ratios),
            height=0.9 * thick,
            color=colour,
            ecolor=INK,
            label=phase_title(found, phase),
        )
    name_rows(axes, [textwrap.shorten(side.name, 70, placeholder="...") for side in found.sides])
    axes.axvline(1.0, color=INK, linestyle=":", linewidth=1.0)
    axes.grid(visible=False)
    name_axes(axes, "times as fast", "")


def _errors(ratios: Sequence[Ratio]) -> tuple[list[float], list[float]] | None:
    """Return how far intervals reach below and above; None where there are none."""
    if all(ratio.low is None for ratio in ratios):
        return None
    low = [0.0 if ratio.low is None else ratio.value - ratio.low for ratio in ratios]
    high = [0.0 if ratio.high is None else ratio.high - ratio.value for ratio in ratios]
    return low, high
