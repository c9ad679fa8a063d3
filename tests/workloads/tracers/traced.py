"""Small traces in the tongues of the tracers, written here from what their documents say."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xc40io.workloads.trace import TraceOp, join_blocks
from xc40io.workloads.tracers.opening import open_tracers

BEGIN = 1_700_000_000_000_000  # microseconds since 1970


class Did(NamedTuple):
    """A call, as its program made it; times in microseconds since the job began."""

    name: str
    path: str
    fd: int
    start: int
    took: int = 10
    count: int = 0
    offset: int = 0
    whence: int = 0
    flags: int = 0


def event(name: str, start: int, took: int = 10, **more: Any) -> dict[str, Any]:
    """Return an event of DFTracer; ``args`` are the arguments of the call."""
    cat = more.pop("cat", "POSIX")
    return {
        **{"id": 1, "name": name, "cat": cat, "pid": 7, "tid": 7},
        **{"ts": BEGIN + start, "dur": took, "ph": "X", "args": {}},
        **more,
    }


def note(name: str, value: object, kind: str = "FH", pid: int = 7) -> dict[str, Any]:
    """Return an event of DFTracer that explains a hash, or says something of a process."""
    args = {"name": name, "value": value}
    return {"name": kind, "cat": "dftracer", "pid": pid, "tid": pid, "ph": "M", "args": args}


def write_pfw(path: Path, events: Iterable[Mapping[str, Any]], end: str = "]") -> Path:
    """Write a file of DFTracer; packed if its name says so."""
    text = "[\n" + "".join(json.dumps(one) + "\n" for one in events) + end
    packed = path.suffix == ".gz"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return path


def as_dftracer(folder: Path, ranks: Sequence[Sequence[Did]]) -> Path:
    """Write calls as DFTracer does: a file for each process."""
    folder.mkdir()
    for rank, calls in enumerate(ranks):
        pid = 100 + rank
        codes = {path: 50 + n for n, path in enumerate(dict.fromkeys(one.path for one in calls))}
        events = [note("node1", 5, "HH", pid)]
        events += [note(path, code, pid=pid) for path, code in codes.items()]
        for one in calls:
            told = {"hhash": 5, "fhash": codes[one.path]}
            if one.name == "open":
                told |= {"flags": one.flags, "ret": one.fd}
            elif one.name == "close":
                told |= {"fd": one.fd, "ret": 0}
            elif one.name == "lseek":
                told |= {"fd": one.fd, "offset": one.offset, "whence": one.whence}
            else:
                told |= {"fd": one.fd, "count": one.count, "ret": one.count}
                told |= {"offset": one.offset} if one.name.startswith("p") else {}
            events.append(event(one.name, one.start, one.took, pid=pid, tid=pid, args=told))
        events.append(note("rank", str(rank), "PR", pid))
        write_pfw(folder / f"app-{pid}.pfw.gz", events)
    return folder


def as_recorder(folder: Path, ranks: Sequence[Sequence[Did]], *, old: bool) -> Path:
    """Write calls as recorder2text does: of versions before 2.3 with descriptors, or later."""
    (folder / "_text").mkdir(parents=True)
    for rank, calls in enumerate(ranks):
        lines = [_recorded(one, old=old) for one in calls]
        (folder / "_text" / f"{rank}.txt").write_text("".join(lines))
    return folder


def _recorded(one: Did, *, old: bool) -> str:
    file = str(one.fd) if old else one.path
    words: dict[str, tuple[object, ...]] = {
        "open": (one.path, one.flags, 420),
        "close": (file,),
        "lseek": (file, one.offset, one.whence),
    }
    given = words.get(one.name, (file, "%p", one.count))
    given += (one.offset,) if one.name.startswith("p") else ()
    result = {"open": one.fd, "close": 0, "lseek": 0}.get(one.name, one.count)
    start, end = one.start / 1e6, (one.start + one.took) / 1e6
    middle = f"{result} {one.name}" if old else f"{one.name} 0 0"
    return f"{start:.7f} {end:.7f} {middle} ( {' '.join(map(str, given))} )\n"


Row = tuple[int, str, str, int, int]


def rows_of(path: Path | str) -> list[Row]:
    """Return what a converted trace has: rank, operation, file, offset, length."""
    trace = open_tracers(str(path))
    block = join_blocks(list(trace.blocks()))
    names = [file.name for file in trace.files] + [""]
    return [
        (int(rank), TraceOp(op).name.lower(), names[file], int(offset), int(length))
        for rank, op, file, offset, length in zip(
            block.rank, block.op, block.file, block.offset, block.length, strict=True
        )
    ]


def warnings_of(path: Path | str) -> str:
    """Return what a conversion told."""
    return "\n".join(open_tracers(str(path)).warnings)
