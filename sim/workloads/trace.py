"""A trace in memory: which rank did what to which file, in what order.

A trace may be longer than memory: it is a sequence of *blocks*, each a table of rows in columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from xc40io.config.kept import kept
from xc40io.config.striping import StripeRequest
from xc40io.engine.types import Floats, Indices, Integers

Bytes8 = npt.NDArray[np.int8]


class TraceOp(IntEnum):
    """What a row of a trace does."""

    READ = 0
    WRITE = 1
    OPEN = 2
    CREATE = 3
    CLOSE = 4
    FSYNC = 5
    STAT = 6
    UNLINK = 7
    MKDIR = 8
    COMPUTE = 9  # for the seconds of the column `think`, and nothing else
    BARRIER = 10  # of all ranks


class TraceBlock(NamedTuple):
    """Rows of any ranks, mixed in any way; each rank's rows in the order in which it did them."""

    rank: Indices  # int32 (rows,): whose row it is
    op: Bytes8  # int8: a TraceOp
    file: Indices  # int32: position in the files of the trace; -1 where the operation has none
    offset: Integers  # int64: of a read or write, in bytes; 0 for other operations
    length: Integers  # int64: likewise
    start: Floats  # float64: seconds since the job began at which the call began; NaN if unknown
    think: Floats  # float64: seconds for which the rank computed before the call; NaN if unknown
    # -1 for what a rank does by itself, else the number of a collective call, int64: the rows of
    # all ranks that are one collective call carry the same number. A rank may have several rows in
    # it, one for each piece of the file that it accesses; a rank of the file's communicator without
    # a row takes part with nothing. For OPEN, CREATE and CLOSE too.
    coll: Integers
    mpi: Bytes8  # int8: 1 for a call of MPI-IO, collective if `coll` is a number; 0 for POSIX


Layout = Mapping[str, tuple[Any, float | None]]
"""Of each column its type, and what it is unless given."""

_LAYOUT: Layout = {
    "rank": (np.int32, None),
    "op": (np.int8, None),
    "file": (np.int32, -1),
    "offset": (np.int64, 0),
    "length": (np.int64, 0),
    "start": (np.float64, np.nan),
    "think": (np.float64, np.nan),
    "coll": (np.int64, -1),
    "mpi": (np.int8, 0),
}

_Table = TypeVar("_Table")  # a named tuple of columns


def made(kind: type[_Table], layout: Layout, columns: Mapping[str, npt.ArrayLike]) -> _Table:
    """Return a table of columns, each of shape (rows,) or a scalar for all rows."""
    given: list[Any] = [columns.get(name, default) for name, (_, default) in layout.items()]
    arrays = np.broadcast_arrays(*(np.atleast_1d(np.asarray(value)) for value in given))
    types = (of for of, _ in layout.values())
    return kind(*(array.astype(of) for array, of in zip(arrays, types, strict=True)))


def make_block(**columns: npt.ArrayLike) -> TraceBlock:
    """Return a block of columns, each of shape (rows,) or a scalar for all rows.

    ``rank`` and ``op`` must be given; the others are independent POSIX calls on no file, of no
    bytes, at unknown times unless given.
    """
    return made(TraceBlock, _LAYOUT, columns)


def take_rows(table: _Table, which: npt.NDArray[Any] | slice) -> _Table:
    """Return some rows of a table of columns: by mask, by position or as a slice."""
    columns: Any = table
    return type(table)(*(column[which] for column in columns))


def join_rows(tables: Sequence[_Table]) -> _Table:
    """Return the rows of one or more tables, one table after the other."""
    columns: Any = zip(*cast("Any", tables), strict=True)
    return type(tables[0])(*(np.concatenate(parts) for parts in columns))


def join_blocks(blocks: Sequence[TraceBlock]) -> TraceBlock:
    """Return the rows of blocks, maybe of none, one block after the other."""
    return join_rows([make_block(rank=np.zeros(0), op=np.zeros(0)), *blocks])


class RowBefore:
    """What a column had in the row before of the same rank, chunk after chunk of a trace."""

    def __init__(self, none: float) -> None:
        self._none = none  # before a rank's first row
        self._last = np.full(0, none)  # of each rank

    def of(self, rank: npt.NDArray[Any], column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return it for the rows of a chunk, whose ``rank`` (rows,) is ascending."""
        more = max(0, int(rank[-1]) + 1 - len(self._last)) if len(rank) else 0
        self._last = np.append(self._last, np.full(more, self._none))
        first = np.append(True, rank[1:] != rank[:-1])[: len(rank)]
        last = np.append(first[1:], True)[: len(rank)]
        before = np.where(first, self._last[rank], np.append(self._none, column[:-1])[: len(rank)])
        self._last[rank[last]] = column[last]
        return before


@kept
@dataclass(frozen=True, eq=False)
class TraceFile:
    """A file of a trace."""

    name: str  # as the program called it
    # What was asked for it, or what it had; nothing: the default of the file system.
    striping: StripeRequest = field(default_factory=StripeRequest)
    # Bytes that it holds when the job begins; -1 if unknown: then as many as the job reads of it,
    # unless the job creates it.
    size: int = -1
    mpi: bool = False  # whether it is opened through MPI-IO
    # Members of the communicator that opens it, int64 (members,), ascending; None: all ranks.
    ranks: Integers | None = None
    direct: bool = False  # whether it is opened with O_DIRECT
    shared_directory: bool = True  # whether its directory is also that of other ranks' files
    library: str = "POSIX"  # by which it was accessed: POSIX, MPI-IO, HDF5, PnetCDF


class Trace(ABC):
    """What the ranks of a job did to its files."""

    place: str = "the trace"  # what messages call it
    # Whether the striping of its files is what they had where the job ran: on a smaller file system
    # they lie on all OSTs. Else it is asked for, and must be possible.
    recorded: bool = False
    # What was wrong with what it was read from, and did not keep it from being read: sentences.
    warnings: tuple[str, ...] = ()
    nodes: int | None = None  # on how many nodes the job ran; None if unknown
    ppn: int | None = None  # ranks on a node; None if unknown

    @property
    @abstractmethod
    def ranks(self) -> int:
        """How many ranks the job had."""

    @property
    @abstractmethod
    def files(self) -> Sequence[TraceFile]:
        """The files, in the order of the column ``file``."""

    @abstractmethod
    def blocks(self) -> Iterable[TraceBlock]:
        """Return the rows, from the first; this can be asked for several times."""


class ListedTrace(Trace):
    """A trace whose blocks are in memory; the parameters are what it answers."""

    def __init__(
        self,
        ranks: int,
        files: Sequence[TraceFile],
        blocks: Sequence[TraceBlock],
        *,
        nodes: int | None = None,
        ppn: int | None = None,
    ) -> None:
        self._ranks, self._files, self._blocks = ranks, tuple(files), tuple(blocks)
        self.nodes, self.ppn = nodes, ppn

    @property
    def ranks(self) -> int:
        """How many ranks the job had."""
        return self._ranks

    @property
    def files(self) -> Sequence[TraceFile]:
        """The files, in the order of the column ``file``."""
        return self._files

    def blocks(self) -> Iterator[TraceBlock]:
        """Return the rows, from the first."""
        return iter(self._blocks)
