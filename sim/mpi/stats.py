"""What MPI-IO tells of one file: its calls as Cray counts them, its timers, the record of both.

The counts are those of ``MPICH_MPIIO_STATS``, the timers those of ``MPICH_MPIIO_TIMERS``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from xc40io.config.kept import kept
from xc40io.engine.types import Floats, Integers
from xc40io.lustre.striping import Layout
from xc40io.mpi.communicator import Communicator
from xc40io.mpi.hints import InForce


def _no_ranks() -> Integers:
    return np.zeros(0, np.int64)


def _no_calls() -> Integers:
    return np.zeros(4, np.int64)


@kept
@dataclass
class DirectionCounts:
    """Counts of the writes to a file, or of the reads from it.

    What reaches the file system is what the application gave, ``bytes``, plus what data sieving or
    collective buffering adds: of writes without overlap, ``system_bytes == bytes +
    rewritten_bytes``; reads may fetch bytes that nobody asked for.
    """

    # independent, collective: calls of the application; a collective call counts once for each rank
    # of the communicator
    independent: int = 0
    collective: int = 0
    # int64, ascending: the ranks that made independent calls
    ranks: Integers = field(default_factory=_no_ranks)
    # int64 (4,): collective calls, once for each rank, by how many of the aggregators had anything
    # to do: one, at most half of them, more than half, all
    active: Integers = field(default_factory=_no_calls)
    bytes: int = 0  # bytes that the application gave or asked for
    # system, stripe_sized, system_bytes: calls to the file system, how many of them had exactly one
    # stripe's size, and the bytes of all. The reads of a read-modify-write are counted in
    # `modify_read_bytes` alone.
    system: int = 0
    stripe_sized: int = 0
    system_bytes: int = 0
    modified: int = 0  # file windows that were read, modified and written back (RMW)
    # modify_read_bytes, rewritten_bytes: bytes asked for by their reads, and bytes written back
    # that the application did not give
    modify_read_bytes: int = 0
    rewritten_bytes: int = 0
    # gaps, gap_bytes: places between the first and the last byte of a call (of a rank, or of all
    # ranks of a collective call) that the call leaves out, and their bytes
    gaps: int = 0
    gap_bytes: int = 0

    def add_independent(self, rank: Integers, bytes_given: int) -> None:
        """Count independent calls, one for each element of ``rank``."""
        self.independent += len(rank)
        self.bytes += bytes_given
        self.ranks = np.union1d(self.ranks, rank)

    def add_collective(
        self, ranks: int, bytes_given: int, *, aggregators: int, active: int
    ) -> None:
        """Count one collective call of ``ranks`` ranks; ``active`` of the aggregators took part."""
        self.collective += ranks
        self.bytes += bytes_given
        if active == aggregators:
            self.active[0 if active == 1 else 3] += ranks
        elif active:
            self.active[0 if active == 1 else 1 if 2 * active <= aggregators else 2] += ranks

    def add_system(self, length: Integers, layout: Layout, count: Integers | int = 1) -> None:
        """Count calls to the file system: ``count`` of each ``length`` in bytes."""
        count = np.broadcast_to(count, length.shape)
        self.system += int(count.sum())
        self.system_bytes += int((length * count).sum())
        self.stripe_sized += int(count[length == layout.stripe_size].sum())

    def add_modified(self, windows: int, *, read_bytes: int, rewritten_bytes: int) -> None:
        """Count windows that were read, modified and written back."""
        self.modified += windows
        self.modify_read_bytes += read_bytes
        self.rewritten_bytes += rewritten_bytes

    def add_gaps(self, size: Integers) -> None:
        """Count gaps of these sizes in bytes."""
        self.gaps += len(size)
        self.gap_bytes += int(size.sum())


@kept
@dataclass
class AccessCounts:
    """All that ``MPICH_MPIIO_STATS`` tells of one file."""

    # stripe_count, stripe_size: its striping; size in bytes
    stripe_count: int
    stripe_size: int
    aggregators: int  # how many ranks write and read for the others in its collective calls
    # writes, reads: what was done
    writes: DirectionCounts = field(default_factory=DirectionCounts)
    reads: DirectionCounts = field(default_factory=DirectionCounts)

    @classmethod
    def of(cls, layout: Layout, aggregators: int) -> AccessCounts:
        """Return the counts of a file to which nothing has been done yet."""
        return cls(layout.stripe_count, layout.stripe_size, aggregators)


class Timer(IntEnum):
    """Columns of the data plane's timers: seconds that a rank spent in each part of its I/O."""

    NONE = 0
    OPEN = 1  # MPI_File_open, close, set_size, preallocate
    PLAN = 2  # offsets and request lists of a collective call: phase 0 of two-phase
    EXCHANGE = 3  # data between ranks and aggregators
    RAW_WRITE = 4  # an aggregator's write calls ("raw file write")
    RAW_READ = 5  # an aggregator's read calls
    MODIFY_READ = 6  # the reads of windows with holes, before they are written (read-modify-write)
    LOCK = 7  # group locks, lock-ahead
    FINISH = 8  # the collective that ends a collective call: waiting for the slowest aggregator
    INDEPENDENT = 9  # reads and writes of the rank itself
    SYNC = 10  # MPI_File_sync
    AGGREGATE = 11  # a library's own gathering of data (ADIOS)
    METADATA = 12  # a library's own metadata (HDF5, PnetCDF, ADIOS)


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class MpiRecord:
    """A file that was opened, written or read, and closed; or the first of several alike."""

    file_name: str  # as it was given to `MPI_File_open`
    files: int  # how many files this record stands for
    # whether it was opened to be written, else to be read; what was done besides is told too
    writing: bool
    # given, in_force: the hints that the program passed, by name, and those in force for the file
    given: Mapping[str, str]
    in_force: InForce
    # communicator, aggregators: the ranks that had it open, and int64 (aggregators,) the ranks that
    # wrote or read for the others in collective calls, in the order of their file domains
    communicator: Communicator
    aggregators: Integers
    counts: AccessCounts  # what was done to it
    # float64 (ranks, timers): seconds that each rank spent in each part of its I/O, by
    # xc40io.mpi.stats.Timer
    timers: Floats
