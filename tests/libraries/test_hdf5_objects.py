"""Groups, B-trees, the metadata cache and space in HDF5, against files of HDF5 1.10.8."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.libraries.hdf5_objects import (
    BLOCK,
    ChunkIndex,
    FileSpace,
    Group,
    MetadataCache,
    allocate_chunks,
    tree_nodes,
)
from xc40io.libraries.selections import Storage


@dataclass
class Node:
    """A node of a plain B-tree that only grows at its right end."""

    entries: list[Node | int] = field(default_factory=list)


def insert(node: Node, entry: int, height: int) -> Node | None:
    """Insert at the right end; return the new neighbour of the node if it was split."""
    if height:
        last = node.entries[-1]
        assert isinstance(last, Node)
        new = insert(last, entry, height - 1)
        if new is None:
            return None
    else:
        new = None
    item = new if new is not None else entry
    if len(node.entries) < 64:
        node.entries.append(item)
        return None
    neighbour = Node([*node.entries[57:], item])
    node.entries = node.entries[:57]
    return neighbour


def nodes_of(node: Node) -> int:
    return 1 + sum(nodes_of(entry) for entry in node.entries if isinstance(entry, Node))


def test_nodes_of_a_tree_that_grows_to_the_right() -> None:
    root, height, counts = Node(), 0, []
    for entry in range(9000):
        new = insert(root, entry, height)
        if new is not None:
            root, height = Node([root, new]), height + 1
        if entry % 50 == 0 or new is not None:
            counts.append((entry + 1, nodes_of(root)))
    entries, nodes = np.array(counts).T
    assert tree_nodes(entries).tolist() == nodes.tolist()


def test_chunks_and_nodes_lie_as_in_a_real_file() -> None:
    # 2048 chunks of 16 x 16 doubles, written by HDF5 1.10.8: the first nodes of the index.
    space, cache = FileSpace(), MetadataCache()
    for size in (96, 40, 544, 120, 40, 544, 120, 328, 272):
        space.metadata(size)
    empty = Storage((1024, 512), 8, (16, 16), np.zeros(2048, np.int64))
    storage, index = allocate_chunks(empty, space, cache)
    assert index.root == 2104
    assert storage.address[[0, 1, 64, 65]].tolist() == [4720, 6768, 135792, 143072]
    (leaves,) = index.levels
    assert sorted(leaves.tolist())[:4] == [137840, 140456, 259808, 379160]
    assert index.node_size == 2616
    # Written by rank 0: the leaf with the first chunks moved when the root was split.
    assert index.reads(np.array([0]), np.array([0])).offset.tolist() == [2104, 140456]


@pytest.mark.parametrize(("dimensions", "size"), [(1, 2096), (2, 2616), (3, 3136), (4, 3656)])
def test_size_of_a_node(dimensions: int, size: int) -> None:
    shape = (4,) * dimensions
    empty = Storage(shape, 8, shape, np.zeros(1, np.int64))
    assert allocate_chunks(empty, FileSpace(), MetadataCache())[1].node_size == size


@settings(max_examples=30)
@given(st.integers(1, 8000), st.data())
def test_every_rank_reads_the_root_and_the_way_to_its_chunks(
    chunks: int, data: st.DataObject
) -> None:
    empty = Storage((chunks,), 1, (1,), np.zeros(chunks, np.int64))
    _, index = allocate_chunks(empty, FileSpace(), MetadataCache())
    rank = np.sort(np.array(data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=9))))
    chunk = np.array([data.draw(st.integers(0, chunks - 1)) for _ in rank])
    reads = index.reads(rank, chunk)
    known = {index.root, *(node for level in index.levels for node in level.tolist())}
    assert set(reads.offset.tolist()) <= known
    for one in set(rank.tolist()):
        mine = reads.offset[reads.rank == one].tolist()
        assert mine[0] == index.root
        assert len(mine) == len(set(mine))
        looked_for = int(np.count_nonzero(rank == one))
        assert 1 + len(index.levels) <= len(mine) <= 1 + len(index.levels) * looked_for


def test_an_index_without_levels_is_its_root() -> None:
    index = ChunkIndex(2096, 4096, ())
    reads = index.reads(np.array([0, 0, 2]), np.array([5, 6, 7]))
    assert np.stack(reads, axis=1).tolist() == [[0, 4096, 2096], [2, 4096, 2096]]


def filled_group(names: int) -> tuple[Group, MetadataCache]:
    space, cache = FileSpace(), MetadataCache()
    group = Group.create(space, cache)
    for number in range(names):
        assert group.link(f"Dataset-0000.{number:04d}", space, cache) == number
    return group, cache


def test_a_group_with_many_names() -> None:
    # 41 names of 24 bytes: 10 symbol nodes, and names in 1408 bytes of their own (HDF5 1.10.8).
    _, cache = filled_group(41)
    sizes = cache.flush(1).length.tolist()
    assert sorted(sizes) == sorted([40, 544, 32, 1408, *[328] * 10])


def test_the_way_to_a_name() -> None:
    group, _ = filled_group(3)
    assert [entry.size for entry in group.path(2)] == [512, 544, 328]
    group, _ = filled_group(41)
    assert [entry.size for entry in group.path(2)] == [512, 1408, 544, 328]
    assert group.path(0)[-1] != group.path(40)[-1]


def test_attributes_are_in_one_continuation_of_the_header() -> None:
    space, cache = FileSpace(), MetadataCache()
    group = Group.create(space, cache)
    for number in range(64):
        group.add_attribute(f"Attribute {number} Name", 1024, space, cache)
    assert [entry.size for entry in group.opening()] == [512, 70680]
    assert cache.flush(1).length.tolist() == [40, 544, 120, 70680]


@given(st.lists(st.integers(1, 600), unique=True, max_size=40), st.integers(1, 12))
def test_changed_metadata_are_shared_out_evenly(addresses: list[int], ranks: int) -> None:
    cache = MetadataCache()
    for address in addresses:
        cache.insert(address, address + 7)
    shares = cache.flush(ranks)
    assert shares.offset.tolist() == sorted(addresses)
    assert shares.length.tolist() == [address + 7 for address in sorted(addresses)]
    assert (np.diff(shares.rank) >= 0).all()
    share = np.bincount(shares.rank, minlength=ranks)
    assert share.max() - share.min() <= 1
    assert (np.diff(share) <= 0).all()
    assert not cache.is_dirty


def test_metadata_are_read_once_until_the_file_is_closed() -> None:
    group, cache = filled_group(1)
    entries = group.path(0)
    assert cache.missing(entries) == []
    cache.empty()
    assert cache.missing(entries) == entries
    assert cache.missing(entries) == []


HEADERS = (96, 40, 544, 120, 40, 544, 120, 328, 272)
"""Superblock, root group, a group, its entry in the root group, the header of a dataset."""


@pytest.mark.parametrize(
    ("alignment", "raw", "addresses", "node", "end"),
    [
        # the dataset, and the symbol node that its group gets when it is entered
        (1, 8 << 20, [0, 96, 136, 680, 800, 840, 1384, 1504, 1832, 2104], 8390712, 8391040),
        (1, 1024, [0, 96, 136, 680, 800, 840, 1384, 1504, 1832, 2104], 4152, 4480),
        (
            4096,
            8 << 20,
            [0, 4096, 8192, 12288, 16384, 20480, 24576, 28672, 32768, 36864],
            8425472,
            8425800,
        ),
    ],
)
def test_addresses_as_in_a_real_file(
    alignment: int, raw: int, addresses: list[int], node: int, end: int
) -> None:
    space = FileSpace(alignment=alignment)
    assert [*(space.metadata(size) for size in HEADERS), space.raw(raw)] == addresses
    assert space.metadata(328) == node
    space.release()
    assert space.end == end


def test_the_first_dataset_of_a_small_file_begins_at_2048() -> None:
    # A file that IOR wrote on Cori: a dataset in the root group (Darshan log).
    space = FileSpace()
    for size in (96, 40, 544, 120, 272):
        space.metadata(size)
    assert space.raw(4 << 20) == 2048
    assert space.metadata(328) == 1072


def test_attributes_grow_in_place() -> None:
    space = FileSpace()
    for size in HEADERS[:-1]:
        space.metadata(size)
    address, size = space.metadata(24 + 1104), 24 + 1104
    assert address == 1832
    for _ in range(63):
        assert space.extend_metadata(address, size, 1104)
        size += 1104
    assert (size, space.metadata(272)) == (70680, 72512)


requests = st.tuples(
    st.sampled_from(["metadata", "raw", "raw run", "release"]), st.integers(1, 3 * BLOCK)
)


@given(st.lists(requests, max_size=30), st.sampled_from([1, 512, 4096]), st.sampled_from([1, 600]))
def test_nothing_overlaps_and_all_is_aligned(
    asked: list[tuple[str, int]], alignment: int, threshold: int
) -> None:
    space = FileSpace(threshold, alignment)
    taken: list[tuple[int, int]] = []
    for kind, size in asked:
        if kind == "metadata":
            taken.append((space.metadata(size), size))
        elif kind == "raw":
            taken.append((space.raw(size), size))
        elif kind == "raw run":
            taken += [(address, size) for address in space.raw_run(size, 5).tolist()]
        else:
            space.release()
    for address, size in taken:
        assert address % (alignment if size >= threshold else 1) == 0
        assert address + size <= space.end
    taken.sort()
    assert all(address + size <= after for (address, size), (after, _) in itertools.pairwise(taken))


@given(st.integers(1, 3 * BLOCK), st.integers(1, 6), st.sampled_from([1, 4096]))
def test_a_run_is_so_many_requests(size: int, number: int, alignment: int) -> None:
    at_once, one_by_one = FileSpace(alignment=alignment), FileSpace(alignment=alignment)
    for space in (at_once, one_by_one):
        space.metadata(96)
    addresses = at_once.raw_run(size, number).tolist()
    assert addresses == [one_by_one.raw(size) for _ in range(number)]
    assert at_once.end == one_by_one.end
