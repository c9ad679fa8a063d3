"""Operations: every one has columns of its own, and no others are taken."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.plane.batch import Batch, most_at_once, refer_from
from xc40io.plane.operations import (
    COLUMNS,
    OPERATION,
    Op,
    join_operations,
    make_operations,
    mix_operations,
    no_operations,
)


def test_the_columns_of_an_operation_lie_apart() -> None:
    """They are of one record, in which columns of different operations share a place."""
    assert OPERATION.fields is not None
    assert set(COLUMNS) == set(Op)
    for columns in COLUMNS.values():
        for one, other in combinations(["kind", *columns], 2):
            (form, at), (other_form, other_at) = (OPERATION.fields[c][:2] for c in (one, other))
            assert at + form.itemsize <= other_at or other_at + other_form.itemsize <= at


@pytest.mark.parametrize("kind", Op)
def test_an_operation_keeps_what_its_columns_are_given(kind: Op) -> None:
    batch = Batch(np.arange(3))
    given = {name: number + np.arange(3) for number, name in enumerate(sorted(COLUMNS[kind]))}
    batch.add(kind, **given)
    operations, bounds = batch.listing()
    assert bounds.tolist() == [0, 1, 2, 3]
    assert (operations["kind"] == kind).all()
    assert {name: operations[name].tolist() for name in given} == {
        name: values.tolist() for name, values in given.items()
    }


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        (Op.MARK, "offset"),
        (Op.MEET, "count"),
        (Op.EXCHANGE, "stride"),
        (Op.THINK, "file"),
        (Op.FSYNC, "seconds"),
        (Op.WRITE, "meeting"),
        (Op.READ, "lenght"),
    ],
)
def test_a_column_that_an_operation_does_not_have_is_refused(kind: Op, column: str) -> None:
    batch = Batch(np.arange(2))
    with pytest.raises(ValueError, match=f"^{kind.name} has no column {column}; it has .*timer"):
        batch.add(kind, **{column: 1})


def test_among_several_kinds_each_must_have_the_column() -> None:
    batch = Batch(np.arange(2))
    kinds, owner = np.array([Op.READ, Op.FSYNC]), np.zeros(2, np.int64)
    batch.add(kinds, owner, file=7)
    with pytest.raises(ValueError, match=r"^FSYNC has no column offset"):
        batch.add(kinds, owner, file=7, offset=0)
    with pytest.raises(ValueError, match=r"^FSYNC has no column offset"):
        mix_operations(kinds, {Op.FSYNC: {"offset": 0}})


def test_mixed_operations_take_their_own_columns_from_their_own_rows() -> None:
    kinds = np.array([Op.READ, Op.MEET, Op.READ, Op.MEET, Op.PARK])
    rows = np.arange(5)
    read = {"file": 3, "offset": 10 * rows, "length": 4, "count": 1}
    mixed = mix_operations(kinds, {Op.READ: read, Op.MEET: {"meeting": rows, "members": 2}})
    reads, meets = mixed[kinds == Op.READ], mixed[kinds == Op.MEET]
    assert reads["file"].tolist() == [3, 3]
    assert reads["offset"].tolist() == [0, 20]
    assert meets["meeting"].tolist() == [1, 3]
    assert meets["members"].tolist() == [2, 2]
    assert mixed[4] == make_operations(Op.PARK, 1)[0]


def test_joined_operations_are_of_the_same_record() -> None:
    parts = [make_operations(Op.MARK, 2, mark=5), make_operations(Op.WRITE, 1, file=2, offset=9)]
    joined = join_operations([no_operations(0), *parts])
    assert joined.dtype == OPERATION
    assert joined.tolist() == [*parts[0].tolist(), *parts[1].tolist()]


def test_exchanges_refer_to_transfers_from_a_number_on() -> None:
    """One number for all, or one for each; what is no exchange is left as it is."""
    kinds = np.array([Op.EXCHANGE, Op.WRITE, Op.EXCHANGE])
    turn = {"transfer": np.array([0, 0, 3]), "received": 3, "sent": 1, "sent_first": 2}
    operations = mix_operations(kinds, {Op.EXCHANGE: turn, Op.WRITE: {"offset": 77, "stride": 8}})
    assert most_at_once(operations) == 4
    refer_from(operations, 10)
    refer_from(operations, np.array([100, 200, 300]))
    exchanges, write = operations[kinds == Op.EXCHANGE], operations[1]
    assert exchanges["transfer"].tolist() == [110, 313]
    assert exchanges["sent_first"].tolist() == [112, 312]
    assert (write["offset"], write["stride"]) == (77, 8)


@given(st.lists(st.lists(st.integers(0, 4), max_size=6), max_size=5))
def test_operations_stand_program_after_program_as_they_came(parts: list[list[int]]) -> None:
    batch, came = Batch(np.arange(5)), list[tuple[int, int]]()
    for owners in parts:
        marks = len(came) + np.arange(len(owners))
        batch.add(Op.MARK, np.array(owners, np.int64), mark=marks)
        came += zip(owners, marks.tolist(), strict=True)
    operations, bounds = batch.hand_over()
    assert operations["mark"].tolist() == [mark for _, mark in sorted(came)]
    assert np.diff(bounds).tolist() == [sum(of == i for of, _ in came) for i in range(5)]
    assert len(batch.listing()[0]) == 0  # it has kept nothing
