"""Blocks of an array that ranks exchange until each has a few long extents of the file.

What applications do by hand before they write (paboyle/Grid, ``MPI_benchmark/io_mpi.cc``, to which
pmodels/mpich issue 7935 belongs): ranks whose blocks differ along the ``whole`` fastest dimensions
alone are a *row*. Together they have these dimensions whole, and so long extents of the file; one
``MPI_Alltoallv`` gives each rank of a row an equal part of its bytes, in the order of the file, and
each then writes its part by itself.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from xc40io.config.errors import InputError
from xc40io.engine.types import Integers
from xc40io.mpi.alltoallv import Messages
from xc40io.workloads.skeleton.blocks import Grid
from xc40io.workloads.skeleton.patterns import Places, Sharing


class Transposition(NamedTuple):
    """The array, and how many of its last dimensions become whole."""

    grid: Grid
    whole: int

    @staticmethod
    def of(grid: Grid, whole: int) -> Transposition:
        """Return what a phase describes; InputError if the array has fewer dimensions."""
        if whole > len(grid.dims):
            raise InputError(
                f"blocks.whole = {whole} of {len(grid.dims)} dimensions; right would be 0 to "
                f"{len(grid.dims)}"
            )
        return Transposition(grid, whole)

    @property
    def row_size(self) -> int:
        """How many ranks a row has."""
        return prod(self.grid.ranks[len(self.grid.ranks) - self.whole :])

    def rows(self, sharing: Sharing) -> Integers:
        """Return the ranks row by row, in the order of their parts: int64 (rows, row_size)."""
        self.grid.check(sharing)
        split = len(self.grid.ranks) - self.whole
        cells, ranks = self.grid.cells(sharing.position), self.grid.ranks
        row, member = (
            np.ravel_multi_index(tuple(some), shape) if shape else np.zeros_like(sharing.group)
            for some, shape in ((cells[:split], ranks[:split]), (cells[split:], ranks[split:]))
        )
        return np.lexsort((member, row, sharing.group)).reshape(-1, self.row_size)

    def row(self, sharing: Sharing) -> Integers:
        """Return the row of each rank: int64 (ranks,)."""
        table = self.rows(sharing)
        row = np.empty(table.size, np.int64)
        row[table] = np.arange(len(table))[:, None]
        return row

    def boxes(self, position: Integers) -> tuple[Integers, Integers]:
        """Return from where to where the rows of ranks go: two of int64 (dimensions, ranks)."""
        begin, end = self.grid.bounds(position)
        split = len(self.grid.dims) - self.whole
        begin[split:] = 0
        end[split:] = np.array(self.grid.dims)[split:, None]
        return begin, end

    def parts(self, elements: Integers) -> Integers:
        """Return where the parts of rows of so many elements begin, and their end.

        int64 (rows, row_size + 1), counted in elements from the first of the row.
        """
        return elements[:, None] * np.arange(self.row_size + 1) // self.row_size

    def places(self, sharing: Sharing, base: Integers) -> Places:
        """Return the extents that each rank writes; ``base`` as of :meth:`Grid.places`."""
        table, grid = self.rows(sharing), self.grid
        split = len(grid.ranks) - self.whole
        as_rows = grid._replace(ranks=grid.ranks[:split] + (1,) * self.whole).whole_rows()
        begin, end = (column[: len(as_rows.dims)] for column in self.boxes(_first(sharing, table)))
        columns: list[tuple[Integers, Integers]] = [(_NONE, _NONE)] * table.size
        for number, ranks in enumerate(table):
            offset, length = as_rows.rows(begin[:, number], (end - begin)[:, number], 1)
            elements = np.array([int(length.sum()) // grid.element])
            parts = _cut(offset, length, self.parts(elements)[0] * grid.element)
            for rank, part in zip(ranks.tolist(), parts, strict=True):
                columns[rank] = part
        return grid.placed(sharing, base, np.arange(table.size), columns)

    def messages(self, sharing: Sharing) -> Messages:
        """Return what goes from rank to rank before a write."""
        table = self.rows(sharing)
        low, high = self.boxes(_first(sharing, table))
        box = high - low
        bounds = self.parts(np.prod(box, axis=0))
        begin, end = self.grid.bounds(sharing.position)
        row = self.row(sharing)
        inside = _before(bounds[row], begin - low[:, row], end - low[:, row], box[:, row])
        size = np.diff(inside, axis=1) * self.grid.element
        sender, member = np.nonzero(size)
        return Messages(sender, table[row[sender], member], size[sender, member])


_NONE = np.zeros(0, np.int64)


def _first(sharing: Sharing, table: Integers) -> Integers:
    """Return the position of a rank of each row: int64 (rows,)."""
    return sharing.position[table[:, 0]]


def _cut(offset: Integers, length: Integers, bounds: Integers) -> list[tuple[Integers, Integers]]:
    """Return the pieces of a list between each bound and the next, counted in its bytes."""
    start = np.cumsum(length) - length
    cuts = np.union1d(start, bounds[:-1])
    source = np.searchsorted(start, cuts, "right") - 1
    where = offset[source] + cuts - start[source]
    size = np.diff(np.append(cuts, bounds[-1]))
    some = size > 0
    cuts, where, size = cuts[some], where[some], size[some]
    marks = np.searchsorted(cuts, bounds)
    return [
        (where[first:stop], size[first:stop])
        for first, stop in zip(marks[:-1].tolist(), marks[1:].tolist(), strict=True)
    ]


def _before(bounds: Integers, begin: Integers, end: Integers, box: Integers) -> Integers:
    """Return how many elements of each block lie before each bound: int64 (blocks, bounds).

    Parameters
    ----------
    bounds
        int64 (blocks, bounds): elements from the first one of a box, in its order.
    begin, end, box
        int64 (dimensions, blocks): where each block begins and ends in its box, and how large that
        is.
    """
    extent = end - begin
    found = np.zeros_like(bounds)
    alike = np.ones(bounds.shape, bool)  # whether the slower coordinates are those of the bound
    left, step = bounds.copy(), np.prod(box, axis=0)
    inner = np.prod(extent, axis=0)
    for low, high, size, own in zip(begin, end, box, extent, strict=True):
        step, inner = step // size, inner // own
        at = left // step[:, None]
        left -= at * step[:, None]
        below = np.clip(at - low[:, None], 0, own[:, None])
        found += np.where(alike, below * inner[:, None], 0)
        alike &= (at >= low[:, None]) & (at < high[:, None])
    return found
