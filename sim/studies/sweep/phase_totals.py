"""What a run came to in each of its phases, all steps of a phase taken together."""

from __future__ import annotations

from typing import NamedTuple

from sim.studies.record import RunRecord


class PhaseTotal(NamedTuple):
    """A phase of a run.

    Attributes
    ----------
    bytes
        What all ranks moved in all steps (of IOR: in all repetitions).
    seconds
        From the first rank's begin to the last one's end, summed over the steps.
    station, busy
        The station that bound the phase, or the busiest, and the share of the time in which it was
        busy, 0 to 1.
    wait
        What the ranks waited for longest.
    items
        How many files or directories it was about, where the workload counts them (mdtest).
    """

    bytes: int
    seconds: float
    station: str
    busy: float
    wait: str
    items: float = 0.0

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
