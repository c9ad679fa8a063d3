"""The modules POSIX (calls that reached the file system) and MPI-IO (calls of the ranks)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

import numpy as np

from xc40io.engine.types import Integers
from xc40io.plane.library_calls import LibraryOp
from xc40io.results.darshan_log.layers import STAT, Calls, moving
from xc40io.results.darshan_log.records import (
    Groups,
    Mask,
    Records,
    Values,
    bins,
    frequent,
    share,
)

Counting = Callable[[Groups], dict[str, Values]]
"""Returns counters of each record from its calls."""

WAYS = (("READ", "BYTES_READ", LibraryOp.READ), ("WRITE", "BYTES_WRITTEN", LibraryOp.WRITE))
"""Directions: as counters name them, the counter of their bytes, and the calls."""


def records_of(calls: Calls, ranks: int, count: Counting, count_frequent: Counting) -> Records:
    """Return the records of a layer from ``LAYER_CALL`` records, sorted by file, rank and end.

    ``count`` counts what the calls of a record did, one after the other; ``count_frequent`` counts
    their most frequent values, in a shared record over all ranks.
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
        seconds, size = groups.slowest(mine)
        counters |= bins(
            groups.calls["bytes"][mine], groups.of[mine], groups.count, size_prefix.format(what)
        )
        counters[bytes_moved] = groups.total("bytes", mine)
        counters[f"MAX_{what}_TIME_SIZE"] = size
        counters[f"F_MAX_{what}_TIME"] = seconds
    counters["RW_SWITCHES"] = _switches(groups)
    return counters | _times(groups) | _of_shared(groups.count)


def frequent_sizes(groups: Groups) -> dict[str, Values]:
    """Return the most frequent sizes, reads and writes together."""
    moves = moving(groups.calls["op"])
    return frequent("ACCESS", groups.of[moves], groups.calls["bytes"][moves], groups.count)


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


MEMORY_ALIGNMENT = 8
"""Bytes to which Darshan takes buffers to be aligned unless told otherwise."""


def posix_records(calls: Calls, ranks: int, alignment: Integers) -> Records:
    """Return the records of the POSIX module from ``LAYER_CALL`` records of a job of ``ranks``.

    ``alignment``, int64 (files,), are bytes to which accesses should be aligned: the file's stripe.
    """
    return records_of(calls, ranks, partial(_count_posix, alignment=alignment), _frequent_in_posix)


def _count_posix(groups: Groups, alignment: Integers) -> dict[str, Values]:
    """Return all counters but the most frequent values."""
    op = groups.calls["op"]
    counters = common_counters(groups, "SIZE_{}_")
    for name, kind in (
        ("OPENS", LibraryOp.OPEN),
        ("READS", LibraryOp.READ),
        ("WRITES", LibraryOp.WRITE),
        ("FSYNCS", LibraryOp.SYNC),
        ("STATS", STAT),
    ):
        counters[name] = groups.number(op == kind)
    for (what, _, kind), furthest in zip(WAYS, ("READ", "WRITTEN"), strict=True):
        mine = op == kind
        offset, before = _places(groups, mine)
        of = groups.of[mine]
        counters[f"MAX_BYTE_{furthest}"] = groups.furthest(mine)
        counters[f"SEQ_{what}S"] = np.bincount(of[offset > before], minlength=groups.count)
        counters[f"CONSEC_{what}S"] = np.bincount(of[offset == before + 1], minlength=groups.count)
    return counters | _alignments(groups, alignment)


def _alignments(groups: Groups, alignment: Integers) -> dict[str, Values]:
    """Return the alignments of memory and files in bytes, and how many calls are not aligned."""
    moves = moving(groups.calls["op"])
    first = np.searchsorted(groups.of, np.arange(groups.count))
    unaligned = groups.calls["offset"] % np.maximum(alignment[groups.calls["file"]], 1) != 0
    return {
        "MEM_ALIGNMENT": np.full(groups.count, MEMORY_ALIGNMENT),
        "FILE_ALIGNMENT": alignment[groups.calls["file"][first]],
        "FILE_NOT_ALIGNED": groups.number(moves & unaligned),
    }


def _frequent_in_posix(groups: Groups) -> dict[str, Values]:
    """Return the most frequent sizes and gaps."""
    of, gaps = [], []
    for _, _, kind in WAYS:
        mine = groups.calls["op"] == kind
        offset, before = _places(groups, mine, by_rank=True)
        ahead = (before > 0) & (offset > before)
        of.append(groups.of[mine])
        gaps.append(np.where(ahead, offset - before - 1, 0))
    strides = frequent("STRIDE", np.concatenate(of), np.concatenate(gaps), groups.count)
    return frequent_sizes(groups) | strides


def _places(groups: Groups, which: Mask, *, by_rank: bool = False) -> tuple[Integers, Integers]:
    """Return where some calls began, and the last byte that the one before touched.

    That is the one before of the same rank and file, even ``by_rank`` where a record is about all
    ranks; before the first it is 0, as Darshan has it. Both are int64 (calls,), in bytes.
    """
    calls = groups.calls[which]
    offset, last = calls["offset"], calls["offset"] + calls["bytes"] - 1
    follows = groups.follows(which)
    if by_rank:
        rank = calls["rank"]
        follows = follows & np.append(False, rank[1:] == rank[:-1])[: len(rank)]
    return offset, np.where(follows, np.append(0, last[:-1])[: len(last)], 0)


def mpiio_records(calls: Calls, ranks: int, hinted: Collection[int]) -> Records:
    """Return the records of the MPI-IO module from ``LAYER_CALL`` records of a job of ``ranks``.

    ``hinted`` are the numbers of files that the program opens with hints of its own.
    """
    return records_of(calls, ranks, partial(_count_mpiio, hinted=hinted), frequent_sizes)


def _count_mpiio(groups: Groups, hinted: Collection[int]) -> dict[str, Values]:
    """Return all counters but the most frequent sizes.

    A file view is counted where a rank must have set one: if it asked for several pieces at once.
    """
    calls = groups.calls
    op, together = calls["op"], calls["collective"] > 0
    opens = op == LibraryOp.OPEN
    counters = common_counters(groups, "SIZE_{}_AGG_")
    counters["COLL_OPENS"] = groups.number(opens & together)
    counters["INDEP_OPENS"] = groups.number(opens & ~together)
    for what, _, kind in WAYS:
        counters[f"COLL_{what}S"] = groups.number((op == kind) & together)
        counters[f"INDEP_{what}S"] = groups.number((op == kind) & ~together)
    counters["MODE"] = np.zeros(groups.count, np.int64)
    counters["MODE"][groups.of[opens]] = calls["mode"][opens]  # of several, that of the last open
    counters["SYNCS"] = groups.number(op == LibraryOp.SYNC)
    counters["HINTS"] = groups.number(opens & np.isin(calls["file"], list(hinted)))
    counters["VIEWS"] = (groups.number(calls["pieces"] > 1) > 0).astype(np.int64)
    return counters
