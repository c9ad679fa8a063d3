"""A picture of how many RPCs, requests and locks were waited for over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xc40io.engine.types import Floats, Integers
from xc40io.plane.recorder import Records
from xc40io.plane.stations import StationKind
from xc40io.results.pictures.clock import Clock, timed_sheet
from xc40io.results.pictures.scene import Scene
from xc40io.telling.sheet import (
    OTHER,
    READ,
    WRITE,
    Heading,
    legend,
    name_axes,
    stacked,
    whole_ticks,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANEL = 1.35  # inches
_COLOURS = {
    "at the disks": WRITE,
    "waiting at their OST": READ,
    "on their way there": OTHER,
    "until the reply or the data": "#cc79a7",
    "being served": WRITE,
    "waiting there": READ,
    "asked for, not yet there": WRITE,
}
"""Of each place, the same in every picture."""


@dataclass(frozen=True, eq=False)
class Queue:
    """How many of a kind there were over time."""

    name: str  # what they are
    parts: Mapping[str, Floats]
    """float64 (columns,) by where they were, of places where any was: how many, on average over a
    column. Their sum is the number of all."""


@dataclass(frozen=True, eq=False)
class Queues:
    """What was waited for over time."""

    clock: Clock
    queues: tuple[Queue, ...]
    most: int  # of any kind at the same time


def queues_of(scene: Scene) -> Queues | None:
    """Return the lengths of queues over time; None without a recording, or if all were empty."""
    result = scene.result
    if result.recording is None:
        return None
    recording, table = result.recording, result.station_table
    clock = Clock.of(scene.end, table.bin_width)
    mds = table.number[table.kind == StationKind.MDS]
    queues = [
        _rpcs(clock, recording.rpcs),
        _requests(clock, recording.requests, mds),
        _queue(
            "extent locks",
            {"asked for, not yet there": _mean(clock, recording.locks, "asked", "granted")},
        ),
    ]
    shown = tuple(queue for queue in queues if queue.parts)
    there = recording.requests[np.isin(recording.requests["station"], mds)]
    most = max(
        _at_once(recording.rpcs, "start", "ended"),
        _at_once(there, "arrived", "ended"),
        _at_once(recording.locks, "asked", "granted"),
    )
    return Queues(clock, shown, most) if shown else None


def silent_queues(found: Queues) -> str:
    """Say why a picture of it would say nothing."""
    return "" if found.most > 1 else "never two of a kind at the same time"


def _at_once(records: Records, since: str, until: str) -> int:
    """Return how many records at most were between two of their times at the same moment."""
    begun, ended = (np.sort(records[time][records[since] < np.inf]) for time in (since, until))
    before = np.searchsorted(ended, begun, side="right")
    return int((np.arange(1, len(begun) + 1) - before).max(initial=0))


def _queue(name: str, parts: Mapping[str, Floats]) -> Queue:
    """Return a queue without the places that stay empty: a legend names no colour in vain."""
    return Queue(name, {where: part for where, part in parts.items() if part.any()})


def _rpcs(clock: Clock, rpcs: Records) -> Queue:
    """Return where RPCs were.

    When an array has turned to the next RPC it may still be a while until the one before has its
    reply: heads settle, parity is written; then comes the way back.
    """
    return _queue(
        "RPCs",
        {
            "at the disks": _mean(clock, rpcs, "begun", "served"),
            "waiting at their OST": _mean(clock, rpcs, "arrived", "begun"),
            "on their way there": _mean(clock, rpcs, "start", "arrived"),
            "until the reply or the data": _mean(clock, rpcs, "served", "ended"),
        },
    )


def _requests(clock: Clock, requests: Records, mds: Integers) -> Queue:
    """Return where small requests were that an MDS serves."""
    there = requests[np.isin(requests["station"], mds)]
    return _queue(
        "MDS requests",
        {
            "being served": _mean(clock, there, "begun", "ended"),
            "waiting there": _mean(clock, there, "arrived", "begun"),
        },
    )


def _mean(clock: Clock, records: Records, since: str, until: str) -> Floats:
    """Return how many records were between two of their times, on average over each column."""
    row = np.zeros(len(records), np.int64)
    seconds: Floats = clock.seconds_in(records[since], records[until], row, 1)[0]
    return seconds / clock.width


def draw_queues(scene: Scene, found: Queues) -> Figure:
    """Draw how many there were of each kind, one above the other."""
    clock = found.clock
    heading = Heading(
        "What was waited for over time",
        scene.setup,
        f"How many there were at a time, on average over each {clock.column_words}; the upper edge "
        "is their sum. RPCs are BRW RPCs of all OSCs, from when they are sent until the client "
        "has the reply, or the data.",
    )
    count = len(found.queues)
    figure, axes = timed_sheet(scene, heading, height=_PANEL * count, left=0.8)
    panels = stacked(figure, axes, count)
    for panel, queue in zip(panels, found.queues, strict=True):
        base = np.zeros(clock.columns)
        for name, part in queue.parts.items():
            panel.stairs(
                base + part, clock.edges, baseline=base, fill=True, color=_COLOURS[name], label=name
            )
            base = base + part
        panel.set_ylim(0.0, 1.25 * float(base.max()))
        whole_ticks(panel)
        clock.shade(panel, scene.lanes)
        clock.name_axis(panel)
        name_axes(panel, panel.get_xlabel() if panel is axes else "", queue.name)
        legend(panel, columns=len(queue.parts), inside="upper right")
    clock.draw_lanes(figure, panels[0], scene.lanes)
    return figure
