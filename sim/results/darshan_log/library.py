"""Writing a log with libdarshan-util, the library that Darshan's own tools read and write with.

It comes with the package ``darshan``; what it exports for writing is called through cffi.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xc40io.config.errors import FailureError
from xc40io.config.extras import need
from xc40io.results.darshan_log.records import Records
from xc40io.workloads.darshan.log import Layout
from xc40io.workloads.darshan.module_counters import Numbers


class Mount(NamedTuple):
    """A file system: its path, and its type."""

    path: str
    kind: str


class JobHead(NamedTuple):
    """The head of a log."""

    user: int
    number: int  # of the job
    ranks: int
    begin: float  # seconds since 1970
    end: float
    metadata: Mapping[str, str]  # what else Darshan notes, by name
    command: str  # what was run
    mounts: Sequence[Mount]  # the file systems


_WRITING = """
struct name_reference { void *record; char links[128]; };
struct module_functions { int (*get)(void *, void **); int (*put)(void *, void *); };
extern struct module_functions *mod_logutils[];
void *darshan_log_create(const char *, int, uint64_t);
int darshan_log_put_job(void *, void *);
int darshan_log_put_exe(void *, char *);
int darshan_log_put_mounts(void *, void *, int);
int darshan_log_put_namehash(void *, void *);
void darshan_log_close(void *);
"""
"""What the header of pydarshan leaves out. The links of a name belong to a hash table; where all
are zero, the table has one entry."""

_COMPONENT = {  # of a plain striped file: the only component, which covers it all
    "STRIPE_PATTERN": 0,  # LLAPI_LAYOUT_RAID0
    "FLAGS": 0x10,  # LCME_FL_INIT: its objects are there
    "EXT_END": -1,
}
_ZLIB = 0  # DARSHAN_ZLIB_COMP
_COMMAND_LIMIT = 2000  # bytes; command and mounts share 3015 (DARSHAN_EXE_LEN)
_METADATA_LIMIT = 1023  # DARSHAN_JOB_METADATA_LEN - 1
_PATH_LIMIT = 255  # of a mount


class LogFile:
    """A log that is being written, its parts in the order of the methods.

    ``partial`` are modules that lack something.
    """

    def __init__(self, path: Path, partial: Iterable[str] = ()) -> None:
        need("logs", str(path))
        import cffi
        from darshan.backend import cffi_backend
        from darshan.discover_darshan import find_utils

        self._backend: Any = cffi_backend
        # What a cdef makes, types do not know.
        self._structs: Any = cffi_backend.ffi
        self._ffi: Any = cffi.FFI()
        self._ffi.cdef(_WRITING)
        self._library: Any = find_utils(self._ffi, None)
        flags = sum(1 << cffi_backend.mod_name_to_idx(module) for module in partial)
        path.touch()  # as anyone's files are made; the library's own only their owner can read
        self._log = self._library.darshan_log_create(str(path).encode(), _ZLIB, flags)
        if self._log == self._ffi.NULL:
            raise OSError(None, "libdarshan-util cannot create the file")

    def close(self) -> None:
        """Write what is left, and the header."""
        self._library.darshan_log_close(self._log)

    def put_head(self, head: JobHead) -> None:
        """Write what the log says of the job."""
        job = self._structs.new("struct darshan_job *")
        job.uid, job.nprocs, job.jobid = head.user, head.ranks, head.number
        job.start_time_sec, job.start_time_nsec = _seconds(head.begin)
        job.end_time_sec, job.end_time_nsec = _seconds(head.end)
        noted = {"lib_ver": self._backend.get_lib_version(), **head.metadata}
        lines = "".join(f"{name}={value}\n" for name, value in noted.items()).encode()
        job.metadata = lines[:_METADATA_LIMIT]
        self._check(self._library.darshan_log_put_job(self._log, self._plain(job)))
        command = self._ffi.new("char[]", head.command.encode()[:_COMMAND_LIMIT])
        self._check(self._library.darshan_log_put_exe(self._log, command))
        self._put_mounts(head.mounts)

    def _put_mounts(self, mounts: Sequence[Mount]) -> None:
        """Write the table of mounts."""
        table = self._structs.new("struct darshan_mnt_info[]", len(mounts))
        for row, mount in zip(table, mounts, strict=True):
            row.mnt_path = mount.path.encode()[:_PATH_LIMIT]
            row.mnt_type = mount.kind.encode()
        put = self._library.darshan_log_put_mounts
        self._check(put(self._log, self._plain(table), len(mounts)))

    def put_names(self, names: Mapping[int, str]) -> None:
        """Write the paths of files, by their numbers."""
        for number, path in names.items():
            raw = np.uint64(number).tobytes() + path.encode() + b"\0"
            record = self._ffi.new("char[]", raw)
            reference = self._ffi.new("struct name_reference *", {"record": record})
            self._check(self._library.darshan_log_put_namehash(self._log, reference))

    def put_counters(self, module: str, records: Records, identity: Numbers) -> None:
        """Write the records of ``POSIX`` or ``MPI-IO``, maybe none.

        ``identity``, uint64 (files,), are the numbers by which the log knows files.
        """
        prefix = f"{module.replace('-', '')}_"
        names = self._backend.counter_names(module), self._backend.fcounter_names(module)
        layout = [("id", "u8"), ("rank", "i8")]
        table = np.zeros(
            len(records),
            [*layout, ("counters", "i8", len(names[0])), ("fcounters", "f8", len(names[1]))],
        )
        table["id"], table["rank"] = identity[records.file], records.rank
        for part, columns in zip(("counters", "fcounters"), names, strict=True):
            for column, name in enumerate(columns):
                values = records.counters.get(name.removeprefix(prefix))
                if values is not None:
                    table[part][:, column] = values
        self.put_raw(module, (row.tobytes() for row in table))

    def put_layouts(self, layouts: Iterable[tuple[int, int, Layout]]) -> None:
        """Write LUSTRE records: of each the number of its file, a rank or -1, and the layout."""
        names = self._backend.counter_names("LUSTRE_COMP")
        width = self._structs.sizeof("struct darshan_lustre_component")
        for number, rank, layout in layouts:
            # The library takes the OSTs to follow the components in memory.
            raw = self._structs.new("char[]", width + 8 * len(layout.osts))
            component = self._structs.cast("struct darshan_lustre_component *", raw)
            own = {"STRIPE_SIZE": layout.size, "STRIPE_COUNT": len(layout.osts)}
            counters = own | _COMPONENT
            for column, name in enumerate(names):
                component.counters[column] = counters.get(name.removeprefix("LUSTRE_COMP_"), 0)
            osts = self._structs.cast("int64_t *", raw + width)
            self._structs.buffer(osts, 8 * len(layout.osts))[:] = layout.osts.astype("i8").tobytes()
            record = self._structs.new("struct darshan_lustre_record *")
            record.base_rec.id, record.base_rec.rank = number, rank
            record.num_comps, record.num_stripes = 1, len(layout.osts)
            record.comps, record.ost_ids = component, osts
            self._put("LUSTRE", self._plain(record))

    def put_raw(self, module: str, records: Iterable[bytes]) -> None:
        """Write records of a module as they lie in memory."""
        for record in records:
            self._put(module, self._ffi.from_buffer(record))

    def _put(self, module: str, record: Any) -> None:
        """Write one record of a module."""
        functions = self._library.mod_logutils[self._backend.mod_name_to_idx(module)]
        self._check(functions.put(self._log, record))

    def _plain(self, pointer: Any) -> Any:
        """Return a pointer to a struct of pydarshan's as one to anything."""
        return self._ffi.cast("void *", pointer)

    def _check(self, answer: int) -> None:
        """Raise FailureError if the library has refused something."""
        if answer < 0:
            raise FailureError("libdarshan-util could not write the log: see what it says above")


@contextmanager
def log_file(path: Path, partial: Iterable[str] = ()) -> Iterator[LogFile]:
    """Open a log for writing, and close it at the end; the parameters are as for LogFile."""
    log = LogFile(path, partial)
    try:
        yield log
    finally:
        log.close()


def _seconds(time: float) -> tuple[int, int]:
    """Return a time as whole seconds and nanoseconds."""
    whole = int(time)
    return whole, min(round((time - whole) * 1e9), 999_999_999)
