"""When ranks synced a file, and for how long, where DXT tells of their reads and writes.

Darshan counts syncs and adds their time to that of the writes. What the writes took DXT tells, so
the rest is the syncs'.
"""

from __future__ import annotations

import numpy as np

from sim.engine.types import Floats, Integers
from sim.workloads.darshan_log.rows import Rows, join, make_rows, take
from sim.workloads.trace.block import TraceOp

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
    """Return the syncs of a file: those of each rank evenly among its writes, the last behind them.

    The k-th syncs of the ranks end together, as those of one file do, or where the rank's next call
    began. How long they are together follows from ``seconds``.

    Parameters
    ----------
    data
        The reads and writes, sorted by rank and, for each, by time.
    members
        int64: the ranks that may have synced.
    count
        How many syncs there were.
    seconds
        Of all syncs and all writes of the ranks together, in seconds.
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
        op = np.full(len(ranks), TraceOp.FSYNC)
        found.append(make_rows(rank=ranks, op=op, start=start, took=took, mpi=mpi))
    return found


def joined_with(data: Rows, syncs: list[Rows]) -> Rows:
    """Return reads, writes and syncs, sorted by rank and, for each, by time."""
    rows = join([data, *syncs])
    return take(rows, np.lexsort((rows.start, rows.rank)))


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
    low, high = float(start.min()), float(start.max()) + seconds
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if float(_until(start, latest, middle).sum()) < seconds:
            low = middle
        else:
            high = middle
    return _until(start, latest, high)


def _until(start: Floats, latest: Floats, end: float) -> Floats:
    return np.maximum(np.minimum(end, latest) - start, 0.0)
