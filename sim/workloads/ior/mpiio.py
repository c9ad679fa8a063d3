"""IOR's MPIIO backend: collective and independent calls, file views, strided datatypes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.engine.types import Floats, Integers, Table
from xc40io.lustre.striping import Layout
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.communicator import Communicator
from xc40io.mpi.file import MpiFile
from xc40io.mpi.independent import TypesWithHoles, sieves
from xc40io.mpi.stats import DirectionCounts, MpiRecord
from xc40io.plane.batch import Batch
from xc40io.plane.long_calls import calls_for
from xc40io.plane.operations import Op
from xc40io.workloads.ior.backend import Backend, Task
from xc40io.workloads.ior.files import Contents, IorHints

_Library = TypeVar("_Library")


@dataclass(frozen=True, eq=False, kw_only=True)
class MpiSetting:
    """What a backend over MPI-IO has for one phase."""

    task: Task  # what to do: for all ranks, or, where each has a file of its own, for the first
    tasks: int  # of the test, of all files together
    communicator: Communicator  # the ranks that open the file together
    inner_meeting: int  # the number of a meeting of the data plane where a part of them can meet
    hints: IorHints  # given, and in force
    machine: Machine  # with its MPI library
    file_name: str  # the file, as IOR names it
    layout: Layout  # where its bytes lie
    # what is in it, and in all others alike: what a backend put here when it wrote them
    contents: Contents
    # the data plane's table of files, and int64: the numbers of all files of the phase
    files: Table
    numbers: Integers

    def file(self) -> MpiFile:
        """Return the file, yet to be opened; the data plane learns how the hints have it opened."""
        in_force = self.hints.in_force.hints
        self.files.direct[self.numbers] = in_force.direct_io
        self.files.no_expand[self.numbers] = in_force.cray_cb_write_lock_mode == 2
        return MpiFile(
            int(self.task.file[0]),
            self.layout,
            self.communicator,
            self.hints.in_force.hints,
            self.machine,
            self.inner_meeting,
        )

    def written(self, kind: type[_Library], as_if_written: Callable[[], _Library]) -> _Library:
        """Return what the test's API keeps of the file that is to be read, of a kind.

        It is made up for a file that was there before; InputError is raised if an earlier test
        wrote the file with another API.
        """
        api, contents = self.task.test.api, self.contents
        if contents.api == "":
            contents.api, contents.library = api, as_if_written()
        if not isinstance(contents.library, kind):
            raise InputError(
                f"-a {api}: an earlier test of this command wrote {self.file_name} with "
                f"{contents.api}; right would be a file that was written with {api}"
            )
        return contents.library

    def record(self, file: MpiFile, timers: Floats) -> MpiRecord:
        """Return what MPI-IO has to tell of the file."""
        return MpiRecord(
            file_name=self.file_name,
            files=1,
            writing=self.task.writes,
            given=self.hints.given,
            in_force=self.hints.in_force,
            communicator=self.communicator,
            aggregators=file.aggregators if self.task.writes else file.read_aggregators,
            counts=file.counts,
            timers=timers,
        )


class MpiioBackend(Backend):
    """The calls of MPI-IO on one file."""

    def __init__(self, setting: MpiSetting) -> None:
        self._setting = setting
        self._task = setting.task
        self._file = setting.file()
        self.pieces = calls_for(setting.task.test.transfer_size)
        if self._task.test.scattered:
            # Of a file of its own, or as the only rank, a rank views every byte.
            several = setting.communicator.size > 1
            self._file.scattered = (
                TypesWithHoles.MEMORY_AND_FILE if several else TypesWithHoles.MEMORY
            )
        self._check_deadline()

    def _check_deadline(self) -> None:
        """Raise InputError if a clock would have to stop calls that are sieved."""
        test = self._task.test
        if self._is_sieved and not test.collective and (test.deadline or test.min_duration):
            kind = "write" if self._task.writes else "read"
            raise InputError(
                f"-V with -D or minTimeDuration: romio_ds_{kind} has the {kind}s of a file view "
                "sieved, and no clock stops these in between; right would be the hint "
                f"romio_ds_{kind}=disable, or no -V"
            )

    @property
    def _is_sieved(self) -> bool:
        """Whether calls for one run of bytes are sieved."""
        return self._task.test.scattered and sieves(self._file.hints, writing=self._task.writes)

    @property
    def syncs(self) -> bool:
        """Whether a sync does anything."""
        return self._file.syncs

    @property
    def counted(self) -> bool:
        """Whether each call of a rank is one read or write of its own."""
        test = self._task.test
        return not (test.collective or test.strided or self._is_sieved)

    def open(self, batch: Batch) -> None:
        """Open the file; for writing, cut it to nothing, and have it preallocated (``-p``).

        Before 4.0 IOR left the file as it was (IOR 3, aiori-MPIIO.c: "File truncation not
        implemented in MPIIO"). Who cuts it keeps a lock on every object, which the first writes
        of all other nodes have to take away.
        """
        task, test = self._task, self._task.test
        self._file.open(batch, create=task.writes, writing=task.writes, fresh=task.fresh)
        if not task.writes:
            return
        if test.version >= 4:
            self._file.set_size(batch, 0)
        if test.preallocate:  # in a file of its own each rank's has room for all
            self._file.preallocate(batch, test.aggregate_bytes(self._setting.tasks))

    def transfer(
        self, batch: Batch, begin: Integers, end: Integers, *, limit: float | None = None
    ) -> None:
        """Let rank r make its calls ``begin[r]`` to ``end[r] - 1``."""
        test = self._task.test
        if limit is not None:
            batch.add(Op.LIMIT, self._task.ranks.all, seconds=limit)
        one_by_one = (test.fsync_per_write and self._task.writes) or test.call_delay
        if self.counted and not one_by_one:
            rank, _, offset = self._task.calls(begin, end)
            self._access(batch, rank, offset)
            return
        first, last = int(begin.min()), int(end.max())
        for call in range(first, last):
            rank, _, offset = self._task.calls(np.maximum(begin, call), np.minimum(end, call + 1))
            self._access(batch, rank, offset)
            self._after_call(batch, rank)

    def sync(self, batch: Batch) -> None:
        """Bring what was written to the disks (MPI_File_sync)."""
        self._file.sync(batch)

    def close(self, batch: Batch) -> None:
        """Close the file."""
        self._file.close(batch)

    def record(self, timers: Floats) -> MpiRecord:
        """Return what MPI-IO has to tell of the phase."""
        return self._setting.record(self._file, timers)

    def recount(self, calls: Integers) -> None:
        """Count the calls that ranks really made, int64 (ranks,), where a clock stopped them."""
        task, counts = self._task, self._file.counts
        made = DirectionCounts()
        size, number = task.test.transfer_size, int(calls.sum())
        made.add_independent(np.repeat(task.ranks.all, calls), number * size)
        made.add_system(np.array([size]), self._setting.layout, np.array([number]))
        if task.writes:
            counts.writes = made
        else:
            counts.reads = made

    def _access(self, batch: Batch, rank: Integers, offset: Integers) -> None:
        """Let ranks make calls: one each, or, where each is a contiguous one by itself, several."""
        test, file = self._task.test, self._file
        if test.strided:
            accesses = self._strided(rank, offset)
            if not len(accesses.rank):
                return
        else:
            accesses = Accesses(rank, offset, np.full(len(rank), test.transfer_size))
        if test.collective:
            (file.write_at_all if self._task.writes else file.read_at_all)(batch, accesses)
        elif self._task.writes:
            file.write_at(batch, accesses, each=self.counted)
        else:
            file.read_at(batch, accesses, each=self.counted)

    def _strided(self, rank: Integers, offset: Integers) -> Accesses:
        """Return what calls with a strided datatype access (``-V -S``).

        A call in the first segment takes the transfers at the same place of all segments with it;
        when their turn comes, nothing is left to do (IOR 4.1, MPIIO_Xfer).
        """
        test = self._task.test
        segment = test.block_size * len(self._task.ranks)
        first = offset < segment
        rank, offset = rank[first], offset[first]
        pieces = offset[:, None] + segment * np.arange(test.segments)
        return Accesses(
            np.repeat(rank, test.segments),
            pieces.ravel(),
            np.full(pieces.size, test.transfer_size),
        )

    def _after_call(self, batch: Batch, rank: Integers) -> None:
        """Let ranks do what the test asks for after each call: an fsync (``-Y``), a delay."""
        test = self._task.test
        if test.fsync_per_write and self._task.writes:
            self._file.sync_at(batch, rank)
        if test.call_delay:
            batch.add(Op.THINK, rank, seconds=test.call_delay)
