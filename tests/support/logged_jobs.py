"""Jobs of several kinds and the logs that Darshan would keep of them, written for tests.

They stand for what real logs hold: a file for each process with its striping, one file that an
aggregator writes for all, windows with holes below PnetCDF, calls that DXT recorded, in full and
cut short, and records of all ranks together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from darshan_logs import Segment, collective_writes, posix_writes, write_log

MIB = 2**20
_ODD = MIB + 8  # a size of calls that no chunk comes out even with


def _reads(calls: int, size: int) -> dict[str, Any]:
    """Return the counters of consecutive reads of 1 to 4 MiB, from second 3 to second 4."""
    return {
        "READS": calls,
        "BYTES_READ": calls * size,
        "MAX_BYTE_READ": calls * size - 1,
        "CONSEC_READS": calls - 1,
        "SEQ_READS": calls - 1,
        "SIZE_READ_1M_4M": calls,
        "F_READ_START_TIMESTAMP": 3.0,
        "F_READ_END_TIMESTAMP": 4.0,
        "F_READ_TIME": 0.4,
        "F_CLOSE_START_TIMESTAMP": 4.0,
        "F_CLOSE_END_TIMESTAMP": 4.1,
    }


def file_per_process(path: Path) -> Path:
    """IOR with a file for each of 48 processes, each on four of 12 OSTs, written and read back."""
    more = _reads(16, MIB) | {"STATS": 1, "FSYNCS": 1}
    return write_log(
        path,
        ranks=48,
        names={1 + rank: f"/scratch2/job/data.{rank:08d}" for rank in range(48)},
        POSIX=[posix_writes(rank, 16, MIB, **more) | {"id": 1 + rank} for rank in range(48)],
        LUSTRE=[
            {"id": 1 + rank, "rank": rank, "size": MIB, "osts": (rank + np.arange(4)) % 12}
            for rank in range(48)
        ],
    )


def one_aggregator(path: Path) -> Path:
    """A collective write of 64 ranks that one of them does for all, on one OST."""
    return write_log(
        path,
        ranks=64,
        POSIX=[posix_writes(0, 128, MIB, OPENS=1)],
        MPIIO=[collective_writes(64, 2, MIB, SYNCS=64)],
        LUSTRE=[{"id": 1, "rank": -1, "size": MIB, "osts": [7]}],
    )


def holes_below_pnetcdf(path: Path) -> Path:
    """PnetCDF on 8 nodes of 8 ranks: windows with holes are read before they are written."""
    below = {"READS": 16, "RW_SWITCHES": 31, "MAX_BYTE_WRITTEN": 16 * MIB - 1, "OPENS": 1}
    return write_log(
        path,
        ranks=64,
        POSIX=[posix_writes(0, 16, MIB - 8192, **below)],
        MPIIO=[collective_writes(64, 1, 200_000, SIZE_WRITE_AGG_1M_4M=0)],
        PNETCDF_FILE=[{"id": 1, "rank": -1}],
        LUSTRE=[{"id": 1, "rank": -1, "size": MIB, "osts": np.arange(56)}],
        APMPI=[{"id": 2, "rank": rank, "host": f"nid{rank // 8:05d}"} for rank in range(64)],
    )


def every_call(path: Path) -> Path:
    """One process, of which DXT kept every call, written and read in pieces of several sizes."""
    sizes = 4096 * (1 + np.arange(200) % 7)
    offsets = np.cumsum(sizes) - sizes
    calls = [(int(offset), int(size)) for offset, size in zip(offsets, sizes, strict=True)]
    total = int(sizes.sum())
    kept = {
        "writes": [Segment(*call, 1 + 0.01 * k, 1.005 + 0.01 * k) for k, call in enumerate(calls)],
        "reads": [Segment(*call, 4 + 0.01 * k, 4.005 + 0.01 * k) for k, call in enumerate(calls)],
    }
    more = _reads(200, 1) | {"BYTES_READ": total, "MAX_BYTE_READ": total - 1, "STATS": 3}
    written = {"BYTES_WRITTEN": total, "MAX_BYTE_WRITTEN": total - 1, "F_CLOSE_END_TIMESTAMP": 6.5}
    return write_log(
        path,
        ranks=1,
        POSIX=[posix_writes(0, 200, 1, **(more | written))],
        DXT_POSIX=[{"id": 1, "rank": 0, **kept}],
    )


def calls_cut_short(path: Path) -> Path:
    """The same kind of log, which ran out of memory: DXT has 4 of 30 calls."""
    first = [Segment(call * _ODD, _ODD, 1.0 + call, 1.5 + call) for call in range(4)]
    return write_log(
        path,
        ranks=1,
        partial=1 << 10,
        POSIX=[posix_writes(0, 30, _ODD)],
        DXT_POSIX=[{"id": 1, "rank": 0, "writes": first}],
    )


def independent_mpi(path: Path) -> Path:
    """MPI-IO without collective calls, of which DXT kept all, and a file of POSIX beside it."""

    def record(rank: int) -> dict[str, Any]:
        together = {"COLL_OPENS": 1, "COLL_WRITES": 0, "INDEP_WRITES": 5, "INDEP_READS": 5}
        moved = {"BYTES_WRITTEN": 5 * _ODD, "BYTES_READ": 5 * _ODD, "SIZE_READ_AGG_1M_4M": 5}
        seen = {"F_READ_START_TIMESTAMP": 1.0, "F_READ_END_TIMESTAMP": 3.0}
        return collective_writes(1, 5, _ODD, **together, **moved, **seen) | {"rank": rank}

    def segments(rank: int, since: float) -> list[Segment]:
        place = 5 * rank * _ODD
        times = since + 0.2 * np.arange(5)
        return [
            Segment(place + k * _ODD, _ODD, float(at), float(at) + 0.1)
            for k, at in enumerate(times)
        ]

    return write_log(
        path,
        ranks=8,
        names={1: "/global/cscratch1/shared", 2: "/global/cscratch1/log"},
        POSIX=[posix_writes(0, 9, _ODD) | {"id": 2}],
        MPIIO=[record(rank) for rank in range(8)],
        DXT_MPIIO=[
            {"id": 1, "rank": rank, "writes": segments(rank, 1.0), "reads": segments(rank, 2.0)}
            for rank in range(8)
        ],
    )


def all_together(path: Path) -> Path:
    """POSIX on one shared file, the records of 16 ranks made one."""
    more = _reads(64, MIB) | {"OPENS": 16, "STATS": 16, "FDSYNCS": 16}
    return write_log(
        path,
        ranks=16,
        POSIX=[posix_writes(-1, 64, MIB, SLOWEST_RANK_BYTES=4 * MIB, **more)],
    )


JOBS: Mapping[str, Callable[[Path], Path]] = {
    job.__name__: job
    for job in (
        file_per_process,
        one_aggregator,
        holes_below_pnetcdf,
        every_call,
        calls_cut_short,
        independent_mpi,
        all_together,
    )
}
"""What writes the log of each."""
