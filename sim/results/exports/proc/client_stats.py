"""What a client counts: its RPCs (``osc.*.rpc_stats``), its calls (``llite.*.extents_stats``)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sim.engine.page import PAGE
from sim.plane.operations import Op
from sim.plane.recorder import Records
from sim.results.exports.proc.counters import stamp
from sim.results.exports.proc.histogram import BUCKETS, Histogram, split, under_way

_FIRST = 12  # the first bucket takes what is below 2^12 bytes (LL_HIST_START)
_UNITS = "KMGTPEZY"
_THOUSAND = 1024
_BOUNDS = 2 ** np.arange(_FIRST, _FIRST + BUCKETS - 1, dtype=np.int64)


def rpc_stats_text(rpcs: Records, now: float) -> str:
    """Print the histograms of one OSC.

    ``rpcs``: ``RPC`` records of one client and one OST. ``now``: seconds: when it is printed.
    """
    write = rpcs["write"]
    pages = -(-rpcs["bytes"] // PAGE)
    in_flight = under_way(rpcs["start"], rpcs["ended"], write.astype(np.int64))
    # Tallied as the page's number plus one, so that the first page has a bucket of its own.
    first_page = rpcs["offset"] // PAGE + 1
    left = np.bincount(write[np.isinf(rpcs["ended"])], minlength=2)
    parts = [
        f"snapshot_time:         {stamp(now)} (secs.usecs)\n",
        f"read RPCs in flight:  {left[0]}\n",
        f"write RPCs in flight: {left[1]}\n",
        "pending write pages:  0\n",
        "pending read pages:   0\n",
        _table("pages per rpc  ", split(pages, write, powers=True), lambda i: 1 << i),
        _table("rpcs in flight ", split(in_flight, write, powers=False), lambda i: i),
        _table("offset         ", split(first_page, write, powers=True), lambda i: 1 << i >> 1),
    ]
    return "".join(parts)


def _table(name: str, histogram: Histogram, label: Callable[[int], int]) -> str:
    lines = [
        "",
        "\t\t\tread\t\t\twrite",
        f"{name}       rpcs   % cum % |       rpcs   % cum %",
    ]
    for line in histogram.lines(from_first=True):
        (count, share, reached), (written, part, so_far) = line.read, line.write
        lines.append(
            f"{label(line.bucket)}:\t\t{count:>10} {share:>3} {reached:>3}   "
            f"| {written:>10} {part:>3} {so_far:>3}"
        )
    return "".join(f"{line}\n" for line in lines)


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
