"""The rows of all processes of a recording as one trace: who is which rank, and who meets whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from xc40io.config.errors import InputError
from xc40io.engine.types import Integers
from xc40io.workloads.trace import ListedTrace, TraceBlock, TraceFile, TraceOp, make_block
from xc40io.workloads.tracers.call import Process, Recording, Told
from xc40io.workloads.tracers.open_files import (
    APPENDED,
    LOST,
    Files,
    Follower,
    Meetings,
    Rows,
)

MISSING_RANKS = "ranks are not in the trace: those that are, are numbered without gaps"
PARTED = "calls of communicators that leave ranks out are dropped: who meets there is not kept"
UNMET = "calls in which ranks meet are not in the trace of all of them, and are left out"


def joined(recording: Recording, place: str) -> ListedTrace:
    """Return a recording as a trace; InputError if it has nothing to replay.

    ``place`` is what messages call it.
    """
    told = recording.told
    processes = _in_order(recording.processes, place, told)
    files, meetings = Files(), Meetings()
    parts = [Follower(files, meetings, told).rows(one.calls) for one in processes]
    if not sum(map(len, parts)):
        raise InputError(
            f"{place}: has no calls that can be replayed; right would be reads, writes and opens "
            f"of files{_why(told)}"
        )
    rank = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    rows: Rows = np.concatenate(parts)
    rank, rows = _meeting(rank, rows, meetings, told)
    _open_what_is_there(rows, files)
    trace = ListedTrace(
        len(processes),
        [
            replace(file, ranks=_members(rank, rows, number, len(processes)))
            for number, file in enumerate(_files(files))
        ],
        [_block(rank, rows)],
        **_shape(processes),
    )
    trace.place = place
    _note_appends(rank, rows, files, told)
    trace.warnings = tuple(f"{sentence} ({count:,})" for sentence, count in told.items() if count)
    return trace


def _why(told: Told) -> str:
    """Return the first thing that was told, where nothing is left."""
    return next((f" ({sentence}: {count:,})" for sentence, count in told.items() if count), "")


def _in_order(processes: Sequence[Process], place: str, told: Told) -> list[Process]:
    """Return the processes by rank; those without one, as they began, behind them."""
    ranks = [one.rank for one in processes if one.rank is not None]
    if len(set(ranks)) < len(ranks):
        twice = next(rank for rank in ranks if ranks.count(rank) > 1)
        raise InputError(
            f"{place}: rank {twice} is there twice; right would be the trace of one run"
        )
    told[MISSING_RANKS] += (max(ranks) + 1 - len(ranks)) if ranks else 0
    calling = [one for one in processes if one.rank is not None or one.calls]
    return sorted(calling, key=lambda one: (one.rank is None, one.rank or 0, one.host, one.number))


def _shape(processes: Sequence[Process]) -> dict[str, int]:
    """Return on how many nodes it ran, and with how many ranks on each, if all have as many."""
    hosts = [one.host for one in processes if one.host]
    nodes = len(set(hosts))
    if not nodes or any(hosts.count(host) * nodes != len(processes) for host in set(hosts)):
        return {}
    return {"nodes": nodes, "ppn": len(processes) // nodes}


def _meeting(rank: Integers, rows: Rows, meetings: Meetings, told: Told) -> tuple[Integers, Rows]:
    """Decide which meetings are kept, and which rows with them; ``call`` is -1 elsewhere."""
    names = meetings.names()
    outer = (rows["call"] >= 0) & ~rows["within"]
    present = np.bincount(rows["call"][outer], minlength=len(names))
    opened = _opened_by(rank, rows, outer, names)
    ranks = int(rank[-1]) + 1
    everywhere = _communicators(rank, rows, outer, names, ranks)
    alone, whole = np.zeros(len(names), bool), np.zeros(len(names), bool)
    for number, (kind, who, *_) in enumerate(names):
        if kind == "file":
            alone[number] = opened.get(who, 0) == 1
            whole[number] = present[number] == opened.get(who, -1)
        else:
            whole[number] = who in everywhere and present[number] == ranks
        if not whole[number]:
            parted = kind != "file" and who not in everywhere
            told[PARTED if parted else UNMET] += int(present[number])
    lost = np.zeros(len(names), bool)
    lost[rows["call"][outer & (rows["op"] == LOST)]] = True
    keep = _kept(rows, whole, lost)
    rows, rank = rows[keep].copy(), rank[keep]
    met = rows["call"] >= 0
    leaves = met & (
        rows["within"] | np.append(alone, False)[rows["call"]] | (rows["op"] == TraceOp.BARRIER)
    )
    rows["call"][leaves] = -1
    return rank, rows


def _kept(
    rows: Rows, whole: npt.NDArray[np.bool_], lost: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Tell which rows are kept: a call of MPI-IO, or else what was done beneath it."""
    met = rows["call"] >= 0
    made = np.append(whole & ~lost, False)[rows["call"]]  # the meeting is replayed as such
    keep: npt.NDArray[np.bool_] = np.where(rows["within"], met & ~made, ~met | made)
    return keep


