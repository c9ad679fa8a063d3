"""Pools: which rows of a table are free to be taken; of those taken in runs, the spans.

Compiled code cannot make a table longer, so rows must be free before an event takes them. A
component declares the most rows that one of its events takes (``Component.demands``); the loop
looks every few events whether as many are free as the events until its next look may take. An
event that may take many more asks for them before it changes anything (:func:`reserve`) and is
begun again when the table has been made longer. To take from an empty pool is a defect, and raises.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xc40io.engine.compiled import inlined, njit
from xc40io.engine.types import Indices, Integers, zeros

EVENTS_A_LOOK = 16
"""Events between two looks of the loop at the rows left."""

FREE, NEEDED, WANTED = 0, 1, 2
"""What ``Pool.counts`` holds."""

COUNTS = 3
"""How many numbers that are."""


class NoRowLeftError(Exception):
    """An event has taken more rows of a table than its component declares."""


class Pool(NamedTuple):
    """Stack of free row numbers: the first ``counts[FREE]`` of ``rows`` are free.

    ``rows`` (int32) has by how much each differs from what lay there at first, the last row of the
    table at the bottom: it takes memory only as far as rows have been taken. ``counts`` (int64)
    holds besides how many rows must be free at a look of the loop, and how many an event has asked
    for in vain.
    """

    rows: Indices
    counts: Integers


def make_pool(size: int) -> Pool:
    """Return a pool in which rows 0 to ``size - 1`` are free; 0 is handed out first."""
    return Pool(zeros(size, np.int32), np.array([size, 0, 0], np.int64))


def enlarge_pool(pool: Pool, size: int) -> Pool:
    """Return the pool with rows up to ``size - 1`` added; rows in use stay in use.

    Both have the same ``counts``: the old one is no longer to be used.
    """
    added, free = size - len(pool.rows), int(pool.counts[FREE])
    rows = zeros(size, np.int32)
    # Below those that were free already: these are handed out first, as if nothing had happened.
    bottom = len(pool.rows) - rows_in_use(pool)
    rows[added + bottom : added + free] = pool.rows[bottom:free]
    pool.counts[FREE] = added + free
    return Pool(rows, pool.counts)


def rows_in_use(pool: Pool) -> int:
    """Return a number of rows behind which none is in use."""
    moved = pool.rows[: pool.counts[FREE]] != 0  # below lie the last rows, as they lay at first
    return len(pool.rows) - (int(np.argmax(moved)) if moved.any() else len(moved))


def live_rows(pool: Pool) -> Integers:
    """Return the rows that are in use: int64 (n,), in ascending order."""
    size, free = len(pool.rows), int(pool.counts[FREE])
    live = np.ones(size, np.bool_)
    live[pool.rows[:free] + np.arange(size - 1, size - 1 - free, -1)] = False
    found: Integers = np.flatnonzero(live)
    return found


def make_log(*, endless: bool) -> Pool:
    """Return the pool of a table of no rows that are taken in order and never given back.

    ``endless``: there is always room, as nobody takes any.
    """
    return Pool(np.zeros(0, np.int32), np.array([1 << 62 if endless else 0, 0, 0], np.int64))


@inlined
def next_row(pool: Pool, length: int) -> int:
    """Take the next row of a log of ``length`` rows.

    Raises
    ------
    NoRowLeftError
        If there is none.
    """
    left = pool.counts[FREE] - 1
    if left < 0:
        raise NoRowLeftError
    pool.counts[FREE] = left
    return length - 1 - left


@inlined
def take(pool: Pool) -> int:
    """Take a free row.

    Raises
    ------
    NoRowLeftError
        If there is none.
    """
    left = pool.counts[FREE] - 1
    if left < 0:
        raise NoRowLeftError
    pool.counts[FREE] = left
    return len(pool.rows) - 1 - left + pool.rows[left]


@inlined
def give(pool: Pool, row: int) -> None:
    """Return a row that is no longer in use."""
    free = pool.counts[FREE]
    pool.rows[free] = row - (len(pool.rows) - 1 - free)
    pool.counts[FREE] = free + 1


@njit
def reserve(pool: Pool, rows: int) -> bool:
    """Tell whether an event may take so many rows; if not, note that it wants them.

    What the events after it need until the loop looks again is left to them.
    """
    if pool.counts[FREE] - rows > pool.counts[NEEDED]:
        return True
    pool.counts[WANTED] = max(pool.counts[WANTED], rows)
    return False


class Spans:
    """Rows that are free, as runs in ascending order with rows in use between them.

    For tables whose rows are taken in runs, such as the files of a job: a :class:`Pool` hands
    out single rows.
    """

    def __init__(self) -> None:
        self._free: list[tuple[int, int]] = []  # first row, and one past the last

    @property
    def rows(self) -> int:
        """How many rows are free."""
        return sum(stop - first for first, stop in self._free)

    def take(self, count: int) -> int | None:
        """Take the first run of so many rows; return its first row, or None if there is none."""
        for place, (first, stop) in enumerate(self._free):
            if stop - first >= count:
                rest = [(first + count, stop)] if stop - first > count else []
                self._free[place : place + 1] = rest
                return first
        return None

    def give(self, first: int, count: int) -> None:
        """Give back ``count`` rows from ``first`` on; none of them is free."""
        if count == 0:
            return
        free = sorted([*self._free, (first, first + count)])
        joined = free[:1]
        for start, stop in free[1:]:
            if start < joined[-1][1]:
                raise ValueError(f"rows from {start} on are given back twice")
            if start == joined[-1][1]:
                joined[-1] = (joined[-1][0], stop)
            else:
                joined.append((start, stop))
        self._free = joined
