"""What a plan tells: the answer, its tables and pictures, for text, JSON, pandas and a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any, Literal

from xc40io.config.machine import Machine
from xc40io.config.units import GB, format_bytes, format_per_second, format_rate, format_seconds
from xc40io.config.workload_mix import Option, WorkloadMix
from xc40io.findings.bottlenecks import plurals_of
from xc40io.plane.stations import StationKind
from xc40io.results.machine_text import machine_parts
from xc40io.studies.plan.beside import PlanPair, beside_document, beside_table, beside_words
from xc40io.studies.plan.gains import WORTH_A_WORD, is_felt, ratio_words, unfelt
from xc40io.studies.plan.hardware import is_count
from xc40io.studies.plan.mix_runs import JobRuns, bottlenecks, bound_words, mix_title
from xc40io.studies.plan.other_layouts import EitherWay, either_way_document, either_way_words
from xc40io.studies.plan.plan import Configuration, Plan
from xc40io.studies.plan.plan_faults import FailedParts, FaultCurve, MixFaults
from xc40io.studies.plan.plan_plot import faults_figure, plan_pictures, sensitivity_figure
from xc40io.studies.plan.plan_sensitivity import MixSensitivity, Range
from xc40io.studies.plan.plan_sure import rate_interval
from xc40io.studies.plan.plan_verdict import verdict_document, verdict_words
from xc40io.studies.plan.plan_why import (
    cost_words,
    faults_words,
    felt,
    followed,
    lost_words,
    reasons,
    sensitivity_words,
    verdicts,
)
from xc40io.studies.ratio import Ratio
from xc40io.telling.answer import (
    CELL,
    Answer,
    Block,
    Card,
    Column,
    Columns,
    Fold,
    Listing,
    Picture,
    Points,
    Section,
    Table,
    Text,
    Unit,
    Values,
)
from xc40io.telling.text import wrapped
from xc40io.telling.units import (
    ANY,
    GAINED,
    GAINED_PER,
    HUNDREDS,
    IN_RATES,
    MONEY,
    NUMBER,
    RECORD,
    ROWS,
    THOUSANDTHS,
    WORDS,
)
from xc40io.topology.text import format_count
from xc40io.trust.how_sure import NINE_OF_TEN
from xc40io.trust.sureness import chance_column, gigabytes, rate, real_words, span

_FRONT = Unit("", bool, lambda front: "*" if front else "", left=True)
_SPAN = Unit("bytes/s", object, lambda sure: span(sure, gigabytes))
_KINDS = (
    *(StationKind.NIC, StationKind.LINK, StationKind.LNET, StationKind.OSS, StationKind.OST),
    *(StationKind.MDS, StationKind.SSD),
)


def plan_answer(
    mix: WorkloadMix,
    command: str,
    plan: Plan | None = None,
    sensitivity: MixSensitivity | None = None,
    faults: MixFaults | None = None,
    beside: PlanPair | None = None,
    either: EitherWay | None = None,
    *,
    about: Sequence[Block] = (),
) -> Answer:
    """Return the answer on the studies of a mix that were asked for.

    ``command`` is as typed; ``about`` tells where the jobs come from.
    """
    blocks: list[Block] = [Section("", "", [Listing("", mix_title(mix))], on="text")]
    if plan is not None:
        said = Points(list(verdict_words(plan, either)))
        blocks.append(Section("answer", "The answer", [*_alerts(plan, on="page"), said]))
        setup = Listing("", "\n".join(wrapped(plan_setup(plan))))
        blocks.append(Section("", "", [setup], on="text"))
    if about:
        blocks.append(Section("jobs", "Where the jobs come from", about))
    columns: list[Column] = []
    if plan is not None:
        blocks += _plan_blocks(plan)
        columns.append(Column("verdict", ANY, lambda plan: verdict_document(plan, either)))
        columns += PLAN
    if beside is not None:
        blocks.append(_beside_section(beside))
        columns.append(Column("against", ANY, lambda _: beside_document(beside)))
    if either is not None:
        said = Points(list(either_way_words(either)))
        blocks.append(Section("layouts", "What hangs on who shares files", [said]))
        columns.append(Column("layouts", ANY, lambda _: either_way_document(either)))
    if sensitivity is not None:
        blocks.append(_sensitivity_section(sensitivity))
        columns.append(Column("sensitivity", RECORD, lambda _: sensitivity, inner=_SENSITIVITY))
    if faults is not None:
        blocks += _faults_sections(faults)
        inner = _faults_columns(mix, faults)
        columns.append(Column("faults", ROWS, lambda _: faults.curves, inner=inner))
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


def plan_note(found: Plan | MixSensitivity | MixFaults) -> Answer:
    """Return the answer on one study of a mix."""
    names: dict[type, str] = {Plan: "plan", MixSensitivity: "sensitivity", MixFaults: "faults"}
    asked: dict[str, Any] = {names[type(found)]: found}
    return plan_answer(found.mix, "", **asked)


_UNITS = "Throughput of the mix: all bytes over all seconds of I/O. GB = 10^9 bytes."


def _alerts(plan: Plan, on: Literal["page", "text"]) -> list[Block]:
    """Return what could not run: first on a page, last in text."""
    wrong = [
        f"NOT RUN ({each.words}): {each.reason}" for each in plan.configurations if each.reason
    ]
    return [Section("", "", [Points(wrong, alert=True)], on=on)] if wrong else []


def _plan_blocks(plan: Plan) -> Iterator[Block]:
    said = Points([*verdicts(plan), *cost_words(plan), *followed(plan)], title="Each change")
    why = [f"{name}: {words}" for name, words in reasons(plan, every=False)]
    every = [Text(f"{name}: {words}") for name, words in reasons(plan, every=True)]
    yield Section("pictures", "Pictures", list(plan_pictures(plan)))
    yield Section("tables", "Tables", [configurations_table(plan), gains_table(plan)])
    yield Section("changes", "Each change", [said])
    yield Section("", "", [Points(why, title="Why"), *_alerts(plan, on="text")], on="text")
    changes = Fold("Each change and each job", every)
    yield Section(
        "why", "Why, and where the bottleneck goes", [bounds_table(plan), changes], on="page"
    )


def _beside_section(found: PlanPair) -> Section:
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
    rows = [each for each in plan.configurations if each.rate is not None]
    sure = {each.words: rate_interval(plan, each) for each in rows}
    currency = plan.currency
    columns: Columns = (
        Column("words", WORDS, head="configuration"),
        Column("rate", IN_RATES, head="mix"),
        Column("real", _SPAN, lambda each: sure[each.words], head="real mix", optional=True),
        Column("ratio", CELL, lambda each: _ratio_words(each.ratio), head="times as fast"),
        chance_column(plan.chance, "", head="chance"),
        Column("jobs", IN_RATES, lambda each: _rates(plan.mix, each.runs), spread=True),
    )
    note = f"GB/s: 10^9 bytes a second. {_SAME}"
    if any(sure.values()):
        note += f" Real mix: where {NINE_OF_TEN} would lie, were all jobs off alike."
    if any(plan.chance(each) is not None for each in rows):
        note += " Chance: that it really is faster, by the errors of such ratios."
    if plan.is_priced:
        columns += (
            Column("cost", MONEY, head=f"cost ({currency})"),
            Column("price", MONEY, partial(_price, plan), head=f"{currency} per GB/s"),
            Column("efficient", _FRONT, head="front"),
        )
        note += (
            " Cost: in addition to the machine as it is; empty where a change has none. *: certain "
            "to be faster than all that cost less."
        )
    title = "Throughput of the mix and of each job (GB/s)"
    return Table(columns, lambda: rows, title=title, note=note, most=len(rows))


def _rates(mix: WorkloadMix, runs: Sequence[JobRuns]) -> dict[str, float]:
    """Return bytes/s of each job by its name; none where the mix could not run."""
    return {job.name: one.rate for job, one in zip(mix.jobs, runs, strict=False)}


def _price(plan: Plan, each: Configuration) -> float | None:
    """Return the cost of each GB/s more; None where nothing is paid, or gained."""
    gained = _felt_gain(plan, each) or 0.0
    worth = each.cost is not None and each.cost > 0.0 and gained > 0.0
    return (each.cost or 0.0) / gained * GB if worth else None


def _gain(plan: Plan, each: Configuration) -> float:
    """Return how many bytes/s more the mix has than on the machine as it is."""
    return (each.rate or 0.0) - (plan.present.rate or 0.0)


_SAME = (
    f"No difference: less than {100 * WORTH_A_WORD:.0f} %, or no more than chance by the seeds; "
    "left open: as much as that, but large (--repeat)."
)


def _ratio_words(ratio: Ratio | None) -> str:
    """Write a ratio with its interval; 1 where there is none."""
    return "1" if ratio is None else ratio_words(ratio)


def gains_table(plan: Plan) -> Table:
    """Return a table of changes: GB/s that the mix gains, for each unit too, and jobs' gains."""
    rows = [each for each in plan.alone if each.rate is not None]
    columns = (
        Column("words", WORDS, head="change alone"),
        Column("gain", GAINED, partial(_felt_gain, plan), head="mix (GB/s)"),
        Column("each", GAINED_PER, partial(_per_unit, plan), head="for each unit"),
        Column("jobs", CELL, partial(_ratios, plan), spread=True),
    )
    note = (
        "For each unit: the gain or loss of the mix, divided by the number of units added or "
        "removed; both are empty where the mix feels no difference. In the columns of the jobs: "
        "how many times as fast each job is."
    )
    title = "Marginal gains from the machine as it is"
    return Table(columns, lambda: rows, title=title, note=note, most=len(rows))


