"""What an HDF5 file has besides raw data: superblock, groups, headers, chunk indices.

The sizes are those of files that any HDF5 1.10 writes unless told to use newer formats: superblock
version 0, object headers version 1, groups with a symbol table (a B-tree of symbol nodes, and a
local heap for the names), version 1 B-trees for chunks (HDF5 File Format Specification; checked
against files that parallel HDF5 1.10.8 wrote). :mod:`xc40io.libraries.hdf5_space` finds room for
them, :mod:`xc40io.libraries.hdf5_cache` keeps them in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from xc40io.engine.types import Integers
from xc40io.libraries.hdf5_cache import Entry, MetadataCache
from xc40io.libraries.hdf5_header import GUESS, grown, padded
from xc40io.libraries.hdf5_names import TREE_NODE, NameTree
from xc40io.libraries.hdf5_space import FileSpace
from xc40io.libraries.selections import Storage
from xc40io.mpi.accesses import Accesses

SUPERBLOCK = 96
"""Bytes of the superblock, at address 0."""


def superblock_reads(info: int) -> tuple[tuple[int, int], ...]:
    """Return how it is read, as addresses and bytes: signature, version, the rest.

    With ``info`` bytes of a driver behind it, HDF5 1.14 has written it: it reads both in two steps.
    """
    if not info:
        return (0, 8), (0, 16), (16, 80)
    half = SUPERBLOCK // 2
    return (0, 8), (0, half), (half, half), (SUPERBLOCK, 16), (SUPERBLOCK + 16, info - 16)


_GROUP_HEADER = 40
_HEAP_PREFIX = 32
_HEAP = 88  # at first, for names
_HEAP_REST = 16  # the least that it can note as free
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


@dataclass
class Group:
    """A group: its names and what makes it up."""

    header: int  # where its object header is
    tree: NameTree  # in which its names are found
    heap: int  # where its local heap is
    number: int = 0  # of its own name in the group that it is in
    _heap_size: int = _HEAP
    _heap_free: int = _HEAP - 8  # the empty name is there
    _names: Entry | None = None  # where the names are, once they have outgrown the heap's place
    _links: list[str] = field(default_factory=list)  # its names, as they came
    _attributes: Entry | None = None

    @staticmethod
    def create(space: FileSpace, cache: MetadataCache) -> Group:
        """Make a group."""
        header = cache.insert(space.metadata(_GROUP_HEADER), _GROUP_HEADER).address
        tree = NameTree.create(space, cache)
        heap = cache.insert(space.metadata(_HEAP_PREFIX + _HEAP), _HEAP_PREFIX + _HEAP).address
        return Group(header, tree, heap)

    @property
    def is_used(self) -> bool:
        """Whether it has any names."""
        return bool(self._links)

    def link(self, name: str, header: int, space: FileSpace, cache: MetadataCache) -> int:
        """Enter the name of what has this header; return its number, for :meth:`path`.

        At last the header is told that it has a name.
        """
        cache.use(self.header)  # says where tree and heap are
        self._store_name(padded(len(name) + 1), space, cache)
        self.tree.enter(name, space, cache)
        for place in (self._names.address if self._names else self.heap, self.heap):
            cache.touch(place)
        cache.touch(header)
        self._links.append(name)
        return len(self._links) - 1

    def path(self, number: int) -> list[Entry]:
        """Return what is read to find a name."""
        names = [self._names] if self._names else []
        return [Entry(self.heap, GUESS), *names, *self.tree.path(self._links[number])]

    def opening(self) -> list[Entry]:
        """Return what is read to open the group, once its header has been found."""
        attributes = [self._attributes] if self._attributes else []
        return [Entry(self.header, GUESS), *attributes]

    def table(self) -> list[Entry]:
        """Return what is read to look at the group's names: where they are found, and the heap."""
        return [Entry(self.tree.root.address, TREE_NODE), Entry(self.heap, GUESS)]

    def add_attribute(self, name: str, size: int, space: FileSpace, cache: MetadataCache) -> None:
        """Add an attribute: a vector of ``size`` bytes, kept in the group's object header.

        The header has no room for it: all attributes are in one continuation of it, which also
        takes what the header held before. It grows in place as long as nothing comes behind it.
        """
        message = 8 + 8 + padded(len(name) + 1) + 16 + 24 + padded(size)
        cache.touch(self.header)
        old = self._attributes
        if old is None:
            cache.pin(self.header)
            old = Entry(space.metadata(_SYMBOL_MESSAGE + message), _SYMBOL_MESSAGE + message)
            self._attributes = cache.insert(old.address, old.size)
        else:
            self._attributes = grown(old, message, space, cache)

    def _store_name(self, size: int, space: FileSpace, cache: MetadataCache) -> None:
        """Find room in the heap; if there is none, it grows to twice its size, or moves.

        A name must fill what is free, or leave enough to note that it is free; less is lost.
        Names that have moved are metadata of their own, which pin the heap's prefix in the cache
        (H5HL.c, H5HL_insert; H5HLdblk.c, H5HL__dblk_realloc).
        """
        if size == self._heap_free or self._heap_free - size >= _HEAP_REST:
            self._heap_free -= size
            return
        old = self._heap_size
        more = max(old, size) if self._heap_free or old >= size + _HEAP_REST else size
        rest = self._heap_free + more - size
        self._heap_free = rest if rest >= _HEAP_REST else 0
        self._heap_size = new = old + more
        address = self._names.address if self._names else self.heap + _HEAP_PREFIX
        extended = space.extend_metadata(address, old, more)
        if extended and not self._names:
            cache.insert(self.heap, _HEAP_PREFIX + new)
            return
        if not extended:
            space.free_metadata(address, old)
            if self._names:
                cache.forget(address)
            address = space.metadata(new)
            cache.insert(self.heap, _HEAP_PREFIX)
            cache.pin(self.heap)
        self._names = cache.insert(address, new)


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

    def visited(self, chunk: Integers) -> list[int]:
        """Return the nodes on the way to chunks, in the order in which one is done with them.

        That is each leaf, and those above it; the root is the last.
        """
        if not self.levels:
            return [self.root]
        kept, last = _TREE_ENTRIES * 9 // 10, len(self.levels[0]) - 1
        entry, columns = np.unique(np.minimum(chunk // kept, last)), []
        for level in self.levels:
            columns.append(level[np.minimum(entry, len(level) - 1)])
            entry = entry // kept
        return [*np.stack(columns, axis=1).ravel().tolist(), self.root]


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
        _enter(levels, made, root, cache)
        begin = last + 1
    placed = Storage(storage.dims, storage.element_size, storage.chunk, address)
    return placed, ChunkIndex(node, root, tuple(np.array(level, np.int64) for level in levels))


def _enter(levels: list[list[int]], made: list[int], root: int, cache: MetadataCache) -> None:
    """Enter the nodes that one more chunk has made necessary, from the leaves up.

    A node that is split gets a neighbour to the right. If it is the root, what is left of it moves
    to a new node, too, and the root stays where it is, one level higher. All nodes on the way to
    the chunk are looked at, the root last (H5B.c, H5B_insert).
    """
    for level in levels:
        cache.touch(level[-1])
        if made:
            level.append(made.pop(0))
            cache.touch(level[-1])
    used = [root]
    if made:
        right, old = made
        levels.append([old, right])
        used = [old, root, right]
    for node in used:
        cache.touch(node)


def _node_size(dimensions: int) -> int:
    key = 8 + 8 * (dimensions + 1)
    return 24 + (_TREE_ENTRIES + 1) * key + _TREE_ENTRIES * 8
