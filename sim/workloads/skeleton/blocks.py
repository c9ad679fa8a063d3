"""Blocks of an array of several dimensions: each rank has one, and it lies in the file in rows.

The array is stored as C and HDF5 do it, its last dimension fastest. The ranks of a file form a
grid, and each has the elements from ``i * dims // ranks`` on along each dimension: a datatype of
``MPI_Type_create_subarray``, of which ROMIO makes a list of rows (adio/common/flatten.c). A row of
a block is what lies together in the file; where the block goes over the whole of the last
dimensions, its rows are as long as these together.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from xc40io.config.errors import InputError
from xc40io.engine.types import Integers
from xc40io.workloads.array_rows import MOST_ROWS, rows_as_one
from xc40io.workloads.skeleton.patterns import Places, Sharing
from xc40io.workloads.skeleton.scope import Scope
from xc40io.workloads.skeleton.skeleton_file import Blocks, Move


class Grid(NamedTuple):
    """An array, and how it is cut."""

    dims: tuple[int, ...]  # elements along each dimension
    ranks: tuple[int, ...]  # blocks along each dimension
    element: int  # bytes
    turned: bool = False  # whether ranks are numbered with the first of these dimensions fastest

    @staticmethod
    def of(blocks: Blocks, scope: Scope) -> Grid:
        """Return the array that a phase describes.

        Raises
        ------
        InputError
            If its numbers do not go together.
        """
        dims, ranks = (
            tuple(scope.one(number, least=1) for number in numbers)
            for numbers in (blocks.dims, blocks.ranks)
        )
        if len(dims) != len(ranks) or not dims:
            raise InputError(
                f"blocks has {len(dims)} dims and {len(ranks)} ranks; right would be as many of "
                "both, one for each dimension"
            )
        for number, (along, parts) in enumerate(zip(dims, ranks, strict=True)):
            if parts > along:
                raise InputError(
                    f"blocks.ranks[{number}] = {parts}, and there are {along} elements; right "
                    f"would be {along} at most"
                )
        turned = scope.word(blocks.numbering) == "fortran"
        return Grid(dims, ranks, scope.one(blocks.element, least=1), turned)

    def whole_rows(self) -> Grid:
        """Return the same array with an element for all that lies behind the last cut."""
        last = max((place for place, parts in enumerate(self.ranks) if parts > 1), default=0)
        behind = last + 1
        element = self.element * prod(self.dims[behind:])
        return Grid(self.dims[:behind], self.ranks[:behind], element, self.turned)

    def cells(self, position: Integers) -> Integers:
        """Return where ranks are in their grid: int64 (dimensions, ranks)."""
        cells = np.unravel_index(position, self.ranks, "F" if self.turned else "C")
        return np.array(cells, np.int64)

    def bounds(self, position: Integers) -> tuple[Integers, Integers]:
        """Return where the blocks of ranks begin and end: two of int64 (dimensions, ranks)."""
        cells = self.cells(position)
        dims, ranks = (np.array(column)[:, None] for column in (self.dims, self.ranks))
        return cells * dims // ranks, (cells + 1) * dims // ranks

    def sizes(self, position: Integers) -> Integers:
        """Return the bytes of the blocks of ranks: int64 (ranks,)."""
        begin, end = self.bounds(position)
        sizes: Integers = np.prod(end - begin, axis=0, dtype=np.int64) * self.element
        return sizes

    def places(self, sharing: Sharing, base: Integers, chosen: Integers) -> tuple[Places, str]:
        """Return the rows of all blocks, and what is to be noted of them.

        Parameters
        ----------
        sharing
            Which ranks share a file; each file holds such an array.
        base
            int64 (ranks,): where it begins in the file of each.
        chosen
            The ranks that move their blocks.

        Raises
        ------
        InputError
            If there are more or fewer ranks than blocks.
        """
        self.check(sharing)
        grid = self.whole_rows()
        begin, end = grid.bounds(sharing.position[chosen])
        extent = end - begin
        rows = int(np.prod(extent[:-1], axis=0).sum())
        as_one = -(-rows // MOST_ROWS)
        as_one = min(as_one, int(extent[-2].max())) if len(grid.dims) > 1 else 1
        columns = [
            grid.rows(begin[:, number], extent[:, number], as_one) for number in range(len(chosen))
        ]
        note = rows_as_one(as_one, rows) if as_one > 1 else ""
        return self.placed(sharing, base, chosen, columns)._replace(as_one=as_one), note

    def check(self, sharing: Sharing) -> None:
        """Raise InputError unless as many ranks share each file as there are blocks."""
        if (sharing.members != prod(self.ranks)).any():
            raise InputError(
                f"blocks.ranks = {list(self.ranks)} makes {prod(self.ranks):,} blocks, and "
                f"{int(sharing.members.max()):,} ranks share the file; right would be as many"
            )

    def placed(
        self,
        sharing: Sharing,
        base: Integers,
        chosen: Integers,
        columns: list[tuple[Integers, Integers]],
    ) -> Places:
        """Return pieces as places; ``columns`` has offsets and lengths of each chosen rank."""
        counts = np.array([len(offset) for offset, _ in columns], np.int64)
        rank = np.repeat(chosen, counts)
        turn = np.arange(len(rank)) - np.repeat(np.cumsum(counts) - counts, counts)
        offset = base[rank] + np.concatenate([offset for offset, _ in columns])
        length = np.concatenate([length for _, length in columns])
        ends = np.zeros(len(sharing.members), np.int64)
        np.maximum.at(ends, sharing.group, base + prod(self.dims) * self.element)
        return Places(rank, turn, offset, length, ends)

    def rows(self, begin: Integers, extent: Integers, as_one: int) -> tuple[Integers, Integers]:
        """Return where the rows of one block begin, and how long they are, in bytes.

        ``as_one``: so many rows that follow each other along the dimension before the last are one
        piece. It lies among those of the ranks beside it as the rows would, and all pieces together
        fill the file as they do.
        """
        width, last = int(extent[-1]), self.dims[-1]
        if len(self.dims) == 1:
            return np.array([begin[0] * self.element]), np.array([width * self.element])
        first = np.arange(0, extent[-2], as_one)
        together = np.minimum(as_one, extent[-2] - first)
        within = (begin[-2] + first) * last + begin[-1] * together
        slab = self.dims[-2] * last  # elements of all rows of that dimension
        outer = np.zeros(1, np.int64)
        for start, count, along in zip(begin[:-2], extent[:-2], self.dims[:-2], strict=True):
            outer = (outer[:, None] * along + (start + np.arange(count))).ravel()
        offset = (outer[:, None] * slab + within).ravel()
        length = np.tile(together * width, len(outer))
        return offset * self.element, length * self.element


def bytes_of(what: Move, scope: Scope) -> Integers:
    """Return what each rank moves in a phase: int64 (ranks,)."""
    if what.blocks is None:
        assert what.size is not None  # a phase without both is refused
        return scope.whole(what.size)
    grid = Grid.of(what.blocks, scope)
    return grid.sizes(np.arange(scope.ranks) % prod(grid.ranks))
