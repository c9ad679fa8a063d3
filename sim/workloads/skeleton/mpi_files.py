"""The files of a skeleton that are used through MPI-IO."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from xc40io.config.errors import InputError
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.hints import InForce, resolve
from xc40io.mpi.stats import AccessCounts, MpiRecord
from xc40io.workloads.kernels.shared_file import mpi_file
from xc40io.workloads.skeleton.fileset import ON_NAMES, FileGroups
from xc40io.workloads.skeleton.patterns import Places
from xc40io.workloads.skeleton.skeleton_file import Cut, Move, Open, Phase

if TYPE_CHECKING:
    from xc40io.config.striping import StripeRequest
    from xc40io.engine.types import Floats, Integers
    from xc40io.machine.filesystem import FileSet
    from xc40io.mpi.communicator import Communicator
    from xc40io.plane.batch import Batch

_MOST_FILES = 1024
_MOST_CALLS = 20_000


class MpiFiles(FileGroups):
    """Files that the ranks of a group open together, through MPI-IO."""

    @cached_property
    def _in_force(self) -> InForce:
        """The hints in force for the files."""
        return resolve(
            self.job.environment,
            file_name=self.name,
            striping=super().striping,
            machine=self.job.machine,
        )

    @property
    def striping(self) -> StripeRequest:
        """What the files ask for: hints win over all else."""
        return self._in_force.striping

    @cached_property
    def communicators(self) -> list[Communicator]:
        """Who opens each file together."""
        if self.owners == 1 and not self.job.helpers:
            return [self.job.world]
        every = (np.flatnonzero(self.owner == number) for number in range(self.owners))
        return [self.job.communicator(ranks) for ranks in every]

    def in_background(self, what: Move) -> bool:
        """Tell whether a thread makes the calls: ROMIO has it do what lies in one piece.

        It makes nonblocking calls of several pieces at once (``ADIOI_GEN_IwriteStrided``).
        """
        deferred = super().in_background(what)
        if deferred and self.scope.holds(what.collective):
            raise InputError(
                "background beside collective: MPI-IO goes on with such a call in calls of MPI "
                "alone; right would be one of both, or api: hdf5"
            )
        return deferred and what.piece is None and what.blocks is None

    def _allocate(self, count: int) -> FileSet:
        """Let the file system choose layouts; make the MPI files, yet to be opened."""
        if count > _MOST_FILES or self.each > 1:
            raise InputError(
                f"{count:,} files through MPI-IO, {self.each} for each group; right "
                f"would be one for each and at most {_MOST_FILES:,}, or api: posix"
            )
        files = super()._allocate(count)
        for note in self._in_force.ignored:
            if note not in self.job.notes:
                self.job.notes.append(note)
        self.mpi_files = [
            mpi_file(self.job, files, self._in_force.hints, communicator, number)
            for number, communicator in enumerate(self.communicators)
        ]
        self.closed: list[tuple[AccessCounts, bool]] = []
        return files

    def act(self, batch: Batch, phase: Phase) -> int:
        """Add a phase to a batch; return the bytes that it moves."""
        what, verb = phase.what, phase.verb
        if verb == "list":
            raise InputError(f"files {self.name} have api: mpiio or hdf5; right would be posix")
        if not isinstance(what, Move) and getattr(what, "only", None) is not None:
            raise InputError("only: all ranks that share the file must take part")
        if isinstance(what, Open):
            self.begin(creating=verb == "create")
        self.make()
        if isinstance(what, Move):
            return self._move(batch, what, writing=verb == "write")
        if isinstance(what, Open):
            writing = verb == "create" or self.scope.word(what.mode) == "write"
            self._open(batch, create=verb == "create", writing=writing)
            self._writing = writing
        elif verb == "close":
            self._close(batch)
            self._closed()
        elif verb == "fsync":
            self._sync(batch)
        elif isinstance(what, Cut):
            size = self.scope.whole(what.size)
            for file, communicator in zip(self.mpi_files, self.communicators, strict=True):
                file.set_size(batch, int(size[communicator.owners[0]]))
        else:
            first = np.array([one.owners[0] for one in self.communicators])
            batch.add(ON_NAMES[verb], first, file=self.files.first + np.arange(self.owners))
        return 0

    def _open(self, batch: Batch, *, create: bool, writing: bool) -> None:
        for file in self.mpi_files:
            file.open(batch, create=create, writing=writing)

    def _close(self, batch: Batch) -> None:
        for file in self.mpi_files:
            file.close(batch)

    def _sync(self, batch: Batch) -> None:
        for file in self.mpi_files:
            file.sync(batch)

    def _closed(self) -> None:
        """Keep what was counted of the first file, for whoever asks what MPI-IO has to tell."""
        self.closed.append((self.mpi_files[0].counts, self._writing))

    def records(self, timers: Floats) -> list[MpiRecord]:
        """Return what MPI-IO has to tell of the files since they were last asked.

        Parameters
        ----------
        timers
            float64 (ranks, timers): what the timers of all ranks show since then; timers of files
            that were closed several times are in the last record.
        """
        file, closed = self.mpi_files[0], self.closed
        mine = timers[file.communicator.owners]
        self.closed = []
        return [
            MpiRecord(
                file_name=self.name,
                files=self.owners,
                writing=writing,
                given={},
                in_force=self._in_force,
                communicator=file.communicator,
                aggregators=file.aggregators if writing else file.read_aggregators,
                counts=counts,
                timers=mine if turn == len(closed) - 1 else np.zeros_like(mine),
            )
            for turn, (counts, writing) in enumerate(closed)
        ]

    def piece(self, what: Move, size: Integers) -> Integers:
        """Return the contiguous bytes: one call's bytes unless the skeleton gives a piece."""
        transfer = self.transfer(what, size)
        if what.piece is None:
            return transfer
        piece = self.scope.whole(what.piece, least=1)
        if (transfer % piece).any() and what.transfer is not None:
            raise InputError(f"{what.piece} must divide the transfer")
        return piece

    def _move(self, batch: Batch, what: Move, *, writing: bool) -> int:
        """Let the ranks of each file make their calls, together or each by itself."""
        places = self.places(what, self.owner, None)
        self.position[:] = places.end
        collective = self.scope.holds(what.collective)
        extents = what.blocks is not None and self.scope.one(what.blocks.whole) > 0
        for file in self.mpi_files:
            file.take_as_one(places.as_one)
        if writing:
            self.exchange(batch, what, self.owner, writing=True)
        for calls in self._calls(what, places, together=collective):
            for number, file in enumerate(self.mpi_files):
                mine = self._of_file(calls, number)
                accesses = Accesses(mine.rank, mine.offset, mine.length)
                if collective:
                    (file.write_at_all if writing else file.read_at_all)(batch, accesses)
                else:
                    each = what.piece is None and (what.blocks is None or extents)
                    (file.write_at if writing else file.read_at)(batch, accesses, each=each)
        if not writing:
            self.exchange(batch, what, self.owner, writing=False)
        return int(places.length.sum())

    def _calls(self, what: Move, places: Places, *, together: bool) -> Iterator[Places]:
        """Return the pieces call by call; independent calls of one piece each come at once."""
        if what.blocks is not None or (not together and what.piece is None):
            yield places
            return
        per_call = np.ones(self.scope.ranks, np.int64)
        if what.piece is not None:
            size = np.bincount(places.rank, places.length, self.scope.ranks).astype(np.int64)
            piece = self.piece(what, size)
            per_call = np.maximum(self.transfer(what, size) // piece, 1)
            if what.transfer is None:
                per_call[:] = max(len(places.rank), 1)
        call = places.turn // per_call[places.rank]
        count = int(call.max(initial=0)) + 1
        if count > _MOST_CALLS:
            raise InputError(
                f"{count:,} calls one after the other; right would be at most "
                f"{_MOST_CALLS:,}, by a larger transfer"
            )
        order = np.lexsort((places.offset, places.rank, call))
        ordered = places.only(order)
        bounds = np.searchsorted(call[order], np.arange(count + 1))
        for number in range(count):
            part = slice(bounds[number], bounds[number + 1])
            yield ordered.only(part)

    def _of_file(self, places: Places, number: int) -> Places:
        """Return the pieces of one file, with ranks counted in its communicator."""
        if self.owners == 1:
            return places
        first, last = np.searchsorted(self.owner, [number, number + 1])
        part = slice(*np.searchsorted(places.rank, [first, last]))
        mine = places.only(part)
        return mine._replace(rank=mine.rank - first)
