"""The counters of a module of Darshan, a table with a row for each record, and what they say.

A record is about one file and one rank; or, with the rank -1, about one file that all ranks opened:
its counters are then sums over all ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.config.kept import kept
from xc40io.engine.types import Floats, Integers
from xc40io.workloads.trace import TraceOp

SHARED = -1
"""The rank of a record that is about all ranks together."""

BIN_NAMES = (
    *("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M"),
    *("1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS"),
)
"""What Darshan calls its classes of sizes."""

_KIB, _MIB = 2**10, 2**20
_BIN_MOST = (
    *(most * _KIB for most in (1, 10, 100, 1024)),
    *(most * _MIB for most in (4, 10, 100, 1024)),
)
BIN_LOW = np.array([0, 101, *(1 + most for most in _BIN_MOST)])
"""The smallest size of each class, in bytes (DARSHAN_BUCKET_INC in darshan-common.h)."""

BIN_HIGH = np.append(BIN_LOW[1:] - 1, 2**40)
"""The largest size of each class, in bytes; the last class has none in Darshan."""

Direction = Literal["READ", "WRITE"]

Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Counters:
    """Records of a module."""

    prefix: str  # of the names of its counters: `POSIX`, `MPIIO`
    number: Numbers  # uint64 (records,): which file
    rank: Integers  # int64 (records,): which rank, or -1 for all
    integers: Integers  # (records, counters)
    floats: Floats  # (records, counters): seconds, those with `F_` in their names
    columns: dict[str, int]  # the column of each counter by its name without the prefix

    @staticmethod
    def of(
        prefix: str, number: Numbers, rank: Integers, tables: tuple[Any, Any], names: Sequence[str]
    ) -> Counters:
        """Make a table of what the reader found: names of all integers, then of all floats."""
        integers, floats = tables
        short = [name.removeprefix(f"{prefix}_") for name in names]
        width = integers.shape[1]
        columns = {name: at if at < width else at - width for at, name in enumerate(short)}
        return Counters(prefix, number, rank, integers, np.nan_to_num(floats), columns)

    def __len__(self) -> int:
        return len(self.number)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return one counter of all records, as in ``posix["BYTES_READ"]``; 0 if unknown."""
        column = self.columns.get(name)
        if column is None:
            return np.zeros(len(self), np.int64)
        table = self.floats if name.startswith("F_") else self.integers
        return np.asarray(table[:, column])

    def take(self, which: npt.NDArray[Any]) -> Counters:
        """Return some of the records."""
        rows = (self.number[which], self.rank[which], self.integers[which], self.floats[which])
        return Counters(self.prefix, *rows, self.columns)

    def joined(self, other: Counters) -> Counters:
        """Return the records of both; a counter that one of them lacks is 0 there."""
        if not len(other):
            return self
        names = list(dict.fromkeys((*self.columns, *other.columns)))
        whole = [name for name in names if not name.startswith("F_")]
        timed = [name for name in names if name.startswith("F_")]
        integers, floats = (
            np.stack([np.append(self[name], other[name]) for name in some], axis=1)
            for some in (whole, timed)
        )
        number, rank = np.append(self.number, other.number), np.append(self.rank, other.rank)
        columns = {name: at for some in (whole, timed) for at, name in enumerate(some)}
        return Counters(self.prefix, number, rank, integers, floats, columns)

    @cached_property
    def rows_of_file(self) -> dict[int, Integers]:
        """Which records are about each file: by its number, ascending."""
        order = np.argsort(self.number, kind="stable")
        numbers, first = np.unique(self.number[order], return_index=True)
        parts = np.split(order, first)[1:]
        return dict(zip(numbers.tolist(), parts, strict=True))

    def of_file(self, number: int) -> Counters:
        """Return the records of a file; none if there are none."""
        return self.take(self.rows_of_file.get(number, np.zeros(0, np.int64)))

    def members(self, ranks: int) -> Integers:
        """Return the ranks, of a job of so many, that the records are about: int64, ascending."""
        return np.arange(ranks) if (self.rank == SHARED).any() else np.unique(self.rank)

    def total(self, name: str) -> int:
        """Return the sum of a counter over all records."""
        return int(np.maximum(self[name], 0).sum())

    def seconds(self, name: str) -> float:
        """Return the sum of a counter of seconds over all records."""
        return float(np.maximum(self[name], 0.0).sum())

    def largest(self, name: str) -> int:
        """Return the largest value of a counter; 0 if there is no record."""
        return max(0, int(self[name].max(initial=0)))

    def window(self, what: str) -> tuple[float, float] | None:
        """Return when the first call of a kind began and when the last one ended.

        ``what`` is ``OPEN``, ``READ``, ``WRITE`` or ``CLOSE``; None if there was none. In seconds
        since the job began.
        """
        start, end = self[f"F_{what}_START_TIMESTAMP"], self[f"F_{what}_END_TIMESTAMP"]
        there = end > 0.0
        if not there.any():
            return None
        first = float(start[there].min())
        return max(0.0, first), max(first, float(end[there].max()))

    def bins(self, direction: Direction) -> Integers:
        """Return how many calls there are in each class of sizes: int64 (10,)."""
        start = f"SIZE_{direction}_{'' if self.prefix == 'POSIX' else 'AGG_'}"
        return np.array([self.total(start + name) for name in BIN_NAMES])

    def common(self, what: Literal["ACCESS", "STRIDE"]) -> dict[int, int]:
        """Return the most frequent sizes, or gaps from one call to the next: bytes to how often.

        For sizes: the sizes of reads and writes together.
        """
        found: dict[int, int] = {}
        for place in range(1, 5):
            sizes, counts = self[f"{what}{place}_{what}"], self[f"{what}{place}_COUNT"]
            for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
                if count > 0 and size >= 0:
                    found[size] = found.get(size, 0) + count
        return found


