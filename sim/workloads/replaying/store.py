"""A store of rows by key: written once from front to back, read key by key.

A trace comes in whatever order it was written in, rank after rank or all ranks mixed, and each rank
takes its rows at its own pace. So the rows are kept in chunks, each sorted by key, with an index of
where the rows of each key are: in memory up to a limit, beyond it in a temporary file, which costs
one read for each key and chunk.
"""

from __future__ import annotations

import tempfile
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from sim.engine.types import Integers

Rows = npt.NDArray[Any]

IN_MEMORY = 192 * 2**20
"""Bytes of a store that are kept in memory."""


class Store:
    """Rows by key.

    Parameters
    ----------
    layout
        The type of the rows.
    in_memory
        Bytes that are kept in memory at most.
    """

    def __init__(self, layout: np.dtype[Any], in_memory: int = IN_MEMORY) -> None:
        self._layout = layout
        self._room = in_memory
        self._chunks: list[Rows | None] = []  # None: in the file
        self._bounds: list[Integers] = []  # of the keys in each chunk, in rows
        self._first: list[int] = []  # first byte of each chunk in the file
        self._file: IO[bytes] | None = None
        self._end = 0
        self._cursors: dict[int, tuple[int, int]] = {}  # chunk, rows of the key taken of it

    def add(self, key: npt.NDArray[Any], rows: Rows) -> None:
        """Add a chunk; ``key`` (rows,) is ascending, 0 or more. Rows of a key keep their order."""
        if not len(rows):
            return
        self._bounds.append(np.searchsorted(key, np.arange(int(key[-1]) + 2)))
        self._first.append(self._end)
        if rows.nbytes <= self._room:
            self._room -= rows.nbytes
            self._chunks.append(rows)
            return
        self._room = 0  # what follows goes to the file too
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="xc40io-trace-")  # noqa: SIM115
        rows.tofile(self._file)
        self._end += rows.nbytes
        self._chunks.append(None)

    def counts(self, keys: int) -> Integers:
        """Return how many rows there are of each of so many keys: int64 (keys,)."""
        counts = np.zeros(keys, np.int64)
        for bounds in self._bounds:
            counts[: len(bounds) - 1] += np.diff(bounds)
        return counts

    def take(self, key: int, limit: int) -> Rows:
        """Return up to ``limit`` rows of a key: those that follow the ones taken before."""
        found: list[Rows] = []
        chunk, skip = self._cursors.get(key, (0, 0))
        while limit > 0 and chunk < len(self._bounds):
            bounds = self._bounds[chunk]
            start, stop = bounds[key : key + 2].tolist() if key < len(bounds) - 1 else (0, 0)
            start += skip
            taken = min(stop - start, limit)
            if taken > 0:
                found.append(self._read(chunk, start, start + taken))
                limit -= taken
                skip += taken
            if start + taken >= stop:
                chunk, skip = chunk + 1, 0
        self._cursors[key] = chunk, skip
        return np.concatenate(found) if found else np.zeros(0, self._layout)

    def close(self) -> None:
        """Forget everything."""
        self._chunks.clear()
        self._bounds.clear()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _read(self, chunk: int, start: int, stop: int) -> Rows:
        rows = self._chunks[chunk]
        if rows is not None:
            return rows[start:stop]
        assert self._file is not None
        self._file.seek(self._first[chunk] + start * self._layout.itemsize)
        return np.frombuffer(self._file.read((stop - start) * self._layout.itemsize), self._layout)
