"""Independent reads and writes: every rank by itself, with nobody's help.

A call for one contiguous run of bytes is one call to the file system. One for many small pieces is
*sieved*, or, where the hints turn that off, made piece by piece (ROMIO's
``ADIOI_GEN_WriteStrided_naive``).

A sieved read reads *file windows* that reach over the pieces and the holes between them, and copies
the pieces out. A sieved write reads a window, puts the pieces in and writes the window back
(read-modify-write, RMW), whether it has holes or not. A window begins with the first byte of a
piece that no window before has reached (ROMIO's ad_read_str.c and ad_write_str.c):

* of a read it is ``ind_rd_buffer_size`` long, and ends with the last piece at the latest;
* of a write under Cray's MPI it is ``ind_wr_buffer_size`` long, likewise;
* of a write by plain ROMIO it ends with the stripe (ad_lustre_wrstr.c), whatever the hint says.

``romio_ds_read`` and ``romio_ds_write`` turn sieving off; ``automatic`` is as good as ``enable``,
since ROMIO only asks whether it is disabled.

A call for one run of bytes is sieved too if its datatypes say that there are holes
(:class:`TypesWithHoles`), whether it meets any or not.

Around the read-modify-write of a window the rank holds a lock of fcntl on its bytes, so that nobody
changes meanwhile what lies in the holes (ROMIO ADIOI_WRITE_LOCK); in MPICH 4 it holds one on all
that the call reaches over, from its first window to its last. Lustre's extent locks travel between
the ranks beneath it, for each read and each write.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.engine.types import Integers
from xc40io.mpi.accesses import Accesses, runs_of
from xc40io.mpi.domains import CollectiveFile
from xc40io.mpi.hints import Hints, Switch
from xc40io.mpi.stats import AccessCounts, Timer
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op, mix_operations


class TypesWithHoles(Enum):
    """Which datatypes of a file's calls have holes, and be it behind what a call moves.

    MPI-IO asks whether a type's extent is its size (ROMIO, ADIOI_Datatype_iscontig).
    """

    NOWHERE = 0
    MEMORY = 1  # the type in memory
    MEMORY_AND_FILE = 2  # and that of the file view


class Sieve(NamedTuple):
    """The file windows of a sieved access: rows sorted by rank, then by offset."""

    rank: Integers  # int64 (windows,): whose they are
    # offset, length: int64: where they lie in the file, in bytes
    offset: Integers
    length: Integers
    # bytes, pieces: int64: bytes of the rank's pieces in them, and of how many pieces
    bytes: Integers
    pieces: Integers


class _Line(NamedTuple):
    """The accesses of all ranks on one line: the hull of each begins where the last one's ends."""

    rank: Integers  # int64 (ranks,): who takes part, ascending
    shift: Integers  # int64 (ranks,): what to add to a place on the line for the place in the file
    # begin, end: int64 (ranks,): the hull of each on the line
    begin: Integers
    end: Integers
    last: Integers  # int64 (ranks,): its last piece
    # start, stop: int64 (pieces,): the pieces on the line, ascending
    start: Integers
    stop: Integers


def write_sieved(
    batch: Batch, target: CollectiveFile, accesses: Accesses, counts: AccessCounts
) -> None:
    """Write the pieces of ranks window by window: read, modify, write.

    Parameters
    ----------
    batch
        Takes the operations.
    target
        The file.
    accesses
        Pieces of any ranks; one of them touches no other of the same rank.
    counts
        Takes the windows, and what they rewrite.
    """
    sieve = _write_windows(target, accesses)
    steps = {
        Op.READ: Timer.MODIFY_READ,
        Op.WORK: Timer.INDEPENDENT,
        Op.WRITE: Timer.INDEPENDENT,
    }
    if target.mpi.is_romio_4:
        _add_in_one_lock(batch, target, sieve, steps)
    else:
        locked = {Op.FLOCK: Timer.LOCK, **steps, Op.FUNLOCK: Timer.LOCK}
        _add(batch, target, sieve, locked)
    counts.writes.add_system(sieve.length, target.layout)
    counts.writes.add_modified(
        len(sieve.rank),
        read_bytes=int(sieve.length.sum()),
        rewritten_bytes=int((sieve.length - sieve.bytes).sum()),
    )


