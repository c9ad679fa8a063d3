"""The sizes and places of calls, from the counters of a record.

Darshan counts calls in ten classes of sizes, names the four most frequent sizes (of reads and
writes together) and gaps between calls (*strides*), counts calls that began where the last one
ended (*consecutive*) and those that began there or further on (*sequential*), and keeps the last
byte that was read and written. A log without DXT does not say what the file views of an MPI program
looked like; but aggregators that wrote more than the ranks gave them, since they read and wrote
back whole windows (read-modify-write), show that the data had holes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from xc40io.engine.types import Integers
from xc40io.workloads.darshan.call_rows import Dealt
from xc40io.workloads.darshan.module_counters import BIN_HIGH, BIN_LOW, Counters, Direction, bin_of


def sizes_of(record: Counters, direction: Direction, count: int, total: int) -> Integers:
    """Return the sizes of the reads, or of the writes, of one or more records: int64 (count,).

    They are ascending, and together ``total`` bytes: what the counters leave open is chosen so.
    """
    bins = record.bins(direction)
    if count == 0:
        return np.zeros(0, np.int64)
    if int(bins.sum()) != count:
        return even_sizes(count, total)
    common = _of_direction(record, direction, bins)
    for known in (common, {}):
        found = _fit(total, bins, known)
        if found is not None:
            return found
    return even_sizes(count, total)


def even_sizes(count: int, total: int) -> Integers:
    """Return sizes that differ by a byte at most: int64 (count,), ascending, together ``total``."""
    base, more = divmod(max(0, total), count)
    sizes = np.full(count, base, np.int64)
    sizes[count - more :] += 1
    return sizes


def _of_direction(record: Counters, direction: Direction, bins: Integers) -> dict[int, int]:
    """Deal the most frequent sizes, which count reads and writes together, to the directions.

    Where both have calls in the class of a size, it is dealt in proportion to them.
    """
    other = record.bins("WRITE" if direction == "READ" else "READ")
    dealt: dict[int, int] = {}
    for size, count in record.common("ACCESS").items():
        place = bin_of(size)
        mine, theirs = int(bins[place]), int(other[place])
        share = round(count * mine / (mine + theirs)) if mine + theirs else 0
        dealt[size] = min(max(share, count - theirs), mine, count)
    return dealt


def _fit(total: int, bins: Integers, known: Mapping[int, int]) -> Integers | None:
    """Return sizes with so many in each class, some of them known; None if there are none.

    The unknown ones lie in the (geometric) middle of their class, except that the largest classes
    take up what is then missing or too much.
    """
    left, parts, rest = bins.copy(), [], total
    for size, count in known.items():
        count = min(count, int(left[bin_of(size)]))
        left[bin_of(size)] -= count
        parts.append(np.full(count, size, np.int64))
        rest -= count * size
    lowest, highest = left * BIN_LOW, left * BIN_HIGH
    if not int(lowest.sum()) <= rest <= int(highest.sum()):
        return None
    middle = np.sqrt(np.maximum(BIN_LOW, 1).astype(float) * BIN_HIGH).astype(np.int64)
    totals = np.clip(left * middle, lowest, highest)
    for place in reversed(range(len(totals))):
        wished = int(totals[place]) + rest - int(totals.sum())
        totals[place] = min(max(wished, int(lowest[place])), int(highest[place]))
    parts.extend(
        even_sizes(int(count), int(size)) for count, size in zip(left, totals, strict=True) if count
    )
    return np.sort(np.concatenate(parts))


def offsets_of(
    sizes: Integers, *, consecutive: int, sequential: int, strides: Mapping[int, int], extent: int
) -> Integers:
    """Return the offsets of the calls of one rank, in their order: int64 (calls,).

    ``sizes`` (calls,) are their bytes, ``strides`` the most frequent gaps and how often each
    occurred, ``extent`` is where the furthest call ended. Jumps ahead and jumps back to the first
    byte are spread evenly over the calls; gaps that are not known are alike, and as large as it
    takes to reach ``extent``.
    """
    calls = len(sizes)
    if calls == 0:
        return np.zeros(0, np.int64)
    consecutive = min(consecutive, calls - 1)
    first_ahead = sequential >= calls
    ahead = min(max(sequential - consecutive - first_ahead, 0), calls - 1 - consecutive)
    back = calls - 1 - consecutive - ahead
    jumps = _evenly(ahead + back, calls - 1) + 1
    is_back = np.zeros(len(jumps), bool)
    is_back[_evenly(back, len(jumps))] = True
    forward = jumps[~is_back]
    often = np.array(list(strides.values()), np.int64).clip(max=len(forward))  # damaged logs
    known = np.repeat(np.array(list(strides), np.int64), often)[: len(forward)]
    gaps = np.zeros(calls, np.int64)  # before each call
    gaps[forward[: len(known)]] = known
    section = np.zeros(calls, np.int64)
    section[jumps[is_back]] = 1
    section = np.cumsum(section)
    offset = _reach(sizes, gaps, section, forward[len(known) :], extent)
    return np.clip(offset, 0, np.maximum(extent - sizes, 0))


def _evenly(count: int, places: int) -> Integers:
    """Return which of so many places are taken when ``count`` are, evenly: int64 (count,)."""
    return (np.arange(count) * places) // max(count, 1)


def _within_sections(sizes: Integers, gaps: Integers, section: Integers) -> Integers:
    """Return offsets that grow within each section, each of which begins anew at its first gap."""
    begins = np.flatnonzero(np.diff(section, prepend=-1))
    reached = np.cumsum(sizes + gaps) - sizes
    return reached - (reached - gaps)[begins][section]


def _reach(
    sizes: Integers, gaps: Integers, section: Integers, open_gaps: Integers, extent: int
) -> Integers:
    """Return offsets, with gaps that are not known so large that the last byte is reached.

    If there are none, all calls begin further on.
    """
    offset = _within_sections(sizes, gaps, section)
    ends = offset + sizes
    missing = extent - int(ends.max())
    if missing <= 0:
        return offset
    furthest = int(section[int(ends.argmax())])
    mine = open_gaps[section[open_gaps] == furthest]
    gaps = gaps.copy()
    if len(mine) == 0:
        gaps[np.flatnonzero(np.diff(section, prepend=-1))] += missing
    else:
        share, more = divmod(missing, len(mine))
        gaps[mine] += share
        gaps[mine[:more]] += 1
    return _within_sections(sizes, gaps, section)


def _wrapped(position: Integers, sizes: Integers, extent: int) -> Integers:
    """Return positions in an endless repetition of a file as offsets into the file."""
    if extent <= 0:
        return np.zeros_like(position)
    offset = position % extent
    return np.clip(offset, 0, np.maximum(extent - sizes, 0))


class Passes(NamedTuple):
    """How the calls of ranks that share a file go over it."""

    times: int = 1  # how often they go through all of it together
    blocks: int = 1  # of each rank in a pass: between them lie those of the others
    whole: bool = False  # each goes through all of it by itself


def passes_of(
    calls: int, moved: int, extent: int, members: int, *, apart: int, rounds: Collection[int]
) -> Passes:
    """Return how ``calls`` of several ranks go over a file.

    They moved so many bytes of a file of ``extent`` bytes; ``apart`` did not begin where the one of
    the same rank before had ended. Where as many bytes were moved as if each rank had gone through
    all of it, but also as many as in one of the ``rounds`` that ranks are known to have made
    (opens, turns of reads and writes), they shared it in each round.
    """
    times = moved / extent if extent > 0 else 1.0
    count = max(1, round(times)) if times >= _TWICE else 1
    if members > 1 and times * 1.05 >= members and count not in rounds:
        return Passes(whole=True)
    each = max(1, calls // (members * count))
    return Passes(count, min(max(1, round(apart / (members * count))), each))


_TWICE = 1.5
"""Times as many bytes as a file has, from which on it is gone through more than once."""


def place(sizes: Integers, dealt: Dealt, extent: int, passes: Passes) -> Integers:
    """Return where in a file the calls of several ranks go: int64 (calls,), in bytes.

    ``sizes`` and ``dealt`` say how large the calls are and whose, ``extent`` where the furthest one
    ends, ``passes`` how they go over it.

    The blocks of the ranks lie in turn; where each has one, it is a part of its own. A file that is
    longer than what is moved in a pass has gaps all over; one that is shorter is begun anew.
    """
    if len(sizes) == 0:
        return np.zeros(0, np.int64)
    if passes.whole:
        by_rank = np.lexsort((dealt.turn, dealt.member))
        return _wrapped(_within_rank(sizes, dealt, by_rank), sizes, extent)
    block = dealt.turn * (passes.times * passes.blocks) // np.bincount(dealt.member)[dealt.member]
    order = np.lexsort((dealt.turn, dealt.member, block))
    position = np.empty(len(sizes), np.int64)
    position[order] = np.cumsum(sizes[order]) - sizes[order]
    turn = block // passes.blocks
    begins = position[order][np.searchsorted(turn[order], np.arange(passes.times))]
    position -= begins[turn]
    moved = int((position + sizes).max())
    if extent < moved:
        return _wrapped(position, sizes, extent)
    gaps: Integers = np.floor(position * (extent / max(moved, 1) - 1.0)).astype(np.int64)
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


MOST_RUNS = 64
"""Runs of data that a stripe is taken to have at most."""


class Holes(NamedTuple):
    """How the data of a collective call lies in the file."""

    density: float  # part of the bytes between the first and the last that is data; 1: no holes
    period: float  # bytes from one run of data to the next


def holes_below(moved: int, below_bytes: int, below_calls: int, stripe: int) -> Holes | None:
    """Return the holes that explain what the aggregators moved; None if there are none.

    The ranks gave, or got, ``moved`` bytes, for which the aggregators moved ``below_bytes`` in
    ``below_calls`` of POSIX; a window is a ``stripe``, in bytes.

    An aggregator takes a window from its first byte of data to the end of the stripe. So what a
    call is shorter than a stripe is where the window begins in a hole. If holes are of mean length
    g and data a part d of all, a stripe begins in a hole with probability 1 - d, and what is left
    of that hole is g long on average (lengths drawn at random): stripe - call = (1 - d) g. A run of
    data and a hole together are then g / (1 - d) long.
    """
    if moved <= 0 or below_calls <= 0 or below_bytes <= 1.01 * moved:
        return None
    density = moved / below_bytes
    skipped = max(stripe - below_bytes / below_calls, 0.0)
    period = skipped / (1.0 - density) ** 2
    return Holes(density, float(np.clip(period, stripe / MOST_RUNS, 4.0 * stripe)))


def contiguous_pieces(sizes: Integers, begin: int, span: int) -> Integers:
    """Return the offset of each rank's one piece: int64 (ranks,).

    The pieces lie side by side from ``begin``; where there are not ``span`` bytes for all of them
    (ranks that read the same), they overlap evenly.
    """
    before = np.cumsum(sizes) - sizes
    total = int(sizes.sum())
    if total > span > 0:
        last = max(span - int(sizes[-1]), 0)
        before = np.floor(before * (last / max(int(before[-1]), 1))).astype(np.int64)
    return begin + before


def apart(sizes: Integers, span: int, grain: int) -> Integers:
    """Return how far to move pieces that lie side by side, so that they reach over ``span`` bytes.

    The holes between them are alike, but for what makes each a multiple of ``grain`` bytes: int64
    (ranks,).
    """
    before = np.cumsum(sizes) - sizes
    hole = max(span - int(sizes.sum()), 0) / max(int(before[-1]), 1)
    moved: Integers = np.floor(before * hole / grain).astype(np.int64) * grain
    return moved


def interleaved_pieces(
    sizes: Integers, begin: int, span: int, each: int
) -> tuple[Integers, Integers, Integers]:
    """Cut what each rank moves into pieces that lie in turn, with holes between them.

    ``sizes``, int64 (ranks,), are cut into ``each`` pieces, over ``span`` bytes of the file from
    ``begin``. Returns the rank's place, offset and length of each piece, int64 (pieces,), by rank
    and then offset; no piece is empty.
    """
    ranks = len(sizes)
    base, more = np.divmod(sizes, each)
    length = base[None, :] + (np.arange(each)[:, None] < more[None, :])
    flat = length.ravel()
    before = np.cumsum(flat) - flat
    stretch = max(span / max(int(flat.sum()), 1) - 1.0, 0.0)
    offset = begin + before + np.floor(before * stretch).astype(np.int64)
    order = np.arange(each * ranks).reshape(each, ranks).T.ravel()
    order = order[flat[order] > 0]
    return order % ranks, offset[order], flat[order]
