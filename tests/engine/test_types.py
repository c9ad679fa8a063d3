"""Arrays of zeros: where they begin, and that large ones take memory only as they are used."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest

from xc40io.engine.pool import give, make_pool, take
from xc40io.engine.types import CACHE_LINE, zeros


def resident() -> int:
    """Return the bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


@pytest.mark.parametrize("rows", [0, 3, 5_000_000])
def test_zeros_begin_with_a_line_of_the_cache(rows: int) -> None:
    table = zeros((rows, 2), np.int32)
    assert table.shape == (rows, 2)
    assert table.ctypes.data % CACHE_LINE == 0 or rows == 0
    assert not table[-9:].any()


def test_a_large_pool_takes_memory_only_for_rows_that_have_been_taken() -> None:
    before = resident()
    pool = make_pool(100_000_000)
    assert [take(pool) for _ in range(3)] == [0, 1, 2]
    give(pool, 1)
    assert take(pool) == 1
    assert resident() - before < 20_000_000  # of 400 MB
