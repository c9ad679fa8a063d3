"""The tables of a plan for people, in text and in a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sim.studies.plan.configuration import Configuration
from sim.studies.plan.mix_runs import JobRuns
from sim.studies.plan.mix_words import bottlenecks, job_ratio
from sim.studies.plan.plan import Plan
from sim.studies.ratio import Ratio
from sim.telling.answer import Table, plain_table

_GB = 1e9
_MB = 1e6
_FRONT = "*"
_KINDS = ("NICs", "Aries links", "LNET routers", "OSSs", "OSTs", "MDSs", "SSDs")


def plan_tables(plan: Plan) -> list[Table]:
    """Return all tables of a plan."""
    return [configurations_table(plan), gains_table(plan), bounds_table(plan)]


def configurations_table(plan: Plan) -> Table:
    """Return the throughput of the mix and of each job, and the cost, by configuration."""
    jobs = [job.name for job in plan.mix.jobs]
    heads = ["configuration", "mix", "times as fast", *jobs]
    words = [0]
    if plan.costs:
        currency = plan.mix.currency or "units"
        heads += [f"cost ({currency})", f"{currency} per GB/s", "front"]
        words.append(len(heads) - 1)
    rows = [_row(plan, each) for each in plan.configurations if each.rate is not None]
    note = "GB/s: 10^9 bytes a second."
    if plan.costs:
        note += (
            " Cost: beyond the machine as it is; empty where a change has none. *: no other is as "
            "fast for less."
        )
    return plain_table(
        "Throughput of the mix and of each job (GB/s)", heads, rows, words=words, note=note
    )


def _row(plan: Plan, each: Configuration) -> list[str]:
    assert each.rate is not None
    rates = (f"{runs.rate / _GB:,.4g}" for runs in each.runs)
    row = [each.words, f"{each.rate / _GB:,.4g}", ratio_words(each.ratio), *rates]
    if plan.costs:
        gained = (each.rate - (plan.present.rate or 0.0)) / _GB
        cost = "" if each.cost is None else f"{each.cost:,.0f}"
        worth = each.cost is not None and each.cost > 0.0 and gained > 0.0
        price = f"{(each.cost or 0.0) / gained:,.0f}" if worth else ""
        row += [cost, price, _FRONT if each.efficient else ""]
    return row


def ratio_words(ratio: Ratio | None) -> str:
    """Write a ratio with its interval; 1 where there is none."""
    if ratio is None:
        return "1"
    if ratio.low is None or ratio.high is None:
        return f"{ratio.value:.3f}"
    return f"{ratio.value:.3f} ({ratio.low:.3f} to {ratio.high:.3f})"


def gains_table(plan: Plan) -> Table:
    """Return what each change alone brings for each unit, and to which job."""
    jobs = [job.name for job in plan.mix.jobs]
    heads = ["change alone", "mix (GB/s)", "for each unit", *jobs]
    rows = []
    for each in plan.alone:
        if each.rate is None:
            continue
        (path,) = each.values
        gain = each.rate - (plan.present.rate or 0.0)
        ratios = (
            f"{job_ratio(old, new).value:.3f}"
            for old, new in zip(plan.present.runs, each.runs, strict=True)
        )
        rows.append([each.words, f"{gain / _GB:+.3f}", _per_unit(plan, each, path, gain), *ratios])
    note = (
        "For each unit: what the mix gains or loses, over how many there are more or less. Behind "
        "it, how many times as fast each job is."
    )
    return plain_table(
        "Marginal gains from the machine as it is", heads, rows, words=(0, 2), note=note
    )


def _per_unit(plan: Plan, each: Configuration, path: str, gain: float) -> str:
    """Write the gain for one unit; nothing for times, which are not bought by units."""
    unit, units = plan.hardware(path).unit, plan.units(each, path)
    if not unit or not units:
        return ""
    return f"{gain / units / _MB:+,.4g} MB/s per {unit}"


def bounds_table(plan: Plan) -> Table:
    """Return what bound each job on each configuration, and how busy the stations were."""
    kinds = [
        kind
        for kind in _KINDS
        if any(bound.kinds.get(kind) for each in plan.configurations for bound in _bounds(each))
    ]
    heads = ["configuration", "job", "bound by", *(f"{kind} (%)" for kind in kinds)]
    rows = []
    for each in plan.configurations:
        for job, runs in zip(plan.mix.jobs, each.runs, strict=False):
            busy = (f"{100 * _busy(runs, kind):.0f}" for kind in kinds)
            rows.append([each.words, job.name, bottlenecks(runs), *busy])
    note = (
        "In percent of a job's time: the busiest station of each kind, all phases together. A "
        "station binds a phase if it was busy for 80 % of it or more and ranks waited for it; in "
        "turn if one or another of its kind was."
    )
    return plain_table("What bound each job", heads, rows, words=(0, 1, 2), note=note)


def _bounds(each: Configuration) -> Iterator[Any]:
    return (bound for runs in each.runs for bound in runs.bounds)


def _busy(runs: JobRuns, kind: str) -> float:
    """Return the share of a job's phases in which the busiest station of a kind was busy."""
    total = sum(bound.seconds for bound in runs.bounds)
    return sum(bound.seconds * bound.kinds.get(kind, 0.0) for bound in runs.bounds) / total
