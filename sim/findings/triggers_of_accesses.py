"""Findings in the order of the calls on files, and in how MPI-IO is asked."""

from __future__ import annotations

import numpy as np

from xc40io.findings.data_calls import DataCalls, Mask
from xc40io.findings.trigger import (
    ROWS,
    Remedy,
    RunFacts,
    Trigger,
    amount,
    evidence,
    percent,
)
from xc40io.plane.library_calls import ALONE, LibraryOp
from xc40io.plane.operations import Op
from xc40io.telling.units import AMOUNT, NUMBER, TIME, WORDS

RANDOM_SHARE, RANDOM_LEAST = 0.2, 1000
"""Share of a job's calls that may go back in their file, and how many (Drishti:
random_operations, _absolute)."""

AGAIN_SHARE = 0.1
"""Bytes that may be read more than once, of all that a job reads: our own."""

ALONE_SHARE, ALONE_LEAST = 0.5, 1000
"""Share of the calls of MPI-IO on files of several ranks that ranks may make by themselves, and how
many (Drishti: collective_operations, _absolute)."""


def random_calls(look: RunFacts) -> Trigger | None:
    """Look for many calls that begin before the end of the call before, as Darshan does."""
    calls = look.calls
    if calls is None:
        return None
    back = _back(calls)
    count = int(back.sum())
    if count <= RANDOM_LEAST or count <= RANDOM_SHARE * len(calls):
        return None
    files = len(calls.stripe_size)
    whole, some = calls.sums(calls.file, None, files), calls.sums(calls.file[back], None, files)
    moved = calls.sums(calls.file[back], calls.bytes[back], files)
    took = calls.sums(calls.file[back], calls.seconds[back], files)
    return Trigger(
        "random calls",
        f"{count:,} of {len(calls):,} reads and writes ({percent(count / len(calls))}) begin "
        "before the end of what their rank read or wrote there before.",
        evidence(
            file=WORDS,
            calls=NUMBER,
            random=("go back", NUMBER),
            bytes=("their bytes", AMOUNT),
            seconds=("they take", TIME),
        ),
        tuple(
            (calls.name(n), int(whole[n]), int(some[n]), int(moved[n]), float(took[n]))
            for n in np.argsort(-some, kind="stable")[:ROWS].tolist()
            if some[n]
        ),
        (Remedy.LARGER_CALLS, Remedy.COLLECTIVE),
    )


def _back(calls: DataCalls) -> Mask:
    """Tell which calls begin before the end of the one before, of their rank, file and way."""
    way = calls.column("op")
    order = np.lexsort((calls.column("start"), way, calls.file, calls.rank))
    end = (calls.offset + calls.bytes)[order]
    same = np.ones(len(order) - 1, bool)
    for key in (calls.rank, calls.file, way):
        same &= key[order][1:] == key[order][:-1]
    back = np.zeros(len(order), bool)
    back[order[1:]] = same & (calls.offset[order][1:] < end[:-1])
    return back


def read_again(look: RunFacts) -> Trigger | None:
    """Look for files of which more is read than is in them: by several ranks, or several times."""
    calls = look.calls
    if calls is None:
        return None
    reads = calls.column("op") == Op.READ
    files = len(calls.stripe_size)
    read = calls.sums(calls.file[reads], calls.bytes[reads], files)
    there = np.zeros(files, np.int64)  # the end of the last byte that is read
    np.maximum.at(there, calls.file[reads], (calls.offset + calls.bytes)[reads])
    again = np.maximum(read - there, 0.0)
    if again.sum() <= AGAIN_SHARE * read.sum():
        return None
    pairs = np.unique(np.stack([calls.file[reads], calls.rank[reads]]), axis=1)
    readers = calls.sums(pairs[0], None, files)
    return Trigger(
        "data read again",
        f"{amount(read.sum())} are read of files that have {amount(there.sum())} up to the last "
        "byte that is read: the same data go to several ranks, or to one several times.",
        evidence(
            file=WORDS,
            read=AMOUNT,
            there=("up to the last byte", AMOUNT),
            ranks=("by ranks", NUMBER),
        ),
        tuple(
            (calls.name(n), int(read[n]), int(there[n]), int(readers[n]))
            for n in np.argsort(-again, kind="stable")[:ROWS].tolist()
            if again[n]
        ),
        (Remedy.READ_ONCE, Remedy.COLLECTIVE),
    )


def by_themselves(look: RunFacts) -> Trigger | None:
    """Look for calls of MPI-IO on shared files that ranks make by themselves, not together."""
    calls = look.calls
    if calls is None:
        return None
    parts = calls.recording.library_calls
    parts = parts[np.isin(parts["op"], (LibraryOp.READ, LibraryOp.WRITE)) & (parts["bytes"] > 0)]
    single = calls.column("tag") == ALONE
    rank = np.concatenate([calls.rank[single], calls.recording.ranks[parts["program"]]])
    file = np.concatenate([calls.file[single], np.maximum(parts["file"], 0)])
    moved = np.concatenate([calls.bytes[single], parts["bytes"]])
    together = np.concatenate([np.zeros(int(single.sum()), bool), parts["collective"] == 1])
    files = len(calls.stripe_size)
    shared = np.bincount(np.unique(np.stack([file, rank]), axis=1)[0], minlength=files)[file] > 1
    alone = shared & ~together
    count = int(alone.sum())
    if count <= ALONE_LEAST or count <= ALONE_SHARE * int(shared.sum()):
        return None
    some, bytes_of = (
        np.bincount(file[alone], minlength=files),
        np.bincount(file[alone], moved[alone], files),
    )
    all_of = np.bincount(file[together], minlength=files)
    return Trigger(
        "no collective calls",
        f"{count:,} of {int(shared.sum()):,} calls of MPI-IO on files of several ranks "
        f"({percent(count / shared.sum())}) are made by each rank by itself.",
        evidence(
            file=WORDS,
            alone=("by ranks themselves", NUMBER),
            together=("collective", NUMBER),
            bytes=("of those by themselves", AMOUNT),
        ),
        tuple(
            (calls.name(n), int(some[n]), int(all_of[n]), int(bytes_of[n]))
            for n in np.argsort(-some, kind="stable")[:ROWS].tolist()
            if some[n]
        ),
        (Remedy.COLLECTIVE, Remedy.LARGER_CALLS),
    )
