from __future__ import annotations

import numpy as np

from xc40io.engine.compiled import njit
from xc40io.engine.prefetch import prefetch
from xc40io.engine.types import CACHE_LINE, Floats, Table, make_table

LAYOUT = np.dtype([("number", "i8"), ("rest", "i8", 12)], align=True)


@njit
def ask(table: Table, matrix: Floats, row: int) -> int:
    prefetch(table, row)
    prefetch(matrix, row)
    return row


def test_asking_for_rows_changes_nothing_even_where_there_are_none() -> None:
    table, matrix = make_table(LAYOUT, 3), np.arange(6.0).reshape(3, 2)
    table.number = range(3)
    for row in (0, 2, -1, 1 << 24):
        assert ask(table, matrix, row) == row
    assert table.number.tolist() == [0, 1, 2]
    assert matrix.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


def test_a_table_begins_with_a_line_of_the_cache() -> None:
    for rows in (1, 3, 1000):
        table = make_table(LAYOUT, rows)
        assert table.ctypes.data % CACHE_LINE == 0
        assert not table.number.any()
