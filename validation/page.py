"""The report of a validation as a page: one HTML file with everything in it, figures too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from importlib.metadata import version
from pathlib import Path

from xc40io.archive.whole_files import write_whole
from xc40io.studies.store import code_hash
from xc40io.telling.drawing import inline_svg
from xc40io.telling.sheet import NARROW, WIDE, Heading
from xc40io.topology.text import format_count
from xc40io.validation.claim import Claim
from xc40io.validation.figures.agreement import Ratio, draw_ratios
from xc40io.validation.figures.chart import Chart
from xc40io.validation.figures.gallery import Drawn, all_charts, charts_known, draw
from xc40io.validation.page_style import STYLE
from xc40io.validation.quantity import NUMBER, natural
from xc40io.validation.report import KINDS, Report, Summary, kinds_of
from xc40io.validation.report_text import NEARNESS_WORDS, median_words, nearness_words
from xc40io.validation.target import FIRMNESS
from xc40io.validation.verdict import Outcome, Verdict

_CLASSES = {Verdict.PASS: "pass", Verdict.FAIL: "fail", Verdict.NONE: "none"}


def write_page(report: Report, path: str | Path, *, fast: bool = False) -> None:
    """Write a report as one HTML file that needs nothing else, neither files nor a network.

    The figures are those that have to do with the claims of the report; what has not been run for
    them yet is.

    Parameters
    ----------
    report
        The report.
    path
        The file.
    fast
        Whether to run nothing more for the figures: those alone whose runs are known.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    write_whole(path, "".join(page(report, fast=fast)), "--html")


def page(report: Report, *, fast: bool = False) -> Iterator[str]:
    """Yield the page piece by piece."""
    yield _HEAD.format(style=STYLE)
    yield from _opening(report)
    yield from _summary(report)
    yield from _failures(report)
    yield from _claims(report)
    yield from _figures(report, fast=fast)
    yield from _without(report)
    yield _FOOT.format(version=escape(version("xc40io")), code=code_hash())


