"""What MPI-IO did to a file, in the manner of ``MPICH_MPIIO_STATS`` and ``MPICH_MPIIO_TIMERS``.

Cray's library prints one block of access counts for the writes to a file and one for the reads,
and, of the times, one for all ranks and one for those that wrote or read. The rows that Cray's
blocks do not have tell bytes and phases apart that the simulation knows apart; times are in
seconds, where Cray prints clock ticks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.config.units import GIB, MIB
from xc40io.engine.types import Floats
from xc40io.mpi.stats import AccessCounts, DirectionCounts, Timer

Direction = Literal["write", "read"]

_NARROW, _WIDE = 58, 76  # columns of Cray's blocks


class _Row(NamedTuple):
    """A row of the block of times: what it shows, and whether also if it is nothing."""

    label: str
    timer: Timer
    always: bool = True


_FIRST_ROWS = (
    _Row("open/close/trunc", Timer.OPEN),
    _Row("locks", Timer.LOCK, always=False),
    _Row("planning", Timer.PLAN),
    _Row("data exchange", Timer.EXCHANGE),
)
_LAST_ROWS = (
    _Row("independent", Timer.INDEPENDENT, always=False),
    _Row("sync", Timer.SYNC, always=False),
    _Row("library gathering", Timer.AGGREGATE, always=False),
    _Row("library metadata", Timer.METADATA, always=False),
)
_ROWS = {
    "write": (
        *_FIRST_ROWS,
        _Row("read-modify-write read", Timer.MODIFY_READ, always=False),
        _Row("raw file write", Timer.RAW_WRITE),
        _Row("wait for writers", Timer.FINISH),
        _Row("raw file read", Timer.RAW_READ, always=False),
        *_LAST_ROWS,
    ),
    "read": (
        *_FIRST_ROWS,
        _Row("raw file read", Timer.RAW_READ),
        _Row("wait for readers", Timer.FINISH),
        _Row("read-modify-write read", Timer.MODIFY_READ, always=False),
        _Row("raw file write", Timer.RAW_WRITE, always=False),
        *_LAST_ROWS,
    ),
}
_MOVING = {
    "write": (Timer.RAW_WRITE, Timer.INDEPENDENT),
    "read": (Timer.RAW_READ, Timer.INDEPENDENT),
}


def stats_text(name: str, counts: AccessCounts) -> str:
    """Return the blocks of access counts of a file: of its writes, and of its reads.

    ``name``: of the file. ``counts``: what was counted; a direction without a call has no block.
    """
    blocks = [
        _box(_stats_lines(name, counts, direction), _NARROW)
        for direction in ("write", "read")
        if _counted(counts, direction).independent + _counted(counts, direction).collective
    ]
    return "\n".join(blocks)


def timers_text(name: str, direction: Direction, counts: AccessCounts, timers: Floats) -> str:
    """Return the blocks of times of the writes to a file, or of the reads from it.

    Parameters
    ----------
    name
        Of the file.
    direction
        ``write`` or ``read``.
    counts
        What was counted, for the bandwidths.
    timers
        float64 (ranks, timers): the seconds by :class:`~xc40io.mpi.stats.Timer` that each rank
        spent on the file that was opened to be written, or to be read.
    """
    moving = timers[:, [int(timer) for timer in _MOVING[direction]]].sum(axis=1) > 0
    heading = f"MPIIO {direction} by phases, {{}}, for {name}"
    lines = [*_timers_lines(heading.format("all ranks"), direction, timers, moving), ""]
    blocks = [_box([*lines, *_rates(direction, counts, timers)], _WIDE)]
    if 0 < moving.sum() < len(moving):
        some = heading.format(f"{_agents(direction)} only")
        lines = list(_timers_lines(some, direction, timers[moving], moving[moving]))
        blocks.append(_box(lines, _WIDE))
    return "\n".join(blocks)


def _counted(counts: AccessCounts, direction: str) -> DirectionCounts:
    return counts.writes if direction == "write" else counts.reads


def _agents(direction: str) -> str:
    return "writers" if direction == "write" else "readers"


def _box(lines: Iterable[str], width: int) -> str:
    """Return lines in the frame of Cray's blocks."""
    rule = "+" + (width - 2) * "-" + "+"
    return "\n".join((rule, *(f"| {line}".rstrip() for line in lines), rule))


