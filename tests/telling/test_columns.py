"""Columns of words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.telling.text import column_lines, format_columns

WORD = st.text("abc1.", min_size=1, max_size=6)
ROWS = st.integers(1, 5).flatmap(
    lambda columns: st.lists(
        st.lists(WORD, min_size=columns, max_size=columns), min_size=1, max_size=6
    )
)


def test_words_begin_and_numbers_end_below_each_other() -> None:
    rows = [("step", "data"), ("a", "1.25"), ("rather", "10.5")]
    assert format_columns(rows) == "step    data\na       1.25\nrather  10.5\n"
    assert column_lines(rows, left=()) == ["  step  data", "     a  1.25", "rather  10.5"]


def test_nothing_follows_the_last_word() -> None:
    assert column_lines([("a", "b"), ("long", "")], left=(0, 1)) == ["a     b", "long"]


@given(ROWS)
def test_all_words_are_there_and_numbers_end_where_the_widest_does(rows: list[list[str]]) -> None:
    lines = column_lines(rows, left=())
    assert [line.split() for line in lines] == rows
    assert len({len(line) for line in lines}) == 1


def test_no_rows_are_no_lines() -> None:
    assert format_columns([]) == ""


def test_rows_have_equally_many_cells() -> None:
    with pytest.raises(ValueError, match="shorter"):
        column_lines([("a", "b"), ("c",)])
