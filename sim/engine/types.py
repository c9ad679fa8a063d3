"""Array types of the data plane: plain arrays and tables of records."""

from __future__ import annotations

from mmap import mmap
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Indices: TypeAlias = npt.NDArray[np.int32]

# A table is a NumPy record array: one row an entity, one named field a property. Compiled code and
# plain Python both read ``table[i].field``. Its rows have no static type.
Table: TypeAlias = Any


CACHE_LINE = 64
"""Bytes that a processor fetches at a time."""


def make_table(layout: np.dtype[Any], rows: int) -> Table:
    """Return a table of ``rows`` zeroed records with the given layout.

    The first one begins with a line of the cache: a record of 64 bytes then costs one wait for the
    memory, where NumPy's own place for it, 16 bytes behind such a border, would cost two.
    """
    return np.recarray(rows, layout, buf=zeroed(rows * layout.itemsize).data)


def zeroed(size: int) -> npt.NDArray[np.uint8]:
    """Return so many bytes of zeros, of which the first begins a line of the cache."""
    return _in_lines(np.zeros(size + CACHE_LINE, np.uint8))


def as_lines(content: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return a copy of bytes, of which the first begins a line of the cache."""
    copy = _in_lines(np.empty(len(content) + CACHE_LINE, np.uint8))
    copy[:] = content
    return copy


def _in_lines(memory: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return memory without a line of the cache, so that it begins with a whole one."""
    first = -memory.ctypes.data % CACHE_LINE
    return memory[first : first + len(memory) - CACHE_LINE]


def untouched(size: int) -> npt.NDArray[np.uint8]:
    """Return so many bytes of zeros that the system gives page by page, when first written.

    ``np.zeros`` may get memory that was in use before, and then writes zeros into all of it.
    """
    return np.frombuffer(mmap(-1, max(size, 1)), np.uint8, size)


def enlarge_table(table: Table, rows: int, used: int | None = None) -> Table:
    """Return the same table with zeroed records appended up to ``rows`` in all.

    ``used``: behind so many records none is in use. These become zero, so that they take no memory.
    """
    larger = make_table(table.dtype, rows)
    kept = as_bytes(table)[:used]
    as_bytes(larger)[: len(kept)] = kept
    return larger


def as_bytes(table: Table) -> npt.NDArray[np.void]:
    """Return records as bytes: NumPy copies those at once, and of records each field by itself."""
    return np.asarray(table).view(np.dtype((np.void, table.dtype.itemsize)))
