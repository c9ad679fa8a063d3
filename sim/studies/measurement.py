"""The numbers that a comparison keeps of a run: times, bytes, its bottleneck and its waits.

It is small, so that it travels quickly from the process that made the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from xc40io.findings.bottlenecks import Load, loads
from xc40io.run.result import Result
from xc40io.studies.case import Case, Phase, seconds_of


@dataclass(frozen=True)
class Measurement:
    """One kind of phase of one run."""

    seconds: float  # it took so long, all its repetitions together
    bytes: int  # what all ranks read or wrote in them; 0 where they moved nothing
    # what bound it, and what the ranks waited for; None for one kind of a replay's calls
    load: Load | None
    osts: int = 0  # OSTs that hold any file of the job
    items: float = 0.0  # files or directories that they were about, where these are counted


class MeasuredRun(NamedTuple):
    """A run."""

    phases: Mapping[Phase, Measurement]  # its kinds of phases
    # what went wrong, a sentence each: bytes that found no room, or that were lost
    troubles: tuple[str, ...]


def measure(case: Case) -> MeasuredRun:
    """Make a run; return its measurements."""
    return measured(case.run())


def measured(results: Mapping[str, Result]) -> MeasuredRun:
    """Return the phases and troubles of jobs that have run, by job; the only one has no name."""
    troubles = tuple(
        f"job {job}: {trouble.text}" if job else trouble.text
        for job, result in results.items()
        for trouble in result.troubles
    )
    return MeasuredRun(_phases(results), troubles)


def _phases(results: Mapping[str, Result]) -> dict[Phase, Measurement]:
    """Return the kinds of phases of jobs."""
    found: dict[Phase, Load] = {}
    moved: dict[Phase, int] = {}
    items: dict[Phase, float] = {}
    osts = {job: len(result.allocation.all_osts) for job, result in results.items()}
    for job, result in results.items():
        found |= {Phase(job, load.test_id, load.access): load for load in loads(result)}
        for row in result.rows:
            phase = Phase(job, row.part, row.phase)
            moved[phase] = moved.get(phase, 0) + row.bytes
            if "items" in row.figures:
                items[phase] = items.get(phase, 0.0) + row.figures["items"].value
    return {
        phase: Measurement(
            seconds,
            moved.get(phase, 0),
            found.get(phase),
            osts[phase.job],
            items.get(phase, 0.0),
        )
        for phase, seconds in seconds_of(results).items()
        if seconds > 0.0
    }
