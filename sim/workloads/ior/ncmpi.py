"""IOR's NCMPI backend, PnetCDF: one record variable, a record for each block of a rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sim.config.errors import InputError
from sim.engine.types import Floats, Integers
from sim.libraries.pnetcdf import PnetcdfFile, PnetcdfProperties, Variable
from sim.libraries.selections import Hyperslab
from sim.mpi.file import MpiFile
from sim.mpi.stats import MpiRecord
from sim.plane.batch import Batch
from sim.plane.operations import Op
from sim.workloads.ior.backend import Backend
from sim.workloads.ior.mpiio import MpiSetting


@dataclass
class _Written:
    """What is in a file."""

    # the file as the library keeps it in mind, and its variable
    file: PnetcdfFile
    variable: Variable
    records: int  # how many records it is to have


class NcmpiBackend(Backend):
    """The calls of PnetCDF on one file (IOR 4.1, aiori-NCMPI.c)."""

    def __init__(self, setting: MpiSetting) -> None:
        self._setting = setting
        self._task = setting.task
        self._file = setting.file()
        self._begun = False

    def open(self, batch: Batch) -> None:
        """Create the file, or open it to read."""
        if self._task.writes:
            known = self._setting.contents.library
            if self._task.fresh or not isinstance(known, _Written):
                self._library = self._new(self._file)
            else:
                self._library = known.file
                self._library.attach(self._file)
            self._library.create(batch)
            return
        self._written = self._setting.written(_Written, self._as_if_written)
        self._check(self._written)
        self._library = self._written.file
        self._library.attach(self._file)
        self._library.open(batch)

    def transfer(
        self, batch: Batch, begin: Integers, end: Integers, *, limit: float | None = None
    ) -> None:
        """Let all ranks make their calls ``begin`` to ``end - 1``, the same number each."""
        assert limit is None
        test = self._task.test
        together = test.collective or test.fsync_per_write or test.call_delay
        self._begin(batch)
        first, last = int(begin[0]), int(end[0])
        step = 1 if together else max(last - first, 1)
        for call in range(first, last, step):
            self._access(batch, call, call + step)

    def sync(self, batch: Batch) -> None:
        """Bring the file to the disks (ncmpi_sync)."""
        self._library.sync(batch)

    def close(self, batch: Batch) -> None:
        """Close the file."""
        self._library.close(batch)

    def record(self, timers: Floats) -> MpiRecord:
        """Return what MPI-IO has to tell of the phase."""
        return self._setting.record(self._file, timers)

    def _begin(self, batch: Batch) -> None:
        """Before the first call, define the variable; without ``-c`` begin independent mode."""
        if self._begun:
            return
        self._begun = True
        if self._task.writes:
            self._written = self._define(batch, self._library)
            self._setting.contents.library = self._written
        if not self._task.test.collective:
            self._library.begin_independent(batch)

    def _access(self, batch: Batch, first: int, last: int) -> None:
        """Let every rank make calls ``first`` to ``last - 1``.

        The record is that of the rank's own number, even if it stands in for another one.
        """
        test, ranks = self._task.test, len(self._task.ranks)
        every = np.ones(ranks, np.int64)
        rank, turn, _ = self._task.calls(every * first, every * last)
        segment, transfer = np.divmod(first + turn, test.calls_per_block)
        start = np.stack([segment * ranks + rank, transfer, np.zeros_like(rank)], axis=1)
        slab = Hyperslab.of(start, np.array([[1, 1, test.transfer_size]]), rank=rank)
        if self._task.writes:
            self._library.put(batch, self._written.variable, slab)
            if test.fsync_per_write:
                self._library.sync(batch)
        else:
            self._library.get(batch, self._written.variable, slab)
        if test.call_delay:
            batch.add(Op.THINK, self._task.ranks.all, seconds=test.call_delay)

    def _new(self, file: MpiFile) -> PnetcdfFile:
        """Return a file that is yet to be created, for data of more than 4 GiB (CDF-5)."""
        properties = PnetcdfProperties(version=5)
        return PnetcdfFile(file, self._setting.machine.mpi, properties)

    def _define(self, batch: Batch, file: PnetcdfFile) -> _Written:
        """Define the variable: all blocks, of which each is a record of transfers."""
        test = self._task.test
        dimensions = (
            file.define_dimension("segments_times_np", None),
            file.define_dimension("number_of_transfers", test.calls_per_block),
            file.define_dimension("transfer_size", test.transfer_size),
        )
        variable = file.define_variable("data_var", dimensions, 1)
        file.end_define(batch)
        return _Written(file, variable, test.segments * len(self._task.ranks))

    def _check(self, written: _Written) -> None:
        """Raise InputError unless this test can read what is in the file."""
        test = self._task.test
        shape, records = written.variable.shape, test.segments * len(self._task.ranks)
        if shape != (test.calls_per_block, test.transfer_size) or records > written.records:
            raise InputError(
                f"{self._setting.file_name} holds {written.records} blocks of {shape[0]} transfers "
                f"of {shape[1]} bytes: right would be the -b, -t, -s and -N with which an earlier "
                "test wrote it"
            )

    def _as_if_written(self) -> _Written:
        """Return what is in a file that was there before: what this test would have written."""
        file, batch = self._new(self._setting.file()), self._task.ranks.batch()  # never at work
        file.create(batch)
        written = self._define(batch, file)
        shape = written.variable.shape
        last = np.array([[written.records - 1, shape[0] - 1, 0]])
        file.begin_independent(batch)
        file.put(batch, written.variable, Hyperslab.of(last, np.array([[1, 1, shape[1]]])))
        file.close(batch)
        self._setting.files.end[self._setting.numbers] = file.size
        return written
