"""Records to which modules add the columns that they alone know."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.engine.queue import EMPTY, QUEUE, TURN, UNTAKEN
from xc40io.engine.record import Column, Record

KINDS = "i1", "i2", "i4", "i8", "f8", QUEUE, TURN


@st.composite
def declarations(draw: st.DrawFn) -> list[tuple[str, list[Column]]]:
    """Draw modules, each with columns of its own."""
    kinds = draw(st.lists(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4), max_size=4))
    return [
        (f"module_{i}", [Column(f"column_{i}_{j}", kind) for j, kind in enumerate(those)])
        for i, those in enumerate(kinds)
    ]


def record_of(modules: list[tuple[str, list[Column]]]) -> Record:
    record = Record(Column("own", "i8"), Column("small", "i4"))
    for module, columns in modules:
        record.add(module, *columns)
    return record


@given(declarations(), st.randoms())
def test_the_order_of_imports_does_not_move_a_column(modules, random):
    shuffled = list(modules)
    random.shuffle(shuffled)
    assert record_of(shuffled).dtype == record_of(modules).dtype


@given(declarations())
def test_no_column_leaves_a_gap_before_another(modules):
    dtype = record_of(modules).dtype
    taken = sum(dtype[name].itemsize for name in dtype.names)
    assert dtype.itemsize - taken < dtype.alignment


def test_columns_of_the_noun_come_first_among_equally_wide_ones():
    record = record_of([("above", [Column("wide", "f8"), Column("narrow", "i4")])])
    assert record.dtype.names == ("own", "wide", "small", "narrow")


def test_rows_that_nobody_has_used_are_idle():
    record = record_of([])
    record.add("queues", Column("waiting", QUEUE, idle=EMPTY), Column("mutex", TURN, idle=UNTAKEN))
    record.add("times", Column("written", "f8", idle=-np.inf))
    table = record.table(3)
    table[1].own, table[1].written, table[1].waiting.head = 7, 1.0, 2
    table[2].own = 8
    record.clear(table, np.array([1]))
    assert table.own.tolist() == [0, 0, 8]
    assert table.written.tolist() == [-np.inf] * 3
    assert table.waiting.tolist() == [(-1, -1)] * 3
    assert table.mutex.tolist() == [(0, (-1, -1))] * 3


def test_only_what_is_passing_becomes_idle_when_a_row_begins_something_new():
    record = Record(Column("kept", "i4", idle=-1))
    record.add("above", Column("passing", "i4", idle=-1, passing=True))
    table = record.table(2)
    table.kept = table.passing = 5
    record.renew(table, np.array([1]))
    assert table.kept.tolist() == [5, 5]
    assert table.passing.tolist() == [5, -1]


def test_a_module_that_is_imported_again_declares_the_same_columns():
    record = record_of([("above", [Column("one", "i4")])])
    record.add("above", Column("one", "i8"), Column("two", "i4"))
    assert set(record.dtype.names) == {"own", "small", "one", "two"}


@pytest.mark.parametrize("name", ["own", "theirs"])
def test_two_owners_cannot_have_a_column_of_one_name(name):
    record = record_of([("above", [Column("theirs", "i4")])])
    with pytest.raises(ValueError, match=f"beyond: {name} is a column already; right would be"):
        record.add("beyond", Column(name, "i4"))