def write_packed(
    batch: Batch, target: CollectiveFile, accesses: Accesses, counts: AccessCounts
) -> None:
    """Write what only memory scatters, packed into windows: there is nothing to read.

    The parameters are those of :func:`write_sieved`.
    """
    sieve = _write_windows(target, accesses)
    steps = dict.fromkeys([Op.WORK, Op.WRITE], Timer.INDEPENDENT)
    (_add_in_one_lock if target.mpi.is_romio_4 else _add)(batch, target, sieve, steps)
    counts.writes.add_system(sieve.length, target.layout)


def _write_windows(target: CollectiveFile, accesses: Accesses) -> Sieve:
    """Return the windows of a sieved write: buffers under Cray's MPI, else stripes."""
    if target.mpi.library == "cray":
        return sieve_windows(accesses, target.hints.ind_wr_buffer_size)
    return sieve_windows(accesses, target.layout.stripe_size, aligned=True)


def read_sieved(
    batch: Batch, target: CollectiveFile, accesses: Accesses, counts: AccessCounts
) -> None:
    """Read the pieces of ranks window by window; the parameters are as for writes."""
    sieve = sieve_windows(accesses, target.hints.ind_rd_buffer_size, overreading=True)
    _add(batch, target, sieve, dict.fromkeys([Op.READ, Op.WORK], Timer.INDEPENDENT))
    counts.reads.add_system(sieve.length, target.layout)


def _add_in_one_lock(
    batch: Batch, target: CollectiveFile, sieve: Sieve, steps: Mapping[Op, Timer]
) -> None:
    """Add the steps of every window, and a lock around those of each rank."""
    ranks, first = np.unique(sieve.rank, return_index=True)
    last = np.append(first[1:], len(sieve.rank)) - 1
    owners, offset = target.communicator.owners[ranks], sieve.offset[first]
    length = sieve.offset[last] + sieve.length[last] - offset
    file, timer = target.number, Timer.LOCK
    batch.add(Op.FLOCK, owners, file=file, offset=offset, length=length, timer=timer)
    _add(batch, target, sieve, steps)
    batch.add(Op.FUNLOCK, owners, file=file, timer=timer)


def _add(batch: Batch, target: CollectiveFile, sieve: Sieve, steps: Mapping[Op, Timer]) -> None:
    """Add the steps of every window in turn, each with its timer.

    The rank's own work is copying its pieces.
    """
    each = len(steps)
    work = sieve.pieces * target.mpi.piece_time + sieve.bytes / target.mpi.copy_rate
    file: dict[str, npt.ArrayLike] = {"file": target.number}
    length = np.repeat(sieve.length, each)
    extent = file | {"offset": np.repeat(sieve.offset, each), "length": length}
    call = extent | {"stride": length, "count": 1}
    columns: dict[Op, dict[str, npt.ArrayLike]] = {
        Op.FLOCK: extent,
        Op.READ: call,
        Op.WORK: {"seconds": np.repeat(work, each)},
        Op.WRITE: call,
        Op.FUNLOCK: file,
    }
    kind = np.tile(np.array(list(steps), np.int64), len(sieve.rank))
    timed = {step: columns[step] | {"timer": timer} for step, timer in steps.items()}
    owner = np.repeat(target.communicator.owners[sieve.rank], each)
    batch.add_operations(mix_operations(kind, timed), owner)


