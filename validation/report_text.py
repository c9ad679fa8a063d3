"""The report of a validation as text: a table, what failed, and a summary by group."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

from xc40io.telling.text import column_lines, format_columns
from xc40io.topology.text import format_count
from xc40io.validation.quantity import NUMBER, Quantity, natural
from xc40io.validation.report import FAR, KINDS, NEAR, Nearness, Report, Summary
from xc40io.validation.verdict import Outcome, Verdict

_HEAD = ("id", "claim", "measured", "simulated", "ratio", "verdict")
_CLAIM_WIDTH = 56
_MOST_NUMBERS = 4


def format_report(report: Report, *, everything: bool = False) -> str:
    """Print a report.

    Parameters
    ----------
    report
        The report.
    everything
        Whether to list also the claims that are not expressed, with the reason of each; otherwise
        they are counted.
    """
    parts = [_table(report), *_failures(report), *(_unexpressed(report) if everything else ())]
    return "\n".join([*parts, _summary(report)])


def _table(report: Report) -> str:
    """Print the claims with something to show, each group under its name."""
    rows = {
        group: [row for outcome in outcomes for row in _rows(outcome)]
        for group, outcomes in report.groups.items()
    }
    every = [_HEAD, *(row for some in rows.values() for row in some)]
    words = [column for column, name in enumerate(_HEAD) if name != "ratio"]
    head, *others = column_lines(every, left=words)
    lines, following = [head], iter(others)
    for group, some in rows.items():
        if some:
            lines += ["", group, *islice(following, len(some))]
    return "".join(f"{line}\n" for line in lines)


def _rows(outcome: Outcome) -> Iterator[tuple[str, ...]]:
    """Yield the lines of a claim: one, and one more for each of several numbers."""
    claim, relation = outcome.claim, outcome.claim.relation
    if relation is None:
        return
    verdict = outcome.verdict.value
    if claim.full and not outcome.numbers and outcome.verdict is Verdict.NONE:
        verdict = "not run"
    single = outcome.points[0] if len(outcome.points) == 1 else None
    ratio = f"{single.ratio:.2f}" if single else ""
    yield claim.id, _short(claim.title), relation.words, simulated_words(outcome), ratio, verdict
    for point in outcome.points if single is None else ():
        shown = point.measured.show(point.simulated)
        yield "", f"  {point.name}", str(point.measured), shown, f"{point.ratio:.2f}", ""
    for remark in outcome.remarks:
        yield "", f"  ({remark})", "", "", "", ""


def simulated_words(outcome: Outcome) -> str:
    """Say what the runs of a claim show: the number beside the measured one, or a range."""
    if len(outcome.points) == 1:
        (single,) = outcome.points
        return single.measured.show(single.simulated)
    return _numbers(outcome)


def _short(text: str) -> str:
    return text if len(text) <= _CLAIM_WIDTH else f"{text[: _CLAIM_WIDTH - 3].rstrip()}..."


def _numbers(outcome: Outcome) -> str:
    """Print what the runs of a claim without measured numbers show; of many, the range."""
    found = list(outcome.numbers.values())
    if not found or outcome.points:
        return outcome.stated
    unit = _unit(outcome, max(found))
    if len(found) <= _MOST_NUMBERS:
        shown = [unit.show(number) for number in found]
    else:
        shown = [unit.show(min(found)), "...", f"{unit.show(max(found))}"]
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
    return natural(largest, NUMBER if plain or metric is None else metric.dimension)


def _failures(report: Report) -> Iterator[str]:
    """Print what does not hold, and why that may be."""
    if not report.failed:
        return
    lines = ["Claims that fail"]
    for outcome in report.failed:
        claim = outcome.claim
        lines.append(f"{claim.id}  {claim.title}")
        lines += [f"    {complaint}" for complaint in outcome.complaints]
        lines.append(f"    suspected: {claim.suspect or 'nothing yet'}")
    yield "".join(f"{line}\n" for line in lines)


def _unexpressed(report: Report) -> Iterator[str]:
    """Print the claims without a run, and the reasons of those without a verdict."""
    told = [outcome for outcome in report.outcomes if outcome.without]
    if told:
        lines = ["Without a verdict"]
        lines += [f"{one.claim.id}  {one.claim.title}: {one.without}" for one in told]
        yield "".join(f"{line}\n" for line in lines)


def _summary(report: Report) -> str:
    """Print what the claims add up to, by group and in all."""
    head = ("", "claims", "pass", "fail", "no verdict", "not run", "not comparable", *KINDS)
    rows = [_summary_row(name, summary) for name, summary in report.summaries.items()]
    rows.append(_summary_row("all", report.total))
    title = (
        "Median of |ln(simulated / measured)| in the last columns, with how many numbers that is.\n"
        "Predictions are the checks whose numbers the simulator has seen in no form: no fitted or\n"
        "input claim of the same row, none that shares a run, no value of the machine from there."
    )
    told = "".join(
        f"{NEARNESS_WORDS[kind]}: {nearness_words(nearness)}.\n"
        for kind, nearness in report.total.nearness.items()
        if nearness.numbers
    )
    return f"{title}\n{format_columns([head, *rows])}\n{told}"


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


def _summary_row(name: str, summary: Summary) -> tuple[str, ...]:
    counts = (
        summary.claims,
        summary.passed,
        summary.failed,
        summary.unjudged,
        summary.left_out,
        summary.not_expressed,
    )
    medians = (median_words(summary.nearness[kind]) for kind in KINDS)
    return name, *(str(count) for count in counts), *medians
