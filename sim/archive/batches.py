"""Parquet files of others, read piece by piece: how large they are is looked at before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from xc40io.config.errors import InputError
from xc40io.config.files import check_size

_ROWS = 1 << 18
"""Rows of a batch, of a file whose rows are short."""


def bounded_batches(
    file: BinaryIO | pa.BufferReader, place: str, most_rows: int, most_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a Parquet file, which has so many rows and bytes at most.

    A few bytes of a file may stand for any number of rows and any length of text. So what the file
    says of itself is believed when it is too much, and what comes of it is counted.

    Parameters
    ----------
    file
        The file.
    place
        What messages call it.
    most_rows, most_bytes
        Rows; bytes when nothing of it is compressed.

    Raises
    ------
    InputError
        If there is more.
    """
    with _refusing(place):
        yield from _batches(file, place, most_rows, most_bytes)


def schema_of(file: BinaryIO | pa.BufferReader, place: str) -> pa.Schema:
    """Return names and types of the columns of a Parquet file; ``place`` is for the messages."""
    with _refusing(place):
        return pq.read_schema(file)


@contextmanager
def _refusing(place: str) -> Iterator[None]:
    try:
        yield
    except pa.ArrowException as error:
        why = " ".join(str(error).split())[:200]
        raise InputError(f"{place}: is not a Parquet file that can be read: {why}") from error


def _batches(
    file: BinaryIO | pa.BufferReader, place: str, most_rows: int, most_bytes: int
) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(file) as parquet:
        about = parquet.metadata
        if about.num_rows > most_rows:
            raise InputError(
                f"{place}: has {about.num_rows:,} rows; right would be at most {most_rows:,}"
            )
        groups = [about.row_group(number) for number in range(about.num_row_groups)]
        parts = [
            group.column(number).total_uncompressed_size
            for group in groups
            for number in range(group.num_columns)
        ]
        check_size(place, sum(parts), most_bytes)
        # A long text that stands once in the file may stand in every row.
        rows = max(1, min(_ROWS, most_bytes // max(*parts, 1) if parts else _ROWS))
        taken = 0
        for batch in parquet.iter_batches(batch_size=rows, use_threads=False):
            taken += batch.nbytes
            check_size(place, taken, most_bytes)
            batch.validate(full=True)  # a damaged page may name words that are not there
            yield batch
