"""The files of a trace in the simulated file system, and those that are open through MPI-IO."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from sim.config.striping import StripeRequest
from sim.engine.types import Integers
from sim.machine.filesystem import FileSet
from sim.mpi.communicator import Communicator
from sim.mpi.file import MpiFile
from sim.mpi.hints import InForce, resolve
from sim.workloads.job import Job
from sim.workloads.replaying.intake import Intake
from sim.workloads.trace.block import TraceFile, TraceOp


class OpenFile(NamedTuple):
    """A file that the ranks of a communicator open together.

    Attributes
    ----------
    file
        As MPI-IO has it.
    ranks
        int64 (members,): the ranks of the communicator, ascending; None: all.
    in_force
        Its hints.
    """

    file: MpiFile
    ranks: Integers | None
    in_force: InForce


class ReplayFiles:
    """The files of a trace.

    Parameters
    ----------
    job
        Where they are replayed; its striping, where it asks for one, goes before the trace's.
    intake
        The trace.

    Attributes
    ----------
    world
        All ranks of the trace; the job may have some more, which have nothing to do.
    number
        int64 (files,): their numbers in the data plane.
    together
        Those with collective calls, by position in the files of the trace.
    """

    def __init__(self, job: Job, intake: Intake) -> None:
        self._job = job
        self._files = intake.trace.files
        self._osts = job.machine.lustre.osts if intake.trace.recorded else None
        self._resolved: dict[tuple[StripeRequest, str], InForce] = {}
        ranks = intake.trace.ranks
        self.world: Communicator = job.world
        if ranks < job.ranks:
            self.world = job.communicator(np.arange(ranks))
            job.notes.append(
                f"The trace has {ranks:,} ranks; the other {job.ranks - ranks:,} of the job have "
                "nothing to do."
            )
        self.number = np.zeros(len(self._files), np.int64)
        self._sets: list[FileSet] = [FileSet(0, 0, 0, self.number)] * len(self._files)
        self._allocate()
        self._fill(intake)
        collective = np.unique(intake.together.file)
        self.together = self._open_files(collective[collective >= 0].tolist())

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
        name = file.name if environment.get("MPICH_MPIIO_HINTS") else ""  # else all are alike
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
        self._job.filesystem.plane.files.end[self.number] = np.where(given >= 0, given, unknown)

    def _open_files(self, positions: Iterable[int]) -> dict[int, OpenFile]:
        """Make the files that ranks access together known to MPI-IO."""
        positions = list(positions)
        meetings = self._job.meetings(2 * len(positions)).reshape(-1, 2).tolist()
        return {
            position: self._open_file(position, *numbers)
            for position, numbers in zip(positions, meetings, strict=True)
        }

    def _open_file(self, position: int, meeting: int, inner_meeting: int) -> OpenFile:
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
