"""The blocks of a run that people read: each once, in brief for text, whole for a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter, itemgetter
from typing import NamedTuple

import numpy as np

from xc40io.findings.bottlenecks import Busiest, Load, busiest, loads, phase_name
from xc40io.findings.critical_path import CriticalPath, Share, critical_paths
from xc40io.findings.real_rates import phase_rows, real_rates
from xc40io.findings.triggers import triggers
from xc40io.findings.waits import Wait, doing, waits
from xc40io.machine.filesystem import FileSet
from xc40io.results.run_values import PART, WAIT
from xc40io.run.result import Result
from xc40io.telling.answer import (
    Block,
    Card,
    Column,
    Columns,
    Listing,
    Points,
    Table,
    Text,
    chosen,
)
from xc40io.telling.units import (
    CLOCK,
    GIGABYTE,
    NOTABLE,
    NUMBER,
    PERCENT,
    QUEUE,
    SERVED,
    SIZE,
    TIME,
    WORDS,
    figure,
    first_of,
)
from xc40io.topology.text import format_count
from xc40io.trust.sureness import rate, simulated, sure_card
from xc40io.workloads.job_results import phase_title

_MOST_CARDS = 8


class Detail(NamedTuple):
    """How much is told of a run to people; programs get all."""

    least: float  # share of the time that a cause or a part of a path must have
    phases: int  # kinds of phases that have a column of their own


BRIEF, WHOLE = Detail(0.005, 4), Detail(0.0005, 6)

AT_LEAST = 0.02
"""Share of the time that ranks must be at something for a sentence to say so."""


def run_cards(result: Result, *, exact: bool = False) -> list[Card]:
    """Return the numbers that matter most: the rate of each kind of phase, the time, the data.

    The rate is over the time in which any rank was at it; ``exact``: without how sure it is.
    """
    cards = []
    real = {} if exact else {one.title: one for one in real_rates(result)}
    for of in phase_rows(result):
        if not of.rate:
            continue
        note = f"{GIGABYTE.write(of.bytes)} in {TIME.write(of.seconds)}"
        sure = real[of.title].real if of.title in real else None
        if len(of.rows) > 1:
            best = simulated(max(row.bandwidth or 0.0 for row in of.rows), sure, rate)
            note += f" in {format_count(len(of.rows), 'step')}, the best {best}"
        cards.append(sure_card(of.title, of.rate, sure, rate, note))
    return [
        *cards[:_MOST_CARDS],
        Card(
            "time of the job", TIME.write(result.simulated), "simulated, from its begin to its end"
        ),
        rpcs_card(result),
    ]


def rpcs_card(result: Result) -> Card:
    """Return the bulk RPCs of a run, and the bytes that these moved."""
    return Card(
        "bulk RPCs", NUMBER.write(result.rpcs), f"{GIGABYTE.write(result.bulk_bytes)} moved"
    )


_NOTHING = (
    "None of the patterns that are known to be slow: small or unaligned calls, few ranks, "
    "aggregators or OSTs that do nearly all, locks that change hands or are held long, many opens, "
    "data read to be written back, ranks that wait for the slowest."
)


def findings_in_brief(result: Result) -> list[Block]:
    """Return a sentence or two for each pattern that strikes in a run; nothing if none does."""
    found = triggers(result)
    return [Points([(one.title, one.sentence) for one in found])] if found else []


def findings_parts(result: Result, command: str | None) -> list[Block]:
    """Return the patterns that strike in a run, each with its evidence.

    ``command`` is what tries remedies, as it is typed; None where that stands above on the page.
    """
    found = triggers(result)
    if not found:
        return [Text(_NOTHING)]
    parts = [*findings_in_brief(result), *(one.table for one in found)]
    if not any(one.remedies for one in found):
        return parts
    if command is None:
        parts.append(Text("Remedies that could be tried stand above, each with what it brings."))
    else:
        parts.append(Text("Whether a remedy helps, only a run with it can tell; this tries some:"))
        parts.append(Listing("Command", command, typed=True))
    return parts


def waits_in_brief(result: Result) -> Table:
    """Return a table of a rank's waits, as shares of the job, and a sentence on what it did."""
    rows = [wait for wait in waits(result) if wait.share >= BRIEF.least]
    at = (
        f"{wait.words} {PERCENT.write(wait.share)}"
        for wait in doing(result)
        if wait.share >= AT_LEAST
    )
    return Table(
        chosen(WAIT, "share", "words"),
        lambda: rows,
        title=f"What a rank waited for, on average over the {figure(result.simulated, 4)} s",
        note=f"The ranks' time at work was spent in: {'; '.join(at)}." if result.activities else "",
        bare=True,
    )


def waits_table(result: Result) -> Table:
    """Return a table of a rank's mean waits: in the whole job, and in each kind of phase.

    The shares of a column add up to 100 %: what is too small for a row has one together.
    """
    found = loads(result)
    told = {"whole job": (result.simulated, waits(result))} | _of_phases(found, attrgetter("waits"))
    return _causes_table(
        "Where the time of a rank went, on average", "a rank waited for", told, len(found)
    )


def doing_table(result: Result) -> Table | None:
    """Return a table of what ranks did while they waited, phase by phase; None without a phase.

    The shares of a column add up to 100 %.
    """
    found = loads(result)
    told = _of_phases(found, attrgetter("doing"))
    title = "What a rank was doing meanwhile"
    return _causes_table(title, "a rank was in", told, len(found)) if found else None


_Causes = dict[str, tuple[float, Sequence[Wait]]]
"""Seconds of a column, and what they went into, by the name of the column."""


