"""What a plan tells: the answer, its tables and pictures, for text, JSON, pandas and a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from xc40io.config.machine import Machine
from xc40io.config.units import GB, format_bytes, format_per_second, format_rate, format_seconds
from xc40io.config.workload_mix import WorkloadMix
from xc40io.results.machine_text import machine_parts
from xc40io.studies.plan.beside import Beside, beside_document, beside_table, beside_words
from xc40io.studies.plan.gains import chance_faster
from xc40io.studies.plan.hardware import is_count
from xc40io.studies.plan.mix_runs import JobRuns, bottlenecks, bound_words, job_ratio, mix_title
from xc40io.studies.plan.plan import Configuration, Plan
from xc40io.studies.plan.plan_faults import MixFaults
from xc40io.studies.plan.plan_plot import faults_figure, plan_pictures, sensitivity_figure
from xc40io.studies.plan.plan_sensitivity import MixSensitivity, Range
from xc40io.studies.plan.plan_sure import rate_interval
from xc40io.studies.plan.plan_why import (
    cost_words,
    faults_words,
    felt,
    followed,
    money_words,
    reasons,
    sensitivity_words,
    verdicts,
)
from xc40io.studies.ratio import Ratio
from xc40io.telling.answer import (
    Answer,
    Block,
    Card,
    Column,
    Fold,
    Listing,
    Picture,
    Points,
    Section,
    Table,
    Text,
    Values,
    plain_table,
)
from xc40io.telling.text import wrapped
from xc40io.telling.units import ANY, WORDS
from xc40io.topology.text import format_count
from xc40io.trust.how_sure import NINE_OF_TEN, Interval
from xc40io.trust.sureness import chance_words, gigabytes, rate, real_words, span

_MB = 1e6
_FRONT = "*"
_KINDS = ("NICs", "Aries links", "LNET routers", "OSSs", "OSTs", "MDSs", "SSDs")


def plan_answer(
    mix: WorkloadMix,
    command: str,
    plan: Plan | None = None,
    sensitivity: MixSensitivity | None = None,
    faults: MixFaults | None = None,
    beside: Beside | None = None,
    *,
    about: Sequence[Block] = (),
) -> Answer:
    """Return the answer on the studies of a mix that were asked for.

    ``command`` is as typed; ``about`` tells where the jobs come from.
    """
    blocks: list[Block] = [Section("", "", [Listing("", _head(mix, plan))], on="text")]
    if about:
        blocks.append(Section("jobs", "Where the jobs come from", about))
    columns: list[Column] = []
    if plan is not None:
        blocks += _plan_blocks(plan)
        columns += PLAN
    if beside is not None:
        blocks.append(_beside_section(beside))
        columns.append(Column("against", ANY, lambda _: beside_document(beside)))
    if sensitivity is not None:
        blocks.append(_sensitivity_section(sensitivity))
        columns.append(Column("sensitivity", ANY, lambda _: sensitivity_document(sensitivity)))
    if faults is not None:
        blocks += _faults_sections(faults)
        columns.append(Column("faults", ANY, lambda _: faults_document(faults)))
    if plan is not None:
        machine = machine_parts(mix.machine, {}, {}, ())
        blocks.append(Section("machine", "Machine", machine, on="page"))
    again = Listing("Command", command, typed=True)
    blocks.append(Section("again", "To run it again", [again], on="page"))
    return Answer(
        title=mix_title(mix),
        setup=_UNITS if plan is None else plan_setup(plan),
        blocks=blocks,
        values=Values("plan", tuple(columns), plan),
        table=next((made.table for made in (plan, sensitivity, faults) if made is not None), None),
        description=mix.description,
        cards=[] if plan is None else list(_cards(plan)),
        failed=plan is not None and any(each.reason for each in plan.configurations),
    )


_UNITS = "Throughput of the mix: all bytes over all seconds of I/O. GB = 10^9 bytes."


def _head(mix: WorkloadMix, plan: Plan | None) -> str:
    """Return the first lines of the text."""
    return "\n".join([mix_title(mix), *([] if plan is None else wrapped(plan_setup(plan)))])


def _plan_blocks(plan: Plan) -> Iterator[Block]:
    said = Points([*money_words(plan), *verdicts(plan), *cost_words(plan), *followed(plan)])
    why = [f"{name}: {words}" for name, words in reasons(plan, every=False)]
    every = [Text(f"{name}: {words}") for name, words in reasons(plan, every=True)]
    wrong = [
        f"NOT RUN ({each.words}): {each.reason}" for each in plan.configurations if each.reason
    ]
    alerts: list[Block] = [Points(wrong, alert=True)] if wrong else []
    yield Section("answer", "The answer", [Section("", "", alerts, on="page"), said])
    yield Section("pictures", "Pictures", list(plan_pictures(plan)))
    yield Section("tables", "Tables", [configurations_table(plan), gains_table(plan)])
    yield Section("", "", [Points(why, title="Why"), *alerts], on="text")
    changes = Fold("Each change and each job", every)
    yield Section(
        "why", "Why, and where the bottleneck goes", [bounds_table(plan), changes], on="page"
    )


def _beside_section(found: Beside) -> Section:
    said = Points(list(beside_words(found)))
    return Section("against", "Beside the other mix", [said, beside_table(found)])


def _sensitivity_section(found: MixSensitivity) -> Section:
    picture = Picture("sensitivity", partial(sensitivity_figure, found))
    said = Points(list(sensitivity_words(found)))
    blocks: list[Block] = [said, picture, *sensitivity_tables(found)]
    return Section("sensitivity", "What the throughput depends on", blocks)


def _faults_sections(found: MixFaults) -> Iterator[Section]:
    """Yield the throughput with failed parts; what could not be run first, in text last."""
    wrong = list(faults_missing(found))
    alerts: list[Block] = [Points(wrong, alert=True)] if wrong else []
    picture = Picture("faults", partial(faults_figure, found))
    answer = Points(list(faults_words(found)))
    told: list[Block] = [Section("", "", alerts, on="page"), answer, picture, faults_table(found)]
    yield Section("faults", "With failed parts", told)
    if wrong:
        said = [f"NOT RUN ({words})" for words in wrong]
        yield Section("", "", [Points(said, alert=True)], on="text")


def _cards(plan: Plan) -> Iterator[Card]:
    sure = rate_interval(plan, plan.present)
    note = "" if sure is None else real_words(sure, rate)
    yield Card("mix, as it is", f"{(plan.present.rate or 0.0) / GB:,.4g} GB/s", note)
    ran = [each for each in plan.configurations if each.rate is not None]
    best = max(ran, key=lambda each: each.rate or 0.0)
    if best is not plan.present:
        yield Card("fastest", f"{(best.rate or 0.0) / GB:,.4g} GB/s", best.words)


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


def configurations_table(plan: Plan) -> Table:
    """Return the throughput of the mix and of each job, and the cost, by configuration."""
    jobs = [job.name for job in plan.mix.jobs]
    known = any(_chance(plan, each) is not None for each in plan.configurations)
    chances = ["chance"] if known else []
    sure = {each.words: rate_interval(plan, each) for each in plan.configurations}
    real = ["real mix"] if any(sure.values()) else []
    heads = ["configuration", "mix", *real, "times as fast", *chances, *jobs]
    words = [0]
    if plan.costs:
        currency = plan.mix.currency or "units"
        heads += [f"cost ({currency})", f"{currency} per GB/s", "front"]
        words.append(len(heads) - 1)
    rows = [
        _row(plan, each, sure[each.words], chances=bool(chances), real=bool(real))
        for each in plan.configurations
        if each.rate is not None
    ]
    note = "GB/s: 10^9 bytes a second."
    if real:
        note += f" Real mix: where {NINE_OF_TEN} real runs would lie, were all jobs off alike."
    if chances:
        note += " Chance: that it really is faster, by the errors of such ratios."
    if plan.costs:
        note += (
            " Cost: in addition to the machine as it is; empty where a change has none. *: surely "
            "faster than all that cost less."
        )
    return plain_table(
        "Throughput of the mix and of each job (GB/s)", heads, rows, words=words, note=note
    )


def _row(
    plan: Plan, each: Configuration, sure: Interval | None, *, chances: bool, real: bool
) -> list[str]:
    assert each.rate is not None
    rates = (f"{runs.rate / GB:,.4g}" for runs in each.runs)
    chance = _chance(plan, each)
    told = ["" if chance is None else chance_words(chance)] if chances else []
    lies = ["" if sure is None else span(sure, gigabytes)] if real else []
    row = [each.words, f"{each.rate / GB:,.4g}", *lies, ratio_words(each.ratio), *told, *rates]
    if plan.costs:
        gained = (each.rate - (plan.present.rate or 0.0)) / GB
        cost = "" if each.cost is None else f"{each.cost:,.0f}"
        worth = each.cost is not None and each.cost > 0.0 and gained > 0.0
        price = f"{(each.cost or 0.0) / gained:,.0f}" if worth else ""
        row += [cost, price, _FRONT if each.efficient else ""]
    return row


def ratio_words(ratio: Ratio | None) -> str:
    """Write a ratio with its interval; 1 where there is none."""
    return "1" if ratio is None else ratio.words


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
        rows.append([each.words, f"{gain / GB:+.3f}", _per_unit(plan, each, path, gain), *ratios])
    note = (
        "For each unit: the gain or loss of the mix, divided by the number of units added or "
        "removed. In the columns of the jobs: how many times as fast each job is."
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
    bounds = [bound for each in plan.configurations for runs in each.runs for bound in runs.bounds]
    kinds = [kind for kind in _KINDS if any(bound.kinds.get(kind) for bound in bounds)]
    heads = ["configuration", "job", "bound by", *(f"{kind} (%)" for kind in kinds)]
    rows = []
    for each in plan.configurations:
        for job, runs in zip(plan.mix.jobs, each.runs, strict=False):
            busy = (f"{100 * _busy(runs, kind):.0f}" for kind in kinds)
            rows.append([each.words, job.name, bottlenecks(runs), *busy])
    note = (
        "In percent of a job's time: the busiest station of each kind, all phases together. A "
        "station binds a phase if it was busy for 80 % of it or more and ranks waited for it. "
        "Stations bind it in turn if at each such time one or another of their kind was busy."
    )
    return plain_table("What bound each job", heads, rows, words=(0, 1, 2), note=note)


def _busy(runs: JobRuns, kind: str) -> float:
    """Return the share of a job's phases in which the busiest station of a kind was busy."""
    total = sum(bound.seconds for bound in runs.bounds)
    return sum(bound.seconds * bound.kinds.get(kind, 0.0) for bound in runs.bounds) / total


