"""Darshan logs made for tests, with libdarshan-util's own writer; also for tests elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from xc40io.workloads.darshan.log import DarshanLog

_WRITER = """
struct darshan_job {
    int64_t uid; int64_t start_time_sec; int64_t start_time_nsec;
    int64_t end_time_sec; int64_t end_time_nsec; int64_t nprocs; int64_t jobid;
    char metadata[1024];
};
struct mount { char mnt_type[3015]; char mnt_path[3015]; };
struct name_record { uint64_t id; char name[128]; };
struct handle {
    void *tbl; void *prev; void *next; void *hh_prev; void *hh_next;
    void *key; unsigned keylen; unsigned hashv;
};
struct reference { struct name_record *record; struct handle link; };
void *darshan_log_create(const char *name, int compression, int partial);
int darshan_log_put_job(void *log, struct darshan_job *job);
int darshan_log_put_exe(void *log, char *exe);
int darshan_log_put_mounts(void *log, struct mount *mounts, int count);
int darshan_log_put_namehash(void *log, void *hash);
int darshan_log_put_mod(void *log, int module, void *buffer, int length, int version);
void darshan_log_close(void *log);
"""
_MODULES = {
    "POSIX": (1, 4),
    "MPI-IO": (2, 3),
    "PNETCDF_FILE": (5, 3),
    "LUSTRE": (8, 1),
    "STDIO": (9, 2),
    "DXT_POSIX": (10, 1),
    "DXT_MPIIO": (11, 2),
    "APMPI": (14, 1),
    "HEATMAP": (15, 1),
}

Records = Sequence[Mapping[str, Any]]


class Segment(NamedTuple):
    """A call as DXT records it; seconds."""

    offset: int
    length: int
    start: float
    end: float


def write_log(
    path: Path,
    *,
    ranks: int = 4,
    seconds: int = 10,
    names: Mapping[int, str] | None = None,
    partial: int = 0,
    mounts: Mapping[str, str] | None = None,
    began: int = 100,
    **modules: Records,
) -> Path:
    """Write a log.

    ``POSIX=[{"id": 1, "rank": 0, "WRITES": 3}]`` gives records of a module, by the names of
    counters without their prefix; ``MPIIO``, ``PNETCDF_FILE`` and ``DXT_POSIX`` (with ``writes``
    and ``reads``, lists of segments) likewise. ``LUSTRE`` takes the ``size`` of a stripe and
    ``osts``, ``APMPI`` the ``host`` of each rank, ``HEATMAP`` the ``width`` of its intervals and
    the bytes of ``reads`` and ``writes`` in each. ``partial`` is a bit mask of modules that ran out
    of memory, ``mounts`` the kind of each mount, ``began`` when the job did, in seconds since 1970.
    """
    import cffi
    import darshan
    from darshan.backend import cffi_backend

    ffi = cffi.FFI()
    ffi.cdef(_WRITER)
    folder = Path(darshan.__file__).parents[1] / "darshan.libs"
    library = ffi.dlopen(str(next(folder.glob("libdarshan-util*"))))
    log = library.darshan_log_create(str(path).encode(), 0, partial)
    assert log != ffi.NULL
    job = ffi.new("struct darshan_job *")
    job.nprocs, job.start_time_sec, job.end_time_sec, job.jobid = ranks, began, began + seconds, 7
    job.metadata = b"lib_ver=3.4.0\n"
    mounted = {"/lus/theta-fs0": "lustre"} if mounts is None else mounts
    table = ffi.new("struct mount[]", max(1, len(mounted)))
    for row, (place, kind) in zip(table, mounted.items(), strict=False):
        row.mnt_type, row.mnt_path = kind.encode(), place.encode()
    held = [
        ffi.new("struct name_record *", {"id": number, "name": name.encode()})
        for number, name in (names or {1: "/lus/theta-fs0/data"}).items()
    ]
    links = [ffi.new("struct reference *", {"record": record}) for record in held]
    for link, following in pairwise(links):
        link.link.next = following
    assert library.darshan_log_put_job(log, job) == 0
    assert library.darshan_log_put_exe(log, b"./app") == 0
    assert library.darshan_log_put_mounts(log, table, len(mounted)) == 0
    assert library.darshan_log_put_namehash(log, links[0]) == 0
    for keyword, records in modules.items():
        name = "MPI-IO" if keyword == "MPIIO" else keyword
        packed = b"".join(_packed(name, record) for record in records)
        if name == "APMPI":
            packed = bytes(cffi_backend.ffi.sizeof("struct darshan_apmpi_header_record")) + packed
        number, version = _MODULES[name]
        buffer = ffi.from_buffer(packed)
        assert library.darshan_log_put_mod(log, number, buffer, len(packed), version) == 0
    library.darshan_log_close(log)
    path.chmod(0o644)
    return path


def _packed(module: str, record: Mapping[str, Any]) -> bytes:
    from darshan.backend import cffi_backend

    head = np.array([record["id"], np.uint64(np.int64(record["rank"]).view(np.uint64))], np.uint64)
    if module.startswith("DXT"):
        return head.tobytes() + _segments(record)
    if module == "HEATMAP":
        bins = np.array([*record["writes"], *record["reads"]], np.int64)
        about = np.float64(record["width"]).tobytes()
        about += np.array([len(record["writes"]), 0, 0], np.int64).tobytes()  # then two pointers
        return head.tobytes() + about + bins.tobytes()
    if module == "LUSTRE":
        osts = np.asarray(record["osts"], np.int64)
        fields = np.array([300, 1, osts[0], record["size"], len(osts)], np.int64)
        return head.tobytes() + fields.tobytes() + osts.tobytes()
    if module == "APMPI":
        struct = cffi_backend.ffi.new("struct darshan_apmpi_perf_record *")
        struct.node_name = record["host"].encode()
        return head.tobytes() + bytes(cffi_backend.ffi.buffer(struct))[len(head.tobytes()) :]
    prefix = module.replace("-", "")
    names = cffi_backend.counter_names(module)
    seconds = cffi_backend.fcounter_names(module)
    counters, floats = np.zeros(len(names), np.int64), np.zeros(len(seconds))
    for name, value in record.items():
        if name in ("id", "rank"):
            continue
        if name.startswith("F_"):
            floats[seconds.index(f"{prefix}_{name}")] = value
        else:
            counters[names.index(f"{prefix}_{name}")] = value
    return head.tobytes() + counters.tobytes() + floats.tobytes()


def _segments(record: Mapping[str, Any]) -> bytes:
    kind = [("offset", "i8"), ("length", "i8"), ("start", "f8"), ("end", "f8")]
    writes, reads = record.get("writes", ()), record.get("reads", ())
    host = str(record.get("host", "nid00001")).encode().ljust(64, b"\0")
    counts = np.array([len(writes), len(reads)], np.int64)
    segments = np.array([tuple(one) for one in (*writes, *reads)], kind)
    shared = np.array([0], np.int64)
    return shared.tobytes() + host + counts.tobytes() + segments.tobytes()


def posix_writes(rank: int, calls: int, size: int, **more: Any) -> dict[str, Any]:
    """Return a record of consecutive writes of 1 to 4 MiB on file 1, from second 1 to second 2."""
    return {
        "id": 1,
        "rank": rank,
        "OPENS": 1,
        "WRITES": calls,
        "BYTES_WRITTEN": calls * size,
        "MAX_BYTE_WRITTEN": calls * size - 1,
        "CONSEC_WRITES": calls - 1,
        "SEQ_WRITES": calls - 1,
        "SIZE_WRITE_1M_4M": calls,
        "ACCESS1_ACCESS": size,
        "ACCESS1_COUNT": calls,
        "F_OPEN_START_TIMESTAMP": 0.9,
        "F_OPEN_END_TIMESTAMP": 1.0,
        "F_WRITE_START_TIMESTAMP": 1.0,
        "F_WRITE_END_TIMESTAMP": 2.0,
        "F_CLOSE_START_TIMESTAMP": 2.0,
        "F_CLOSE_END_TIMESTAMP": 2.1,
        "F_WRITE_TIME": 0.5,
        "F_META_TIME": 0.1,
        **more,
    }


def collective_writes(ranks: int, calls: int, size: int, **more: Any) -> dict[str, Any]:
    """Return a record of collective writes of all ranks, of 1 to 4 MiB each."""
    return {
        "id": 1,
        "rank": -1,
        "COLL_OPENS": ranks,
        "COLL_WRITES": ranks * calls,
        "MODE": 5,
        "BYTES_WRITTEN": ranks * calls * size,
        "SIZE_WRITE_AGG_1M_4M": ranks * calls,
        "ACCESS1_ACCESS": size,
        "ACCESS1_COUNT": ranks * calls,
        "F_OPEN_START_TIMESTAMP": 0.9,
        "F_OPEN_END_TIMESTAMP": 1.0,
        "F_WRITE_START_TIMESTAMP": 1.0,
        "F_WRITE_END_TIMESTAMP": 3.0,
        "F_CLOSE_START_TIMESTAMP": 3.0,
        "F_CLOSE_END_TIMESTAMP": 3.1,
        "F_WRITE_TIME": 1.5 * ranks,
        "F_META_TIME": 0.1 * ranks,
        **more,
    }


def ten_logs(folder: Path) -> Path:
    """Write ten small logs into a folder and one below it: files of one OST, private or shared."""
    folder.mkdir(exist_ok=True)
    (folder / "more").mkdir(exist_ok=True)
    one_ost = [{"id": 1, "rank": -1, "size": 2**20, "osts": [3]}]
    for number in range(5):
        calls, ranks = 8 * (number + 1), 4 * (number + 1)
        took = {"F_WRITE_TIME": 2.0 * number, "F_WRITE_END_TIMESTAMP": 3.0 + number}
        shared = collective_writes(ranks, calls, 2**20, F_SLOWEST_RANK_TIME=2.0 * number)
        write_log(folder / f"shared-{number}.darshan", ranks=ranks, MPIIO=[shared], LUSTRE=one_ost)
        own = [posix_writes(rank, calls, 2**20, id=1 + rank, **took) for rank in range(2)]
        names = {1 + rank: f"/lus/theta-fs0/{rank}" for rank in range(2)}
        write_log(folder / f"more/own-{number}.darshan", ranks=2, names=names, POSIX=own)
    return folder


def file_per_ost(
    path: Path, seconds: Mapping[int, float], *, mount: str = "/lus/theta-fs0", synced: bool = False
) -> Path:
    """Write a log of ranks that each wrote 64 MiB to a file on an OST of its own.

    ``seconds`` says for each OST how long that took: in writes, or with ``synced`` in a sync after
    them, of which Darshan counts the time but has no timestamp.
    """
    records = [
        posix_writes(rank, 64, 2**20, FSYNCS=int(synced), **write_times(took, synced=synced))
        | {"id": 1 + rank}
        for rank, took in enumerate(seconds.values())
    ]
    layouts = [
        {"id": 1 + rank, "rank": rank, "size": 2**20, "osts": [ost]}
        for rank, ost in enumerate(seconds)
    ]
    names = {1 + rank: f"{mount}/{rank}" for rank in range(len(seconds))}
    files = {"names": names, "mounts": {mount: "lustre"}}
    ranks = len(seconds)
    return write_log(path, ranks=ranks, seconds=1000, **files, POSIX=records, LUSTRE=layouts)


def write_times(took: float, *, synced: bool) -> dict[str, float]:
    """Return the counters of seconds of a file that took so long: see :func:`file_per_ost`."""
    return {
        "F_WRITE_END_TIMESTAMP": 1.01 if synced else 1.0 + took,
        "F_WRITE_TIME": took,
        "F_CLOSE_START_TIMESTAMP": 1.0 + took,
        "F_CLOSE_END_TIMESTAMP": 1.1 + took,
    }


def with_seconds(
    log: DarshanLog, seconds: Mapping[int, float], *, synced: bool = False
) -> DarshanLog:
    """Return a log of files on OST 0, 1, ... with those alone that took so many seconds."""
    order = np.array([log.posix.number.tolist().index(1 + ost) for ost in seconds])
    posix = log.posix.take(order)
    for row, took in enumerate(seconds.values()):
        for name, value in write_times(took, synced=synced).items():
            posix.floats[row, posix.columns[name]] = value
    return replace(log, posix=posix)