def _felt_gain(plan: Plan, each: Configuration) -> float | None:
    """Return how many bytes/s more the mix has; None where that makes no difference."""
    return _gain(plan, each) if each.ratio is not None and is_felt(each.ratio) else None


def _ratios(plan: Plan, each: Configuration) -> dict[str, str]:
    """Return how many times as fast each job is as on the machine as it is."""
    told = felt(plan, plan.present, each)
    return {one.job: f"{one.ratio.value:.3g}" if one.changed else unfelt(one.ratio) for one in told}


def _per_unit(plan: Plan, each: Configuration) -> tuple[float, str] | None:
    """Return the gain for one unit; None for times, which are not bought by units."""
    (path,) = each.values
    if each.options or _felt_gain(plan, each) is None:
        return None
    unit, units = plan.hardware(path).unit, plan.units(each, path)
    return (_gain(plan, each) / units, unit) if unit and units else None


def bounds_table(plan: Plan) -> Table:
    """Return a table: what bound each job on each configuration, and how busy stations were."""
    bounds = [bound for each in plan.configurations for runs in each.runs for bound in runs.bounds]
    plurals = map(plurals_of(plan.mix.machine).__getitem__, _KINDS)
    kinds = [kind for kind in plurals if any(bound.kinds.get(kind) for bound in bounds)]
    rows = [
        (each.words, job.name, runs)
        for each in plan.configurations
        for job, runs in zip(plan.mix.jobs, each.runs, strict=False)
    ]
    columns = (
        Column("words", WORDS, itemgetter(0), head="configuration"),
        Column("job", WORDS, itemgetter(1)),
        Column("bound_by", WORDS, lambda row: bottlenecks(row[2]), head="bound by"),
        Column(
            "busy",
            HUNDREDS,
            lambda row: {f"{kind} (%)": _busy(row[2], kind) for kind in kinds},
            spread=True,
        ),
    )
    note = (
        "In percent of a job's time: the busiest station of each kind, all phases together. A "
        "station binds a phase if it was busy for 80 % of it or more and ranks waited for it. "
        "Stations bind it in turn if at each such time one or another of their kind was busy."
    )
    return Table(columns, lambda: rows, title="What bound each job", note=note, most=len(rows))


