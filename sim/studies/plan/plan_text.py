"""A plan as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sim.config.workload_mix import WorkloadMix
from sim.studies.plan.configuration import Configuration
from sim.studies.plan.mix_runs import JobRuns
from sim.studies.plan.mix_words import bound_words
from sim.studies.plan.plan import Plan
from sim.studies.plan.plan_tables import configurations_table, gains_table
from sim.studies.plan.plan_why import felt, reasons, verdicts
from sim.telling.text import table_lines, wrapped
from topology.text import format_count


def format_plan(plan: Plan) -> str:
    """Print the answer in sentences, what each configuration came to, and why."""
    lines = [plan_title(plan), *wrapped(plan_setup(plan)), ""]
    for said in [*verdicts(plan), *cost_words(plan), *followed(plan)]:
        lines += wrapped(said, "* ", "  ")
    for table in (configurations_table(plan), gains_table(plan)):
        lines += ["", *table_lines(table)]
    lines += ["", "Why"]
    for name, said in reasons(plan, every=False):
        lines += wrapped(f"{name}: {said}", "  ", "    ")
    lines += [f"NOT RUN ({each.words}): {each.reason}" for each in not_run(plan)]
    return "\n".join(lines) + "\n"


def plan_title(plan: Plan) -> str:
    """Say in a line what was planned."""
    return mix_title(plan.mix)


def mix_title(mix: WorkloadMix) -> str:
    """Say in a line what a mix is."""
    return mix.title or f"A mix of jobs on {mix.machine.name}"


def study_title(mix: WorkloadMix) -> str:
    """Return what stands above sensitivities and faults, which have no configurations."""
    return f"{mix_title(mix)}\n"


def plan_setup(plan: Plan) -> str:
    """Say of what the mix consists and how it was run."""
    total = sum(plan.counts)
    shares = ", ".join(
        f"{job.name} {count / total:.3g}"
        for job, count in zip(plan.mix.jobs, plan.counts, strict=True)
    )
    seeds = plan.seeds
    each = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    return (
        f"{format_count(len(plan.configurations), 'configuration')} of {plan.mix.machine.name}, "
        f"{each}; share of each job in "
        f"the number of jobs: {shares}. GB = 10^9 bytes. Throughput of the mix: all bytes over all "
        "seconds of I/O."
    )


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
        "Front of cost and throughput, none of which is beaten in both: "
        f"{'; '.join(each.words for each in sorted(front, key=lambda each: each.cost or 0.0))}."
    )


def followed(plan: Plan) -> Iterator[str]:
    """Say what follows from a change besides what was asked for: blades, shares of routers."""
    before = plan.mix.machine.values()
    for each in plan.alone:
        if each.machine is None:
            continue
        after = each.machine.values()
        said = [
            f"{path} {before[path]} -> {after[path]}"
            for path in ("nodes.service_blades", "nodes.count")
            if after[path] != before[path] and path not in each.values
        ]
        if said:
            yield f"{each.words} needs service nodes: {', '.join(said)}; what they cost counts."
        shares = ("lnet.routers_per_group", "lnet.oss_per_group")
        (routers, osss), (now, new) = ([side[path] for path in shares] for side in (before, after))
        if (routers, osss) != (now, new):
            fewer = now * osss < new * routers
            yield (
                f"With {each.words} each FGR group has {format_count(now, 'LNET router')} for "
                f"{format_count(new, 'OSS')}, in place of {routers} for {osss}: a file on as many "
                f"OSTs as before passes {'fewer' if fewer else 'more'} of them."
            )


def not_run(plan: Plan) -> Iterable[Configuration]:
    """Return the configurations that could not run."""
    return [each for each in plan.configurations if each.reason]


def plan_document(plan: Plan) -> dict[str, Any]:
    """Arrange a plan for JSON: bytes/s, seconds, bytes, costs."""
    return {
        "title": plan_title(plan),
        "weights": plan.mix.weights,
        "jobs": [
            {"name": job.name, "weight": job.weight, "count": count}
            for job, count in zip(plan.mix.jobs, plan.counts, strict=True)
        ],
        "seeds": list(plan.seeds),
        "axes": [{"path": axis.path, "values": list(axis.values)} for axis in plan.axes],
        "costs": dict(plan.costs),
        "currency": plan.mix.currency,
        "answer": [*verdicts(plan), *cost_words(plan), *followed(plan)],
        "configurations": [_document(plan, each) for each in plan.configurations],
    }


def _document(plan: Plan, each: Configuration) -> dict[str, Any]:
    told = felt(plan, plan.present, each) if each.values and each.runs else []
    said = {one.job: one.said for one in told}
    return {
        "values": dict(each.values),
        "bandwidth": each.rate,
        "times_as_fast": None if each.ratio is None else each.ratio._asdict(),
        "cost": each.cost,
        "efficient": each.efficient,
        "failure": each.reason or None,
        "jobs": {
            job.name: _job_document(runs, said.get(job.name, ""))
            for job, runs in zip(plan.mix.jobs, each.runs, strict=False)
        },
    }


def _job_document(runs: JobRuns, said: str) -> dict[str, Any]:
    return {
        "bandwidth": runs.rate,
        "seconds": list(runs.seconds),
        "bytes": runs.bytes,
        "bounds": [
            {
                "phase": bound.phase,
                "said": bound_words(bound),
                "station": bound.station,
                "binds": bound.binds,
                "busy": bound.kinds,
            }
            for bound in runs.bounds
        ],
        "waits": {wait.cause: wait.share for wait in runs.waits},
        "why": said,
    }
