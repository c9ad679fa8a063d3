"""The modules DXT_POSIX and DXT_MPIIO: every read and write with its place and time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sim.engine.types import Integers
from sim.plane.library_calls import LibraryOp
from sim.results.darshan_log.layers import Calls
from sim.results.darshan_log.modules import moving
from sim.workloads.darshan_log.counters import Numbers

SEGMENT = np.dtype([("offset", "i8"), ("length", "i8"), ("start", "f8"), ("end", "f8")])
"""A read or a write: bytes, and seconds since the job began."""

HEAD = np.dtype(
    [
        ("id", "u8"),
        ("rank", "i8"),
        ("shared", "i8"),
        ("host", "S64"),
        ("writes", "i8"),
        ("reads", "i8"),
    ]
)
"""What stands before the segments of a file and rank: its writes, then its reads."""


def segments_of(calls: Calls, identity: Numbers, hosts: Sequence[str]) -> Iterator[bytes]:
    """Yield the records of a layer, one for each file and rank that read or wrote.

    ``calls``: ``LAYER_CALL`` records of the layer. ``identity``: uint64 (files,): the number by
    which the log knows each file. ``hosts``: the name of each rank's node.
    """
    moved = calls[moving(calls["op"])]
    reads = moved["op"] == LibraryOp.READ
    moved = moved[np.lexsort((moved["start"], reads, moved["rank"], moved["file"]))]
    key = moved["file"].astype(np.int64) * len(hosts) + moved["rank"]
    bounds: Integers = np.append(np.flatnonzero(np.diff(key, prepend=-1)), len(moved))
    segments = np.zeros(len(moved), SEGMENT)
    segments["offset"], segments["length"] = moved["offset"], moved["bytes"]
    segments["start"], segments["end"] = moved["start"], moved["end"]
    head = np.zeros(1, HEAD)
    for first, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        part = moved[first:stop]
        writes = int((part["op"] == LibraryOp.WRITE).sum())
        rank = int(part["rank"][0])
        head[0] = (
            identity[part["file"][0]],
            rank,
            0,
            hosts[rank].encode(),
            writes,
            stop - first - writes,
        )
        yield head.tobytes() + segments[first:stop].tobytes()
