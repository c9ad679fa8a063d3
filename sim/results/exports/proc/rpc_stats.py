"""``osc.*.rpc_stats``: the bulk RPCs of a client to one OST, as histograms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sim.engine.page import PAGE
from sim.plane.recorder import Records
from sim.results.exports.proc.counters import stamp
from sim.results.exports.proc.histogram import Histogram, split, under_way


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
