"""A file that all ranks of a job use together, through MPI-IO."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xc40io.mpi.communicator import Communicator
from xc40io.mpi.file import MpiFile
from xc40io.mpi.hints import Hints, InForce, resolve
from xc40io.mpi.stats import MpiRecord

if TYPE_CHECKING:
    from xc40io.machine.filesystem import FileSet
    from xc40io.workloads.job import Job


def in_force_of(job: Job, name: str, *, pnetcdf: bool = False) -> InForce:
    """Return the hints in force for a file of a job; a note says which change nothing."""
    in_force = resolve(
        job.environment,
        file_name=name,
        striping=job.striping,
        machine=job.machine,
        pnetcdf=pnetcdf,
    )
    job.notes.extend(in_force.ignored)
    return in_force


def mpi_file(
    job: Job, files: FileSet, hints: Hints, ranks: Communicator | None = None, number: int = 0
) -> MpiFile:
    """Return one file of a set as MPI-IO has it, yet to be opened: by all ranks unless given."""
    file = MpiFile(
        files.first + number,
        files.layout(number),
        ranks or job.world,
        hints,
        job.machine,
        job.filesystem.meetings(),
    )
    file.set_flags(job.filesystem.plane.files)
    return file


class SharedFile:
    """One file of all ranks, and what MPI-IO tells of it.

    Parameters
    ----------
    job
        Whose ranks use it.
    name
        Of the file.
    in_force
        The hints; unless given, the hints of the job's environment.
    files
        Its place on Lustre; made unless given.
    ranks
        Who has it open; all unless given.
    """

    def __init__(
        self,
        job: Job,
        name: str,
        in_force: InForce | None = None,
        files: FileSet | None = None,
        ranks: Communicator | None = None,
    ) -> None:
        self._job = job
        self._name = name
        self._in_force = in_force or in_force_of(job, name)
        self.files = files or job.filesystem.allocate(1, self._in_force.striping)
        job.files[name] = self.files
        if ranks is None and job.helpers:
            # Where a rank's thread may use it, the threads must not meet where ranks do.
            ranks = job.communicator(job.all_ranks.all)
        self.mpi = mpi_file(job, self.files, self._in_force.hints, ranks)
        self.start_timers()

    def start_timers(self) -> None:
        """Let what :meth:`tell` tells next begin now."""
        self._timers = self._job.filesystem.timers(self._job.programs)

    def tell(self, step: str, *, writing: bool) -> None:
        """Keep what MPI-IO has to tell of the file, which has been closed."""
        job, file, before = self._job, self.mpi, self._timers
        self.start_timers()
        record = MpiRecord(
            file_name=self._name,
            files=1,
            writing=writing,
            given={},
            in_force=self._in_force,
            communicator=file.communicator,
            aggregators=file.aggregators if writing else file.read_aggregators,
            counts=file.counts,
            timers=(self._timers - before)[file.communicator.owners],
        )
        job.mpi_records.append((step, record))
