"""What the APIs of IOR have in common: a phase opens, transfers, syncs and closes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xc40io.engine.types import Floats, Integers
from xc40io.mpi.stats import MpiRecord
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op, mix_operations
from xc40io.workloads.ior.parameters import Access, IorTest
from xc40io.workloads.ior.pattern import Pattern
from xc40io.workloads.job import Ranks


@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """What the ranks are to do in a phase."""

    # who, how, and whether they write or read
    ranks: Ranks
    test: IorTest
    access: Access
    pattern: Pattern  # the calls of every rank
    pretend: Integers  # int64 (ranks,): whom each rank stands in for
    file: Integers  # int64 (ranks,): the number of each rank's file
    fresh: bool  # whether the phase creates the files

    @property
    def writes(self) -> bool:
        """Whether the ranks write."""
        return not self.access.reads

    def calls(self, begin: Integers, end: Integers) -> tuple[Integers, Integers, Integers]:
        """List the calls ``begin[r]`` to ``end[r] - 1`` of every rank r, rank after rank.

        Returns rank, index of the call among these of the rank, and offset in its file in bytes:
        int64 (calls,) each.
        """
        count = np.maximum(end - begin, 0)
        rank = np.repeat(self.ranks.all, count)
        turn = np.arange(len(rank)) - np.repeat(np.cumsum(count) - count, count)
        return rank, turn, self.pattern.offset[self.pattern.first[rank] + begin[rank] + turn]


class Backend(ABC):
    """One API of IOR at work in one phase: each method adds what all ranks do next to a batch."""

    pieces = 1  # reads and writes of a program that are one call of IOR

    @property
    def counted(self) -> bool:
        """Whether the data plane counts the calls: each is one read or write, or ``pieces``.

        If not, every call that was asked for is made.
        """
        return False

    @property
    def syncs(self) -> bool:
        """Whether a sync of one file does anything."""
        return True

    @abstractmethod
    def open(self, batch: Batch) -> None:
        """Open the files, or create them."""

    @abstractmethod
    def transfer(
        self, batch: Batch, begin: Integers, end: Integers, *, limit: float | None = None
    ) -> None:
        """Let rank r make its calls ``begin[r]`` to ``end[r] - 1``.

        With a ``limit``, begin none of them later than so many seconds after the first.
        """

    @abstractmethod
    def sync(self, batch: Batch) -> None:
        """Bring what was written to the disks."""

    @abstractmethod
    def close(self, batch: Batch) -> None:
        """Close the files."""

    def recount(self, calls: Integers) -> None:  # noqa: B027  (the data plane counts for most)
        """Count the calls that each rank really made, int64 (ranks,), where a clock decided."""

    def record(self, timers: Floats) -> MpiRecord | None:  # noqa: ARG002
        """Return what MPI-IO has to tell, if it took part.

        ``timers`` holds what the ranks' timers measured in the phase: float64 (ranks, timers).
        """
        return None


def runs(
    owner: Integers, offset: Integers, size: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Find the runs of calls of one rank that follow each other in the file.

    Returns the first call of each run and its number of calls.
    """
    starts = np.ones(len(owner), bool)
    starts[1:] = (owner[1:] != owner[:-1]) | (offset[1:] != offset[:-1] + size)
    start = np.flatnonzero(starts)
    return start, np.diff(start, append=len(owner))


def syncs_per_write(test: IorTest) -> int:
    """Return how often a write is followed by a sync (``-Y``).

    Since 4.0 IOR itself syncs after each write, as the backends for POSIX and mmap still do
    (ior.c, aiori-POSIX.c, aiori-MMAP.c).
    """
    if not test.fsync_per_write:
        return 0
    return 2 if test.version >= 4 and test.api in ("POSIX", "MMAP") else 1


def add_calls(
    batch: Batch,
    task: Task,
    owner: Integers,
    file: Integers,
    offset: Integers,
    *,
    timers: tuple[int, int] = (0, 0),
    piece: int | None = None,
    reads_first: bool = False,
    syncs: bool = True,
) -> None:
    """Let programs make contiguous calls by themselves.

    Parameters
    ----------
    batch
        Where to add them.
    task
        Says whether each is followed by an fsync (``-Y``) or a delay, and made under a range lock.
    owner, file, offset
        int64 (calls,): who calls, on which file, and where in it, in bytes; the calls of one
        owner one behind the other.
    timers
        The timers of the calls, and of what follows each.
    piece
        Bytes of a read or write, of which a call may be several; the whole call unless given.
    reads_first
        Whether what a call writes is read first.
    syncs
        Whether a sync does anything.
    """
    test, size = task.test, task.test.transfer_size
    piece = piece or size
    kind = Op.WRITE if task.writes else Op.READ
    locks = test.range_locks and test.api == "POSIX"
    kinds = [Op.FLOCK, kind, Op.FUNLOCK] if locks else [kind]
    if task.writes and syncs:
        kinds += [Op.FSYNC] * syncs_per_write(test)
    if test.call_delay:
        kinds.append(Op.THINK)
    if reads_first:
        kinds.insert(0, Op.READ)
    if len(kinds) > 1:
        each, place = np.repeat(file, len(kinds)), np.repeat(offset, len(kinds))
        moves: dict[str, npt.ArrayLike] = {
            "file": each,
            "offset": place,
            "length": piece,
            "stride": piece,
            "count": size // piece,
            "timer": timers[0],
        }
        columns: dict[Op, dict[str, npt.ArrayLike]] = {
            Op.READ: moves,
            kind: moves,
            Op.FLOCK: {"file": each, "offset": place, "length": size},
            Op.FUNLOCK: {"file": each},
            Op.FSYNC: {"file": each, "timer": timers[1]},
            Op.THINK: {"seconds": test.call_delay, "timer": timers[1]},
        }
        mixed = mix_operations(np.tile(kinds, len(owner)), columns)
        batch.add_operations(mixed, np.repeat(owner, len(kinds)))
        return
    start, calls = runs(owner, offset, size)
    batch.add(
        kind,
        owner[start],
        file=file[start],
        offset=offset[start],
        length=piece,
        stride=piece,
        count=calls * (size // piece),
        timer=timers[0],
    )
