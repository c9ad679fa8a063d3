"""HDF5's cache of metadata, and who writes what has changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xc40io.mpi.accesses import Accesses


@dataclass(frozen=True)
class Entry:
    """A piece of metadata: what the library reads or writes at once. Bytes."""

    address: int
    size: int


class MetadataCache:
    """The metadata of a file, as all ranks have them in memory, the one used longest ago first.

    HDF5 demands that all ranks change metadata alike, so that one picture serves for all of them.
    """

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}
        self._dirty: set[int] = set()
        self._loaded: set[int] = set()
        self._pinned: set[int] = set()

    def insert(self, address: int, size: int) -> Entry:
        """Take in new metadata, or what has changed its size."""
        self._sizes[address] = size
        self.touch(address)
        return Entry(address, size)

    def touch(self, address: int) -> None:
        """Note that metadata have changed."""
        self._dirty.add(address)
        self._loaded.add(address)
        self.use(address)

    def use(self, address: int) -> None:
        """Note that metadata have been looked at: they are the last ones used now."""
        self._sizes[address] = self._sizes.pop(address)

    def pin(self, address: int) -> None:
        """Keep metadata out of the list of what was used."""
        self._pinned.add(address)

    def forget(self, address: int) -> None:
        """Drop metadata that are no longer in the file."""
        del self._sizes[address]
        self._dirty.discard(address)

    def empty(self) -> None:
        """Forget what was read: the file is closed."""
        self._loaded.clear()

    def has(self, address: int) -> bool:
        """Tell whether metadata are in memory."""
        return address in self._loaded

    def missing(self, entries: list[Entry]) -> list[Entry]:
        """Return the entries that must be read, and add them to what is in memory."""
        missing = [entry for entry in entries if entry.address not in self._loaded]
        self._loaded.update(entry.address for entry in missing)
        return missing

    @property
    def is_dirty(self) -> bool:
        """Whether anything has changed since the last flush."""
        return bool(self._dirty)

    def flush(self, ranks: int) -> Accesses:
        """Return who writes which of the changed entries, in its order; they are clean then.

        In the order of their addresses, every rank takes an equal share, the first ones one more if
        they do not come out even. It writes first what was used longest ago, then what is pinned,
        the superblock last (H5Cmpio.c, H5C_apply_candidate_list: the distributed strategy).
        """
        each, more = divmod(len(self._dirty), ranks)
        share = np.full(ranks, each)
        share[:more] += 1
        rank = dict(zip(sorted(self._dirty), np.repeat(np.arange(ranks), share), strict=True))
        used = [address for address in self._sizes if address in self._dirty]
        order = sorted(used, key=lambda place: (rank[place], place == 0, place in self._pinned))
        self._dirty.clear()
        return Accesses(
            np.array([rank[place] for place in order], np.int64),
            np.array(order, np.int64),
            np.array([self._sizes[place] for place in order], np.int64),
        )
