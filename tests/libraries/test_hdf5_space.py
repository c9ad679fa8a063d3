"""Space in an HDF5 file: against addresses in files that HDF5 1.10.8 wrote, and what must hold."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.libraries.hdf5_space import BLOCK, FileSpace

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
