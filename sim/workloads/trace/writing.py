"""Writing a trace as a table, block by block; and beside it what the table has no columns for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from sim.config.errors import InputError
from sim.workloads.trace.block import Trace, TraceBlock, TraceFile, TraceOp
from sim.workloads.trace.schema import APIS, OPS

_WORD = pa.dictionary(pa.int32(), pa.string())
_SCHEMA = pa.schema(
    [
        ("rank", pa.int32()),
        ("op", _WORD),
        ("file", _WORD),
        ("offset", pa.int64()),
        ("length", pa.int64()),
        ("start", pa.float64()),
        ("think", pa.float64()),
        ("coll", pa.int64()),
        ("api", _WORD),
    ]
)


def check_table_name(path: str) -> None:
    """Raise InputError unless the name of a table says which kind it is."""
    if Path(path).suffix not in (".csv", ".parquet"):
        raise InputError(f"{path}: right would be a name that ends in .csv or .parquet")


def write_table(trace: Trace, path: Path, kind: str) -> int:
    """Write a trace; return how many rows there are.

    Parameters
    ----------
    trace
        The trace.
    path
        Where.
    kind
        ``.csv`` or ``.parquet``.
    """
    rows = 0
    ops, apis = pa.array(list(OPS)), pa.array(list(APIS))
    opened = pyarrow.csv.CSVWriter if kind == ".csv" else pyarrow.parquet.ParquetWriter
    schema = _plain(_SCHEMA) if kind == ".csv" else _SCHEMA
    with opened(path, schema) as writer:
        for block in trace.blocks():
            names = pa.array([file.name for file in trace.files], pa.string())
            batch = _batch(block, names, ops, apis)
            writer.write_table(pa.Table.from_batches([batch]).cast(schema))
            rows += len(block.rank)
    return rows


def _plain(schema: pa.Schema) -> pa.Schema:
    """Return a schema with plain words: what a CSV file is written with."""
    return pa.schema(
        [(field.name, pa.string() if field.type == _WORD else field.type) for field in schema]
    )


def _batch(block: TraceBlock, names: pa.Array, ops: pa.Array, apis: pa.Array) -> pa.RecordBatch:
    """Return the rows of a block as Arrow has them; what is unknown is null."""
    moves = block.op <= TraceOp.WRITE
    columns = [
        pa.array(block.rank),
        _words(block.op, ops),
        _words(block.file, names),
        pa.array(block.offset, mask=~moves),
        pa.array(block.length, mask=~moves),
        pa.array(block.start, mask=np.isnan(block.start)),
        pa.array(block.think, mask=np.isnan(block.think)),
        pa.array(block.coll, mask=block.coll < 0),
        _words(block.mpi, apis),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)


def _words(index: Any, words: pa.Array) -> pa.DictionaryArray:
    """Return words by number; none where the number is negative."""
    numbers = pa.array(index.astype(np.int32), mask=index < 0)
    return pa.DictionaryArray.from_arrays(numbers, words)


def side_table_text(trace: Trace) -> str:
    """Return the side table of a trace: YAML that says what its rows do not."""
    import yaml

    described: dict[str, Any] = {}
    if trace.nodes is not None:
        described["nodes"] = trace.nodes
    if trace.ppn is not None:
        described["ppn"] = trace.ppn
    described["files"] = {file.name: _about(file) for file in _uniquely(trace.files)}
    return yaml.safe_dump(described, sort_keys=False)


def _uniquely(files: Sequence[TraceFile]) -> list[TraceFile]:
    return list({file.name: file for file in files}.values())


def _about(file: TraceFile) -> dict[str, Any]:
    """Return what a side table says of a file: what differs from its defaults."""
    striping = file.striping
    about = {
        "size": file.size if file.size >= 0 else None,
        "stripe_count": striping.count,
        "stripe_size": striping.size,
        "stripe_offset": striping.offset if striping.offset >= 0 else None,
        "direct": file.direct or None,
        "shared_directory": None if file.shared_directory else False,
        "ranks": "all" if file.ranks is None and file.mpi else None,
    }
    if file.ranks is not None:
        about["ranks"] = file.ranks.tolist()
    return {name: value for name, value in about.items() if value is not None}
