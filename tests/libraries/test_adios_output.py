"""The index of BP files, beside files that ADIOS wrote."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.libraries.adios_output import Variables


def test_an_index_is_as_large_as_that_of_adios_2() -> None:
    # ADIOS 2.12, BP3, one rank: 240 steps of 533 variables of floats and two of one integer for
    # each. The file's names, 20 bytes and some more for each of 1,599, are not counted here.
    written = 27_311_244
    (size,) = Variables(383_760, 71).index_sizes(np.array([1]))
    assert size == pytest.approx(written, rel=0.003)


@given(st.integers(1, 10**6), st.integers(1, 500), st.integers(1, 100))
def test_an_index_grows_with_groups_and_with_variables(count: int, entry: int, groups: int) -> None:
    variables = Variables(count, entry)
    one, all_of_them = variables.index_sizes(np.array([1, groups]))
    assert all_of_them == groups * one
    more = Variables(count + 1, entry)
    assert more.index_sizes(np.array([groups])) - all_of_them == groups * entry
    assert more.put_pieces > variables.put_pieces
    assert more.merge_pieces > variables.merge_pieces
