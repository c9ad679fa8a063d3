"""The calls that mdtest makes outside its timers: they are recorded, and take no time here.

mdtest looks whether the folders of ``-d`` and its test directories are there, makes those that are
not, and removes them at the end (mdtest.c, mdtest_run and mdtest_iteration). The first ranks do it,
one for each path.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xc40io.plane.operations import Op
from xc40io.workloads.job import Job
from xc40io.workloads.mdtest.parameters import MdtestTest


class UntimedCalls:
    """The calls of one command that nobody times.

    ``folders`` are the numbers of those that are there, by their paths. What a command is not to
    create an earlier one has left.
    """

    def __init__(self, job: Job, test: MdtestTest, folders: dict[str, int]) -> None:
        self._job = job
        self._test = test
        self._folders = folders
        self._made: list[str | None] = []  # what each of the first ranks has made

    def begin(self) -> None:
        """Make the folders that mdtest is to work in."""
        self._made = self._look(self._test.paths)

    def before(self, iteration: int) -> None:
        """Make the test directories."""
        if self._test.create:
            for paths in self._test_directories(iteration):
                self._look(paths)

    def after(self, iteration: int) -> None:
        """Remove the test directories."""
        if self._test.remove:
            for paths in self._test_directories(iteration):
                self._note(Op.STAT, paths)
                self._remove(paths)

    def end(self) -> None:
        """Remove the folders that were made."""
        if self._test.remove:
            self._remove(self._made)

    def _test_directories(self, iteration: int) -> list[list[str]]:
        """Return those of each loop, one for each path."""
        return [
            [f"{path}/test-dir.{iteration}-{loop}" for path in self._test.paths]
            for loop in range(self._test.loops)
        ]

    def _look(self, paths: Sequence[str]) -> list[str | None]:
        """Let each of the first ranks look for a folder, and make it; return what is new."""
        make = self._test.create
        new = [path if make and path not in self._folders else None for path in paths]
        self._note(Op.STAT, paths)
        self._note(Op.MKDIR, new)
        return new

    def _remove(self, paths: Sequence[str | None]) -> None:
        self._note(Op.UNLINK, paths)
        for path in paths:
            self._folders.pop(path or "", None)

    def _note(self, kind: Op, paths: Sequence[str | None]) -> None:
        """Note calls of the first ranks, each on its folder if it has one."""
        filesystem, folders = self._job.filesystem, self._folders
        now = float(filesystem.environment.now)
        for rank, path in enumerate(paths):
            if path is None:
                continue
            if path not in folders:
                folders[path] = filesystem.allocate_names(1, name=path)
            program = self._job.programs[rank : rank + 1]
            filesystem.plane.note_calls(program, kind, np.array([folders[path]]), now)
