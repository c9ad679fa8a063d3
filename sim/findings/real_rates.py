"""Where real runs would lie: each kind of phase of a run, with its rate and the interval around."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xc40io.findings.bottlenecks import merged
from xc40io.run.result import Result
from xc40io.trust.how_sure import Interval
from xc40io.trust.sureness import Sureness, Write, mebibytes, per_second, rate, span
from xc40io.workloads.catalogue import PROGRAMS
from xc40io.workloads.job_results import Row, phase_title


class PhaseRows(NamedTuple):
    """The rows of one kind of phase, and the seconds in which any rank was at it."""

    part: int
    phase: str
    title: str
    rows: Sequence[Row]
    seconds: float
    bytes: int

    @property
    def rate(self) -> float:
        """Bytes/s over this time; 0 where there are no bytes."""
        return self.bytes / self.seconds if self.seconds > 0.0 else 0.0

    @property
    def operations(self) -> float:
        """Calls a second, the mean of the rows; 0 where they are not counted."""
        return sum(row.operations for row in self.rows) / len(self.rows)


class RealRate(NamedTuple):
    """A rate of a run, and where nine of ten real runs would lie."""

    part: int
    phase: str
    title: str
    rate: float
    unit: str  # bytes/s or operations/s
    real: Interval
    words: str  # the interval as the workload's own program writes rates


def phase_rows(result: Result) -> list[PhaseRows]:
    """Return the rows of each kind of phase of a run."""
    several = len({row.part for row in result.rows}) > 1
    found: dict[tuple[int, str], list[Row]] = {}
    for row in result.rows:
        found.setdefault((row.part, row.phase), []).append(row)
    return [
        added(rows, part, phase, phase_title(part, phase, several=several))
        for (part, phase), rows in found.items()
    ]


def added(rows: Sequence[Row], part: int, phase: str, title: str) -> PhaseRows:
    """Return rows added up; times that several have in common count once."""
    times = merged([(row.start, row.end) for row in rows])
    seconds = sum(end - start for start, end in times)
    return PhaseRows(part, phase, title, rows, seconds, sum(row.bytes for row in rows))


def real_rates(result: Result) -> Iterator[RealRate]:
    """Yield the rates of a run that real ones were held against, each with its interval."""
    sureness = Sureness(result.scenario, result.traits)
    program = PROGRAMS.get(result.workload.name)
    of_bytes: Write = mebibytes if program and program.in_mebibytes else rate
    for rows in phase_rows(result):
        write: Write
        if sureness.is_metadata(rows.phase):
            value, unit, write = rows.operations, "operations/s", per_second
        else:
            value, unit, write = rows.rate, "bytes/s", of_bytes
        real = sureness.interval(rows.phase, value)
        if real is not None:
            words = span(real, write)
            yield RealRate(rows.part, rows.phase, rows.title, value, unit, real, words)
