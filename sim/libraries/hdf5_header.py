"""The object header of an HDF5 dataset: the messages in it, and how it grows.

(HDF5 1.10: H5Dint.c, H5D__update_oh_info; H5Oalloc.c; sizes of messages from the HDF5 File Format
Specification, version 1 of object headers.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xc40io.libraries.hdf5_cache import Entry, MetadataCache
from xc40io.libraries.hdf5_space import FileSpace

GUESS = 512
"""Bytes that the library reads of an object header or a heap whose size it does not know."""

INTEGER, FLOAT = 12, 20
"""Bytes that describe the type of a number."""

_PREFIX = 16
_ROOM = 256  # for messages, at first (H5D_MINHDR_SIZE)
_MESSAGE = 8  # what goes before each
_FILL_VALUE, _CHANGED = 8, 8  # messages: the value it is filled with, when it was changed
_CONTIGUOUS, _CHUNKED = 18, 11  # of the layout; each dimension of a chunk, and its bytes, add 4


def compound(members: Mapping[str, int]) -> int:
    """Return the bytes that describe a compound type: those of each member, by its name."""
    return 8 + sum(padded(len(name) + 1) + 32 + size for name, size in members.items())


def padded(size: int) -> int:
    """Return bytes rounded up to a multiple of 8."""
    return -(-size // 8) * 8


@dataclass
class ObjectHeader:
    """The object header of a dataset, and where it goes on if it has outgrown its place."""

    address: int
    _first: int  # bytes of the dataspace message
    _size: int = _PREFIX + _ROOM
    _room: int = _ROOM
    _more: Entry | None = None

    @staticmethod
    def create(
        dimensions: int, type_size: int, space: FileSpace, cache: MetadataCache
    ) -> ObjectHeader:
        """Make the header of a dataset: its shape, type and fill value are in it.

        ``type_size`` is how many bytes describe the type.
        """
        entry = cache.insert(space.metadata(_PREFIX + _ROOM), _PREFIX + _ROOM)
        header = ObjectHeader(entry.address, 8 + 16 * dimensions)
        header._append((header._first, type_size, _FILL_VALUE), space, cache)
        return header

    def place(self, dimensions: int, chunked: bool, space: FileSpace, cache: MetadataCache) -> None:
        """Say where the elements are, and when that was."""
        layout = _CHUNKED + 4 * (dimensions + 1) if chunked else _CONTIGUOUS
        self._append((layout, _CHANGED), space, cache)

    def reads(self) -> list[Entry]:
        """Return what is read of it."""
        reads = [Entry(self.address, GUESS)]
        if self._size > GUESS:
            reads.append(Entry(self.address + GUESS, self._size - GUESS))
        return [*reads, self._more] if self._more else reads

    def _append(self, messages: Sequence[int], space: FileSpace, cache: MetadataCache) -> None:
        for size in messages:
            self._enter(_MESSAGE + padded(size), space, cache)

    def _enter(self, size: int, space: FileSpace, cache: MetadataCache) -> None:
        """Enter a message: the header grows in place, or goes on elsewhere.

        The message that says where takes the place of the dataspace, which moves there.
        """
        lack = size - self._room
        if lack <= 0:
            self._room -= size
        elif self._more:
            self._room = 0
            self._more = grown(self._more, lack, space, cache)
        elif space.extend_metadata(self.address, self._size, lack):
            self._room = 0
            self._size += lack
            cache.insert(self.address, self._size)
        else:
            size += _MESSAGE + self._first
            self._more = cache.insert(space.metadata(size), size)
            cache.pin(self.address)


def grown(entry: Entry, extra: int, space: FileSpace, cache: MetadataCache) -> Entry:
    """Return a continuation of a header with so many bytes more: in its place, or elsewhere."""
    size = entry.size + extra
    if space.extend_metadata(entry.address, entry.size, extra):
        return cache.insert(entry.address, size)
    cache.forget(entry.address)
    return cache.insert(space.metadata(size), size)
