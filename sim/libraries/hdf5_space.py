"""The space of an HDF5 file: where metadata and raw data find room.

Small requests are served out of blocks of 2 KiB, one for metadata and one for raw data; whatever is
as large as such a block goes to the end of the file, and so do new blocks. A block at the end of
the file grows in place; when the other kind needs the end of the file, a block that has grown is
cut back to what is used of it. With an alignment, everything of at least the threshold's size
begins at a multiple of it.

What is given back, the rest of a block included, is kept in a list, out of which the next request
is served that fits, best fit first, until the file is closed. At the end of the file it is no
longer allocated; beside the block of its kind it becomes part of that. (HDF5 1.10: H5MF.c,
H5MFaggr.c, H5MFsection.c, H5FSsection.c, H5FDspace.c, with the default strategy of
H5Pset_file_space_strategy.)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from xc40io.engine.types import Integers

BLOCK = 2048
"""Bytes of a block for small requests (H5Pset_meta_block_size, H5Pset_small_data_block_size)."""

_LITTLE = 0.1  # of what is left of a block at the end of the file: more than that extends the file


@dataclass
class _Kind:
    """The space for metadata, or that for raw data.

    ``address`` and ``left`` are the free part of the block of which small requests are served,
    ``total`` is its size with the used one.
    """

    address: int = 0
    left: int = 0
    total: int = 0
    free: dict[int, int] = field(default_factory=dict)  # what was given back: bytes by address
    keeps: bool = False  # whether anything has ever been listed there (a free-space manager)

    @property
    def end(self) -> int:
        return self.address + self.left

    def take(self, size: int) -> int:
        """Use the first bytes of what is left of the block; return where they are."""
        address = self.address
        self.address += size
        self.left -= size
        return address

    def grow(self, size: int) -> None:
        """Add bytes behind the block."""
        self.left += size
        self.total += size

    def drop_block(self) -> None:
        """Forget the block."""
        self.address = self.left = self.total = 0

    def merged(self, address: int, size: int) -> tuple[int, int]:
        """Return a section joined with its neighbours in the list, which leave it."""
        size += self.free.pop(address + size, 0)
        for other, bytes_before in self.free.items():
            if other + bytes_before == address:
                return other, self.free.pop(other) + size
        return address, size

    def absorbs(self, address: int, size: int) -> bool:
        """Let the block take in a section beside it; return whether it did."""
        if address + size == self.address:
            self.address = address
            self.total -= min(self.total, size)
        elif address != self.end:
            return False
        self.left += size
        return True


@dataclass
class FileSpace:
    """The space of one file."""

    # threshold, alignment: bytes: requests of at least the one begin at a multiple of the other
    # (H5Pset_alignment)
    threshold: int = 1
    alignment: int = 1
    end: int = 0  # where the allocated space ends (the library's EOA), in bytes
    _metadata: _Kind = field(default_factory=_Kind)
    _raw: _Kind = field(default_factory=_Kind)

    def metadata(self, size: int) -> int:
        """Allocate bytes for metadata; return their address."""
        return self._allocate(self._metadata, self._raw, size)

    def raw(self, size: int) -> int:
        """Allocate bytes for raw data; return their address."""
        return self._allocate(self._raw, self._metadata, size)

    def raw_run(self, size: int, number: int) -> Integers:
        """Allocate ``number`` times ``size`` bytes for raw data; return the addresses (number,).

        Once one of them has gone to the end of the file, all others do.
        """
        addresses = [self.raw(size)]
        while len(addresses) < number:
            last = addresses[-1] + size
            if size >= BLOCK and last == self.end and last != self._raw.end:
                gap = -size % self._alignment_of(size)
                behind = last + np.arange(number - len(addresses)) * (gap + size)
                self.end = int(behind[-1]) + gap + size
                if gap:
                    self._raw.keeps = True
                    self._raw.free.update(dict.fromkeys(behind.tolist(), gap))
                return np.concatenate([addresses, behind + gap]).astype(np.int64)
            addresses.append(self.raw(size))
        return np.array(addresses, np.int64)

    def free_metadata(self, address: int, size: int) -> None:
        """Give back metadata."""
        self._give_back(self._metadata, address, size)

    def extend_metadata(self, address: int, size: int, extra: int) -> bool:
        """Extend metadata in place, if there is room behind them; return whether there was.

        The room is at the end of the file, in the block or in a section that was given back.
        """
        block, end = self._metadata, address + size
        if end == self.end:
            self.end += extra
            return True
        if end == block.address and block.end == self.end:
            if extra > int(_LITTLE * block.left):
                more = max(extra, BLOCK)
                block.grow(more)
                self.end += more
            block.take(extra)
            return True
        if end == block.address and extra <= block.left:
            block.take(extra)
            return True
        behind = block.free.get(end, 0)
        if behind < extra:
            return False
        del block.free[end]
        if behind > extra:
            block.free[end + extra] = behind - extra
        return True

    def release(self) -> None:
        """Give back what is left of the blocks, as before the file is flushed."""
        for kind in sorted((self._metadata, self._raw), key=lambda kind: -kind.address):
            address, left = kind.address, kind.left
            kind.drop_block()
            if left:
                self._give_back(kind, address, left)

    def close(self) -> None:
        """Forget what was given back; what of it is at the end is no longer allocated."""
        kinds = (self._metadata, self._raw)
        ends = {address + size: address for kind in kinds for address, size in kind.free.items()}
        while self.end in ends:
            self.end = ends.pop(self.end)
        for kind in kinds:
            kind.free.clear()
            kind.keeps = False

    def _alignment_of(self, size: int) -> int:
        return self.alignment if size >= self.threshold else 1

    def _allocate(self, mine: _Kind, other: _Kind, size: int) -> int:
        step = self._alignment_of(size)
        fits = [(free, begin) for begin, free in mine.free.items() if free >= size + -begin % step]
        if fits:
            return self._use_again(mine, min(fits)[1], size)
        begin = mine.address
        gap = -begin % step if begin else 0
        if size + gap <= mine.left:
            mine.take(gap)
            address = mine.take(size)
        elif begin and mine.end == self.end:
            address = self._grow(mine, size, gap)
        elif size >= BLOCK:
            self._make_room(other)
            return self._at_end(mine, size)
        else:
            self._make_room(other)
            self._begin_block(mine, aligned=step > 1)
            return mine.take(size)
        if gap:
            self._give_back(mine, begin, gap)
        return address

    def _use_again(self, kind: _Kind, begin: int, size: int) -> int:
        """Take bytes out of a section of the list; return where they are."""
        free = kind.free.pop(begin)
        gap = -begin % self._alignment_of(size)
        if gap:
            kind.free[begin] = gap
        address = begin + gap
        if free > gap + size:
            self._give_back(kind, address + size, free - gap - size)
        return address

    def _grow(self, mine: _Kind, size: int, gap: int) -> int:
        """Allocate behind a gap where the file ends with the block, which grows for it.

        What is as large as a block goes before what is left of the block.
        """
        more = size + gap if size >= BLOCK else max(BLOCK, size + gap)
        mine.grow(more)
        self.end += more
        mine.take(gap)
        return mine.take(size)

    def _begin_block(self, mine: _Kind, *, aligned: bool) -> None:
        """Begin another block at the end of the file.

        If what it is for need not be aligned, it takes in what lies before it to align itself.
        """
        end, size = self.end, BLOCK
        if aligned:
            begin = self._at_end(mine, size)
        else:
            begin, size = end, size + -end % self._alignment_of(size)
            self.end += size
        if mine.left:
            self._give_back(mine, mine.address, mine.left)
        mine.address, mine.left, mine.total = begin, size, size

    def _at_end(self, kind: _Kind, size: int) -> int:
        """Allocate at the end of the file; what aligning it leaves out is given back."""
        end = self.end
        address = end + -end % self._alignment_of(size)
        self.end = address + size
        if address > end:
            self._give_back(kind, end, address - end)
        return address

    def _make_room(self, other: _Kind) -> None:
        """Cut back the other block, if it is at the end and more than one block is used of it."""
        if other.left and other.end == self.end and other.total - other.left >= BLOCK:
            self.end = other.address
            other.drop_block()

    def _give_back(self, kind: _Kind, address: int, size: int) -> None:
        """Give back bytes: to the end of the file, to the block beside them, or to the list.

        If they and the block would be a whole block, they take in the block, once there is a list.
        When they have gone, the last of the list may have become the end of the file.
        """
        address, size = kind.merged(address, size)
        while True:
            beside = kind.address and kind.address in (address + size, address - kind.left)
            if address + size == self.end:
                self.end = address
            elif beside and kind.keeps and kind.left + size >= BLOCK:
                address, size = min(address, kind.address), size + kind.left
                kind.drop_block()
                continue
            elif not (beside and kind.absorbs(address, size)):
                kind.free[address] = size
                kind.keeps = True
                return
            if not kind.free:
                return
            address = max(kind.free)
            size = kind.free.pop(address)