def _busy(runs: JobRuns, kind: str) -> float:
    """Return the share of a job's phases in which the busiest station of a kind was busy."""
    total = sum(bound.seconds for bound in runs.bounds)
    return sum(bound.seconds * bound.kinds.get(kind, 0.0) for bound in runs.bounds) / total


def sensitivity_tables(found: MixSensitivity) -> list[Table]:
    """Return the effects of all values, and the shares of the few that matter."""
    machine, effects, shares = found.mix.machine, found.effects, found.shares
    columns = (
        Column("value", WORDS, lambda one: one.range.path),
        Column("low", CELL, lambda one: _bound(one.range, one.range.low, machine), head="from"),
        Column("high", CELL, lambda one: _bound(one.range, one.range.high, machine), head="to"),
        Column("size", THOUSANDTHS, head="effect"),
        Column("error", THOUSANDTHS, head="+-"),
        Column("mean", THOUSANDTHS, head="with its sign"),
        Column("spread", THOUSANDTHS),
    )
    note = (
        f"Morris' elementary effects over the range, {found.trajectories} trajectories: mean of "
        "their sizes (mu*) with its 95 % interval, mean (mu), standard deviation (sigma). "
        "Where the spread is as large as the effect, the effect depends on other values."
    )
    title = "Effect of each value on the mix (GB/s)"
    tables = [Table(columns, lambda: effects, title=title, note=note, most=len(effects))]
    if shares:
        note = f"Sobol's first-order and total indices, {found.samples} samples, 95 % intervals."
        tables.append(Table(_SHARES, lambda: shares, title="Share of the variance (%)", note=note))
    return tables


_SHARES = (
    Column("path", WORDS, head="value"),
    Column("first", HUNDREDS, head="by itself"),
    Column("first_error", HUNDREDS, head="+-"),
    Column("total", HUNDREDS, head="with others"),
    Column("total_error", HUNDREDS, head="+-"),
)


