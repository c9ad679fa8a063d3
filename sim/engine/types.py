"""Array types of the data plane: plain arrays and tables of records."""

from __future__ import annotations

import math
import mmap
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

_MAPPED = 1 << 20  # bytes from which on memory is mapped
_HUGE = 1 << 22  # bytes from which on it may lie in large pages, as NumPy has its own


def zeros(shape: int | tuple[int, ...], kind: npt.DTypeLike) -> Any:
    """Return an array of zeros that begins with a line of the cache.

    A large one takes memory only where something is written, and gives all back in the end: what
    NumPy asks for may be a place that was in use before, which has to be set to zero, and stays.
    """
    rows = shape if isinstance(shape, tuple) else (shape,)
    size = math.prod(map(int, rows)) * np.dtype(kind).itemsize
    if size < _MAPPED:
        memory = np.zeros(size + CACHE_LINE, np.uint8)
        return np.ndarray(shape, kind, memory.data, -memory.ctypes.data % CACHE_LINE)
    pages = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if size >= _HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return np.ndarray(shape, kind, pages)


def as_lines(content: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return a copy of bytes that begins with a line of the cache."""
    memory = np.empty(len(content) + CACHE_LINE, np.uint8)
    first = -memory.ctypes.data % CACHE_LINE
    copy = memory[first : first + len(content)]
    copy[:] = content
    return copy


def untouched(size: int) -> npt.NDArray[np.uint8]:
    """Return so many bytes of zeros, of which few will be written: small pages, none given yet."""
    return np.frombuffer(mmap.mmap(-1, max(size, 1)), np.uint8, size)


def make_table(layout: np.dtype[Any], rows: int) -> Table:
    """Return a table of ``rows`` zeroed records with the given layout.

    The first one begins with a line of the cache: a record of 64 bytes then costs one wait for the
    memory, where NumPy's own place for it, 16 bytes behind such a border, would cost two.
    """
    return zeros(rows, layout).view(np.recarray)


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
