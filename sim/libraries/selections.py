"""Hyperslabs of a dataset: which pieces of the file the ranks of a communicator select.

A *dataset* is an array of up to four dimensions, in row-major order. It is stored in one piece
(contiguous layout) or cut into *chunks* of equal shape, each in one piece at an address of its own;
a chunk that reaches over the edge of the dataset is whole in the file (HDF5's layouts). A
*hyperslab* selects regular blocks of it: along each dimension, ``count`` blocks of ``block``
elements, the first at ``start``, one every ``stride`` elements.

In memory the selected elements lie one after the other, as they come in the dataset, or with gaps
(:class:`Memory`). Everything here is worked out for all ranks at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.config.errors import InputError
from xc40io.engine.types import Integers
from xc40io.mpi.accesses import Accesses

MOST_DIMENSIONS = 4


@dataclass(frozen=True, eq=False)
class Hyperslab:
    """Hyperslabs of one dataset, one a row: usually one for each rank."""

    # start, stride, count, block: int64 (rows, dimensions), in elements. Blocks do not overlap:
    # `stride >= block` where there are several. A row with a zero in `count` or `block` selects
    # nothing.
    start: Integers
    stride: Integers
    count: Integers
    block: Integers
    # int64 (rows,), ascending: whose it is. Where a rank has several rows, they belong to several
    # calls, in order; only independent transfers allow that.
    rank: Integers

    @staticmethod
    def of(
        start: npt.ArrayLike,
        block: npt.ArrayLike,
        *,
        stride: npt.ArrayLike | None = None,
        count: npt.ArrayLike = 1,
        rank: Integers | None = None,
    ) -> Hyperslab:
        """Make hyperslabs from arrays that broadcast to (rows, dimensions).

        One contiguous block for each row unless told otherwise; row r is that of rank r unless
        told otherwise.

        Raises
        ------
        InputError
            If blocks overlap, or a number is negative.
        """
        columns = np.broadcast_arrays(start, block if stride is None else stride, count, block)
        rows = [np.asarray(np.atleast_2d(column), np.int64) for column in columns]
        if rank is None:
            rank = np.arange(len(rows[0]))
        slab = Hyperslab(rows[0], rows[1], rows[2], rows[3], rank)
        if any((column < 0).any() for column in rows):
            raise InputError("a hyperslab's start, stride, count and block must not be negative")
        if ((slab.count > 1) & (slab.stride < slab.block)).any():
            raise InputError("the blocks of a hyperslab overlap: its stride is less than its block")
        return slab

    @property
    def dimensions(self) -> int:
        """Dimensions of the dataset."""
        return int(self.start.shape[1])

    @cached_property
    def extent(self) -> Integers:
        """Elements selected along each dimension: int64 (rows, dimensions)."""
        extent: Integers = self.count * self.block
        return extent

    @property
    def elements(self) -> Integers:
        """Elements of each row: int64 (rows,)."""
        elements: Integers = self.extent.prod(axis=1)
        return elements

    def check(self, dims: Sequence[int]) -> None:
        """Raise InputError unless the hyperslabs lie in a dataset of these dimensions."""
        if self.dimensions != len(dims):
            raise InputError(
                f"a hyperslab of {self.dimensions} dimensions of a dataset of {len(dims)}"
            )
        last = self.start + (self.count - 1) * self.stride + self.block
        if (last > np.array(dims))[self.elements > 0].any():
            raise InputError(f"a hyperslab reaches beyond its dataset of {tuple(dims)} elements")


@dataclass(frozen=True)
class Memory:
    """How the selected elements lie in a rank's memory."""

    # block, stride: elements of one piece, and from one piece to the next; equal where there are no
    # gaps
    block: int
    stride: int

    @property
    def is_strided(self) -> bool:
        """Whether there are gaps."""
        return self.stride > self.block


@dataclass(frozen=True, eq=False)
class Storage:
    """Where a dataset lies in its file."""

    dims: tuple[int, ...]  # elements along each dimension
    element_size: int  # bytes of an element
    # elements of a chunk along each dimension; those of the dataset if it is in one piece
    chunk: tuple[int, ...]
    # int64 (chunks,): where each chunk begins, in bytes, in row-major order of the chunks
    address: Integers

    @property
    def grid(self) -> tuple[int, ...]:
        """Chunks along each dimension."""
        return chunk_grid(self.dims, self.chunk)

    @property
    def chunk_bytes(self) -> int:
        """Bytes of a chunk, those beyond the edge of the dataset with it."""
        return prod(self.chunk) * self.element_size


