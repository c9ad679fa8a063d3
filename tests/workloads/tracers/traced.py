"""Small traces in the tongues of the tracers, written here from what their documents say."""

from __future__ import annotations

import gzip
import json
import struct
import zlib
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


FUNCTIONS = ("creat", "open", "close", "write", "read", "lseek", "pread", "pwrite", "MPI_Barrier")
TICK = 1e-7


def as_native(folder: Path, ranks: Sequence[Sequence[Did]], *, shared: bool) -> Path:
    """Write calls as Recorder 3 does: with signatures and grammars of each rank, or of all."""
    folder.mkdir()
    folder.joinpath("VERSION").write_text("3.0.0")
    flags = [True] * 8
    head = struct.pack(
        "<i8?4xddi4?", len(ranks), *flags, 0.0, TICK, 0, shared, shared, False, False
    )
    names = "".join(f"{name}\n" for name in FUNCTIONS)
    folder.joinpath("recorder.mt").write_bytes(head.ljust(1024, b"\0") + names.encode())
    lines = [[_recorded(one, old=False) for one in calls] for calls in ranks]
    keys = [[_key(line) for line in mine] for mine in lines]
    known = list(dict.fromkeys(key for mine in keys for key in mine))
    grammars = []
    for rank, mine in enumerate(keys):
        listed = known if shared else list(dict.fromkeys(mine))
        grammars.append(_grammar([listed.index(key) for key in mine]))
        if not shared:
            folder.joinpath(f"{rank}.cst").write_bytes(_packed(_signatures(listed)))
            folder.joinpath(f"{rank}.cfg").write_bytes(_packed(grammars[-1]))
    if shared:
        unique = list(dict.fromkeys(grammars))
        numbers = [unique.index(grammar) for grammar in grammars]
        folder.joinpath("recorder.cst").write_bytes(_packed(_signatures(known)))
        folder.joinpath("ug.mt").write_bytes(
            struct.pack(f"<{len(ranks) + 1}i", *numbers, len(unique))
        )
        folder.joinpath("ug.cfg").write_bytes(b"".join(map(_packed, unique)))
    times = [_ticks(calls) for calls in ranks]
    blocks = [_packed(block) if shared else block for block in times]
    sizes = struct.pack(f"<{len(ranks)}Q", *map(len, blocks))
    folder.joinpath("recorder.ts").write_bytes(sizes + b"".join(blocks))
    return folder


def _packed(block: bytes) -> bytes:
    packed = zlib.compress(block)
    return struct.pack("<QQ", len(packed), len(block)) + packed


def _key(line: str) -> bytes:
    """Return the key of a call: its function and its words, each with a space behind it."""
    name, words = line.split()[2], line[line.index("(") + 2 : line.rindex(")")].encode()
    count = words.count(b" ")
    return struct.pack("<QiBBi", 0, FUNCTIONS.index(name), 0, count, len(words)) + words


def _signatures(keys: Sequence[bytes]) -> bytes:
    entries = [struct.pack("<4i", n, 0, len(key), 1) + key for n, key in enumerate(keys)]
    return struct.pack("<i", len(keys)) + b"".join(reversed(entries))


def _grammar(numbers: Sequence[int]) -> bytes:
    """Return a grammar of numbers: halves that are alike are one rule."""
    rules: dict[tuple[int, ...], int] = {}
    bodies: dict[int, list[int]] = {}

    def rule(part: tuple[int, ...]) -> int:
        if part not in rules:
            number = rules[part] = -1 - len(rules)
            if len(part) < 3:
                bodies[number] = [word for one in part for word in (one, 1)]
            else:
                halves = part[: len(part) // 2], part[len(part) // 2 :]
                left, right = (rule(half) for half in halves)
                bodies[number] = [left, 2] if left == right else [left, 1, right, 1]
        return rules[part]

    rule(tuple(numbers))
    words = [word for n, body in bodies.items() for word in (n, len(body) // 2, *body)]
    return struct.pack(f"<{1 + len(words)}i", len(bodies), *words)


def _ticks(calls: Sequence[Did]) -> bytes:
    """Return when calls began and ended, in ticks since the one before began."""
    found, before = b"", 0
    for one in calls:
        since = one.start * 10 - before
        found += struct.pack("<II", since, since + one.took * 10)
        before = one.start * 10
    return found


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
