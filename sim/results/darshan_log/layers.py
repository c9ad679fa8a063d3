"""The calls of a job as Darshan's layers see them: of POSIX, of MPI-IO above it, and by DXT."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xc40io.engine.types import Indices, Integers
from xc40io.plane.library_calls import ALONE, LibraryOp
from xc40io.plane.operations import Op
from xc40io.workloads.darshan.module_counters import Numbers

LAYER_CALL = np.dtype(
    [
        ("rank", "i4"),
        ("file", "i4"),
        ("op", "i4"),  # a LibraryOp, or STAT
        ("mode", "i4"),  # of an open: MPI's access mode (MPI_MODE_RDONLY and the like)
        ("collective", "i4"),  # 1: made by all ranks of a communicator
        ("pieces", "i4"),  # contiguous pieces of the file
        ("offset", "i8"),  # bytes: where the first of them begins
        ("bytes", "i8"),
        ("start", "f8"),  # s since the job began
        ("end", "f8"),
    ],
    align=True,
)
"""A call of a rank to a layer; all calls are sorted by file, rank and end."""

STAT = len(LibraryOp)
"""What MPI-IO has no call for, and POSIX has."""

Calls = npt.NDArray[Any]

_LAYER_OP = np.full(len(Op), -1)
_LAYER_OP[Op.OPEN] = _LAYER_OP[Op.CREATE] = LibraryOp.OPEN
_LAYER_OP[Op.CLOSE] = LibraryOp.CLOSE
_LAYER_OP[Op.READ] = LibraryOp.READ
_LAYER_OP[Op.WRITE] = LibraryOp.WRITE
_LAYER_OP[Op.FSYNC] = LibraryOp.SYNC
_LAYER_OP[Op.STAT] = STAT


def moving(op: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Tell which calls move data."""
    moves: npt.NDArray[np.bool_] = (op == LibraryOp.READ) | (op == LibraryOp.WRITE)
    return moves


def posix_calls(calls: npt.NDArray[Any], ranks: Indices, began: float) -> Calls:
    """Return the calls of POSIX: what programs really did, aggregators among them.

    Parameters
    ----------
    calls
        ``CALL`` records of the recording.
    ranks
        int32 (programs,): the rank of each program, or -1 if it is not of this job.
    began
        When the job began, in seconds since the simulation did.

    Returns
    -------
    LAYER_CALL records (calls,)
        What an I/O thread does, its rank does. Operations that Darshan does not look at, as unlink,
        mkdir and truncate, are left out.
    """
    op = _LAYER_OP[calls["op"]]
    found = calls[(op >= 0) & (calls["file"] >= 0) & (ranks[calls["program"]] >= 0)]
    return _sorted(_plain(found, ranks, began))


def mpi_calls(
    calls: npt.NDArray[Any], parts: npt.NDArray[Any], ranks: Indices, began: float
) -> Calls:
    """Return the calls of MPI-IO, what the ranks asked for: ``LAYER_CALL`` records.

    A call lasts from the begin of the first operation that it made its rank do to the end of the
    last one. ``parts`` are ``LIBRARY_CALL`` records: what the calls asked for, rank by rank; the
    others are as :func:`posix_calls` takes them.
    """
    mine = calls[ranks[calls["program"]] >= 0]
    single = mine[(mine["tag"] == ALONE) & (_LAYER_OP[mine["op"]] >= 0)]
    together = _timed(parts[ranks[parts["program"]] >= 0], mine[mine["tag"] > 0], ranks, began)
    return _sorted(np.concatenate([_plain(single, ranks, began), together]))


def _plain(found: npt.NDArray[Any], ranks: Indices, began: float) -> Calls:
    """Return operations as the calls that they are."""
    made = np.zeros(len(found), LAYER_CALL)
    made["rank"] = ranks[found["program"]]
    made["op"] = _LAYER_OP[found["op"]]
    made["pieces"] = 1
    for column in ("file", "offset", "bytes"):
        made[column] = found[column]
    for column in ("start", "end"):
        made[column] = found[column] - began
    return made


def _timed(parts: npt.NDArray[Any], calls: npt.NDArray[Any], ranks: Indices, began: float) -> Calls:
    """Return the parts of library calls, with the times of the operations that they made.

    A part that made its rank do nothing is over when the call begins. A call of which nothing was
    recorded is left out: the recording ended before it.
    """
    programs = len(ranks)
    keys, inverse = np.unique(_key(calls, programs), return_inverse=True)
    start, end = np.full(len(keys), np.inf), np.zeros(len(keys))
    np.minimum.at(start, inverse, calls["start"])
    np.maximum.at(end, inverse, calls["end"])
    first_of_tag = np.full(int(parts["tag"].max(initial=0)) + 1, np.inf)
    known_tag = keys // programs
    known = known_tag < len(first_of_tag)
    np.minimum.at(first_of_tag, known_tag[known], start[known])
    wanted = _key(parts, programs)
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    there = keys[place] == wanted if len(keys) else np.zeros(len(parts), bool)
    made = np.zeros(len(parts), LAYER_CALL)
    for column in ("file", "op", "mode", "collective", "pieces", "offset", "bytes"):
        made[column] = parts[column]
    made["rank"] = ranks[parts["program"]]
    idle = first_of_tag[parts["tag"]]
    made["start"] = np.where(there, start[place] if len(keys) else idle, idle) - began
    made["end"] = np.where(there, end[place] if len(keys) else idle, idle) - began
    timed: Calls = made[np.isfinite(made["start"])]
    return timed


def _key(records: npt.NDArray[Any], programs: int) -> Integers:
    """Return a number for the tag and the program of each record."""
    key: Integers = records["tag"].astype(np.int64) * programs + records["program"]
    return key


def _sorted(made: Calls) -> Calls:
    ordered: Calls = made[np.lexsort((made["end"], made["rank"], made["file"]))]
    return ordered


SEGMENT = np.dtype([("offset", "i8"), ("length", "i8"), ("start", "f8"), ("end", "f8")])
"""A read or a write: bytes, and seconds since the job began."""

_NUMBERS = (("rank", "i8"), ("shared", "i8"))
HEAD = np.dtype([("id", "u8"), *_NUMBERS, ("host", "S64"), ("writes", "i8"), ("reads", "i8")])
"""What stands before the segments of a file and rank: its writes, then its reads."""


def segments_of(calls: Calls, identity: Numbers, hosts: Sequence[str]) -> Iterator[bytes]:
    """Yield DXT's records of a layer, one for each file and rank that read or wrote.

    ``identity``, uint64 (files,), are the numbers by which the log knows files, ``hosts`` the names
    of the ranks' nodes.
    """
    moved = calls[moving(calls["op"])]
    reads = moved["op"] == LibraryOp.READ
    moved = moved[np.lexsort((moved["start"], reads, moved["rank"], moved["file"]))]
    key = moved["file"].astype(np.int64) * len(hosts) + moved["rank"]
    bounds: Integers = np.append(np.flatnonzero(np.diff(key, prepend=-1)), len(moved))
    segments = np.zeros(len(moved), SEGMENT)
    segments["offset"], segments["length"] = moved["offset"], moved["bytes"]
    segments["start"], segments["end"] = moved["start"], moved["end"]
    head = np.zeros(1, HEAD)
    for first, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        part = moved[first:stop]
        writes = int((part["op"] == LibraryOp.WRITE).sum())
        number, rank = identity[part["file"][0]], int(part["rank"][0])
        head[0] = (number, rank, 0, hosts[rank].encode(), writes, len(part) - writes)
        yield head.tobytes() + segments[first:stop].tobytes()
