"""Calls on one file as rows, with the times of the log; when ranks opened and synced it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.engine.types import Floats, Integers
from xc40io.workloads.darshan.heat_map import Pace
from xc40io.workloads.darshan.module_counters import Counters
from xc40io.workloads.trace import (
    Layout,
    RowBefore,
    TraceBlock,
    TraceOp,
    join_rows,
    made,
    make_block,
    take_rows,
)

_BLOCK = 2**20  # rows


class Rows(NamedTuple):
    """Calls on one file: columns of shape (rows,), as in ``TraceBlock``."""

    rank: Integers
    op: npt.NDArray[np.int8]
    offset: Integers
    length: Integers
    start: Floats  # seconds since the job began
    took: Floats  # seconds
    coll: Integers  # counted within the file
    mpi: npt.NDArray[np.int8]


_LAYOUT: Layout = {
    "rank": (np.int32, 0),
    "op": (np.int8, 0),
    "offset": (np.int64, 0),
    "length": (np.int64, 0),
    "start": (np.float64, 0.0),
    "took": (np.float64, 0.0),
    "coll": (np.int64, -1),
    "mpi": (np.int8, 0),
}


def make_rows(**columns: npt.ArrayLike) -> Rows:
    """Return rows of columns, each of shape (rows,) or a scalar for all of them."""
    return made(Rows, _LAYOUT, columns)


def join(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several tables, maybe of none, one after the other."""
    return join_rows([make_rows(rank=np.zeros(0)), *parts])


def sorted_by_rank(rows: Rows) -> Rows:
    """Return rows sorted by rank and, for each, by time."""
    return take_rows(rows, np.lexsort((rows.start, rows.rank)))


def merge(parts: Sequence[Rows]) -> list[TraceBlock]:
    """Return the rows of all files, (files,), as blocks of a trace: in the order of their starts.

    What a rank computed before a call is the time since the end of its call before. Collective
    calls are numbered anew.
    """
    rows = join(parts)
    file = np.repeat(np.arange(len(parts)), [len(part.rank) for part in parts])
    file[rows.op == TraceOp.BARRIER] = -1
    together = rows.coll >= 0
    key = file[together] * np.int64(rows.coll.max(initial=-1) + 1) + rows.coll[together]
    rows.coll[together] = np.unique(key, return_inverse=True)[1]
    order = np.argsort(rows.start, kind="stable")
    rows, file = take_rows(rows, order), file[order]
    columns: dict[str, Any] = rows._asdict()
    del columns["took"]
    block = make_block(**columns, file=file, think=_think(rows))
    return [take_rows(block, slice(at, at + _BLOCK)) for at in range(0, len(file), _BLOCK)]


def _think(rows: Rows) -> Floats:
    """Return the seconds between the end of each rank's call before and the call: (rows,)."""
    order = np.argsort(rows.rank, kind="stable")
    rank, call = rows.rank[order], rows.coll[order]
    ended = RowBefore(0.0).of(rank, (rows.start + rows.took)[order])
    pause = np.maximum(0.0, rows.start[order] - ended)
    pause[(call >= 0) & (call == RowBefore(-1).of(rank, call))] = 0.0  # pieces of one call
    think = np.empty(len(pause))
    think[order] = pause
    return think


def spread(
    count: int, window: tuple[float, float] | None, took: float, pace: Pace | None = None
) -> Floats:
    """Return when ``count`` calls that take so long began, in a window: float64 (count,).

    As their bytes went on, or evenly if that is not known.
    """
    if window is None or not count:
        return np.zeros(count)
    first, end = window
    latest = max(first, end - took)
    found = None if pace is None else pace.reached(np.arange(count) / count, window, "right")
    return np.linspace(first, latest, count) if found is None else np.minimum(found, latest)


def spread_to_end(count: int, window: tuple[float, float], pace: Pace | None = None) -> Floats:
    """Return when calls began that are spread over a window, the last one at its end."""
    first, end = window
    parts = (np.arange(count) + 1) / max(count, 1)
    found = None if pace is None else pace.reached(parts, window, "left")
    return first + parts * max(end - first, 0.0) if found is None else found


class Dealt(NamedTuple):
    """Calls of several ranks: columns (calls,), sorted as they came."""

    member: Integers  # int64: the place of the rank among those that take part
    turn: Integers  # int64: calls of this rank before


