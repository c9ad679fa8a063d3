"""Findings in the calls on files and the OSTs that they lie on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xc40io.config.units import MIB
from xc40io.engine.page import PAGE
from xc40io.engine.types import Floats, Integers
from xc40io.findings.data_calls import DataCalls, Mask
from xc40io.findings.servers import named
from xc40io.findings.trigger import (
    NEARLY_ALL,
    ROWS,
    Remedy,
    RunFacts,
    Trigger,
    amount,
    evidence,
    percent,
    seconds,
)
from xc40io.plane.operations import Op
from xc40io.plane.stations import StationKind
from xc40io.telling.answer import Columns, Unit
from xc40io.telling.units import AMOUNT, NUMBER, PART, SIZE, SPAN, TIME, WORDS
from xc40io.topology.text import format_count

if TYPE_CHECKING:
    from xc40io.findings.counted_calls import CountedCalls

SMALL = MIB
"""Bytes below which a call is small (Drishti: small_bytes)."""

SMALL_SHARE, SMALL_LEAST = 0.1, 1000
"""Share of a job's calls that may be small, and how many (small_requests, _absolute)."""

UNALIGNED_SHARE = 0.1
"""Share of calls that may begin at odd places (misaligned_requests)."""

MANY_FILES = 1000
"""Files made in one directory: our own."""

OPENED_AGAIN = 10
"""Times that a rank may open the same file: our own."""

REWRITTEN_SHARE = 0.1
"""Bytes read to be written back, of those that were given to be written: our own."""

FEW_OSTS = 2
"""How many times as many OSTs there must be, of the files or as many as nodes, for some to be few:
our own, as that of a station that stands out (:mod:`xc40io.findings.bottlenecks`)."""

LEAST_DATA = 2**30
"""Bytes of a job below which it does not matter over how many OSTs they go: our own."""


def small_calls(look: RunFacts) -> Trigger | None:
    """Look for many calls of few bytes."""
    calls, counted = look.calls, look.counted
    if calls is not None:
        small = calls.bytes < SMALL
        count, total = int(small.sum()), len(calls)
        sizes, spent, of = calls.bytes, calls.seconds, ""
        rows = [row for _, row in _files(calls, small)] if count else []
    elif counted is not None:  # of each file all calls together
        small = counted.bytes < SMALL * counted.calls
        count, total = int(counted.calls[small].sum()), int(counted.calls.sum())
        sizes, spent, of = counted.bytes, counted.seconds, " on average of their file"
        rows = list(_counted(counted, small))
    else:
        return None
    if count <= SMALL_LEAST or count <= SMALL_SHARE * total:
        return None
    moved, whole = int(sizes[small].sum()), int(sizes.sum())
    return Trigger(
        "many small calls",
        f"{count:,} of {total:,} reads and writes ({percent(count / total)}) are below 1 MiB{of}. "
        f"They move {amount(moved)} of {amount(whole)} ({percent(moved / whole)}) and take "
        f"{seconds(float(spent[small].sum()))} of the {seconds(float(spent.sum()))} that all take, "
        "of all ranks together.",
        _of_calls(small=("below 1 MiB", NUMBER)),
        tuple(rows),
        (Remedy.LARGER_CALLS, Remedy.COLLECTIVE),
    )


def _counted(counted: CountedCalls, some: Mask) -> Iterator[tuple[Any, ...]]:
    """Yield the files with most of some calls, as :func:`_files` does."""
    for file in np.argsort(-counted.calls * some, kind="stable")[:ROWS].tolist():
        calls, moved = int(counted.calls[file]), int(counted.bytes[file])
        if some[file] and calls:
            took = float(counted.seconds[file])
            yield counted.name(file), calls, calls, moved, round(moved / calls), took


def _of_calls(**some: Unit | tuple[str, Unit]) -> Columns:
    """Return the columns of :func:`_files`; ``some``: what calls these are, and more."""
    return evidence(
        file=WORDS,
        calls=NUMBER,
        **some,
        bytes=("their bytes", AMOUNT),
        each=("of a call", SIZE),
        seconds=("they take", TIME),
    )


def _files(calls: DataCalls, some: Mask) -> list[tuple[int, tuple[Any, ...]]]:
    """Return the files with most of some calls: how many of all, their bytes and seconds.

    Each behind its number.
    """
    files = len(calls.stripe_size)
    whole = calls.sums(calls.file, None, files)
    count = calls.sums(calls.file[some], None, files)
    moved = calls.sums(calls.file[some], calls.bytes[some], files)
    took = calls.sums(calls.file[some], calls.seconds[some], files)
    order = np.argsort(-count, kind="stable")[:ROWS]
    return [
        (
            file,
            (
                calls.name(file),
                int(whole[file]),
                int(count[file]),
                int(moved[file]),
                round(moved[file] / count[file]),
                float(took[file]),
            ),
        )
        for file in order.tolist()
        if count[file]
    ]


def unaligned(look: RunFacts) -> Trigger | None:
    """Look for calls that begin in the middle of a page, or cross a stripe more than they need."""
    calls = look.calls
    if calls is None or look.result.scenario.target.kind != "lustre":
        return None
    stripe = calls.stripe_size[calls.file]
    page = calls.offset % PAGE != 0
    crossing = (calls.bytes >= stripe) & (stripe > 1) & (calls.offset % stripe != 0)
    odd = page | crossing
    if odd.sum() <= UNALIGNED_SHARE * len(calls):
        return None
    large = int((calls.bytes >= stripe).sum())
    rows = [(*row[:3], int(calls.stripe_size[file]), *row[3:]) for file, row in _files(calls, odd)]
    return Trigger(
        "unaligned calls",
        f"{int(page.sum()):,} of {len(calls):,} reads and writes ({percent(page.mean())}) begin "
        f"in the middle of a page of the cache (4 KiB); {int(crossing.sum()):,} of the {large:,} "
        "that are as long as a stripe begin inside one.",
        _of_calls(unaligned=NUMBER, stripe_size=SIZE),
        tuple(rows),
        (Remedy.STRIPE_SIZE, Remedy.COLLECTIVE, Remedy.LARGER_CALLS),
    )


