"""From the clock readings of all ranks to the numbers that IOR reports.

IOR takes the earliest start and the latest end of each part of a phase over all ranks, so that
the bandwidth counts the whole phase, from the first open to the last close.
The rules are those of ReduceIterResults and bw_ops_values in IOR 4.1 (mechanisms, section 8).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sim.workloads.ior.parameters import Access
from sim.workloads.ior.phases import PhaseRecord, Stonewall
from sim.workloads.job_results import Figure, Row


@dataclass(frozen=True)
class IorRow:
    """One line of IOR's Results table; times in seconds.

    Attributes
    ----------
    access
        What the phase did.
    repetition
        Counted from 0.
    bandwidth
        Bytes a second, from the first open to the last close.
    iops
        Calls a second, from the first transfer's start to the last one's end.
    latency
        Mean time of a call of the rank for which it is smallest.
    open, io, close, total
        From the earliest start to the latest end of each part, and of the whole.
    bytes_moved, calls
        Of all ranks together.
    stonewall
        As in the record.
    """

    access: Access
    repetition: int
    bandwidth: float
    iops: float
    latency: float
    open: float
    io: float
    close: float
    total: float
    bytes_moved: int
    calls: int
    stonewall: Stonewall | None = None


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
    """One line of IOR's summary: all repetitions of one access of one test.

    Attributes
    ----------
    access
        ``"write"`` or ``"read"``.
    bandwidth
        Bytes a second.
    operations
        Calls a second over the whole phase, open and close included (unlike ``IorRow.iops``).
    mean_time
        Mean of the phases' total times, s.
    bytes_moved
        In the first repetition.
    stonewall_time
        Mean time until the deadline stopped rank 0, s; None without wear-out.
    stonewall_bandwidth
        Bytes a second of one rank until then; None without wear-out.
    """

    access: str
    bandwidth: Spread
    operations: Spread
    mean_time: float
    bytes_moved: int
    stonewall_time: float | None
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
