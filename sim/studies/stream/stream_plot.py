"""A picture of a stream of jobs: which nodes they had when, and what the file system moved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from xc40io.config.units import GB
from xc40io.run.streaming.stream_outcome import StreamOutcome, StreamResult
from xc40io.telling.sheet import (
    INK,
    PALETTE,
    WIDE,
    WRITE,
    Heading,
    name_axes,
    sheet,
    stacked,
)
from xc40io.topology.text import format_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_UNITS = ((86400.0, "d", "days"), (3600.0, "h", "hours"), (60.0, "min", "minutes"))
_ENOUGH = 3.0  # of a unit, for the axis to be in it


class _Axis(NamedTuple):
    """In which unit an axis of time is: its seconds and its name."""

    seconds: float
    name: str


def stream_figure(result: StreamResult) -> Figure:
    """Draw a stream."""
    axis = _axis(result.end)
    heading = Heading(
        "Which nodes each job had and when, and what the file system moved",
        f"{format_count(len(result.jobs), 'job')} on {format_count(result.nodes, 'node')} of "
        f"{result.machine.name}, queue {result.scenario.queue.policy}, seed "
        f"{result.scenario.seed}; nodes in use {100.0 * result.utilisation:.1f} % of the time",
        "Above, a job is a rectangle from its begin until its nodes were clean for the next one, "
        "as high as it has nodes; colours only tell neighbours apart. Below: jobs in the queue, "
        "and bytes that the OSTs read and wrote. GB\u00a0=\u00a010^9\u00a0bytes.",
    )
    figure, (whole,) = sheet(heading, width=WIDE, height=5.6)
    nodes, queue, rate = _parts(figure, whole)
    _draw_nodes(nodes, result, axis)
    _draw_queue(queue, result, axis)
    _draw_rate(rate, result, axis)
    for part in (nodes, queue, rate):
        part.set_xlim(0.0, result.end / axis.seconds)
    return figure


def _parts(figure: object, whole: Axes) -> tuple[Axes, Axes, Axes]:
    """Split axes into three: nodes (twice as high), the queue, and the file system."""
    first, second, third, fourth = stacked(figure, whole, 4)  # type: ignore[arg-type]
    above, below = first.get_position(), second.get_position()
    first.set_position((above.x0, below.y0, above.width, above.y1 - below.y0))
    second.remove()
    return first, third, fourth


def _axis(end: float) -> _Axis:
    """Return the unit of the axis of time."""
    for seconds, _, name in _UNITS:
        if end >= _ENOUGH * seconds:
            return _Axis(seconds, name)
    return _Axis(1.0, "seconds")


def _draw_nodes(axes: Axes, result: StreamResult, axis: _Axis) -> None:
    """Draw a rectangle for each run of neighbouring nodes of each job."""
    from matplotlib.collections import PolyCollection

    boxes, colours = [], []
    for number, job in enumerate(result.jobs):
        begin, end = job.started / axis.seconds, job.given_back / axis.seconds
        for first, last in _runs(job):
            low, high = first - 0.5, last + 0.5
            boxes.append([(begin, low), (end, low), (end, high), (begin, high)])
            colours.append(PALETTE[number % len(PALETTE)])
    axes.add_collection(
        PolyCollection(boxes, facecolors=colours, edgecolors="white", linewidths=0.15)
    )
    axes.set_ylim(-0.5, result.nodes - 0.5)
    axes.grid(visible=False)
    name_axes(axes, "", "node")


def _runs(job: StreamOutcome) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each run of neighbouring nodes."""
    nodes = np.sort(job.nodes)
    for part in np.split(nodes, np.flatnonzero(np.diff(nodes) != 1) + 1):
        yield int(part[0]), int(part[-1])


def _draw_queue(axes: Axes, result: StreamResult, axis: _Axis) -> None:
    """Draw how many jobs waited."""
    from matplotlib.ticker import MaxNLocator

    came = np.array([job.submitted for job in result.jobs])
    went = np.array([job.started for job in result.jobs])
    times = np.sort(np.concatenate([came, went]))
    waiting = np.searchsorted(np.sort(came), times, "right") - np.searchsorted(
        np.sort(went), times, "right"
    )
    axes.step(times / axis.seconds, waiting, where="post", color=INK, linewidth=0.8)
    axes.set_ylim(0.0, max(float(waiting.max(initial=0)) * 1.08, 1.0))
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    name_axes(axes, "", "jobs waiting")


def _draw_rate(axes: Axes, result: StreamResult, axis: _Axis) -> None:
    """Draw the bytes/s of the file system."""
    width, moved = result.bandwidth.width, result.bandwidth.bytes
    edges = np.arange(len(moved) + 1) * width / axis.seconds
    axes.stairs(moved / width / GB, edges, fill=True, color=WRITE)
    axes.set_ylim(bottom=0.0)
    name_axes(axes, f"simulated {axis.name}", "GB/s")
