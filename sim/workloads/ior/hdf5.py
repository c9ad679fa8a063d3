"""IOR's HDF5 backend: a dataset of one dimension for each segment."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sim.config.errors import InputError
from sim.engine.types import Floats, Integers
from sim.libraries.hdf5 import Dataset, Hdf5File, Hdf5Properties
from sim.libraries.hdf5_transfer import TransferProperties
from sim.libraries.selections import Hyperslab
from sim.mpi.file import MpiFile
from sim.mpi.stats import MpiRecord
from sim.plane.batch import Batch
from sim.plane.operations import Op
from sim.workloads.ior.backend import Backend
from sim.workloads.ior.mpiio import MpiSetting
from sim.workloads.ior.parameters import ELEMENT, IorTest


@dataclass
class _Written:
    """What is in a file."""

    file: Hdf5File  # the file, as the library keeps it in mind
    datasets: list[Dataset] = field(default_factory=list)  # one for each segment


class Hdf5Backend(Backend):
    """The calls of HDF5 on one file (IOR 4.1, aiori-HDF5.c)."""

    def __init__(self, setting: MpiSetting) -> None:
        self._setting = setting
        self._task = setting.task
        self._file = setting.file()

    def open(self, batch: Batch) -> None:
        """Create the file anew, or open it to read."""
        if not self._task.writes:
            self._written = self._setting.written(_Written, self._as_if_written)
            self._go_on(self._written)
            self._written.file.open(batch)
            return
        contents = self._setting.contents
        if self._task.fresh or not isinstance(contents.library, _Written):
            contents.api, contents.library = "HDF5", _Written(self._new(self._file))
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
            if within == 0:
                self._begin(batch, segment)
            self._access(batch, segment, first, stop)
            first = stop

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
        """Let every rank make calls ``first`` to ``last - 1`` on the dataset of a segment."""
        test, file = self._task.test, self._written.file
        every = np.ones_like(self._task.pretend)
        rank, _, offset = self._task.calls(every * first, every * last)
        start = (offset - segment * self._segment_size) // ELEMENT
        slab = Hyperslab.of(start[:, None], test.transfer_size // ELEMENT, rank=rank)
        dataset = self._written.datasets[segment]
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

    def _create(self, batch: Batch, written: _Written) -> None:
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

    def _go_on(self, written: _Written) -> None:
        """Let what is known of the file go on in this phase, with this test's properties."""
        written.file.attach(self._file)
        written.file.properties = _properties(self._task.test)

    def _as_if_written(self) -> _Written:
        """Return what is in a file that was there before: what this test would have written."""
        file, batch = self._setting.file(), self._task.ranks.batch()  # neither is ever at work
        written = _Written(self._new(file))
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
