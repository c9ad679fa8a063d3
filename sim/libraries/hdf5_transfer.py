"""H5Dwrite and H5Dread: how a selection of a dataset becomes calls of MPI-IO.

*Independent* transfers move every piece that is contiguous in the file and in memory in a call of
its own; but of a file that is open for reading only, chunks are read as a whole, and kept.
*Collective* ones describe what each rank selects as MPI datatypes and make one collective call for
the whole dataset, or for all chunks together (link-chunk), or one call for each chunk, in which
those of few ranks are independent all the same (multi-chunk). (HDF5 1.10, H5Dmpio.c; checked
against the calls that HDF5 1.10.8 made.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from xc40io.engine.types import Integers
from xc40io.libraries.hdf5_chunk_cache import ChunkCache
from xc40io.libraries.mpi_driver import MpiDriver
from xc40io.libraries.selections import (
    Hyperslab,
    Memory,
    Pieces,
    Storage,
    call_pieces,
    chunks_selected,
    file_pieces,
    memory_pieces,
)
from xc40io.mpi.accesses import Accesses
from xc40io.plane.batch import Batch

ChunkIo = Literal["automatic", "link", "multi"]

_CAUSES = 8  # bytes in which ranks agree whether a collective transfer is possible
_COUNT = 4  # bytes of a number of chunks
_ADDRESS = 9  # bytes of a chunk's address and how it is accessed


@dataclass(frozen=True, kw_only=True)
class TransferProperties:
    """How raw data are moved (HDF5's dataset transfer property list)."""

    collective: bool = True  # whether a transfer is one of all ranks (H5Pset_dxpl_mpio)
    # what a collective transfer of a chunked dataset does (H5Pset_dxpl_mpio_chunk_opt): `link`
    # makes one call, `multi` one for each chunk; `automatic` links if a rank has on average at
    # least `link_threshold` chunks
    chunk_io: ChunkIo = "automatic"
    link_threshold: int = 0  # h5Pset_dxpl_mpio_chunk_opt_num
    # multi-chunk: a chunk is accessed collectively if more than so many per cent of all ranks
    # select something in it, and more than one (H5Pset_dxpl_mpio_chunk_opt_ratio)
    multi_percent: int = 60
    # whether selections are handed on as MPI datatypes, which are built from them here and taken
    # apart again in MPI-IO; else as the lists of pieces that MPI-IO needs (the one-sided driver,
    # CCIO)
    datatypes: bool = True


class Transfer:
    """One transfer between memory and a dataset, for all ranks.

    ``selection`` is what each rank selects in the dataset, ``memory`` how that lies in its memory.
    """

    def __init__(
        self,
        driver: MpiDriver,
        storage: Storage,
        selection: Hyperslab,
        memory: Memory | None,
        properties: TransferProperties,
        *,
        writing: bool,
    ) -> None:
        self._driver = driver
        self._storage = storage
        self._selection = selection
        self._memory = memory
        self._properties = properties
        self._move_all = driver.write_all if writing else driver.read_all
        self._move = driver.write if writing else driver.read

    def independent(self, batch: Batch) -> None:
        """Move the pieces of every rank one after the other."""
        pieces = call_pieces(self._selection, self._storage, self._memory)
        self._move(batch, self._calls(pieces), each=not self._driver.takes_vectors)

    def cached(self, batch: Batch, cache: ChunkCache) -> None:
        """Read the chunks that ranks do not have, as a whole; copy from them what is selected."""
        row, chunk = chunks_selected(self._selection, self._storage)
        read = cache.missing(self._selection.rank[row], chunk)
        rank, address = self._selection.rank[row[read]], self._storage.address[chunk[read]]
        size = np.full(len(read), self._storage.chunk_bytes)
        self._move(batch, Accesses(rank, address, size), each=True)
        selected = self._selection.elements * self._storage.element_size
        ranks, first = np.unique(self._selection.rank, return_index=True)
        self._driver.copy(batch, ranks, np.add.reduceat(selected, first))

    def contiguous(self, batch: Batch) -> None:
        """Move a contiguous dataset in one collective call."""
        self._agree(batch)
        self._move_linked(batch)

    def linked(self, batch: Batch) -> None:
        """Move all chunks in one collective call."""
        self._move_linked(batch)

    def links(self, batch: Batch) -> bool:
        """Begin the collective transfer of a chunked dataset; tell whether chunks are linked."""
        self._agree(batch)
        driver, properties = self._driver, self._properties
        if properties.chunk_io == "multi":
            return False
        driver.meet(batch, driver.costs.allreduce(_COUNT))
        if properties.chunk_io == "link":
            return True
        row, _ = chunks_selected(self._selection, self._storage)
        return len(row) // driver.communicator.size >= properties.link_threshold

    def gather_modes(self, batch: Batch) -> None:
        """Begin a multi-chunk transfer: rank 0 learns who selects what in which chunk."""
        driver, chunks = self._driver, len(self._storage.address)
        driver.meet(batch, driver.costs.gatherv(chunks * driver.communicator.size))

    def multi(self, batch: Batch) -> None:
        """Move chunk after chunk, when rank 0 has told all where they are and how to do it."""
        driver, chunks = self._driver, len(self._storage.address)
        driver.meet(batch, driver.costs.bcast(_ADDRESS * chunks))
        pieces = file_pieces(self._selection, self._storage)
        self._build(batch, pieces)
        _, chunk = chunks_selected(self._selection, self._storage)
        ranks = np.bincount(chunk, minlength=chunks)
        least = driver.communicator.size * self._properties.multi_percent // 100
        shared = np.flatnonzero(ranks > max(1, least))
        begin = 0
        for number in shared.tolist():
            self._move_single(batch, pieces, begin, number)
            mine = pieces.only(pieces.chunk == number)
            self._move_all(batch, mine.accesses(self._selection.rank))
            begin = number + 1
        self._move_single(batch, pieces, begin, chunks)

    def _move_single(self, batch: Batch, pieces: Pieces, begin: int, end: int) -> None:
        """Move the parts that every rank has of some chunks, a call for each chunk.

        A call for several pieces of a chunk is one for a datatype; where there are such calls, the
        ranks' first ones go together, then their second ones, and so on.
        """
        pieces = pieces.only((pieces.chunk >= begin) & (pieces.chunk < end))
        if not len(pieces.row):
            return
        begins = np.ones(len(pieces.row), bool)
        begins[1:] = np.diff(pieces.row) != 0
        begins[1:] |= np.diff(pieces.chunk) != 0
        if begins.all():
            self._move(batch, self._calls(pieces), each=True)
            return
        call = np.cumsum(begins) - 1
        first = np.searchsorted(pieces.row, pieces.row)
        turn = call - call[first]
        for number in range(int(turn.max()) + 1):
            mine = pieces.only(turn == number)
            self._move(batch, mine.accesses(self._selection.rank), each=False)

    def _move_linked(self, batch: Batch) -> None:
        pieces = file_pieces(self._selection, self._storage)
        self._build(batch, pieces)
        self._move_all(batch, pieces.accesses(self._selection.rank))

    def _calls(self, pieces: Pieces) -> Accesses:
        return Accesses(self._selection.rank[pieces.row], pieces.offset, pieces.length)

    def _agree(self, batch: Batch) -> None:
        """Find out whether all ranks can do the transfer collectively: an allreduce."""
        self._driver.meet(batch, self._driver.costs.allreduce(_CAUSES))

    def _build(self, batch: Batch, pieces: Pieces) -> None:
        """Describe to MPI-IO what the ranks select, if it is in several pieces.

        A datatype takes a step for each piece in the file and in memory. MPI-IO itself counts the
        steps in which it takes the file's apart; the memory's steps are counted here.
        """
        rows = len(self._selection.rank)
        in_file = np.bincount(pieces.row, minlength=rows)
        in_memory = memory_pieces(self._selection, self._storage, self._memory)
        steps: Integers = _if_several(in_memory)
        if self._properties.datatypes:
            steps = steps + _if_several(in_file) + _if_several(in_memory)
        self._driver.describe(batch, self._selection.rank, steps)


def _if_several(pieces: Integers) -> Integers:
    """Return numbers of pieces, 0 in place of 1: one piece needs no description."""
    return np.where(pieces > 1, pieces, 0)
