"""ADIOS 1: what ranks do to write one output, and the method POSIX.

``adios_open`` opens files, ``adios_write`` only copies data into a buffer of the rank, and
``adios_close`` does all the rest. With POSIX every rank writes a subfile of its own, and rank 0 an
index of everything into one more. The order of the steps is that of ADIOS 1.13
(src/write/adios_posix.c).

The index of the BP format says what is where; it is written behind the data and once more for all.
Every rank describes its own part, a *process group*: one entry for the group and one for each
variable. The entries of a variable from many ranks are merged into one list of *characteristics*,
one set for each process group (ADIOS developer's manual, "BP file format").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from xc40io.config.parts.mpi import Mpi
from xc40io.config.striping import StripeRequest
from xc40io.config.units import MIB
from xc40io.engine.types import Floats, Integers
from xc40io.libraries.adios_format import FOOTER, index_sizes
from xc40io.mpi.communicator import Collectives, Communicator
from xc40io.mpi.stats import Timer
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op

if TYPE_CHECKING:
    from xc40io.machine.filesystem import FileSet, FileSystem


GROUP_ENTRY = 39
"""Bytes of the entry of a process group in ADIOS 2: names, rank, time step, where it begins."""

_PUT_PIECES, _MERGE_PIECES = 23, 3


@dataclass(frozen=True)
class Variables:
    """The variables that a rank writes in a step.

    What they cost is measured with ADIOS 2.12, 383,760 variables and one core of a Xeon of 2023:
    1.34 us each to be put, into the data and the index, and 0.15 us for its entry of the index to
    be merged with others. A piece of a list takes 58 ns there (``mpi.piece_time``).
    """

    # how many there are; what is written of one variable for several steps of a simulation counts
    # as many times
    count: int
    entry: int | None = None  # bytes of each in the index; as in ADIOS 1.13 unless given

    @property
    def put_pieces(self) -> int:
        """As many pieces of a list take as long as putting all variables into a buffer."""
        return _PUT_PIECES * self.count

    @property
    def merge_pieces(self) -> int:
        """As many pieces of a list take as long as merging the entries of a process group."""
        return _MERGE_PIECES * (1 + self.count)

    def index_sizes(self, groups: Integers) -> Integers:
        """Return the bytes of indices of so many process groups, without the footers.

        ``groups`` is int64 (n,), and so are the bytes; the first index has the group of rank 0.
        """
        if self.entry is None:
            return index_sizes(self.count, groups)
        return groups * (GROUP_ENTRY + self.count * self.entry)


DEFAULT_STRIPING = StripeRequest(count=1, size=MIB)
"""Striping of the subfiles of MPI_AGGREGATE unless told otherwise, and of the global index."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Writers:
    """Who writes, where and what."""

    filesystem: FileSystem  # where the files are
    osts: int  # OSTs of the file system
    world: Communicator  # all ranks
    mpi: Mpi  # the MPI library
    striping: StripeRequest  # of the subfiles, as far as somebody asks for it
    variables: Variables  # what each rank writes; it makes up the index
    # the factor by which the buffer of a rank grows whenever it is full; None if it is as large as
    # need be from the start
    buffer_growth: float | None = None
    meetings: Callable[[int], Integers]  # makes so many new meetings: returns their numbers, int64

    @cached_property
    def costs(self) -> Collectives:
        """What collectives of all ranks cost."""
        return Collectives(self.mpi, self.world.nodes, self.world.size)

    @cached_property
    def entries(self) -> Integers:
        """Bytes of the index of each rank's own data: int64 (ranks,)."""
        return self.variables.index_sizes(np.ones(self.world.size, np.int64))

    def meet(self, batch: Batch, seconds: float, timer: Timer) -> None:
        """Add a collective of all ranks."""
        world = self.world
        meeting, count = world.meeting, world.size
        batch.add(
            Op.MEET, world.owners, meeting=meeting, members=count, seconds=seconds, timer=timer
        )

    def meet_in_groups(
        self, batch: Batch, of: Integers, size: Integers, meetings: Integers, seconds: Floats
    ) -> None:
        """Add a collective of the ranks of each group.

        ``of`` is the group of each rank; ``size``, ``meetings`` and ``seconds`` are those of each
        group: how many it has, where they meet, and what that takes.
        """
        batch.add(
            Op.MEET,
            self.world.owners,
            meeting=meetings[of],
            members=size[of],
            seconds=seconds[of],
            timer=Timer.AGGREGATE,
        )

    def fill_buffers(self, batch: Batch, size: Integers) -> None:
        """Copy what every rank writes into its buffer: ``adios_write``.

        A buffer that grows by a factor g, and is moved each time, is copied 1 / (g - 1) times in
        all (ADIOS 2, BPBase::ResizeBuffer, where g is BufferGrowthFactor).
        """
        copies = 1.0 + (0.0 if self.buffer_growth is None else 1 / (self.buffer_growth - 1))
        puts = self.variables.put_pieces * self.mpi.piece_time
        seconds = copies * size / self.mpi.copy_rate + puts
        batch.add(Op.WORK, self.world.owners, seconds=seconds)

    def merge_time(self, groups: int) -> float:
        """Return the seconds in which a rank merges the indices of so many process groups."""
        return groups * self.variables.merge_pieces * self.mpi.piece_time

    def write_global_index(self, batch: Batch, file: int, gathering: float) -> None:
        """Gather the indices at rank 0, in so many seconds, and write the global one."""
        ranks, first = self.world.size, self.world.owners[:1]
        length = self.variables.index_sizes(np.array([ranks])) + FOOTER
        seconds = gathering + self.merge_time(ranks)
        batch.add(Op.WORK, first, seconds=seconds, timer=Timer.AGGREGATE)
        write_once(batch, first, np.array([file]), np.array([0]), length, Timer.METADATA)


