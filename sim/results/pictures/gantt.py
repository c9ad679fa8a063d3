"""A picture of what ranks waited for, and when: a row for each rank, a colour for each cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xc40io.config.units import format_seconds
from xc40io.engine.types import Integers
from xc40io.findings.waits import AT_WORDS, Words, words_of
from xc40io.plane.causes import Cause
from xc40io.results.pictures.clock import Clock
from xc40io.results.pictures.ranks import (
    CAUSE_LINE,
    OTHER_CAUSES,
    SHOWN,
    name_causes,
    rank_shares_of,
)
from xc40io.results.pictures.scene import few, lanes_of, setup_of
from xc40io.run.recording import Recording
from xc40io.run.result import Result
from xc40io.telling.sheet import (
    PALETTE,
    REST,
    SMALL,
    WIDE,
    Heading,
    name_axes,
    room_for,
    sheet,
)
from xc40io.topology.text import format_count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = 600
_NAMED = len(PALETTE)
_WORTH = 0.002  # share of all time that a cause is worth a name
_NOTHING = "nothing: it had ended its phase, or had not begun"
_IDLE = -1


@dataclass(frozen=True, eq=False)
class Gantt:
    """What some ranks waited for over time."""

    clock: Clock  # the columns
    ranks: int  # how many the job has
    rows: Integers
    """int64 (rows, 2): which rank each row is, and which of its threads, 0 for itself."""
    names: tuple[str, ...]  # what they waited for, the most first; small causes together at last
    longest: Integers
    """int64 (rows, columns): which of ``names`` had most of the column; -1 where the rank waited
    for nothing in most of it."""


def gantt_of(result: Result) -> Gantt | None:
    """Return each rank's longest wait in each span of time; None without a recording or any wait.

    They are in the order of the picture of their shares (:mod:`.ranks`); of too many, some that are
    spread evenly over that order.
    """
    recording, shares = result.recording, rank_shares_of(result)
    if recording is None or shares is None:
        return None
    rows, programs = _rows(recording, shares.shown)
    row_of = np.full(len(recording.ranks), -1)
    row_of[programs] = np.arange(len(programs))
    spans = recording.spans[row_of[recording.spans["program"]] >= 0]
    if not len(spans):
        return None
    end = result.started + result.simulated
    clock = Clock(end, end / _COLUMNS, 1)
    words = words_of(result.machine, AT_WORDS)
    number, names = _names(recording, end * np.count_nonzero(recording.ranks >= 0), words)
    kind = number[spans["cause"]]
    row = row_of[spans["program"]] * len(names) + kind
    total = clock.seconds_in(spans["since"], spans["until"], row, len(rows) * len(names))
    seconds = total.reshape(len(rows), len(names), clock.columns)
    longest = seconds.argmax(axis=1)
    longest[seconds.sum(axis=1) < clock.width / 2] = _IDLE
    return Gantt(clock, int(recording.ranks.max()) + 1, rows, names, longest)


def _rows(recording: Recording, order: Integers) -> tuple[Integers, Integers]:
    """Return rank and thread of each row, and the program that it is of."""
    own = np.flatnonzero(recording.ranks >= 0)
    each = 1 + int(recording.threads[own].max(initial=0))
    most = max(SHOWN // each, 1)
    if len(order) > most:
        order = order[np.linspace(0, len(order) - 1, most).round().astype(np.int64)]
    place = np.full(int(recording.ranks.max()) + 1, -1)
    place[order] = np.arange(len(order))
    shown = own[place[recording.ranks[own]] >= 0]
    shown = shown[np.lexsort((recording.threads[shown], place[recording.ranks[shown]]))]
    rows = np.stack([recording.ranks[shown], recording.threads[shown]], axis=1, dtype=np.int64)
    return rows, shown.astype(np.int64)


def _names(recording: Recording, total: float, words: Words) -> tuple[Integers, tuple[str, ...]]:
    """Return which name each cause has, and the names; ``total``: seconds of all programs."""
    spans = recording.of_job(recording.spans)
    seconds = np.zeros(len(Cause))
    np.add.at(seconds, spans["cause"], spans["until"] - spans["since"])
    longest = [Cause(cause) for cause in np.argsort(-seconds, kind="stable")[:_NAMED]]
    named = [cause for cause in longest if seconds[cause] > _WORTH * total]
    number = np.full(len(Cause), len(named))
    number[named] = np.arange(len(named))
    rest = (OTHER_CAUSES,) if seconds.sum() > seconds[named].sum() else ()
    return number, (*(words[cause] for cause in named), *rest)


def draw_gantt(result: Result, found: Gantt, job: str = "") -> Figure:
    """Draw a row for each rank: what it waited for most in each column of time."""
    from matplotlib.colors import ListedColormap

    clock, rows = found.clock, len(found.rows)
    heading = Heading(
        "What each rank was doing over time, while it waited" + (f": job {job}" if job else ""),
        setup_of(result.scenario),
        f"A row is {_row_words(found)}, in the same order as in the picture of shares. Each "
        f"{format_seconds(float(f'{clock.width:.3g}'))} has the colour of what took most of it.",
    )
    lanes = tuple(few(lanes_of(result)))
    lane_names = [lane.name for lane in lanes]
    names, colours = (*found.names, _NOTHING), _colours(found)
    places = np.where(found.longest == _IDLE, len(found.names), found.longest)
    seen = np.unique(places).tolist()
    figure, (axes,) = sheet(
        heading,
        width=WIDE,
        height=min(0.6 + 0.1 * rows, 4.2),
        labels=0.5 + CAUSE_LINE * len(seen),
        rows=len(lanes),
        left=max(room_for(lane_names), 0.5),
    )
    axes.pcolormesh(
        clock.edges,
        np.arange(rows + 1),
        places,
        cmap=ListedColormap(colours),
        vmin=-0.5,
        vmax=len(colours) - 0.5,
    )
    axes.set(ylim=(rows, 0), yticks=[])
    axes.grid(visible=False)
    name_axes(axes, "", format_count(found.ranks, "rank"))
    clock.name_axis(axes)
    clock.draw_lanes(figure, axes, lanes)
    name_causes(figure, axes, [names[at] for at in seen], [colours[at] for at in seen])
    return figure


def _colours(found: Gantt) -> list[str]:
    """Return the colours of the names, then that of having nothing to wait for."""
    rest = OTHER_CAUSES in found.names
    return [*PALETTE[: len(found.names) - rest], *([SMALL] if rest else []), REST]


def _row_words(found: Gantt) -> str:
    """Say what a row is."""
    shown = len(np.unique(found.rows[:, 0]))
    ranks = format_count(found.ranks, "rank")
    which = ranks if shown == found.ranks else f"{shown:,} of {ranks}"
    threads = int(found.rows[:, 1].max())
    if threads:
        return f"a rank, or below it one of its {format_count(threads, 'I/O thread')}; {which}"
    return f"a rank; {which}"
