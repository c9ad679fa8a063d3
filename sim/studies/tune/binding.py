"""What bound the phases of a job with one setting and with another, and why that differs."""

from __future__ import annotations

from typing import NamedTuple

from sim.findings.waits import Wait
from sim.studies.compare.reasons import reason
from sim.studies.compare.side import PhaseOfSide
from sim.studies.ratio import Ratio, paired
from sim.studies.record import Bound, RunRecord


class Binding(NamedTuple):
    """One phase with two settings.

    Attributes
    ----------
    phase
        Its name.
    before, after
        What bound it: the end of a sentence that begins with the phase.
    why
        Why it takes more time, or less: sentences.
    """

    phase: str
    before: str
    after: str
    why: str


def bindings(before: RunRecord, after: RunRecord) -> tuple[Binding, ...]:
    """Return what bound each phase of two runs with the same seed, where both have it."""
    names = [bound.phase for bound in before.bounds]
    found = []
    for phase in dict.fromkeys(names):
        one, other = (_bound(record, phase) for record in (before, after))
        if one is not None and other is not None:
            ratio = paired([one.seconds], [other.seconds])
            why = reason(_side(0, one, None), _side(1, other, ratio), None)
            found.append(Binding(phase, one.sentence, other.sentence, why))
    return tuple(found)


def _bound(record: RunRecord, phase: str) -> Bound | None:
    return next((bound for bound in record.bounds if bound.phase == phase), None)


def _side(place: int, bound: Bound, ratio: Ratio | None) -> PhaseOfSide:
    """Return a phase as a comparison of two runs has it: the seconds of one seed."""
    waits = tuple(Wait(one.cause, one.words, one.seconds, one.share) for one in bound.waits)
    return PhaseOfSide(place, (bound.seconds,), 0, ratio, None, waits)