def sensitivity_tables(found: MixSensitivity) -> list[Table]:
    """Return the effects of all values, and the shares of the few that matter."""
    rows = [
        [
            effect.range.path,
            *_bounds(found, effect.range),
            *(
                f"{value / GB:,.3f}"
                for value in (effect.size, effect.error, effect.mean, effect.spread)
            ),
        ]
        for effect in found.effects
    ]
    heads = ["value", "from", "to", "effect", "+-", "with its sign", "spread"]
    note = (
        f"Morris' elementary effects over the range, {found.trajectories} trajectories: mean of "
        "their sizes (mu*) with its 95 % interval, mean (mu), standard deviation (sigma). "
        "Where the spread is as large as the effect, the effect depends on other values."
    )
    tables = [plain_table("Effect of each value on the mix (GB/s)", heads, rows, note=note)]
    if found.shares:
        shares = [
            [share.path, *(f"{100 * value:.0f}" for value in share[1:])] for share in found.shares
        ]
        tables.append(
            plain_table(
                "Share of the variance (%)",
                ["value", "by itself", "+-", "with others", "+-"],
                shares,
                note=f"Sobol's first-order and total indices, {found.samples} samples, "
                "95 % intervals.",
            )
        )
    return tables


def _bounds(found: MixSensitivity, one: Range) -> list[str]:
    """Write the bounds of a range with their units."""
    return [_with_unit(one.path, bound, found.mix.machine) for bound in (one.low, one.high)]


