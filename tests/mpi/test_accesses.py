"""Runs of equal calls stand for exactly the calls that they were made of."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from open_files import of_pieces

from xc40io.mpi.accesses import Runs, runs_of


def unrolled(runs: Runs) -> list[tuple[int, int, int]]:
    """Return the single calls again."""
    return [
        (int(rank), int(offset + i * stride), int(length))
        for rank, offset, length, stride, count in zip(
            runs.rank, runs.offset, runs.length, runs.stride, runs.count, strict=True
        )
        for i in range(count)
    ]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(1, 2)), max_size=40).map(
        lambda calls: sorted(calls, key=lambda call: call[0])
    )
)
def test_no_call_is_lost_or_moved(calls):
    assert unrolled(runs_of(of_pieces(calls))) == calls


def test_a_strided_series_is_one_run():
    runs = runs_of(of_pieces([(0, 100 * i, 10) for i in range(50)]))
    assert (runs.offset, runs.stride, runs.count) == (0, 100, 50)


def test_each_rank_and_each_length_has_its_own_run():
    calls = [(0, 0, 8), (0, 8, 8), (0, 16, 4), (1, 20, 4), (1, 24, 4)]
    assert runs_of(of_pieces(calls)).count.tolist() == [2, 1, 2]


def test_a_call_that_breaks_a_series_begins_the_next_one():
    offsets = [0, 1, 2, 10, 11, 12, 20, 21, 22]
    runs = runs_of(of_pieces([(0, offset, 1) for offset in offsets]))
    assert runs.offset.tolist() == [0, 10, 20]
    assert runs.count.tolist() == [3, 3, 3]


def test_runs_are_few_where_pairs_of_calls_alternate():
    offsets = np.cumsum([0, 1, 5, 1, 5, 1, 5])
    runs = runs_of(of_pieces([(0, int(offset), 1) for offset in offsets]))
    assert runs.count.tolist() == [2, 2, 2, 1]