def _opened_by(
    rank: Integers, rows: Rows, outer: npt.NDArray[np.bool_], names: Sequence[tuple[object, ...]]
) -> dict[object, int]:
    """Return by how many ranks each file of MPI-IO is opened."""
    opens = outer & np.isin(rows["op"], (TraceOp.OPEN, TraceOp.CREATE))
    found: dict[object, int] = {}
    for number in np.unique(np.stack([rows["call"][opens], rank[opens]]), axis=1)[0].tolist():
        who = names[number][1]
        found[who] = found.get(who, 0) + 1
    return found


def _communicators(
    rank: Integers,
    rows: Rows,
    outer: npt.NDArray[np.bool_],
    names: Sequence[tuple[object, ...]],
    ranks: int,
) -> set[object]:
    """Return the communicators to which all ranks belong."""
    members: dict[object, set[int]] = {}
    barrier = outer & (rows["op"] == TraceOp.BARRIER)
    for number, one in zip(rows["call"][barrier].tolist(), rank[barrier].tolist(), strict=True):
        members.setdefault(names[number][1], set()).add(one)
    return {who for who, found in members.items() if len(found) == ranks}


def _open_what_is_there(rows: Rows, files: Files) -> None:
    """Let what is read before it is written be opened: it was there, whatever was asked for."""
    first = np.full((2, len(files.names())), np.inf)
    for op in (TraceOp.READ, TraceOp.WRITE):
        does = (rows["op"] == op) & (rows["length"] > 0)
        np.minimum.at(first[op], rows["file"][does], rows["start"][does])
    there = first[TraceOp.READ] < first[TraceOp.WRITE]
    there[list(files.emptied)] = False
    creates = rows["op"] == TraceOp.CREATE
    rows["op"][creates & there[rows["file"]]] = TraceOp.OPEN


def _files(files: Files) -> list[TraceFile]:
    return [
        TraceFile(
            name,
            mpi=number in files.mpi,
            direct=number in files.direct,
            library="MPI-IO" if number in files.mpi else "POSIX",
        )
        for number, name in enumerate(files.names())
    ]


def _members(rank: Integers, rows: Rows, file: int, ranks: int) -> Integers | None:
    """Return who opens a file together; None if it is all ranks, or nobody."""
    found = np.unique(rank[(rows["call"] >= 0) & (rows["file"] == file)])
    return None if len(found) in (0, ranks) else found


def _note_appends(rank: Integers, rows: Rows, files: Files, told: Told) -> None:
    """Note which files several ranks append to."""
    writes = (rows["op"] == TraceOp.WRITE) & np.isin(rows["file"], list(files.appended))
    pairs = np.unique(np.stack([rows["file"][writes], rank[writes]]), axis=1)
    file, writers = np.unique(pairs[0], return_counts=True)
    told[APPENDED] += int(np.isin(rows["file"][writes], file[writers > 1]).sum())


def _block(rank: Integers, rows: Rows) -> TraceBlock:
    """Return the rows with the time between a rank's calls, from the beginning of the first."""
    begin = rows["start"].min()
    think = np.empty(len(rows))
    for one in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(rank)) + 1):
        ends = np.maximum.accumulate(rows["end"][one])
        think[one] = rows["start"][one] - np.append(begin, ends[:-1])
    columns: dict[str, Any] = {name: rows[name] for name in ("op", "mpi", "file", "offset")}
    # Whole nanoseconds: what is below is the arithmetic's.
    return make_block(
        rank=rank,
        length=rows["length"],
        start=np.round(rows["start"] - begin, 9),
        think=np.round(np.maximum(think, 0.0), 9),
        coll=rows["call"],
        **columns,
    )
