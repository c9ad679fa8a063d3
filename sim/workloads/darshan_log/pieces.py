"""Where the pieces of a collective call lie: contiguous ones of each rank, or many with holes.

A log without DXT does not say what the file views of an MPI program looked like. What the
aggregators did below tells whether there were holes: they then wrote more than the ranks gave
them, since they read and wrote back whole windows (read-modify-write).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sim.engine.types import Integers

MOST_RUNS = 64
"""Runs of data that a stripe is taken to have at most."""


class Holes(NamedTuple):
    """How the data of a collective call lies in the file.

    Attributes
    ----------
    density
        Which part of the bytes between the first and the last one is data; 1 without holes.
    period
        Bytes from one run of data to the next.
    """

    density: float
    period: float


def holes_below(moved: int, below_bytes: int, below_calls: int, stripe: int) -> Holes | None:
    """Return the holes that explain what the aggregators moved; None if there are none.

    Parameters
    ----------
    moved
        Bytes that the ranks gave, or got.
    below_bytes, below_calls
        What the aggregators moved for them through POSIX, and in how many calls.
    stripe
        Bytes of a stripe: of a window.

    Notes
    -----
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

    Parameters
    ----------
    sizes
        int64 (ranks,): what each rank moves, in bytes.
    begin, span
        From where in the file, and over how many bytes.
    each
        Pieces of each rank.

    Returns
    -------
    int64 (pieces,), int64 (pieces,), int64 (pieces,)
        The rank's place, offset and length of each piece, by rank and then offset; no piece is
        empty.
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
