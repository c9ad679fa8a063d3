"""What the page says of runs: blocks as a page of a run has them; HTML where there are links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from xc40io.config.units import format_seconds
from xc40io.findings.waits import part_of
from xc40io.telling.answer import Block, Card, Column, Fold, Points, Section, Table, Text
from xc40io.telling.units import SHARE, WORDS
from xc40io.topology.text import format_count
from xc40io.trust.sureness import chance_faster, chance_words, in_gigabytes, sure_card
from xc40io.web.charts import COLOURS, WORTH_TELLING, Row
from xc40io.web.published import Comparable, Point
from xc40io.web.runs import Outcome, PhaseOutcome, WaitShare
from xc40io.web.settings import Difference, Settings
from xc40io.web.translation import State, query_of, scenario_of
from xc40io.web.tries import Tries, Try

_MOST_TOLD = 5  # settings that help
_NO_DIFFERENCE = 0.1
"""Below which part a difference is called none: how far to trust the simulator."""


def _name(row: Row) -> str:
    """Return the name of a row: ``write``, or ``write A``."""
    return row if isinstance(row, str) else " ".join(row)


def _title(row: Row) -> str:
    """Return the same for the beginning of a sentence."""
    name = _name(row)
    return f"{name[:1].upper()}{name[1:]}"


def cards(
    rows: Mapping[Row, PhaseOutcome], chances: Mapping[Row, float] | None = None
) -> list[Card]:
    """Return a card with the bandwidth of each phase: in GB/s, as the chart and what is published.

    Nobody has to think of units who compares them. ``chances``: how likely phases of B really are
    faster than those of A.
    """
    known = chances or {}
    return [
        sure_card(
            _name(row),
            phase.bandwidth,
            phase.real,
            in_gigabytes,
            f"in {format_seconds(phase.seconds, 3)}{_chance(known.get(row))}",
        )
        for row, phase in rows.items()
    ]


def _chance(chance: float | None) -> str:
    """Say how likely a phase of B really is faster."""
    return "" if chance is None else f"; really faster than A: {chance_words(chance)}"


def chances(outcomes: Mapping[str, Outcome], settings: Mapping[str, Settings]) -> dict[Row, float]:
    """Return how likely each phase of B really is faster than that of A, by its row."""
    if not {"A", "B"} <= outcomes.keys():
        return {}
    a, b = (scenario_of(settings[side]) for side in ("A", "B"))
    rates = {phase.phase: phase.bandwidth for phase in outcomes["A"].phases}
    return {
        (phase.phase, "B"): chance_faster(phase.bandwidth / rates[phase.phase], a, b, phase.phase)
        for phase in outcomes["B"].phases
        if phase.phase in rates
    }


def comparison(a: Outcome, b: Outcome) -> Iterator[Section]:
    """Say how many times as fast B is, phase by phase."""
    rates = {phase.phase: phase.bandwidth for phase in b.phases}
    told = [
        (_title(phase.phase), ratio_words(rates[phase.phase] / phase.bandwidth))
        for phase in a.phases
        if phase.phase in rates
    ]
    if told:
        yield Section("compared", "B beside A", [Points(told)])


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


def strikes(outcomes: Mapping[str, Outcome]) -> Iterator[Section]:
    """Tell the findings of each run."""
    told = [
        (_title((one.name, side) if len(outcomes) > 1 else one.name), one.sentence)
        for side, outcome in outcomes.items()
        for one in outcome.findings
    ]
    if told:
        yield Section("strikes", "Findings", [Points(told)])


def verdicts(rows: Mapping[Row, PhaseOutcome]) -> Iterator[Section]:
    """Say what bound each phase."""
    told = [(_title(row), phase.verdict) for row, phase in rows.items() if phase.verdict]
    if told:
        yield Section("bound", "What bound it", [Points(told)])


_WAITS = (Column("words", WORDS, head="ranks waited for"), Column("share", SHARE))


def wait_tables(rows: Mapping[Row, PhaseOutcome]) -> Iterator[Fold]:
    """Yield what the ranks waited for as tables, folded away."""
    tables = [_waits(_title(row), phase.waits) for row, phase in rows.items() if phase.waits]
    if tables:
        yield Fold("The same as a table", tables)


def _waits(title: str, waits: Sequence[WaitShare]) -> Table:
    shown = [wait for wait in waits if wait.share >= WORTH_TELLING]
    return Table(_WAITS, lambda: shown, title=title)


def notes_of(outcomes: Mapping[str, Outcome]) -> Iterator[Block]:
    """Tell what went wrong, and what is to be known of the runs."""
    for side, outcome in outcomes.items():
        name = f"{side}: " if len(outcomes) > 1 else ""
        if outcome.troubles:
            yield failures(f"{name}{text}" for text in outcome.troubles)
        yield Text(f"{name}{outcome.setup}; {outcome.rpcs:,} bulk RPCs, {outcome.events:,} events.")
        if outcome.notes:
            yield Points([("Note", text) for text in outcome.notes])


def failures(errors: Iterable[str]) -> Points:
    """Tell what went wrong."""
    return Points(list(errors), alert=True)


def legend(rows: Mapping[Row, PhaseOutcome]) -> str:
    """Return the parts of the path that the rows have, with their colours."""
    there = {
        part_of(wait.cause)
        for phase in rows.values()
        for wait in phase.waits
        if wait.share >= WORTH_TELLING
    }
    chips = [
        f'<span><span class="chip" style="background:{colour}"></span>{escape(part.value)}</span>'
        for part, colour in COLOURS.items()
        if part in there
    ]
    return f'<div class="legend">{"".join(chips)}</div>'


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


def tries(found: Tries) -> str:
    """Say which other setting makes a run faster, each with a link that shows it as B."""
    better = [one for one in found.tried if one.ratio >= 1.0 + _NO_DIFFERENCE]
    told = "".join(
        f"<li><b>{escape(one.words)}</b>: {escape(_gains(one))}. "
        f'<a href="?{escape(one.query)}">Compare, as B</a></li>'
        for one in better[:_MOST_TOLD]
    )
    count = format_count(len(found.tried), "other setting")
    verdict = (
        f"{len(better)} of {count} make it faster; the best first."
        if better
        else f"Change nothing: none of {count} makes it faster by a tenth."
    )
    coarse = f" {found.as_one} RPCs were handled as one." if found.as_one > 1 else ""
    return f"<p>{verdict} Each differs in one control.{coarse}</p><ul>{told}</ul>"


def _gains(one: Try) -> str:
    return "; ".join(
        f"{gain.phase} {gain.ratio:,.3g} times as fast (really faster: {chance_words(gain.chance)})"
        for gain in one.gains
    )


def _published(point: Point, differs: Sequence[Difference]) -> str:
    link = f"?{query_of(State(point.settings))}"
    other = "; ".join(f"{one.noun} {one.others}" for one in differs)
    other = f"Measured with other settings: {other}" if other else "Measured with the same settings"
    return (
        f"<li><b>{escape(point.written)}</b> ({point.access}): {escape(point.title)}. "
        f'{escape(other)}. <a href="{escape(link)}">Set the controls so</a> '
        f'<span class="soft">Source: {escape(point.source)}; '
        f"{escape(point.id)} in the table of measurements.</span></li>"
    )
