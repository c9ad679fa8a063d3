"""Pieces that the ranks of a communicator access in one call, and runs of equal calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from xc40io.engine.types import Integers


class Accesses(NamedTuple):
    """The pieces of one read or write of many ranks: rows of three columns of shape (pieces,).

    Sorted by rank, and for each rank in the order of the file, as MPI demands of a file view. No
    piece is empty; those of one rank do not overlap.
    """

    rank: Integers  # int64: whose piece it is, counted in the communicator
    # offset, length: int64: where it lies in the file, in bytes
    offset: Integers
    length: Integers

    @property
    def bytes(self) -> int:
        """Bytes of all pieces."""
        return int(self.length.sum())


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of equal calls, each of which one ``READ`` or ``WRITE`` operation does."""

    rank: Integers  # int64 (runs,): whose they are, in the order of the calls
    # offset, length: int64: where the first call begins and what each moves, in bytes
    offset: Integers
    length: Integers
    # stride, count: int64: bytes from one call to the next, and how many there are
    stride: Integers
    count: Integers


def runs_of(calls: Accesses) -> Runs:
    """Join the calls of each rank, in the order in which it makes them, to runs.

    Each run takes the calls that follow it as long as length and stride stay the same.
    """
    rank, offset, length = calls
    if len(rank) == 0:
        empty = np.zeros(0, np.int64)
        return Runs(empty, empty, empty, empty, empty)
    stride = np.diff(offset)
    alike = (rank[1:] == rank[:-1]) & (length[1:] == length[:-1])
    # A call that is unlike the one before begins a run, and the call after it fixes the stride; so
    # of calls in a row that each change the stride only every second one begins a run.
    changed = np.zeros(len(rank), bool)
    changed[2:] = alike[1:] & alike[:-1] & (stride[1:] != stride[:-1])
    calm = np.flatnonzero(~changed)
    since_calm = (
        np.arange(len(rank)) - calm[np.searchsorted(calm, np.arange(len(rank)), "right") - 1]
    )
    begins = changed & (since_calm % 2 == 1)
    begins[0] = True
    begins[1:] |= ~alike
    first = np.flatnonzero(begins)
    count = np.diff(first, append=len(rank))
    several = np.append(stride, 0)[first]
    return Runs(rank[first], offset[first], length[first], np.where(count > 1, several, 0), count)
