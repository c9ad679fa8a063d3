"""Space in an HDF5 file: where the library puts metadata and raw data.

Small requests are served out of blocks of 2 KiB, one for metadata and one for raw data; whatever is
as large as such a block goes to the end of the file, and so do new blocks. A block at the end of
the file grows in place; when the other kind needs the end of the file, a block that has grown is
cut back to what is used of it. With an alignment, everything of at least the threshold's size
begins at a multiple of it. (HDF5 1.10, H5MFaggr.c and H5FDspace.c; space that is given back inside
the file is not used again here.)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sim.engine.types import Integers

BLOCK = 2048
"""Bytes of a block for small requests (H5Pset_meta_block_size, H5Pset_small_data_block_size)."""


@dataclass
class _Block:
    """A block of which small requests are served: the free part, and its size with the used one."""

    address: int = 0
    left: int = 0
    total: int = 0

    @property
    def end(self) -> int:
        return self.address + self.left

    def take(self, size: int) -> int:
        """Use the first bytes of what is left; return where they are."""
        address = self.address
        self.address += size
        self.left -= size
        return address


@dataclass
class FileSpace:
    """The space of one file.

    Attributes
    ----------
    threshold, alignment
        Bytes: requests of at least the one begin at a multiple of the other (H5Pset_alignment).
    end
        Where the allocated space ends (the library's EOA), in bytes.
    """

    threshold: int = 1
    alignment: int = 1
    end: int = 0
    _metadata: _Block = field(default_factory=_Block)
    _raw: _Block = field(default_factory=_Block)

    def metadata(self, size: int) -> int:
        """Allocate bytes for metadata; return their address."""
        return self._allocate(self._metadata, self._raw, size)

    def raw(self, size: int) -> int:
        """Allocate bytes for raw data; return their address."""
        return self._allocate(self._raw, self._metadata, size)

    def raw_run(self, size: int, number: int) -> Integers:
        """Allocate ``number`` times ``size`` bytes for raw data; return the addresses (number,)."""
        first = self.raw(size)
        addresses = [first]
        if size >= BLOCK and number > 1 and self._raw.end != self.end:
            step = size + -size % self._alignment_of(size)
            addresses = list(range(first, first + number * step, step))
            self.end = addresses[-1] + size
        while len(addresses) < number:
            addresses.append(self.raw(size))
        return np.array(addresses, np.int64)

    def extend_metadata(self, address: int, size: int, extra: int) -> bool:
        """Extend metadata in place, if they end where the block for metadata begins."""
        block = self._metadata
        if address + size != block.address or (extra > block.left and block.end != self.end):
            return False
        if extra > block.left:
            more = max(extra, BLOCK)
            block.left += more
            block.total += more
            self.end += more
        block.take(extra)
        return True

    def release(self) -> None:
        """Give back what is left of the blocks at the end of the file, as before it is flushed."""
        for block in sorted((self._metadata, self._raw), key=lambda block: -block.end):
            self._give_back(block)

    def _alignment_of(self, size: int) -> int:
        return self.alignment if size >= self.threshold else 1

    def _at_end(self, size: int) -> int:
        """Allocate bytes at the end of the file."""
        address = self.end + -self.end % self._alignment_of(size)
        self.end = address + size
        return address

    def _allocate(self, mine: _Block, other: _Block, size: int) -> int:
        gap = -mine.address % self._alignment_of(size) if mine.address else 0
        if size + gap > mine.left:
            if size >= BLOCK:
                return self._allocate_large(mine, other, size, gap)
            if not self._grow(mine, max(BLOCK, size + gap), gap):
                self._make_room(other)
                end = self.end
                address = self._at_end(BLOCK)
                if self._alignment_of(size) == 1:  # the block may begin before it is aligned
                    address = end
                mine.address, mine.left = address, self.end - address
                mine.total = mine.left
            return mine.take(size)
        mine.take(gap)
        return mine.take(size)

    def _allocate_large(self, mine: _Block, other: _Block, size: int, gap: int) -> int:
        """Allocate what is as large as a block: before a block at the end of the file, or there."""
        if mine.address and mine.end == self.end:
            address = mine.address + gap
            mine.address = address + size
            mine.total += size + gap
            self.end += size + gap
            return address
        self._make_room(other)
        return self._at_end(size)

    def _grow(self, block: _Block, size: int, gap: int) -> bool:
        """Extend a block, after a gap, if it ends where the file does; return whether it did."""
        if not block.address or block.end != self.end:
            return False
        block.left += size - gap
        block.address += gap
        block.total += size
        self.end += size
        return True

    def _make_room(self, other: _Block) -> None:
        """Cut back the other block, if it is at the end and more than one block is used of it."""
        if other.left and other.end == self.end and other.total - other.left >= BLOCK:
            self._give_back(other)

    def _give_back(self, block: _Block) -> None:
        """Forget a block; what is left of it is no longer allocated if it is at the end."""
        if block.left and block.end == self.end:
            self.end = block.address
        block.address = block.left = block.total = 0