def deal(calls: int, members: int) -> Dealt:
    """Deal calls to ranks in turn: ascending sizes give every rank the same mixture."""
    place = np.arange(calls)
    return Dealt(place % members, place // members)


class Sessions(NamedTuple):
    """Times at which each rank opened and closed a file, in seconds; one session or more."""

    opened: Floats  # float64 (sessions,), ascending
    closed: Floats
    took: float  # what an open, a close or a stat took on average
    closes: bool  # whether it was closed

    def keep(self, rows: Rows) -> Rows:
        """Move calls that lie between a close and the next open to the end of the session before.

        The times of the calls were spread evenly.
        """
        session = np.maximum(np.searchsorted(self.opened, rows.start, side="right") - 1, 0)
        return rows._replace(start=np.clip(rows.start, self.opened[session], self.closed[session]))


def sessions_of(record: Counters, count: int, calls: int) -> Sessions:
    """Return the sessions of a record: each rank opened the file ``count`` times.

    Darshan keeps when the first open began and the last one ended, and the same of the closes: the
    others are spread evenly between them. The recorded metadata time is for ``calls`` operations
    of all ranks.
    """
    count = max(1, count)
    took = record.seconds("F_META_TIME") / max(1, calls)
    io = [window for what in ("READ", "WRITE") if (window := record.window(what))]
    begin = min((window[0] for window in io), default=0.0)
    end = max((window[1] for window in io), default=begin)
    first, last_open = record.window("OPEN") or (begin, begin)
    closing = record.window("CLOSE")
    opened = np.linspace(first, max(first, last_open - took if count > 1 else first), count)
    first_close, last_close = closing or (end, end)
    first_close = last_close if count == 1 else min(first_close, last_close - took)
    closed = np.linspace(first_close, max(first_close, last_close - took), count)
    closed[:-1] = np.minimum(closed[:-1], opened[1:])
    closed[-1] = max(closed[-1], end)
    return Sessions(opened, np.maximum(closed, opened), took, closing is not None)


_ROUNDS = 256
"""Syncs of a rank beyond which all of them are taken to be equally long."""

_HALVINGS = 60


def syncs_after(
    data: Rows,
    members: Integers,
    count: int,
    seconds: float,
    *,
    slowest: tuple[int, float] | None = None,
    mpi: int = 0,
) -> list[Rows]:
    """Return the syncs of a file: spread evenly among each rank's writes, the last one after them.

    The k-th syncs of the ranks end together, as syncs of one file do, or where the rank's next call
    began. Darshan adds their time to that of the writes; what the writes took DXT tells, so the
    rest is theirs.

    Parameters
    ----------
    data
        The reads and writes, sorted by rank and, for each, by time.
    members, count
        int64: the ranks that may have synced; how many syncs there were.
    seconds
        Of all syncs and all writes of the ranks together.
    slowest
        A rank of which it is known for how long it synced, in seconds.
    mpi
        1 if they are calls of MPI-IO.

    Returns
    -------
    list
        The first sync of each rank, the second, and so on: rows by rank.
    """
    writes = data.op == TraceOp.WRITE
    writers = np.unique(data.rank[writes])
    who = members if count >= len(members) else writers[:count].astype(np.int64)
    if count == 0 or not len(who):
        return []
    left = max(seconds - float(data.took[writes].sum()), 0.0)
    rounds = -(-count // len(who))
    found = []
    for turn in range(rounds):
        ranks = who[: count - turn * len(who)]
        start, latest = _window(data, ranks, turn + 1, rounds)
        share = left * len(ranks) / count
        took = np.full(len(ranks), share / len(ranks))
        if rounds <= _ROUNDS:
            alone = ranks == (slowest[0] if slowest and rounds == 1 else -1)
            took[alone] = min(slowest[1], share) if slowest else 0.0
            rest = share - float(took[alone].sum())
            took[~alone] = _ending_together(start[~alone], latest[~alone], rest)
        found.append(make_rows(rank=ranks, op=TraceOp.FSYNC, start=start, took=took, mpi=mpi))
    return found


def joined_with(data: Rows, syncs: list[Rows]) -> Rows:
    """Return reads, writes and syncs, sorted by rank and, for each, by time."""
    return sorted_by_rank(join([data, *syncs]))


def _window(data: Rows, ranks: Integers, turn: int, turns: int) -> tuple[Floats, Floats]:
    """Return from when, and up to when, the sync of each rank can have lasted: float64 (ranks,).

    It is the ``turn``-th of ``turns``; a rank that wrote nothing syncs when all have written.
    """
    end = data.start + data.took
    written = np.flatnonzero(data.op == TraceOp.WRITE)
    first = np.searchsorted(data.rank[written], ranks)
    writes = np.searchsorted(data.rank[written], ranks, side="right") - first
    wrote = writes > 0
    start = np.full(len(ranks), float(end.max(initial=0.0)))
    latest = np.full(len(ranks), np.inf)
    last = written[(first + -(-turn * writes // turns) - 1)[wrote]]
    start[wrote] = end[last]
    following = np.minimum(last + 1, len(end) - 1)
    same = (data.rank[following] == data.rank[last]) & (following > last)
    latest[wrote] = np.where(same, data.start[following], np.inf)
    latest[~wrote] = start[~wrote]
    return start, np.maximum(latest, start)


def _ending_together(start: Floats, latest: Floats, seconds: float) -> Floats:
    """Return how long syncs took that ended at one time, or at their latest: float64 (syncs,).

    ``start`` and ``latest`` are when each began and had ended; together they took ``seconds``, or
    as much of it as there is time for.
    """
    if not len(start):
        return start

    def until(end: float) -> Floats:
        return np.maximum(np.minimum(end, latest) - start, 0.0)

    low, high = float(start.min()), float(start.max()) + seconds
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if float(until(middle).sum()) < seconds:
            low = middle
        else:
            high = middle
    return until(high)
