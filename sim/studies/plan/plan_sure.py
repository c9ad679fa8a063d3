"""How sure the throughput of a mix is: where it really would lie, by what is known of its jobs."""

from __future__ import annotations

from typing import NamedTuple

from xc40io.config.workload_mix import MixJob
from xc40io.studies.plan.mix_runs import JobRuns
from xc40io.studies.plan.plan import Configuration, Plan
from xc40io.trust.how_sure import Interval
from xc40io.trust.sureness import Sureness


class _Span(NamedTuple):
    """Seconds that nine of ten real runs of a job would take."""

    low: float
    high: float
    why: str  # they are less sure; empty where runs like it were measured


def rate_interval(plan: Plan, each: Configuration) -> Interval | None:
    """Return where the throughput of a mix really would lie, in bytes/s, nine times of ten.

    All its jobs are taken to be off to the same side. Nobody knows how far their errors go
    together, and if these are of their own, the mix is less far off than that. None where nothing
    is known of a job: of several at the same time, or of one that moves messages.
    """
    if plan.exact:
        return None
    spans = [
        _span(job, runs, plan, each) for job, runs in zip(plan.mix.jobs, each.runs, strict=False)
    ]
    known = [span for span in spans if span is not None]
    if not known or len(known) < len(spans):
        return None
    moved = sum(count * runs.bytes for count, runs in zip(plan.counts, each.runs, strict=True))
    least, most = (
        sum(count * taken for count, taken in zip(plan.counts, bounds, strict=True))
        for bounds in ([span.low for span in known], [span.high for span in known])
    )
    why = next((span.why for span in known if span.why), "")
    return Interval(moved / most, moved / least, not why, why)


def _span(job: MixJob, runs: JobRuns, plan: Plan, each: Configuration) -> _Span | None:
    """Return the seconds of a job, each phase with the errors of its kind; None if not known."""
    run = each.run_of(job)
    if run is None:
        return None
    changes = {**run.changes, **each.changes}
    sure = Sureness(run.model_copy(update={"machine": plan.mix.machine, "changes": changes}))
    phases = [(one.seconds, sure.seconds(one.phase, one.seconds)) for one in runs.bounds]
    told = [(seconds, found) for seconds, found in phases if found is not None]
    if not told or len(told) < len(phases):
        return None
    whole = sum(seconds for seconds, _ in told)
    low, high = (
        runs.mean * sum(bounds) / whole
        for bounds in ([found.low for _, found in told], [found.high for _, found in told])
    )
    return _Span(low, high, next((found.why for _, found in told if found.why), ""))
