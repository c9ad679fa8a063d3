"""Where the time of the ranks went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sim.engine.types import Floats
from sim.findings.causes import AT_WORDS, NEXT_PHASE, OTHER_RANKS, WORDS
from sim.plane.causes import Cause
from sim.run.result import Result
from sim.workloads.job_results import Stretch


@dataclass(frozen=True)
class Wait:
    """What the ranks waited for."""

    cause: str  # in lower case: ``disk``; ``next_phase`` for the time between phases, and of what
    # ranks were at, ``other_ranks`` for the time until the last had ended
    words: str  # the same for a person
    seconds: float  # of a rank, on average
    share: float  # of the whole time, 0 to 1


def waits(result: Result) -> list[Wait]:
    """Return what the ranks waited for in a run, longest first; the shares add up to 1."""
    stretches = [stretch for activity in result.activities for stretch in activity.stretches]
    seconds = _total(stretch.waits for stretch in stretches) if stretches else result.waits.mean(0)
    return _longest_first(WORDS, seconds, result.simulated, NEXT_PHASE)


def doing(result: Result) -> list[Wait]:
    """Return what the ranks were doing in a run while they waited, longest first."""
    stretches = [stretch for activity in result.activities for stretch in activity.stretches]
    return phase_doing(stretches, sum(stretch.end - stretch.start for stretch in stretches))


def phase_waits(stretches: Sequence[Stretch], seconds: float) -> list[Wait]:
    """Return what the ranks waited for in stretches, longest first; ``seconds`` in all."""
    return _longest_first(WORDS, _total(stretch.waits for stretch in stretches), seconds)


def phase_doing(stretches: Sequence[Stretch], seconds: float) -> list[Wait]:
    """Return what the ranks were doing in such stretches while they waited, longest first."""
    doing = _total(stretch.doing for stretch in stretches)
    return _longest_first(AT_WORDS, doing, seconds, OTHER_RANKS)


def _total(parts: Iterable[Floats]) -> Floats:
    """Return the sum of seconds by cause."""
    total: Floats = np.sum(list(parts), axis=0)
    return total


def _longest_first(
    words: Mapping[Cause, str],
    by_cause: Floats,
    total: float,
    rest: tuple[str, str] | None = None,
) -> list[Wait]:
    """Arrange seconds by cause; what is left of the total may have a name and words of its own."""
    seconds = {(cause.name.lower(), said): float(by_cause[cause]) for cause, said in words.items()}
    if rest is not None:
        seconds[rest] = max(total - sum(seconds.values()), 0.0)
    found = [
        Wait(cause, said, value, value / total)
        for (cause, said), value in seconds.items()
        if value > 0.0
    ]
    return sorted(found, key=lambda wait: -wait.seconds)
