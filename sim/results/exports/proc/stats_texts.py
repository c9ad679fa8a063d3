"""What Lustre's servers and clients print of what they counted, as texts.

Counters stand in ``stats`` and ``md_stats``, and by job in ``job_stats``. Histograms have reads and
writes side by side: the bulk I/O of an OST (``obdfilter.*.brw_stats``), the RPCs of a client
(``osc.*.rpc_stats``) and its calls (``llite.*.extents_stats``). Lustre tallies a value in one of 32
buckets (``obd_histogram``): by itself, or by its logarithm to base 2. The shares that it prints are
whole per cents, rounded down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from xc40io.config.parts.lustre import Lustre
from xc40io.engine.page import PAGE
from xc40io.engine.types import Integers
from xc40io.plane.operations import Op
from xc40io.plane.recorder import Records

_WORD = 15  # letters that the name of a counter of a job may have

BUCKETS = 32
"""Of a histogram (OBD_HIST_MAX)."""

_POWERS = 2 ** np.arange(BUCKETS - 1, dtype=np.int64)

_BUCKETS_A_UNIT = 10  # buckets from 1 to 1K, and from 1K to 1M

_FIRST_EXTENT = 12  # the first bucket of calls takes what is below 2^12 bytes (LL_HIST_START)
_UNITS = "KMGTPEZY"
_THOUSAND = 1024
_EXTENT_BOUNDS = 2 ** np.arange(_FIRST_EXTENT, _FIRST_EXTENT + BUCKETS - 1, dtype=np.int64)


class Counter(NamedTuple):
    """How often something was done; of bytes also how many."""

    samples: int  # how often
    unit: str = "reqs"  # ``bytes`` or ``reqs``
    smallest: int = 0  # in bytes; zero where requests are counted
    largest: int = 0  # likewise
    total: int = 0  # likewise; of all


Counters = Mapping[str, Counter]
"""Counters by their names, in the order in which they are printed."""


def count_bytes(sizes: Integers) -> Counter:
    """Return the counter of transfers of so many bytes each."""
    if not len(sizes):
        return Counter(0, "bytes")
    return Counter(len(sizes), "bytes", int(sizes.min()), int(sizes.max()), int(sizes.sum()))


def count_names(names: Iterable[str], counts: Mapping[str, int]) -> dict[str, Counter]:
    """Return a counter of requests for each name; zero where nothing was counted."""
    return {name: Counter(counts.get(name, 0)) for name in names}


def stamp(seconds: float) -> str:
    """Return a time in seconds as Lustre writes it: seconds, a dot, microseconds."""
    return f"{seconds:.6f}"


def stats_text(counters: Counters, now: float) -> str:
    """Print counters as ``stats`` has them: those alone that have counted anything."""
    lines = [f"{'snapshot_time':<25} {stamp(now)} secs.usecs"]
    for name, counter in counters.items():
        if counter.samples:
            line = f"{name:<25} {counter.samples} samples [{counter.unit}]"
            if counter.unit == "bytes":
                line += f" {counter.smallest} {counter.largest} {counter.total}"
            lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def job_stats_text(jobs: Sequence[tuple[str, Counters]], now: float) -> str:
    """Print counters by job as ``job_stats`` has them: a list in YAML.

    ``jobs``: the identifier of each job, and what it counted. ``now``: seconds.
    """
    lines = ["job_stats:"]
    for job, counters in jobs:
        lines.append(f"- {'job_id:':<16} {job}")
        lines.append(f"  {'snapshot_time:':<16} {int(now)}")
        lines.extend(f"  {_job_counter(name, counter)}" for name, counter in counters.items())
    return "".join(f"{line}\n" for line in lines)


def _job_counter(name: str, counter: Counter) -> str:
    room = " " * (_WORD - min(len(name), _WORD))
    text = f"{name}:{room} {{ samples: {counter.samples:>11}, unit: {counter.unit:>5}"
    if counter.unit == "bytes":
        text += f", min:{counter.smallest:>8}, max:{counter.largest:>8}, sum:{counter.total:>16}"
    return f"{text} }}"


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


_NOTHING = Histogram(np.zeros(BUCKETS, np.int64), np.zeros(BUCKETS, np.int64))


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
        _brw_table("pages per bulk r/w", "rpcs", split(-(-size // PAGE), write, powers=True), 1),
        _brw_table(
            "discontiguous pages", "rpcs", split(rpcs["pieces"] - 1, write, powers=False), 0
        ),
        _brw_table("discontiguous blocks", "rpcs", _NOTHING, 0),
        _brw_table("disk fragmented I/Os", "ios", split(fragments, write, powers=False), 0),
        _brw_table(
            "disk I/Os in flight",
            "ios",
            split(under_way(rpcs["arrived"], done, line), write, powers=False),
            0,
        ),
        _brw_table("I/O time (1/1000s)", "ios", split(milliseconds, write[over], powers=True), 1),
        _brw_table("disk I/O size", "ios", split(size, write, powers=True), 1),
    ]
    return "".join(parts)


def _brw_table(name: str, unit: str, histogram: Histogram, scale: int) -> str:
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
    unit = min(bucket // _BUCKETS_A_UNIT, 2)
    return f"{scale << (bucket - unit * _BUCKETS_A_UNIT)}{('', 'K', 'M')[unit]}"


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
        _rpc_table("pages per rpc  ", split(pages, write, powers=True), lambda i: 1 << i),
        _rpc_table("rpcs in flight ", split(in_flight, write, powers=False), lambda i: i),
        _rpc_table("offset         ", split(first_page, write, powers=True), lambda i: 1 << i >> 1),
    ]
    return "".join(parts)


def _rpc_table(name: str, histogram: Histogram, label: Callable[[int], int]) -> str:
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
        high = 1 << (line.bucket + _FIRST_EXTENT - 10 * (unit + 1))
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
    return np.bincount(np.searchsorted(_EXTENT_BOUNDS, sizes, side="right"), minlength=BUCKETS)
