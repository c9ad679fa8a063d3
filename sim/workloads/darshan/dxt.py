"""The calls of a file as DXT recorded them: every one, with its rank, place and time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xc40io.engine.types import Integers
from xc40io.workloads.darshan.call_pattern import even_sizes
from xc40io.workloads.darshan.call_rows import Rows, Sessions, deal, make_rows, spread
from xc40io.workloads.darshan.log import Dxt
from xc40io.workloads.darshan.module_counters import DIRECTIONS, Direction, Numbers
from xc40io.workloads.trace import TraceOp


@dataclass(frozen=True, eq=False)
class Segments:
    """The segments of one layer, by file."""

    dxt: Dxt
    mpi: bool  # whether they are calls of MPI-IO

    @cached_property
    def _by_file(self) -> tuple[Integers, Numbers]:
        """The order of segments by file, rank and time, and their files in that order."""
        record = np.repeat(np.arange(len(self.dxt.rank)), self.dxt.writes + self.dxt.reads)
        number = self.dxt.number[record]
        order = np.lexsort((self.dxt.segments["start"], self.dxt.rank[record], number))
        return order, number[order]

    def of(self, number: int) -> Rows:
        """Return the calls on a file, each rank's calls in order; maybe none."""
        order, files = self._by_file
        low = np.searchsorted(files, np.uint64(number))
        chosen = order[low : np.searchsorted(files, np.uint64(number), side="right")]
        ends = np.cumsum(self.dxt.writes + self.dxt.reads)
        record = np.searchsorted(ends, chosen, side="right")
        first = (ends - self.dxt.writes - self.dxt.reads)[record]
        writes = chosen - first < self.dxt.writes[record]
        segments = self.dxt.segments[chosen]
        return make_rows(
            rank=self.dxt.rank[record],
            op=np.where(writes, int(TraceOp.WRITE), int(TraceOp.READ)),
            offset=segments["offset"],
            length=segments["length"],
            start=segments["start"],
            took=np.maximum(segments["end"] - segments["start"], 0.0),
            mpi=int(self.mpi),
        )


def missing(rows: Rows, op: TraceOp, calls: int, moved: int) -> tuple[int, int]:
    """Return how many calls, and bytes, the counters know of that the rows lack."""
    there = rows.op == op
    return calls - int(there.sum()), moved - int(rows.length[there].sum())


def rest_of(
    rows: Rows, op: TraceOp, calls: int, moved: int, window: tuple[float, float] | None
) -> Rows:
    """Return the calls for which DXT had no room: each rank goes on where it was.

    Besides ``rows`` there are so many ``calls`` that ``moved`` so many bytes together: alike, and
    dealt to the ranks that have any calls. ``window`` is from the first to the last of all calls.
    """
    mine = rows.op == op
    ranks = np.unique(rows.rank[mine] if mine.any() else rows.rank)
    if not len(ranks):
        ranks = np.zeros(1, np.int64)
    sizes = even_sizes(calls, moved)
    dealt = deal(calls, len(ranks))
    ends = np.zeros(len(ranks), np.int64)
    at = np.searchsorted(ranks, rows.rank[mine])
    np.maximum.at(ends, at, (rows.offset + rows.length)[mine])
    done = float((rows.start + rows.took)[mine].max(initial=0.0))
    last = max(done, window[1] if window else done)
    each = -(-calls // len(ranks))
    took = (last - done) / max(1, each)
    return make_rows(
        rank=ranks[dealt.member],
        op=op,
        offset=ends[dealt.member] + dealt.turn * int(sizes.max(initial=0)),
        length=sizes,
        start=spread(each, (done, last), took)[dealt.turn],
        took=took,
        mpi=int(rows.mpi.max(initial=0)),
    )


def mark_collective(rows: Rows, members: Integers, collective: dict[Direction, int]) -> Rows | None:
    """Assign numbers to the collective calls of MPI-IO on a file.

    DXT does not say which calls were collective, the counters say how many. Where a rank made both
    kinds, those that move most are taken for collective; the k-th of each rank belong together.
    ``rows`` are all calls, each rank's in their order, ``members`` the ranks of the communicator,
    ``collective`` the calls of all ranks. None if some rank has fewer than it took part in.
    """
    coll = np.full(len(rows.rank), -1, np.int64)
    numbered = 0
    for direction, op in DIRECTIONS:
        full, more = divmod(collective[direction], len(members))
        wanted = full + (np.arange(len(members)) < more)
        mine = np.flatnonzero(rows.op == op)
        place = np.searchsorted(members, rows.rank[mine])
        if (np.bincount(place, minlength=len(members)) < wanted).any():
            return None
        largest = np.lexsort((np.arange(len(mine)), -rows.length[mine], place))
        chosen = largest[_turn(place[largest]) < wanted[place[largest]]]
        chosen.sort()
        coll[mine[chosen]] = numbered + _turn(place[chosen])
        numbered += int(wanted.max(initial=0))
    return rows._replace(coll=coll)


def _turn(place: Integers) -> Integers:
    """Return how many equals come before each entry of a sorted array."""
    first = np.flatnonzero(np.diff(place, prepend=-1))
    return np.arange(len(place)) - np.repeat(first, np.diff(np.append(first, len(place))))


def between_pauses(sessions: Sessions, rows: Rows) -> Sessions:
    """Put the closes and opens between sessions where nobody used the file for longest.

    The last open ended before the calls that follow, and after it there was no other. Ranks leave
    it one after another: when the last one does, others may be at their calls again.
    """
    count = len(sessions.opened)
    if count == 1 or len(rows.rank) < 2:
        return sessions
    order = np.argsort(rows.start, kind="stable")
    start = rows.start[order]
    end = np.maximum.accumulate((rows.start + rows.took)[order])
    pauses = start[1:] - end[:-1]
    known = np.searchsorted(start, sessions.opened[-1] + sessions.took) - 1
    if 0 <= known < len(pauses):
        idle = np.flatnonzero(pauses[: known + 1] > 0.0)
        if len(idle) and start[idle[-1] + 1] >= sessions.opened[-1]:
            known = idle[-1]
        pauses[known] = max(float(pauses[known]), 1e-12)
        pauses = np.where(np.arange(len(pauses)) > known, 0.0, pauses)
        pauses[known] += float(pauses.max())
    widest = np.sort(np.argsort(pauses, kind="stable")[::-1][: count - 1])
    widest = widest[pauses[widest] > 0.0]
    after = np.nextafter(end[:-1][widest], np.inf)  # the close goes first
    reopened = np.maximum(start[1:][widest] - sessions.took, after)
    opened = np.concatenate((sessions.opened[:1], reopened))
    closed = np.concatenate((end[:-1][widest], sessions.closed[-1:]))
    opened = np.pad(opened, (0, count - len(opened)), mode="edge")
    closed = np.pad(closed, (0, count - len(closed)), mode="edge")
    return sessions._replace(
        opened=np.minimum(opened, max(opened[-1], start[-1])), closed=np.maximum(closed, opened)
    )
