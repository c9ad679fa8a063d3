"""What an HDF5 file has besides raw data: superblock, groups, headers, chunk indices, space.

The sizes are those of files that any HDF5 1.10 writes unless told to use newer formats: superblock
version 0, object headers version 1, groups with a symbol table (a B-tree of symbol nodes, and a
local heap for the names), version 1 B-trees for chunks (HDF5 File Format Specification; checked
against files that parallel HDF5 1.10.8 wrote).

Small requests for space are served out of blocks of 2 KiB, one for metadata and one for raw data;
whatever is as large as such a block goes to the end of the file, and so do new blocks. A block at
the end of the file grows in place; when the other kind needs the end of the file, a block that has
grown is cut back to what is used of it. With an alignment, everything of at least the threshold's
size begins at a multiple of it. (HDF5 1.10, H5MFaggr.c and H5FDspace.c; space that is given back
inside the file is not used again here.)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from xc40io.engine.types import Integers
from xc40io.libraries.selections import Storage
from xc40io.mpi.accesses import Accesses

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
    """The space of one file."""

    # threshold, alignment: bytes: requests of at least the one begin at a multiple of the other
    # (H5Pset_alignment)
    threshold: int = 1
    alignment: int = 1
    end: int = 0  # where the allocated space ends (the library's EOA), in bytes
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


SUPERBLOCK = 96
"""Bytes of the superblock, at address 0."""

SUPERBLOCK_READS = ((0, 8), (0, 16), (16, 80))
"""How it is read: the signature, the version, the rest; addresses and bytes."""

DATASET_HEADER = 272
"""Bytes of the object header of a dataset whose type has no fields."""

GUESS = 512
"""Bytes that the library reads of an object header or a heap whose size it does not know."""

_GROUP_HEADER = 40
_GROUP_TREE = 544  # up to 32 symbol nodes
_SYMBOL_NODE = 328  # up to 8 names
_SYMBOLS = 8
_HEAP_PREFIX = 32
_HEAP = 88  # at first, for names
_SYMBOL_MESSAGE = 24  # of a group's header; moves if attributes need its place

_TREE_ENTRIES = 64  # of a node of a chunk index


def tree_nodes(entries: Integers, capacity: int = _TREE_ENTRIES) -> Integers:
    """Return how many nodes a B-tree has that grew at its right end only.

    A full node that takes one more keeps nine tenths of its entries and leaves the others to a new
    one; a root that was split gets a new root above it (H5B.c, H5D_BTREE_SPLIT_RATIO).

    Parameters
    ----------
    entries
        int64 (any shape), at least 1: what is in the leaves.
    capacity
        Most entries of a node.
    """
    total = np.zeros_like(entries)
    level = entries
    while True:
        nodes = leaves(level, capacity)
        total += np.where(level > 0, nodes, 0)
        level = np.where(nodes > 1, nodes, 0)
        if not level.any():
            return total


def leaves(entries: Integers, capacity: int = _TREE_ENTRIES) -> Integers:
    """Return in how many nodes of one level so many entries are: int64, as ``entries``."""
    kept = capacity * 9 // 10
    more: Integers = -(-np.maximum(entries - capacity, 0) // kept)
    return 1 + more


@dataclass(frozen=True)
class Entry:
    """A piece of metadata: what the library reads or writes at once. Bytes."""

    address: int
    size: int


class MetadataCache:
    """The metadata of a file, as all ranks have them in memory.

    HDF5 demands that all ranks change metadata alike, so that one picture serves for all of them.
    """

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}
        self._dirty: set[int] = set()
        self._loaded: set[int] = set()

    def insert(self, address: int, size: int) -> Entry:
        """Take in new metadata, or what has changed its size."""
        self._sizes[address] = size
        self.touch(address)
        return Entry(address, size)

    def touch(self, address: int) -> None:
        """Note that metadata have changed."""
        self._dirty.add(address)
        self._loaded.add(address)

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
        """Return who writes which of the changed entries; they are clean then.

        In the order of their addresses, every rank takes an equal share, the first ones one more if
        they do not come out even (H5Cmpio.c, the distributed strategy).
        """
        address = np.array(sorted(self._dirty), np.int64)
        size = np.array([self._sizes[place] for place in address.tolist()], np.int64)
        each, more = divmod(len(address), ranks)
        share = np.full(ranks, each)
        share[:more] += 1
        self._dirty.clear()
        return Accesses(np.repeat(np.arange(ranks), share), address, size)


@dataclass
class Group:
    """A group: its names and what makes it up."""

    # header, tree, heap: where its object header, the B-tree of its symbol nodes and its local heap
    # are
    header: int
    tree: int
    heap: int
    number: int = 0  # of its own name in the group that it is in
    _heap_size: int = _HEAP
    _heap_used: int = 8  # the empty name
    _names: Entry | None = None  # where the names are, once they have outgrown the heap's place
    _nodes: list[int] = field(default_factory=list)
    _links: int = 0
    _attributes: Entry | None = None

    @staticmethod
    def create(space: FileSpace, cache: MetadataCache) -> Group:
        """Make a group."""
        header, tree, heap = (
            cache.insert(space.metadata(size), size).address
            for size in (_GROUP_HEADER, _GROUP_TREE, _HEAP_PREFIX + _HEAP)
        )
        return Group(header, tree, heap)

    @property
    def is_used(self) -> bool:
        """Whether it has any names."""
        return self._links > 0

    def link(self, name: str, space: FileSpace, cache: MetadataCache) -> int:
        """Enter a name; return its number, by which :meth:`path` finds it.

        Names are entered in ascending order.
        """
        for address in (self.tree, self.heap):
            cache.touch(address)
        self._store_name(_padded(len(name) + 1), space, cache)
        full = self._links >= _SYMBOLS and (self._links - _SYMBOLS) % (_SYMBOLS // 2) == 0
        if not self._nodes or full:
            self._nodes.append(cache.insert(space.metadata(_SYMBOL_NODE), _SYMBOL_NODE).address)
        cache.touch(self._nodes[-1])
        self._links += 1
        return self._links - 1

    def path(self, number: int) -> list[Entry]:
        """Return what is read to find a name."""
        names = [self._names] if self._names else []
        node = self._nodes[min(2 * number // _SYMBOLS, len(self._nodes) - 1)]
        return [
            Entry(self.heap, GUESS),
            *names,
            Entry(self.tree, _GROUP_TREE),
            Entry(node, _SYMBOL_NODE),
        ]

    def opening(self) -> list[Entry]:
        """Return what is read to open the group, once its header has been found."""
        attributes = [self._attributes] if self._attributes else []
        return [Entry(self.header, GUESS), *attributes]

    def table(self) -> list[Entry]:
        """Return what is read to look at the group's names: where they are found, and the heap."""
        return [Entry(self.tree, _GROUP_TREE), Entry(self.heap, GUESS)]

    def add_attribute(self, name: str, size: int, space: FileSpace, cache: MetadataCache) -> None:
        """Add an attribute: a vector of ``size`` bytes, kept in the group's object header.

        The header has no room for it: all attributes are in one continuation of it, which also
        takes what the header held before. It grows in place as long as nothing comes behind it.
        """
        message = 8 + 8 + _padded(len(name) + 1) + 16 + 24 + _padded(size)
        cache.touch(self.header)
        old = self._attributes
        if old is None:
            old = Entry(space.metadata(_SYMBOL_MESSAGE + message), _SYMBOL_MESSAGE + message)
            self._attributes = cache.insert(old.address, old.size)
        elif space.extend_metadata(old.address, old.size, message):
            self._attributes = cache.insert(old.address, old.size + message)
        else:
            cache.forget(old.address)
            grown = old.size + message
            self._attributes = cache.insert(space.metadata(grown), grown)

    def _store_name(self, size: int, space: FileSpace, cache: MetadataCache) -> None:
        """Find room in the heap; if there is none, it moves to a place twice as large."""
        self._heap_used += size
        if self._heap_used <= self._heap_size:
            if self._names:
                cache.touch(self._names.address)
            return
        if self._names:
            cache.forget(self._names.address)
        self._heap_size = max(2 * self._heap_size, self._heap_used)
        self._names = cache.insert(space.metadata(self._heap_size), self._heap_size)
        cache.insert(self.heap, _HEAP_PREFIX)


