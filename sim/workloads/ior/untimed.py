"""The calls that IOR makes outside its timers: they are recorded, and take no time here.

IOR looks whether the file is there before a test and before it writes, asks for its size after each
phase, and looks again before it removes it (ior.c). With POSIX each is a stat, and all ranks ask
for the size. Over MPI-IO rank 0, or with ``-F`` each rank, opens the file by itself for most of it;
ROMIO adds stats of its own, to find out on which file system a file is that is not there. As
recorded of IOR 4.1 over MPICH 4.0.2.
"""

from __future__ import annotations

from xc40io.engine.types import Integers
from xc40io.machine.filesystem import FileSystem
from xc40io.plane.operations import Op
from xc40io.workloads.ior.backend import Task
from xc40io.workloads.ior.parameters import Access, IorTest
from xc40io.workloads.job import Ranks

_PEEK = (Op.OPEN, Op.CLOSE)


class UntimedCalls:
    """The calls of one test that nobody times."""

    def __init__(self, filesystem: FileSystem, ranks: Ranks, test: IorTest) -> None:
        self._filesystem = filesystem
        self._ranks = ranks
        self._test = test
        self._posix = test.api in ("POSIX", "MMAP")
        self._is_first = True

    def before_write(self, file: Integers, *, old: bool) -> None:
        """Look whether the files, one a rank, are there, before they are written.

        Where MPI-IO finds no file, ROMIO looks for its folder instead of opening it.
        """
        looks = [*self._looks] if old or self._posix else [Op.STAT] * 3
        if self._test.use_existing_file:
            looks = []
        many = self._test.file_per_repetition and self._test.repetitions > 1
        if self._is_first and not many:
            looks.append(Op.STAT)
        self._is_first = False
        self._note(looks, self._watchers(file))

    def after(self, task: Task) -> None:
        """Ask how large the files are; nobody does after a check of what was written."""
        if task.access is Access.WRITE_CHECK:
            return
        if self._posix:
            self._note([Op.STAT], task.file)
        else:
            self._note(_PEEK, self._watchers(task.file))

    def before_removal(self, file: Integers) -> None:
        """Look whether the files are there, before they are removed."""
        self._note(self._looks, file)

    @property
    def _looks(self) -> list[Op]:
        """Return the calls that find out whether a file is there that is."""
        return [Op.STAT] if self._posix else [Op.STAT, *_PEEK]

    def _watchers(self, file: Integers) -> Integers:
        """Return the files of the ranks that look at one: the first, or all with their own."""
        return file if self._test.file_per_process else file[:1]

    def _note(self, kinds: list[Op] | tuple[Op, ...], file: Integers) -> None:
        """Note calls of the first ranks, each on its file."""
        if self._test.api == "DUMMY":
            return
        now = float(self._filesystem.environment.now)
        for kind in kinds:
            programs = self._ranks.programs[: len(file)]
            self._filesystem.plane.note_calls(programs, kind, file, now)
