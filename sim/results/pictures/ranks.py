"""A picture of what each rank waited for: shares of its time, not when it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from xc40io.engine.types import Floats
from xc40io.findings.waits import words_of
from xc40io.plane.causes import Cause
from xc40io.results.pictures.scene import setup_of
from xc40io.run.result import Result
from xc40io.telling.sheet import (
    INK,
    PALETTE,
    REST,
    SMALL,
    WIDE,
    Heading,
    name_axes,
    sheet,
)
from xc40io.topology.text import format_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = 500
"""Ranks that are shown at most."""

CAUSE_LINE = 0.165
"""Inches of a line of the legend."""

OTHER_CAUSES = "anything else"
"""What small causes are called together."""

_NAMED = 7
_SEEN = 0.002  # share of a bar: the colour of what is less is nowhere
_WORTH = 0.005  # share of all time that a cause is worth a name
_WAITS_FOR_OTHERS = "other ranks to end the phase, or the next phase to begin"


@dataclass(frozen=True, eq=False)
class RankShares:
    """What some ranks waited for."""

    ranks: int  # how many the job has
    shown: np.ndarray  # int64 (shown,): which of them these are, in the order of the rows
    names: tuple[str, ...]
    """What they waited for, the most first; small causes together, and the time in which a rank had
    nothing to do at last."""
    shares: Floats  # float64 (shown, names): of the rank's time, 0 to 1; each row adds up to 1


def rank_shares_of(result: Result) -> RankShares | None:
    """Return the shares of each rank's time by what it waited for; None if the job took no time.

    They are sorted by what they waited for most, all together. Of more than :data:`SHOWN` ranks
    each so-manieth of this order is shown.
    """
    if result.simulated <= 0.0:
        return None
    shares = np.clip(result.waits / result.simulated, 0.0, 1.0)
    means = shares.mean(axis=0)
    causes = [Cause(cause) for cause in np.argsort(-means, kind="stable")]
    words = words_of(result.machine)
    named = [cause for cause in causes[:_NAMED] if means[cause] >= _WORTH and cause in words]
    columns = {words[cause]: shares[:, cause] for cause in named}
    columns[OTHER_CAUSES] = shares.sum(axis=1) - shares[:, named].sum(axis=1)
    columns[_WAITS_FOR_OTHERS] = 1.0 - shares.sum(axis=1)
    table = np.maximum(np.stack(list(columns.values()), axis=1), 0.0)
    order = np.lexsort([-column for column in table.T[::-1]])
    chosen = order[_spread(len(order))]
    return RankShares(len(order), chosen, tuple(columns), table[chosen])


def _spread(ranks: int) -> np.ndarray:
    """Return at most :data:`SHOWN` places among the ranks, from the first to the last."""
    if ranks <= SHOWN:
        return np.arange(ranks)
    return np.linspace(0, ranks - 1, SHOWN).round().astype(np.int64)


def draw_ranks(result: Result, found: RankShares, job: str = "") -> Figure:
    """Draw a bar for each rank, cut into what it waited for."""
    shown = len(found.shown)
    which = format_count(found.ranks, "rank")
    if shown < found.ranks:
        which = f"{shown:,} of {which}"
    heading = Heading(
        "What each rank waited for" + (f": job {job}" if job else ""),
        setup_of(result.scenario),
        f"A bar is a rank, and shows shares of the {result.simulated:.4g} s that the job took, not "
        f"when it waited: {which}, sorted by the first cause, then by the next.",
    )
    lines = CAUSE_LINE * len(found.names)
    figure, (axes,) = sheet(
        heading, width=WIDE, height=min(0.6 + 0.1 * shown, 4.2), labels=0.5 + lines, left=0.5
    )
    edges = np.arange(shown + 1)
    left = np.zeros(shown)
    for shares, colour in zip(found.shares.T, _colours(found), strict=True):
        right = left + 100 * shares
        axes.stairs(
            right,
            edges,
            baseline=left,
            orientation="horizontal",
            fill=True,
            color=colour,
        )
        left = right
    axes.set(xlim=(0, 100), ylim=(shown, 0), yticks=[])
    axes.grid(visible=False)
    name_axes(axes, "share of the time of the job (%)", which)
    seen = [share > _SEEN for share in found.shares.max(axis=0, initial=0.0).tolist()]
    names, colours = (list(compress(all_of, seen)) for all_of in (found.names, _colours(found)))
    name_causes(figure, axes, names, colours)
    return figure


def _colours(found: RankShares) -> list[str]:
    """Return the colours of the causes, then the colours of the rest."""
    return [*PALETTE[: len(found.names) - 2], SMALL, REST]


def name_causes(figure: Figure, axes: Axes, names: Sequence[str], colours: Sequence[str]) -> None:
    """Name the causes below the axes, one a line."""
    from matplotlib.patches import Patch

    box = axes.get_position()
    figure.legend(
        [Patch(color=colour) for colour in colours],
        names,
        loc="upper left",
        bbox_to_anchor=(box.x0, box.y0 - 0.48 / figure.get_figheight()),
        frameon=False,
        fontsize=8.5,
        labelcolor=INK,
        handlelength=1.4,
        labelspacing=0.35,
        borderaxespad=0.0,
        borderpad=0.0,
    )
