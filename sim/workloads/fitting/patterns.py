"""How the ranks went through their files: in which calls, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sim.engine.types import Indices, Integers
from sim.workloads.fitting.sets import FileUse
from sim.workloads.trace import TraceOp

_MOSTLY = 0.8  # a share from which on a pattern is said to be that of all calls


@dataclass(frozen=True)
class CallPattern:
    """How ranks read, or how they wrote.

    Attributes
    ----------
    pattern
        As a skeleton has it.
    transfer
        Bytes of the call that moved most bytes; of a collective call with several pieces, what a
        rank moves in it on average.
    piece
        Bytes of the piece that moved most bytes, where a collective call has several.
    stride
        Bytes from one call to the next, if that is always the same and not what interleaved ranks
        have.
    collective
        Whether most calls were collective.
    agreement
        The share of the steps from one call to the next that the pattern describes.
    """

    pattern: str
    transfer: int
    piece: int | None
    stride: int | None
    collective: bool
    agreement: float


def pattern_of(use: FileUse, op: TraceOp) -> CallPattern:
    """Return how a set of files was read, or written."""
    rows = use.rows
    chosen = (rows.op == op) & (rows.length > 0)
    offset, length = rows.offset[chosen], rows.length[chosen]
    lengths, inverse = np.unique(length, return_inverse=True)
    moved = np.bincount(inverse, length)
    transfer = int(lengths[moved.argmax()])
    collective = bool((rows.coll[chosen] >= 0).mean() > 0.5)
    main = np.ones(len(length), bool)
    if moved.max() > _MOSTLY * moved.sum():  # the others are headers, metadata, remainders
        main = length == transfer
    offset, length = offset[main], length[main]
    rank, index = rows.rank[chosen][main], use.index[chosen][main]
    same = (rank[1:] == rank[:-1]) & (index[1:] == index[:-1])
    behind = (offset[:-1] + length[:-1])[same]
    pattern, stride, share = _order(np.diff(offset)[same], offset[1:][same] == behind)
    if stride == use.ranks * transfer:
        stride = None
    pieces = _pieces_of_a_call(rows.rank[chosen], rows.coll[chosen]) if collective else 1
    piece = transfer if pieces > 1 else None
    return CallPattern(pattern, transfer * pieces, piece, stride, collective, share)


def _pieces_of_a_call(rank: Indices, coll: Integers) -> int:
    """Return in how many pieces a rank moves data in a collective call, on average."""
    together = coll >= 0
    pairs = np.unique(np.stack([rank[together], coll[together]]), axis=1).shape[1]
    return max(round(int(np.count_nonzero(together)) / int(pairs)), 1)


def _order(step: Integers, consecutive: Integers) -> tuple[str, int | None, float]:
    """Name the pattern of steps from call to call; return it, its stride, and how true it is."""
    if len(step) == 0 or consecutive.mean() >= _MOSTLY:
        return "contiguous", None, float(consecutive.mean()) if len(step) else 1.0
    values, counts = np.unique(step, return_counts=True)
    most = int(values[counts.argmax()])
    share = float(counts.max() / len(step))
    if share >= _MOSTLY and most > 0:
        return "strided", most, share
    ascending = float((step > 0).mean())
    return ("boxes", None, ascending) if ascending >= _MOSTLY else ("random", None, 1 - ascending)
