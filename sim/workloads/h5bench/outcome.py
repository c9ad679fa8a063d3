"""What the benchmarks of h5bench leave: the figures that they print."""

from __future__ import annotations

from dataclasses import dataclass

from sim.workloads.h5bench.benchmarks import Pattern, Stress


@dataclass(frozen=True, kw_only=True)
class PatternTimes:
    """What rank 0 has measured of a pattern; seconds."""

    size: int  # bytes of all ranks and time steps
    # in the calls that move data, and in those that make or open groups and datasets
    raw: float
    metadata: float
    # H5Fcreate or H5Fopen, H5Fflush (0 where nothing is written) and H5Fclose
    create: float
    flush: float
    close: float
    observed: float  # from the first call to the end of the last one


@dataclass(frozen=True, kw_only=True)
class StressTimes:
    """What the ranks of a metadata stress test have measured: least and most of them, seconds."""

    wall: float  # the whole test
    file_size: int  # bytes of the file
    # pairs: of the rank with the least and of that with the most
    write_phase: tuple[float, float]
    create: tuple[float, float]
    write: tuple[float, float]
    read_phase: tuple[float, float]
    read: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class FinishedBenchmark:
    """One benchmark that has run."""

    # as the configuration has them
    name: str
    file: str
    # what it did and what it measured; None of an exerciser, whose rows tell all
    task: Pattern | Stress | None
    times: PatternTimes | StressTimes | None
    csv_path: str | None  # where its figures are written to besides; None: nowhere
    rows: int  # how many rows of the table there were at its end


@dataclass(frozen=True, kw_only=True)
class H5benchOutcome:
    """A finished configuration: its benchmarks, in order."""

    benchmarks: tuple[FinishedBenchmark, ...]