def _of_phases(found: Sequence[Load], listed: Callable[[Load], Sequence[Wait]]) -> _Causes:
    """Return a column for each of the first kinds of phases."""
    return {phase_name(load, found): (load.seconds, listed(load)) for load in found[: WHOLE.phases]}


def _causes_table(title: str, head: str, told: _Causes, phases: int) -> Table:
    """Return a row for each cause, and one for all; ``phases``: how many kinds there are."""
    shares = [{wait.words: wait.share for wait in listed} for _, listed in told.values()]
    causes = dict.fromkeys(
        words for of in shares for words, share in of.items() if share >= WHOLE.least
    )
    rows = [(words, *(of.get(words, 0.0) for of in shares)) for words in causes]
    sums = [sum(of.values()) for of in shares]
    rest = [sum(of.values()) - sum(of.get(words, 0.0) for words in causes) for of in shares]
    if any(share >= WHOLE.least for share in rest):
        rows.append(("anything else", *rest))
    rows.append(("all of it", *sums))
    heads = [f"{name} ({TIME.write(seconds)})" for name, (seconds, _) in told.items()]
    columns = (
        Column("cause", WORDS, itemgetter(0), head=head),
        *(Column(name, NOTABLE, itemgetter(place)) for place, name in enumerate(heads, 1)),
    )
    note = ""
    if phases > WHOLE.phases:
        note = f"The first {WHOLE.phases} of {phases:,} kinds of phases."
    return Table(columns, lambda: rows, title=title, total=True, note=note)


def path_tables(result: Result, detail: Detail = WHOLE) -> Iterator[Table]:
    """Yield what the critical path of each kind of phase consists of; none without a recording."""
    found = critical_paths(result)
    several = len({activity.part for activity, _ in found}) > 1
    whole = detail == WHOLE
    for activity, path in found[: detail.phases if whole else None]:
        name = phase_title(activity.part, activity.name, several=several)
        title = f"Critical path of {name}, {TIME.write(path.end - path.start)}"
        more = ": what followed on what, up to the last rank's end"
        yield Table(
            (*chosen(PART, "what"), _WHERE, *_SPENT) if whole else (*_SPENT, _WHAT_AND_WHERE),
            partial(_worth_a_row, path, detail),
            title=title if whole else title + more,
            note=_OF_PATHS if whole else "",
            bare=True,
        )


def _worth_a_row(path: CriticalPath, detail: Detail) -> list[Share]:
    return [one for one in path.shares() if one.share >= detail.least]


def _where(share: Share) -> str:
    return share.where + (f" and {share.places - 1:,} more" if share.places > 1 else "")


_SPENT = chosen(PART, "share", "seconds", "times")
_WHERE = Column("where", WORDS, _where, head="mostly at")
_WHAT_AND_WHERE = Column("what", WORDS, lambda share: f"{share.what}  ({_where(share)})")
_OF_PATHS = "Up to the end of the last rank: if any part of it takes longer, so does the phase."


def stations_table(result: Result, detail: Detail = WHOLE) -> Table | None:
    """Return the busiest station of each kind; None if none served anything.

    Of many kinds of phases there is no room for the shares; then only its period is told.
    """
    found = busiest(result)
    if not found:
        return None
    few = len(found[0].shares) <= detail.phases
    if detail == BRIEF:
        shares = Column("shares", PERCENT, spread=True, least=5)
        columns = (*((shares,) if few else _WHEN), _SERVED)
        title = "Busiest of each kind"
        return Table((replace(_NAME, head=title), *columns, _QUEUED), lambda: found)
    shares = Column("shares", NOTABLE, _busy_in, spread=True)
    return Table(
        (_NAME, *((shares,) if few else _WHEN), _BYTES, _REQUESTS, _QUEUED),
        lambda: found,
        title="The busiest station of each kind, from node to server",
        note="Busy: share of the time of the phase in which it served. Mean wait: in its queue.",
    )


def _busy_in(of: Busiest) -> dict[str, float]:
    return {f"busy in {phase}": share for phase, share in of.shares.items()}


_NAME = Column("station", WORDS, attrgetter("use.name"))
_WHEN: Columns = (
    Column("first", CLOCK, attrgetter("use.first"), head="from"),
    Column("last", CLOCK, attrgetter("use.last"), head="to", least=8),
)
_BYTES = Column("served", GIGABYTE, attrgetter("use.bytes"), blank=0)
_REQUESTS = Column("requests", NUMBER, attrgetter("use.requests"))
_SERVED = Column("served", SERVED, attrgetter("use.bytes", "use.requests"), least=14)
_QUEUED = Column("mean wait", QUEUE, lambda of: of.use.waiting / of.use.requests)


def files_table(result: Result) -> Table | None:
    """Return the files that the job made, files of one shape together; None if it made none."""
    if not result.files:
        return None
    kind = result.scenario.target.kind
    rows = list(result.files.items())
    targets = "OSTs" if kind == "lustre" else "service nodes"
    layout: Columns = (
        Column("objects each", NUMBER, lambda row: row[1].stripe_count),
        Column("stripe size", SIZE, lambda row: row[1].stripe_size),
        Column(f"{targets} used", NUMBER, lambda row: len(_osts(row[1]))),
        Column("which", first_of(12), lambda row: _osts(row[1])),
    )
    return Table(
        (
            Column("name", WORDS, itemgetter(0)),
            Column("files", NUMBER, lambda row: len(row[1].osts)),
            *(() if kind == "ssd" else layout),
        ),
        lambda: rows,
        title="Files that the job made",
        most=50,
    )


def _osts(files: FileSet) -> list[int]:
    """Return the targets over which files of a shape are striped."""
    osts: list[int] = np.unique(files.osts).tolist()
    return osts
