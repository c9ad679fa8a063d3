"""What the ranks of a communicator access in one call, piece by piece."""

from __future__ import annotations

from typing import NamedTuple

from sim.engine.types import Integers


class Accesses(NamedTuple):
    """The pieces of one read or write of many ranks: rows of three columns of shape (pieces,).

    Sorted by rank, and for each rank in the order of the file, as MPI demands of a file view. No
    piece is empty; those of one rank do not overlap.

    Attributes
    ----------
    rank
        int64: whose piece it is, counted in the communicator.
    offset, length
        int64: where it lies in the file, in bytes.
    """

    rank: Integers
    offset: Integers
    length: Integers

    @property
    def bytes(self) -> int:
        """Bytes of all pieces."""
        return int(self.length.sum())
