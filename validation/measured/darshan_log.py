"""Darshan logs: what the ranks spent in their calls; the run is the replay of the log."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from xc40io.config.machine import DEFAULT_MACHINE
from xc40io.validation.measured.found import Document, Found, Measurement, Run
from xc40io.workloads.darshan.facts import Facts
from xc40io.workloads.darshan.log import MAGIC, DarshanLog, read_log
from xc40io.workloads.darshan.module_counters import SHARED, Counters
from xc40io.workloads.darshan.place import described, elsewhere, file_systems, where_it_ran
from xc40io.workloads.traits import Access

_MARK = slice(8, 16)
"""Where the number stands by which a log is known."""

_WAYS = ("read", "write")


def recognises(content: bytes) -> bool:
    """Tell whether a file is a log."""
    mark = content[_MARK]
    return MAGIC in (int.from_bytes(mark, "little"), int.from_bytes(mark, "big"))


def read(document: Document) -> Found:
    """Return the seconds that the ranks spent in reads and writes, by each kind of call."""
    log = read_log(document.path)
    found = Found(unheeded=list(log.warnings))
    systems = file_systems(log)
    for system in elsewhere(systems):
        found.unheeded.append(f"{document.path}: files that are not on Lustre: {described(system)}")
    if systems[0] in elsewhere(systems):  # that with most bytes
        return found
    shape = where_it_ran(log, Facts(machine=DEFAULT_MACHINE)).shape
    run = Run(
        program="kernel",
        asked={"name": "replay", "trace": document.path},
        tasks=log.ranks,
        ppn=shape.ppn,
        laid_out=bool(log.layouts),
        striping=_striping(log),
    )
    day = datetime.fromtimestamp(log.began, UTC)
    source = document.source(f"Darshan {log.version}", f"{day.day} {day:%B %Y}")
    for call, counters, way in _calls(log):
        seconds, slowest = _seconds(counters, way)
        if seconds > 0:
            found.measurements.append(
                Measurement(
                    run=run,
                    metric=f"seconds({{}}, {call})"
                    if slowest
                    else f"part({{}}, {call}, all ranks)",
                    name=f"{call.replace(' ', '-')}-seconds",
                    values=(seconds,),
                    unit="s",
                    source=source,
                    assumed=(f"nodes: {shape.why}",),
                )
            )
    return found


def _striping(log: DarshanLog) -> dict[str, int]:
    """Return the striping of all files; nothing where they differ, or the log does not tell."""
    shapes = {(len(layout.osts), layout.size) for layout in log.layouts.values()}
    return dict(zip(("count", "size"), shapes.pop(), strict=True)) if len(shapes) == 1 else {}


class Moved(NamedTuple):
    """What the reads or the writes of a log were."""

    bytes: int
    seconds: float  # of the slowest rank; 0 where the log does not tell


def moved_in(path: str, way: Access) -> Moved:
    """Return the bytes that the ranks of a log read or wrote, and the slowest one's seconds.

    Of a file that all ranks share Darshan tells the slowest rank's seconds in reads, writes, opens
    and closes together; so they are not known of a file that was read and written. The files add
    up, as in Darshan's own estimate of a job's rate.
    """
    log = read_log(path)
    verb, other = ("WRITTEN", "READ") if way == "write" else ("READ", "WRITTEN")
    size, seconds, told = 0, 0.0, True
    for records in (_own_posix(log), log.mpiio):
        moved = np.maximum(records[f"BYTES_{verb}"], 0)
        size += int(moved.sum())
        shared = (records.rank == SHARED) & (moved > 0)
        slowest = records["F_SLOWEST_RANK_TIME"][shared]
        told &= bool((slowest > 0.0).all() and (records[f"BYTES_{other}"][shared] <= 0).all())
        own = records.rank != SHARED
        spent = np.maximum(records[f"F_{way.upper()}_TIME"][own], 0.0)
        seconds += float(slowest.sum())
        seconds += float(np.bincount(records.rank[own], spent).max(initial=0.0))
    return Moved(size, seconds if told else 0.0)


def _calls(log: DarshanLog) -> Iterator[tuple[str, Counters, str]]:
    """Yield the kinds of calls as a replay has them, each with its records and its way.

    Calls of POSIX below MPI-IO are MPI-IO's. Its own have one time, of the collective and the
    independent ones together: where a file has both, it is of neither kind.
    """
    posix = _own_posix(log)
    for way in _WAYS:
        yield f"posix {way}", posix, way
        together, alone = (log.mpiio[f"{kind}_{way.upper()}S"] for kind in ("COLL", "INDEP"))
        if not (together.any() and alone.any()):
            yield f"mpi {'coll ' if together.any() else ''}{way}", log.mpiio, way


def _own_posix(log: DarshanLog) -> Counters:
    """Return the records of files that were not written and read through MPI-IO."""
    return log.posix.take(~np.isin(log.posix.number, log.mpiio.number))


def _seconds(records: Counters, way: str) -> tuple[float, bool]:
    """Return the seconds in calls of the slowest rank, or of all ranks where none is told."""
    spent = np.maximum(records[f"F_{way.upper()}_TIME"], 0.0)
    if (records.rank == SHARED).any():
        return float(spent.sum()), False
    return float(np.bincount(records.rank, spent).max(initial=0.0)), True
