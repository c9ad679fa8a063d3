"""Reads what DFTracer wrote: ``.pfw`` and ``.pfw.gz``, one JSON object a line.

The lines are events of Chrome's trace format; https://dftracer.readthedocs.io has what DFTracer
makes of it (trace_format). Names of files and hosts are hashes, which lines of their own explain.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from xc40io.config.errors import InputError
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

_WHOLE, _ABOUT, _SUMMED = ("X", 1), ("M", 4), 3
_FILES = ("POSIX", "STDIO")  # categories of calls that move data
_STREAMS = ("fopen", "fopen64", "fread", "fwrite", "fseek", "fseeko", "fclose")

NO_ARGUMENTS = (
    "calls that say nothing of files are left out: a run with DFTRACER_INC_METADATA=1 has them"
)
SUMMED_UP = "lines that sum calls up say nothing of their order and are left out"

_Event = Mapping[str, Any]


def read_dftracer(paths: Sequence[Path]) -> Recording:
    """Read all files of a run; InputError names the file and the line that cannot be read."""
    told = Told()
    found = _Found(told)
    for path in paths:
        with reading(path, "a trace of DFTracer: one JSON object a line") as at:
            found.begin(str(path))
            for event in _events(path, at, told):
                found.add(event, at)
    return found.recording()


def _events(path: Path, at: Cursor, told: Told) -> Iterator[_Event]:
    """Yield the JSON objects of a file; that the last one is cut short is told."""
    broken: str | None = None
    for number, line in enumerate(_lines(path, told), start=1):
        if broken is not None:
            raise InputError(broken)
        text = line.strip().rstrip(b",").strip()
        if text in (b"", b"[", b"]"):
            continue
        at.line(number)
        try:
            event = json.loads(text)
        except ValueError:
            event = None
        if isinstance(event, dict):
            yield event
        else:
            shown = text[:60].decode("utf-8", "replace")
            broken = f"{at}: {shown!r} is no event; right would be a JSON object on each line"
    if broken is not None:
        told[CUT_SHORT] += 1


def _lines(path: Path, told: Told) -> Iterator[bytes]:
    """Yield the lines of a file, unpacked where it is packed."""
    line: bytes | None = None
    with opened(path, TRACER) as raw:
        file = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
        with closing(file):
            try:
                for line in lines_of(file, path):
                    yield line
            except (EOFError, zlib.error) as error:
                if line is None:
                    raise InputError(f"{path}: is no whole gzip file") from error
                told[CUT_SHORT] += 1


class _Found:
    """What has been read so far."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._file = self._host = ""  # which is read; the hash of the host that it names
        self._names: dict[tuple[str, int, str], str] = {}  # by file, process and hash
        self._anywhere: dict[str, str] = {}  # by hash alone: each process need not say it again
        self._ranks: dict[tuple[str, int], int] = {}
        self._calls: dict[tuple[str, int], list[Call]] = {}
        self._count = 0
        self._begin: int | None = None

    def begin(self, file: str) -> None:
        """Begin with a file."""
        self._file, self._host = file, ""

    def add(self, event: _Event, at: Cursor) -> None:
        """Add an event."""
        phase = event.get("ph")
        arguments = event.get("args")
        arguments = arguments if isinstance(arguments, dict) else {}
        if phase in _ABOUT:
            self._note(event, arguments, at)
        elif phase in _WHOLE:
            self._call(event, arguments, at)
        elif phase == _SUMMED:
            self._told[SUMMED_UP] += 1

    def recording(self) -> Recording:
        """Return the processes, those that call nothing too."""
        processes = {key: self._calls.get(key, []) for key in (*self._calls, *self._ranks)}
        hosts = [
            Process(calls, self._ranks.get(key), self._anywhere.get(key[0], key[0]), key[1])
            for key, calls in processes.items()
        ]
        return Recording(hosts, self._told)

    def _note(self, event: _Event, arguments: _Event, at: Cursor) -> None:
        """Take in what a line says of a process: a name behind a hash, or its rank."""
        kind, name, value = event.get("name"), arguments.get("name"), arguments.get("value")
        process = at.count("pid", event.get("pid"))
        if kind in ("FH", "HH") and name is not None:
            code = str(value)
            self._names[self._file, process, code] = self._anywhere[code] = _name(name)
            if kind == "HH":
                self._host = code
        elif kind == "PR" and name == "rank":
            host = str(arguments.get("hhash", self._host))
            self._ranks[host, process] = at.count("rank", value)

    def _call(self, event: _Event, arguments: _Event, at: Cursor) -> None:
        name, category = str(event.get("name")), event.get("cat")
        if category not in _FILES and not name.startswith("MPI_"):
            return  # what the application or its libraries mark
        self._count += 1
        if self._count > MOST_CALLS:
            raise InputError(
                f"{at}: is one of more than {MOST_CALLS:,} calls; right would be fewer, as the "
                "files of some of the processes have"
            )
        process = at.count("pid", event.get("pid"))
        host = str(arguments.get("hhash", arguments.get("hostname", self._host)))
        microseconds = at.count("ts", event.get("ts"))
        if self._begin is None:
            self._begin = microseconds  # so that fractions of them are not lost in seconds of 1970
        start = (microseconds - self._begin) * 1e-6
        end = start + at.count("dur", event.get("dur", 0)) * 1e-6
        thread = at.count("tid", event.get("tid", process))
        path = self._path(process, arguments)
        if path is None and category in _FILES:
            self._told[NO_ARGUMENTS] += 1
            return
        found = Call(plain_name(name), start, end, thread, path, **_data(name, arguments, at))
        self._calls.setdefault((host, process), []).append(found)

    def _path(self, process: int, arguments: _Event) -> str | None:
        """Return the name of the file that a call is about, if it says it."""
        if "fname" in arguments:
            return _name(arguments["fname"]) or None
        code = str(arguments.get("fhash", arguments.get("pathname", "")))
        return self._names.get((self._file, process, code), self._anywhere.get(code)) or None


def _name(value: object) -> str:
    """Return a name that can be written: JSON may say half a letter."""
    return str(value).encode("utf-8", "replace").decode("utf-8")


def _data(name: str, arguments: _Event, at: Cursor) -> dict[str, Any]:
    """Return what a call's arguments say, as the fields of a call."""
    known = {
        key: at.count(key, arguments[key])
        for key in ("fd", "ret", "count", "size", "offset", "whence", "flags")
        if key in arguments
    }
    handle, count, result = known.get("fd"), known.get("count"), known.get("ret")
    if plain_name(name) == "open" and name not in _STREAMS:
        handle = None  # the descriptor is what it returns
    if name in BY_ITEM:
        size = known.get("size", 1)
        count = None if count is None else count * size
        result = None if result is None else result * size
    flags = known.get("flags")
    if name in ("fopen", "fopen64"):
        flags, result = stream_flags(str(arguments.get("mode", "r"))), None
    return {
        "handle": None if handle is None else str(handle),
        "amount": count,
        "offset": known.get("offset"),
        "result": result,
        "flags": flags,
        "kind": str(known.get("whence", "")),
    }
