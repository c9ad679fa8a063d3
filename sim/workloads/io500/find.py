"""The find of IO500: pfind walks through all directories and looks at the names.

Its rules (pfind.c): whoever has a directory reads all its names, whoever has no work takes half of
another's. A file whose name does not match is counted and no more is done with it; of the others,
which any rank may get, the size and the time are asked for. Here the directories, and the files
that match, are dealt to the ranks in turn. The directory is closed by then, and the first name that
matches is hardly ever its first one: no statahead (xc40io.lustre.statahead).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from xc40io.engine.types import Integers
from xc40io.plane.operations import Op
from xc40io.workloads.job import Job, Waiting
from xc40io.workloads.listing import NAMES_A_REQUEST, add_reading


@dataclass(frozen=True, eq=False, kw_only=True)
class Folders:
    """Directories with files."""

    directories: Integers  # int64 (n,): their numbers as files
    names: Integers  # int64 (n,): how many names there are in each
    # int64 (m,): the files whose names match
    matching: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    files: int = 0  # how many files there are
    scale: float = 1.0  # how many times as many there are in the whole time


def has_01(numbers: npt.ArrayLike, *, padded: bool = False) -> npt.NDArray[np.bool_]:
    """Tell of whole numbers, int64 (n,), whether ``01`` stands in them as they are printed.

    ``padded``: with zeros in front.
    """
    left = np.asarray(numbers, np.int64)
    found = np.zeros(left.shape, np.bool_)
    while left.any():
        found |= (left % 100 == 1) & (padded | (left >= 100))
        left = left // 10
    return found


def matching_names(ranks: int, files: int) -> int:
    """Count the names ``file.mdtest.RANK.NUMBER`` with ``01``, of so many files of each rank."""
    of_rank = int(has_01(np.arange(ranks)).sum())
    of_file = int(has_01(np.arange(files)).sum())
    return of_rank * files + (ranks - of_rank) * of_file


def matching_items(ranks: int, files: int) -> npt.NDArray[np.bool_]:
    """Tell of the files of each rank whether their names match: bool (ranks, files)."""
    matching: npt.NDArray[np.bool_] = (
        has_01(np.arange(ranks))[:, None] | has_01(np.arange(files))[None, :]
    )
    return matching


@dataclass(frozen=True, kw_only=True)
class Pfind:
    """How pfind goes about it."""

    processes: int  # ranks that take part
    shares_directory: bool  # whether several may read one directory, each some of its names (-H 1)

    def run(self, job: Job, folders: list[Folders], label: str) -> Waiting:
        """Walk through directories: a part of a SimPy process."""
        batch = job.batch()
        directory = np.concatenate([each.directories for each in folders])
        names = np.concatenate([each.names for each in folders])
        if self.shares_directory:
            directory, names = self._shared(directory, names)
        for turn, (file, count) in enumerate(zip(directory, names, strict=True)):
            rank = np.array([turn % self.processes])
            add_reading(batch, rank, int(file), int(count), job.machine.nodes.name_time)
        matching = np.concatenate([each.matching for each in folders])
        order = np.argsort(np.arange(len(matching)) % self.processes, kind="stable")
        rank = (np.arange(len(matching)) % self.processes)[order]
        batch.add(Op.STAT, rank, file=matching[order])
        yield from job.do(batch, label)

    def _shared(self, directory: Integers, names: Integers) -> tuple[Integers, Integers]:
        """Return directories with more names than one request brings as parts of them."""
        parts = np.minimum(-(-names // NAMES_A_REQUEST), self.processes)
        part = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
        each, rest = np.divmod(np.repeat(names, parts), np.repeat(parts, parts))
        return np.repeat(directory, parts), each + (part < rest)
