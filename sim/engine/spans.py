"""Spans: runs of rows of a table that were given back, to be taken again as a whole."""

from __future__ import annotations


class Spans:
    """Rows that are free, as runs in ascending order with rows in use between them.

    For tables whose rows are taken in runs, such as the files of a job: a pool
    (:mod:`sim.engine.pool`) hands out single rows.
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
