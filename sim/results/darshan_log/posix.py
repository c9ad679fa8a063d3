"""The POSIX module: what reached the file system, file by file and rank by rank."""

from __future__ import annotations

from functools import partial

import numpy as np

from sim.engine.types import Integers
from sim.plane.library_calls import LibraryOp
from sim.results.darshan_log.groups import Groups, Mask, frequent
from sim.results.darshan_log.layers import STAT, Calls
from sim.results.darshan_log.modules import (
    WAYS,
    common_counters,
    frequent_sizes,
    moving,
    records_of,
)
from sim.results.darshan_log.records import Records, Values, named

MEMORY_ALIGNMENT = 8
"""Bytes to which Darshan takes buffers to be aligned unless told otherwise."""


def posix_records(calls: Calls, ranks: int, alignment: Integers) -> Records:
    """Return the records of the POSIX module.

    ``calls``: ``LAYER_CALL`` records of POSIX. ``ranks``: of the job. ``alignment``: int64
    (files,): bytes to which accesses of each file should be aligned: its stripe.
    """
    return records_of(calls, ranks, partial(_count, alignment=alignment), _count_frequent)


def _count(groups: Groups, alignment: Integers) -> dict[str, Values]:
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
    """Return what files are aligned to, and how many calls are not."""
    moves = moving(groups.calls["op"])
    first = np.searchsorted(groups.of, np.arange(groups.count))
    unaligned = groups.calls["offset"] % np.maximum(alignment[groups.calls["file"]], 1) != 0
    return {
        "MEM_ALIGNMENT": np.full(groups.count, MEMORY_ALIGNMENT),
        "FILE_ALIGNMENT": alignment[groups.calls["file"][first]],
        "FILE_NOT_ALIGNED": groups.number(moves & unaligned),
    }


def _count_frequent(groups: Groups) -> dict[str, Values]:
    """Return the most frequent sizes and gaps."""
    of, gaps = [], []
    for _, _, kind in WAYS:
        mine = groups.calls["op"] == kind
        offset, before = _places(groups, mine, by_rank=True)
        ahead = (before > 0) & (offset > before)
        of.append(groups.of[mine])
        gaps.append(np.where(ahead, offset - before - 1, 0))
    strides = frequent(np.concatenate(of), np.concatenate(gaps), groups.count)
    return frequent_sizes(groups) | named(strides, "STRIDE")


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
