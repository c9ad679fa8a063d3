"""How a library's reads and writes reach MPI-IO, and how its ranks meet (HDF5: H5FDmpio.c)."""

from __future__ import annotations

import numpy as np

from xc40io.config.parts.mpi import Mpi
from xc40io.engine.types import Integers
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.communicator import Collectives, Communicator
from xc40io.mpi.file import MpiFile
from xc40io.mpi.stats import Timer
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op

_OFFSET = 8  # bytes of an MPI_Offset


class MpiDriver:
    """A file as a library has it open through MPI-IO."""

    takes_vectors = False  # whether pieces that MPI-IO gets one by one are handed on together
    info = 0  # bytes behind the superblock of HDF5 that say how the file is kept

    def __init__(self, file: MpiFile, mpi: Mpi) -> None:
        self.file = file
        self.mpi = mpi
        self.costs = Collectives(mpi, self.communicator.nodes, self.communicator.size)
        self.size = 0  # where the file's bytes end
        self._settled = 0
        self._exists = False

    @property
    def communicator(self) -> Communicator:
        """The ranks."""
        return self.file.communicator

    @property
    def ranks(self) -> Integers:
        """All ranks of the file: int64."""
        return np.arange(self.communicator.size)

    def meet(self, batch: Batch, seconds: float) -> None:
        """Add a collective of the library's own."""
        batch.add(
            Op.MEET,
            self.communicator.owners,
            meeting=self.communicator.meeting,
            members=self.communicator.size,
            seconds=seconds,
            timer=Timer.METADATA,
        )

    def barrier(self, batch: Batch) -> None:
        """Add a barrier."""
        self.meet(batch, self.costs.barrier())

    def describe(self, batch: Batch, ranks: Integers, pieces: Integers) -> None:
        """Add the library's work on each of so many pieces."""
        some = pieces > 0
        owners, seconds = self.communicator.owners[ranks[some]], pieces[some] * self.mpi.piece_time
        batch.add(Op.WORK, owners, seconds=seconds, timer=Timer.METADATA)

    def copy(self, batch: Batch, ranks: Integers, size: Integers) -> None:
        """Add the time in which ranks copy so many bytes in memory."""
        owners, seconds = self.communicator.owners[ranks], size / self.mpi.copy_rate
        batch.add(Op.WORK, owners, seconds=seconds, timer=Timer.METADATA)

    def open(self, batch: Batch, *, create: bool, writing: bool) -> None:
        """Open the file as HDF5 does; rank 0 asks for its size and tells the others.

        A file that was there is emptied if it is to be created.
        """
        self.file.open(batch, create=create, writing=writing, fresh=not self._exists)
        self._exists = True
        self._ask_size(batch)
        if create and self.size:
            self._set_size(batch, 0)
        self._settled = 0  # nothing is known of it, even if it ends elsewhere (last_eoa)

    def close(self, batch: Batch) -> None:
        """Close the file."""
        self.file.close(batch)

    def write_all(self, batch: Batch, accesses: Accesses) -> None:
        """Write collectively."""
        self.file.write_at_all(batch, accesses)
        self._note(accesses)

    def write(self, batch: Batch, accesses: Accesses, *, each: bool) -> None:
        """Write independently: one call for all pieces of a rank, or one for ``each``."""
        self.file.write_at(batch, accesses, each=each)
        self._note(accesses)

    def read_all(self, batch: Batch, accesses: Accesses) -> None:
        """Read collectively."""
        self.file.read_at_all(batch, accesses)

    def read(self, batch: Batch, accesses: Accesses, *, each: bool) -> None:
        """Read independently, as :meth:`write`."""
        self.file.read_at(batch, accesses, each=each)

    def sync(self, batch: Batch) -> None:
        """Make durable what was written."""
        self.file.sync(batch)

    def truncate(self, batch: Batch, end: int, *, unasked: bool) -> None:
        """Truncate the file to its allocated space, if that has changed since the last time.

        Rank 0 looks for the size first, and nothing else happens if it is right, unless the file is
        to be cut ``unasked``.
        """
        if end == self._settled:
            return
        if not unasked:
            self._ask_size(batch)
        if unasked or self.size != end:
            self._set_size(batch, end)
        self._settled = end

    def settle(self, end: Integers) -> None:
        """Note where files end that were written before the job began: int64 (files,), by number.

        They may be longer already.
        """
        end[self.file.number] = max(end[self.file.number], self.size)

    def _ask_size(self, batch: Batch) -> None:
        """Ask for the file's size at rank 0, for which the file system asks all its objects."""
        first = self.communicator.owners[:1]
        batch.add(Op.STAT, first, file=self.file.number, timer=Timer.METADATA)
        self.meet(batch, self.costs.bcast(_OFFSET))

    def _set_size(self, batch: Batch, size: int) -> None:
        self.file.set_size(batch, size)
        self.barrier(batch)
        self.size = size

    def _note(self, accesses: Accesses) -> None:
        """Keep track of where the file ends."""
        if len(accesses.rank):
            self.size = max(self.size, int((accesses.offset + accesses.length).max()))


class LibraryFile:
    """A file of a library, whose driver reads and writes it."""

    _driver: MpiDriver

    @property
    def size(self) -> int:
        """Bytes that the file holds."""
        return self._driver.size

    def settle(self, end: Integers) -> None:
        """Note where the file ends that was written before the job began; see the driver's."""
        self._driver.settle(end)

    def attach(self, file: MpiFile) -> None:
        """Go on with the closed file through another MPI file of the same ranks."""
        self._driver.file = file
