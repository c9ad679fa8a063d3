"""An explanation as text and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from sim.config.units import format_seconds
from sim.studies.explain.explanation import WORTH_SAYING, Explanation, PhaseExplanation, Tried
from sim.studies.explain.remedies import Kind

_WIDTH = 100
_SHOWN = 5
_WAITS = 4
_HANGING = 13  # where the words of a table begin
_NO_CHANGE = 0.015


def format_explanation(explanation: Explanation) -> str:
    """Print what bounds each kind of phase and what would help; seconds are simulated ones."""
    several = len({phase.phase.part for phase in explanation.phases}) > 1
    lines: list[str] = []
    for phase in explanation.phases:
        lines += [*_phase_lines(phase, several=several), ""]
    lines.append(
        f"{explanation.runs + 1} runs were made. A part is to blame, and a change helps, if the "
        f"phase is {WORTH_SAYING} times as fast."
    )
    lines += [f"Could not be tried: {words}: {reason}" for words, reason in explanation.refused]
    return "".join(f"{line}\n" for text in lines for line in _wrapped(text))


def _wrapped(text: str) -> list[str]:
    """Break a line between words; what follows is indented as its first line and a bit more."""
    indent = " " * (len(text) - len(text.lstrip()))
    hanging = " " * _HANGING if len(indent) > 2 else indent
    kept = text.strip().replace(" %", "\u00a0%")
    lines = textwrap.wrap(
        kept,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{hanging}  ",
        break_on_hyphens=False,
    )
    return [line.replace("\u00a0%", " %") for line in lines] or [""]


def _phase_lines(phase: PhaseExplanation, *, several: bool) -> Iterator[str]:
    title = phase.phase.title(several=several)
    yield f"{title[:1].upper()}{title[1:]}: {format_seconds(phase.seconds, 3)}{_waited(phase)}."
    yield from _path(phase)
    yield f"  {verdict(phase)}"
    if said := beside(phase):
        yield f"  {said}"
    yield from _table(phase.without, "without")
    yield f"  {advice(phase)}"
    for kind in Kind:
        tried = [one for one in phase.changed if one.kind == kind]
        if tried:
            yield f"  Changes of {kind.value}:"
            yield from _table(tried, "with")


def _waited(phase: PhaseExplanation) -> str:
    """Return what the ranks waited for; of a replay's calls, whose seconds are told."""
    if phase.of_calls:
        return " in such calls, of the rank that spent most in them"
    waits = [wait for wait in phase.load.waits if wait.share >= 0.01][:_WAITS]
    waited = "; ".join(f"{wait.words} {100 * wait.share:.0f} %" for wait in waits)
    return f". Ranks waited for {waited}" if waited else ""


def _path(phase: PhaseExplanation) -> Iterator[str]:
    """Say what the critical path of a phase mostly consists of."""
    if phase.path is None:
        return
    shares = [share for share in phase.path.shares() if share.share >= 0.01][:_WAITS]
    said = "; ".join(f"{one.what} {100 * one.share:.0f} % ({one.where})" for one in shares)
    yield f"  Its critical path: {said}."


def verdict(phase: PhaseExplanation) -> str:
    """Say in one sentence which part is to blame."""
    if not phase.without:
        return f"There is no part of the path to do without. {_instead(phase)}"
    best = phase.without[0]
    if best.helps:
        return f"It is bound by {best.words}: without that, {best.gain:.2f} times as fast."
    return (
        f"No single part binds it: without {best.words} it is only {best.gain:.2f} times as fast, "
        f"and less without any other. {_instead(phase)}"
    ).rstrip()


def beside(phase: PhaseExplanation) -> str:
    """Say which of several jobs holds a phase up; nothing where there is one job only."""
    if not phase.others:
        return ""
    most = phase.others[0]
    if most.helps:
        gain = f"{most.gain:.2f} times as fast without"
        return f"Of the other jobs {most.words} holds it up most: {gain}."
    return "No other job holds it up."


def _instead(phase: PhaseExplanation) -> str:
    """Say where to look where no part is to blame by itself."""
    if phase.of_calls:
        return ""
    return f"{phase.load.instead()} Next step: {phase.load.next_step}."


def advice(phase: PhaseExplanation) -> str:
    """Say in one sentence what helps: a setting if one does, else the program or the machine."""
    if not phase.changed:
        return "There is nothing to try that has to do with what the ranks waited for."
    for kind in Kind:
        best = next((one for one in phase.changed if one.kind == kind), None)
        if best is not None and best.helps:
            return f"What helps most: {best.words}: {best.gain:.2f} times as fast ({best.typed})."
    best = phase.changed[0]
    return (
        f"Nothing that can be changed here helps: of {len(phase.changed)} changes the best, "
        f"{best.words}, makes it {best.gain:.2f} times as fast."
    )


def _table(tried: Sequence[Tried], word: str) -> Iterator[str]:
    """Yield what came of the first few, each with its gain."""
    for one in tried[:_SHOWN]:
        typed = f"  ({one.typed})" if one.typed else ""
        gain = f"{one.gain:.2f} x" if abs(one.gain - 1.0) >= _NO_CHANGE else "no change"
        yield f"    {gain:>9}  {word} {one.words}{typed}"


def explanation_document(explanation: Explanation) -> dict[str, Any]:
    """Arrange an explanation for JSON: seconds, and how many times as fast."""
    return {
        "scenario": explanation.scenario.model_dump(mode="json", exclude_none=True),
        "runs": explanation.runs + 1,
        "worth_saying": WORTH_SAYING,
        "phases": [
            {
                "job": phase.phase.job,
                "part": phase.phase.part,
                "phase": phase.phase.name,
                "seconds": phase.seconds,
                "verdict": verdict(phase),
                "advice": advice(phase),
                "beside": beside(phase),
                "waits": [] if phase.of_calls else [asdict(wait) for wait in phase.load.waits],
                "doing": [] if phase.of_calls else [asdict(wait) for wait in phase.load.doing],
                "critical_path": _path_document(phase),
                "without": [asdict(one) | {"helps": one.helps} for one in phase.without],
                "with": [asdict(one) | {"helps": one.helps} for one in phase.changed],
            }
            for phase in explanation.phases
        ],
        "refused": [{"change": words, "reason": reason} for words, reason in explanation.refused],
    }


def _path_document(phase: PhaseExplanation) -> list[dict[str, Any]]:
    return [] if phase.path is None else [share._asdict() for share in phase.path.shares()]
