"""The work of Lustre's servers: bytes of OSTs over time, MDT operations by Lustre's counter names.

It is known from the time bins and the recording of a run.

The time bins know how much each OST moved, of all traffic; the recording knows which RPCs read and
which wrote. What the bins have beyond the RPCs is the traffic of other jobs that the scenario adds
(``background``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import ceil

import numpy as np

from xc40io.config.errors import InputError
from xc40io.engine.types import Floats, Integers
from xc40io.lustre.requests import MDS_OPERATION, MDS_SYNC
from xc40io.lustre.server.background import background_of
from xc40io.plane.operations import Op
from xc40io.plane.recorder import Records
from xc40io.plane.stations import StationKind
from xc40io.run.recording import Recording
from xc40io.run.result import Result

_HALF = 0.5  # bytes: less is the rounding of sums

NAMES = (
    *("open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename"),
    *("getattr", "setattr", "getxattr", "setxattr", "statfs", "sync"),
    *("samedir_rename", "crossdir_rename"),
)
"""What an MDT counts (``mdt.*.md_stats``), in the order in which it prints it."""

COUNTED = {
    Op.OPEN: ("open",),
    Op.CREATE: ("open", "mknod"),  # an open that makes the file (mdt_open.c, mdt_reint_open)
    Op.CLOSE: ("close",),
    Op.STAT: ("getattr",),
    Op.UNLINK: ("unlink",),
    Op.MKDIR: ("mkdir",),
    Op.RENAME: ("rename", "samedir_rename"),
    Op.TRUNCATE: ("setattr",),
    Op.FSYNC: ("sync",),
}
"""Under which names an MDT counts what programs ask it for. Locks on bytes of files it does not."""


@dataclass(frozen=True, eq=False)
class OstSeries:
    """What each OST moved over time."""

    width: float  # seconds of a time bin; the first one begins at 0
    read: Floats  # (OSTs, bins): bytes, counted when the disk array begins with them
    written: Floats  # likewise


def recording_of(result: Result, option: str) -> Recording:
    """Return the recording of a result.

    Raises
    ------
    InputError
        If it has none; `option` says what needs it.
    """
    if result.recording is None:
        raise InputError(
            f"{option}: this run was not recorded, and only a recording tells what was done "
            f"when; right would be to run it again with {option}, or with --record and --save"
        )
    return result.recording


def of_osts(recording: Recording, osts: int) -> Records:
    """Return the bulk RPCs of a machine's OSTs: behind these are MDTs that have data of files."""
    own: Records = recording.rpcs[recording.rpcs["ost"] < osts]
    return own


def named(recording: Recording, file: int) -> str:
    """Return the name of a file, or its number where the workload has no name for it."""
    return recording.file_names[file] or f"file {file}"


def end_of(result: Result) -> float:
    """Return when a run ended, in simulated seconds: its jobs and the work that they left."""
    table = result.station_table
    last = float(table.last.max(initial=0.0)) if len(table) else 0.0
    return max(result.started + result.simulated, last)


def ost_series(result: Result, option: str) -> OstSeries:
    """Return the bytes that each OST read and wrote in each time bin.

    Raises
    ------
    InputError
        If the run has no recording, or one that stopped early, so that it is not known of all
        bytes whether they were read or written.
    """
    recording = recording_of(result, option)
    table = result.station_table
    osts = result.machine.lustre.osts
    bins = max(ceil(end_of(result) / table.bin_width), 1)
    moved = {write: _binned(recording, write, osts, bins, table.bin_width) for write in (0, 1)}
    others = _all_bytes(result, osts, bins) - moved[0] - moved[1]
    if np.abs(others).max(initial=0.0) > _HALF:
        if recording.stopped is not None:
            raise InputError(
                f"{option}: the recording was full after {recording.stopped:.6g} simulated s, and "
                "what was read and what was written after that is not known; right would be a "
                "shorter run, or one with rpcs_as_one"
            )
        asked, seed = result.scenario.background, result.scenario.seed
        traffic = background_of(asked, result.machine, seed)
        part = traffic.read / (traffic.read + traffic.write)
        moved[0] += part * others
        moved[1] += (1.0 - part) * others
    return OstSeries(table.bin_width, moved[0], moved[1])


def _binned(recording: Recording, write: int, osts: int, bins: int, width: float) -> Floats:
    """Return the bytes of RPCs by OST and time bin, as their block I/O began."""
    rpcs = of_osts(recording, osts)
    rpcs = rpcs[(rpcs["write"] == write) & np.isfinite(rpcs["begun"])]
    place = counted_in(rpcs["begun"], width, bins)
    cell = rpcs["ost"] * np.int64(bins) + place
    flat = np.bincount(cell, weights=rpcs["bytes"], minlength=osts * bins)
    return flat.astype(np.float64).reshape(osts, bins)


def counted_in(times: Floats, width: float, bins: int) -> Integers:
    """Return the time bin of each time: int64 (n,); the last bin takes all beyond."""
    return np.minimum((times / width).astype(np.int64), bins - 1)


def _all_bytes(result: Result, osts: int, bins: int) -> Floats:
    """Return the bytes that the disk arrays of the OSTs moved: float64 (OSTs, bins)."""
    table = result.station_table
    found = np.zeros((osts, bins))
    for position in np.flatnonzero(table.kind == StationKind.OST).tolist():
        part = table.part(position)
        row = table.bin_bytes[table.row[position]][:bins]
        if part is not None and part.what == "OST":
            found[part.number, : len(row)] = row
    return found


def to_mds(requests: Records) -> Records:
    """Return the ``REQUEST`` records that went to metadata servers."""
    return requests[np.isin(requests["kind"], (MDS_OPERATION, MDS_SYNC))]


def counts_by_name(requests: Records) -> dict[str, int]:
    """Return the counts of an MDT's operations by name; requests to MDTs only."""
    counts: Counter[str] = Counter()
    for operation, number in _by_operation(requests["op"]).items():
        for name in COUNTED.get(operation, ()):
            counts[name] += number
    return counts


def _by_operation(operations: Integers) -> dict[Op, int]:
    found, numbers = np.unique(operations, return_counts=True)
    return {Op(op): int(number) for op, number in zip(found, numbers, strict=True)}