_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>xc40io: simulated beside measured</title>
<style>{style}</style>
</head>
<body>
"""

_FOOT = """<h2>About</h2>
<p class="soft">xc40io {version}, sources {code}. GB = 10<sup>9</sup> bytes, GiB = 2<sup>30</sup>
bytes. A calibration is a measurement to which a parameter was fitted, a check one to which none
was; a prediction is a check whose number the simulator has seen in no form.</p>
</body>
</html>
"""


def _opening(report: Report) -> Iterator[str]:
    """Say in a paragraph what came of it."""
    total = report.total
    judged = total.passed + total.failed
    yield "<h1>xc40io: simulated beside measured</h1>\n"
    yield f"<p>{total.passed} of {judged} claims with a verdict hold."
    if total.not_expressed:
        rows = format_count(total.not_expressed, "published row")
        yield f" {rows} cannot be compared with runs."
    yield "</p>\n<ul>\n"
    for kind, nearness in total.nearness.items():
        yield f"<li>{NEARNESS_WORDS[kind]}: {nearness_words(nearness)}.</li>\n"
    yield "</ul>\n"
    links = "\n".join(f'<a href="#{place}">{name}</a>' for place, name in _PARTS.items())
    yield f"<nav>{links}</nav>\n"


_PARTS = {
    "summary": "Summary",
    "fails": "What fails",
    "claims": "Claims",
    "figures": "Figures",
    "without": "Without a verdict",
}


def _summary(report: Report) -> Iterator[str]:
    """Print what the claims of each group add up to, and how near the numbers are."""
    head = ("group", "claims", "pass", "fail", "no verdict", "not run", "not comparable", *KINDS)
    rows = [*report.summaries.items(), ("all", report.total)]
    yield '<h2 id="summary">Summary by group</h2>\n<div class="scroll"><table>\n'
    yield _row("th", head, range(1, len(head)))
    for name, summary in rows:
        yield _row("td", (name, *_counts(summary)), range(1, len(head)))
    yield "</table></div>\n"
    yield '<p class="soft">In the last columns the median of |ln(simulated / measured)|, with how '
    yield "many numbers that is.</p>\n"
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
    if groups:
        shown = "How far simulated numbers are from measured ones, by group"
        yield f"<figure>{inline_svg(draw_ratios(Heading(), groups), 'agreement', shown)}\n"
        yield "<figcaption>Each point a measured number; grey: within 25 %.</figcaption></figure>\n"


def _counts(summary: Summary) -> Iterator[str]:
    yield from map(str, (summary.claims, summary.passed, summary.failed, summary.unjudged))
    yield from map(str, (summary.left_out, summary.not_expressed))
    for kind in KINDS:
        yield median_words(summary.nearness[kind])


def _row(tag: str, cells: Iterable[str], numbers: Iterable[int]) -> str:
    """Return a row of a table without names for its cells."""
    right = set(numbers)
    written = (
        f'<{tag} class="number">{escape(cell)}</{tag}>'
        if place in right
        else f"<{tag}>{escape(cell)}</{tag}>"
        for place, cell in enumerate(cells)
    )
    return f"<tr>{''.join(written)}</tr>\n"


def _failures(report: Report) -> Iterator[str]:
    """Print what does not hold, and why that may be."""
    yield '<h2 id="fails">What fails</h2>\n'
    if not report.failed:
        yield "<p>Nothing.</p>\n"
    for outcome in report.failed:
        claim = outcome.claim
        yield f'<p><span class="fail">{escape(claim.id)}</span> {escape(claim.title)}<br>\n'
        yield "".join(f"<small>{escape(line)}</small><br>\n" for line in outcome.complaints)
        yield f"<small>Suspected: {escape(claim.suspect or 'nothing yet')}</small></p>\n"


def _claims(report: Report) -> Iterator[str]:
    """Print the claims that are run, a table for each group."""
    yield '<h2 id="claims">Claims</h2>\n'
    for name, outcomes in report.groups.items():
        shown = [outcome for outcome in outcomes if outcome.claim.relation is not None]
        if shown:
            yield f'<h3>{escape(name)}</h3>\n<table class="claims">\n<thead>'
            yield _row("th", _COLUMNS, (_COLUMNS.index("ratio"),)).rstrip()
            yield "</thead>\n<tbody>\n"
            for outcome in shown:
                yield from _claim(outcome, report)
            yield "</tbody></table>\n"


_COLUMNS = ("id", "claim", "measured", "simulated", "ratio", "verdict")


def _claim(outcome: Outcome, report: Report) -> Iterator[str]:
    """Print a claim: a row, and one more for each of several numbers."""
    claim, relation = outcome.claim, outcome.claim.relation
    assert relation is not None
    points = outcome.points
    single = points[0] if len(points) == 1 else None
    simulated = single.measured.show(single.simulated) if single else _numbers(outcome)
    ratio = f"{single.ratio:.2f}" if single else ""
    setup = "" if claim.text else claim.target.config  # a text of its own says how it was run
    told = (setup, _role(claim, report), claim.note, *outcome.remarks)
    notes = "".join(f"<br><small>{escape(note)}</small>" for note in told if note)
    verdict = f'<span class="{_CLASSES[outcome.verdict]}">{_verdict(outcome)}</span>'
    firmness = FIRMNESS[claim.target.firmness]
    source = escape(f"{claim.target.source}; firmness {claim.target.firmness}: {firmness}")
    yield f'<tr><td class="id" title="{source}">{escape(claim.id)}</td>'
    yield f"<td>{escape(claim.title)}{notes}</td>"
    yield from _cells(relation.words, simulated, ratio)
    yield f'<td data-name="verdict">{verdict}</td></tr>\n'
    for point in points if single is None else ():
        yield f'<tr class="part"><td></td><td>{escape(point.name)}</td>'
        shown = point.measured.show(point.simulated)
        yield from _cells(str(point.measured), shown, f"{point.ratio:.2f}")
        yield "<td></td></tr>\n"


def _role(claim: Claim, report: Report) -> str:
    """Return what a reader has to know of a claim's role; nothing of checks, which most are."""
    if claim.parameters:
        return f"{claim.role} of {', '.join(claim.parameters)}"
    numbers = claim.relation is not None and claim.relation.has_values
    return "prediction" if numbers and claim.id in report.predictions else ""


