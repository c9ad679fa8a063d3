"""What the APIs of IOR have in common: a phase opens, transfers, syncs and closes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sim.engine.types import Floats, Integers
from sim.mpi.record import MpiRecord
from sim.plane.batch import Batch
from sim.plane.operations import Op, mix_operations
from sim.workloads.ior.parameters import Access, IorTest
from sim.workloads.ior.pattern import Pattern
from sim.workloads.ranks import Ranks


@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """What the ranks are to do in a phase.

    Attributes
    ----------
    ranks, test, access
        Who, how, and whether they write or read.
    pattern
        The calls of every rank.
    pretend
        int64 (ranks,): whom each rank stands in for.
    file
        int64 (ranks,): the number of each rank's file.
    fresh
        Whether the phase creates the files.
    """

    ranks: Ranks
    test: IorTest
    access: Access
    pattern: Pattern
    pretend: Integers
    file: Integers
    fresh: bool

    @property
    def writes(self) -> bool:
        """Whether the ranks write."""
        return not self.access.reads

    def calls(self, begin: Integers, end: Integers) -> tuple[Integers, Integers, Integers]:
        """List the calls ``begin[r]`` to ``end[r] - 1`` of every rank r, rank after rank.

        Returns
        -------
        rank, turn, offset
            int64 (calls,) each: whose call it is, the how manyth of them it is to that rank, and
            where it begins in its file, in bytes.
        """
        count = np.maximum(end - begin, 0)
        rank = np.repeat(self.ranks.all, count)
        turn = np.arange(len(rank)) - np.repeat(np.cumsum(count) - count, count)
        return rank, turn, self.pattern.offset[self.pattern.first[rank] + begin[rank] + turn]


class Backend(Protocol):
    """One API of IOR at work in one phase: each method adds what all ranks do next to a batch.

    Attributes
    ----------
    counted
        Whether each call of a rank is one read or write of its program, so that the data plane
        counts them; if not, every call that was asked for is made.
    """

    @property
    def counted(self) -> bool:
        """Whether the data plane counts the calls."""

    def open(self, batch: Batch) -> None:
        """Open the files, or create them."""

    def transfer(
        self, batch: Batch, begin: Integers, end: Integers, *, limit: float | None = None
    ) -> None:
        """Let rank r make its calls ``begin[r]`` to ``end[r] - 1``.

        With a ``limit``, begin none of them later than so many seconds after the first.
        """

    def sync(self, batch: Batch) -> None:
        """Bring what was written to the disks."""

    def close(self, batch: Batch) -> None:
        """Close the files."""

    def recount(self, calls: Integers) -> None:
        """Count the calls that each rank really made, int64 (ranks,), where a clock decided."""

    def record(self, timers: Floats) -> MpiRecord | None:
        """Return what MPI-IO has to tell, if it took part.

        ``timers`` holds what the ranks' timers measured in the phase: float64 (ranks, timers).
        """


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


def add_calls(
    batch: Batch,
    task: Task,
    owner: Integers,
    file: Integers,
    offset: Integers,
    *,
    timers: tuple[int, int] = (0, 0),
) -> None:
    """Let programs make contiguous calls by themselves.

    Parameters
    ----------
    batch
        Where to add them.
    task
        Says whether each is followed by an fsync (``-Y``) or a delay.
    owner, file, offset
        int64 (calls,): who calls, on which file, and where in it, in bytes; the calls of one
        owner one behind the other.
    timers
        The timers of the calls, and of what follows each.
    """
    test, size = task.test, task.test.transfer_size
    kind = Op.WRITE if task.writes else Op.READ
    between: list[Op] = []
    if test.fsync_per_write and task.writes:
        between.append(Op.FSYNC)
    if test.call_delay:
        between.append(Op.THINK)
    if between:
        kinds = [kind, *between]
        each = np.repeat(file, len(kinds))
        columns: dict[Op, dict[str, npt.ArrayLike]] = {
            kind: {
                "file": each,
                "offset": np.repeat(offset, len(kinds)),
                "length": size,
                "count": 1,
                "timer": timers[0],
            },
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
        length=size,
        stride=size,
        count=calls,
        timer=timers[0],
    )
