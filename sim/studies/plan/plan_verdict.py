"""What a plan says first, as to a board: what to buy, how sure that is, what could be wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from xc40io.studies.plan.gains import WORTH_A_WORD, is_felt, is_open, ratio_words
from xc40io.studies.plan.mix_runs import job_ratio
from xc40io.studies.plan.money import Goal
from xc40io.studies.plan.other_layouts import EitherWay, otherwise
from xc40io.studies.plan.plan import Configuration, Plan
from xc40io.studies.plan.plan_sure import rate_interval
from xc40io.studies.ratio import Ratio
from xc40io.topology.text import format_count
from xc40io.trust.sureness import chance_words, rate, real_words


class Verdict(NamedTuple):
    """What to buy."""

    chosen: Configuration | None  # None: nothing makes the mix faster by more than chance
    is_sure: bool  # whether its gain exceeds the uncertainty; or whether it reaches the goal


def verdict(plan: Plan) -> Verdict:
    """Return what to buy: what reaches the goal for the least, else what is best.

    Within a budget the fastest is best; else what costs least for each GB/s, where anything has a
    cost: of what is certain to be faster than all that costs less, if anything is. Where no gain
    exceeds the uncertainty, it is what is likeliest to be one.
    """
    ran = [each for each in plan.configurations if each.rate is not None and each.values]
    if plan.goal is not None:
        return _of_goal(plan, plan.goal, ran)
    paying = [each for each in ran if plan.pays(each) and is_felt(_ratio(each))]
    paying = [each for each in paying if each.efficient] or paying
    if paying:
        priced = [each for each in paying if each.cost is not None]
        if plan.budget is None and priced:
            return Verdict(min(priced, key=lambda each: _price(plan, each)), True)
        return Verdict(max(paying, key=lambda each: each.rate or 0.0), True)
    able = [each for each in ran if _ratio(each).value >= 1.0 + WORTH_A_WORD]
    able = [each for each in able if is_felt(_ratio(each))] or able
    return Verdict(max(able, key=lambda each: _chance(plan, each), default=None), False)


def _of_goal(plan: Plan, goal: Goal, ran: list[Configuration]) -> Verdict:
    """Return what reaches a goal for the least, or what comes nearest."""
    able = [each for each in ran if _reached(plan, each, goal) >= goal.factor]
    if priced := [each for each in able if each.cost is not None]:
        return Verdict(min(priced, key=lambda one: (one.cost or 0.0, -(one.rate or 0.0))), True)
    nearest = max(ran, key=lambda each: _reached(plan, each, goal), default=None)
    return Verdict(nearest, False)


def _ratio(each: Configuration) -> Ratio:
    """Return how many times as fast the mix is; of a configuration that has run."""
    assert each.ratio is not None
    return each.ratio


def _price(plan: Plan, each: Configuration) -> float:
    """Return the cost of a byte/s more; what costs nothing, or less, comes first."""
    return (each.cost or 0.0) / ((each.rate or 0.0) - (plan.present.rate or 0.0))


def _chance(plan: Plan, each: Configuration) -> tuple[float, float]:
    return plan.chance(each) or 0.0, _ratio(each).value


def _reached(plan: Plan, each: Configuration, goal: Goal) -> float:
    """Return how many times as fast a job, or the mix, is; by the lower bound of its seeds."""
    ratio = _of_jobs(plan, each)[goal.job] if goal.job else _ratio(each)
    return ratio.value if ratio.low is None else ratio.low


def _of_jobs(plan: Plan, each: Configuration) -> dict[str, Ratio]:
    """Return how many times as fast each job is as on the machine as it is."""
    pairs = zip(plan.mix.jobs, plan.present.runs, each.runs, strict=True)
    return {job.name: job_ratio(old, new) for job, old, new in pairs}


def verdict_words(plan: Plan, either: EitherWay | None = None) -> Iterator[str]:
    """Yield the answer for a board: what to buy, how sure, each job, what could be wrong.

    ``either``: the plan with files shared the other way, where the table of jobs leaves that open.
    """
    found = verdict(plan)
    yield _buy(plan, found)
    if found.chosen is not None:
        yield f"How sure: {_sure(plan, found.chosen)}."
        yield f"A job: {_each_job(plan, found.chosen)}."
    if doubts := list(_doubts(plan, found.chosen, either)):
        yield f"What could be wrong: {'; '.join(doubts)}."


def _afforded(plan: Plan) -> str:
    """Say what the budget buys, if there is one."""
    if plan.budget is None:
        return ""
    count = f"{len(plan.configurations) - 1:,} of these configurations"
    return f"{plan.budget:,.0f} {plan.currency} buys {count}"


def _buy(plan: Plan, found: Verdict) -> str:
    """Say what to buy, and what it brings the mix, or the goal."""
    each, count = found.chosen, len(plan.configurations) - 1
    afforded = _afforded(plan)
    first = f"{afforded}. " if afforded else ""
    if each is None:
        return f"{first}Buy nothing: none makes the mix faster by more than chance."
    cost = "" if not each.cost else f" for {each.cost:,.0f} {plan.currency}"
    if plan.goal is not None:
        aim = f"{plan.goal.job or 'the mix'} is {_reached(plan, each, plan.goal):.3f} times as fast"
        if found.is_sure:
            return f"{first}Buy {each.words}{cost}: the cheapest with {plan.goal.words}; {aim}."
        return (
            f"{first}None of {format_count(count, 'configuration')} has {plan.goal.words} for a "
            f"known cost; {each.words} comes nearest: {aim}."
        )
    brings = f"times as fast: {ratio_words(_ratio(each))}"
    if found.is_sure:
        return f"{first}{'Buy' if cost else 'Best:'} {each.words}{cost}; {brings}."
    gains = {1: "the gain does not exceed", 2: "neither gain exceeds"}.get(count, "no gain exceeds")
    chance = plan.chance(each)
    likely = "" if chance is None else f" ({chance_words(chance)})"
    unsure = f"{gains} the uncertainty. Likeliest: {each.words}{likely}{cost}; {brings}."
    return f"{afforded}; {unsure}" if afforded else f"Buy nothing yet: {unsure}"


def _sure(plan: Plan, each: Configuration) -> str:
    """Say how likely a gain is, by the errors of such ratios and by the seeds."""
    chance, seeds, ratio = plan.chance(each), len(plan.seeds), _ratio(each)
    said = [] if chance is None else [f"{chance_words(chance)} that a real machine is faster, too"]
    if seeds == 1:
        said.append("one seed, so that chance is not known (--repeat 2)")
    else:
        way = "gain" if ratio.value > 1.0 else "lose"
        all_seeds = "both seeds" if seeds == 2 else f"all {seeds} seeds"
        agree = f"{all_seeds} {way}" if ratio.clear else f"{seeds} seeds leave it open"
        said.append(agree)
    return "; ".join(said)


def _each_job(plan: Plan, each: Configuration) -> str:
    """Say how much more of each job is done in a second, where that is more than chance."""
    ratios = _of_jobs(plan, each)
    said = [
        f"{name} {100 * (ratio.value - 1.0):+,.0f} %"
        for name, ratio in ratios.items()
        if is_felt(ratio)
    ]
    rest = [(name, is_open(ratio)) for name, ratio in ratios.items() if not is_felt(ratio)]
    for words, way in (("left open by the seeds:", True), ("no difference to", False)):
        if names := [name for name, is_left_open in rest if is_left_open is way]:
            said.append(f"{words} {', '.join(names)}")
    return "; ".join(said)


def _doubts(plan: Plan, each: Configuration | None, either: EitherWay | None) -> Iterator[str]:
    """Yield what the answer rests on that may not be so."""
    if each is not None and either is not None:
        other = otherwise(either, each)
        if other is not None:
            yield (
                "who shares files is assumed, and the other way the mix would be "
                f"{other:.3f} times as fast"
            )
    for one in plan.refused:
        if each is not None and one.option in each.values:
            yield f"{one.job} cannot use {one.option}, and runs as it was"
    sure = rate_interval(plan, each or plan.present)
    if sure is not None:
        if sure.why:
            yield sure.why
        yield f"the rate itself (of the mix {real_words(sure, rate)})"


def verdict_document(plan: Plan, either: EitherWay | None) -> dict[str, Any]:
    """Arrange the verdict for JSON."""
    found = verdict(plan)
    each = found.chosen
    chance = None if each is None else plan.chance(each)
    return {
        "said": list(verdict_words(plan, either)),
        "values": None if each is None else each.values,
        "sure": found.is_sure,
        **({} if chance is None else {"chance_better": chance}),
        "cost": None if each is None else each.cost,
        "times_as_fast": None if each is None else each.ratio,
        "jobs": {} if each is None else _of_jobs(plan, each),
    }
