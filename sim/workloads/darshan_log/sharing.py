"""How the calls of a record that is about all ranks together are dealt to the ranks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sim.engine.types import Floats, Integers
from sim.workloads.darshan_log.counters import Counters
from sim.workloads.darshan_log.offsets import wrapped


class Dealt(NamedTuple):
    """Calls of several ranks: columns (calls,), sorted as they came.

    Attributes
    ----------
    member
        int64: the place of the rank among those that take part.
    turn
        int64: the how-manieth of its calls it is.
    """

    member: Integers
    turn: Integers


def deal(calls: int, members: int) -> Dealt:
    """Deal calls to ranks in turn: ascending sizes give every rank the same mixture."""
    place = np.arange(calls)
    return Dealt(place % members, place // members)


def active_ranks(record: Counters, ranks: int) -> Integers:
    """Return which ranks read or write, from the variance of their bytes: int64 (members,).

    With B bytes in all, k of R ranks that move B / k each and others that move none, the variance
    is B^2 / (k R) - (B / R)^2; k follows from what Darshan recorded. The slowest rank, of which the
    bytes are known, is one of them; the others are spread evenly.
    """
    total = record.total("BYTES_READ") + record.total("BYTES_WRITTEN")
    variance = float(record["F_VARIANCE_RANK_BYTES"].max(initial=0.0))
    mean = total / ranks
    members = ranks
    if total and np.isfinite(variance) and variance > 0.0:
        members = max(1, min(ranks, round(total**2 / (ranks * (variance + mean**2)))))
    chosen = np.arange(members) * ranks // members
    slowest = int(record["SLOWEST_RANK"][0]) if len(record) else 0
    if record.largest("SLOWEST_RANK_BYTES") and 0 <= slowest < ranks and slowest not in chosen:
        chosen[np.abs(chosen - slowest).argmin()] = slowest
    return np.sort(chosen)


def place(sizes: Integers, dealt: Dealt, extent: int, *, consecutive: float) -> Integers:
    """Return where in a file the calls of several ranks go: int64 (calls,), in bytes.

    Parameters
    ----------
    sizes, dealt
        Bytes of the calls, and whose they are.
    extent
        Where the furthest one ends, in bytes.
    consecutive
        Which part of the calls began where the one of the same rank before ended.

    Notes
    -----
    If every rank moves about as many bytes as the file has, each goes through the whole file. Else
    the ranks share it: each has a part of its own if most calls are consecutive, otherwise their
    calls lie in turn. A file that is longer than what is moved has gaps all over; one that is
    shorter is gone through again and again.
    """
    if len(sizes) == 0:
        return np.zeros(0, np.int64)
    members = int(dealt.member.max()) + 1
    by_rank = np.lexsort((dealt.turn, dealt.member))
    total = int(sizes.sum())
    if members > 1 and 0 < extent <= 1.05 * total / members:
        return wrapped(_within_rank(sizes, dealt, by_rank), sizes, extent)
    order = by_rank if consecutive >= 0.5 else np.arange(len(sizes))
    position = np.empty(len(sizes), np.int64)
    position[order] = np.cumsum(sizes[order]) - sizes[order]
    if extent < total:
        return wrapped(position, sizes, extent)
    gaps: Integers = np.floor(position * (extent / max(total, 1) - 1.0)).astype(np.int64)
    return position + gaps


def _within_rank(sizes: Integers, dealt: Dealt, by_rank: Integers) -> Integers:
    """Return what each rank has moved before each call: int64 (calls,)."""
    ordered, member = sizes[by_rank], dealt.member[by_rank]
    before = np.cumsum(ordered) - ordered
    first = np.flatnonzero(np.diff(member, prepend=-1))
    position = np.empty(len(sizes), np.int64)
    position[by_rank] = before - np.repeat(before[first], np.diff(np.append(first, len(member))))
    return position


def collective_matrix(sizes: Integers, calls: int, variance: float) -> Integers:
    """Deal sizes to collective calls and ranks: int64 (calls, ranks).

    Three ways are tried: calls of one size each, the larger ones at the same ranks or in turn at
    one end and the other; or all calls alike, so that some ranks always move more. That one is
    taken of which the bytes of the ranks vary as Darshan recorded.
    """
    blocks = sizes.reshape(calls, -1)
    turned = blocks.copy()
    turned[1::2] = turned[1::2, ::-1]
    alike = sizes.reshape(-1, calls).T
    ways = (turned, blocks, alike)
    differences = [abs(float(np.var(way.sum(axis=0))) - variance) for way in ways]
    return np.ascontiguousarray(ways[int(np.argmin(differences))])


def calls_spread(count: int, window: tuple[float, float], took: float) -> Floats:
    """Return when calls began that are spread over a window, the last one at its end."""
    first, end = window
    return first + (np.arange(count) + 1) / max(count, 1) * max(end - took - first, 0.0)
