"""Groups, headers, B-trees, the metadata cache and space in HDF5, against files of HDF5 1.10.8."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.libraries.hdf5_cache import MetadataCache
from xc40io.libraries.hdf5_header import FLOAT, INTEGER, ObjectHeader, compound
from xc40io.libraries.hdf5_objects import (
    ChunkIndex,
    Group,
    allocate_chunks,
    tree_nodes,
)
from xc40io.libraries.hdf5_space import BLOCK, FileSpace
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
        assert group.link(f"Dataset-0000.{number:04d}", 0, space, cache) == number
    return group, cache


def test_a_group_with_many_names() -> None:
    # 41 names of 24 bytes: 10 symbol nodes, and names in 1408 bytes of their own (HDF5 1.10.8).
    _, cache = filled_group(41)
    sizes = cache.flush(1).length.tolist()
    assert sorted(sizes) == sorted([40, 544, 32, 1408, *[328] * 10])


def test_the_way_to_a_name() -> None:
    group, _ = filled_group(2)
    assert [entry.size for entry in group.path(1)] == [512, 544, 328]
    group, _ = filled_group(3)  # the third would leave 8 bytes of the heap, too few to note
    assert [entry.size for entry in group.path(2)] == [512, 176, 544, 328]
    group, _ = filled_group(41)
    assert [entry.size for entry in group.path(2)] == [512, 1408, 544, 328]
    assert group.path(0)[-1] != group.path(40)[-1]


def test_attributes_are_in_one_continuation_of_the_header() -> None:
    space, cache = FileSpace(), MetadataCache()
    group = Group.create(space, cache)
    for number in range(64):
        group.add_attribute(f"Attribute {number} Name", 1024, space, cache)
    assert [entry.size for entry in group.opening()] == [512, 70680]
    # the header comes last: what goes on elsewhere is pinned
    assert cache.flush(1).length.tolist() == [544, 120, 70680, 40]


@given(st.lists(st.integers(1, 600), unique=True, max_size=40), st.integers(1, 12))
def test_changed_metadata_are_shared_out_evenly(addresses: list[int], ranks: int) -> None:
    cache = MetadataCache()
    for address in addresses:
        cache.insert(address, address + 7)
    shares = cache.flush(ranks)
    order = np.lexsort((shares.offset, shares.rank))
    assert shares.offset[order].tolist() == sorted(addresses)
    assert (shares.length == shares.offset + 7).all()
    assert (np.diff(shares.rank) >= 0).all()
    share = np.bincount(shares.rank, minlength=ranks)
    assert share.max() - share.min() <= 1
    assert (np.diff(share) <= 0).all()
    assert not cache.is_dirty


def test_a_rank_writes_first_what_was_used_longest_ago() -> None:
    cache = MetadataCache()
    for address in (0, 100, 200, 300, 400):
        cache.insert(address, 10)
    cache.pin(200)
    cache.touch(100)
    cache.use(400)
    assert cache.flush(1).offset.tolist() == [300, 100, 400, 200, 0]
    assert cache.flush(1).offset.tolist() == []


def test_the_header_of_a_compound_type_goes_on_behind_the_data() -> None:
    """As h5bench's write with FILE_PATTERN=INTERLEAVED lays out its first two datasets."""
    space, cache = FileSpace(), MetadataCache()
    for size in HEADERS[:-1]:
        space.metadata(size)
    names = ("x", "y", "z", "px", "py", "pz", "id_1", "id_2")
    particle = compound({name: INTEGER if name == "id_1" else FLOAT for name in names})
    first = ObjectHeader.create(1, particle, space, cache)
    assert space.raw(2 << 20) == 2384
    first.place(1, False, space, cache)
    assert [(entry.address, entry.size) for entry in first.reads()] == [
        (1832, 512),
        (2344, 40),
        (2099536, 80),
    ]
    for size in (328, *HEADERS[1:4]):
        space.metadata(size)
    second = ObjectHeader.create(1, particle, space, cache)
    assert space.raw(2 << 20) == 2103632
    second.place(1, False, space, cache)
    assert [(entry.address, entry.size) for entry in second.reads()] == [
        (2100648, 512),
        (2101160, 88),
    ]


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


def test_space_that_was_given_back_is_used_again_where_it_fits_best() -> None:
    space = FileSpace()
    places = [(space.metadata(size), size) for size in (96, 300, 8, 500, 8, 300, 8)]
    for address, size in places[1:6:2]:
        space.free_metadata(address, size)
    assert space.metadata(280) == places[1][0]
    assert space.metadata(290) == places[5][0]
    assert space.metadata(280) == places[3][0]
    assert space.metadata(220) == places[3][0] + 280
    space.close()
    assert space.metadata(16) == places[-1][0] + 8


def test_what_is_left_of_a_block_is_used_again() -> None:
    space = FileSpace()
    space.metadata(2000)
    space.raw(1 << 20)
    assert space.metadata(272) == 2048 + (1 << 20)
    assert space.metadata(40) == 2000


requests = st.tuples(
    st.sampled_from(["metadata", "raw", "raw run", "free", "extend", "release", "close"]),
    st.integers(1, 3 * BLOCK),
)


def serve(space: FileSpace, kind: str, size: int, taken: dict[int, int]) -> list[int]:
    """Do what is asked of the space; return the addresses of what is new, enter it as taken."""
    new: list[int] = []
    if kind == "metadata":
        new = [space.metadata(size)]
    elif kind in ("raw", "raw run"):
        new = space.raw_run(size, 5 if kind == "raw run" else 1).tolist()
    elif kind in ("free", "extend") and taken:
        address = sorted(taken)[size % len(taken)]
        if kind == "free":
            space.free_metadata(address, taken.pop(address))
        elif space.extend_metadata(address, taken[address], size):
            taken[address] += size
    elif kind in ("release", "close"):
        space.release()
        if kind == "close":
            space.close()
    taken |= dict.fromkeys(new, size)
    return new


@given(st.lists(requests, max_size=30), st.sampled_from([1, 512, 4096]), st.sampled_from([1, 600]))
def test_nothing_overlaps_and_all_is_aligned(
    asked: list[tuple[str, int]], alignment: int, threshold: int
) -> None:
    space = FileSpace(threshold, alignment)
    taken: dict[int, int] = {}
    for kind, size in asked:
        for address in serve(space, kind, size, taken):
            assert address % (alignment if size >= threshold else 1) == 0
        ends = [address + size for address, size in sorted(taken.items())]
        assert all(end <= after for end, after in zip(ends, sorted(taken)[1:], strict=False))
        assert not ends or ends[-1] <= space.end


@given(st.integers(1, 3 * BLOCK), st.integers(1, 6), st.sampled_from([1, 4096]))
def test_a_run_is_so_many_requests(size: int, number: int, alignment: int) -> None:
    at_once, one_by_one = FileSpace(alignment=alignment), FileSpace(alignment=alignment)
    for space in (at_once, one_by_one):
        space.metadata(96)
    addresses = at_once.raw_run(size, number).tolist()
    assert addresses == [one_by_one.raw(size) for _ in range(number)]
    assert at_once.end == one_by_one.end