def _cells(measured: str, simulated: str, ratio: str) -> Iterator[str]:
    yield f'<td data-name="measured">{escape(measured)}</td>'
    yield f'<td data-name="simulated">{escape(simulated)}</td>' if simulated else "<td></td>"
    yield f'<td class="number" data-name="ratio">{ratio}</td>' if ratio else "<td></td>"


def _verdict(outcome: Outcome) -> str:
    left_out = outcome.claim.full and not outcome.numbers and outcome.verdict is Verdict.NONE
    return "not run" if left_out else outcome.verdict.value


def _numbers(outcome: Outcome) -> str:
    """Return what the runs of a claim show that has no single measured number."""
    claim, found = outcome.claim, list(outcome.numbers.values())
    if not found or outcome.points:
        return outcome.stated
    bound = claim.relation and (claim.relation.at_most or claim.relation.at_least)
    plain = claim.metric is None or claim.statistic == "variation"
    dimension = NUMBER if plain or claim.metric is None else claim.metric.dimension
    unit = bound or natural(max(found), dimension)
    if len(found) == 1:
        return unit.show(found[0])
    low = unit.show(min(found)).removesuffix(f" {unit.unit}")
    return f"{low} to {unit.show(max(found))}, {len(found)} runs"


def _figures(report: Report, *, fast: bool) -> Iterator[str]:
    """Draw the charts that have to do with the claims of the report."""
    yield '<h2 id="figures">Figures</h2>\n'
    charts = charts_of(report)
    shown = charts_known(charts, report.simulations) if fast else charts
    for drawn in draw(shown, report.simulations, bare=True):
        yield from _figure(drawn)
    if left := len(charts) - len(shown):
        yield f"<p>{left} more are left out: their runs take longer than --fast allows.</p>\n"


def charts_of(report: Report) -> list[Chart]:
    """Return the charts about rows of which the report has claims that were run."""
    run = [outcome.claim for outcome in report.outcomes if outcome.records]
    rows = {claim.target.id for claim in run}
    long = {claim.target.id for claim in run if claim.full}
    return [
        chart
        for chart in all_charts(full=True)
        if (long if chart.full else rows).intersection(chart.targets)
    ]


def _figure(drawn: Drawn) -> Iterator[str]:
    heading, name = drawn.chart.heading, drawn.chart.name
    yield f'<h3 id="{name}">{escape(heading.title)}</h3>\n<p>{escape(heading.setup)}</p>\n'
    if drawn.figure is None:
        yield f"<p>No figure: {escape(drawn.reason)}.</p>\n"
        return
    wide = ' class="wide"' if drawn.figure.get_figwidth() > (NARROW + WIDE) / 2 else ""
    shown = f"{heading.title}. {heading.setup}."
    yield f'<figure{wide}><div class="scroll">{inline_svg(drawn.figure, name, shown)}</div>\n'
    yield f"<figcaption>{escape(heading.caption)}</figcaption></figure>\n"


def _without(report: Report) -> Iterator[str]:
    """Print the claims without a verdict, and why there is none."""
    told = [outcome for outcome in report.outcomes if outcome.without]
    yield '<h2 id="without">Without a verdict</h2>\n'
    yield f"<details><summary>{len(told)} claims</summary>\n<table>\n"
    yield _row("th", ("id", "claim", "reason"), ())
    for outcome in told:
        yield _row("td", (outcome.claim.id, outcome.claim.title, outcome.without), ())
    yield "</table></details>\n"
