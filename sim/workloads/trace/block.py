"""A trace in memory: which rank did what to which file, in what order.

A trace may be longer than memory: it is a sequence of *blocks*, each a table of rows in columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.config.kept import kept
from sim.config.striping import StripeRequest
from sim.engine.types import Floats, Indices, Integers

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
    """Rows of any ranks, mixed in any way; each rank's rows in the order in which it did them.

    Attributes
    ----------
    rank
        int32 (rows,): whose row it is.
    op
        int8: a :class:`TraceOp`.
    file
        int32: position in the files of the trace; -1 where the operation has none.
    offset, length
        int64: of a read or write, in bytes; 0 for other operations.
    start
        float64: seconds since the job began at which the call began; NaN if unknown.
    think
        float64: seconds for which the rank computed before the call; NaN if unknown.
    coll
        int64: -1 for what a rank does by itself, else the number of a collective call: the rows of
        all ranks that are one collective call carry the same number. A rank may have several rows
        in it, one for each piece of the file that it accesses; a rank of the file's communicator
        without a row takes part with nothing. For OPEN, CREATE and CLOSE too.
    mpi
        int8: 1 for a call of MPI-IO, collective if ``coll`` is a number; 0 for a POSIX call.
    """

    rank: Indices
    op: Bytes8
    file: Indices
    offset: Integers
    length: Integers
    start: Floats
    think: Floats
    coll: Integers
    mpi: Bytes8


_LAYOUT: dict[str, tuple[Any, float | None]] = {  # type, and what it is unless given
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


def make_block(**columns: npt.ArrayLike) -> TraceBlock:
    """Return a block of columns, each of shape (rows,) or a scalar for all rows.

    ``rank`` and ``op`` must be given; the others are independent POSIX calls on no file, of no
    bytes, at unknown times unless given.
    """
    given = {name: columns.get(name, default) for name, (_, default) in _LAYOUT.items()}
    arrays = np.broadcast_arrays(*(np.atleast_1d(np.asarray(value)) for value in given.values()))
    kinds = (kind for kind, _ in _LAYOUT.values())
    cast: list[Any] = [array.astype(kind) for array, kind in zip(arrays, kinds, strict=True)]
    return TraceBlock(*cast)


def take_rows(block: TraceBlock, which: npt.NDArray[Any] | slice) -> TraceBlock:
    """Return some rows of a block: by mask, by position or as a slice."""
    columns: list[Any] = [column[which] for column in block]
    return TraceBlock(*columns)


def join_blocks(blocks: Sequence[TraceBlock]) -> TraceBlock:
    """Return the rows of blocks, one block after the other."""
    if not blocks:
        return make_block(rank=np.zeros(0), op=np.zeros(0))
    joined: list[Any] = [np.concatenate(columns) for columns in zip(*blocks, strict=True)]
    return TraceBlock(*joined)


@kept
@dataclass(frozen=True, eq=False)
class TraceFile:
    """A file of a trace.

    Attributes
    ----------
    name
        As the program called it.
    striping
        What was asked for it, or what it had; nothing: the default of the file system.
    size
        Bytes that it holds when the job begins; -1 if unknown: then as many as the job reads of
        it, unless the job creates it.
    mpi
        Whether it is opened through MPI-IO.
    ranks
        int64 (members,): the ranks of the communicator that opens it, ascending; None: all.
    direct
        Whether it is opened with O_DIRECT.
    shared_directory
        Whether its directory is also that of other ranks' files.
    library
        Through what the program accessed it: ``POSIX``, ``MPI-IO``, ``HDF5``, ``PnetCDF``.
    """

    name: str
    striping: StripeRequest = field(default_factory=StripeRequest)
    size: int = -1
    mpi: bool = False
    ranks: Integers | None = None
    direct: bool = False
    shared_directory: bool = True
    library: str = "POSIX"


class Trace(ABC):
    """What the ranks of a job did to its files.

    Attributes
    ----------
    place
        What messages call it.
    recorded
        Whether the striping of its files is what they had where the job ran: on a smaller file
        system they lie on all OSTs. Else it is asked for, and must be possible.
    warnings
        What was wrong with what it was read from, and did not keep it from being read: sentences.
    """

    place: str = "the trace"
    recorded: bool = False
    warnings: tuple[str, ...] = ()

    @property
    @abstractmethod
    def ranks(self) -> int:
        """How many ranks the job had."""

    @property
    @abstractmethod
    def files(self) -> Sequence[TraceFile]:
        """The files, in the order of the column ``file``."""

    @property
    def rows(self) -> int | None:
        """How many rows there are; None if that is not known before they have been read."""
        return None

    @property
    def nodes(self) -> int | None:
        """On how many nodes the job ran; None if unknown."""
        return None

    @property
    def ppn(self) -> int | None:
        """How many ranks there were on a node; None if unknown."""
        return None

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
        self._nodes, self._ppn = nodes, ppn

    @property
    def ranks(self) -> int:
        """How many ranks the job had."""
        return self._ranks

    @property
    def files(self) -> Sequence[TraceFile]:
        """The files, in the order of the column ``file``."""
        return self._files

    @property
    def rows(self) -> int | None:
        """How many rows there are."""
        return sum(len(block.rank) for block in self._blocks)

    @property
    def nodes(self) -> int | None:
        """On how many nodes the job ran; None if unknown."""
        return self._nodes

    @property
    def ppn(self) -> int | None:
        """How many ranks there were on a node; None if unknown."""
        return self._ppn

    def blocks(self) -> Iterator[TraceBlock]:
        """Return the rows, from the first."""
        return iter(self._blocks)