def _with_unit(path: str, value: float, machine: Machine) -> str:
    """Write a value of a machine with the unit that its field has."""
    if is_count(path, machine):
        return f"{value:g}"
    written = str(machine.value(path, units=True))
    if written.endswith("op/s"):
        return format_per_second(value, 3)
    if written.endswith("B/s"):
        return format_rate(value, 3)
    if written.endswith("B"):
        return format_bytes(round(value), 3)
    return format_seconds(value, 3) if written.endswith("s") else f"{value:.3g}"


def faults_table(found: MixFaults) -> Table:
    """Return the throughput of the mix and of each job by failed parts."""
    rows = []
    for curve in found.curves:
        whole = curve.points[0].rate
        for point in curve.points:
            if point.rate is None:
                continue
            share = f"{100 * point.rate / whole:.0f}" if whole else ""
            rates = (f"{runs.rate / GB:,.4g}" for runs in point.runs)
            row = [curve.fault, f"{point.number}", f"{point.rate / GB:,.4g}", share, *rates]
            rows.append(row)
    heads = ["fault", "parts", "mix", "% of full", *(job.name for job in found.mix.jobs)]
    note = "GB/s: 10^9 bytes a second. Each job begins at 0 s, with the faults from then on."
    return plain_table("Throughput with failed parts (GB/s)", heads, rows, note=note)


