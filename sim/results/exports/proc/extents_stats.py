"""``llite.*.extents_stats``: the sizes of the reads and writes of a client, as a histogram."""

from __future__ import annotations

import numpy as np

from sim.plane.operations import Op
from sim.plane.recorder import Records
from sim.results.exports.proc.counters import stamp
from sim.results.exports.proc.histogram import BUCKETS, Histogram

_FIRST = 12  # the first bucket takes what is below 2^12 bytes (LL_HIST_START)
_UNITS = "KMGTPEZY"
_THOUSAND = 1024
_BOUNDS = 2 ** np.arange(_FIRST, _FIRST + BUCKETS - 1, dtype=np.int64)


def extents_stats_text(calls: Records, now: float) -> str:
    """Print the histogram of one client.

    ``calls``: ``CALL`` records of its programs on files of Lustre: reads and writes, and any
    others. ``now``: seconds: when it is printed.
    """
    columns = f"{'calls':>14} {'%':>4} {'cum%':>4}"
    lines = [
        f"snapshot_time:         {stamp(now)} (secs.usecs)",
        f"{'':>15} {'read':>19}       | {'write':>20}",
        f"{'extents':>13}   {columns}  | {columns}",
    ]
    histogram = Histogram(_tally(calls, Op.READ), _tally(calls, Op.WRITE))
    low, unit = 0, 0
    for line in histogram.lines(from_first=True):
        high = 1 << (line.bucket + _FIRST - 10 * (unit + 1))
        more = "+" if line.bucket == BUCKETS - 1 else " "
        (count, share, reached), (written, part, so_far) = line.read, line.write
        lines.append(
            f"{low:>4}{_UNITS[unit]} - {high:>4}{_UNITS[unit]}{more}: "
            f"{count:>14} {share:>4} {reached:>4}  | {written:>14} {part:>4} {so_far:>4}"
        )
        low = high
        if low == _THOUSAND:
            low, unit = 1, unit + 1
    return "".join(f"{line}\n" for line in lines)


def _tally(calls: Records, operation: Op) -> np.ndarray:
    """Tally calls by size: a size of 2^k bytes belongs to the bucket that begins there."""
    sizes = calls["bytes"][calls["op"] == operation]
    return np.bincount(np.searchsorted(_BOUNDS, sizes, side="right"), minlength=BUCKETS)
