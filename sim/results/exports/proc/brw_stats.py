"""``obdfilter.*.brw_stats``: the bulk I/O of an OST, as histograms."""

from __future__ import annotations

import numpy as np

from sim.config.lustre import Lustre
from sim.engine.page import PAGE
from sim.plane.recorder import Records
from sim.results.exports.proc.counters import stamp
from sim.results.exports.proc.histogram import BUCKETS, Histogram, split, under_way

_NOTHING = Histogram(np.zeros(BUCKETS, np.int64), np.zeros(BUCKETS, np.int64))
_STEP = 10  # buckets from 1 to 1K, and from 1K to 1M


def brw_stats_text(rpcs: Records, lustre: Lustre, now: float) -> str:
    """Print the histograms of one OST.

    An RPC of the simulator is one I/O of the array. Its time runs from when the OSS has the request
    or the whole bulk until the array has done its part. Discontiguous pages are counted by the
    pieces of the object in which its bytes lie. Which blocks of the disks it met is not simulated:
    that table stays empty.

    ``rpcs``: ``RPC`` records of the OST. ``lustre``: the file system. ``now``: seconds: when it is
    printed.
    """
    rpcs = rpcs[np.isfinite(rpcs["arrived"])]
    write, size = rpcs["write"], rpcs["bytes"]
    done = rpcs["served"] + np.where(write == 1, lustre.ost_write_latency, 0.0)
    line = 2 * rpcs["ost"].astype(np.int64) + write
    over = np.isfinite(done)
    milliseconds = np.floor(1e3 * (done - rpcs["arrived"])[over]).astype(np.int64)
    fragments = np.ones(len(rpcs), np.int64)
    parts = [
        f"snapshot_time:         {stamp(now)} (secs.usecs)\n",
        _table("pages per bulk r/w", "rpcs", split(-(-size // PAGE), write, powers=True), 1),
        _table("discontiguous pages", "rpcs", split(rpcs["pieces"] - 1, write, powers=False), 0),
        _table("discontiguous blocks", "rpcs", _NOTHING, 0),
        _table("disk fragmented I/Os", "ios", split(fragments, write, powers=False), 0),
        _table(
            "disk I/Os in flight",
            "ios",
            split(under_way(rpcs["arrived"], done, line), write, powers=False),
            0,
        ),
        _table("I/O time (1/1000s)", "ios", split(milliseconds, write[over], powers=True), 1),
        _table("disk I/O size", "ios", split(size, write, powers=True), 1),
    ]
    return "".join(parts)


def _table(name: str, unit: str, histogram: Histogram, scale: int) -> str:
    """Print a histogram; ``scale`` is what the first power of two stands for, 0 plain values."""
    lines = [
        "",
        f"{'':>26} read      |     write",
        f"{name:<22} {unit:<5} % cum % |  {unit:<11} % cum %",
    ]
    for line in histogram.lines(from_first=False):
        label = _power(line.bucket, scale) if scale else str(line.bucket)
        (count, share, reached), (written, part, so_far) = line.read, line.write
        lines.append(
            f"{label}:\t\t{count:>10} {share:>3} {reached:>3}   "
            f"| {written:>4} {part:>3} {so_far:>3}"
        )
    return "".join(f"{line}\n" for line in lines)


def _power(bucket: int, scale: int) -> str:
    """Return the label of a bucket: 1, 2 .. 512, 1K .. 512K, 1M and so on."""
    unit = min(bucket // _STEP, 2)
    return f"{scale << (bucket - unit * _STEP)}{('', 'K', 'M')[unit]}"