class Method(Protocol):
    """A way of ADIOS to write an output. The next one begins when the last one has ended."""

    def begin(self, step: int) -> dict[str, FileSet]:
        """Make the files of the output of a step; return them by name."""
        ...

    def helped(self) -> Integers | None:
        """Return the ranks that need a helper thread: int64; None if there are none."""

    def open(self, batch: Batch) -> None:
        """Add ``adios_open`` to a batch in which rank r has position r."""

    def write(self, batch: Batch, size: Integers) -> None:
        """Add ``adios_write``, in which each rank writes ``size`` bytes: int64 (ranks,)."""

    def close(self, batch: Batch, size: Integers) -> None:
        """Add ``adios_close``."""


class Posix:
    """The method POSIX: a subfile for each rank."""

    def __init__(self, writers: Writers) -> None:
        self._writers = writers

    def begin(self, step: int) -> dict[str, FileSet]:
        """Make the files of the output of a step; return them by name."""
        ...
        filesystem, striping = self._writers.filesystem, self._writers.striping
        self._index = filesystem.allocate(1, striping)
        self._files = filesystem.allocate(self._writers.world.size, striping)
        self._folder = filesystem.allocate_names(1, name=f"bp.dir.{step}")
        return {"bp": self._index, "bp.dir/bp": self._files}

    def helped(self) -> Integers | None:
        """Return no ranks: nobody needs a helper thread."""
        return None

    @property
    def _file(self) -> Integers:
        return self._files.first + np.arange(self._writers.world.size)

    def open(self, batch: Batch) -> None:
        """Rank 0 makes the directory; all create their files in it."""
        writers, every = self._writers, self._writers.world.owners
        batch.add(Op.MKDIR, every[:1], file=self._folder, timer=Timer.OPEN)
        writers.meet(batch, writers.costs.barrier(), Timer.OPEN)
        batch.add(Op.CREATE, every, file=self._file, timer=Timer.OPEN)
        batch.add(Op.CREATE, every[:1], file=self._index.first, timer=Timer.OPEN)

    def write(self, batch: Batch, size: Integers) -> None:
        """Copy what is written into buffers."""
        self._writers.fill_buffers(batch, size)

    def close(self, batch: Batch, size: Integers) -> None:
        """All write their data; rank 0 gathers and writes the index of all; all write their own."""
        writers, every = self._writers, self._writers.world.owners
        write_once(batch, every, self._file, np.zeros_like(size), size, Timer.RAW_WRITE)
        writers.meet(batch, writers.costs.gather(4), Timer.AGGREGATE)
        gathering = writers.costs.gatherv(int(writers.entries[1:].sum()))
        writers.write_global_index(batch, self._index.first, gathering)
        batch.add(Op.CLOSE, every[:1], file=self._index.first)
        write_once(batch, every, self._file, size, writers.entries + FOOTER, Timer.RAW_WRITE)
        batch.add(Op.CLOSE, every, file=self._file)


def write_once(
    batch: Batch, owner: Integers, file: Integers, offset: Integers, length: Integers, timer: Timer
) -> None:
    """Add one write of each program."""
    batch.add(
        Op.WRITE,
        owner,
        file=file,
        offset=offset,
        length=length,
        stride=length,
        count=1,
        timer=timer,
    )
