"""Why a change of the hardware helps a job of a mix or not, and where the bottleneck goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sim.studies.compare.reason import reason
from sim.studies.compare.side_by_side import PhaseOfSide
from sim.studies.compare.touched import touched_by
from sim.studies.plan.configuration import Configuration
from sim.studies.plan.mix_runs import JobRuns
from sim.studies.plan.mix_words import bottlenecks, job_ratio
from sim.studies.plan.plan import Plan
from sim.studies.ratio import Ratio

WORTH_A_WORD = 0.03
"""A job that becomes less than so much faster or slower has nothing of a change."""

_GB = 1e9


class Felt(NamedTuple):
    """What a job has of a change.

    Attributes
    ----------
    job
        Its name.
    ratio
        How many times as fast it is.
    said
        Why.
    """

    job: str
    ratio: Ratio
    said: str

    @property
    def changed(self) -> bool:
        """Whether it is faster or slower by more than is worth a word, and more than by chance."""
        sure = self.ratio.low is None or self.ratio.clear
        return sure and abs(self.ratio.value - 1.0) >= WORTH_A_WORD


def felt(plan: Plan, before: Configuration, after: Configuration) -> list[Felt]:
    """Say of each job how much faster it is on one configuration than on another, and why.

    Parameters
    ----------
    plan
        The plan.
    before, after
        Two of its configurations, both of which have run.
    """
    paths = [path for path in after.values if after.values[path] != before.values.get(path)]
    found = []
    for job, old, new in zip(plan.mix.jobs, before.runs, after.runs, strict=True):
        ratio = job_ratio(old, new)
        said = reason(_side(old, None), _side(new, ratio), touched_by(paths))
        found.append(Felt(job.name, ratio, said))
    return found


def _side(runs: JobRuns, ratio: Ratio | None) -> PhaseOfSide:
    """Return all phases of a job as one, which a reason can be given for."""
    return PhaseOfSide(
        side=0 if ratio is None else 1,
        seconds=runs.seconds,
        bytes=runs.bytes,
        ratio=ratio,
        load=None,
        waits=runs.waits,
        osts=runs.records[0].osts,
    )


def verdicts(plan: Plan) -> Iterator[str]:
    """Yield the answer in sentences: each change alone, then what changes do together."""
    for each in plan.alone:
        if each.rate is not None:
            yield _of_change(plan, each)
    yield from _together(plan)


def _of_change(plan: Plan, changed: Configuration) -> str:
    """Say what one change alone brings the mix, and which jobs."""
    assert changed.rate is not None  # it has run
    assert changed.ratio is not None
    now, value = plan.present.rate or 0.0, changed.ratio.value
    gain = abs(changed.rate - now) / _GB
    if abs(value - 1.0) < WORTH_A_WORD:
        said = f"{changed.words} alone brings the mix next to nothing ({value:.3f} times as fast)"
    else:
        more = "more" if changed.rate > now else "less"
        said = (
            f"{changed.words} alone makes the mix {value:.3f} times as fast: {gain:.3g} GB/s {more}"
        )
    return f"{said}; {of_jobs(felt(plan, plan.present, changed))}."


def of_jobs(found: Sequence[Felt]) -> str:
    """Say which jobs a change helps, which it slows, and which have nothing of it."""
    groups = {
        "helps": [one for one in found if one.changed and one.ratio.value > 1.0],
        "slows": [one for one in found if one.changed and one.ratio.value < 1.0],
    }
    said = [
        f"it {verb} {_listed([f'{one.job} ({one.ratio.value:.2f})' for one in ones])}"
        for verb, ones in groups.items()
        if ones
    ]
    same = [one.job for one in found if not one.changed]
    if len(same) == len(found) > 1:
        said.append("no job has anything of it")
    elif same:
        said.append(f"{_listed(same)} {'have' if len(same) > 1 else 'has'} nothing of it")
    return ", ".join(said)


def _listed(words: Sequence[str]) -> str:
    """Return words with commas between them, and an "and" before the last."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _together(plan: Plan) -> Iterator[str]:
    """Say of each value where it brings most otherwise than alone: beside another change."""
    best: dict[str, tuple[float, str]] = {}
    for each in plan.configurations:
        for path in each.values if len(each.values) > 1 else ():
            found = _beside(plan, each, path)
            words = f"{path}={each.values[path]}"
            if found is not None and found[0] > best.get(words, (WORTH_A_WORD, ""))[0]:
                best[words] = found
    yield from (said for _, said in best.values())


def _beside(plan: Plan, whole: Configuration, path: str) -> tuple[float, str] | None:
    """Return how differently a value works beside the other changes, and say so."""
    rest = {name: value for name, value in whole.values.items() if name != path}
    without, alone = plan.find(rest), plan.find({path: whole.values[path]})
    if without is None or alone is None or alone.ratio is None:
        return None
    if whole.rate is None or without.rate is None:
        return None
    there, here = whole.rate / without.rate, alone.ratio.value
    said = (
        f"Beside {without.words} the step {path}={whole.values[path]} makes the mix {there:.3f} "
        f"times as fast (alone {here:.3f}): {of_jobs(felt(plan, without, whole))}."
    )
    return abs(there - here), said


def reasons(plan: Plan, *, every: bool) -> Iterator[tuple[str, str]]:
    """Yield a change alone and a job, and what that job has of it and why.

    Parameters
    ----------
    plan
        The plan.
    every
        Whether to tell of all jobs; else of those that have something of a change, or where none
        has, of the first.
    """
    for each in plan.alone:
        if each.rate is None:
            continue
        told = felt(plan, plan.present, each)
        first = not any(one.changed for one in told)
        for before, after, one in zip(plan.present.runs, each.runs, told, strict=True):
            if every or one.changed or first:
                yield f"{each.words}, {one.job}", _reason(before, after, one)
                first = False


def _reason(before: JobRuns, after: JobRuns, one: Felt) -> str:
    """Say what a job has of a change, why, and what binds it."""
    old, new = bottlenecks(before), bottlenecks(after)
    moved = f"Bound as before ({old})." if old == new else f"Before: {old}. Now: {new}."
    return f"{one.ratio.value:.3f} times as fast. {one.said} {moved}"
