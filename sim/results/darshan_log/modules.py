"""What POSIX and MPI-IO have in common in Darshan: most counters, and how they come about."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sim.plane.library_calls import LibraryOp
from sim.results.darshan_log.groups import Groups, Mask, frequent
from sim.results.darshan_log.layers import STAT, Calls
from sim.results.darshan_log.records import Records, Values, bins, named, share

Counting = Callable[[Groups], dict[str, Values]]
"""Returns counters of each record from its calls."""

WAYS = (("READ", "BYTES_READ", LibraryOp.READ), ("WRITE", "BYTES_WRITTEN", LibraryOp.WRITE))
"""Directions: as counters name them, the counter of their bytes, and the calls."""


def records_of(calls: Calls, ranks: int, count: Counting, count_frequent: Counting) -> Records:
    """Return the records of a layer.

    ``calls``: ``LAYER_CALL`` records, sorted by file, rank and end. ``ranks``: of the job.
    ``count``: counts what the calls of a record did, one after the other. ``count_frequent``:
    counts their most frequent values, to which a shared record has those of all ranks.
    """
    file, rank = calls["file"].astype(np.int64), calls["rank"].astype(np.int64)
    new = np.append(True, (file[1:] != file[:-1]) | (rank[1:] != rank[:-1]))[: len(calls)]
    first = np.flatnonzero(new)
    groups = Groups(calls, np.cumsum(new) - 1, len(first))
    own = Records(file[first], rank[first], count(groups) | count_frequent(groups))
    files, of = np.unique(file, return_inverse=True)
    return share(own, count_frequent(Groups(calls, of, len(files))), ranks)


def common_counters(groups: Groups, size_prefix: str) -> dict[str, Values]:
    """Return the counters that both modules have.

    ``size_prefix`` is what the counters of classes of sizes begin with, ``{}`` for the direction.
    """
    op = groups.calls["op"]
    counters: dict[str, Values] = {}
    for what, bytes_moved, kind in WAYS:
        mine = op == kind
        slowest = groups.slowest(mine)
        counters |= bins(
            groups.calls["bytes"][mine], groups.of[mine], groups.count, size_prefix.format(what)
        )
        counters[bytes_moved] = groups.total("bytes", mine)
        counters[f"MAX_{what}_TIME_SIZE"] = slowest.bytes
        counters[f"F_MAX_{what}_TIME"] = slowest.seconds
    counters["RW_SWITCHES"] = _switches(groups)
    return counters | _times(groups) | _of_shared(groups.count)


def frequent_sizes(groups: Groups) -> dict[str, Values]:
    """Return the most frequent sizes, reads and writes together."""
    moves = moving(groups.calls["op"])
    return named(frequent(groups.of[moves], groups.calls["bytes"][moves], groups.count), "ACCESS")


def moving(op: Values) -> Mask:
    """Tell which calls move data."""
    moves: Mask = (op == LibraryOp.READ) | (op == LibraryOp.WRITE)
    return moves


def _switches(groups: Groups) -> Values:
    """Return how often a read followed a write, or a write a read."""
    moves = moving(groups.calls["op"])
    op, of = groups.calls["op"][moves], groups.of[moves]
    turned = groups.follows(moves) & (np.append(-1, op[:-1])[: len(op)] != op)
    return np.bincount(of[turned], minlength=groups.count)


def _times(groups: Groups) -> dict[str, Values]:
    """Return when calls began and ended, and what they took; a sync is time of writing."""
    op = groups.calls["op"]
    writes = op == LibraryOp.WRITE
    opens, closes = op == LibraryOp.OPEN, op == LibraryOp.CLOSE
    counters: dict[str, Values] = {}
    windows = {"OPEN": opens, "READ": op == LibraryOp.READ, "WRITE": writes, "CLOSE": closes}
    for name, which in windows.items():
        counters[f"F_{name}_START_TIMESTAMP"] = groups.earliest("start", which)
        counters[f"F_{name}_END_TIMESTAMP"] = groups.latest("end", which)
    counters["F_READ_TIME"] = groups.seconds(windows["READ"])
    counters["F_WRITE_TIME"] = groups.seconds(writes | (op == LibraryOp.SYNC))
    counters["F_META_TIME"] = groups.seconds(opens | closes | (op == STAT))
    return counters


def _of_shared(count: int) -> dict[str, Values]:
    """Return the counters that only a shared record has anything in."""
    counters: dict[str, Values] = {}
    for name in ("FASTEST", "SLOWEST"):
        counters[f"{name}_RANK"] = np.zeros(count, np.int64)
        counters[f"{name}_RANK_BYTES"] = np.zeros(count, np.int64)
        counters[f"F_{name}_RANK_TIME"] = np.zeros(count)
    for name in ("TIME", "BYTES"):
        counters[f"F_VARIANCE_RANK_{name}"] = np.zeros(count)
    return counters
