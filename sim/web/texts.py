"""What the page says of runs in words and tables, as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from sim.config.units import GB, format_seconds
from sim.web.charts import Row
from sim.web.look import paragraph
from sim.web.outcome import FAMILIES, Outcome, PhaseOutcome
from sim.web.published import Comparable, Point
from sim.web.settings import Difference, Settings
from sim.web.translation import State, query_of

_WORTH_TELLING = 0.005  # share of the time
_NO_DIFFERENCE = 0.1
"""Below which part a difference is called none: how far to trust the simulator."""


def row_title(row: Row) -> str:
    """Return the title of a row: ``write``, or ``write A``."""
    return row if isinstance(row, str) else " ".join(row)


def _begin(row: Row) -> str:
    """Return the title of a row for the beginning of a sentence."""
    title = row_title(row)
    return escape(f"{title[:1].upper()}{title[1:]}")


def cards(rows: Mapping[Row, PhaseOutcome]) -> str:
    """Return a card with the bandwidth of each phase."""
    told = [
        f'<div class="card"><div class="name">{escape(row_title(row))}</div>'
        f'<div class="value">{phase.bandwidth / GB:,.4g} GB/s</div>'
        f'<div class="name">{escape(format_seconds(phase.seconds, 4))} simulated</div></div>'
        for row, phase in rows.items()
    ]
    return f'<div class="cards">{"".join(told)}</div>'


def comparison(a: Outcome, b: Outcome) -> str:
    """Say how many times as fast B is, phase by phase."""
    told = []
    for name in (phase.name for phase in a.phases):
        ratio = ratio_of(a, b, name)
        if ratio is not None:
            told.append(f"<li>{_begin(name)}: <b>{escape(ratio_words(ratio))}</b></li>")
    return f"<h2>B beside A</h2><ul>{''.join(told)}</ul>" if told else ""


def ratio_of(a: Outcome, b: Outcome, phase: str) -> float | None:
    """Return how many times the bandwidth of A that of B is; None if one lacks the phase."""
    rates = [
        next((one.bandwidth for one in outcome.phases if one.name == phase), None)
        for outcome in (a, b)
    ]
    return None if rates[0] is None or rates[1] is None else rates[1] / rates[0]


def ratio_words(ratio: float) -> str:
    """Say a ratio; below a tenth there is no difference."""
    if abs(ratio - 1.0) < _NO_DIFFERENCE:
        return f"about the same ({ratio:.2f} times as fast: less than a tenth is no difference)"
    return f"B is {ratio:,.3g} times as fast as A"


def differences(a: Settings, b: Settings) -> str:
    """Say in what B differs from A."""
    found = list(a.differences(b))
    if not found:
        return "B is the same as A: change a control of B."
    return "B differs from A: " + "; ".join(
        f"{one.noun} {one.others} (A: {one.mine})" for one in found
    )


def verdicts(rows: Mapping[Row, PhaseOutcome]) -> str:
    """Say what bound each phase and what to try first."""
    told = []
    for row, phase in rows.items():
        if phase.verdict:
            sentence = phase.verdict.replace(f" Next step: {phase.next_step}.", "")
            text = f"<b>{_begin(row)}</b>: {escape(sentence)}"
            told.append(f"<p>{text}</p>")
            if phase.next_step:
                told.append(f'<p class="look">Try next: {escape(phase.next_step)}.</p>')
    return f"<h2>What bound it</h2>{''.join(told)}" if told else ""


def legend(rows: Mapping[Row, PhaseOutcome]) -> str:
    """Return the families of causes that the rows have, with their colours."""
    there = {
        wait.family
        for phase in rows.values()
        for wait in phase.waits
        if wait.share >= _WORTH_TELLING
    }
    chips = [
        f'<span><span class="chip" style="background:{family.colour}"></span>'
        f"{escape(family.words)}</span>"
        for name, family in FAMILIES.items()
        if name in there
    ]
    return f'<div class="legend">{"".join(chips)}</div>'


def wait_tables(rows: Mapping[Row, PhaseOutcome]) -> str:
    """Return what the ranks waited for as tables, folded away."""
    tables = "".join(
        f"<h3>{_begin(row)}</h3><table><tbody>"
        + "".join(
            f'<tr><td class="number">{100 * wait.share:.1f} %</td>'
            f"<td>{escape(wait.words)}</td></tr>"
            for wait in phase.waits
            if wait.share >= _WORTH_TELLING
        )
        + "</tbody></table>"
        for row, phase in rows.items()
        if phase.waits
    )
    return f"<details><summary>The same as a table</summary>{tables}</details>" if tables else ""


def published_list(found: Mapping[Row, Sequence[Comparable]], near: Sequence[Comparable]) -> str:
    """Tell what was published that a run can be held against, or else what comes nearest."""
    points: dict[str, tuple[Point, Sequence[Difference]]] = {}
    for several in found.values():
        for one in several:
            points.setdefault(one.point.id, (one.point, one.differences))
    if points:
        told = "".join(_published(point, differs) for point, differs in points.values())
        return f"<h2>&#9671; Published beside it</h2><ul>{told}</ul>"
    if not near:
        return '<p class="soft">No published measurement of this machine is like these runs.</p>'
    nearest = {one.point.id: one for one in near}.values()
    told = "".join(_published(one.point, one.differences) for one in nearest)
    head = "No published measurement is close enough to compare with; the nearest is"
    return f'<p class="soft">{head}</p><ul class="soft">{told}</ul>'


def _published(point: Point, differs: Sequence[Difference]) -> str:
    link = f"?{query_of(State(point.settings))}"
    other = "; ".join(f"{one.noun} {one.others}" for one in differs) or "the same settings"
    return (
        f"<li><b>{escape(point.written)}</b> ({point.access}): {escape(point.title)}. There: "
        f'{escape(other)}. <a href="{escape(link)}">Set the controls so</a> '
        f'<span class="soft">[{escape(point.id)}: {escape(point.source)}]</span></li>'
    )


def notes_of(outcomes: Mapping[str, Outcome]) -> str:
    """Tell what went wrong, and what is to be known of the runs."""
    parts = []
    for side, outcome in outcomes.items():
        name = f"{side}: " if len(outcomes) > 1 else ""
        parts += [paragraph(f"{name}{text}", "alert") for text in outcome.troubles]
        told = f"{name}{outcome.setup}; {outcome.rpcs:,} bulk RPCs, {outcome.events:,} events."
        parts.append(paragraph(told, "soft"))
        parts += [paragraph(f"{name}Note: {text}", "soft") for text in outcome.notes]
    return "".join(parts)


def failures(errors: Iterable[str]) -> str:
    """Tell why runs could not be made."""
    return "".join(paragraph(error, "alert") for error in errors)
