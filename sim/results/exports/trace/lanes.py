"""Lanes of a trace: what overlaps stands side by side, what lies within stands below."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import pairwise

import numpy as np

from sim.engine.types import Floats, Integers

_NANO = 1e9


def nanoseconds(seconds: Floats) -> Integers:
    """Return times as whole nanoseconds: what touches in seconds touches here, too."""
    return np.rint(seconds * _NANO).astype(np.int64)


def lanes(start: Integers, end: Integers) -> Integers:
    """Put intervals into lanes so that in none of them two overlap.

    ``start`` and ``end``: int64 (n,): when each begins and ends.

    Returns
    -------
    Integers
        int64 (n,): the lane of each, from 0; as few as there are intervals at once.
    """
    found = np.zeros(len(start), np.int64)
    used = 0
    free: list[int] = []
    busy: list[tuple[int, int]] = []  # until when, which lane
    for place in np.lexsort((end, start)).tolist():
        while busy and busy[0][0] <= start[place]:
            heappush(free, heappop(busy)[1])
        if free:
            lane = heappop(free)
        else:
            lane, used = used, used + 1
        heappush(busy, (int(end[place]), lane))
        found[place] = lane
    return found


def lanes_by(key: Integers, start: Integers, end: Integers) -> Integers:
    """Return :func:`lanes` of the intervals of each key by themselves."""
    found = np.zeros(len(start), np.int64)
    for one in np.unique(key).tolist():
        mine = key == one
        found[mine] = lanes(start[mine], end[mine])
    return found


def cut(start: int, end: int, borders: Integers) -> list[tuple[int, int]]:
    """Cut an interval at all borders (ascending) that lie within it."""
    inner = borders[np.searchsorted(borders, start, "right") : np.searchsorted(borders, end)]
    edges = [start, *dict.fromkeys(inner.tolist()), end]
    return list(pairwise(edges))
