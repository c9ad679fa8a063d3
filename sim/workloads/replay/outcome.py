"""What a replay leaves: the seconds that ranks spent in their calls, by file and kind of call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.config.kept import kept
from xc40io.engine.types import Floats, Integers
from xc40io.mpi.stats import AccessCounts
from xc40io.workloads.replay.intake import COLLECTIVE, INDEPENDENT, POSIX, Totals
from xc40io.workloads.trace import TraceFile, TraceOp

PARTS = 16
"""Parts of a call that are told apart: the parts of :class:`~xc40io.mpi.stats.Timer`."""


class Call(IntEnum):
    """Kinds of calls, as a program makes them and as Darshan tells them apart."""

    POSIX_META = 0  # open, create, close, stat, unlink, mkdir
    POSIX_READ = 1
    POSIX_WRITE = 2
    POSIX_SYNC = 3
    MPI_META = 4  # MPI_File_open, MPI_File_close
    MPI_READ = 5  # independent
    MPI_WRITE = 6
    MPI_COLL_READ = 7
    MPI_COLL_WRITE = 8
    MPI_SYNC = 9
    COMPUTE = 10  # between calls; on no file
    BARRIER = 11  # on no file


MPI_CALLS = tuple(call for call in Call if call.name.startswith("MPI"))
"""Calls of MPI-IO."""

_CALLS = 16
NO_FILE = -1


def code_of(
    file: Integers | int, call: npt.ArrayLike, part: npt.ArrayLike = 0
) -> npt.NDArray[np.int64]:
    """Return a number for the part of a call of a file: int64."""
    code = (np.asarray(file, np.int64) - NO_FILE) * _CALLS + np.asarray(call)
    whole: npt.NDArray[np.int64] = (code * PARTS + np.asarray(part)).astype(np.int64)
    return whole


@kept
class Spent(NamedTuple):
    """Seconds that ranks spent: a row for each rank, file and part of a call, int64 and float64."""

    rank: Integers
    file: Integers
    call: Integers
    part: Integers
    seconds: Floats


class Times:
    """Adds up what so many ranks spent."""

    _MERGE = 1 << 20

    def __init__(self, ranks: int) -> None:
        self._ranks = ranks
        self._keys: list[Integers] = []
        self._seconds: list[Floats] = []
        self._waiting = 0

    def add(self, rank: Integers | int, codes: Integers, seconds: Floats) -> None:
        """Add seconds that ranks spent, each with the code of what they were spent for."""
        self._keys.append(codes * self._ranks + rank)
        self._seconds.append(seconds)
        self._waiting += len(codes)
        if self._waiting > self._MERGE:
            self._merge()

    def spent(self) -> Spent:
        """Return all of it, sorted by file, call, part and rank."""
        self._merge()
        code, rank = np.divmod(self._keys[0], self._ranks)
        code, part = np.divmod(code, PARTS)
        file, call = np.divmod(code, _CALLS)
        return Spent(rank, file + NO_FILE, call, part, self._seconds[0])

    def _merge(self) -> None:
        keys = np.concatenate([np.zeros(0, np.int64), *self._keys])
        found, inverse = np.unique(keys, return_inverse=True)
        seconds = np.concatenate([np.zeros(0), *self._seconds])
        self._keys = [found]
        self._seconds = [np.bincount(inverse, seconds, len(found)).astype(np.float64)]
        self._waiting = 0


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class ReplayOutcome:
    """What a replay leaves."""

    files: Sequence[TraceFile]  # of the trace; the columns `file` count in them
    totals: Totals  # what the trace amounts to: calls and bytes
    # What the ranks spent in their calls. A collective call is told by parts (`Timer`): planning,
    # exchange, the aggregators' own reads and writes.
    spent: Spent
    # What MPI-IO counted of the files that were accessed collectively, by position in `files`: what
    # the aggregators asked of the file system, read-modify-writes.
    mpi: Mapping[int, AccessCounts]
    start: float  # when the job began, in simulated seconds
    end: Floats  # float64 (ranks,): when each rank had done everything

    @property
    def seconds(self) -> float:
        """From the beginning of the job to the end of its last rank."""
        return float(self.end.max(initial=self.start)) - self.start

    def seconds_in(self, call: Call) -> Floats:
        """Return what each rank spent in calls of a kind: float64 (ranks,), in seconds."""
        spent = self.spent
        which = spent.call == call
        seconds = np.bincount(spent.rank[which], spent.seconds[which], len(self.end))
        return seconds.astype(np.float64)  # of no calls, NumPy answers integers


_DATA = (TraceOp.READ, TraceOp.WRITE, TraceOp.FSYNC)
_META = tuple(op for op in TraceOp if op < TraceOp.COMPUTE and op not in _DATA)

_COUNTED: dict[Call, tuple[tuple[TraceOp, ...], tuple[int, ...]]] = {
    Call.POSIX_META: (_META, (POSIX,)),
    Call.POSIX_READ: ((TraceOp.READ,), (POSIX,)),
    Call.POSIX_WRITE: ((TraceOp.WRITE,), (POSIX,)),
    Call.POSIX_SYNC: ((TraceOp.FSYNC,), (POSIX,)),
    Call.MPI_META: (_META, (INDEPENDENT, COLLECTIVE)),
    Call.MPI_READ: ((TraceOp.READ,), (INDEPENDENT,)),
    Call.MPI_WRITE: ((TraceOp.WRITE,), (INDEPENDENT,)),
    Call.MPI_COLL_READ: ((TraceOp.READ,), (COLLECTIVE,)),
    Call.MPI_COLL_WRITE: ((TraceOp.WRITE,), (COLLECTIVE,)),
    Call.MPI_SYNC: ((TraceOp.FSYNC,), (INDEPENDENT, COLLECTIVE)),
}


def counted(outcome: ReplayOutcome, call: Call, file: int | None = None) -> tuple[int, int]:
    """Return how many calls of a kind there are, of all files or of one, and their bytes."""
    if call not in _COUNTED:
        return 0, 0
    ops, ways = _COUNTED[call]
    files = slice(None) if file is None else slice(file, file + 1)
    listed = [int(op) for op in ops]

    def total(table: Integers) -> int:
        return int(table[files][:, listed][:, :, list(ways)].sum())

    return total(outcome.totals.calls), total(outcome.totals.bytes)
