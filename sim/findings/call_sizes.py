"""How many reads and writes there were of each class of sizes, by the log and in a replay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from xc40io.config.kept import kept
from xc40io.config.units import format_bytes
from xc40io.engine.types import Integers
from xc40io.plane.library_calls import ALONE, LibraryOp
from xc40io.plane.operations import Op
from xc40io.run.result import Result
from xc40io.workloads.darshan.log import DarshanLog
from xc40io.workloads.darshan.module_counters import BIN_HIGH, BIN_LOW, DIRECTIONS

_WAYS = (("reads", Op.READ, LibraryOp.READ), ("writes", Op.WRITE, LibraryOp.WRITE))


@kept
class CallSizes(NamedTuple):
    """Calls of one kind by their sizes."""

    module: str  # of Darshan: POSIX, with what MPI-IO makes of its calls, or MPI-IO
    way: str  # reads or writes
    calls: tuple[int, ...]  # in each of Darshan's classes


def class_names() -> list[str]:
    """Return the names of the classes: from how many bytes, or up to how many."""
    most = [f"up to {format_bytes(int(high))}" for high in BIN_HIGH[:-1]]
    return [*most, f"from {format_bytes(int(BIN_LOW[-1]) - 1)} on"]


def log_sizes(log: DarshanLog) -> tuple[CallSizes, ...]:
    """Return the sizes that a log counts."""
    return tuple(
        CallSizes(module, way, tuple(counters.bins(direction).tolist()))
        for module, counters in (("POSIX", log.posix), ("MPI-IO", log.mpiio))
        for (way, *_), (direction, _) in zip(_WAYS, DIRECTIONS, strict=True)
        if len(counters)
    )


def simulated_sizes(result: Result) -> tuple[CallSizes, ...]:
    """Return the sizes of a run's calls; nothing where nothing was recorded."""
    return () if result.recording is None else tuple(_simulated(result))


def _simulated(result: Result) -> Iterator[CallSizes]:
    recording = result.recording
    assert recording is not None
    calls = recording.of_job(recording.calls)
    parts = recording.of_job(recording.library_calls)
    for way, op, asked in _WAYS:
        mine = calls[calls["op"] == op]
        yield CallSizes("POSIX", way, _classes(mine["bytes"]))
        alone = mine["bytes"][mine["tag"] == ALONE]
        yield CallSizes(
            "MPI-IO", way, _classes(np.concatenate([alone, parts["bytes"][parts["op"] == asked]]))
        )


def _classes(sizes: Integers) -> tuple[int, ...]:
    place = np.searchsorted(BIN_LOW, sizes, side="right") - 1
    return tuple(np.bincount(place, minlength=len(BIN_LOW)).tolist())