def _stats_lines(name: str, counts: AccessCounts, direction: str) -> Iterator[str]:
    """Print the access counts of one direction."""
    counted, noun = _counted(counts, direction), f"{direction}s"
    yield f"MPIIO {direction} access patterns for {name}"
    rows: list[tuple[str, object]] = [
        (f"independent {noun}", counted.independent),
        (f"collective {noun}", counted.collective),
        (f"independent {_agents(direction)}", len(counted.ranks)),
        ("aggregators", counts.aggregators),
        ("stripe count", counts.stripe_count),
        ("stripe size", counts.stripe_size),
        (f"system {noun}", counted.system),
        (f"stripe sized {noun}", counted.stripe_sized),
        ("aggregators active", _active(counts, counted)),
        (f"total bytes for {noun}", _bytes(counted.bytes)),
        (f"system {direction} bytes", _bytes(counted.system_bytes)),
        (f"ave system {direction} size", _mean(counted.system_bytes, counted.system)),
    ]
    if direction == "write":
        rows += [
            ("read-modify-write count", counted.modified),
            ("read-modify-write bytes", counted.rewritten_bytes),
            ("bytes read to modify", counted.modify_read_bytes),
        ]
    rows += [
        (f"number of {direction} gaps", counted.gaps),
        (f"ave {direction} gap size", _mean(counted.gap_bytes, counted.gaps)),
    ]
    for label, value in rows:
        yield f"  {label:<23} = {value}"


def _active(counts: AccessCounts, counted: DirectionCounts) -> str:
    """Print how many of the aggregators had anything to do in how many collective calls."""
    calls = ",".join(str(count) for count in counted.active.tolist())
    half = max(1, counts.aggregators // 2)
    return f"{calls} (1, <= {half}, > {half}, {counts.aggregators})"


def _bytes(size: int) -> str:
    """Print a size as Cray's library does: in bytes, and rounded in MiB and GiB if it is larger."""
    larger = [
        f"{size // unit} {name}" for unit, name in ((MIB, "MiB"), (GIB, "GiB")) if size >= unit
    ]
    return " = ".join([str(size), *larger])


def _mean(total: int, count: int) -> str:
    return str(total // count) if count else "NA"


def _timers_lines(
    heading: str, direction: Direction, timers: Floats, moving: npt.NDArray[np.bool_]
) -> Iterator[str]:
    """Print the times of some ranks: for each phase the least, the most, the mean, its share."""
    verb = "writing" if direction == "write" else "reading"
    yield heading
    yield f"  {f'ranks {verb}':<22} ={moving.sum():>12}"
    yield f"  {f'ranks not {verb}':<22} ={(~moving).sum():>12}"
    yield ""
    yield f"  {'seconds':<22}  {'min':>12}{'max':>12}{'ave':>12}"
    yield " " * 26 + 3 * "  ----------" + " ----"
    total = _total(timers)
    yield f"  {'total':<22} ={total:>36.6f}"
    yield ""
    for row in _ROWS[direction]:
        spent = timers[:, row.timer]
        if row.always or spent.any():
            yield _phase_line(row.label, spent, total)


def _phase_line(label: str, spent: Floats, total: float) -> str:
    """Print the least, the most and the mean of some seconds, and the mean's share of the total."""
    share = 100 * spent.mean() / total if total else 0.0
    figures = f"{spent.min():>12.6f}{spent.max():>12.6f}{spent.mean():>12.6f}"
    return f"  {label:<22} ={figures}{share:>4.0f}%"


def _total(timers: Floats) -> float:
    """Return the seconds that a rank spent in MPI-IO, on average."""
    return float(timers[:, Timer.NONE + 1 :].sum(axis=1).mean())


def _rates(direction: Direction, counts: AccessCounts, timers: Floats) -> Iterator[str]:
    """Print the bandwidths: of the aggregators' calls to the file system, and of all of MPI-IO.

    Like Cray's library by mean times: the first by that of the ranks that made such calls.
    """
    counted = _counted(counts, direction)
    raw_timer = Timer.RAW_WRITE if direction == "write" else Timer.RAW_READ
    raw = timers[:, raw_timer]
    seconds = float(raw[raw > 0].mean()) if raw.any() else 0.0
    for label, size, time in (
        (f"raw {direction} BW (MiB/s)", counted.system_bytes, seconds),
        (f"net {direction} BW (MiB/s)", counted.bytes, _total(timers)),
    ):
        rate = f"{size / MIB / time:.3f}" if time else "NA"
        yield f"  {label:<22} ={rate:>36}"
