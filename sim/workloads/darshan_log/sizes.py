"""The sizes of the calls of a record, from the counters: as many as were made, the right bytes.

Darshan counts the calls in ten classes of sizes, and names the four most frequent sizes with their
counts, reads and writes together. What is left open is chosen so that number and bytes come out
exactly.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sim.engine.types import Integers
from sim.workloads.darshan_log.counters import BIN_HIGH, BIN_LOW, Counters, Direction, bin_of


def sizes_of(record: Counters, direction: Direction, count: int, total: int) -> Integers:
    """Return the sizes of the reads, or of the writes, of one or more records.

    Parameters
    ----------
    record
        Their counters.
    direction
        ``READ`` or ``WRITE``.
    count, total
        How many calls there are, and how many bytes they move.

    Returns
    -------
    int64 (count,)
        Bytes of each call, ascending; together ``total``.
    """
    bins = record.bins(direction)
    if count == 0:
        return np.zeros(0, np.int64)
    if int(bins.sum()) != count:
        return even_sizes(count, total)
    common = _of_direction(record, direction, bins)
    for known in (common, {}):
        found = _fit(total, bins, known)
        if found is not None:
            return found
    return even_sizes(count, total)


def even_sizes(count: int, total: int) -> Integers:
    """Return sizes that differ by a byte at most: int64 (count,), ascending, together ``total``."""
    base, more = divmod(max(0, total), count)
    sizes = np.full(count, base, np.int64)
    sizes[count - more :] += 1
    return sizes


def _of_direction(record: Counters, direction: Direction, bins: Integers) -> dict[int, int]:
    """Deal the most frequent sizes, which count reads and writes together, to the directions.

    Where both have calls in the class of a size, it is dealt in proportion to them.
    """
    other = record.bins("WRITE" if direction == "READ" else "READ")
    dealt: dict[int, int] = {}
    for size, count in record.common_sizes().items():
        place = bin_of(size)
        mine, theirs = int(bins[place]), int(other[place])
        share = round(count * mine / (mine + theirs)) if mine + theirs else 0
        dealt[size] = min(max(share, count - theirs), mine, count)
    return dealt


def _fit(total: int, bins: Integers, known: Mapping[int, int]) -> Integers | None:
    """Return sizes with so many in each class, some of them known; None if there are none.

    The unknown ones lie in the (geometric) middle of their class, except that the largest classes
    take up what is then missing or too much.
    """
    left, parts, rest = bins.copy(), [], total
    for size, count in known.items():
        count = min(count, int(left[bin_of(size)]))
        left[bin_of(size)] -= count
        parts.append(np.full(count, size, np.int64))
        rest -= count * size
    lowest, highest = left * BIN_LOW, left * BIN_HIGH
    if not int(lowest.sum()) <= rest <= int(highest.sum()):
        return None
    middle = np.sqrt(np.maximum(BIN_LOW, 1).astype(float) * BIN_HIGH).astype(np.int64)
    totals = np.clip(left * middle, lowest, highest)
    for place in reversed(range(len(totals))):
        wished = int(totals[place]) + rest - int(totals.sum())
        totals[place] = min(max(wished, int(lowest[place])), int(highest[place]))
    parts.extend(
        even_sizes(int(count), int(size)) for count, size in zip(left, totals, strict=True) if count
    )
    return np.sort(np.concatenate(parts))
