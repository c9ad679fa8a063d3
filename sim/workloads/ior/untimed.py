"""The calls that IOR makes outside its timers: they are recorded, and take no time here.

IOR looks whether the file is there before a test and before it writes, asks for its size after each
phase, and looks again before it removes it (ior.c). With POSIX each is a stat, and all ranks ask
for the size. Over MPI-IO rank 0, or with ``-F`` each rank, opens the file by itself for most of it,
and seeks its end; ROMIO adds stats of its own, to find out on which file system a file is that is
not there. As recorded of IOR 4.1 over MPICH 4.0.2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from xc40io.engine.types import Integers
from xc40io.machine.filesystem import FileSystem
from xc40io.plane.operations import Op
from xc40io.workloads.ior.backend import Task
from xc40io.workloads.ior.files import file_name
from xc40io.workloads.ior.parameters import Access, IorTest
from xc40io.workloads.job import Ranks


class UntimedCalls:
    """The calls of one test that nobody times."""

    def __init__(
        self,
        filesystem: FileSystem,
        ranks: Ranks,
        test: IorTest,
        opens: int,  # how often a rank opens a file that it opens
        folders: dict[str, int],  # of ``-u`` that are there: their numbers, by their names
    ) -> None:
        self._filesystem = filesystem
        self._folders = folders
        self._ranks = ranks
        self._test = test
        self._posix = test.api in ("POSIX", "MMAP")
        self._opens = opens
        self._is_first = True

    def before_write(self, file: Integers, *, old: bool) -> None:
        """Look whether the files, one a rank, are there, before they are written.

        Where MPI-IO finds no file, ROMIO looks for its folder instead of opening it.
        """
        looks = self._looks if old or self._posix else [Op.STAT] * 2
        if self._test.use_existing_file:
            looks = []
        own = np.arange(len(file))
        if self._is_first:
            self._name(own[:1])
            self._name(own)
            self._note([Op.STAT], self._without_repetition(self._watchers(file)))
        self._is_first = False
        self._name(own)
        self._note(looks, self._watchers(file))

    def before_read(self, owner: Integers) -> None:
        """Work out which file each rank reads: the one of so many that ``owner`` says."""
        if self._is_first:
            self._name(np.zeros(1, np.int64))
        self._is_first = False
        self._name(owner)

    def after(self, task: Task) -> None:
        """Ask how large the files are; nobody does after a check of what was written."""
        if task.access is Access.WRITE_CHECK:
            return
        if self._posix:
            self._note([Op.STAT], task.file)
        else:
            self._note(self._peek(Op.STAT), self._watchers(task.file))

    def before_removal(self, file: Integers) -> None:
        """Look whether the files are there, before they are removed."""
        self._note(self._looks, file)

    def _name(self, owner: Integers) -> None:
        """Let the first ranks work out the name of a file, one each.

        With ``-u`` IOR looks for its folder then, makes it if it is not there, and else looks
        whether it may read, write and enter it (ior.c, PrependDir).
        """
        test, folders = self._test, self._folders
        if not (test.unique_directory and test.file_per_process and self._posix):
            return
        names = [file_name(test, index, 0).rpartition("/")[0] for index in owner.tolist()]
        new = np.array([name not in folders for name in names])
        for name in names:
            if name not in folders:
                folders[name] = self._filesystem.allocate_names(1, name=name)
        folder, rank = np.array([folders[name] for name in names]), np.arange(len(names))
        self._note([Op.STAT], folder)
        self._note([Op.MKDIR], folder[new], rank[new])
        self._note([Op.STAT] * 3, folder[~new], rank[~new])

    def _without_repetition(self, file: Integers) -> Integers:
        """Return what IOR looks for at first: with ``-m``, names without a repetition's number."""
        if not self._test.file_per_repetition:
            return file
        plain = replace(self._test, file_per_repetition=False)
        names = [file_name(plain, rank, 0) for rank in range(len(file))]
        return np.array([self._filesystem.allocate_names(1, name=name) for name in names])

    @property
    def _looks(self) -> list[Op]:
        """Return the calls that find out whether a file is there that is."""
        return [Op.STAT] if self._posix else [Op.STAT, *self._peek()]

    def _peek(self, *between: Op) -> list[Op]:
        """Return the calls that open a file and close it again."""
        return [*[Op.OPEN] * self._opens, *between, *[Op.CLOSE] * self._opens]

    def _watchers(self, file: Integers) -> Integers:
        """Return the files of the ranks that look at one: the first, or all with their own."""
        return file if self._test.file_per_process else file[:1]

    def _note(self, kinds: list[Op], file: Integers, rank: Integers | None = None) -> None:
        """Note calls of ranks, the first ones unless they are said, each on its file."""
        if self._test.api == "DUMMY":
            return
        now = float(self._filesystem.environment.now)
        for kind in kinds:
            programs = self._ranks.programs[np.arange(len(file)) if rank is None else rank]
            self._filesystem.plane.note_calls(programs, kind, file, now)
