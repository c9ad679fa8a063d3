"""What a diagnosis of a log tells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xc40io.findings.trigger import FINDING, Trigger
from xc40io.studies.logs.diagnosis import LogDiagnosis
from xc40io.studies.logs.log_gain import TriedChange
from xc40io.telling.answer import Answer, Column, Columns, Points, Table, Text, Values, chosen
from xc40io.telling.answer import behind as of_inner
from xc40io.telling.units import FLAG, LONG, RATIO, ROWS, TYPED, WORDS


class _Tried(NamedTuple):
    """A change that was tried, and the seconds of the log that it would have saved."""

    change: TriedChange
    seconds: float


class _Found(NamedTuple):
    """The findings, and the best change of a kind that is meant for it."""

    finding: Trigger
    tried: _Tried | None


TRIED: Columns = (
    Column("words", WORDS, lambda one: one.change.words, head="with", help="What is changed."),
    Column("gain", RATIO, lambda one: one.change.gain, head="times as fast", help="All I/O."),
    Column("seconds", LONG, head="saves", help="Of the log's own I/O, of its slowest rank."),
    Column(
        "typed",
        TYPED,
        lambda one: one.change.typed,
        head="how to ask for it",
        help="On the command line.",
    ),
    Column("helps", FLAG, lambda one: one.change.helps, help="Whether it is worth a change."),
    Column("doubt", WORDS, lambda one: one.change.doubt, help="Why it is not advised; or empty."),
)
"""A change that was tried."""

FOUND: Columns = (
    *of_inner(lambda one: one.finding, chosen(FINDING, "name", "sentence", "remedies")),
    Column(
        "tried",
        ROWS,
        lambda one: [] if one.tried is None else [one.tried],
        inner=TRIED,
        help="The best change of such a kind that was tried; none where only the program could.",
    ),
)
"""The findings, with what was tried for it."""

DIAGNOSIS: Columns = (
    Column("log", WORDS, lambda of: of.path, help="Its path."),
    Column("where", WORDS, help="On which machine and nodes it was replayed, and why there."),
    Column("known", FLAG, help="Whether it ran there; else that is a stand-in."),
    Column("warnings", ROWS, lambda of: list(of.warnings), help="What is wrong with the log."),
    Column("io_seconds", LONG, lambda of: of.time.slowest, help="By the log: its slowest rank."),
    Column("rank_seconds", LONG, lambda of: of.time.all_ranks, help="By the log: of all ranks."),
    Column("replayed", LONG, help="Seconds of I/O in the replay as recorded."),
    Column("bound", WORDS, help="What bound the replay, or was waited for longest."),
    Column("findings", ROWS, lambda of: list(_found(of)), inner=FOUND, help="What was found."),
    Column("tried", ROWS, lambda of: list(_tried(of)), inner=TRIED, help="Those that help first."),
)
"""A diagnosis."""


def diagnosis_answer(found: LogDiagnosis) -> Answer:
    """Return the answer on a log."""
    time, best = found.time, found.best
    head = (
        f"{found.path}: {LONG.write(time.slowest)} in I/O by the log (its slowest rank), "
        f"{LONG.write(found.replayed)} in the replay; bound by {found.bound or 'nothing'}."
    )
    advice = "None of the changes that were tried helps."
    if best is not None:
        advice = (
            f"With {best.words} {best.gain:.2f} times as fast: {LONG.write(found.seconds(best))} "
            "of the log's I/O."
        )
    strikes = [one.line for one in found.findings]
    return Answer(
        title=f"Diagnosis of {found.path}",
        setup=found.where,
        blocks=[
            Text(head),
            Text(found.where),
            *([Points(found.warnings, alert=True)] if found.warnings else []),
            *([Points(strikes)] if strikes else []),
            Text(advice),
            Table(TRIED, lambda: list(_tried(found)), title="Tried, each with one seed"),
        ],
        values=Values("diagnosis", DIAGNOSIS, found),
    )


def _tried(of: LogDiagnosis) -> Iterator[_Tried]:
    return (_Tried(one, of.seconds(one)) for one in of.tried)


def _found(of: LogDiagnosis) -> Iterator[_Found]:
    for finding in of.findings:
        one = of.tried_for(finding)
        yield _Found(finding, None if one is None else _Tried(one, of.seconds(one)))
