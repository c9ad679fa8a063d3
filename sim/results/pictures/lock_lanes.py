"""A picture of the locks of one object changing hands: a lane for each client node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xc40io.engine.types import Floats, Integers
from xc40io.lustre.locks import MODE_GROUP, MODE_PR, MODE_PW
from xc40io.plane.recorder import Records
from xc40io.results.pictures.scene import Scene
from xc40io.run.recording import Recording
from xc40io.telling.sheet import (
    FAINT,
    INK,
    OTHER,
    READ,
    WIDE,
    WRITE,
    Heading,
    legend,
    name_axes,
    scale_of,
    sheet,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_LOCKS = 400
_MOST_ROWS, _MOST_LANES = 130, 32
_ROW, _LANE, _LEAST = 0.045, 0.17, 1.0  # inches of a row, of a lane, and of all at least
_AT_ONCE = 2.0  # times the shortest time from asking to having: who got it so soon did not wait
_MOMENT = 0.01  # of the time before it: what is shorter has an axis of its own
_MODES = {
    MODE_PW: ("write lock (PW)", WRITE),
    MODE_PR: ("read lock (PR)", READ),
    MODE_GROUP: ("group lock", OTHER),
}
_ASKED = "asked for", "#c3c9d0"
_GIVEN_UP = "called back: write-back", "#d55e00"
_COMMIT = "commit at the OST", "#8a929c"


@dataclass(frozen=True, eq=False)
class LockLanes:
    """The locks of an object in a part of a run."""

    object_name: str  # of which file and stripe it is, and on which OST
    nodes: Integers
    """int64 (lanes,): the nodes, by their positions in the recording, in the order in which they
    asked first."""
    locks: Records  # ``LOCK`` records of these nodes, in the order in which they were asked for
    row: Integers
    """int64 (locks,): where each is drawn. Locks of a node that it has together stand in rows of
    their own."""
    first_row: Integers
    """int64 (lanes + 1,): the first row of each lane; one more for where the last lane ends."""
    fought: int  # how many locks of the object somebody waited for in the whole run, on all nodes
    start: float  # what is shown of the run, in simulated seconds
    end: float  # likewise


def lock_lanes_of(scene: Scene) -> LockLanes | None:
    """Return the locks of the object that was fought for most; None if none was, or not recorded.

    That is the one with most locks that were called back. Those are shown, and those that had to be
    waited for; of many the first, and of many nodes those with most that were called back.
    """
    recording = scene.result.recording
    if recording is None:
        return None
    object_id = most_asked_back(recording.locks)
    if object_id is None:
        return None
    locks = recording.locks[recording.locks["object"] == object_id]
    locks = locks[np.argsort(locks["asked"], kind="stable")]
    waited = locks["granted"] - locks["asked"]
    least = _AT_ONCE * float(waited.min())
    locks = locks[np.isfinite(locks["blocked"]) | (waited > least)]
    seen = locks[:_MOST_LOCKS]
    whole = len(seen) == len(locks)
    start, end = float(seen["asked"][0]), scene.end if whole else float(seen["asked"][-1])
    if not (seen["granted"] <= end).any():  # all asked at once: until they have what they wanted
        end = min(float(seen["granted"].max()), scene.end)
    if end <= start:
        return None
    seen = seen[(seen["blocked"] <= end) | (seen["granted"] - seen["asked"] > least)]
    nodes, shown, row, first_row = _lanes(seen, end)
    return LockLanes(
        object_name=object_name(recording, object_id),
        nodes=nodes,
        locks=shown,
        row=row,
        first_row=first_row,
        fought=len(locks),
        start=start,
        end=end,
    )


def most_asked_back(locks: Records) -> int | None:
    """Return the object with most locks that were called back; None if none was."""
    blocked = locks["object"][np.isfinite(locks["blocked"])]
    return int(np.bincount(blocked).argmax()) if len(blocked) else None


def _lanes(locks: Records, end: float) -> tuple[Integers, Records, Integers, Integers]:
    """Choose nodes, and give each lock a row: nodes, locks, their rows, first row of each node."""
    packed = {
        int(node): packed_rows(locks[locks["node"] == node]) for node in np.unique(locks["node"])
    }
    asked_back = np.bincount(locks["node"][locks["blocked"] <= end], minlength=max(packed) + 1)
    chosen: list[int] = []
    for node in sorted(packed, key=lambda node: (-int(asked_back[node]), -len(packed[node]), node)):
        rows = sum(1 + int(packed[other].max()) for other in (*chosen, node))
        if len(chosen) < _MOST_LANES and (rows <= _MOST_ROWS or len(chosen) < 2):
            chosen.append(node)
    shown = locks[np.isin(locks["node"], chosen)]
    found, turn = np.unique(shown["node"], return_index=True)
    nodes = found[np.argsort(turn, kind="stable")].astype(np.int64)
    high = [1 + int(packed[node].max()) for node in nodes.tolist()]
    first_row = np.concatenate([[0], np.cumsum(high)])
    row = np.zeros(len(shown), np.int64)
    for lane, node in enumerate(nodes.tolist()):
        row[shown["node"] == node] = first_row[lane] + packed[node]
    return nodes, shown, row, first_row


def packed_rows(locks: Records) -> Integers:
    """Return a row for each lock of a node: the first in which the one before has ended."""
    ends: list[float] = []
    rows = np.zeros(len(locks), np.int64)
    for number, (asked, ended) in enumerate(zip(locks["asked"], locks["ended"], strict=True)):
        free = next((row for row, end in enumerate(ends) if end <= asked), len(ends))
        ends[free : free + 1] = [float(ended)]
        rows[number] = free
    return rows


def object_name(recording: Recording, object_id: int) -> str:
    """Return the name of an object: its place in which file, and on which OST or MDT."""
    file, stripe, ost = recording.objects[object_id].tolist()
    name = recording.file_names[file] or f"file {file}"
    return f"stripe object {stripe} of {name}, on {f'OST {ost}' if ost >= 0 else 'its MDT'}"


class _Scale(NamedTuple):
    """An axis of time; of a moment late in a run it begins with the moment."""

    base: float  # simulated seconds
    factor: float  # of seconds
    words: str

    @staticmethod
    def of(start: float, end: float) -> _Scale:
        """Return the axis of what happened from ``start`` to ``end``."""
        long = end - start
        factor, unit = scale_of(long)
        if long >= _MOMENT * start:
            return _Scale(0.0, factor, f"simulated time ({unit})")
        return _Scale(start, factor, f"{unit} after {start:,.6f} s of simulated time")

    def place(self, time: Any) -> Any:
        """Return where a time is on the axis."""
        return (time - self.base) * self.factor


class _Stage(NamedTuple):
    """A part of the lives of locks: in which rows, in which period, and how it is drawn."""

    name: str
    colour: str
    row: Integers
    since: Floats
    until: Floats
    high: float


def _stages(found: LockLanes) -> list[_Stage]:
    """Return the parts of the lives of the locks that are drawn, in their order."""
    locks, row = found.locks, found.row
    given_up = np.minimum(locks["blocked"], locks["returned"])
    stages = [_Stage(*_ASKED, row, locks["asked"], locks["granted"], 0.4)]
    for mode, (name, colour) in _MODES.items():
        of = locks["mode"] == mode
        stages.append(_Stage(name, colour, row[of], locks["granted"][of], given_up[of], 0.86))
    return [
        *stages,
        _Stage(*_GIVEN_UP, row, given_up, locks["returned"], 0.86),
        _Stage(*_COMMIT, row, locks["returned"], locks["ended"], 0.4),
    ]


def draw_lock_lanes(scene: Scene, found: LockLanes) -> Figure:
    """Draw a bar for each lock, from when it was asked for until the server had removed it."""
    scale = _Scale.of(found.start, found.end)
    heading = Heading(
        "Locks of one object changing hands",
        scene.setup,
        f"Extent locks of {found.object_name}, the object with most locks called back: "
        f"{len(found.locks):,} of the {found.fought:,} that were called back or waited for. A "
        "lane is a client node, with a row for each lock that it holds at the same time. A black "
        "tick is a blocking AST.",
    )
    rows, lanes = int(found.first_row[-1]), len(found.nodes)
    high = max(_ROW * rows, _LANE * lanes, _LEAST)
    figure, (axes,) = sheet(heading, width=WIDE, height=high, rows=1, left=0.95, labels=0.52)
    axes.grid(visible=False)
    for stage in _stages(found):
        _draw(axes, stage, found.end, scale)
    _draw_asts(axes, found, scale)
    _name_lanes(axes, found, scene.result.recording)
    axes.set_xlim(scale.place(found.start), scale.place(found.end))
    axes.xaxis.set_major_formatter("{x:,g}")
    name_axes(axes, scale.words, "")
    handles, labels = axes.get_legend_handles_labels()
    legend(axes, columns=len(handles), handles=handles, labels=labels)
    return figure


def _draw(axes: Axes, stage: _Stage, end: float, scale: _Scale) -> None:
    """Draw a part of the lives of locks, as far as it is in sight."""
    until = np.minimum(stage.until, end)
    seen = until > stage.since
    if seen.any():
        axes.barh(
            stage.row[seen] + 0.5,
            (until - stage.since)[seen] * scale.factor,
            left=scale.place(stage.since[seen]),
            height=stage.high,
            color=stage.colour,
            label=stage.name,
            linewidth=0,
        )


def _draw_asts(axes: Axes, found: LockLanes, scale: _Scale) -> None:
    """Draw when blocking ASTs came."""
    came = found.locks["blocked"] <= found.end
    at, row = scale.place(found.locks["blocked"][came]), found.row[came]
    axes.vlines(at, row + 0.05, row + 0.95, color=INK, linewidth=0.9)


def _name_lanes(axes: Axes, found: LockLanes, recording: Recording | None) -> None:
    """Write the numbers of the nodes, and draw a line between two lanes."""
    assert recording is not None
    bounds = found.first_row
    numbers = recording.nodes[found.nodes].tolist()
    axes.set_yticks((bounds[:-1] + bounds[1:]) / 2, [f"node {number}" for number in numbers])
    axes.tick_params(axis="y", length=0, labelsize=8.5)
    axes.hlines(bounds[1:-1], 0, 1, transform=axes.get_yaxis_transform(), color=INK, alpha=FAINT)
    axes.set_ylim(int(bounds[-1]), 0)
