"""What the calls of POSIX below MPI-IO tell: who made them, and how the file was striped.

With collective buffering a few ranks, the aggregators, read and write for all: as many as the file
has stripes on a Cray unless hints say otherwise, each a stripe at a time, and each its own stripes.
Without it every rank does what it was asked for itself, in one call of POSIX for each of MPI-IO.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sim.config.striping import STRIPE_SIZE_LIMIT, STRIPE_SIZE_UNIT, StripeRequest
from sim.config.units import format_bytes
from sim.workloads.darshan_log.counters import SHARED, Counters, Direction
from sim.workloads.darshan_log.mpiio import mpi_counted
from sim.workloads.darshan_log.posix import counted
from sim.workloads.darshan_log.sharing import active_ranks

_WORKING = 0.01  # of the bytes of the busiest: a rank with fewer did not work for others
_WITHOUT = 0.02  # by which calls above and below may differ without collective buffering
_EVERYBODY = 0.9  # of the ranks
_COMMON = 0.1  # of the calls below: a size that so many have is that of a stripe


class Below(NamedTuple):
    """What was done below the collective reads or writes of a file.

    Attributes
    ----------
    asked, calls
        Collective calls, that of each rank counted, and calls of POSIX for them.
    members
        Ranks that took part.
    workers
        Ranks that read or wrote below.
    counted
        Whether each of these has a record of its own; else their number follows from the variance
        of the ranks' bytes.
    """

    asked: int
    calls: int
    members: int
    workers: int
    counted: bool

    @property
    def without_buffering(self) -> bool:
        """Whether every rank did for itself what it was asked for."""
        alike = abs(self.calls - self.asked) <= _WITHOUT * self.asked
        return alike and self.members > 1 and self.workers >= _EVERYBODY * self.members

    @property
    def why(self) -> str:
        """What the log has to tell, in a few words."""
        how = "" if self.counted else " (by the variance of their bytes)"
        return f"{self.workers:,} of {self.members:,} ranks{how}"


def below_collective(
    mpiio: Counters, below: Counters, direction: Direction, ranks: int
) -> Below | None:
    """Return what was done below collective calls; None if there are none, or records are missing.

    Parameters
    ----------
    mpiio, below
        The records of a file: of MPI-IO, and of POSIX.
    direction
        ``READ`` or ``WRITE``.
    ranks
        Of the job.
    """
    known, found = mpi_counted(mpiio, direction), counted(below, direction)
    if not known.collective or known.independent > known.collective or not found.bytes:
        return None
    if direction == "WRITE" and found.bytes < 0.99 * known.bytes:
        return None  # what is written above is written below: the log has lost records
    shared = bool((below.rank == SHARED).any())
    if shared:
        workers = len(active_ranks(below.take(below.rank == SHARED), ranks))
    else:
        moved = below["BYTES_READ" if direction == "READ" else "BYTES_WRITTEN"]
        workers = len(np.unique(below.rank[moved > _WORKING * moved.max()]))
    everyone = bool((mpiio.rank == SHARED).any())
    members = ranks if everyone else len(np.unique(mpiio.rank))
    return Below(known.collective, found.calls - known.independent, members, workers, not shared)


def unbuffered_directions(mpiio: Counters, below: Counters, ranks: int) -> frozenset[Direction]:
    """Return the directions in which collective buffering was off."""
    found = {way: below_collective(mpiio, below, way, ranks) for way in DIRECTIONS}
    return frozenset(way for way, of in found.items() if of is not None and of.without_buffering)


def striping_shown(
    mpiio: Counters, below: Counters, ranks: int
) -> tuple[StripeRequest, str] | None:
    """Return the striping that the aggregators of a file had, and what shows it; None if nothing.

    A stripe is the largest frequent size of their calls; from one stripe of an aggregator to its
    next there are as many as the file has, if it has as many aggregators.
    """
    for direction in DIRECTIONS:
        found = below_collective(mpiio, below, direction, ranks)
        if found is None or found.without_buffering or found.workers == found.members:
            continue
        size = _stripe_size(below, found.calls)
        stripes = _by_strides(below, size, found.workers) if size else 0
        said = f"{found.why} {'wrote' if direction == 'WRITE' else 'read'} for all"
        said += f" in calls of {format_bytes(size)}" if size else ""
        if stripes:
            said += f", each {format_bytes((stripes - 1) * size)} behind the end of the last"
        return StripeRequest(count=stripes or found.workers, size=size or None), said
    return None


DIRECTIONS: Sequence[Direction] = ("WRITE", "READ")


def _stripe_size(below: Counters, calls: int) -> int:
    """Return the largest size that many calls have and a stripe can have; 0 if there is none."""
    can_be = (
        (size, count)
        for size, count in below.common_sizes().items()
        if 0 < size < STRIPE_SIZE_LIMIT and size % STRIPE_SIZE_UNIT == 0
    )
    return max((size for size, count in can_be if count >= _COMMON * calls), default=0)


def _by_strides(below: Counters, size: int, workers: int) -> int:
    """Return how many stripes apart the calls of an aggregator are: 0 if strides do not tell.

    Darshan counts the bytes between the end of a call and the begin of the next. Where several
    distances are frequent, that is taken which is the number of aggregators.
    """
    votes: dict[int, int] = {}
    for gap, count in below.common_strides().items():
        if gap and gap % size == 0:
            stripes = gap // size + 1
            votes[stripes] = votes.get(stripes, 0) + count
    if workers in votes:
        return workers
    return max(votes, key=lambda stripes: votes[stripes], default=0)
