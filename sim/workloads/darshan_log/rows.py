"""Rows of a trace as they are put together: calls on one file, with the times of the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.engine.types import Floats, Indices, Integers
from sim.workloads.trace.block import TraceBlock, TraceOp, take_rows


class Rows(NamedTuple):
    """Calls on one file: columns of shape (rows,).

    Attributes
    ----------
    rank, op, offset, length, coll, mpi
        As in :class:`~sim.workloads.trace.block.TraceBlock`; ``coll`` counts within the file.
    start, took
        When the call began, in seconds since the job did, and how long it took.
    """

    rank: Integers
    op: npt.NDArray[np.int8]
    offset: Integers
    length: Integers
    start: Floats
    took: Floats
    coll: Integers
    mpi: npt.NDArray[np.int8]


_KINDS: dict[str, tuple[Any, float]] = {
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
    given = [np.atleast_1d(np.asarray(columns.get(name, of[1]))) for name, of in _KINDS.items()]
    arrays = np.broadcast_arrays(*given)
    kinds = (kind for kind, _ in _KINDS.values())
    return Rows(*(array.astype(kind) for array, kind in zip(arrays, kinds, strict=True)))


def join(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several tables, one after the other."""
    if not parts:
        return make_rows(rank=np.zeros(0))
    return Rows(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def take(rows: Rows, which: Any) -> Rows:
    """Return some rows: by mask, or by position."""
    return Rows(*(column[which] for column in rows))


def spread(count: int, window: tuple[float, float] | None, took: float) -> Floats:
    """Return when ``count`` calls that take so long began, evenly in a window: float64 (count,)."""
    if window is None:
        return np.zeros(count)
    first, end = window
    return np.linspace(first, max(first, end - took), count) if count else np.zeros(0)


def keep_in_sessions(rows: Rows, opened: Floats, closed: Floats) -> Rows:
    """Move calls that lie between a close and the next open to the end of the session before.

    Parameters
    ----------
    rows
        Calls, whose times were spread evenly.
    opened, closed
        (sessions,): when the file was opened and closed again, ascending.
    """
    if len(opened) == 0:
        return rows
    session = np.maximum(np.searchsorted(opened, rows.start, side="right") - 1, 0)
    start = np.clip(rows.start, opened[session], closed[session])
    return rows._replace(start=start)


def merge(parts: Sequence[Rows]) -> list[TraceBlock]:
    """Return the rows of all files, (files,), as blocks of a trace: in the order of their starts.

    What a rank computed before a call is the time since the end of its call before.
    """
    rows = join(parts)
    file = np.repeat(np.arange(len(parts)), [len(part.rank) for part in parts]).astype(np.int32)
    file[rows.op == TraceOp.BARRIER] = -1
    coll = _numbered(file, rows.coll)
    order = np.lexsort((np.arange(len(file)), rows.start))
    rows = take(rows, order)
    file, coll = file[order], coll[order]
    think = _think(rows, coll)
    block = TraceBlock(
        rank=rows.rank.astype(np.int32),
        op=rows.op,
        file=file,
        offset=rows.offset,
        length=rows.length,
        start=rows.start,
        think=think,
        coll=coll,
        mpi=rows.mpi,
    )
    size = 2**20
    return [take_rows(block, slice(first, first + size)) for first in range(0, len(file), size)]


def _numbered(file: Indices, coll: Integers) -> Integers:
    """Return numbers for the collective calls of all files, counted from 0 in each file."""
    found = coll >= 0
    numbered = np.full(len(coll), -1, np.int64)
    if found.any():
        width = int(coll.max()) + 1
        key = file[found] * np.int64(width) + coll[found]
        numbered[found] = np.unique(key, return_inverse=True)[1]
    return numbered


def _think(rows: Rows, coll: Integers) -> Floats:
    """Return the seconds between the end of each rank's call before and the call: (rows,)."""
    order = np.argsort(rows.rank, kind="stable")
    rank, start, end = rows.rank[order], rows.start[order], (rows.start + rows.took)[order]
    call = coll[order]
    before = np.concatenate(([0.0], end[:-1]))
    same = np.concatenate(([False], rank[1:] == rank[:-1]))
    pause = np.maximum(0.0, start - np.where(same, before, 0.0))
    pieces = np.concatenate(([False], (call[1:] == call[:-1]) & (call[1:] >= 0))) & same
    pause[pieces] = 0.0
    think = np.empty(len(pause))
    think[order] = pause
    return think
