"""HDF5's cache of chunks: what a rank that only reads keeps of a dataset."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from xc40io.config.units import MIB
from xc40io.engine.types import Integers

_BYTES, _SLOTS = MIB, 521  # of the cache of a dataset at each rank (H5Pset_cache)


class ChunkCache:
    """The chunks that each rank keeps of an open dataset, the one used longest ago first.

    A chunk goes into the cache as a whole, however little of it is asked for. What is larger than
    the cache never does. Whoever may write a file in parallel does without a cache
    (HDF5 1.10, H5D__chunk_cacheable): chunks of another rank would grow stale.
    """

    def __init__(self, chunk_bytes: int) -> None:
        self._room = min(_BYTES // chunk_bytes, _SLOTS)
        self._kept: dict[int, OrderedDict[int, None]] = {}

    @staticmethod
    def takes(chunk_bytes: int) -> bool:
        """Tell whether a chunk of so many bytes fits."""
        return chunk_bytes <= _BYTES

    def missing(self, rank: Integers, chunk: Integers) -> Integers:
        """Return which of the chunks that ranks look at one after the other they have to read.

        Parameters
        ----------
        rank, chunk
            int64 (looks,): who looks at what; what one rank does comes in its order.
        """
        again = np.zeros(len(rank), bool)
        again[1:] = (rank[1:] == rank[:-1]) & (chunk[1:] == chunk[:-1])
        looks = np.flatnonzero(~again)
        read = [
            look
            for look, who, what in zip(
                looks.tolist(), rank[looks].tolist(), chunk[looks].tolist(), strict=True
            )
            if not self._has(who, what)
        ]
        return np.array(read, np.int64)

    def _has(self, rank: int, chunk: int) -> bool:
        """Tell whether a rank has a chunk; from now on it has."""
        kept = self._kept.setdefault(rank, OrderedDict())
        found = chunk in kept
        kept[chunk] = None
        kept.move_to_end(chunk)
        if len(kept) > self._room:
            kept.popitem(last=False)
        return found
