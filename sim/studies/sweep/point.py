"""A point of a sweep: a combination of values, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sim.studies.record import RunRecord
from sim.studies.simulations import Ended
from sim.studies.sweep.phase_totals import PhaseTotal, phase_totals


@dataclass(frozen=True)
class Point:
    """A combination of values, and what came of its runs.

    Attributes
    ----------
    values
        By the paths of the axes.
    ended
        For each seed the record of the run, or why there is none.
    """

    values: Mapping[str, Any]
    ended: tuple[Ended, ...]

    @cached_property
    def totals(self) -> tuple[dict[str, PhaseTotal], ...]:
        """For each seed the phases by name; none of a run that failed."""
        return tuple(
            phase_totals(ended) if isinstance(ended, RunRecord) else {} for ended in self.ended
        )

    def measured(self, phase: str, measure: Callable[[PhaseTotal], float | None]) -> list[float]:
        """Return a number of a phase for each seed that has it."""
        found = [measure(totals[phase]) for totals in self.totals if phase in totals]
        return [number for number in found if number is not None]
