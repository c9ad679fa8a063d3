"""What a job of a mix came to, beside another machine and in a few words."""

from __future__ import annotations

from sim.results.stations import SATURATED
from sim.studies.plan.mix_runs import JobRuns
from sim.studies.ratio import Ratio, paired
from sim.studies.record import Bound


def job_ratio(before: JobRuns, after: JobRuns) -> Ratio:
    """Return how many times as fast a job is, seed by seed."""
    return paired(
        [seconds / before.bytes for seconds in before.seconds],
        [seconds / after.bytes for seconds in after.seconds],
    )


def bound_words(bound: Bound) -> str:
    """Say in a few words what bound a phase."""
    if bound.binds and bound.busy < SATURATED:
        return f"{bound.phase}: {bound.kind} in turn"
    if bound.binds:
        return f"{bound.phase}: {bound.kind} {100 * bound.busy:.0f} %"
    kind, busy = max(bound.kinds.items(), key=lambda item: item[1], default=(bound.kind, 0.0))
    return f"{bound.phase}: no station (busiest {kind} {100 * busy:.0f} %)"


def bottlenecks(runs: JobRuns) -> str:
    """Say what bound each phase of a job, the longest first."""
    return "; ".join(map(bound_words, runs.bounds))
