"""A call as a tracer recorded it, under one name whichever tracer and whichever C library."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

CREATE, EXCLUSIVE, TRUNCATE, APPEND, DIRECT = 0o100, 0o200, 0o1000, 0o2000, 0o40000
"""Flags of open() as Linux has them on the processors of supercomputers: traces hold numbers."""

STREAM_MODES = {"r": 0, "w": CREATE | TRUNCATE, "a": CREATE | APPEND}
"""The flags that the first letter of fopen()'s mode stands for."""

BY_ITEM = ("fread", "fwrite")
"""Calls that are asked for items of a size, and return how many they moved."""

Told = Counter[str]
"""What a conversion has to tell: sentences without their counts."""

_SAME = {
    **dict.fromkeys(("fopen", "openat"), "open"),
    **dict.fromkeys(("readv", "fread"), "read"),
    **dict.fromkeys(("writev", "fwrite"), "write"),
    **dict.fromkeys(("fseek", "fseeko"), "lseek"),
    **dict.fromkeys(("__xstat", "__lxstat", "__fxstat", "lstat", "fstat"), "stat"),
    **dict.fromkeys(("__fxstatat", "fstatat", "access", "faccessat"), "stat"),
    **dict.fromkeys(("remove", "unlinkat"), "unlink"),
    "preadv": "pread",
    "pwritev": "pwrite",
    "fclose": "close",
    "fdatasync": "fsync",
    "mkdirat": "mkdir",
}
_MPI = re.compile(r"P?(MPI_\w+?)(_c)?")  # profiling names, and calls of MPI 4 with long counts


class Call(NamedTuple):
    """A call of a process. What is not known, or what such a call has not, is None."""

    name: str  # as `plain_name` has it
    start: float  # seconds since any time that all processes of a trace share
    end: float
    thread: int = 0
    path: str | None = None  # of the file, where the tracer says it
    handle: str | None = None  # the descriptor, or the MPI file, where the tracer says it
    amount: int | None = None  # bytes that are asked for, or elements of `kind`
    offset: int | None = None
    result: int | None = (
        None  # bytes that were moved, a descriptor, a position; negative: it failed
    )
    flags: int | None = None  # of open(), as numbers above; of MPI_File_open, 1: creates
    kind: str = ""  # the type of elements, or of a view; from where lseek() counts
    comm: str | None = None  # the communicator


class Process(NamedTuple):
    """A process that was traced."""

    calls: list[Call]
    rank: int | None = None  # in MPI_COMM_WORLD; None if the tracer does not say it
    host: str = ""
    number: int = 0  # of the process on its host


class Recording(NamedTuple):
    """What a tracer left behind."""

    processes: list[Process]
    told: Told  # what it has that is not read


def plain_name(name: str) -> str:
    """Return the name of a call without what only its C library or its MPI library adds."""
    of_mpi = _MPI.fullmatch(name)
    if of_mpi:
        return of_mpi[1]
    short = name.removesuffix("64")
    return _SAME.get(short, short)


def stream_flags(mode: str) -> int:
    """Return the flags of open() that a mode of fopen() amounts to."""
    return STREAM_MODES.get(mode[:1], 0)
