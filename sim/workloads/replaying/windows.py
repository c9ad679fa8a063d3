"""Collective calls as operations: planned in their order, some at a time.

What a collective call makes each rank do follows from what all ranks access, not from when they
come. So calls are planned ahead, a *window* of them at a time, and each rank gets its operations
with the others of its list; the ranks wait for each other where MPI-IO has them meet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.engine.types import Integers
from sim.machine.plane import Plane
from sim.mpi.accesses import Accesses
from sim.mpi.communicator import Collectives
from sim.mpi.rounds import meet
from sim.mpi.stats import Timer
from sim.plane.batch import Batch, Transfers, most_at_once, refer_from
from sim.plane.operations import join_operations, no_operations
from sim.workloads.job import Job
from sim.workloads.replaying.files import OpenFile, ReplayFiles
from sim.workloads.replaying.intake import Intake
from sim.workloads.replaying.outcome import Call, code_of
from sim.workloads.trace.block import TraceOp

OPERATIONS = 1 << 19
"""Operations after which a window is large enough."""

_CALLS = {
    TraceOp.READ: Call.MPI_COLL_READ,
    TraceOp.WRITE: Call.MPI_COLL_WRITE,
    TraceOp.OPEN: Call.MPI_META,
    TraceOp.CREATE: Call.MPI_META,
    TraceOp.CLOSE: Call.MPI_META,
    TraceOp.FSYNC: Call.MPI_SYNC,
    TraceOp.BARRIER: Call.BARRIER,
}


class Window(NamedTuple):
    """Collective calls that were planned together.

    Attributes
    ----------
    first, stop
        Their places in the order of all calls: from, and up to but without.
    operations
        What they make the ranks do, rank after rank and call after call; ``timer`` holds the code
        (:func:`~sim.workloads.replaying.outcome.code_of`) of what the time is spent for.
    place
        int64: the place of the call of each operation.
    bounds
        int64 (ranks + 1,): where the operations of each rank begin.
    held
        The transfers between ranks, as the data plane holds them; None if there are none.
    """

    first: int
    stop: int
    operations: npt.NDArray[Any]
    place: Integers
    bounds: Integers
    held: int | None


class Planner:
    """Plans the collective calls of a trace in their order.

    Parameters
    ----------
    job
        Who makes them.
    intake
        The trace.
    files
        Its files.
    """

    def __init__(self, job: Job, intake: Intake, files: ReplayFiles) -> None:
        self._job, self._intake, self._files = job, intake, files
        self._call = np.argsort(intake.together.place)  # the call at each place
        self._world = files.world
        self._barrier = Collectives(job.machine.mpi, self._world.nodes, self._world.size).barrier()

    @property
    def calls(self) -> int:
        """How many calls there are."""
        return len(self._call)

    def plan(self, first: int, enough: int | None = None) -> Window:
        """Plan the calls from a place on, until there are enough operations, or no more calls."""
        enough = OPERATIONS if enough is None else enough
        operations = [no_operations(0)]
        rank, place = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        transfers: list[Transfers] = []
        planned = moved = 0
        stop = first
        while stop < self.calls and planned < enough:
            call = int(self._call[stop])
            batch = self._plan_one(call)
            listed, bounds = batch.listing()
            self._job.filesystem.plane.note_library_calls(batch, listed)
            listed["timer"] = self._codes(call, listed["timer"])
            refer_from(listed, moved)
            operations.append(listed)
            rank.append(np.repeat(np.arange(self._job.ranks), np.diff(bounds)))
            place.append(np.full(len(listed), stop))
            transfers += batch.transfers
            moved += sum(len(one.size) for one in batch.transfers)
            planned += len(listed)
            stop += 1
        ranks = np.concatenate(rank)
        order = np.argsort(ranks, kind="stable")
        listing = join_operations(operations)[order]
        return Window(
            first,
            stop,
            listing,
            np.concatenate(place)[order],
            np.searchsorted(ranks[order], np.arange(self._job.ranks + 1)),
            self._hold(transfers, listing),
        )

    def _hold(self, transfers: list[Transfers], operations: npt.NDArray[Any]) -> int | None:
        """Hand the transfers to the data plane, before the operations that begin them."""
        if not transfers:
            return None
        plane: Plane = self._job.filesystem.plane
        return plane.hold_transfers(transfers, most_at_once(operations))

    def _plan_one(self, call: int) -> Batch:
        """Return what a call makes the ranks do."""
        together = self._intake.together
        op, position = TraceOp(int(together.op[call])), int(together.file[call])
        batch = self._job.batch()
        if op is TraceOp.BARRIER:
            meet(batch, self._world, self._barrier, Timer.NONE)
        else:
            self._access(batch, self._files.together[position], op, call, position)
        return batch

    def _codes(self, call: int, timer: Integers) -> Integers:
        """Return the codes of what the time of operations of a call is spent for."""
        together = self._intake.together
        kind = _CALLS[TraceOp(int(together.op[call]))]
        return code_of(int(together.file[call]), kind, timer)

    def _access(
        self, batch: Batch, opened: OpenFile, op: TraceOp, call: int, position: int
    ) -> None:
        """Add what a call on a file makes its ranks do."""
        file = opened.file
        if op in (TraceOp.OPEN, TraceOp.CREATE):
            writing = bool(self._intake.totals.bytes[position, TraceOp.WRITE].any())
            counts = file.counts
            file.open(batch, create=op is TraceOp.CREATE, writing=writing)
            file.counts = counts  # of all times that it is open together
        elif op is TraceOp.CLOSE:
            file.close(batch)
        elif op is TraceOp.FSYNC:
            file.sync(batch)
        elif op is TraceOp.WRITE:
            file.write_at_all(batch, self._accesses(opened, call))
        else:
            file.read_at_all(batch, self._accesses(opened, call))

    def _accesses(self, opened: OpenFile, call: int) -> Accesses:
        """Return the pieces of a call, as MPI-IO wants them."""
        pieces = self._intake.pieces.take(call, 1 << 62)
        rank, offset = pieces["rank"].astype(np.int64), pieces["offset"]
        if opened.ranks is not None:
            rank = np.searchsorted(opened.ranks, rank)
        order = np.lexsort((offset, rank))
        return _apart(Accesses(rank[order], offset[order], pieces["length"][order]))


def _apart(accesses: Accesses) -> Accesses:
    """Leave out what a rank names twice in one call: its pieces must not overlap."""
    rank, offset, length = accesses
    end = offset + length
    overlaps = (rank[1:] == rank[:-1]) & (offset[1:] < end[:-1])
    if not overlaps.any():
        return accesses
    span = int(end.max()) + 1
    reached = np.maximum.accumulate(rank * span + end) - rank * span
    offset = offset.copy()
    same = rank[1:] == rank[:-1]
    offset[1:] = np.where(same, np.maximum(offset[1:], reached[:-1]), offset[1:])
    left = end > offset
    return Accesses(rank[left], offset[left], (end - offset)[left])