def rewrites(look: RunFacts) -> Trigger | None:
    """Look for data that MPI-IO reads to write it back with changes."""
    rows = []
    for _, record in look.result.mpi_records:
        writes = record.counts.writes
        if writes.modify_read_bytes > REWRITTEN_SHARE * max(writes.bytes, 1):
            sizes = writes.modify_read_bytes, writes.bytes, writes.gap_bytes
            rows.append((record.file_name, writes.modified, *sizes))
    if not rows:
        return None
    rows.sort(key=lambda row: -row[2])
    read, given = sum(row[2] for row in rows), sum(row[3] for row in rows)
    return Trigger(
        "read, modified, written back",
        f"MPI-IO reads {amount(read)} to write {amount(given)}: what ranks give has holes, "
        "which it fills with what is in the file.",
        evidence(
            file=WORDS,
            windows=NUMBER,
            read=("read for it", AMOUNT),
            given=("given to write", AMOUNT),
            holes=("in holes", AMOUNT),
        ),
        tuple(rows[:ROWS]),
        (Remedy.COLLECTIVE, Remedy.LARGER_CALLS, Remedy.AGGREGATION),
    )


def many_files(look: RunFacts) -> Trigger | None:
    """Look for many files made in one directory, and for files that ranks open again and again."""
    recording, counted = look.result.recording, look.counted
    names: Sequence[str]
    made: Integers
    opened: Integers
    took: Floats | Integers
    if recording is not None:
        calls = recording.of_job(recording.calls)
        calls = calls[np.isin(calls["op"], (Op.OPEN, Op.CREATE)) & (calls["file"] >= 0)]
        names = recording.file_names
        made = np.bincount(calls["file"][calls["op"] == Op.CREATE], minlength=len(names))
        opened = np.bincount(calls["file"], minlength=len(names))
        took = np.bincount(calls["file"], calls["end"] - calls["start"], len(names))
        pairs = np.unique(calls["file"].astype(np.int64) * len(recording.ranks) + calls["program"])
        again = len(calls) / max(len(pairs), 1)
    elif counted is not None:  # who opened a file is not counted
        names = [counted.name(file) for file in range(len(counted.calls))]
        made, opened, took, again = counted.made, counted.opened, counted.seconds_in_metadata, 0.0
    else:
        return None
    places: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        places.setdefault(name.rpartition("/")[0] or "the working directory", []).append(number)
    made_there = {place: int(made[numbers].sum()) for place, numbers in places.items()}
    most = max(made_there.values(), default=0)
    if most >= MANY_FILES:
        kind, sentence = "directory", f"{most:,} files are made in one directory."
    elif again >= OPENED_AGAIN:
        kind, sentence = "file", f"A rank opens a file {again:,.0f} times on average."
        assert recording is not None
        places = {named(recording, number): [number] for number in range(len(names))}
    else:
        return None
    sums = [
        (place, made[some].sum(), opened[some].sum(), took[some].sum())
        for place, some in places.items()
    ]
    return Trigger(
        "many opens",
        sentence,
        evidence(
            place=(kind, WORDS),
            made=("files made", NUMBER),
            opens=NUMBER,
            seconds=("they take, all ranks together", TIME),
        ),
        tuple(
            (place, int(new), int(times), float(spent))
            for place, new, times, spent in sorted(sums, key=lambda of: -of[2])[:ROWS]
            if times
        ),
        (Remedy.FEWER_FILES, Remedy.COLLECTIVE),
    )


def few_osts(look: RunFacts) -> Trigger | None:
    """Look for bytes that lie on fewer OSTs than their files' layouts, or the nodes, would use."""
    result = look.result
    table = result.station_table
    osts = np.flatnonzero((table.kind == StationKind.OST) & (table.bytes > 0))
    moved, whole = table.bytes[osts], float(table.bytes[osts].sum())
    if result.scenario.target.kind != "lustre" or whole < LEAST_DATA:
        return None
    order = np.argsort(-moved, kind="stable")
    most = 1 + int(np.searchsorted(np.cumsum(moved[order]), NEARLY_ALL * whole))
    laid = {int(ost) for files in result.files.values() for ost in np.unique(files.osts)}
    could, there = max(len(laid), 1), result.machine.lustre.osts
    if most > max(could, min(look.nodes, there)) / FEW_OSTS:
        return None
    rows = tuple(
        (
            table.names[int(osts[place])],
            float(moved[place]),
            float(moved[place] / whole),
            float(table.busy[osts[place]] / look.seconds),
            (float(table.first[osts[place]]), float(table.last[osts[place]])),
        )
        for place in order[:ROWS].tolist()
    )
    return Trigger(
        "few OSTs have nearly all",
        f"{percent(NEARLY_ALL)} of the {amount(whole)} go to {format_count(most, 'OST')}; the "
        f"files lie on {could:,}, the job has {format_count(look.nodes, 'node')}, and the machine "
        f"has {there:,} OSTs.",
        evidence(
            ost=("OST", WORDS),
            bytes=("moved", AMOUNT),
            share=("of all", PART),
            busy=PART,
            span=("period", SPAN),
        ),
        rows,
        (Remedy.STRIPING, Remedy.AGGREGATION),
    )
