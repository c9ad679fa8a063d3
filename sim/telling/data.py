"""An answer as JSON, and its tables for pandas and as CSV: all from its columns."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from xc40io.config.extras import need
from xc40io.telling.answer import Answer, Column, Columns, Table, To
from xc40io.telling.cells import present, records

if TYPE_CHECKING:
    import pandas as pd

_DTYPES = {float: "float64", int: "int64", bool: "bool"}


def json_text(document: Mapping[str, Any]) -> str:
    """Return a document as indented JSON with a newline at the end.

    A number that is infinite or none at all is null: JSON has no word for these.
    """
    return json.dumps(_plain(document), indent=2, allow_nan=False) + "\n"


def document_of(answer: Answer) -> dict[str, Any]:
    """Return the values of an answer as JSON has them."""
    return {} if answer.values is None else record(answer.values.columns, answer.values.of)


def record(columns: Columns, row: Any) -> dict[str, Any]:
    """Return the JSON of a row."""
    told = (column for column in columns if To.JSON in column.to)
    return {column.name: _value(column, column.value(row)) for column in told}


def records_of(table: Table) -> list[dict[str, Any]]:
    """Return the JSON of the rows of a table."""
    return [record(table.columns, row) for row in records(table.rows)]


def _value(column: Column, value: Any) -> Any:
    if not column.inner or value is None:
        return _plain(value)
    if column.unit.type is dict:
        return record(column.inner, value)
    rows = list(records(value))
    columns = tuple(present(column.inner, rows))
    return [record(columns, row) for row in rows]


def _plain(value: Any) -> Any:
    """Return records as dictionaries, sequences as lists, numbers that are none as None."""
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    listed = getattr(value, "tolist", None)
    if listed is not None:
        return _plain(listed())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def frame(table: Table) -> pd.DataFrame:
    """Return a table of pandas; of groups a row for each inner row, behind what they share."""
    need("tables", "a table of pandas")
    import pandas as pd

    told = list(_told(table.columns))
    if isinstance(table.rows, Mapping):
        return pd.DataFrame({column.name: table.rows[column.name] for column in told}, copy=False)
    rows = list(_flat(table.columns, table.rows))
    data = pd.DataFrame(rows, columns=[column.name for column in told])
    return data.astype(
        {each.name: _DTYPES[each.unit.type] for each in told if each.unit.type in _DTYPES}
    )


def _told(columns: Columns) -> Iterator[Column]:
    for column in columns:
        if To.PANDAS in column.to:
            yield from _told(column.inner) if column.inner else (column,)


def _flat(columns: Columns, rows: Any) -> Iterator[list[Any]]:
    """Yield the rows for pandas: each inner row after the values of its outer row."""
    told = [column for column in columns if To.PANDAS in column.to]
    own = [column for column in told if not column.inner]
    nested = next((column for column in told if column.inner), None)
    for row in rows:
        cells = [column.value(row) for column in own]
        if nested is None:
            yield cells
        else:
            yield from ([*cells, *inner] for inner in _flat(nested.inner, nested.value(row)))


def csv_text(table: Table) -> str:
    """Return a table as CSV: the columns that pandas has; empty where a value is none."""
    told = list(_told(table.columns))
    exact = [float if column.unit.type is float else None for column in told]
    rows = (
        [
            value if kind is None or value is None else kind(value)
            for value, kind in zip(row, exact, strict=True)
        ]
        for row in _flat(table.columns, records(table.rows))
    )
    return csv_lines(chain([[column.name for column in told]], rows))


def csv_lines(rows: Iterable[Iterable[object]]) -> str:
    """Return rows of cells as CSV, each on a line."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
