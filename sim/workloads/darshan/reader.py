"""Reads Darshan logs with pydarshan: a program of its own, kept by :mod:`.reading_process`.

libdarshan-util is C code that trusts what it reads. A damaged log can make it crash, loop or ask
for absurd amounts of memory, and must not do so in the process of the simulator. So this file runs
as a script, and each log is read in a fork of it, with limits: pydarshan takes a second to be
imported, which thousands of logs need not wait for again. It imports nothing of the simulator.

A request is a line of JSON on standard input: the ``path`` of a log, and the ``seconds`` that it
may take. The answer is a line of JSON on standard output, the ``status`` of the fork (none if it
was ended) and the lengths of two texts, and these: what was found, arrays in NumPy's own format,
without pickles; and what was said, a line that begins with ``log:`` if the log cannot be opened,
and whatever libdarshan says.
"""

from __future__ import annotations

import io
import json
import os
import resource
import select
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

MEMORY_LIMIT = 8 * 2**30
"""Bytes of address space that reading a log may take."""

RECORD_LIMIT = 50_000_000
"""Records that one module may have; a damaged log can give the same one for ever."""

COUNTED = ("POSIX", "MPI-IO", "STDIO")
"""Modules of which all counters are read."""

NAMED = {"H5F": "HDF5", "PNETCDF_FILE": "PnetCDF"}
"""Modules of which it is only read which files they are about."""

OTHERS = ("DFS", "DAOS", "H5D", "PNETCDF_VAR")
"""Modules of which it is only read how many bytes went through them, to say what is missing."""

DXT = ("DXT_POSIX", "DXT_MPIIO")

MOST_BINS = 100_000
"""Intervals of a heat map: Darshan has 200 at most (DARSHAN_MAX_HEATMAP_BINS)."""

SEGMENT = np.dtype(
    [("offset", np.int64), ("length", np.int64), ("start", np.float64), ("end", np.float64)]
)
"""``struct segment_info`` of DXT."""


