"""The names that IO500's find looks for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xc40io.workloads.io500.find import has_01, matching_items, matching_names


@given(st.lists(st.integers(0, 10**12), min_size=1))
def test_numbers_with_01_are_those_that_are_printed_so(numbers: list[int]):
    assert has_01(numbers).tolist() == ["01" in str(number) for number in numbers]
    padded = has_01(numbers, padded=True)
    assert padded.tolist() == ["01" in f"{number:014d}" for number in numbers]


@given(st.integers(1, 130), st.integers(0, 1200))
def test_names_are_counted_as_find_would_find_them(ranks: int, files: int):
    names = [f"file.mdtest.{rank}.{i}" for rank in range(ranks) for i in range(min(files, 30))]
    assert matching_names(ranks, min(files, 30)) == sum("01" in name for name in names)
    assert matching_names(ranks, files) == np.count_nonzero(matching_items(ranks, files))