def faults_missing(found: MixFaults) -> Iterator[str]:
    """Say what could not be run."""
    for curve in found.curves:
        for point in curve.points:
            if point.reason:
                yield f"{curve.fault}, {point.number} parts: {point.reason}"


def sensitivity_document(found: MixSensitivity) -> dict[str, Any]:
    """Arrange sensitivities for JSON; bytes/s, and parts of the variance."""
    return {
        "bandwidth": found.rate,
        "trajectories": found.trajectories,
        "samples": found.samples,
        "effects": [
            effect._asdict() | {"range": effect.range._asdict()} for effect in found.effects
        ],
        "shares": [share._asdict() for share in found.shares],
    }


def faults_document(found: MixFaults) -> list[dict[str, Any]]:
    """Arrange faults for JSON; bytes/s."""
    return [
        {
            "fault": curve.fault,
            "points": [
                {
                    "failed": point.number,
                    "bandwidth": point.rate,
                    "jobs": {
                        job.name: runs.rate
                        for job, runs in zip(found.mix.jobs, point.runs, strict=False)
                    },
                    "failure": point.reason or None,
                }
                for point in curve.points
            ],
        }
        for curve in found.curves
    ]


PLAN = (
    Column("title", WORDS, lambda plan: mix_title(plan.mix)),
    Column("weights", WORDS, lambda plan: plan.mix.weights, help="What the weights count."),
    Column("jobs", ANY, lambda plan: _jobs(plan), help="Name, weight, and how many there are."),
    Column("seeds", ANY),
    Column(
        "axes",
        ANY,
        lambda plan: [{"path": one.path, "values": list(one.values)} for one in plan.axes],
        help="What is varied.",
    ),
    Column("costs", ANY, help="What one unit more costs, by path."),
    Column("currency", WORDS, lambda plan: plan.mix.currency),
    Column(
        "answer",
        ANY,
        lambda plan: [*verdicts(plan), *cost_words(plan), *followed(plan)],
        help="Sentences, for people.",
    ),
    Column(
        "configurations",
        ANY,
        lambda plan: [_document(plan, each) for each in plan.configurations],
        help="The machine as it is, each change alone, all combinations: bytes/s, seconds, costs.",
    ),
)


def _jobs(plan: Plan) -> list[dict[str, Any]]:
    return [
        {"name": job.name, "weight": job.weight, "count": count}
        for job, count in zip(plan.mix.jobs, plan.counts, strict=True)
    ]


def _document(plan: Plan, each: Configuration) -> dict[str, Any]:
    told = felt(plan, plan.present, each) if each.values and each.runs else []
    said = {one.job: one.said for one in told}
    return {
        "values": dict(each.values),
        "bandwidth": each.rate,
        **_real_document(plan, each),
        "times_as_fast": None if each.ratio is None else each.ratio._asdict(),
        **_chance_document(plan, each),
        "cost": each.cost,
        "efficient": each.efficient,
        "failure": each.reason or None,
        "jobs": {
            job.name: _job_document(runs, said.get(job.name, ""))
            for job, runs in zip(plan.mix.jobs, each.runs, strict=False)
        },
    }


def _chance(plan: Plan, each: Configuration) -> float | None:
    """Return the chance that a configuration really is faster than the machine as it is."""
    if each.ratio is None or plan.exact:
        return None
    return chance_faster(each.ratio)


def _real_document(plan: Plan, each: Configuration) -> dict[str, Any]:
    sure = rate_interval(plan, each)
    return {} if sure is None else {"real": sure._asdict()}


def _chance_document(plan: Plan, each: Configuration) -> dict[str, float]:
    chance = _chance(plan, each)
    return {} if chance is None else {"chance_better": chance}


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