class Log:
    """A log that libdarshan has opened."""

    def __init__(self, path: str) -> None:
        from darshan.backend import cffi_backend

        # What a cdef makes, types do not know.
        self._ffi: Any = cffi_backend.ffi
        self._library: Any = cffi_backend.libdutil
        self._backend: Any = cffi_backend
        self._log = cffi_backend.log_open(path)
        if not self._log["handle"]:
            raise ValueError("libdarshan-util cannot open it")
        self.broken: list[str] = []
        self.records_read: dict[str, int] = {}
        self.arrays: dict[str, Any] = {}

    def job(self) -> dict[str, Any]:
        """Return what the log says of the job, the executable and the file systems."""
        record = self._ffi.new("struct darshan_job *")
        if self._library.darshan_log_get_job(self._log["handle"], record) < 0:
            raise ValueError("its job record cannot be read")
        job = self._backend.log_get_job(self._log)
        job["exe"] = self._or_broken("exe", self._backend.log_get_exe, "")
        job["mounts"] = self._or_broken("mounts", self._backend.log_get_mounts, [])
        job["modules"] = self._backend.log_get_modules(self._log)
        return dict(job)

    def _or_broken(self, what: str, read: Any, default: Any) -> Any:
        try:
            return read(self._log)
        except (UnicodeDecodeError, ValueError):
            self.broken.append(what)
            return default

    def names(self) -> dict[str, str]:
        """Return the names of the log's records by their numbers."""
        return {
            str(number): name
            for number, name in self._or_broken(
                "names", self._backend.log_get_name_records, {}
            ).items()
        }

    def records(self, module: str, struct: str) -> Iterator[Any]:
        """Go through the records of a module; note if they end before their time."""
        index = self._backend.log_get_modules(self._log)[module]["idx"]
        for done in range(RECORD_LIMIT):
            self.records_read[module] = done
            buffer = self._ffi.new("void **")
            found = self._library.darshan_log_get_record(self._log["handle"], index, buffer)
            if found < 1:
                if found < 0:
                    self.broken.append(module)
                return
            try:
                yield self._ffi.cast(struct, buffer[0])
            finally:
                self._library.darshan_free(buffer[0])
        raise ValueError(f"module {module} has more than {RECORD_LIMIT} records")

    def counters(self, module: str) -> list[str]:
        """Read all counters of a module; return their names, integers and then floats."""
        struct = self._backend._structdefs[module].removesuffix("*")
        number, rank, integers, floats = [], [], [], []
        for record in self.records(module, struct):
            number.append(record.base_rec.id)
            rank.append(record.base_rec.rank)
            integers.append(np.frombuffer(self._ffi.buffer(record.counters), np.int64).copy())
            floats.append(np.frombuffer(self._ffi.buffer(record.fcounters), np.float64).copy())
        names = self._backend.counter_names(module), self._backend.fcounter_names(module)
        self._put(module, number, rank)
        for key, rows, columns, kind in (
            ("counters", integers, names[0], np.int64),
            ("fcounters", floats, names[1], np.float64),
        ):
            table = np.array(rows, kind).reshape(len(rows), len(columns))
            self.arrays[f"{module}.{key}"] = table
        return [*names[0], *names[1]]

    def files(self, module: str) -> None:
        """Read which files the records of a module are about."""
        records = self.records(module, "struct darshan_base_record *")
        self._put(module, *_columns([(record.id, record.rank) for record in records], 2))

    def amounts(self, module: str) -> None:
        """Read how many bytes the records of a module read and wrote, and of which file."""
        names = self._backend.counter_names(module)
        columns = [names.index(f"{module}_BYTES_{way}") for way in ("READ", "WRITTEN")]
        rows = []
        for record in self.records(module, self._backend._structdefs[module].removesuffix("*")):
            counters = np.frombuffer(self._ffi.buffer(record.counters), np.int64)
            of_file = module in ("H5D", "PNETCDF_VAR")  # else the record is about a file itself
            number = record.file_rec_id if of_file else record.base_rec.id
            rows.append((number, record.base_rec.rank, int(counters[columns].clip(0).sum())))
        number, rank, moved = _columns(rows, 3)
        self._put(module, number, rank)
        self.arrays[f"{module}.bytes"] = np.array(moved, np.int64)

    def layouts(self) -> None:
        """Read the Lustre layouts: of each file the component with the most stripes."""
        rows, osts = [], []
        for record in self.records("LUSTRE", "struct darshan_lustre_record *"):
            components, first = [], 0
            ost_ids = self._ffi.cast("int64_t *", record.ost_ids)
            for position in range(record.num_comps):
                size, count = tuple(record.comps[position].counters)[:2]
                if 0 < count <= record.num_stripes - first:
                    components.append((count, size, self._ffi.unpack(ost_ids + first, count)))
                    first += count
            if components:
                count, size, chosen = max(components, key=lambda component: component[0])
                rows.append((record.base_rec.id, record.base_rec.rank, size, count))
                osts.append(np.array(chosen, np.int64))
        number, rank, size, count = _columns(rows, 4)
        self._put("LUSTRE", number, rank)
        self.arrays["LUSTRE.size"] = np.array(size, np.int64)
        self.arrays["LUSTRE.count"] = np.array(count, np.int64)
        self.arrays["LUSTRE.osts"] = np.concatenate(osts) if osts else np.zeros(0, np.int64)

    def heat(self) -> None:
        """Read the heat maps: bytes by module, whose names their records have, and by rank.

        ``cells`` are columns of rank, interval, bytes read and written, where there are any.
        """
        found: dict[int, tuple[float, Any]] = {}
        cells: dict[int, list[Any]] = {}
        for record in self.records("HEATMAP", "struct darshan_heatmap_record *"):
            width, count = record.bin_width_seconds, record.nbins
            if not (0.0 < width < 1e9 and 0 < count <= MOST_BINS):
                self.broken.append("HEATMAP")
                break
            moved = np.array(
                [
                    np.frombuffer(self._ffi.buffer(bins, 8 * count), np.int64)
                    for bins in (record.read_bins, record.write_bins)
                ]
            )
            _, before = found.setdefault(record.base_rec.id, (width, np.zeros_like(moved)))
            if before.shape == moved.shape:  # as they are: Darshan makes those of all ranks alike
                before += moved
                at = np.flatnonzero((moved > 0).any(axis=0))
                rank = np.full(len(at), record.base_rec.rank)
                cells.setdefault(record.base_rec.id, []).append([rank, at, *moved[:, at]])
        for place, (number, (width, moved)) in enumerate(found.items()):
            self.arrays[f"HEATMAP.{place}"] = moved
            self._put(f"HEATMAP.{place}", [number], [-1])
            self.arrays[f"HEATMAP.{place}.width"] = np.array([width])
            self.arrays[f"HEATMAP.{place}.cells"] = np.concatenate(cells[number], axis=1)

    def segments(self, module: str) -> list[str]:
        """Read the segments of DXT, writes before reads; return the host of each record."""
        rows, hosts, parts = [], [], []
        head = self._ffi.sizeof("struct dxt_file_record")
        for record in self.records(module, "struct dxt_file_record *"):
            count = record.write_count + record.read_count
            if min(record.write_count, record.read_count) < 0 or count * 32 > MEMORY_LIMIT:
                raise ValueError(f"module {module} has a record of {count} segments")
            start = self._ffi.cast("char *", record) + head
            raw = self._ffi.buffer(start, count * SEGMENT.itemsize)
            parts.append(np.frombuffer(raw, SEGMENT).copy())
            hosts.append(self._ffi.string(record.hostname).decode("utf-8", "replace"))
            rows.append(
                (record.base_rec.id, record.base_rec.rank, record.write_count, record.read_count)
            )
        number, rank, writes, reads = _columns(rows, 4)
        self._put(module, number, rank)
        self.arrays[f"{module}.writes"] = np.array(writes, np.int64)
        self.arrays[f"{module}.reads"] = np.array(reads, np.int64)
        self.arrays[f"{module}.segments"] = np.concatenate([np.zeros(0, SEGMENT), *parts])
        return hosts

    def nodes(self) -> dict[str, str]:
        """Return on which node each rank ran, where the MPI module of Darshan tells it."""
        names: dict[str, str] = {}
        records = self.records("APMPI", "struct darshan_apmpi_perf_record *")
        next(records, None)  # a header, which is shorter: not to be looked into
        for record in records:
            name = self._ffi.string(record.node_name).decode("utf-8", "replace")
            names[str(record.base_rec.rank)] = name
        return names

    def _put(self, module: str, number: list[int], rank: list[int]) -> None:
        self.arrays[f"{module}.id"] = np.array(number, np.uint64)
        self.arrays[f"{module}.rank"] = np.array(rank, np.int64)