def _bound(one: Range, value: float, machine: Machine) -> str:
    """Write a bound of a range with the unit that the field of the machine has."""
    if is_count(one.path, machine):
        return f"{value:g}"
    written = str(machine.value(one.path, units=True))
    if written.endswith("op/s"):
        return format_per_second(value, 3)
    if written.endswith("B/s"):
        return format_rate(value, 3)
    if written.endswith("B"):
        return format_bytes(round(value), 3)
    return format_seconds(value, 3) if written.endswith("s") else f"{value:.3g}"


def faults_table(found: MixFaults) -> Table:
    """Return the throughput of the mix and of each job by failed parts."""
    rows = [
        (curve, point) for curve in found.curves for point in curve.points if point.rate is not None
    ]
    columns = (
        Column("fault", WORDS, lambda row: row[0].fault),
        Column("parts", NUMBER, lambda row: row[1].number),
        Column("mix", IN_RATES, lambda row: row[1].rate),
        Column("share", HUNDREDS, _of_full, head="% of full"),
        Column("jobs", CELL, partial(_taken, found.mix), spread=True),
    )
    note = (
        "GB/s: 10^9 bytes a second. Of each job: its seconds of I/O, and how many are lost. Each "
        "job begins at 0 s, with the faults from then on. No difference: no more than between "
        "the seeds."
    )
    title = "Throughput with failed parts (GB/s)"
    return Table(columns, lambda: rows, title=title, note=note, most=len(rows))


def _taken(mix: WorkloadMix, row: tuple[FaultCurve, FailedParts]) -> dict[str, str]:
    """Return the seconds of each job by its name, with those that are lost."""
    curve, point = row
    told = {}
    for job, before, after in zip(mix.jobs, curve.points[0].runs, point.runs, strict=False):
        lost = lost_words(before, after) or "no difference"
        told[job.name] = format_seconds(after.mean, 3) + (f" ({lost})" if point.number else "")
    return told


def _of_full(row: tuple[FaultCurve, FailedParts]) -> float | None:
    """Return the share of the throughput that is left; None where there was none."""
    curve, point = row
    whole = curve.points[0].rate
    return (point.rate or 0.0) / whole if whole else None


def faults_missing(found: MixFaults) -> Iterator[str]:
    """Say what could not be run."""
    for curve in found.curves:
        for point in curve.points:
            if point.reason:
                yield f"{curve.fault}, {point.number} parts: {point.reason}"


_SENSITIVITY = (
    Column("bandwidth", ANY, attrgetter("rate")),
    *(Column(name, ANY) for name in ("trajectories", "samples", "effects", "shares")),
)
"""Of a sensitivity; bytes/s, and parts of the variance."""


def _faults_columns(mix: WorkloadMix, found: MixFaults) -> Columns:
    """Return the columns of faults for JSON; bytes/s, seconds."""
    usual = {id(point): curve.points[0] for curve in found.curves for point in curve.points}

    def lost(point: FailedParts) -> dict[str, float]:
        rows = zip(mix.jobs, usual[id(point)].runs, point.runs, strict=False)
        return {job.name: after.mean - before.mean for job, before, after in rows}

    points = (
        Column("failed", ANY, attrgetter("number")),
        Column("bandwidth", ANY, attrgetter("rate")),
        Column("jobs", ANY, lambda point: _rates(mix, point.runs)),
        Column("seconds_lost", ANY, lost),
        Column("failure", ANY, lambda point: point.reason or None),
    )
    return Column("fault", ANY), Column("points", ROWS, inner=points)


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
    Column(
        "options",
        ANY,
        lambda plan: [_option(plan, one) for one in plan.mix.options],
        help="What may be chosen as a whole, and which jobs cannot use it.",
    ),
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


def _option(plan: Plan, option: Option) -> dict[str, Any]:
    refused = {one.job: one.reason for one in plan.refused if one.option == option.name}
    return {"name": option.name, "set": option.set, "cost": option.cost, "refused": refused}


def _jobs(plan: Plan) -> list[dict[str, Any]]:
    return [
        {"name": job.name, "weight": job.weight, "count": count}
        for job, count in zip(plan.mix.jobs, plan.counts, strict=True)
    ]


def _document(plan: Plan, each: Configuration) -> dict[str, Any]:
    told = felt(plan, plan.present, each) if each.values and each.runs else []
    said = {one.job: one.said for one in told}
    sure, chance = rate_interval(plan, each), plan.chance(each)
    return {
        "values": each.values,
        "bandwidth": each.rate,
        **({} if sure is None else {"real": sure}),
        "times_as_fast": each.ratio,
        **({} if chance is None else {"chance_better": chance}),
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
