"""The page of an explanation: what bounds a run and what would help, then the run itself."""

from __future__ import annotations

from sim.config.units import format_seconds
from sim.results.jobs_answer import jobs_page
from sim.results.run_answer import run_page
from sim.run.jobs import JobsResult
from sim.run.result import Result
from sim.studies.explain.explanation import Explanation, PhaseExplanation, Tried
from sim.studies.explain.explanation_plot import explanation_pictures, phase_title
from sim.studies.explain.explanation_text import advice, beside, verdict
from sim.telling.answer import (
    Answer,
    Block,
    Fold,
    Listing,
    Points,
    Section,
    Text,
    plain_table,
)
from topology.text import format_count

_WITHOUT = ("without", "the phase takes", "times as fast")
_WITH = ("with", "who can change it", "how to ask for it", "the phase takes", "times as fast")


def explanation_page(explanation: Explanation, run: Result | JobsResult, command: str) -> Answer:
    """Return the page of an explanation.

    Parameters
    ----------
    explanation
        The answers.
    run
        What they are about, as :func:`~sim.studies.explained_run.explained_run` returns it.
    command
        The command line that asked for them.
    """
    drawn = {one.name: one for one in explanation_pictures(explanation)}
    sections = []
    for place, phase in enumerate(explanation.phases):
        picture = drawn.get(f"gains-{place}")
        parts = [*_words(phase), *([] if picture is None else [picture]), *_tables(phase)]
        title = f"Why, and what would help: {phase_title(explanation, phase)}"
        sections.append(Section(f"explanation-{place}", title, parts))
    if explanation.refused:
        refused = [f"{words}: {reason}" for words, reason in explanation.refused]
        sections.append(Section("refused", "What could not be tried", [Points(refused)]))
    sections.append(Section("command", "How this was found out", _method(explanation, command)))
    return run_page(run, sections) if isinstance(run, Result) else jobs_page(run, sections)


def _method(explanation: Explanation, command: str) -> list[Block]:
    text = (
        f"{explanation.runs + 1} runs were made: the one that follows as it is, and beside it "
        "those without a part of the path, or with a change. This command makes them again:"
    )
    return [Text(text), Listing("Command", command, typed=True)]


def _words(phase: PhaseExplanation) -> list[Block]:
    said = verdict(phase), beside(phase), advice(phase)
    return [Text(sentence) for sentence in said if sentence]


def _tables(phase: PhaseExplanation) -> list[Block]:
    """Return all that was tried, not only the best."""
    parts, changes = phase.without, phase.changed
    tables = []
    if parts:
        rows = [[one.words, *_gain(one)] for one in parts]
        tables.append(plain_table("Without a part of the path", _WITHOUT, rows))
    if changes:
        rows = [[one.words, one.kind or "", one.typed, *_gain(one)] for one in changes]
        tables.append(plain_table("With a change", _WITH, rows, words=(0, 1, 2), typed=(2,)))
    runs = format_count(len(parts) + len(changes), "run")
    return [Fold(f"All {runs} that were made", tables)] if tables else []


def _gain(one: Tried) -> tuple[str, str]:
    return format_seconds(one.seconds, 4), f"{one.gain:.2f}"
