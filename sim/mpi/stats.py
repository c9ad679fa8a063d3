"""What the ranks did to one file, counted as Cray's MPI-IO counts it (``MPICH_MPIIO_STATS``)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sim.config.kept import kept
from sim.engine.types import Integers
from sim.lustre.striping import Layout


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

    Attributes
    ----------
    independent, collective
        Calls of the application; a collective call counts once for each rank of the communicator.
    ranks
        int64, ascending: the ranks that made independent calls.
    active
        int64 (4,): collective calls, once for each rank, by how many of the aggregators had
        anything to do: one, at most half of them, more than half, all.
    bytes
        Bytes that the application gave or asked for.
    system, stripe_sized, system_bytes
        Calls to the file system, how many of them had exactly one stripe's size, and the bytes of
        all. The reads of a read-modify-write are counted in ``modify_read_bytes`` alone.
    modified
        FileWindows that were read, modified and written back (RMW).
    modify_read_bytes, rewritten_bytes
        Bytes asked for by their reads, and bytes written back that the application did not give.
    gaps, gap_bytes
        Places between the first and the last byte of a call (of a rank, or of all ranks of a
        collective call) that the call leaves out, and their bytes.
    """

    independent: int = 0
    collective: int = 0
    ranks: Integers = field(default_factory=_no_ranks)
    active: Integers = field(default_factory=_no_calls)
    bytes: int = 0
    system: int = 0
    stripe_sized: int = 0
    system_bytes: int = 0
    modified: int = 0
    modify_read_bytes: int = 0
    rewritten_bytes: int = 0
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
    """All that ``MPICH_MPIIO_STATS`` tells of one file.

    Attributes
    ----------
    stripe_count, stripe_size
        Its striping; size in bytes.
    aggregators
        How many ranks write and read for the others in its collective calls.
    writes, reads
        What was done.
    """

    stripe_count: int
    stripe_size: int
    aggregators: int
    writes: DirectionCounts = field(default_factory=DirectionCounts)
    reads: DirectionCounts = field(default_factory=DirectionCounts)

    @classmethod
    def of(cls, layout: Layout, aggregators: int) -> AccessCounts:
        """Return the counts of a file to which nothing has been done yet."""
        return cls(layout.stripe_count, layout.stripe_size, aggregators)
