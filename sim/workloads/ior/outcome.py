"""What only IOR leaves of a run: its tests, the clock readings of their phases, and its numbers.

In a phase every rank reads the clock six times: around the open, around its transfers (with the
final fsync of ``-e``) and around the close. IOR takes the earliest start and the latest end of each
part of a phase over all ranks, so that the bandwidth counts the whole phase, from the first open to
the last close. The rules are from ReduceIterResults and bw_ops_values in IOR 4.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xc40io.config.kept import kept
from xc40io.machine.filesystem import FileSet
from xc40io.workloads.ior.options import IorCommand
from xc40io.workloads.ior.parameters import Access, IorTest
from xc40io.workloads.job_results import Figure, Row, Stretch

if TYPE_CHECKING:
    from xc40io.mpi.stats import MpiRecord

_Times = NDArray[np.float64]


@kept
@dataclass(frozen=True)
class Stonewall:
    """What had been moved when the deadline (``-D``) stopped the ranks.

    Only with ``stoneWallingWearOut``, where the ranks then go on until all have made as many calls
    as the fastest.
    """

    time: float  # seconds from the start of the transfers until rank 0 stopped
    # calls of the slowest and of the fastest rank by then
    calls_min: int
    calls_max: int
    # bytes of the slowest rank, and of all ranks on average
    bytes_min: int
    bytes_mean: int


@kept
@dataclass(frozen=True, kw_only=True)
class Removal:
    """The removal of the files of one repetition."""

    repetition: int  # counted from 0
    seconds: float  # from when all ranks begin until the last one is done


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class PhaseRecord:
    """One phase of one repetition, as the simulator hands it over."""

    access: Access  # what the phase did
    repetition: int  # counted from 0
    # float64[ranks]: the readings of each rank, in seconds of one common clock
    open_start: _Times
    open_end: _Times
    io_start: _Times
    io_end: _Times
    close_start: _Times
    close_end: _Times
    calls: NDArray[np.int64]  # int64[ranks]: transfers that each rank made
    bytes_moved: int  # bytes that all ranks moved together
    # from the first open to the last close, and what the ranks waited for meanwhile
    stretch: Stretch
    stonewall: Stonewall | None = None  # the state at the deadline, if the ranks then wore on
    mpi: MpiRecord | None = None  # what MPI-IO has to tell of the file, if it took part


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class FinishedTest:
    """One test of an IOR command."""

    test: IorTest  # what was asked
    tasks: int  # how many ranks took part
    started: float  # when it began, in simulated seconds
    records: tuple[PhaseRecord, ...]  # what the ranks noted in each phase, in order
    files: FileSet  # the files of the latest phase
    removals: tuple[Removal, ...] = ()  # of the files, after each repetition, unless they were kept


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class IorOutcome:
    """A finished IOR command."""

    command: IorCommand  # as it was understood
    tests: tuple[FinishedTest, ...]  # in the order of the command


@dataclass(frozen=True)
class IorRow:
    """One line of IOR's Results table; times in seconds."""

    access: Access  # what the phase did
    repetition: int  # counted from 0
    bandwidth: float  # bytes a second, from the first open to the last close
    iops: float  # calls a second, from the first transfer's start to the last one's end
    latency: float  # mean time of a call of the rank for which it is smallest
    # from the earliest start to the latest end of each part, and of the whole
    open: float
    io: float
    close: float
    total: float
    # of all ranks together
    bytes_moved: int
    calls: int
    stonewall: Stonewall | None = None  # as in the record


@dataclass(frozen=True)
class Spread:
    """Largest, smallest and mean of a number over the repetitions, and its deviation.

    The standard deviation is that of the repetitions themselves (divided by their number, not by
    one less).
    """

    largest: float
    smallest: float
    mean: float
    deviation: float


@dataclass(frozen=True)
class IorSummary:
    """One line of IOR's summary: all repetitions of one access of one test."""

    access: str  # "write" or "read"
    bandwidth: Spread  # bytes a second
    # calls a second over the whole phase, open and close included (unlike IorRow.iops)
    operations: Spread
    mean_time: float  # mean of the phases' total times, s
    bytes_moved: int  # in the first repetition
    # mean time until the deadline stopped rank 0, s; None without wear-out
    stonewall_time: float | None
    # bytes a second of one rank until then; None without wear-out
    stonewall_bandwidth: float | None


def reduce(record: PhaseRecord) -> IorRow:
    """Reduce one phase over its ranks."""
    starts = record.open_start.min(), record.io_start.min(), record.close_start.min()
    ends = record.open_end.max(), record.io_end.max(), record.close_end.max()
    opened, moved, closed = (float(end - start) for start, end in zip(starts, ends, strict=True))
    total = float(ends[2] - starts[0])
    calls = int(record.calls.sum())
    busy = record.calls > 0
    durations = (record.io_end - record.io_start)[busy] / record.calls[busy]
    return IorRow(
        access=record.access,
        repetition=record.repetition,
        bandwidth=_rate(record.bytes_moved, total),
        iops=_rate(calls, moved),
        latency=float(durations.min()) if durations.size else 0.0,
        open=opened,
        io=moved,
        close=closed,
        total=total,
        bytes_moved=record.bytes_moved,
        calls=calls,
        stonewall=record.stonewall,
    )


def row_of(record: PhaseRecord, part: int) -> Row:
    """Return a phase as any workload tells of it; ``part`` is the place of the test, from 0."""
    row = reduce(record)
    return Row(
        step=str(row.repetition),
        phase=row.access.value,
        start=float(record.open_start.min()),
        end=float(record.close_end.max()),
        longest=float((record.close_end - record.open_start).max()),
        bytes=row.bytes_moved,
        figures={
            "open": Figure(row.open, "seconds"),
            "io": Figure(row.io, "seconds"),
            "close": Figure(row.close, "seconds"),
        },
        part=part,
        operations=row.iops,
    )


def summarise(rows: Sequence[IorRow]) -> tuple[IorSummary, ...]:
    """Summarise the repetitions of one test, writes before reads.

    Reads that verify (``-R``) count as reads; the re-reading of ``-W`` is not timed by IOR and
    does not appear.
    """
    kinds = {
        "write": [row for row in rows if row.access is Access.WRITE],
        "read": [row for row in rows if row.access in (Access.READ, Access.READ_CHECK)],
    }
    return tuple(_summary(kind, chosen) for kind, chosen in kinds.items() if chosen)


def _summary(access: str, rows: list[IorRow]) -> IorSummary:
    walls = [row.stonewall for row in rows if row.stonewall is not None]
    wall_time = math.fsum(wall.time for wall in walls)
    return IorSummary(
        access=access,
        bandwidth=_spread([row.bandwidth for row in rows]),
        operations=_spread([_rate(row.calls, row.total) for row in rows]),
        mean_time=_mean([row.total for row in rows]),
        bytes_moved=rows[0].bytes_moved,
        stonewall_time=wall_time / len(rows) if walls else None,
        stonewall_bandwidth=_rate(sum(w.bytes_mean for w in walls), wall_time) if walls else None,
    )


def _spread(values: list[float]) -> Spread:
    mean = _mean(values)
    deviation = math.sqrt(_mean([(value - mean) ** 2 for value in values]))
    return Spread(max(values), min(values), mean, deviation)


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def _rate(amount: int, seconds: float) -> float:
    """Amount a second; infinite where no time passed, 0 where nothing happened."""
    if amount == 0:
        return 0.0
    return amount / seconds if seconds > 0.0 else math.inf
