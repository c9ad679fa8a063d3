"""An MPI file that only notes what is asked of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from xc40io.config.machine import load_machine
from xc40io.config.parts.mpi import Mpi
from xc40io.lustre.striping import Layout
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.communicator import Communicator
from xc40io.plane.batch import Batch


class Call(NamedTuple):
    """What was asked: ``write_all``, ``write``, ``each_write`` and so on; pieces by rank."""

    name: str
    pieces: tuple[tuple[int, int, int], ...] = ()
    size: int = 0


@dataclass(eq=False)
class RecordedFile:
    """Stands for :class:`xc40io.mpi.file.MpiFile`."""

    communicator: Communicator
    calls: list[Call] = field(default_factory=list)
    number: int = 0
    layout: Layout = field(default_factory=lambda: Layout.striped(1 << 20, range(4)))

    def open(self, batch: Batch, *, create: bool, writing: bool = True, fresh: bool = True) -> None:
        del batch
        name = "create" if create and fresh else "open" if writing else "open to read"
        self.calls.append(Call(name))

    def close(self, batch: Batch) -> None:
        del batch
        self.calls.append(Call("close"))

    def sync(self, batch: Batch) -> None:
        del batch
        self.calls.append(Call("sync"))

    def set_size(self, batch: Batch, size: int) -> None:
        del batch
        self.calls.append(Call("set_size", size=size))

    def write_at_all(self, batch: Batch, accesses: Accesses) -> None:
        del batch
        self._note("write_all", accesses)

    def read_at_all(self, batch: Batch, accesses: Accesses) -> None:
        del batch
        self._note("read_all", accesses)

    def write_at(self, batch: Batch, accesses: Accesses, *, each: bool = False) -> None:
        del batch
        self._note("each_write" if each else "write", accesses)

    def read_at(self, batch: Batch, accesses: Accesses, *, each: bool = False) -> None:
        del batch
        self._note("each_read" if each else "read", accesses)

    def take(self) -> list[Call]:
        """Return the calls since the last time."""
        calls, self.calls = self.calls, []
        return calls

    def _note(self, name: str, accesses: Accesses) -> None:
        rows = np.stack(accesses, axis=1).tolist()
        self.calls.append(Call(name, tuple(tuple(row) for row in rows)))


def recorded_file(ranks: int) -> RecordedFile:
    """Return a file of so many ranks, all on one node."""
    return RecordedFile(Communicator(np.arange(ranks), np.zeros(ranks, np.int32), 0))


def empty_batch(ranks: int) -> Batch:
    """Return a batch of so many programs."""
    return Batch(np.arange(ranks))


def mpi() -> Mpi:
    """Return Theta's MPI library."""
    return load_machine("theta").mpi


def of_rank(call: Call, rank: int) -> list[tuple[int, int]]:
    """Return offset and length of the pieces of one rank."""
    return [(offset, length) for owner, offset, length in call.pieces if owner == rank]
