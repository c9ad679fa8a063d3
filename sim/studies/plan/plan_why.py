"""What a plan says: which change helps which job and why, what it costs, what follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from xc40io.config.units import GB, format_seconds
from xc40io.config.workload_mix import WorkloadMix
from xc40io.studies.compare.reasons import out_of_reach, reason, touched_by
from xc40io.studies.compare.side import PhaseOfSide
from xc40io.studies.plan.gains import WORTH_A_WORD, is_felt, is_open
from xc40io.studies.plan.mix_runs import JobRuns, bottlenecks, job_ratio
from xc40io.studies.plan.plan import Configuration, Plan
from xc40io.studies.plan.plan_faults import MixFaults
from xc40io.studies.plan.plan_sensitivity import MixSensitivity
from xc40io.studies.ratio import Ratio
from xc40io.topology.text import format_count


class JobEffect(NamedTuple):
    """The effect of a change on one job."""

    job: str  # its name
    ratio: Ratio  # how many times as fast it is
    said: str  # why
    is_chance: bool = False  # one seed was run, and ranks lose no time at what was changed

    @property
    def changed(self) -> bool:
        """Whether the change of speed is large enough to mention, and more than chance."""
        return is_felt(self.ratio) and not self.is_chance


def felt(plan: Plan, before: Configuration, after: Configuration) -> list[JobEffect]:
    """Say of each job how much faster it is on one configuration than on another, and why.

    Parameters
    ----------
    plan
        The plan.
    before, after
        Two of its configurations, both of which have run.
    """
    old_values, new_values = before.changes, after.changes
    paths = [path for path, value in new_values.items() if value != old_values.get(path)]
    part = touched_by(paths, plan.mix.machine.network.interconnect)
    if any(option.jobs for option in after.options if option not in before.options):
        part = None  # jobs are run otherwise, too
    found = []
    for job, old, new in zip(plan.mix.jobs, before.runs, after.runs, strict=True):
        ratio = job_ratio(old, new)
        sides = _side(old, None), _side(new, ratio)
        is_chance = ratio.low is None and out_of_reach(*sides, part)
        found.append(JobEffect(job.name, ratio, reason(*sides, part), is_chance))
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
    if is_open(changed.ratio):
        said = f"What {changed.words} alone does to the mix, the seeds leave open ({value:.3f})"
    elif not is_felt(changed.ratio):
        said = f"{changed.words} alone makes no difference to the mix ({value:.3f} times as fast)"
    else:
        more = "more" if changed.rate > now else "less"
        said = (
            f"{changed.words} alone makes the mix {value:.3f} times as fast: {gain:.3g} GB/s {more}"
        )
    return f"{said}; {of_jobs(felt(plan, plan.present, changed))}."


def of_jobs(found: Sequence[JobEffect]) -> str:
    """Say which jobs a change helps, which it slows, and to which it makes no difference."""
    groups = {
        "helps": [one for one in found if one.changed and one.ratio.value > 1.0],
        "slows": [one for one in found if one.changed and one.ratio.value < 1.0],
    }
    said = [
        f"it {verb} {_listed([f'{one.job} ({one.ratio.value:.2f})' for one in ones])}"
        for verb, ones in groups.items()
        if ones
    ]
    if unsure := [f"{one.job} ({one.ratio.value:.2f})" for one in found if is_open(one.ratio)]:
        said.append(f"the seeds leave open {_listed(unsure)}")
    same = [one.job for one in found if not one.changed and not is_open(one.ratio)]
    if len(same) == len(found) > 1:
        said.append("no difference to any job")
    elif same:
        said.append(f"no difference to {_listed(same)}")
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
            words = each.word(path)
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
        f"Added to {without.words}, {whole.word(path)} makes the mix {there:.3f} times as fast "
        f"(alone {here:.3f}): {of_jobs(felt(plan, without, whole))}."
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


def cost_words(plan: Plan) -> Iterator[str]:
    """Say which configuration gains most for its cost, and which are worth looking at."""
    if not plan.is_priced:
        return
    now, currency = plan.present.rate or 0.0, plan.currency
    priced = [
        (each.cost / (each.rate - now) * 1e9, each)
        for each in plan.configurations
        if each.cost and each.rate and each.rate > now and each.ratio and is_felt(each.ratio)
    ]
    if priced:
        price, best = min(priced, key=lambda pair: pair[0])
        yield f"Cheapest gain: {best.words}, {price:,.0f} {currency} for each GB/s of the mix."
    front = [each for each in plan.configurations if each.efficient]
    if front == [plan.present]:
        yield "Best value: the machine as it is; no addition is certain to pay."
        return
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
    for one in plan.refused:
        yield f"{one.job} cannot use {one.option}, and runs as it was: {one.reason}."
    for each in plan.alone:
        if each.machine is None:
            continue
        yield from _restriped(plan, each)
        after = each.machine.values()
        said = [
            f"{path} {before[path]} -> {after[path]}"
            for path in ("nodes.service_blades", "nodes.count")
            if after[path] != before[path] and path not in each.changes
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
    """Say of each fault what it costs each job, in seconds, and what happened meanwhile."""
    for curve in found.curves:
        whole, *failed = [point for point in curve.points if point.rate is not None]
        for point in (failed[0], failed[-1]) if len(failed) > 1 else failed:
            parts = "" if curve.names_part else f", {format_count(point.number, 'part')}"
            lost = list(_lost(found.mix, whole.runs, point.runs))
            yield f"{curve.fault}{parts}: {'; '.join(lost) or 'no difference to any job'}."
            if lost and point is failed[0]:
                yield from _story(whole.runs, point.runs)


def _lost(mix: WorkloadMix, before: Sequence[JobRuns], after: Sequence[JobRuns]) -> Iterator[str]:
    """Yield for each job that feels a fault the seconds that it loses, and at what."""
    for job, old, new in zip(mix.jobs, before, after, strict=True):
        lost = lost_words(old, new)
        if not lost:
            continue
        usual = {wait.cause: wait.seconds for wait in old.waits}
        more = {wait.words: wait.seconds - usual.get(wait.cause, 0.0) for wait in new.waits}
        most = max(more, key=more.__getitem__, default="")
        at = f"; mostly {most}" if more.get(most, 0.0) > 0.0 else ""
        yield f"{job.name} {lost} ({format_seconds(old.mean, 3)} without it{at})"


def lost_words(before: JobRuns, after: JobRuns) -> str:
    """Write the seconds that a job loses, or gains: ``+87.0 s``; empty if it may be chance.

    Where one seed feels a fault and another does not, as with files elsewhere, both are told.
    """
    if is_felt(job_ratio(before, after)):
        return _more(after.mean - before.mean)
    losses = [new - old for old, new in zip(before.seconds, after.seconds, strict=True)]
    usual = max(WORTH_A_WORD * before.mean, max(before.seconds) - min(before.seconds))
    if max(map(abs, losses)) <= usual:
        return ""
    return f"{_more(min(losses))} to {_more(max(losses))}, by the seed"


def _more(seconds: float) -> str:
    return f"{'-' if seconds < 0.0 else '+'}{format_seconds(abs(seconds), 3)}"


def _story(before: Sequence[JobRuns], after: Sequence[JobRuns]) -> Iterator[str]:
    """Yield what happened in the run that lost most, as that has noted it."""
    records = [
        (new_seconds - old_seconds, old.records[seed].notes, new.records[seed].notes)
        for old, new in zip(before, after, strict=True)
        for seed, (old_seconds, new_seconds) in enumerate(
            zip(old.seconds, new.seconds, strict=True)
        )
    ]
    _, known, told = max(records, key=itemgetter(0))
    if notes := [note for note in told if note not in known]:
        yield " ".join(notes)


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