def sieve_windows(
    accesses: Accesses, size: int, *, aligned: bool = False, overreading: bool = False
) -> Sieve:
    """Return the file windows of a sieved access.

    Parameters
    ----------
    accesses
        Pieces of any ranks.
    size
        Bytes of a window.
    aligned
        Whether a window ends at the next multiple of ``size`` in the file.
    overreading
        Whether a window that begins within a piece is as long as if it began with the piece, and so
        may reach beyond the last one: ROMIO's reads (ad_read_str.c, ADIOI_BUFFERED_READ).
    """
    line = _line_up(accesses)
    owner, start, stop = _windows(line, size, aligned=aligned)
    end = stop
    if overreading:
        piece = line.start[np.searchsorted(line.start, start, "right") - 1]
        end = start + np.minimum(size, line.end[owner] - piece)
    before = np.concatenate(([0], np.cumsum(line.stop - line.start)))
    return Sieve(
        rank=line.rank[owner],
        offset=start + line.shift[owner],
        length=end - start,
        bytes=_bytes_up_to(stop, line, before) - _bytes_up_to(start, line, before),
        pieces=np.searchsorted(line.start, stop) - np.searchsorted(line.stop, start, "right"),
    )


def _line_up(accesses: Accesses) -> _Line:
    """Put the accesses of all ranks on one line."""
    stop = accesses.offset + accesses.length
    changes = np.flatnonzero(accesses.rank[1:] != accesses.rank[:-1])
    first, last = np.append(0, changes + 1), np.append(changes, len(stop) - 1)
    end = np.cumsum(stop[last] - accesses.offset[first])
    begin = np.append(0, end[:-1])
    shift = accesses.offset[first] - begin
    shifts = np.repeat(shift, last - first + 1)
    return _Line(
        accesses.rank[first], shift, begin, end, last, accesses.offset - shifts, stop - shifts
    )


def _windows(line: _Line, size: int, *, aligned: bool) -> tuple[Integers, Integers, Integers]:
    """Return the windows on the line: the place of their rank in it, their start and stop."""
    owner, start = np.arange(len(line.rank)), line.begin
    owners, starts, stops = [], [], []
    while len(owner):
        rest = (start + line.shift[owner]) % size if aligned else 0
        stop = np.minimum(start - rest + size, line.end[owner])
        owners.append(owner)
        starts.append(start)
        stops.append(stop)
        following = np.searchsorted(line.stop, stop, "right")
        more = following <= line.last[owner]
        start = np.maximum(line.start[following[more]], stop[more])
        owner = owner[more]
    order = np.argsort(np.concatenate(starts), kind="stable")
    return (
        np.concatenate(owners)[order],
        np.concatenate(starts)[order],
        np.concatenate(stops)[order],
    )


def _bytes_up_to(place: Integers, line: _Line, before: Integers) -> Integers:
    """Return the bytes of pieces that lie before places on the line."""
    piece = np.maximum(np.searchsorted(line.start, place, "right") - 1, 0)
    reach = np.minimum(place, line.stop[piece]) - line.start[piece]
    return before[piece] + reach


def access(
    batch: Batch,
    target: CollectiveFile,
    accesses: Accesses,
    counts: AccessCounts,
    *,
    writing: bool,
    scattered: TypesWithHoles = TypesWithHoles.NOWHERE,
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
    scattered
        Which datatypes of the calls have holes, besides what the pieces show.
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
    if not sieves(target.hints, writing=writing):
        # Where the file has no holes, ROMIO goes through the blocks of memory, which are not joined
        # (ad_write_str_naive.c).
        each = accesses if scattered is TypesWithHoles.MEMORY else pieces
        _flatten(batch, target, each)
        call_each(batch, target, each, counts, writing=writing)
        return
    if scattered is TypesWithHoles.MEMORY_AND_FILE:
        strided[:] = True
    alone = _only(pieces, ~strided)
    if scattered is TypesWithHoles.NOWHERE:
        call_each(batch, target, alone, counts, writing=writing)
    elif not strided.all():
        (write_packed if writing else read_sieved)(batch, target, alone, counts)
    if strided.any():
        sieve = write_sieved if writing else read_sieved
        sieve(batch, target, _only(pieces, strided), counts)


def sieves(hints: Hints, *, writing: bool) -> bool:
    """Tell whether the hints have what is scattered sieved."""
    return (hints.romio_ds_write if writing else hints.romio_ds_read) is not Switch.DISABLE


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
    return Accesses(*(column[which] for column in pieces))