class Pieces(NamedTuple):
    """Contiguous pieces of a file, in the order in which they are looked at."""

    row: Integers  # int64 (pieces,), ascending: of which row of the hyperslab
    chunk: Integers  # int64: in which chunk, in row-major order
    # offset, length: int64: bytes
    offset: Integers
    length: Integers

    def accesses(self, rank: Integers) -> Accesses:
        """Return the pieces in the order of the file, joined where they touch.

        ``rank`` is that of the hyperslab, whose rows must be of different ranks.
        """
        ordered = _take(self, _order(self.row, self.offset))
        joined = _joined(ordered, _firsts(ordered, within_chunks=False))
        return Accesses(rank[joined.row], joined.offset, joined.length)

    def only(self, which: npt.NDArray[np.bool_]) -> Pieces:
        """Return some of the pieces."""
        return Pieces(*(column[which] for column in self))


def chunk_grid(dims: Sequence[int], chunk: Sequence[int]) -> tuple[int, ...]:
    """Return how many chunks there are along each dimension."""
    return tuple(-(-size // part) for size, part in zip(dims, chunk, strict=True))


def grid_positions(rank: Integers, grid: Sequence[int]) -> Integers:
    """Return where ranks are in a grid of processes, the last dimension running fastest.

    Parameters
    ----------
    rank
        int64 (ranks,).
    grid
        Ranks along each dimension.

    Returns
    -------
    Integers
        int64 (ranks, dimensions).
    """
    return np.stack(np.unravel_index(rank, tuple(grid)), axis=1).astype(np.int64)


def file_pieces(selection: Hyperslab, storage: Storage) -> Pieces:
    """Return the contiguous pieces of the file that hyperslabs select.

    Row by row and chunk by chunk, in the order of the file within a chunk; pieces of one chunk that
    touch are one.
    """
    boxes = _Boxes(selection, storage)
    pieces, _ = boxes.runs(whole_rows=False)
    pieces = _take(pieces, _order(pieces.row, pieces.chunk, pieces.offset))
    return _joined(pieces, _firsts(pieces, within_chunks=True))


def call_pieces(selection: Hyperslab, storage: Storage, memory: Memory | None = None) -> Pieces:
    """Return the pieces that are contiguous both in the file and in memory.

    They are the calls of a library that moves one such piece after the other. ``memory`` says how
    the elements lie in memory; without gaps unless given.
    """
    boxes = _Boxes(selection, storage)
    pieces, position = boxes.runs(whole_rows=True)
    order = _order(pieces.row, pieces.chunk, pieces.offset)
    pieces, position = _take(pieces, order), position[order]
    gaps = position[1:] != position[:-1] + pieces.length[:-1] // storage.element_size
    first = _firsts(pieces, within_chunks=True, gaps=gaps)
    pieces, position = _joined(pieces, first), position[first]
    if memory is None or not memory.is_strided:
        return pieces
    return _cut(pieces, position, memory.block, storage.element_size)


def memory_pieces(selection: Hyperslab, storage: Storage, memory: Memory | None = None) -> Integers:
    """Return in how many pieces the elements of each row lie in memory: int64 (rows,).

    Chunk by chunk, as a library describes them to MPI: where a chunk holds part of several rows of
    the selection, each part is a piece of its own.
    """
    boxes = _Boxes(selection, storage)
    rows = boxes.memory_rows()
    pieces: Integers = np.bincount(boxes.row, rows, len(selection.rank)).astype(np.int64)
    if len(storage.address) == 1:
        pieces = np.minimum(pieces, 1)
    if memory is not None and memory.is_strided:
        pieces = np.maximum(pieces, -(-selection.elements // memory.block))
    return pieces


def chunks_selected(selection: Hyperslab, storage: Storage) -> tuple[Integers, Integers]:
    """Return pairs of a row and a chunk of which it selects something, each once, in order."""
    boxes = _Boxes(selection, storage)
    pairs = np.unique(boxes.row * len(storage.address) + boxes.chunk)
    return pairs // len(storage.address), pairs % len(storage.address)


class _Segments(NamedTuple):
    """The selected intervals along one dimension, cut at the borders of chunks."""

    first: Integers  # int64 (rows + 1,): the first of each row's
    # chunk, offset, length: int64 (segments,): in which chunk along this dimension, where in it and
    # how long
    chunk: Integers
    offset: Integers
    length: Integers
    position: Integers  # int64: how many elements are selected along this dimension before it


class _Boxes:
    """What hyperslabs select, as boxes each of which lies in one chunk."""

    def __init__(self, selection: Hyperslab, storage: Storage) -> None:
        selection.check(storage.dims)
        self._selection = selection
        self._storage = storage
        self._segments = [
            _segments(selection, dimension, size) for dimension, size in enumerate(storage.chunk)
        ]
        each = np.stack([np.diff(part.first) for part in self._segments])  # (dimensions, rows)
        self.row, index = _repeated(each.prod(axis=0))
        picked = _digits(index, each[:, self.row])
        self._picked = [
            part.first[self.row] + digit for part, digit in zip(self._segments, picked, strict=True)
        ]
        self.chunk = np.zeros(len(self.row), np.int64)
        for part, chosen, size in zip(self._segments, self._picked, storage.grid, strict=True):
            self.chunk = self.chunk * size + part.chunk[chosen]

    def _column(self, name: str) -> list[Integers]:
        """Return a column of the boxes' segments, for each dimension."""
        return [
            getattr(part, name)[chosen]
            for part, chosen in zip(self._segments, self._picked, strict=True)
        ]

    def _full_from(self, *, whole_rows: bool) -> int:
        """Return from which dimension on all boxes take the chunks from border to border.

        With ``whole_rows``, the hyperslab, too, must have no more than that along them.
        """
        dimension = len(self._segments)
        while dimension:
            size = self._storage.chunk[dimension - 1]
            extent = self._selection.extent[:, dimension - 1]
            if not (self._segments[dimension - 1].length == size).all():
                break
            if whole_rows and not (extent == size)[self._selection.elements > 0].all():
                break
            dimension -= 1
        return dimension

    def memory_rows(self) -> Integers:
        """Return in how many runs of the packed selection each box lies: int64 (boxes,)."""
        rows = np.ones(len(self.row), np.int64)
        inner = np.ones(len(self.row), bool)  # whether all further dimensions are complete
        lengths = self._column("length")
        for dimension in reversed(range(len(lengths))):
            rows *= np.where(inner, 1, lengths[dimension])
            inner &= lengths[dimension] == self._selection.extent[self.row, dimension]
        return rows

    def runs(self, *, whole_rows: bool) -> tuple[Pieces, Integers]:
        """Return the contiguous runs of the boxes, and where they are in memory.

        With ``whole_rows``, each is in one piece in memory, too, and the second array says how many
        elements of its row come before it: int64 (runs,). Else it is empty.
        """
        full = self._full_from(whole_rows=whole_rows)
        offsets, lengths = self._column("offset"), self._column("length")
        inner = full - 1  # the dimension along which a run extends
        each = np.stack(lengths)[: max(inner, 0)]
        box, index = _repeated(each.prod(axis=0) if inner > 0 else np.ones_like(self.row))
        steps = _digits(index, each[:, box]) if inner > 0 else []
        offset = np.zeros(len(box), np.int64)
        for dimension, begin in enumerate(offsets):
            along = begin[box] + (steps[dimension] if dimension < len(steps) else 0)
            offset += along * prod(self._storage.chunk[dimension + 1 :])
        run = prod(self._storage.chunk[full:]) * (lengths[inner] if inner >= 0 else 1)
        size = self._storage.element_size
        address = self._storage.address[self.chunk][box] + offset * size
        length = np.broadcast_to(run, self.row.shape)[box] * size
        pieces = Pieces(self.row[box], self.chunk[box], address, length)
        return pieces, self._places(box, steps) if whole_rows else np.zeros(0, np.int64)

    def _places(self, box: Integers, steps: list[Integers]) -> Integers:
        """Return how many elements of its row come before each run: so many steps into a box."""
        extent = self._selection.extent
        place = np.zeros(len(box), np.int64)
        for dimension, begin in enumerate(self._column("position")):
            place *= extent[:, dimension][self.row][box]
            place += begin[box] + (steps[dimension] if dimension < len(steps) else 0)
        return place


def _segments(selection: Hyperslab, dimension: int, size: int) -> _Segments:
    """Return the segments of one dimension, of which each chunk takes ``size`` elements."""
    columns = (selection.start, selection.stride, selection.count, selection.block)
    start, stride, count, block = (column[:, dimension] for column in columns)
    chosen = selection.elements > 0
    adjacent = stride == block  # blocks that touch are one
    block, count = np.where(adjacent, count * block, block), np.where(adjacent, 1, count)
    row, index = _repeated(np.where(chosen, count, 0))
    begin = start[row] + index * stride[row]
    end = begin + block[row]
    interval, cut = _repeated((end - 1) // size - begin // size + 1)
    chunk = begin[interval] // size + cut
    low = np.maximum(begin[interval], chunk * size)
    high = np.minimum(end[interval], (chunk + 1) * size)
    position = index[interval] * block[row[interval]] + low - begin[interval]
    owner = row[interval]
    first = np.searchsorted(owner, np.arange(len(chosen) + 1))
    return _Segments(first, chunk, low - chunk * size, high - low, position)


def _repeated(count: Integers) -> tuple[Integers, Integers]:
    """Return, for ``count[i]`` copies of each i, the i and the number of each among its copies."""
    which = np.repeat(np.arange(len(count)), count)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)


def _digits(number: Integers, radix: Integers) -> list[Integers]:
    """Return the digits of numbers in mixed radix (digits, numbers), the last running fastest."""
    digits = []
    for base in radix[::-1]:
        number, digit = np.divmod(number, base)
        digits.append(digit)
    return digits[::-1]


def _take(pieces: Pieces, index: npt.NDArray[np.intp]) -> Pieces:
    return Pieces(*(column[index] for column in pieces))


def _order(*keys: Integers) -> npt.NDArray[np.intp]:
    """Return the order by keys, the first one first; quickly if there is nothing to do."""
    sorted_already = np.ones(max(len(keys[0]) - 1, 0), bool)
    equal = np.ones_like(sorted_already)
    for key in keys:
        sorted_already &= ~equal | (key[1:] >= key[:-1])
        equal &= key[1:] == key[:-1]
    return np.arange(len(keys[0])) if sorted_already.all() else np.lexsort(keys[::-1])


def _firsts(
    pieces: Pieces, *, within_chunks: bool, gaps: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[np.intp]:
    """Return which pieces do not continue the one before.

    With ``within_chunks`` none continues a piece of another chunk; ``gaps`` says for all but the
    first which do not for another reason.
    """
    begins = np.ones(len(pieces.row), bool)
    begins[1:] = pieces.row[1:] != pieces.row[:-1]
    begins[1:] |= pieces.offset[1:] != pieces.offset[:-1] + pieces.length[:-1]
    if within_chunks:
        begins[1:] |= pieces.chunk[1:] != pieces.chunk[:-1]
    if gaps is not None:
        begins[1:] |= gaps
    return np.flatnonzero(begins)


def _joined(pieces: Pieces, first: npt.NDArray[np.intp]) -> Pieces:
    """Join the pieces from each of the first ones to the next."""
    if len(first) == len(pieces.row):
        return pieces
    return _take(pieces, first)._replace(length=np.add.reduceat(pieces.length, first))


def _cut(pieces: Pieces, position: Integers, block: int, element_size: int) -> Pieces:
    """Cut pieces where their elements pass from one block of memory to the next."""
    elements = pieces.length // element_size
    last = position + elements
    piece, index = _repeated((last - 1) // block - position // block + 1)
    border = (position[piece] // block + index) * block
    low = np.maximum(position[piece], border)
    high = np.minimum(last[piece], border + block)
    offset = pieces.offset[piece] + (low - position[piece]) * element_size
    return Pieces(pieces.row[piece], pieces.chunk[piece], offset, (high - low) * element_size)
