"""The points of a sweep: combinations of values, and the results of their runs by phase."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from xc40io.studies.record import RunRecord
from xc40io.studies.simulations import Ended


class PhaseTotal(NamedTuple):
    """A phase of a run, all its steps taken together."""

    bytes: int  # what all ranks moved in all steps (of IOR: in all repetitions)
    seconds: float  # from the first rank's begin to the last one's end, summed over the steps
    station: str  # that bound the phase, or the busiest
    busy: float  # the share of the time in which it was busy, 0 to 1
    wait: str  # what the ranks waited for longest
    items: float = 0.0  # files or directories, where the workload counts them (mdtest)

    @property
    def item_rate(self) -> float | None:
        """Items/s; None where none are counted."""
        return self.items / self.seconds if self.items and self.seconds > 0.0 else None

    @property
    def bandwidth(self) -> float | None:
        """Bytes/s; None where there are no bytes."""
        return self.bytes / self.seconds if self.bytes and self.seconds > 0.0 else None


def phase_totals(record: RunRecord) -> dict[str, PhaseTotal]:
    """Return the phases of a run by name, in the order in which they came first."""
    bounds = {bound.phase: bound for bound in record.bounds}
    totals = {}
    for name in dict.fromkeys(phase.name for phase in record.phases):
        steps = [phase for phase in record.phases if phase.name == name]
        bound = bounds.get(name)
        totals[name] = PhaseTotal(
            bytes=sum(step.bytes for step in steps),
            seconds=sum(step.seconds for step in steps),
            station="" if bound is None else bound.station,
            busy=0.0 if bound is None else bound.busy,
            wait="" if bound is None else bound.wait,
            items=sum(step.parts.get("items", 0.0) for step in steps),
        )
    return totals


@dataclass(frozen=True)
class Point:
    """A combination of values and the results of its runs."""

    values: Mapping[str, Any]  # by the paths of the axes
    ended: tuple[Ended, ...]  # for each seed the record of the run, or why there is none

    @cached_property
    def totals(self) -> tuple[dict[str, PhaseTotal], ...]:
        """For each seed the phases by name; none of a run that failed."""
        return tuple(
            phase_totals(ended) if isinstance(ended, RunRecord) else {} for ended in self.ended
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The values as they are printed."""
        return tuple(map(str, self.values.values()))

    @property
    def words(self) -> str:
        """The values as they are typed: ``striping.count=8, ior.b=1m``."""
        return ", ".join(f"{path}={value}" for path, value in self.values.items())

    def measured(self, phase: str, measure: Callable[[PhaseTotal], float | None]) -> list[float]:
        """Return a number of a phase for each seed that has it."""
        found = [measure(totals[phase]) for totals in self.totals if phase in totals]
        return [number for number in found if number is not None]


class PhaseFigure(NamedTuple):
    """What is shown of a phase: its items/s or its bandwidth, or its time where it has neither."""

    phase: str
    unit: str  # "items/s", "GB/s" (10^9 bytes) or "s"
    measure: Callable[[PhaseTotal], float | None]  # in this unit

    def of(self, point: Point) -> list[float]:
        """Return the numbers of a point, one for each seed that has it."""
        return point.measured(self.phase, self.measure)

    @property
    def head(self) -> str:
        """The phase with its unit."""
        return f"{self.phase} ({self.unit})"