def bin_of(size: int) -> int:
    """Return the class that a size belongs to."""
    return int(np.searchsorted(BIN_LOW, size, side="right")) - 1


DIRECTIONS: tuple[tuple[Direction, TraceOp], ...] = (
    ("READ", TraceOp.READ),
    ("WRITE", TraceOp.WRITE),
)


class PosixCounts(NamedTuple):
    """Reads or writes of a record: how many, of how many bytes, and where the last one ended."""

    calls: int
    bytes: int
    extent: int
    seconds: float

    @property
    def took(self) -> float:
        """Seconds of a call on average."""
        return self.seconds / max(1, self.calls)


def counted(record: Counters, direction: Direction) -> PosixCounts:
    """Return the reads or writes that POSIX records count."""
    read = direction == "READ"
    size = record.total("BYTES_READ" if read else "BYTES_WRITTEN")
    largest = record.largest("MAX_BYTE_READ" if read else "MAX_BYTE_WRITTEN")
    return PosixCounts(
        record.total(f"{direction}S"),
        size,
        largest + 1 if size or largest else 0,
        record.seconds(f"F_{direction}_TIME"),
    )


class MpiCounts(NamedTuple):
    """Reads or writes through MPI-IO: calls, bytes, rank-seconds."""

    collective: int
    independent: int
    bytes: int
    seconds: float

    @property
    def calls(self) -> int:
        """All calls."""
        return self.collective + self.independent


def mpi_counted(record: Counters, direction: Direction) -> MpiCounts:
    """Return the reads or writes that MPI-IO records count; split ones are collective."""
    kind = f"{direction}S"
    return MpiCounts(
        record.total(f"COLL_{kind}") + record.total(f"SPLIT_{kind}"),
        record.total(f"INDEP_{kind}") + record.total(f"NB_{kind}"),
        record.total("BYTES_READ" if direction == "READ" else "BYTES_WRITTEN"),
        record.seconds(f"F_{direction}_TIME"),
    )


