"""The tables of a run in a page: phases, where the time went, busiest stations, files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xc40io.config.units import MIB, format_bytes, format_rate, format_seconds
from xc40io.findings.bottlenecks import Load, busiest, loads, phase_name
from xc40io.findings.critical_path import critical_paths
from xc40io.findings.lustre_counts import lustre_rows
from xc40io.findings.real_rates import phase_rows, real_rates
from xc40io.findings.waits import Wait, waits
from xc40io.machine.filesystem import FileSet
from xc40io.run.result import Result
from xc40io.telling.answer import Card, Table, plain_table
from xc40io.topology.text import format_count
from xc40io.trust.sureness import rate, real_words
from xc40io.workloads.job_results import phase_title

_MOST_FILES = 50
_MOST_CARDS = 8
_MOST_PHASES = 6
_OSTS_NAMED = 12
_WORTH = 0.0005  # share of the time that a cause is worth a row


def run_cards(result: Result) -> list[Card]:
    """Return the numbers that matter most: the rate of each kind of phase, the time, the data.

    The rate is over the time in which any rank was at it.
    """
    cards = []
    real = {one.title: one for one in real_rates(result)}
    for of in phase_rows(result):
        if not of.rate:
            continue
        note = f"{of.rate / MIB:,.6g} MiB/s; {of.bytes / 1e9:,.4g} GB in {_time(of.seconds)}"
        if len(of.rows) > 1:
            best = max(row.bandwidth or 0.0 for row in of.rows)
            note += f" in {len(of.rows):,} steps, the best {format_rate(best, 4)}"
        if of.title in real:
            note += f"; {real_words(real[of.title].real, rate)}"
        cards.append(Card(of.title, format_rate(of.rate, 4), note))
    return [
        *cards[:_MOST_CARDS],
        Card("time of the job", _time(result.simulated), "simulated, from its begin to its end"),
        Card("bulk RPCs", f"{result.rpcs:,}", f"{result.bulk_bytes / 1e9:,.4g} GB moved"),
    ]


def _time(seconds: float) -> str:
    return format_seconds(seconds, 4)


def waits_table(result: Result) -> Table:
    """Return what the ranks waited for: of the whole job, and of each kind of phase.

    The shares of a column add up to 100 %: what is too small for a row has one together.
    """
    found = loads(result)
    columns: Columns = {"whole job": (result.simulated, waits(result))}
    columns |= _of_phases(result, found, [load.waits for load in found])
    return _causes_table(
        "Where the time of a rank went, on average", "a rank waited for", columns, len(found)
    )


def doing_table(result: Result) -> Table | None:
    """Return what the ranks were at while they waited, phase by phase; None if there is none.

    The shares of a column add up to 100 %.
    """
    found = loads(result)
    if not found:
        return None
    columns = _of_phases(result, found, [load.doing for load in found])
    return _causes_table("What a rank was doing meanwhile", "a rank was in", columns, len(found))


def path_tables(result: Result) -> list[Table]:
    """Return what the critical path of each kind of phase consists of; none without a recording."""
    found = critical_paths(result)
    several = len({activity.part for activity, _ in found}) > 1
    tables = []
    for activity, path in found[:_MOST_PHASES]:
        name = phase_title(activity.part, activity.name, several=several)
        rows = [
            [
                share.what,
                share.where + (f" and {share.places - 1:,} more" if share.places > 1 else ""),
                _share(share.share),
                _time(share.seconds),
                f"{share.times:,}",
            ]
            for share in path.shares()
            if share.share >= _WORTH
        ]
        tables.append(
            plain_table(
                f"Critical path of {name}, {_time(path.end - path.start)}",
                ["what followed on what", "mostly at", "share", "time", "times"],
                rows,
                words=(0, 1),
                note="Up to the end of the last rank: if any part of it takes longer, so does the "
                "phase.",
            )
        )
    return tables


Columns = dict[str, tuple[float, Sequence[Wait]]]
"""Seconds of a column, and what they went into, by the name of the column."""


def _of_phases(result: Result, found: Sequence[Load], listed: Sequence[Sequence[Wait]]) -> Columns:
    """Return a column for each of the first kinds of phases."""
    pairs = zip(found[:_MOST_PHASES], listed, strict=False)
    return {phase_name(load, found): (phase_seconds(result, load), of) for load, of in pairs}


def _causes_table(title: str, head: str, columns: Columns, phases: int) -> Table:
    """Return a row for each cause, and one for all; ``phases``: how many kinds there are."""
    shares = {
        name: {wait.words: wait.share for wait in listed} for name, (_, listed) in columns.items()
    }
    causes = _rows_of([listed for _, listed in columns.values()])
    rows = [[words, *(_share(of.get(words, 0.0)) for of in shares.values())] for words in causes]
    rest = [
        sum(of.values()) - sum(of.get(words, 0.0) for words in causes) for of in shares.values()
    ]
    if any(share >= _WORTH for share in rest):
        rows.append(["anything else", *map(_share, rest)])
    rows.append(["all of it", *(_share(sum(of.values())) for of in shares.values())])
    heads = [head, *(f"{name} ({_time(s)})" for name, (s, _) in columns.items())]
    note = ""
    if phases > _MOST_PHASES:
        note = f"The first {_MOST_PHASES} of {phases:,} kinds of phases."
    return plain_table(title, heads, rows, total=True, note=note)


def _rows_of(columns: Sequence[Sequence[Wait]]) -> list[str]:
    """Return the causes that are worth a row, in the order of the first column, then the next."""
    return list(
        dict.fromkeys(wait.words for listed in columns for wait in listed if wait.share >= _WORTH)
    )


def phase_seconds(result: Result, load: Load) -> float:
    """Return the seconds that all phases of a kind took."""
    return sum(
        stretch.end - stretch.start
        for activity in result.activities
        if (activity.part, activity.name) == (load.test_id, load.access)
        for stretch in activity.stretches
    )


def _share(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= _WORTH else "0"


def stations_table(result: Result) -> Table | None:
    """Return the busiest station of each kind; None if none served anything."""
    found = busiest(result)
    if not found:
        return None
    phases = list(found[0].shares)
    few = len(phases) <= _MOST_PHASES
    heads = [f"busy in {phase}" for phase in phases] if few else ["first service", "last service"]
    rows = []
    for use, shares in found:
        when = [f"{use.first:.4f} s", f"{use.last:.4f} s"]
        busy = [_share(share) for share in shares.values()]
        served = f"{use.bytes / 1e9:,.4g} GB" if use.bytes else ""
        waited = format_seconds(use.waiting / use.requests, 3)
        rows.append([use.name, *(busy if few else when), served, f"{use.requests:,}", waited])
    return plain_table(
        "The busiest station of each kind, from node to server",
        ["station", *heads, "served", "requests", "mean wait"],
        rows,
        note="Busy: share of the time of the phase in which it served. Mean wait: in its queue.",
    )


def counts_table(result: Result) -> Table:
    """Return what the extent locks and the page caches did."""
    return plain_table(
        "Lustre's locks and page caches, on all nodes",
        ["count", "number", "meaning"],
        list(lustre_rows(result.stats)),
        words=(0, 2),
        note="MB = 10^6 bytes.",
    )


def files_table(result: Result) -> Table | None:
    """Return the files that the job made, files of one shape together; None if it made none."""
    if not result.files:
        return None
    kind = result.scenario.target.kind
    rows = [
        [name, f"{len(files.osts):,}", *([] if kind == "ssd" else _layout(files))]
        for name, files in list(result.files.items())[:_MOST_FILES]
    ]
    note = ""
    if len(result.files) > _MOST_FILES:
        note = f"The first {_MOST_FILES} of {format_count(len(result.files), 'name')}."
    heads = ["name", "files"]
    if kind != "ssd":
        targets = "OSTs" if kind == "lustre" else "service nodes"
        heads += ["objects each", "stripe size", f"{targets} used", "which"]
    return plain_table("Files that the job made", heads, rows, words=(0, 5), note=note)


def _layout(files: FileSet) -> list[str]:
    """Return how files of a shape are striped, and over which targets."""
    osts = np.unique(files.osts).tolist()
    more = f" and {len(osts) - _OSTS_NAMED:,} more" if len(osts) > _OSTS_NAMED else ""
    return [
        f"{files.stripe_count:,}",
        format_bytes(files.stripe_size),
        f"{len(osts):,}",
        ", ".join(map(str, osts[:_OSTS_NAMED])) + more,
    ]
