"""The columns of a trace table, CSV or Parquet: what they are called and what may stand in them."""

from __future__ import annotations

from typing import NamedTuple

from sim.workloads.trace.block import TraceOp

MOST_RANKS = 1 << 24
"""Ranks of a trace are numbered below this."""

MOST_BYTES = 1 << 60
"""Offsets and lengths are below this."""


class Column(NamedTuple):
    """A column.

    Attributes
    ----------
    kind
        ``integer``, ``seconds`` or ``word``.
    right
        What may stand in it.
    required
        Whether a table must have it.
    least, most
        Of an integer: from, and up to but without.
    """

    kind: str
    right: str
    required: bool = False
    least: int = 0
    most: int = MOST_BYTES


OPS = {op.name.lower(): int(op) for op in TraceOp}
"""Operations by the names that they have in the column ``op``."""

APIS = {"posix": 0, "mpiio": 1}
"""Values of the column ``api``."""

COLUMNS = {
    "rank": Column(
        "integer", f"a rank, from 0 to {MOST_RANKS - 1:,}", required=True, most=MOST_RANKS
    ),
    "op": Column("word", f"one of {', '.join(OPS)}", required=True),
    "file": Column("word", "the name of a file"),
    "offset": Column("integer", "a number of bytes, from 0 to 2^60 - 1"),
    "length": Column("integer", "a number of bytes, from 0 to 2^60 - 1"),
    "start": Column("seconds", "seconds since the job began, 0 or more, or nothing"),
    "end": Column("seconds", "seconds since the job began, 0 or more, or nothing"),
    "think": Column("seconds", "seconds of computing before the call, 0 or more"),
    "coll": Column("integer", "the number of a collective call, from 0 to 2^60 - 1, or nothing"),
    "api": Column("word", "posix or mpiio"),
}
"""All columns; who writes a table may leave out those that are not required."""
