"""Columns of equal length as a Parquet file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from xc40io.archive.batches import bounded_batches, schema_of
from xc40io.archive.plain import Array, Column


def written(columns: Mapping[str, Column]) -> bytes:
    """Return columns of equal length as a Parquet file."""
    arrays = {name: pa.array(_listed(column)) for name, column in columns.items()}
    sink = pa.BufferOutputStream()
    parquet.write_table(
        pa.table(arrays),
        sink,
        compression="zstd",
        use_dictionary=False,
        column_encoding={name: _encoding(array) for name, array in arrays.items()},
        write_statistics=False,
    )
    return bytes(sink.getvalue())


def _listed(column: Column) -> Any:
    return np.ascontiguousarray(column) if isinstance(column, np.ndarray) else list(column)


def _encoding(array: pa.Array) -> str:
    """Return the encoding of values that takes little room."""
    if pa.types.is_floating(array.type):
        return "BYTE_STREAM_SPLIT"
    if pa.types.is_string(array.type):
        return "DELTA_BYTE_ARRAY"
    return "DELTA_BINARY_PACKED" if array.type in (pa.int32(), pa.int64()) else "PLAIN"


def read(data: bytes, place: str, most: int) -> tuple[dict[str, Column], int]:
    """Return the columns of a Parquet file, and their bytes.

    ``place`` is for the messages; InputError if they have more bytes than ``most``.
    """
    source = pa.BufferReader(data)
    schema = schema_of(source, place)
    table = pa.Table.from_batches(bounded_batches(source, place, most, most), schema)
    return {name: _column(table[name]) for name in table.column_names}, table.nbytes


def _column(column: pa.ChunkedArray) -> Column:
    if pa.types.is_string(column.type):
        return tuple(column.to_pylist())
    values: Array = column.to_numpy()
    return values
