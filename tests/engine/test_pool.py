"""Pools of rows: what is in use, and what a longer table keeps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from xc40io.engine.pool import FREE, enlarge_pool, give, live_rows, make_pool, rows_in_use, take


@given(st.lists(st.integers(0, 30), max_size=60), st.booleans())
def test_no_row_behind_those_in_use_is_taken(steps: list[int], grows: bool) -> None:
    pool, taken = make_pool(32), list[int]()
    for step in steps:
        if step % 3 and pool.counts[FREE] > 0:
            taken.append(int(take(pool)))
        elif taken:
            give(pool, taken.pop(step % len(taken)))
    if grows:
        pool = enlarge_pool(pool, 48)
    assert live_rows(pool).tolist() == sorted(taken)
    assert max(taken, default=-1) < rows_in_use(pool) <= len(pool.rows)


def test_a_pool_of_which_nobody_has_taken_has_no_row_in_use() -> None:
    pool = make_pool(8)
    assert rows_in_use(pool) == 0
    pool = enlarge_pool(pool, 20)
    assert rows_in_use(pool) == 0
    row = take(pool)
    assert rows_in_use(pool) == row + 1
    while pool.counts[FREE] > 0:
        take(pool)
    assert rows_in_use(pool) == 20
