"""The rows of a workload added up: one total for each kind of phase, and one for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sim.results.stations import merged
from sim.run.result import Result
from sim.workloads.job_results import Row

ALL = "all"
"""What the total of all phases is called."""


class Total(NamedTuple):
    """Some rows added up.

    Attributes
    ----------
    phase
        What was done; :data:`ALL` for all phases together.
    rows
        How many rows there are.
    seconds
        In which a rank was at it: times that several rows have in common count once.
    bytes
        Read or written.
    """

    phase: str
    rows: int
    seconds: float
    bytes: int

    @property
    def bandwidth(self) -> float | None:
        """Bytes/s over these seconds; None where there are no bytes."""
        return self.bytes / self.seconds if self.bytes and self.seconds > 0.0 else None


def totals(result: Result) -> list[Total]:
    """Return the total of each kind of phase, in the order in which they first came, and of all.

    There is none of a workload with an outcome of its own: the rows of a replay are totals already,
    of kinds of calls.
    """
    if not result.rows or result.outcome is not None:
        return []
    kinds: dict[str, list[Row]] = {}
    for row in result.rows:
        kinds.setdefault(row.phase, []).append(row)
    found = [_total(phase, rows) for phase, rows in kinds.items()]
    return [*found, _total(ALL, result.rows)]


def _total(phase: str, rows: Sequence[Row]) -> Total:
    times = merged([(row.start, row.end) for row in rows])
    seconds = sum(end - start for start, end in times)
    return Total(phase, len(rows), seconds, sum(row.bytes for row in rows))