def active_ranks(record: Counters, ranks: int) -> Integers:
    """Return which ranks read or write, from the variance of their bytes: int64 (members,).

    With B bytes in all, k of R ranks that move B / k each and others that move none, the variance
    is B^2 / (k R) - (B / R)^2; k follows from what Darshan recorded. The slowest rank, of which the
    bytes are known, is one of them; the others are spread evenly.
    """
    total = record.total("BYTES_READ") + record.total("BYTES_WRITTEN")
    variance = float(record["F_VARIANCE_RANK_BYTES"].max(initial=0.0))
    mean = total / ranks
    members = ranks
    if total and np.isfinite(variance) and variance > 0.0:
        members = max(1, min(ranks, round(total**2 / (ranks * (variance + mean**2)))))
    chosen = np.arange(members) * ranks // members
    slowest = int(record["SLOWEST_RANK"][0]) if len(record) else 0
    if record.largest("SLOWEST_RANK_BYTES") and 0 <= slowest < ranks and slowest not in chosen:
        chosen[np.abs(chosen - slowest).argmin()] = slowest
    return np.sort(chosen)


@kept
class Layer(StrEnum):
    """Where calls were counted."""

    MPIIO = "MPI-IO"
    BELOW = "POSIX below"  # what MPI-IO made of them
    POSIX = "POSIX"


@kept
class Phase(StrEnum):
    """Kinds of calls. As in Darshan, syncs count as writes, and stats with opens and closes."""

    META = "open/meta"
    READ = "read"
    WRITE = "write"


@kept
@dataclass(frozen=True)
class Measured:
    """What the log, or a run, says of a phase of a layer."""

    calls: int
    bytes: int
    seconds: float  # of all ranks together
    ranks: int  # how many ranks that were
    span: float | None = None  # seconds from the first call's begin to the last one's end, if known


Table = dict[tuple[Layer, Phase], Measured]


def recorded(mpiio: Counters, posix: Counters, ranks: int) -> Table:
    """Return what the records of a file say, of MPI-IO and of POSIX; the job has ``ranks``."""
    found: Table = {}
    if len(mpiio):
        members = len(mpiio.members(ranks))
        opens = mpiio.total("COLL_OPENS") + mpiio.total("INDEP_OPENS")
        found |= _phases(Layer.MPIIO, mpiio, opens, members, members)
    if len(posix):
        shared = posix.take(posix.rank == SHARED)
        alone = np.unique(posix.rank[posix.rank != SHARED])
        active = np.union1d(alone, active_ranks(shared, ranks) if len(shared) else alone)
        opens = posix.total("OPENS") + posix.total("STATS")
        opened_by = ranks if len(shared) else max(1, len(alone))
        layer = Layer.BELOW if len(mpiio) else Layer.POSIX
        found |= _phases(layer, posix, opens, opened_by, len(active))
    return found


def _phases(layer: Layer, records: Counters, opens: int, opened_by: int, members: int) -> Table:
    """Return the phases of a layer: opens by some ranks, reads and writes by maybe fewer."""
    count = mpi_counted if layer is Layer.MPIIO else counted
    took = records.seconds("F_META_TIME")
    opened = Measured(opens, 0, took, opened_by, _span(records, "OPEN", "CLOSE"))
    found = {(layer, Phase.META): opened}
    for phase, (way, _) in zip((Phase.READ, Phase.WRITE), DIRECTIONS, strict=True):
        known, span = count(records, way), _span(records, way, way)
        found[layer, phase] = Measured(known.calls, known.bytes, known.seconds, members, span)
    return found


def _span(records: Counters, first: str, last: str) -> float | None:
    """Return the seconds from the begin of the first call of a kind to the end of the last one."""
    begin, end = records.window(first), records.window(last)
    if begin is None or end is None:
        return None
    return max(end[1] - begin[0], 0.0)
