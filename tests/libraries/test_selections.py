"""Hyperslabs against the elements that NumPy's own indexing selects, one by one."""

from __future__ import annotations

import itertools
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.libraries.selections import (
    Hyperslab,
    Memory,
    Pieces,
    Storage,
    call_pieces,
    chunk_grid,
    chunks_selected,
    file_pieces,
    grid_positions,
    memory_pieces,
)

Row = list[tuple[int, int, int, int]]  # start, stride, count, block along each dimension


@st.composite
def slabs(draw: st.DrawFn, dims: tuple[int, ...]) -> Row:
    """Draw a hyperslab that lies in the dataset."""
    row = []
    for size in dims:
        start = draw(st.integers(0, size - 1))
        block = draw(st.integers(1, size - start))
        stride = draw(st.integers(block, size + 2))
        count = draw(st.integers(0, 1 + (size - start - block) // stride))
        row.append((start, stride, count, block))
    return row


@st.composite
def cases(draw: st.DrawFn) -> tuple[Storage, list[Row]]:
    """Draw a dataset, contiguous or chunked, and hyperslabs of a few ranks."""
    dims = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=4)))
    chunk = dims
    if draw(st.booleans()):
        chunk = tuple(draw(st.integers(1, size)) for size in dims)
    size = draw(st.sampled_from([1, 8]))
    number = prod(chunk_grid(dims, chunk))
    gaps = draw(st.lists(st.sampled_from([0, 0, 5, 40]), min_size=number, max_size=number))
    address = 96 + np.arange(number) * prod(chunk) * size + np.cumsum(gaps)
    rows = [draw(slabs(dims)) for _ in range(draw(st.integers(1, 3)))]
    return Storage(dims, size, chunk, address.astype(np.int64)), rows


def selection_of(rows: list[Row]) -> Hyperslab:
    start, stride, count, block = np.moveaxis(np.array(rows), 2, 0)
    return Hyperslab.of(start, block, stride=stride, count=count)


