"""What a plan says: which change helps which job and why, what it costs, what follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xc40io.config.units import GB
from xc40io.studies.compare.reasons import reason, touched_by
from xc40io.studies.compare.side import PhaseOfSide
from xc40io.studies.plan.gains import chance_faster, surely_faster
from xc40io.studies.plan.mix_runs import JobRuns, bottlenecks, job_ratio
from xc40io.studies.plan.money import Goal
from xc40io.studies.plan.plan import Configuration, Plan
from xc40io.studies.plan.plan_faults import MixFaults
from xc40io.studies.plan.plan_sensitivity import MixSensitivity
from xc40io.studies.ratio import Ratio
from xc40io.topology.text import format_count
from xc40io.trust.sureness import chance_words

WORTH_A_WORD = 0.03
"""A job whose speed changes by less than this is not affected by a change."""


class JobEffect(NamedTuple):
    """The effect of a change on one job."""

    job: str  # its name
    ratio: Ratio  # how many times as fast it is
    said: str  # why

    @property
    def changed(self) -> bool:
        """Whether the change of speed is large enough to mention, and more than chance."""
        sure = self.ratio.low is None or self.ratio.clear
        return sure and abs(self.ratio.value - 1.0) >= WORTH_A_WORD


def felt(plan: Plan, before: Configuration, after: Configuration) -> list[JobEffect]:
    """Say of each job how much faster it is on one configuration than on another, and why.

    Parameters
    ----------
    plan
        The plan.
    before, after
        Two of its configurations, both of which have run.
    """
    paths = [path for path in after.values if after.values[path] != before.values.get(path)]
    part = touched_by(paths, plan.mix.machine.network.interconnect)
    found = []
    for job, old, new in zip(plan.mix.jobs, before.runs, after.runs, strict=True):
        ratio = job_ratio(old, new)
        said = reason(_side(old, None), _side(new, ratio), part)
        found.append(JobEffect(job.name, ratio, said))
    return found


def _side(runs: JobRuns, ratio: Ratio | None) -> PhaseOfSide:
    """Return all phases of a job as one phase, for which a reason can be given."""
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
    gain = abs(changed.rate - now) / GB
    if abs(value - 1.0) < WORTH_A_WORD:
        said = f"{changed.words} alone hardly changes the mix ({value:.3f} times as fast)"
    else:
        more = "more" if changed.rate > now else "less"
        said = (
            f"{changed.words} alone makes the mix {value:.3f} times as fast: {gain:.3g} GB/s {more}"
        )
    return f"{said}; {of_jobs(felt(plan, plan.present, changed))}."


def of_jobs(found: Sequence[JobEffect]) -> str:
    """Say which jobs a change helps, which it slows, and which it does not affect."""
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
        said.append("it affects no job")
    elif same:
        said.append(f"it does not affect {_listed(same)}")
    return ", ".join(said)


def _listed(words: Sequence[str]) -> str:
    """Return words with commas between them, and an "and" before the last."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _together(plan: Plan) -> Iterator[str]:
    """Say for each value which other change alters its effect most."""
    best: dict[str, tuple[float, str]] = {}
    for each in plan.configurations:
        for path in each.values if len(each.values) > 1 else ():
            found = _beside(plan, each, path)
            words = f"{path}={each.values[path]}"
            if found is not None and found[0] > best.get(words, (WORTH_A_WORD, ""))[0]:
                best[words] = found
    yield from (said for _, said in best.values())


def _beside(plan: Plan, whole: Configuration, path: str) -> tuple[float, str] | None:
    """Return how far a value's effect beside other changes differs from that alone, and say so."""
    rest = {name: value for name, value in whole.values.items() if name != path}
    without, alone = plan.find(rest), plan.find({path: whole.values[path]})
    if without is None or alone is None or alone.ratio is None:
        return None
    if whole.rate is None or without.rate is None:
        return None
    there, here = whole.rate / without.rate, alone.ratio.value
    said = (
        f"Added to {without.words}, {path}={whole.values[path]} makes the mix {there:.3f} times "
        f"as fast (alone {here:.3f}): {of_jobs(felt(plan, without, whole))}."
    )
    return abs(there - here), said


