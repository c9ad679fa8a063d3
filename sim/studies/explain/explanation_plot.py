"""Pictures of an explanation: how many times as fast a phase is without a part, with a change."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from sim.config.scenario import Scenario
from sim.config.units import format_seconds
from sim.results.pictures.scene import setup_of, setup_of_jobs
from sim.studies.explain.explanation import WORTH_SAYING, Explanation, PhaseExplanation, Tried
from sim.studies.explain.remedies import Kind
from sim.telling.answer import Picture
from sim.telling.sheet import (
    INK,
    OTHER,
    READ,
    WIDE,
    WRITE,
    Heading,
    legend,
    name_axes,
    sheet,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHOWN = 5
"""Bars of each group at most."""

_ROW = 0.25  # inches of a row
_LETTERS = 58  # of the words beside a bar
_LETTER = 0.069  # inches of one of them
_FAR = 6.0  # times: gains beyond this need a logarithmic axis
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_PLACE_OF_NUMBER = 3  # points right of a bar


class _Group(NamedTuple):
    """Bars of one colour."""

    name: str
    colour: str
    tried: Sequence[Tried]
    word: str


def explanation_pictures(explanation: Explanation) -> Iterator[Picture]:
    """Yield a picture for each kind of phase with its name; none where nothing was tried."""
    for place, phase in enumerate(explanation.phases):
        groups = _groups(phase)
        if groups:
            name = phase_title(explanation, phase)
            draw = partial(_gains_figure, explanation, phase, name, groups)
            yield Picture(f"gains-{place}", draw)


def phase_title(explanation: Explanation, phase: PhaseExplanation) -> str:
    """Return what a kind of phase is called; with its job and its test where there are several."""
    return phase.phase.title(several=len({other.phase.part for other in explanation.phases}) > 1)


def _groups(phase: PhaseExplanation) -> list[_Group]:
    """Return the bars of a phase: parts of the path, then changes by who can make them."""
    colours = {Kind.SETTING: WRITE, Kind.PROGRAM: OTHER, Kind.MACHINE: READ}
    part = "without a part of the path" + (", or another job" if phase.others else "")
    groups = [_Group(part, INK, phase.without[:_SHOWN], "without")]
    for kind, colour in colours.items():
        tried = [one for one in phase.changed if one.kind == kind][:_SHOWN]
        groups.append(_Group(f"with a change of {kind.value}", colour, tried, "with"))
    return [group for group in groups if group.tried]


def _gains_figure(
    explanation: Explanation, phase: PhaseExplanation, name: str, groups: Sequence[_Group]
) -> Figure:
    """Draw a bar for each run that was made, from 1: as it is."""
    bars = [(group, one) for group in groups for one in group.tried]
    heading = Heading(
        f"What would help: {name}, {format_seconds(phase.seconds, 3)} as it is",
        _setup(explanation),
        "Each bar is a run that was made: how many times as fast the phase is then. A part "
        f"is to blame, and a change helps, beyond the dotted line: {WORTH_SAYING:g} times as fast. "
        f"At most {_SHOWN} of each kind, the best.",
    )
    words = [
        textwrap.shorten(f"{group.word} {one.words}", _LETTERS, placeholder=" ...")
        for group, one in bars
    ]
    figure, (axes,) = sheet(
        heading,
        width=WIDE,
        height=_ROW * len(bars) + 0.1,
        rows=len(groups),
        left=0.25 + _LETTER * max(map(len, words)),
    )
    for row, (group, one) in enumerate(bars):
        axes.barh(row, one.gain - 1.0, left=1.0, height=0.66, color=group.colour)
        _tell(axes, row, one)
    axes.set_yticks(range(len(words)), words)
    axes.set_ylim(len(words) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    _scale(axes, [one.gain for _, one in bars])
    axes.axvline(1.0, color=INK, linewidth=1.0)
    axes.axvline(WORTH_SAYING, color=INK, linestyle=":", linewidth=1.0)
    axes.grid(visible=False)
    name_axes(axes, "times as fast as it is", "")
    _name_groups(axes, groups)
    return figure


def _setup(explanation: Explanation) -> str:
    """Say in a line what was run."""
    scenario, results = explanation.scenario, explanation.results
    if isinstance(scenario, Scenario):
        return setup_of(scenario)
    machine = next(iter(results.values())).machine
    return setup_of_jobs(scenario, machine.name, list(results))


def _tell(axes: Axes, row: int, one: Tried) -> None:
    """Write the gain right of its bar, above the dotted line."""
    axes.annotate(
        f"{one.gain:.2f}",
        (max(one.gain, 1.0), row),
        (_PLACE_OF_NUMBER, 0),
        textcoords="offset points",
        va="center",
        size=8.5,
        color=INK,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
    )


def _scale(axes: Axes, gains: Sequence[float]) -> None:
    """Scale the axis of gains: linear, or logarithmic where they are far apart; plain ticks."""
    low, high = min(*gains, 1.0), max(*gains, WORTH_SAYING)
    if high <= _FAR * low:
        room = 0.1 * (high - low)
        axes.set_xlim(low - 0.2 * room, high + room)
        axes.xaxis.set_major_formatter("{x:g}")
        return
    axes.set_xscale("log")
    axes.set_xlim(low / (1.1 if low < 1.0 else 1.0), high * 1.25)
    first, last = axes.get_xlim()
    axes.set_xticks([tick for tick in _TICKS if first <= tick <= last])
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter("{x:g}")


def _name_groups(axes: Axes, groups: Sequence[_Group]) -> None:
    """Say which colour is which, one below the other above the axes."""
    from matplotlib.patches import Patch

    handles = [Patch(color=group.colour, label=group.name) for group in groups]
    legend(axes, handles=handles)
