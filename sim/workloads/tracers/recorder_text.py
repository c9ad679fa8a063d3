"""Reads what Recorder's ``recorder2text`` writes: a file for each rank, a call a line.

Recorder 2.1 and 2.2 say what a call returned, and have descriptors; from 2.3 on there is the level
of the call and what kind it is, and names of files stand in place of descriptors::

    START END RETURNED NAME ( ARGUMENTS )
    START END NAME LEVEL KIND ( ARGUMENTS )
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xc40io.config.errors import InputError, shown
from xc40io.config.files import opened
from xc40io.config.reading import Cursor, reading
from xc40io.workloads.tracers.call import (
    BY_ITEM,
    Call,
    Process,
    Recording,
    Told,
    plain_name,
    stream_flags,
)
from xc40io.workloads.tracers.limits import CUT_SHORT, MOST_CALLS, TRACER, lines_of

_LINE = re.compile(r"(\S+) (\S+) (?:(-?\d+) (\S+)|(\S+) \d+ \d+) \((.*) \)")

_MOVES, _PLACED = "file buffer count", "file buffer count offset"
ARGUMENTS = {
    **dict.fromkeys(("open", "open64", "creat", "creat64"), "path flags"),
    "openat": "- path flags",
    **dict.fromkeys(("fopen", "fopen64"), "path mode"),
    **dict.fromkeys(("close", "fclose", "fsync", "fdatasync", "dup"), "file"),
    **dict.fromkeys(("read", "write"), _MOVES),
    **dict.fromkeys(("pread", "pread64", "pwrite", "pwrite64"), _PLACED),
    **dict.fromkeys(("readv", "writev"), "file count"),
    **dict.fromkeys(("fread", "fwrite"), "buffer size count file"),
    **dict.fromkeys(("lseek", "lseek64", "fseek", "fseeko"), "file offset kind"),
    **dict.fromkeys(("__xstat", "__lxstat"), "- path"),
    **dict.fromkeys(("__xstat64", "__lxstat64"), "- path"),
    **dict.fromkeys(("__fxstat", "__fxstat64"), "- file"),
    **dict.fromkeys(("stat", "lstat", "mkdir", "unlink", "remove", "access"), "path"),
    "fstat": "file",
    "faccessat": "- path",
    "dup2": "file offset",
    "MPI_File_open": "comm path flags - file",
    **dict.fromkeys(("MPI_File_close", "MPI_File_sync"), "file"),
    "MPI_File_set_view": "file offset unit kind",
    "MPI_File_seek": "file offset kind",
}
"""What the arguments of calls are, in their order; ``-``: of no use here."""

_OF_MPI_FILE, _AT = "file buffer count kind", "file offset buffer count kind"
_MOVE = re.compile(r"MPI_File_i?(?:read|write)(_at)?")
ODD = "lines have other arguments than such calls have, and are left out"


def read_recorder(paths: Sequence[Path]) -> Recording:
    """Read the files of all ranks, each named after its rank; InputError names what is wrong."""
    told = Told()
    processes: list[Process] = []
    count = 0
    for path in paths:
        with reading(path, "what recorder2text writes: a call a line") as at:
            calls = _calls(path, at, told)
        count += len(calls)
        if count > MOST_CALLS:
            raise InputError(
                f"{path}: with it there are {count:,} calls; right would be at most {MOST_CALLS:,}"
            )
        processes.append(Process(calls, int(path.stem)))
    return Recording(processes, told)


def _calls(path: Path, at: Cursor, told: Told) -> list[Call]:
    """Return the calls of a rank."""
    calls: list[Call] = []
    broken: str | None = None
    with opened(path, TRACER) as file:
        for number, line in enumerate(lines_of(file, path), start=1):
            if broken is not None:
                raise InputError(broken)
            at.line(number)
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            match = _LINE.fullmatch(text)
            if match:
                call = _call(match, at, told)
                calls += [] if call is None else [call]
            elif text.strip():
                broken = f"{at}: {shown(text)} is no call; right would be START END NAME ( ... )"
    told[CUT_SHORT] += broken is not None
    return calls


def _call(match: re.Match[str], at: Cursor, told: Told) -> Call | None:
    """Return the call of a line; None if its arguments are odd."""
    start, end, result, old_name, new_name, arguments = match.groups()
    name = old_name or new_name
    times = (at.number("start", start, 1e10), at.number("end", end, 1e10))
    words = arguments.split()
    return call_of(name, times, words, None if result is None else int(result), told)


def call_of(
    name: str, times: tuple[float, float], words: Sequence[str], result: int | None, told: Told
) -> Call | None:
    """Return a call by its name and its arguments, as all versions of Recorder write them."""
    plain, name = plain_name(name), name.removeprefix("P") if name.startswith("PMPI") else name
    names = ARGUMENTS.get(name)
    move = _MOVE.match(name)
    if move:
        names = _AT if move[1] else _OF_MPI_FILE
    if names is None:
        # Of collective calls the communicator is what comes last, and all that matters.
        last = words[-1] if words and plain.startswith("MPI_") else None
        return Call(plain, *times, comm=last)
    given = dict(zip(names.split(), words, strict=False))
    if len(given) < len(names.split()) - (names == "path flags"):
        told[ODD] += 1
        return None
    return Call(plain, *times, **_fields(name, given, result))


def _fields(name: str, given: dict[str, str], result: int | None) -> dict[str, Any]:
    """Return the fields of a call that its arguments fill."""
    file = given.get("file", "???")
    of_mpi = name.startswith("MPI_")
    numbered = of_mpi or file.isdigit()
    count, flags = _integer(given.get("count")), _integer(given.get("flags"))
    if name in BY_ITEM:
        size = _integer(given["size"])
        count = None if count is None or size is None else count * size
        result = None if result is None or size is None else result * size
    if "mode" in given:
        flags = stream_flags(given["mode"])
    kind = given.get("kind", "")
    return {
        "path": given.get("path", None if numbered or file == "???" else file),
        "handle": file if numbered else None,
        "amount": count,
        "offset": _integer(given.get("offset")),
        "result": None if of_mpi else result,
        "flags": flags,
        "kind": f"{given['unit']} {kind}" if "unit" in given else kind,
        "comm": given.get("comm"),
    }


def _integer(word: str | None) -> int | None:
    """Return the number that a word is; None of what a tracer has put there instead."""
    if word is None or not re.fullmatch(r"-?\d{1,18}", word):
        return None
    return int(word)
