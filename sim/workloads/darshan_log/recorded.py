"""What the log itself says of times: seconds, calls and bytes by file, layer and phase."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sim.config.kept import kept
from sim.workloads.darshan_log.counters import SHARED, Counters
from sim.workloads.darshan_log.log import DarshanLog
from sim.workloads.darshan_log.mpiio import mpi_counted
from sim.workloads.darshan_log.posix import counted
from sim.workloads.darshan_log.sharing import active_ranks


@kept
class Layer(StrEnum):
    """Where calls were counted."""

    MPIIO = "MPI-IO"
    BELOW = "POSIX below"  # what MPI-IO made of them
    POSIX = "POSIX"


@kept
class Phase(StrEnum):
    """Kinds of calls. As in Darshan, syncs count as writes, and stats with opens and closes."""

    META = "open/meta"
    READ = "read"
    WRITE = "write"


@kept
@dataclass(frozen=True)
class Measured:
    """What the log, or a run, says of a phase of a layer.

    Attributes
    ----------
    calls, bytes
        How many, and what they moved.
    seconds
        Of all ranks together.
    ranks
        How many ranks that were.
    span
        Seconds from the begin of the first call to the end of the last one; None if unknown.
    """

    calls: int
    bytes: int
    seconds: float
    ranks: int
    span: float | None = None


Table = dict[tuple[Layer, Phase], Measured]


def recorded(log: DarshanLog, number: int) -> Table:
    """Return what a log says of a file."""
    mpiio = log.mpiio.take(log.mpiio.number == number)
    posix = log.posix.take(log.posix.number == number)
    if not len(mpiio):
        return _posix(posix, log.ranks, Layer.POSIX)
    return _mpiio(mpiio, log.ranks) | _posix(posix, log.ranks, Layer.BELOW)


def _posix(records: Counters, ranks: int, layer: Layer) -> Table:
    """Return the phases of POSIX."""
    if not len(records):
        return {}
    shared = records.take(records.rank == SHARED)
    alone = np.unique(records.rank[records.rank != SHARED])
    active = np.union1d(alone, active_ranks(shared, ranks) if len(shared) else alone)
    opens = records.total("OPENS")
    found = {
        (layer, Phase.META): Measured(
            opens + records.total("STATS"),
            0,
            records.seconds("F_META_TIME"),
            ranks if len(shared) else max(1, len(alone)),
            _span(records, "OPEN", "CLOSE"),
        )
    }
    for phase, direction in ((Phase.READ, "READ"), (Phase.WRITE, "WRITE")):
        known = counted(records, "READ" if direction == "READ" else "WRITE")
        found[layer, phase] = Measured(
            known.calls, known.bytes, known.seconds, len(active), _span(records, direction)
        )
    return found


def _mpiio(records: Counters, ranks: int) -> Table:
    """Return the phases of MPI-IO."""
    members = ranks if (records.rank == SHARED).any() else len(np.unique(records.rank))
    opens = records.total("COLL_OPENS") + records.total("INDEP_OPENS")
    found = {
        (Layer.MPIIO, Phase.META): Measured(
            opens, 0, records.seconds("F_META_TIME"), members, _span(records, "OPEN", "CLOSE")
        )
    }
    for phase, direction in ((Phase.READ, "READ"), (Phase.WRITE, "WRITE")):
        known = mpi_counted(records, "READ" if direction == "READ" else "WRITE")
        found[Layer.MPIIO, phase] = Measured(
            known.collective + known.independent,
            known.bytes,
            known.seconds,
            members,
            _span(records, direction),
        )
    return found


def _span(records: Counters, first: str, last: str | None = None) -> float | None:
    """Return the seconds from the begin of the first call of a kind to the end of the last one."""
    begin, end = records.window(first), records.window(last or first)
    if begin is None or end is None:
        return None
    return max(end[1] - begin[0], 0.0)


def last_call(log: DarshanLog) -> float:
    """Return when the last call of a log ended, in seconds since the job began; 0 if unknown."""
    windows = (
        records.window(what)
        for records in (log.posix, log.mpiio)
        for what in ("OPEN", "READ", "WRITE", "CLOSE")
    )
    return max((window[1] for window in windows if window is not None), default=0.0)
