"""Cells of a table as people read them, the same in text and in HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from xc40io.telling.answer import Column, Columns, Rows, Table, To


class WrittenTable(NamedTuple):
    """A table in words."""

    heads: list[str]
    rows: list[list[str]]
    columns: list[Column]  # of each head
    titles: dict[int, str]  # of groups, by the row above which they stand
    left_out: int  # rows

    @property
    def left(self) -> set[int]:
        """Columns whose cells begin below each other."""
        return {place for place, column in enumerate(self.columns) if column.unit.left}


def written(table: Table) -> WrittenTable:
    """Write the rows of a table that people are told."""
    shown = list(islice(records(table.rows), table.most))
    outer, grouping = _people(table.columns)
    titles: dict[int, str] = {}
    if grouping is not None:
        rows: list[Any] = []
        for row in shown:
            titles[len(rows)] = " ".join(column.cell(column.value(row)) for column in outer)
            rows += grouping.value(row)
        (outer, _), shown = _people(grouping.inner), rows
    heads, cells, columns = [], [], []
    for column in present(outer, shown):
        values = [column.value(row) for row in shown]
        for head, each in _spread(values) if column.spread else [(column.label, values)]:
            heads.append(head)
            columns.append(column)
            cells.append([column.cell(value) for value in each])
    lines = [list(row) for row in zip(*cells, strict=True)]
    return WrittenTable(heads, lines, columns, titles, max(count(table.rows) - table.most, 0))


def records(rows: Rows) -> Iterator[Any]:
    """Yield rows one by one; rows of arrays become mappings."""
    if not isinstance(rows, Mapping):
        return iter(rows)
    return (dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True))


def count(rows: Rows) -> int:
    """Return how many rows there are."""
    return len(next(iter(rows.values()))) if isinstance(rows, Mapping) else len(rows)


def present(columns: Iterable[Column], rows: Sequence[Any]) -> list[Column]:
    """Return columns without the optional ones of which no row has a value."""
    return [
        column
        for column in columns
        if not column.optional or not all(column.is_blank(column.value(row)) for row in rows)
    ]


def _people(columns: Columns) -> tuple[list[Column], Column | None]:
    """Return the columns for people, and the one among them that has rows."""
    shown = [column for column in columns if To.PEOPLE in column.to]
    grouping = next((column for column in shown if column.inner), None)
    return [column for column in shown if not column.inner], grouping


def _spread(values: Sequence[Any]) -> list[tuple[str, list[Any]]]:
    names = dict.fromkeys(name for value in values for name in value)
    return [(name, [value.get(name) for value in values]) for name in names]