@dataclass(frozen=True, eq=False)
class ChunkIndex:
    """The version 1 B-tree in which the chunks of a dataset are found."""

    node_size: int  # bytes of a node
    root: int  # its address
    # int64 arrays: the addresses of the nodes of each level below the root, the leaves first
    levels: tuple[Integers, ...]

    def reads(self, rank: Integers, chunk: Integers) -> Accesses:
        """Return what ranks read to find chunks: the root, and the nodes on the way.

        ``rank`` and ``chunk`` are pairs, as :func:`~xc40io.libraries.selections.chunks_selected`
        returns them.
        """
        ranks = np.unique(rank)
        rows = [(ranks, np.full(len(ranks), self.root))]
        entry = chunk
        for level in self.levels:
            entry = np.minimum(entry // (_TREE_ENTRIES * 9 // 10), len(level) - 1)
            pairs = np.unique(rank * len(level) + entry)
            rows.insert(1, (pairs // len(level), level[pairs % len(level)]))
        who = np.concatenate([row[0] for row in rows])
        order = np.argsort(who, kind="stable")
        address = np.concatenate([row[1] for row in rows])[order]
        return Accesses(who[order], address, np.full(len(order), self.node_size))


def allocate_chunks(
    storage: Storage, space: FileSpace, cache: MetadataCache
) -> tuple[Storage, ChunkIndex]:
    """Give every chunk of a dataset its place, one after the other, and enter it in an index.

    Parallel HDF5 allocates all chunks when the dataset is created (early allocation). New nodes of
    the index come in between: after the chunk that did not fit into the old ones.

    Parameters
    ----------
    storage
        The dataset; its addresses count by their number only.
    space, cache
        Of the file.
    """
    number, size = len(storage.address), storage.chunk_bytes
    node = _node_size(len(storage.dims))
    nodes = tree_nodes(np.arange(1, number + 1))
    root = cache.insert(space.metadata(node), node).address
    levels: list[list[int]] = []
    address = np.empty(number, np.int64)
    begin = 0
    grows = np.flatnonzero(np.diff(nodes, prepend=1))
    for last in np.union1d(grows, [number - 1]).tolist():
        address[begin : last + 1] = space.raw_run(size, last + 1 - begin)
        more = nodes[last] - (nodes[last - 1] if last else 1)
        made = [cache.insert(space.metadata(node), node).address for _ in range(more)]
        _enter(levels, made)
        begin = last + 1
    placed = Storage(storage.dims, storage.element_size, storage.chunk, address)
    return placed, ChunkIndex(node, root, tuple(np.array(level, np.int64) for level in levels))


def _enter(levels: list[list[int]], made: list[int]) -> None:
    """Enter the nodes that one more chunk has made necessary, from the leaves up.

    A node that is split gets a neighbour to the right. If it is the root, what is left of it moves
    to a new node, too, and the root stays where it is, one level higher.
    """
    level = 0
    while made:
        if level == len(levels):
            levels.append([made[1], made[0]])
            made = made[2:]
        else:
            levels[level].append(made[0])
            made = made[1:]
        level += 1


def _node_size(dimensions: int) -> int:
    key = 8 + 8 * (dimensions + 1)
    return 24 + (_TREE_ENTRIES + 1) * key + _TREE_ENTRIES * 8


def _padded(size: int) -> int:
    return -(-size // 8) * 8
