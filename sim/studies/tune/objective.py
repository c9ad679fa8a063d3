"""What is to become small: the seconds of a job's I/O, or of its writes or its reads alone."""

from __future__ import annotations

from typing import Literal, TypeAlias

from sim.config.errors import InputError
from sim.studies.case import NO_CALLS
from sim.studies.record import RunRecord

Objective: TypeAlias = Literal["all", "write", "read"]

OBJECTIVES: tuple[Objective, ...] = ("all", "write", "read")

WORDS: dict[Objective, str] = {
    "all": "seconds of all phases of I/O, each from the first open to the last close",
    "write": "seconds of the writing phases, from the first open to the last close",
    "read": "seconds of the reading phases, from the first open to the last close",
}
"""What is minimised."""

OF_CALLS = "seconds of the calls, of each kind those of the rank that spent most time in them"
"""The same of a replay: its phases hold what the job computed, too."""


def phase_seconds(record: RunRecord, *, replay: bool) -> dict[str, float]:
    """Return the seconds of a run's phases of I/O by name, all repetitions together.

    Parameters
    ----------
    record
        What is kept of the run.
    replay
        Whether it replays a log: then of each kind of calls.
    """
    pairs = (
        [(phase.name, phase.seconds) for phase in record.phases if phase.name not in NO_CALLS]
        if replay
        else [(bound.phase, bound.seconds) for bound in record.bounds]
    )
    found: dict[str, float] = {}
    for name, seconds in pairs:
        found[name] = found.get(name, 0.0) + seconds
    return found


def counted(phase: str, objective: Objective) -> bool:
    """Tell whether a phase counts: ``write`` and ``posix write`` for ``write``."""
    return objective == "all" or objective in phase.lower().split()


def seconds_of_record(record: RunRecord, objective: Objective, *, replay: bool) -> float:
    """Return what is to become small.

    Raises
    ------
    InputError
        If the run has no phase that counts.
    """
    phases = phase_seconds(record, replay=replay)
    total = sum(seconds for name, seconds in phases.items() if counted(name, objective))
    if total <= 0.0:
        there = ", ".join(phases) or "none"
        raise InputError(
            f"--objective {objective}: the job has no such phase of I/O; its phases are: {there}"
        )
    return total


def bytes_of_record(record: RunRecord) -> int:
    """Return the bytes that a run moved, to tell whether two did the same work."""
    return sum(phase.bytes for phase in record.phases)
