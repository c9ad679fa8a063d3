"""The files of a trace in the simulated file system, and collective calls on them as operations.

What a collective call makes each rank do follows from what all ranks access, not from when they
come. So calls are planned ahead, a *window* of them at a time, and each rank gets its operations
with the others of its list; the ranks wait for each other where MPI-IO has them meet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.config.job_form import HINTS
from xc40io.config.striping import StripeRequest
from xc40io.engine.types import Integers
from xc40io.machine.filesystem import FileSet
from xc40io.machine.plane import Plane
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.communicator import Collectives, Communicator
from xc40io.mpi.file import MpiFile
from xc40io.mpi.hints import InForce, resolve
from xc40io.mpi.rounds import meet
from xc40io.mpi.stats import Timer
from xc40io.plane.batch import Batch, Transfers, most_at_once, refer_from
from xc40io.plane.operations import join_operations, no_operations
from xc40io.workloads.job import Job
from xc40io.workloads.replay.intake import Intake
from xc40io.workloads.replay.outcome import Call, code_of
from xc40io.workloads.trace import TraceFile, TraceOp


class OpenFile(NamedTuple):
    """A file that the ranks of a communicator open together."""

    file: MpiFile
    ranks: Integers | None  # int64 (members,): the ranks of the communicator, ascending; None: all
    in_force: InForce  # its hints


class ReplayFiles:
    """The files of a trace; the job's striping, where it asks for one, goes before the trace's."""

    def __init__(self, job: Job, intake: Intake) -> None:
        self._job = job
        self._files = intake.trace.files
        self._osts = job.machine.lustre.osts if intake.trace.recorded else None
        self._resolved: dict[tuple[StripeRequest, str], InForce] = {}
        ranks = intake.trace.ranks  # the job may have some more
        self.world: Communicator = job.world
        if ranks < job.ranks:
            self.world = job.communicator(np.arange(ranks))
            job.notes.append(
                f"The trace has {ranks:,} ranks; the other {job.ranks - ranks:,} of the job have "
                "nothing to do."
            )
        self.number = np.zeros(len(self._files), np.int64)  # in the data plane
        self._sets: list[FileSet] = [FileSet(0, 0, 0, self.number)] * len(self._files)
        self._allocate()
        self._fill(intake)
        positions = np.unique(intake.together.file)
        positions = positions[positions >= 0]
        meetings = job.meetings(2 * len(positions)).reshape(-1, 2)
        self.together = {  # files with collective calls, by position in the trace
            position: self._open_file(position, *numbers)
            for position, numbers in zip(positions.tolist(), meetings.tolist(), strict=True)
        }

    def _striping(self, file: TraceFile) -> StripeRequest:
        """Return what is asked for a file: by hints, by the job, or by the trace."""
        asked, of_file = self._job.striping, file.striping
        if self._osts is not None:
            of_file = of_file.fitting(self._osts)
        striping = StripeRequest(
            count=asked.count or of_file.count,
            size=asked.size or of_file.size,
            offset=asked.offset if asked.offset >= 0 else of_file.offset,
        )
        return self._hints(file, striping).striping if file.mpi else striping

    def _hints(self, file: TraceFile, striping: StripeRequest) -> InForce:
        """Return the hints of a file that MPI-IO opens."""
        environment = self._job.environment
        name = file.name if environment.get(HINTS) else ""  # else all are alike
        if (striping, name) not in self._resolved:
            found = resolve(
                environment, file_name=file.name, striping=striping, machine=self._job.machine
            )
            self._resolved[striping, name] = found
            notes = self._job.notes
            notes.extend(note for note in found.ignored if note not in notes)
        return self._resolved[striping, name]

    def _allocate(self) -> None:
        """Create all files, files of one shape at once."""
        shapes: dict[tuple[StripeRequest, bool, bool], list[int]] = {}
        for position, file in enumerate(self._files):
            shape = self._striping(file), file.direct, file.shared_directory
            shapes.setdefault(shape, []).append(position)
        for (striping, direct, shared), positions in shapes.items():
            found = self._job.filesystem.allocate(
                len(positions), striping, direct=direct, shared_directory=shared
            )
            for index, position in enumerate(positions):
                self.number[position] = found.first + index
                one = found._replace(first=found.first + index, osts=found.osts[index : index + 1])
                self._sets[position] = one
                self._job.files[self._files[position].name] = one

    def _fill(self, intake: Intake) -> None:
        """Fill files with what they hold when the job begins."""
        created = intake.totals.calls[:, TraceOp.CREATE].any(axis=-1)
        unknown = np.where(created, 0, intake.totals.read_end)
        given = np.array([file.size for file in self._files], np.int64)
        ends = np.where(given >= 0, given, unknown)
        self._job.filesystem.plane.namespace.fill(self.number, ends)

    def _open_file(self, position: int, meeting: int, inner_meeting: int) -> OpenFile:
        """Make a file that ranks access together known to MPI-IO."""
        job, file, layout = self._job, self._files[position], self._sets[position]
        in_force = self._hints(file, self._striping(file))
        members = file.ranks
        communicator = self.world if members is None else job.world.part(members, meeting)
        mpi_file = MpiFile(
            layout.first,
            layout.layout(),
            communicator,
            in_force.hints,
            job.machine,
            inner_meeting,
        )
        table = job.filesystem.plane.files
        direct = table.direct[layout.first]
        mpi_file.set_flags(table)
        table.direct[layout.first] |= direct
        return OpenFile(mpi_file, file.ranks, in_force)


OPERATIONS = 1 << 19
"""Operations after which a window is large enough."""


class Window(NamedTuple):
    """Collective calls that were planned together."""

    first: int  # place in the order of all calls: from,
    stop: int  # and up to but without
    # What they make the ranks do, rank after rank and call after call; `timer` holds the code
    # (`code_of`) of what the time is spent for.
    operations: npt.NDArray[Any]
    place: Integers  # int64: the place of the call of each operation
    bounds: Integers  # int64 (ranks + 1,): where the operations of each rank begin
    held: int | None  # the transfers between ranks, as the data plane holds them, if there are any


class Planner:
    """Plans the collective calls of a trace in their order."""

    def __init__(self, job: Job, intake: Intake, files: ReplayFiles) -> None:
        self._job, self._intake, self._files = job, intake, files
        self._call = np.argsort(intake.together.place, kind="stable")  # the call at each place
        self._world = files.world
        self._barrier = Collectives(job.machine.mpi, self._world.nodes, self._world.size).barrier()

    @property
    def calls(self) -> int:
        """How many calls there are."""
        return len(self._call)

    def plan(self, first: int, enough: int | None = None) -> Window:
        """Plan the calls from a place on, until there are enough operations, or no more calls."""
        enough = OPERATIONS if enough is None else enough
        plane: Plane = self._job.filesystem.plane
        operations = [no_operations(0)]
        rank, place = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        transfers: list[Transfers] = []
        planned = moved = 0
        stop = first
        while stop < self.calls and planned < enough:
            call = int(self._call[stop])
            batch, kind = self._plan_one(call)
            listed, bounds = batch.listing()
            plane.batches.note_library_calls(batch, listed)
            file = int(self._intake.together.file[call])
            listed["timer"] = code_of(file, kind, listed["timer"])
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
        bounds = np.searchsorted(ranks[order], np.arange(self._job.ranks + 1))
        held = plane.batches.hold_transfers(transfers, most_at_once(listing)) if transfers else None
        return Window(first, stop, listing, np.concatenate(place)[order], bounds, held)

    def _plan_one(self, call: int) -> tuple[Batch, Call]:
        """Return what a call makes the ranks do, and what kind of call it is."""
        together = self._intake.together
        op, position = TraceOp(int(together.op[call])), int(together.file[call])
        batch = self._job.batch()
        if op is TraceOp.BARRIER:
            meet(batch, self._world, self._barrier, Timer.NONE)
            return batch, Call.BARRIER
        opened = self._files.together[position]
        file = opened.file
        if op is TraceOp.WRITE:
            file.write_at_all(batch, self._accesses(opened, call))
            return batch, Call.MPI_COLL_WRITE
        if op is TraceOp.READ:
            file.read_at_all(batch, self._accesses(opened, call))
            return batch, Call.MPI_COLL_READ
        if op is TraceOp.FSYNC:
            file.sync(batch)
            return batch, Call.MPI_SYNC
        if op is TraceOp.CLOSE:
            file.close(batch)
        else:
            writing = bool(self._intake.totals.bytes[position, TraceOp.WRITE].any())
            counts = file.counts
            file.open(batch, create=op is TraceOp.CREATE, writing=writing)
            file.counts = counts  # of all times that it is open together
        return batch, Call.MPI_META

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
