"""IOR's backends that write through a library: HDF5, and NCMPI, which is PnetCDF.

HDF5 has a dataset of one dimension for each segment, PnetCDF one record variable with a record for
each block of a rank.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from xc40io.config.errors import InputError
from xc40io.engine.types import Floats, Integers
from xc40io.libraries.hdf5 import Dataset, Hdf5File, Hdf5Properties
from xc40io.libraries.hdf5_transfer import TransferProperties
from xc40io.libraries.pnetcdf import PnetcdfFile, PnetcdfProperties, Variable
from xc40io.libraries.selections import Hyperslab
from xc40io.mpi.file import MpiFile
from xc40io.mpi.stats import MpiRecord
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op
from xc40io.workloads.ior.backend import Backend
from xc40io.workloads.ior.mpiio import MpiSetting
from xc40io.workloads.ior.parameters import ELEMENT, Access, IorTest


@dataclass
class _WrittenHdf5:
    """What is in a file."""

    file: Hdf5File  # the file, as the library keeps it in mind
    datasets: list[Dataset] = field(default_factory=list)  # one for each segment


class Hdf5Backend(Backend):
    """The calls of HDF5 on one file (IOR 4.1, aiori-HDF5.c)."""

    def __init__(self, setting: MpiSetting) -> None:
        self._setting = setting
        self._task = setting.task
        self._file = setting.file()
        self._begun = 0  # datasets that were created or opened

    def open(self, batch: Batch) -> None:
        """Create the file anew, or open it to read."""
        if not self._task.writes:
            self._written = self._setting.written(_WrittenHdf5, self._as_if_written)
            self._go_on(self._written)
            self._written.file.open(batch)
            return
        contents = self._setting.contents
        if self._task.fresh or not isinstance(contents.library, _WrittenHdf5):
            contents.api, contents.library = "HDF5", _WrittenHdf5(self._new(self._file))
        self._written = contents.library
        self._written.datasets.clear()
        self._go_on(self._written)
        self._written.file.create(batch)

    def transfer(
        self, batch: Batch, begin: Integers, end: Integers, *, limit: float | None = None
    ) -> None:
        """Let all ranks make their calls ``begin`` to ``end - 1``, the same number each."""
        assert limit is None  # ranks that stopped early would miss the next dataset
        test = self._task.test
        together = test.collective or test.fsync_per_write or test.call_delay
        first, last, each = int(begin[0]), int(end[0]), test.calls_per_block
        while first < last:
            segment, within = divmod(first, each)
            stop = first + 1 if together else min((segment + 1) * each, last)
            if within == 0 and not self._is_second_pass(first):
                self._begin(batch, self._begun)
                self._begun += 1
            self._access(batch, segment, first, stop)
            first = stop

    def _is_second_pass(self, call: int) -> bool:
        """Tell whether IOR takes a call of ``-R`` for the second one at its place.

        It takes every other call for that (aiori-HDF5.c, firstReadCheck), which was so when a check
        read twice; the dataset that is open then stays.
        """
        return self._task.access is Access.READ_CHECK and call % 2 == 1

    def sync(self, batch: Batch) -> None:
        """Bring metadata and data to the disks (H5Fflush)."""
        self._written.file.flush(batch)

    def close(self, batch: Batch) -> None:
        """Close datasets and file."""
        self._written.file.close(batch)

    def record(self, timers: Floats) -> MpiRecord:
        """Return what MPI-IO has to tell of the phase."""
        return self._setting.record(self._file, timers)

    def _begin(self, batch: Batch, segment: int) -> None:
        """Create the dataset of a segment, or open it."""
        file, datasets = self._written.file, self._written.datasets
        if self._task.writes:
            self._create(batch, self._written)
        elif segment < len(datasets) and datasets[segment].storage.dims == self._dims:
            file.open_dataset(batch, datasets[segment])
        else:
            name = self._setting.file_name
            raise InputError(
                f"{name} has no dataset of {self._dims[0]} elements for segment {segment}: right "
                "would be the -b, -s and -N with which an earlier test wrote it"
            )

    def _access(self, batch: Batch, segment: int, first: int, last: int) -> None:
        """Let every rank make calls ``first`` to ``last - 1`` of a segment on the open dataset."""
        test, file = self._task.test, self._written.file
        every = np.ones_like(self._task.pretend)
        rank, _, offset = self._task.calls(every * first, every * last)
        start = (offset - segment * self._segment_size) // ELEMENT
        slab = Hyperslab.of(start[:, None], test.transfer_size // ELEMENT, rank=rank)
        dataset = self._written.datasets[self._begun - 1]
        if not self._task.writes:
            file.read(batch, dataset, slab)
        else:
            file.write(batch, dataset, slab)
            if test.fsync_per_write:
                file.flush(batch)
        if test.call_delay:
            batch.add(Op.THINK, self._task.ranks.all, seconds=test.call_delay)

    @property
    def _segment_size(self) -> int:
        """Bytes of all ranks' blocks in one segment."""
        return self._task.test.block_size * len(self._task.ranks)

    @property
    def _dims(self) -> tuple[int]:
        """Elements of a dataset."""
        return (self._segment_size // ELEMENT,)

    def _new(self, file: MpiFile) -> Hdf5File:
        """Return a file that is yet to be created."""
        return Hdf5File(file, self._setting.machine.mpi, _properties(self._task.test))

    def _create(self, batch: Batch, written: _WrittenHdf5) -> None:
        """Create the dataset of the next segment."""
        test = self._task.test
        written.datasets.append(
            written.file.create_dataset(
                batch,
                f"Dataset-0000.{len(written.datasets):04d}",
                self._dims,
                ELEMENT,
                chunk=(test.chunk_size,) if test.chunk_size else None,
            )
        )

    def _go_on(self, written: _WrittenHdf5) -> None:
        """Let what is known of the file go on in this phase, with this test's properties."""
        written.file.attach(self._file)
        written.file.properties = _properties(self._task.test)

    def _as_if_written(self) -> _WrittenHdf5:
        """Return what is in a file that was there before: what this test would have written."""
        file, batch = self._setting.file(), self._task.ranks.batch()  # neither is ever at work
        written = _WrittenHdf5(self._new(file))
        written.file.create(batch)
        for _ in range(self._task.test.segments):
            self._create(batch, written)
        written.file.close(batch)
        self._setting.files.end[self._setting.numbers] = written.file.size
        return written


def _properties(test: IorTest) -> Hdf5Properties:
    """Return how IOR has HDF5 access the file."""
    return Hdf5Properties(
        alignment=test.alignment,
        alignment_threshold=test.alignment,
        collective_metadata_reads=test.collective_metadata,
        collective_metadata_writes=test.collective_metadata,
        fill="never" if test.no_fill else "if set",
        transfer=TransferProperties(collective=test.collective),
    )


@dataclass
class _WrittenNcmpi:
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
            if self._task.fresh or not isinstance(known, _WrittenNcmpi):
                self._library = self._new(self._file)
            else:
                self._library = known.file
                self._library.attach(self._file)
            self._library.create(batch)
            return
        self._written = self._setting.written(_WrittenNcmpi, self._as_if_written)
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

    def _define(self, batch: Batch, file: PnetcdfFile) -> _WrittenNcmpi:
        """Define the variable: all blocks, of which each is a record of transfers."""
        test = self._task.test
        dimensions = (
            file.define_dimension("segments_times_np", None),
            file.define_dimension("number_of_transfers", test.calls_per_block),
            file.define_dimension("transfer_size", test.transfer_size),
        )
        variable = file.define_variable("data_var", dimensions, 1)
        file.end_define(batch)
        return _WrittenNcmpi(file, variable, test.segments * len(self._task.ranks))

    def _check(self, written: _WrittenNcmpi) -> None:
        """Raise InputError unless this test can read what is in the file."""
        test = self._task.test
        shape, records = written.variable.shape, test.segments * len(self._task.ranks)
        if shape != (test.calls_per_block, test.transfer_size) or records > written.records:
            raise InputError(
                f"{self._setting.file_name} holds {written.records} blocks of {shape[0]} transfers "
                f"of {shape[1]} bytes: right would be the -b, -t, -s and -N with which an earlier "
                "test wrote it"
            )

    def _as_if_written(self) -> _WrittenNcmpi:
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