def _columns(rows: Sequence[Sequence[int]], width: int) -> list[list[int]]:
    """Turn rows into columns."""
    return [[row[column] for row in rows] for column in range(width)]


def read(path: str) -> dict[str, Any]:
    """Return everything that a replay needs from a log, as arrays and one of JSON text."""
    log = Log(path)
    head: dict[str, Any] = log.job()
    head["names"] = log.names()
    present = head["modules"]
    head["counters"] = {name: log.counters(name) for name in COUNTED if name in present}
    for name in NAMED:
        if name in present:
            log.files(name)
    for name in OTHERS:
        if name in present:
            log.amounts(name)
    if "LUSTRE" in present:
        log.layouts()
    if "HEATMAP" in present:
        log.heat()
    head["hosts"] = {name: log.segments(name) for name in DXT if name in present}
    head["nodes"] = log.nodes() if "APMPI" in present else {}
    head["broken"] = log.broken
    head["records_read"] = log.records_read
    text = json.dumps(head, default=str).encode()
    return {"head": np.frombuffer(text, np.uint8), **log.arrays}


def _limit() -> None:
    """Bound what a damaged log can make libdarshan take, and leave no core file behind."""
    for what, most in ((resource.RLIMIT_AS, MEMORY_LIMIT), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (most if hard < 0 else min(most, hard), hard))


def _answer(path: str, found: int, said: int) -> None:
    """Read a log in a fork, into two files; never return."""
    os.dup2(said, sys.stdout.fileno())  # libdarshan prints what it likes
    os.dup2(said, sys.stderr.fileno())
    status = 0
    try:
        _limit()
        packed = io.BytesIO()
        np.savez(packed, **read(path))
        with os.fdopen(found, "wb") as stream:
            stream.write(packed.getbuffer())
    except BaseException as error:  # whatever it is, the log is what it is about
        os.write(said, f"log: {error or type(error).__name__}\n".encode("utf-8", "replace"))
        status = 1
    os._exit(status)


def _ended(process: int, seconds: float) -> bool:
    """Wait for a fork; end it when its time is over, or who asked is gone. Tell if it ended."""
    ends = os.pidfd_open(process)
    waiting = select.poll()
    waiting.register(ends, select.POLLIN)
    waiting.register(sys.stdin.fileno(), 0)  # tells when it is closed, which it always does
    heard = [descriptor for descriptor, _ in waiting.poll(1000.0 * seconds)]
    os.close(ends)
    if ends not in heard:
        os.kill(process, signal.SIGKILL)
    return ends in heard


def _serve(request: dict[str, Any]) -> None:
    """Read a log in a fork, and write the answer."""
    found, said = os.memfd_create("found"), os.memfd_create("said")
    process = os.fork()
    if not process:
        _answer(request["path"], found, said)
    ended = _ended(process, request["seconds"])
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    sizes = [os.fstat(one).st_size for one in (found, said)]
    head = {"status": status if ended else None, "sizes": sizes}
    output = sys.stdout.buffer
    output.write(json.dumps(head).encode() + b"\n")
    for one, size in zip((found, said), sizes, strict=True):
        with os.fdopen(one, "rb") as file:
            file.seek(0)
            output.write(file.read(size))
    output.flush()


def main() -> None:
    """Read the logs that are asked for, one after the other."""
    with suppress(Exception):  # each fork says it of its log
        import darshan.backend.cffi_backend  # noqa: F401 - once, for all forks
    for line in sys.stdin.buffer:
        _serve(json.loads(line))


if __name__ == "__main__":
    main()
