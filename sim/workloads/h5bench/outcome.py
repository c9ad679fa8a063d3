"""What the benchmarks of h5bench leave: the figures that they print."""

from __future__ import annotations

from dataclasses import dataclass

from sim.config.kept import kept
from sim.workloads.h5bench.pattern import Pattern
from sim.workloads.h5bench.stress import Stress


@kept
@dataclass(frozen=True, kw_only=True)
class PatternTimes:
    """What rank 0 has measured of a pattern; seconds.

    Attributes
    ----------
    size
        Bytes of all ranks and time steps.
    raw, metadata
        In the calls that move data, and in those that make or open groups and datasets.
    create, flush, close
        H5Fcreate or H5Fopen, H5Fflush (0 where nothing is written) and H5Fclose.
    observed
        From the first call to the end of the last one.
    """

    size: int
    raw: float
    metadata: float
    create: float
    flush: float
    close: float
    observed: float


@kept
@dataclass(frozen=True, kw_only=True)
class StressTimes:
    """What the ranks of a metadata stress test have measured: least and most of them, seconds.

    Attributes
    ----------
    wall
        The whole test.
    file_size
        Bytes of the file.
    write_phase, create, write, read_phase, read
        Pairs: of the rank with the least and of that with the most.
    """

    wall: float
    file_size: int
    write_phase: tuple[float, float]
    create: tuple[float, float]
    write: tuple[float, float]
    read_phase: tuple[float, float]
    read: tuple[float, float]


@kept
@dataclass(frozen=True, kw_only=True)
class FinishedBenchmark:
    """One benchmark that has run.

    Attributes
    ----------
    name, file
        As the configuration has them.
    task, times
        What it did and what it measured; None of an exerciser, whose rows tell all.
    csv_path
        Where its figures are written to besides; None: nowhere.
    rows
        How many rows of the table there were at its end.
    """

    name: str
    file: str
    task: Pattern | Stress | None
    times: PatternTimes | StressTimes | None
    csv_path: str | None
    rows: int


@kept
@dataclass(frozen=True, kw_only=True)
class H5benchOutcome:
    """A finished configuration: its benchmarks, in order."""

    benchmarks: tuple[FinishedBenchmark, ...]
