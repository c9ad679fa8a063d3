"""Where in a file each rank reads or writes: the patterns of a skeleton.

Every rank moves so many bytes in a phase, in *pieces*: each is in one place of the file. The
pattern says where the pieces of the ranks that share a file are, in the part of the file that the
phase begins at:

``contiguous``
    the bytes of a rank are contiguous, the next rank's bytes follow;
``own``
    the bytes of a rank lie together, where its own offset says, whatever others do;
``strided``
    first pieces of all ranks, then all second ones, and so on; or, with a stride, so far apart;
``boxes``
    all pieces are dealt to places by chance, and a rank takes its own in the order of the file: the
    boxes of an AMR level as a load balancer deals them, the columns of an unstructured grid;
``random``
    the same, and a rank takes its own in any order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xc40io.config.errors import InputError
from xc40io.engine.types import Integers

_MOST_PIECES = 20_000_000


class Sharing(NamedTuple):
    """Which ranks share a file."""

    group: Integers  # int64 (ranks,): the group, from 0, whose file each rank uses
    position: Integers  # int64 (ranks,): the how-manieth of its group each rank is, from 0
    members: Integers  # int64 (groups,): how many ranks each group has

    @staticmethod
    def of(file: Integers) -> Sharing:
        """Return the groups of ranks that use the same file: int64 (ranks,), any numbers.

        The groups are in the order of these numbers.
        """
        _, group, members = np.unique(file, return_inverse=True, return_counts=True)
        order = np.argsort(group, kind="stable")
        position = np.empty(len(file), np.int64)
        position[order] = np.arange(len(file)) - (np.cumsum(members) - members)[group[order]]
        return Sharing(group, position, members)

    def before(self, size: Integers) -> Integers:
        """Return the sum over earlier ranks of each rank's group: int64 (ranks,)."""
        order = np.argsort(self.group, kind="stable")
        sums = np.cumsum(size[order]) - size[order]
        before = np.empty_like(size)
        before[order] = sums - sums[np.cumsum(self.members) - self.members][self.group[order]]
        return before


class Places(NamedTuple):
    """Pieces of file; each rank's pieces are in the order in which it moves them."""

    rank: Integers  # int64 (pieces,), ascending
    turn: Integers  # int64: the how-manieth of its rank a piece is, from 0
    # offset, length: int64: bytes
    offset: Integers
    length: Integers
    end: Integers  # int64 (groups,): where in each file the part ends that the phase began at
    as_one: int = 1  # rows of an array that each piece stands for, at most

    def only(self, which: slice | Integers) -> Places:
        """Return some of the pieces, by position."""
        rank, turn, offset, length = (column[which] for column in self[:4])
        return Places(rank, turn, offset, length, self.end, self.as_one)


def place(
    pattern: str,
    sharing: Sharing,
    size: Integers,
    piece: Integers,
    base: Integers,
    *,
    stride: int | None = None,
    draws: np.random.Generator | None = None,
) -> Places:
    """Return the pieces of all ranks.

    Parameters
    ----------
    pattern
        One of those above.
    sharing
        Which ranks share a file.
    size, piece
        int64 (ranks,): bytes that each moves in all, and in one piece; the last may be shorter.
    base
        int64 (ranks,): where in the file of each the part begins.
    stride
        For ``strided``: bytes from one piece of a rank to its next.
    draws
        For ``boxes`` and ``random``.

    Raises
    ------
    InputError
        If there are more pieces than can be simulated.
    """
    count = -(-size // piece)
    if count.sum() > _MOST_PIECES:
        raise InputError(
            f"{count.sum():,} calls in one phase; right would be at most {_MOST_PIECES:,}, by "
            "larger ones"
        )
    rank = np.repeat(np.arange(len(size)), count)
    turn = np.arange(len(rank)) - np.repeat(np.cumsum(count) - count, count)
    length = np.minimum(piece[rank], size[rank] - turn * piece[rank])
    if pattern in ("boxes", "random"):
        assert draws is not None
        within = _dealt(sharing.group[rank], length, draws)
        if pattern == "boxes":
            order = np.lexsort((within, rank))
            within, length = within[order], length[order]
    else:
        within = (
            _begin(pattern, sharing, size, piece)[rank]
            + turn * _step(pattern, sharing, piece, stride)[rank]
        )
    offset = base[rank] + within
    end = np.zeros(len(sharing.members), np.int64)
    np.maximum.at(end, sharing.group, base)
    np.maximum.at(end, sharing.group[rank], offset + length)
    return Places(rank, turn, offset, length, end)


def _begin(pattern: str, sharing: Sharing, size: Integers, piece: Integers) -> Integers:
    """Return where the first piece of each rank is, in its part of the file: int64 (ranks,)."""
    if pattern == "contiguous":
        return sharing.before(size)
    return sharing.position * piece if pattern == "strided" else np.zeros_like(size)


def _step(pattern: str, sharing: Sharing, piece: Integers, stride: int | None) -> Integers:
    """Return the bytes from one piece of each rank to its next: int64 (ranks,)."""
    if pattern != "strided":
        return piece
    if stride is not None:
        return np.full_like(piece, stride)
    return sharing.members[sharing.group] * piece


def _dealt(group: Integers, length: Integers, draws: np.random.Generator) -> Integers:
    """Deal the pieces of each group to places by chance, without gaps: int64 (pieces,)."""
    order = np.lexsort((draws.random(len(group)), group))
    before = np.cumsum(length[order]) - length[order]
    first = np.searchsorted(group[order], group[order])  # where each group begins
    within = np.empty_like(before)
    within[order] = before - before[first]
    return within
