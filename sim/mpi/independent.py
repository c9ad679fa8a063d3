"""Independent reads and writes: every rank by itself, with nobody's help.

A call for one contiguous run of bytes is one call to the file system. One for several is sieved
(:mod:`sim.mpi.sieving`), or, where the hints turn that off, made piece by piece (ROMIO's
``ADIOI_GEN_WriteStrided_naive``).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim.mpi.accesses import Accesses
from sim.mpi.domains import CollectiveFile
from sim.mpi.hints import Switch
from sim.mpi.runs import runs_of
from sim.mpi.sieving import read_sieved, write_sieved
from sim.mpi.stats import AccessCounts
from sim.mpi.timers import Timer
from sim.plane.batch import Batch
from sim.plane.operations import Op


def access(
    batch: Batch,
    target: CollectiveFile,
    accesses: Accesses,
    counts: AccessCounts,
    *,
    writing: bool,
) -> None:
    """Access all pieces of each rank in one call of its own.

    Parameters
    ----------
    batch
        Takes the operations.
    target
        The file.
    accesses
        Pieces of any ranks.
    counts
        Takes what goes to the file system, and the gaps; the calls themselves are not counted.
    writing
        Whether the ranks write.
    """
    pieces = joined(accesses)
    if len(pieces.rank) == 0:
        return
    direction = counts.writes if writing else counts.reads
    same_rank = pieces.rank[1:] == pieces.rank[:-1]
    gaps = pieces.offset[1:] - (pieces.offset + pieces.length)[:-1]
    direction.add_gaps(gaps[same_rank])
    of_rank = np.bincount(pieces.rank)
    strided = of_rank[pieces.rank] > 1
    hints = target.hints
    switch = hints.romio_ds_write if writing else hints.romio_ds_read
    if switch is Switch.DISABLE:
        _flatten(batch, target, pieces)
        call_each(batch, target, pieces, counts, writing=writing)
        return
    call_each(batch, target, _only(pieces, ~strided), counts, writing=writing)
    if strided.any():
        sieve = write_sieved if writing else read_sieved
        sieve(batch, target, _only(pieces, strided), counts)


def call_each(
    batch: Batch,
    target: CollectiveFile,
    calls: Accesses,
    counts: AccessCounts,
    *,
    writing: bool,
) -> None:
    """Add one contiguous call for each piece, in the order given.

    The parameters are those of :func:`access`; the pieces of a rank may come in any order.
    """
    runs = runs_of(calls)
    batch.add(
        Op.WRITE if writing else Op.READ,
        target.communicator.owners[runs.rank],
        file=target.number,
        offset=runs.offset,
        length=runs.length,
        stride=runs.stride,
        count=runs.count,
        timer=Timer.INDEPENDENT,
    )
    direction = counts.writes if writing else counts.reads
    direction.add_system(runs.length, target.layout, runs.count)


def joined(accesses: Accesses) -> Accesses:
    """Join pieces of one rank that touch, as flattening a datatype does."""
    rank, offset, length = accesses
    if len(rank) == 0:
        return accesses
    apart = (rank[1:] != rank[:-1]) | (offset[1:] != offset[:-1] + length[:-1])
    first = np.append(0, np.flatnonzero(apart) + 1)
    return Accesses(rank[first], offset[first], np.add.reduceat(length, first))


def _flatten(batch: Batch, target: CollectiveFile, pieces: Accesses) -> None:
    """Add the time in which every rank with several pieces goes through their list."""
    ranks, count = np.unique(pieces.rank, return_counts=True)
    several = count > 1
    batch.add(
        Op.WORK,
        target.communicator.owners[ranks[several]],
        seconds=count[several] * target.mpi.piece_time,
        timer=Timer.INDEPENDENT,
    )


def _only(pieces: Accesses, which: npt.NDArray[np.bool_]) -> Accesses:
    """Return some of the pieces."""
    return Accesses(*(column[which] for column in pieces))