def elements(storage: Storage, row: Row) -> list[tuple[int, int]]:
    """Return chunk and byte offset of each selected element, in row-major order."""
    along = [
        [begin + number * stride + step for number in range(count) for step in range(block)]
        for begin, stride, count, block in row
    ]
    found = []
    for place in itertools.product(*along):
        chunk = np.ravel_multi_index(
            tuple(at // part for at, part in zip(place, storage.chunk, strict=True)), storage.grid
        )
        within = np.ravel_multi_index(
            tuple(at % part for at, part in zip(place, storage.chunk, strict=True)), storage.chunk
        )
        offset = int(storage.address[chunk]) + int(within) * storage.element_size
        found.append((int(chunk), offset))
    return found


def bytes_of(pieces: Pieces, row: int, size: int) -> list[tuple[int, int]]:
    """Return chunk and byte offset of each element of a row's pieces, in their order."""
    mine = pieces.only(pieces.row == row)
    return [
        (chunk, at)
        for chunk, offset, length in zip(*(c.tolist() for c in mine[1:]), strict=True)
        for at in range(offset, offset + length, size)
    ]


@settings(max_examples=150)
@given(cases())
def test_the_pieces_are_the_selected_elements_in_as_few_runs_as_possible(
    case: tuple[Storage, list[Row]],
) -> None:
    storage, rows = case
    pieces = file_pieces(selection_of(rows), storage)
    for number, row in enumerate(rows):
        expected = sorted(elements(storage, row), key=lambda found: (found[0], found[1]))
        assert bytes_of(pieces, number, storage.element_size) == expected
        runs = sum(
            after[0] != before[0] or after[1] != before[1] + storage.element_size
            for before, after in itertools.pairwise([(-1, -1), *expected])
        )
        assert np.count_nonzero(pieces.row == number) == runs


@settings(max_examples=150)
@given(cases())
def test_accesses_are_in_the_order_of_the_file_and_touch_nowhere(
    case: tuple[Storage, list[Row]],
) -> None:
    storage, rows = case
    selection = selection_of(rows)
    rank, offset, length = file_pieces(selection, storage).accesses(selection.rank)
    for number, row in enumerate(rows):
        mine = rank == number
        covered = [
            at
            for begin, size in zip(offset[mine].tolist(), length[mine].tolist(), strict=True)
            for at in range(begin, begin + size, storage.element_size)
        ]
        assert covered == sorted(at for _, at in elements(storage, row))
        assert (offset[mine][1:] > (offset + length)[mine][:-1]).all()


@settings(max_examples=150)
@given(cases(), st.integers(1, 7), st.integers(0, 3))
def test_calls_are_contiguous_in_file_and_memory_and_cannot_be_longer(
    case: tuple[Storage, list[Row]], block: int, gap: int
) -> None:
    storage, rows = case
    memory = Memory(block, block + gap)
    pieces = call_pieces(selection_of(rows), storage, memory)
    for number, row in enumerate(rows):
        # Every element with where it is in memory, in the order chunk by chunk, then of the file.
        placed = [
            (chunk, offset, position // block * (block + gap) + position % block)
            for position, (chunk, offset) in enumerate(elements(storage, row))
        ]
        placed.sort(key=lambda found: (found[0], found[1]))
        calls: list[tuple[int, int]] = []
        before = (-1, -1, -1)
        for chunk, offset, position in placed:
            follows = before == (chunk, offset - storage.element_size, position - 1)
            if follows:
                calls[-1] = (calls[-1][0], calls[-1][1] + storage.element_size)
            else:
                calls.append((offset, storage.element_size))
            before = (chunk, offset, position)
        mine = pieces.only(pieces.row == number)
        assert list(zip(mine.offset.tolist(), mine.length.tolist(), strict=True)) == calls


@given(cases())
def test_chunks_selected_are_those_of_the_elements(case: tuple[Storage, list[Row]]) -> None:
    storage, rows = case
    row, chunk = chunks_selected(selection_of(rows), storage)
    expected = [
        (number, chunk)
        for number, slab in enumerate(rows)
        for chunk in sorted({chunk for chunk, _ in elements(storage, slab)})
    ]
    assert list(zip(row.tolist(), chunk.tolist(), strict=True)) == expected


@given(cases(), st.integers(1, 7))
def test_pieces_in_memory(case: tuple[Storage, list[Row]], block: int) -> None:
    storage, rows = case
    selection = selection_of(rows)
    packed = memory_pieces(selection, storage)
    strided = memory_pieces(selection, storage, Memory(block, block + 1))
    for number, row in enumerate(rows):
        chosen = elements(storage, row)
        if storage.chunk == storage.dims:
            assert packed[number] == bool(chosen)
            assert strided[number] == -(-len(chosen) // block)
        # Chunk by chunk, what is next to each other in memory is one piece.
        numbered = sorted((chunk, position) for position, (chunk, _) in enumerate(chosen))
        runs = sum(
            after[0] != before[0] or after[1] != before[1] + 1
            for before, after in itertools.pairwise([(-1, -1), *numbered])
        )
        assert bool(chosen) <= packed[number]
        assert packed[number] >= (runs if storage.chunk != storage.dims else 0)


def test_rows_of_one_rank_are_calls_of_their_own() -> None:
    storage = Storage((100,), 8, (100,), np.array([2048]))
    slab = Hyperslab.of([[0], [10], [50]], 10, rank=np.array([3, 3, 4]))
    pieces = call_pieces(slab, storage)
    assert slab.rank[pieces.row].tolist() == [3, 3, 4]  # although the first two touch
    assert pieces.offset.tolist() == [2048, 2128, 2448]


def test_a_part_with_whole_rows_is_one_piece() -> None:
    storage = Storage((8, 4, 4), 8, (8, 4, 4), np.array([0]))
    slab = Hyperslab.of([[0, 0, 0], [4, 0, 0]], [4, 4, 4])
    assert file_pieces(slab, storage).length.tolist() == [512, 512]


def test_a_chunk_at_the_edge_is_whole_in_the_file() -> None:
    # 3 x 5 in chunks of 2 x 4: the chunk of the last column has rows of 4 elements all the same.
    storage = Storage((3, 5), 1, (2, 4), np.array([0, 8, 16, 24]))
    pieces = file_pieces(Hyperslab.of([[0, 4]], [3, 1]), storage)
    assert pieces.offset.tolist() == [8, 12, 24]


def test_grid_positions_run_fastest_along_the_last_dimension() -> None:
    positions = grid_positions(np.arange(6), (2, 3))
    assert positions.tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]


@pytest.mark.parametrize(
    ("start", "block", "stride", "count", "sentence"),
    [
        ([[0]], [4], [3], [2], "overlap"),
        ([[-1]], [4], [4], [1], "negative"),
        ([[7]], [4], [4], [1], "beyond"),
        ([[0, 0]], [1, 1], [1, 1], [1, 1], "dimensions"),
    ],
)
def test_impossible_hyperslabs(
    start: list[list[int]], block: list[int], stride: list[int], count: list[int], sentence: str
) -> None:
    storage = Storage((10,), 8, (10,), np.array([0]))
    with pytest.raises(InputError, match=sentence):
        file_pieces(Hyperslab.of(start, block, stride=stride, count=count), storage)