def reasons(plan: Plan, *, every: bool) -> Iterator[tuple[str, str]]:
    """Yield a change alone with a job, and a sentence on its effect on that job and why.

    Parameters
    ----------
    plan
        The plan.
    every
        Whether to tell of all jobs; else of those that a change affects, or where it affects none,
        of the first.
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


def _reason(before: JobRuns, after: JobRuns, one: JobEffect) -> str:
    """Say how a change affects a job, why, and what binds the job."""
    old, new = bottlenecks(before), bottlenecks(after)
    moved = f"Bound as before ({old})." if old == new else f"Before: {old}. Now: {new}."
    return f"{one.ratio.value:.3f} times as fast. {one.said} {moved}"


def money_words(plan: Plan) -> Iterator[str]:
    """Say what is best within the budget, and what reaches the goal for the least."""
    currency = plan.mix.currency or "units"
    tried = format_count(len(plan.configurations) - 1, "configuration")
    if plan.budget is not None:
        able = [each for each in plan.configurations if surely_faster(each.ratio)]
        within = f"Within {plan.budget:,.0f} {currency}, of {tried}"
        if able:
            best = max(able, key=lambda each: each.rate or 0.0)
            yield f"{within}: {best.words} makes the mix fastest, {_bought(plan, best, currency)}."
        else:
            yield f"{within}: none makes the mix faster by more than is uncertain."
    if plan.goal is not None:
        yield from _goal_words(plan, plan.goal, currency, tried)


def _goal_words(plan: Plan, goal: Goal, currency: str, tried: str) -> Iterator[str]:
    """Say which configuration reaches a goal for the least, or how far the nearest gets."""
    reached = {
        each.words: _reached(plan, each, goal)
        for each in plan.configurations
        if each.rate is not None and each.values
    }
    able = [
        each
        for each in plan.configurations
        if each.cost is not None and reached.get(each.words, 0.0) >= goal.factor
    ]
    if able:
        best = min(able, key=lambda each: (each.cost or 0.0, -(each.rate or 0.0)))
        yield (
            f"For {goal.words}, of {tried}: {best.words} is the cheapest, "
            f"{_bought(plan, best, currency)}; {goal.job or 'the mix'} is "
            f"{reached[best.words]:.3f} times as fast."
        )
    elif reached:
        words, value = max(reached.items(), key=lambda pair: pair[1])
        yield (
            f"For {goal.words}: none of {tried} reaches it; {words} comes nearest, "
            f"{value:.3f} times as fast."
        )


def _reached(plan: Plan, each: Configuration, goal: Goal) -> float:
    """Return how many times as fast a job, or the mix, is; by the lower bound of its seeds."""
    ratio = each.ratio
    if goal.job:
        number = next(n for n, job in enumerate(plan.mix.jobs) if job.name == goal.job)
        ratio = job_ratio(plan.present.runs[number], each.runs[number])
    assert ratio is not None  # it has run, and is not the machine as it is
    return ratio.value if ratio.low is None else ratio.low


def _bought(plan: Plan, each: Configuration, currency: str) -> str:
    """Say what a configuration brings the mix, how sure that is, and what it costs."""
    assert each.ratio is not None
    chance = chance_faster(each.ratio)
    sure = "" if plan.exact else f" (really faster: {chance_words(chance)})"
    cost = "" if each.cost is None else f", for {each.cost:,.0f} {currency}"
    return f"{each.ratio.value:.3f} times as fast{sure}{cost}"


def cost_words(plan: Plan) -> Iterator[str]:
    """Say which configuration gains most for its cost, and which are worth looking at."""
    if not plan.costs:
        return
    now, currency = plan.present.rate or 0.0, plan.mix.currency or "units"
    priced = [
        (each.cost / (each.rate - now) * 1e9, each)
        for each in plan.configurations
        if each.cost and each.cost > 0.0 and each.rate and each.ratio and each.ratio.value > 1.005
    ]
    if priced:
        price, best = min(priced, key=lambda pair: pair[0])
        yield f"Cheapest gain: {best.words}, {price:,.0f} {currency} for each GB/s of the mix."
    front = [each for each in plan.configurations if each.efficient]
    yield (
        "Best for their cost, each certain to be faster than what costs less: "
        f"{'; '.join(each.words for each in sorted(front, key=lambda each: each.cost or 0.0))}."
    )


def _restriped(plan: Plan, each: Configuration) -> Iterator[str]:
    """Say whose files have more or fewer stripes, as the OSTs of a configuration allow."""
    assert each.machine is not None
    now, new = plan.mix.machine.lustre.osts, each.machine.lustre.osts
    changed: dict[tuple[int, int], list[str]] = {}
    for job in plan.mix.jobs:
        most = job.stripes_at_most
        if most is not None and min(most, now) != min(most, new):
            changed.setdefault((min(most, new), min(most, now)), []).append(job.name)
    for (after, before), names in changed.items():
        yield (
            f"With {each.words} the files of {', '.join(names)} have {after:,} stripes in place of "
            f"{before:,}, for their number is a habit, and no more than the OSTs."
        )


def followed(plan: Plan) -> Iterator[str]:
    """Say which other values change with a change: blades, shares of routers."""
    before = plan.mix.machine.values()
    for each in plan.alone:
        if each.machine is None:
            continue
        yield from _restriped(plan, each)
        after = each.machine.values()
        said = [
            f"{path} {before[path]} -> {after[path]}"
            for path in ("nodes.service_blades", "nodes.count")
            if after[path] != before[path] and path not in each.values
        ]
        if said:
            yield f"{each.words} needs service nodes: {', '.join(said)}; they are part of its cost."
        shares = ("lnet.routers_per_group", "lnet.oss_per_group")
        if not all(path in side for path in shares for side in (before, after)):
            continue
        (routers, osss), (now, new) = ([side[path] for path in shares] for side in (before, after))
        if (routers, osss) != (now, new):
            fewer = now * osss < new * routers
            yield (
                f"With {each.words} each FGR group has {format_count(now, 'LNET router')} for "
                f"{format_count(new, 'OSS')}, in place of {routers} for {osss}: a file on as many "
                f"OSTs as before passes through {'fewer' if fewer else 'more'} routers."
            )


def faults_words(found: MixFaults) -> Iterator[str]:
    """Say of each fault, with the most parts that could be run, what it does to which job."""
    for curve in found.curves:
        whole, *failed = [point for point in curve.points if point.rate is not None]
        if not failed:
            continue
        last, number = failed[-1], curve.names_part
        parts = "" if number else f", {format_count(last.number, 'part')}"
        told = [
            f"{job.name} is {ratio.value:.3g} times as fast ({bottlenecks(after)})"
            for job, before, after in zip(found.mix.jobs, whole.runs, last.runs, strict=True)
            if abs((ratio := job_ratio(before, after)).value - 1.0) >= WORTH_A_WORD
        ]
        yield f"{curve.fault}{parts}: {'; '.join(told) or 'no job feels it'}."


def sensitivity_words(found: MixSensitivity) -> Iterator[str]:
    """Say what the mix depends on."""
    first, *others = found.effects
    matter = [one for one in others if one.size >= 0.25 * first.size]
    more = "more" if first.mean > 0.0 else "less"
    yield (
        f"The mix, {found.rate / GB:.4g} GB/s as it is, depends most on {first.range.path}, whose "
        f"range changes it by {first.size / GB:.3g} GB/s: {more} is faster."
    )
    if matter:
        named = ", ".join(f"{one.range.path} ({one.size / GB:.3g})" for one in matter)
        yield f"Values with a quarter of that effect or more: {named}."
    idle = [one.range.path for one in found.effects if one.size < 0.02 * first.size]
    if idle:
        yield f"Values with less than a fiftieth of it: {', '.join(idle)}."
