"""The report of a validation as an answer: verdicts by group, what fails, what it adds up to."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from operator import attrgetter
from typing import Any, NamedTuple

from xc40io.studies.store import code_hash
from xc40io.telling.answer import (
    Answer,
    Block,
    Column,
    Columns,
    Fold,
    Picture,
    Points,
    Section,
    Table,
    Text,
    To,
    Unit,
    Values,
)
from xc40io.telling.sheet import Heading
from xc40io.telling.units import ANY, FLAG, NUMBER, RATIO, RECORD, ROWS, WORDS
from xc40io.topology.text import format_count
from xc40io.validation.claim import Claim
from xc40io.validation.figures.agreement import Ratio, draw_ratios
from xc40io.validation.frozen import digest_of
from xc40io.validation.quantity import NUMBER as PLAIN
from xc40io.validation.quantity import Quantity, natural
from xc40io.validation.report import FAR, NEAR, Nearness, Report, Summary, kinds_of
from xc40io.validation.target import FIRMNESS
from xc40io.validation.verdict import Outcome, Verdict

_MOST_NUMBERS = 4

NEARNESS_WORDS = {
    "calibration": "Numbers to which something was fitted",
    "check": "All checks",
    "prediction": "Genuine predictions among them",
}
"""What the kinds of numbers are called at the beginning of a sentence."""


def nearness_words(nearness: Nearness) -> str:
    """Say how near some numbers are: median, and how many are off."""
    if nearness.median is None:
        return "none"
    factor = math.exp(nearness.median)
    return (
        f"{format_count(nearness.numbers, 'number')}, median {nearness.median:.3f} (a factor of "
        f"{factor:.2f}), {nearness.off} beyond a factor of {NEAR:g}, {nearness.far} beyond {FAR:g}"
    )


def median_words(nearness: Nearness) -> str:
    """Write a median with how many numbers it is of; nothing without any."""
    return "" if nearness.median is None else f"{nearness.median:.3f} ({nearness.numbers})"


_MEDIAN = Unit("", dict, median_words)

_POINT: Columns = (
    Column("name", WORDS),
    Column("measured", ANY, attrgetter("measured.base")),
    Column("written", WORDS, lambda point: str(point.measured)),
    Column("simulated", ANY),
    Column("ratio", RATIO),
    Column("shown", WORDS, lambda point: point.measured.show(point.simulated)),
    Column("holds", FLAG),
    Column("counts", FLAG),
)

_SUMMARY: Columns = (
    Column("group", WORDS, head="", to=To.PEOPLE),
    Column("claims", NUMBER),
    Column("passed", NUMBER, head="pass"),
    Column("failed", NUMBER, head="fail"),
    Column("unjudged", NUMBER, head="no verdict"),
    Column("left_out", NUMBER, head="not run"),
    Column("not_expressed", NUMBER, head="not comparable"),
    Column("nearness", _MEDIAN, spread=True),
)


def _claim_columns(predicted: Container[str]) -> Columns:
    """Return what programs are told of an outcome."""
    return (
        Column("id", WORDS, attrgetter("claim.id")),
        Column("group", WORDS, attrgetter("claim.family")),
        Column("text", WORDS, attrgetter("claim.title")),
        Column("target", RECORD, attrgetter("claim.target")),
        Column("role", ANY, _role),
        Column("prediction", FLAG, lambda one: one.claim.id in predicted),
        Column("digest", WORDS, lambda one: digest_of(one.claim)),
        Column("parameters", ANY, attrgetter("claim.parameters")),
        Column("metric", ANY, lambda one: one.claim.metric and one.claim.metric.text),
        Column("parameter", ANY, lambda one: one.claim.parameter and one.claim.parameter.text),
        Column("published", WORDS, lambda one: one.claim.relation.words if _told(one) else ""),
        Column("simulated", WORDS, lambda one: simulated_words(one) if _told(one) else ""),
        Column("verdict", WORDS, attrgetter("verdict.value")),
        Column("points", ROWS, inner=_POINT),
        Column("numbers", RECORD),
        Column("stated", WORDS),
        Column("complaints", ANY),
        Column("without_verdict", WORDS, attrgetter("without")),
        Column("remarks", ANY),
        Column("note", WORDS, attrgetter("claim.note")),
        Column("suspect", WORDS, attrgetter("claim.suspect")),
        Column("bounds", RECORD, _bounds),
    )


def _told(outcome: Outcome) -> bool:
    return outcome.claim.relation is not None


def _role(outcome: Outcome) -> str | None:
    return outcome.claim.role or ("input" if outcome.claim.parameter else None)


def _bounds(outcome: Outcome) -> dict[str, Any]:
    return {run: records[0].bounds for run, records in outcome.records.items()}


class _Line(NamedTuple):
    """A line of the table of claims."""

    id: str
    claim: str
    measured: str = ""
    simulated: str = ""
    ratio: float | None = None
    verdict: str = ""
    about: str = ""


_LINE: Columns = (
    Column("id", WORDS),
    Column("claim", WORDS, most=56),
    Column("measured", WORDS),
    Column("simulated", WORDS),
    Column("ratio", RATIO),
    Column("verdict", WORDS),
)


def report_answer(
    report: Report, *, everything: bool = False, figures: Sequence[Block] = ()
) -> Answer:
    """Return a report as an answer.

    Its values are ``version``, ``code`` (a hash of the simulator's sources), ``claims`` (each with
    its published row, its verdict, ``points``: measured beside simulated numbers, ``numbers``: the
    metric by run, ``complaints``, ``prediction``: whether it is a genuine one), ``groups`` and
    ``total`` (what they add up to). Bytes, seconds, bytes/s.

    Parameters
    ----------
    report
        The report.
    everything
        Whether the text lists also the claims without a verdict, with the reason of each;
        otherwise they are counted. A page always does.
    figures
        What a page shows of the published curves
        (:func:`~xc40io.validation.report_figures.figure_blocks`).
    """
    total = report.total
    said = f"{total.passed} of {total.passed + total.failed} claims with a verdict hold."
    if total.not_expressed:
        rows = format_count(total.not_expressed, "published row")
        said += f" {rows} cannot be compared with runs."
    without = [
        (f"{one.claim.id}  {one.claim.title}", one.without)
        for one in report.outcomes
        if one.without
    ]
    reasons = Points(without, "Without a verdict")
    folded = Fold(format_count(len(without), "claim"), [reasons])
    return Answer(
        "Simulated beside measured",
        f"sources {code_hash()}",
        [
            Section("summary", "Summary by group", list(_sums(report, page=True)), on="page"),
            Section("lines", "", [_claims(report, page=False)], on="text"),
            _failures(report),
            Section("claims", "Claims", [_claims(report, page=True)], on="page"),
            Section("figures", "Figures", figures, on="page"),
            Section("without", reasons.title, [folded] if without else [], on="page"),
            Section("reasons", "", [reasons] if everything and without else [], on="text"),
            Section("sums", "", list(_sums(report, page=False)), on="text"),
        ],
        values=_values(report),
        description=said,
    )


def _values(report: Report) -> Values:
    columns = (
        Column("version", WORDS),
        Column("code", WORDS),
        Column("claims", ROWS, inner=_claim_columns(report.predictions)),
        Column("groups", RECORD),
        Column("total", RECORD),
    )
    of = {
        "version": version("xc40io"),
        "code": code_hash(),
        "claims": report.outcomes,
        "groups": {name: _sum(summary) for name, summary in report.summaries.items()},
        "total": _sum(report.total),
    }
    return Values("validation", columns, of)


def _sum(summary: Summary) -> dict[str, Any]:
    return {"claims": summary.claims, **vars(summary)}


def _sums(report: Report, *, page: bool) -> Iterator[Block]:
    """Yield what the claims of each group add up to, and how near the numbers are."""
    rows = {**report.summaries, "all": report.total}
    yield Table(
        _SUMMARY,
        lambda: [{"group": name, **_sum(summary)} for name, summary in rows.items()],
        note=_PREDICTIONS,
        total=True,
    )
    told = [
        f"{NEARNESS_WORDS[kind]}: {nearness_words(nearness)}."
        for kind, nearness in report.total.nearness.items()
        if nearness.numbers
    ]
    if told:
        yield Text("\n".join(told))
    groups = {
        name: [
            Ratio(point.ratio, kinds[-1])
            for outcome in outcomes
            if (kinds := kinds_of(outcome.claim, report.predictions))
            for point in outcome.points
            if point.counts
        ]
        for name, outcomes in report.groups.items()
    }
    groups = {name: ratios for name, ratios in groups.items() if ratios}
    if page and groups:
        yield Picture("agreement", partial(draw_ratios, _AGREEMENT, groups))


_PREDICTIONS = (
    "Median of |ln(simulated / measured)| in the last columns, with how many numbers that is. "
    "Calibration rows were used to fit the model; check rows were not. Predictions are the checks "
    "whose numbers the simulator was never shown: no fitted or "
    "input claim of the same row, none that shares a run, no value of the machine from there."
)
_AGREEMENT = Heading(
    "How far simulated numbers are from measured ones, by group",
    caption="Each point a measured number; grey: within 25 %.",
)


def _failures(report: Report) -> Section:
    """Return what does not hold, and why that may be."""
    if not report.failed:
        return Section("fails", "What fails", [Text("Nothing.")], on="page")
    points = [
        (
            f"{one.claim.id}  {one.claim.title}",
            "; ".join([*one.complaints, f"suspected: {one.claim.suspect or 'nothing yet'}"]),
        )
        for one in report.failed
    ]
    return Section("fails", "What fails", [Points(points, "Claims that fail")])


def _claims(report: Report, *, page: bool) -> Table:
    """Return the claims with something to show, each group under its name."""
    about = (Column("about", WORDS),) if page else ()
    groups = {
        name: [line for one in outcomes for line in _lines(one, report.predictions)]
        for name, outcomes in report.groups.items()
    }
    return Table(
        (Column("group", WORDS), Column("lines", ROWS, inner=_LINE + about)),
        lambda: [{"group": name, "lines": lines} for name, lines in groups.items() if lines],
    )


def _lines(outcome: Outcome, predicted: Container[str]) -> Iterator[_Line]:
    """Yield the lines of a claim: one, and one more for each of several numbers."""
    claim, relation = outcome.claim, outcome.claim.relation
    if relation is None:
        return
    verdict = outcome.verdict.value
    if claim.full and not outcome.numbers and outcome.verdict is Verdict.NONE:
        verdict = "not run"
    single = outcome.points[0].ratio if len(outcome.points) == 1 else None
    words = relation.words, simulated_words(outcome)
    yield _Line(claim.id, claim.title, *words, single, verdict, _about(claim, predicted))
    for point in outcome.points if single is None else ():
        shown = point.measured.show(point.simulated)
        yield _Line("", f"  {point.name}", str(point.measured), shown, point.ratio)
    for remark in outcome.remarks:
        yield _Line("", f"  ({remark})")


def _about(claim: Claim, predicted: Container[str]) -> str:
    """Say how a claim was measured, who published it, and what else is to be known of it."""
    target = claim.target
    setup = "" if claim.text else target.config  # a text of its own says how it was run
    role = ""  # nothing of checks, which most are
    if claim.parameters:
        role = f"{claim.role} of {', '.join(claim.parameters)}"
    elif claim.relation is not None and claim.relation.has_values and claim.id in predicted:
        role = "prediction"
    source = f"{target.source}, {FIRMNESS[target.firmness]}"
    return " | ".join(filter(None, (setup, role, claim.note, source)))


def simulated_words(outcome: Outcome) -> str:
    """Say what the runs of a claim show: the number beside the measured one, or a range."""
    if len(outcome.points) == 1:
        (single,) = outcome.points
        return single.measured.show(single.simulated)
    found = list(outcome.numbers.values())
    if not found or outcome.points:
        return outcome.stated
    unit = _unit(outcome, max(found))
    if len(found) <= _MOST_NUMBERS:
        shown = [unit.show(number) for number in found]
    else:
        shown = [unit.show(min(found)), "...", unit.show(max(found))]
    words = [word.removesuffix(f" {unit.unit}") if unit.unit else word for word in shown[:-1]]
    separator = " " if "..." in shown else ", "
    many = f", {len(found)} runs" if len(found) > _MOST_NUMBERS else ""
    return separator.join([*words, shown[-1]]) + many


def _unit(outcome: Outcome, largest: float) -> Quantity:
    """Return what says in which unit the numbers of a claim are shown."""
    claim, relation = outcome.claim, outcome.claim.relation
    bound = (relation.at_most or relation.at_least) if relation is not None else None
    if bound is not None:
        return bound
    metric = claim.metric
    plain = metric is None or claim.statistic == "variation"
    return natural(largest, PLAIN if plain or metric is None else metric.dimension)
