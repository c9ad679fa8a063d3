"""Sums, extremes and frequent values of calls, by the record that each belongs to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.engine.types import Floats, Integers

Mask = npt.NDArray[np.bool_]

FREQUENT = 4
"""Values that Darshan names with their counts."""


class Slowest(NamedTuple):
    """The call of each record that took longest: seconds, and bytes; 0 where there is none."""

    seconds: Floats
    bytes: Integers


class Frequent(NamedTuple):
    """The most frequent values of each record: int64 (``FREQUENT``, records) each.

    The most frequent one comes first; of two that are equally frequent, the larger one.
    """

    values: Integers
    counts: Integers


class Groups:
    """Calls by record.

    Parameters
    ----------
    calls
        ``LAYER_CALL`` records, those of a record one behind the other in the order of their ends.
    of
        int64 (calls,): the number of the record of each, ascending.
    count
        How many records there are.
    """

    def __init__(self, calls: npt.NDArray[Any], of: Integers, count: int) -> None:
        self.calls, self.of, self.count = calls, of, count

    def number(self, which: Mask) -> Integers:
        """Return how many of some calls each record has: int64 (records,)."""
        return np.bincount(self.of[which], minlength=self.count)

    def total(self, column: str, which: Mask) -> Integers:
        """Return the sum of a column over some calls: int64 (records,)."""
        sums = np.zeros(self.count, np.int64)
        np.add.at(sums, self.of[which], self.calls[column][which])
        return sums

    def latest(self, column: str, which: Mask) -> Floats:
        """Return the largest value of a column of times: float64 (records,); 0 of no calls."""
        found = np.zeros(self.count)
        np.maximum.at(found, self.of[which], self.calls[column][which])
        return found

    def earliest(self, column: str, which: Mask) -> Floats:
        """Return the smallest value of a column of times: float64 (records,); 0 of no calls."""
        found = np.full(self.count, np.inf)
        np.minimum.at(found, self.of[which], self.calls[column][which])
        return np.where(np.isfinite(found), found, 0.0)

    def furthest(self, which: Mask) -> Integers:
        """Return the last byte that some calls touched: int64 (records,); 0 of no calls."""
        found = np.zeros(self.count, np.int64)
        np.maximum.at(
            found, self.of[which], (self.calls["offset"] + self.calls["bytes"])[which] - 1
        )
        return found

    def seconds(self, which: Mask) -> Floats:
        """Return what some calls took: float64 (records,).

        Where calls of a rank overlap, as those of its threads do, no second counts twice.
        """
        of, start, end = self.of[which], self.calls["start"][which], self.calls["end"][which]
        before = np.where(self.follows(which), np.append(0.0, end[:-1])[: len(end)], 0.0)
        took = np.bincount(of, end - np.maximum(start, before), self.count)
        return took.astype(np.float64)  # of no calls, NumPy answers integers

    def slowest(self, which: Mask) -> Slowest:
        """Return the call of each record that took longest; the first of several."""
        of = self.of[which]
        took = (self.calls["end"] - self.calls["start"])[which]
        order = np.lexsort((np.arange(len(of)), -took, of))
        first = order[np.diff(of[order], prepend=-1) > 0]
        found = Slowest(np.zeros(self.count), np.zeros(self.count, np.int64))
        found.seconds[of[first]] = took[first]
        found.bytes[of[first]] = self.calls["bytes"][which][first]
        return found

    def follows(self, which: Mask) -> Mask:
        """Tell of some calls whether the one before, among them, is of the same record."""
        of = self.of[which]
        follows: Mask = np.append(False, of[1:] == of[:-1])[: len(of)]
        return follows


def frequent(of: Integers, values: Integers, count: int) -> Frequent:
    """Return the most frequent values of each of ``count`` records; 0 is no value.

    ``of`` and ``values`` are int64 (n,): the record of each value, and the values.
    """
    of, values = of[values != 0], values[values != 0]
    order = np.lexsort((values, of))
    of, values = of[order], values[order]
    new = np.append(True, (of[1:] != of[:-1]) | (values[1:] != values[:-1]))[: len(of)]
    first = np.flatnonzero(new)
    times = np.diff(np.append(first, len(of)))
    of, values = of[first], values[first]
    order = np.lexsort((-values, -times, of))
    of, values, times = of[order], values[order], times[order]
    turn = np.arange(len(of)) - np.searchsorted(of, of)
    found = Frequent(np.zeros((FREQUENT, count), np.int64), np.zeros((FREQUENT, count), np.int64))
    few = turn < FREQUENT
    found.values[turn[few], of[few]] = values[few]
    found.counts[turn[few], of[few]] = times[few]
    return found
