"""A row of the table of a workload: one phase of one step, and what it came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from sim.config.kept import kept


@kept
class Figure(NamedTuple):
    """One more number of a row, with its unit."""

    value: float
    unit: Literal["bytes", "seconds", "bytes/s", ""]


@kept
@dataclass(frozen=True, kw_only=True)
class Row:
    """A phase of a step.

    Attributes
    ----------
    step
        What the phase belongs to, as the workload calls it: ``3``, ``16 MiB``.
    phase
        What was done: ``open``, ``write``.
    start, end
        When the first rank began and when the last one ended, in simulated seconds.
    longest
        Seconds of the rank that took longest.
    bytes
        What all ranks together read or wrote; 0 where the phase moves no data of theirs.
    figures
        What else the workload tells, by name; the same names in all rows of one phase.
    part
        Place of the part of the workload that it belongs to, from 0: of the test in an IOR command.
    operations
        Calls/s, where the workload counts them.
    """

    step: str
    phase: str
    start: float
    end: float
    longest: float
    bytes: int = 0
    figures: Mapping[str, Figure] = field(default_factory=dict)
    part: int = 0
    operations: float = 0.0

    @property
    def seconds(self) -> float:
        """From the first rank's begin to the last one's end."""
        return self.end - self.start

    @property
    def bandwidth(self) -> float | None:
        """Bytes/s over this time; None where there are no bytes."""
        return self.bytes / self.seconds if self.bytes and self.seconds > 0.0 else None
