"""Lists of intervals that may overlap: those that lie over others are found in logarithmic time.

Skip lists, as in ``xc40io.engine.ordered``, in the order of where the intervals start. Each link
knows besides how far what it skips reaches, and how young the youngest of that is: so a search
skips what ends too early, or is older than what has been found. Of intervals that start together
the youngest is first. A row is in one list at a time; the first rows of a list stand with what it
is of, as a column of ``LEVELS`` rows that are -1 where it is empty. One row in 16 is on each next
level: a row remembers much for each, and of a million none need be on more than five.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xc40io.engine.compiled import njit
from xc40io.engine.ordered import height_of
from xc40io.engine.types import Indices, Integers, make_table

LEVELS = 4

_ROW = np.dtype(
    [("start", "i8"), ("next", "i4", LEVELS), ("reach", "i8", LEVELS), ("youngest", "i4", LEVELS)],
    align=True,
)


class Intervals(NamedTuple):
    """The rows of the lists."""

    starts: Integers  # int64 (rows,)
    # int32 (rows, LEVELS): the row that follows on each level on which a row is linked, or -1
    next: Indices
    # int64 (rows, LEVELS): of a row and those before the one that follows it on a level: where the
    # last of them ends (inclusive), and the number of the youngest; on level 0 those of the row
    reach: Integers
    youngest: Indices
    before: Indices  # int32 (LEVELS,): the rows before the one that is being added or removed


def make_intervals(rows: int) -> Intervals:
    """Return rows 0 to ``rows - 1``, none of them in a list."""
    table = make_table(_ROW, rows)
    before = np.full(LEVELS, -1, np.int32)
    return Intervals(table["start"], table["next"], table["reach"], table["youngest"], before)


def enlarge_intervals(intervals: Intervals, rows: int) -> Intervals:
    """Return the same with rows up to ``rows``; those that were never used take no memory."""
    larger = make_intervals(rows)
    if intervals.youngest.any():
        count = len(intervals.starts)
        larger.starts[:count] = intervals.starts
        larger.next[:count] = intervals.next
        larger.reach[:count] = intervals.reach
        larger.youngest[:count] = intervals.youngest
    return larger


@njit
def _height(row: int) -> int:
    """Return on how many levels a row is linked: 1 for 15 of 16, ..."""
    return (height_of(row) + 1) // 2


@njit
def _after(intervals: Intervals, heads: Indices, row: int, level: int) -> int:
    """Return the row that follows ``row`` on a level; row -1 stands before the first."""
    return heads[level] if row < 0 else intervals.next[row, level]


@njit
def _find(intervals: Intervals, heads: Indices, start: int, number: int) -> None:
    """Find the last row before a place, on each level: ``before``."""
    before = -1
    for level in range(LEVELS - 1, -1, -1):
        row = _after(intervals, heads, before, level)
        while row >= 0 and (
            intervals.starts[row] < start
            or (intervals.starts[row] == start and intervals.youngest[row, 0] > number)
        ):
            before = row
            row = intervals.next[row, level]
        intervals.before[level] = before


@njit
def _link(intervals: Intervals, heads: Indices, level: int, follower: int) -> None:
    """Link ``follower`` behind what has been found on a level."""
    before = intervals.before[level]
    if before < 0:
        heads[level] = follower
    else:
        intervals.next[before, level] = follower


@njit
def _sum_up(intervals: Intervals, row: int, level: int) -> None:
    """Note anew what the link of a row skips on a level, by what is known one level below."""
    if row < 0 or level == 0:
        return
    below = level - 1
    reach, youngest = intervals.reach[row, below], intervals.youngest[row, below]
    at = intervals.next[row, below]
    while at != intervals.next[row, level]:
        reach = max(reach, intervals.reach[at, below])
        youngest = max(youngest, intervals.youngest[at, below])
        at = intervals.next[at, below]
    intervals.reach[row, level] = reach
    intervals.youngest[row, level] = youngest


@njit
def add_interval(
    intervals: Intervals, heads: Indices, row: int, start: int, end: int, number: int
) -> None:
    """Add a row from ``start`` to ``end``, inclusive; the youngest has the largest number > 0."""
    intervals.starts[row] = start
    intervals.reach[row, 0] = end
    intervals.youngest[row, 0] = number
    _find(intervals, heads, start, number)
    height = _height(row)
    for level in range(LEVELS):
        if level < height:
            intervals.next[row, level] = _after(intervals, heads, intervals.before[level], level)
            _link(intervals, heads, level, row)
            _sum_up(intervals, row, level)
        _sum_up(intervals, intervals.before[level], level)


@njit
def remove_interval(intervals: Intervals, heads: Indices, row: int) -> None:
    """Take a row out of the list that holds it."""
    _find(intervals, heads, intervals.starts[row], intervals.youngest[row, 0])
    height = _height(row)
    for level in range(LEVELS):
        if level < height:
            _link(intervals, heads, level, intervals.next[row, level])
        _sum_up(intervals, intervals.before[level], level)


@njit
def next_over(
    intervals: Intervals, heads: Indices, row: int, first: int, last: int, number: int
) -> int:
    """Return the next row that lies over something, or -1; of the whole list for row -1.

    It starts at ``last`` or before, ends at ``first`` or beyond, and is younger than ``number``.
    What is asked for as (first, last) is what overlaps that, as (last, first) what covers it.
    """
    at = _after(intervals, heads, row, 0)
    level = 0
    climbing = True
    while at >= 0 and intervals.starts[at] <= last:
        if climbing:
            level = max(level, _height(at) - 1)
        climbing = intervals.reach[at, level] < first or intervals.youngest[at, level] <= number
        if climbing:
            at = intervals.next[at, level]
        elif level == 0:
            return at
        else:
            level -= 1
    return -1


@njit
def first_beyond(intervals: Intervals, heads: Indices, offset: int) -> int:
    """Return the first row of a list that starts beyond an offset, or -1."""
    _find(intervals, heads, offset, -1)
    return _after(intervals, heads, intervals.before[0], 0)
