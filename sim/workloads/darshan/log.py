"""A Darshan log, opened and checked.

Reading is left to another process (:mod:`.reading_process`), since libdarshan-util can crash or
hang on damaged logs.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.config.errors import InputError
from xc40io.config.extras import need
from xc40io.config.files import Kind, opened
from xc40io.config.kept import kept
from xc40io.config.reading import reading
from xc40io.engine.types import Integers
from xc40io.topology.text import format_count
from xc40io.workloads.darshan.heat_map import HeatMap, heat_maps
from xc40io.workloads.darshan.module_counters import Counters, Numbers
from xc40io.workloads.darshan.reading_process import Read, read_apart
from xc40io.workloads.darshan.streams import calls_of_streams

MAGIC = 6567223
"""What every log since Darshan 2 has at its ninth byte (DARSHAN_MAGIC_NR)."""

VERSIONS = ("3.00", "3.01", "3.10", "3.20", "3.21", "3.41")
"""The versions of the format of a log that can be read."""

TIME_LIMIT = 60.0
"""Seconds for reading a log; a large one gets as many again for every 32 MiB of it."""

MOST_RANKS = 2**24

_HEADER = 8 * (4 + 2 * 65)
"""Bytes of the largest header, as far as it is looked at."""

_SEGMENT = [("offset", "i8"), ("length", "i8"), ("start", "f8"), ("end", "f8")]


class Layout(NamedTuple):
    """How a file lay on the OSTs; of a progressive layout the component with most stripes."""

    size: int  # bytes of a stripe
    osts: Integers  # int64 (stripes,): the indices of its OSTs


@kept
class Unreplayed(NamedTuple):
    """What went through a module that is not replayed."""

    module: str
    files: int
    bytes: int
    seconds: float | None = None  # of all ranks together in its calls; None where it is not counted


class Dxt(NamedTuple):
    """Every call, as DXT recorded it: rows by record, writes before reads."""

    number: Numbers  # (records,): which file
    rank: Integers  # (records,)
    writes: Integers  # int64 (records,): segments of each record
    reads: Integers  # int64 (records,)
    # (segments,): `offset` and `length` in bytes, `start` and `end` in seconds since the job began.
    segments: npt.NDArray[Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class DarshanLog:
    """What a log holds."""

    path: Path
    ranks: int  # of the job
    run_time: float  # seconds from the job's begin to its end
    began: int  # when the job began: seconds since 1970
    executable: str  # the command line
    job_id: int
    version: str  # of the log's format
    mounts: Sequence[tuple[str, str]]  # path and type of the file systems that were mounted
    names: Mapping[int, str]  # of files, by their numbers
    posix: Counters  # of no record where the log has no such module
    mpiio: Counters
    stdio: Counters  # without the streams of the processes
    streams: Counters  # as calls of POSIX: of streams that are replayed
    libraries: Mapping[int, str]  # `HDF5` or `PnetCDF` by the number of a file that they opened
    layouts: Mapping[int, Layout]  # of files on Lustre, by their numbers, ascending
    dxt_posix: Dxt  # of no record where the log has none
    dxt_mpiio: Dxt
    heat: tuple[HeatMap, ...]  # when bytes were moved, by module; none where the log has no maps
    paced: Mapping[str, HeatMap]  # those of them that the counters do not contradict, by module
    hosts: Mapping[int, str]  # the node of each rank, as far as the log tells
    unreplayed: tuple[Unreplayed, ...]
    # What the log should have told and does not: a few words each. Not that DXT ran out of memory,
    # since the counters have all that it lacks.
    lost: tuple[str, ...]
    warnings: tuple[str, ...]  # what is wrong with the log: a sentence each

    @cached_property
    def calls(self) -> Counters:
        """The records of POSIX, and those of streams as calls of POSIX."""
        return self.posix.joined(self.streams)

    @property
    def last_call(self) -> float:
        """When the last call ended, in seconds since the job began; 0 if unknown."""
        windows = (
            records.window(what)
            for records in (self.calls, self.mpiio)
            for what in ("OPEN", "READ", "WRITE", "CLOSE")
        )
        return max((window[1] for window in windows if window is not None), default=0.0)

    def without_dxt(self) -> DarshanLog:
        """Return the log as if DXT had not been there, but for the nodes that it named."""
        return replace(self, dxt_posix=_no_dxt(), dxt_mpiio=_no_dxt())

    def name_of(self, number: int) -> str:
        """Return the name of a file; its number if it has no name."""
        return self.names.get(number) or f"#{number}"


def read_log(path: str | Path, *, time_limit: float = TIME_LIMIT) -> DarshanLog:
    """Read a Darshan log that can be replayed, as :func:`read_counts` does.

    Raises
    ------
    InputError
        Likewise, or if it says nothing about calls of POSIX, MPI-IO or streams.
    FailureError
        If pydarshan, which has libdarshan-util inside, is not installed.
    """
    log = read_counts(path, time_limit=time_limit)
    if len(log.calls) + len(log.mpiio) == 0:
        other = ", ".join(f"{of.bytes / 1e9:,.4g} GB through {of.module}" for of in log.unreplayed)
        raise InputError(
            f"{log.path}: this Darshan log has no I/O records of POSIX or MPI-IO"
            f"{' that can be read' if log.warnings else ''}"
            f"{f' (but {other})' if other else ''}, so that there is nothing to replay; "
            "right would be the log of a job that read or wrote files through them"
        )
    return log


def read_counts(path: str | Path, *, time_limit: float = TIME_LIMIT) -> DarshanLog:
    """Read a Darshan log; one of a few MiB is taken for damaged after ``time_limit`` seconds.

    Raises
    ------
    InputError
        If there is no such file, if it is no log, of an unknown version or damaged.
    FailureError
        If pydarshan, which has libdarshan-util inside, is not installed.
    """
    path = Path(path)
    missing = _check_header(path)
    arrays = _run_reader(path, time_limit)
    with reading(f"{path}: this Darshan log is damaged, its records contradict each other", _WHOLE):
        return _assemble(path, arrays, missing)


def _damaged(path: Path, why: str) -> InputError:
    return InputError(
        f"{path}: this Darshan log is damaged ({' '.join(why.split())}); right would be {_WHOLE}"
    )


_WHOLE = "a complete log, as Darshan wrote it when the job ended"
_KIND = Kind("a Darshan log", 1 << 31)


def _check_header(path: Path) -> int:
    """Look at the first bytes: is it a log at all, of which version, and how many bytes it lacks.

    The header tells where the regions of the log are: pairs of offset and length.
    """
    with reading(path, "a Darshan log"), opened(path, _KIND) as stream:
        head = stream.read(_HEADER)
    version = head[:8].split(b"\0")[0]
    magic = (int.from_bytes(head[8:16], "little"), int.from_bytes(head[8:16], "big"))
    if len(head) < 16 or MAGIC not in magic:
        raise InputError(
            f"{path}: this is not a Darshan log, or a damaged one: it does not begin like one; "
            "right would be the path of a file that ends in .darshan"
        )
    if version.decode("ascii", "replace") not in VERSIONS:
        raise InputError(
            f"{path}: version {version.decode('ascii', 'replace')!r} of Darshan's log format is "
            f"unknown; right would be one of {', '.join(VERSIONS)}"
        )
    regions = np.frombuffer(head[: len(head) // 8 * 8], "<u8" if magic[0] == MAGIC else ">u8")
    first, modules = (4, 64) if version == b"3.41" else (3, 16)
    pairs = regions[first : first + 2 * (modules + 1)]
    ends = [int(start) + int(size) for start, size in zip(pairs[::2], pairs[1::2], strict=False)]
    return max(0, max(ends, default=0) - path.stat().st_size)


def _run_reader(path: Path, time_limit: float) -> dict[str, Any]:
    """Read a log in a process of its own; return its arrays, and its text as ``head``."""
    need("logs", str(path))
    limit = time_limit * (1 + path.stat().st_size // 2**25)
    done = read_apart(path, limit)
    if done.status is None:
        raise _damaged(path, f"reading it did not end within {limit:g} s")
    if done.status:
        raise _damaged(path, _reason(done))
    with (
        reading(f"{path}: this Darshan log is damaged, what was read is no table", _WHOLE),
        np.load(io.BytesIO(done.found), allow_pickle=False) as packed,
    ):
        arrays: dict[str, Any] = dict(packed)
        arrays["head"] = json.loads(bytes(arrays["head"]))
    return arrays


def _reason(done: Read) -> str:
    """Say in a few words why nothing was read."""
    if done.status is not None and done.status < 0:
        return "libdarshan-util crashed on it"
    for line in done.said.strip().splitlines():
        if line.startswith(("Error:", "log:")):
            return line.partition(":")[2].strip().rstrip(".")
    return "libdarshan-util cannot read it"


def _assemble(path: Path, arrays: dict[str, Any], missing: int) -> DarshanLog:
    """Turn what the reader found into a log, with what is impossible left out.

    ``missing`` are bytes that the log should have.
    """
    head = arrays["head"]
    ranks = int(head["nprocs"])
    if not 1 <= ranks <= MOST_RANKS:
        raise _damaged(path, f"it says that the job had {ranks} ranks")
    run_time = float(head["run_time"])
    run_time = run_time if np.isfinite(run_time) and run_time > 0.0 else 0.0
    hosts = {int(rank): host for rank, host in head["nodes"].items()}
    for module, names in head["hosts"].items():
        hosts.update(zip(arrays[f"{module}.rank"].tolist(), names, strict=True))
    counters = {name: _counters(arrays, head, name) for name in ("POSIX", "MPI-IO", "STDIO")}
    names = {int(number): name for number, name in head["names"].items()}
    heat = tuple(of for of in heat_maps(arrays, names) if of.module in counters)
    against = {of.module: of.contradiction(counters[of.module]) for of in heat}
    dropped: dict[str, int] = {}
    for name, found in counters.items():  # none of a rank that there cannot be
        possible = (found.rank >= -1) & (found.rank < ranks)
        dropped[name] = int((~possible).sum())
        counters[name] = found.take(possible)
    standard = np.array([number for number, name in names.items() if is_stream(name)], np.uint64)
    stdio = counters["STDIO"].take(~np.isin(counters["STDIO"].number, standard))
    replayed = calls_of_streams(stdio, counters["MPI-IO"].number)
    counters["STDIO"] = stdio.take(~np.isin(stdio.number, replayed.number))
    libraries = {
        int(number): library
        for module, library in (("PNETCDF_FILE", "PnetCDF"), ("H5F", "HDF5"))
        for number in arrays.get(f"{module}.id", ())
    }
    return DarshanLog(
        path=path,
        ranks=ranks,
        run_time=run_time,
        began=max(0, int(head["start_time_sec"])),
        executable=head["exe"].strip(),
        job_id=int(head["jobid"]),
        version=head["log_ver"],
        mounts=[(str(place), str(kind)) for place, kind in head["mounts"]],
        names=names,
        posix=counters["POSIX"],
        mpiio=counters["MPI-IO"],
        stdio=stdio,
        streams=replayed,
        libraries=libraries,
        layouts=_layouts(arrays),
        dxt_posix=_dxt(arrays, "DXT_POSIX", ranks),
        dxt_mpiio=_dxt(arrays, "DXT_MPIIO", ranks),
        heat=heat,
        paced={of.module: of for of in heat if not against[of.module]},
        hosts={rank: host for rank, host in hosts.items() if 0 <= rank < ranks and host},
        unreplayed=tuple(_unreplayed(arrays, counters)),
        lost=tuple(_lost(head, missing, dropped)),
        warnings=(
            *_warnings(head, path, missing),
            *(f"{path}: {said}: the map is not used" for said in against.values() if said),
        ),
    )


def _unreplayed(arrays: dict[str, Any], counters: Mapping[str, Counters]) -> Iterator[Unreplayed]:
    """Yield what moved through modules that are not replayed.

    DAOS below DFS, and HDF5 or PnetCDF above a layer that was counted, would count twice.
    """
    stdio = counters["STDIO"]
    if len(stdio):
        moved = stdio.total("BYTES_READ") + stdio.total("BYTES_WRITTEN")
        took = sum(stdio.seconds(f"F_{what}_TIME") for what in ("READ", "WRITE", "META"))
        yield Unreplayed("STDIO", len(np.unique(stdio.number)), moved, took)
    unsaid = np.zeros(1, np.uint64)  # what older logs have for the file of a dataset
    seen = np.concatenate([unsaid, counters["POSIX"].number, counters["MPI-IO"].number])
    for module in ("DFS", "DAOS", "H5D", "PNETCDF_VAR"):
        number = arrays.get(f"{module}.id", np.zeros(0, np.uint64))
        alone = ~np.isin(number, seen)
        if alone.any():
            moved = int(arrays[f"{module}.bytes"][alone].sum())
            yield Unreplayed(module, len(np.unique(number[alone])), moved)
            if module in ("DFS", "DAOS"):
                return


def is_stream(name: str) -> bool:
    """Tell whether a record is about a stream of the process, as ``<STDOUT>``, and no file."""
    return name.startswith("<") and name.endswith(">")


def _warnings(head: dict[str, Any], path: Path, missing: int) -> list[str]:
    """Say which modules are incomplete, and whether the log is cut short or damaged."""
    partial = [name for name, about in head["modules"].items() if about["partial_flag"]]
    found = []
    if partial:
        found.append(
            f"{path}: the log is incomplete: Darshan ran out of memory for {', '.join(partial)} "
            "while the job ran; what it did record is replayed"
        )
    broken = sorted(set(head["broken"]))
    if missing or broken:
        how = f"truncated: it lacks {format_count(missing, 'byte')} at its end"
        how = how if missing else "damaged, though none of it is missing"
        unreadable = f", and {', '.join(broken)} cannot be read to the end" if broken else ""
        found.append(f"{path}: the log is {how}{unreadable}; what can be read is replayed")
    return found


def _lost(head: dict[str, Any], missing: int, dropped: Mapping[str, int]) -> Iterator[str]:
    """Yield what is lost: by damage, by Darshan's lack of memory, or since it cannot be.

    Of each module a number of records was ``dropped``.
    """
    read = head["records_read"]
    broken = sorted(set(head["broken"]))
    for name in broken:
        read_before = f"{name} after {format_count(read.get(name, 0), 'record')}"
        yield read_before if name in read else f"the {name}"
    if missing and not broken:
        yield f"{format_count(missing, 'byte')} at the end"
    for name, about in head["modules"].items():
        if about["partial_flag"] and name in ("POSIX", "MPI-IO"):
            yield f"records of {name} for which Darshan had no memory"
    for name, records in dropped.items():
        if records:
            yield f"{format_count(records, 'record')} of {name}, of ranks that do not exist"


def _counters(arrays: dict[str, Any], head: dict[str, Any], module: str) -> Counters:
    """Return the counters of a module, maybe of no record."""
    prefix, none = module.replace("-", ""), np.zeros(0, np.int64)
    if module not in head["counters"]:
        tables = np.zeros((0, 0), np.int64), np.zeros((0, 0))
        return Counters.of(prefix, none.astype(np.uint64), none, tables, ())
    tables = arrays[f"{module}.counters"], arrays[f"{module}.fcounters"]
    number, rank = arrays[f"{module}.id"], arrays[f"{module}.rank"]
    return Counters.of(prefix, number, rank, tables, head["counters"][module])


def _layouts(arrays: dict[str, Any]) -> dict[int, Layout]:
    """Return the layout of each file; the first of several."""
    if "LUSTRE.id" not in arrays:
        return {}
    osts = np.split(arrays["LUSTRE.osts"], np.cumsum(arrays["LUSTRE.count"])[:-1])
    numbers, first = np.unique(arrays["LUSTRE.id"], return_index=True)
    sizes = arrays["LUSTRE.size"][first].tolist()
    return {
        number: Layout(size, osts[row])
        for number, size, row in zip(numbers.tolist(), sizes, first.tolist(), strict=True)
    }


def _no_dxt() -> Dxt:
    none = np.zeros(0, np.int64)
    return Dxt(none.astype(np.uint64), none, none, none, np.zeros(0, _SEGMENT))


def _dxt(arrays: dict[str, Any], module: str, ranks: int) -> Dxt:
    """Return the segments of a layer; without those that cannot be."""
    if f"{module}.id" not in arrays:
        return _no_dxt()
    columns = ("id", "rank", "writes", "reads", "segments")
    found = Dxt(*(arrays[f"{module}.{column}"] for column in columns))
    if ((found.rank < 0) | (found.rank >= ranks)).any():
        raise ValueError("a rank that does not exist")
    for name in ("start", "end"):
        found.segments[name] = np.maximum(np.nan_to_num(found.segments[name]), 0.0)
    for name in ("offset", "length"):
        found.segments[name] = np.maximum(found.segments[name], 0)
    return found
