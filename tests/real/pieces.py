"""Pieces of a file that ranks read and write through MPI-IO: the model's side of ``rig/pieces.c``.

IOR's ranks all do alike. This program has them read and write any pieces, with holes, and over each
other's, by a line such as ``pieces FILE write-all 0,3,100,1000,500,3,4000``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from pydantic import Field

from xc40io.mpi.accesses import Accesses
from xc40io.mpi.file import MpiFile
from xc40io.mpi.hints import resolve
from xc40io.workloads.kernels.kernel import Kernel
from xc40io.workloads.kernels.shared_file import SharedFile
from xc40io.workloads.known_kernels import PythonKernel

if TYPE_CHECKING:
    from xc40io.plane.batch import Batch
    from xc40io.workloads.job import Job, Waiting


class Run(NamedTuple):
    """Pieces of some ranks, each with the same number of them."""

    # first, last: the ranks
    first: int
    last: int
    # offset, step: where the first piece of the first rank begins, and how far that of the next
    # rank is from there, in bytes
    offset: int
    step: int
    # length, count, stride: bytes of a piece, how many a rank has, bytes from one to the next
    length: int
    count: int
    stride: int

    @property
    def end(self) -> int:
        """Return where the last of its pieces ends."""
        before = (self.last - self.first) * self.step + (self.count - 1) * self.stride
        return self.offset + before + self.length


class Together(NamedTuple):
    """One call of every rank."""

    name: str  # `write-all`, `read-all`, `write` or `read`
    runs: tuple[Run, ...]

    def accesses(self, ranks: int) -> Accesses:
        """Return the pieces of all ranks, sorted by rank and place."""
        rows = sorted(
            (rank, run.offset + (rank - run.first) * run.step + piece * run.stride, run.length)
            for rank in range(ranks)
            for run in self.runs
            if run.first <= rank <= run.last
            for piece in range(run.count)
        )
        rank, offset, length = np.array(rows, np.int64).reshape(-1, 3).T
        return Accesses(rank.copy(), offset.copy(), length.copy())


def size_of(line: str) -> int | None:
    """Return the size that a line gives its file before the first call, if it does."""
    found = re.search(r" size=(\d+)", line)
    return int(found[1]) if found else None


def calls_of(line: str) -> Iterator[Together]:
    """Read the calls of a line, behind the name of the file and its size."""
    name, runs = "", list[Run]()
    for word in line.split()[1:]:
        if "=" in word:
            continue
        if word[0].isdigit():
            runs.append(Run(*map(int, word.split(","))))
            continue
        if name:
            yield Together(name, tuple(runs))
        name, runs = word, []
    yield Together(name, tuple(runs))


class Pieces(Kernel):
    """The program, as a kernel."""

    name: ClassVar[str] = "pieces"

    line: str = Field(description="File and calls.")
    hints: dict[str, str] = Field(description="Hints that the program gives.")

    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes of all calls."""
        return sum(call.accesses(ranks).bytes for call in calls_of(self.line))

    def run(self, job: Job) -> Waiting:
        """Open, read and write, close."""
        name = self.line.split()[0]
        in_force = resolve(
            job.environment,
            file_name=name,
            program=self.hints,
            striping=job.striping,
            machine=job.machine,
        )
        file = SharedFile(job, name, in_force).mpi
        batch = job.batch()
        file.open(batch, create=True)
        size = size_of(self.line)
        if size is not None:
            file.set_size(batch, size)
        yield from job.do(batch, "metadata")
        for call in calls_of(self.line):
            accesses = call.accesses(job.ranks)
            together = call.name.endswith("-all")
            for part in [accesses] if together else _rank_by_rank(accesses):
                batch = job.batch()
                _move(file, batch, call.name, part)
                yield from job.do(batch, "write" if call.name.startswith("write") else "read")
        batch = job.batch()
        file.close(batch)
        yield from job.do(batch, "metadata")


def _rank_by_rank(accesses: Accesses) -> Iterator[Accesses]:
    for rank in np.unique(accesses.rank):
        yield Accesses(*(column[accesses.rank == rank] for column in accesses))


def _move(file: MpiFile, batch: Batch, call: str, accesses: Accesses) -> None:
    {
        "write-all": file.write_at_all,
        "read-all": file.read_at_all,
        "write": file.write_at,
        "read": file.read_at,
    }[call](batch, accesses)


WRITTEN = PythonKernel("pieces:Pieces", "Any pieces of a file, through MPI-IO.")
