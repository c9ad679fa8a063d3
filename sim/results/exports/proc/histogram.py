"""Histograms as Lustre keeps and prints them, with reads and writes side by side.

Lustre tallies a value in one of 32 buckets (``obd_histogram``): by itself, or by its logarithm to
base 2. The shares that it prints are whole per cents, rounded down.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sim.engine.types import Integers

BUCKETS = 32
"""Of a histogram (OBD_HIST_MAX)."""

_POWERS = 2 ** np.arange(BUCKETS - 1, dtype=np.int64)


class Line(NamedTuple):
    """One line of a histogram."""

    bucket: int  # its number, from 0
    read: tuple[int, int, int]
    """How many there were, their share in per cent, and that of all up to here."""
    write: tuple[int, int, int]  # likewise


class Histogram(NamedTuple):
    """How often something happened, by a value."""

    read: Integers  # int64 (32,): how often in each bucket
    write: Integers  # likewise

    def lines(self, *, from_first: bool) -> Iterator[Line]:
        """Yield the lines that Lustre prints: up to the last bucket that has anything.

        ``from_first``: whether empty buckets before those that have anything are printed too.
        """
        total = int(self.read.sum()), int(self.write.sum())
        so_far = [0, 0]
        for bucket in range(BUCKETS):
            counts = int(self.read[bucket]), int(self.write[bucket])
            so_far = [so_far[0] + counts[0], so_far[1] + counts[1]]
            if from_first or any(so_far):
                read, write = (
                    (count, _per_cent(count, whole), _per_cent(reached, whole))
                    for count, reached, whole in zip(counts, so_far, total, strict=True)
                )
                yield Line(bucket, read, write)
            if tuple(so_far) == total:
                return


def _per_cent(part: int, whole: int) -> int:
    return 100 * part // whole if whole else 0


def by_value(values: Integers) -> Integers:
    """Tally values, each in the bucket of its number; the last bucket takes all beyond."""
    return np.bincount(np.minimum(values, BUCKETS - 1), minlength=BUCKETS)


def by_power(values: Integers) -> Integers:
    """Tally values by powers of two: bucket i takes those up to 2^i that are above 2^(i-1)."""
    return np.bincount(np.searchsorted(_POWERS, values), minlength=BUCKETS)


def split(tally: Integers, write: Integers, *, powers: bool) -> Histogram:
    """Return the histogram of values of which some are of reads and some of writes.

    ``tally``: int64 (n,): the values. ``write``: (n,): whether each is of a write. ``powers``:
    whether buckets are powers of two.
    """
    put = by_power if powers else by_value
    is_write = write.astype(bool)
    return Histogram(put(tally[~is_write]), put(tally[is_write]))


def under_way(start: np.ndarray, end: np.ndarray, line: Integers) -> Integers:
    """Return how many of the same line were under way when each began, itself included.

    What ends at the time at which another begins is over by then.

    ``start`` and ``end``: float64 (n,): seconds. ``line``: int64 (n,): what they have in common:
    the OSC, or the OST.
    """
    count = len(start)
    times = np.concatenate([end, start])
    change = np.repeat([-1, 1], count)
    order = np.lexsort((change, times, np.concatenate([line, line])))
    running = np.empty(2 * count, np.int64)
    running[order] = np.cumsum(change[order])
    return running[count:]
