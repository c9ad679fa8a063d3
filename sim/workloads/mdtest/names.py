"""The names that one iteration of mdtest is about: trees of directories, and items in them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from sim.engine.types import Integers
from sim.machine.filesystem import FileSystem
from sim.workloads.job import Job
from sim.workloads.mdtest.checks import striping_of
from sim.workloads.mdtest.parameters import MdtestTest


class Trees:
    """The trees of directories: one for all ranks, or one for each.

    Parameters
    ----------
    filesystem
        Where they are.
    test
        Says how they look.
    trees
        How many there are.

    Attributes
    ----------
    count
        How many there are.
    """

    def __init__(self, filesystem: FileSystem, test: MdtestTest, trees: int) -> None:
        self.count = trees
        self._below = test.tree_directories - 1
        # The roots of all ranks' trees stand in one directory; what is below is a rank's alone.
        self._root = filesystem.allocate_names(trees, shared_directory=test.unique)
        tree = np.repeat(np.arange(trees), self._below)
        self._branch = self._root
        if self._below:
            self._branch = filesystem.allocate_names(
                len(tree), shared_directory=False, directories=tree
            )

    def number(self, tree: Integers, directory: Integers) -> Integers:
        """Return the numbers of directories of trees, each counted from 0, as files."""
        below = self._branch + tree * self._below + directory - 1
        numbers: Integers = np.where(directory == 0, self._root + tree, below)
        return numbers


class Items:
    """The files, or the directories, that the ranks make.

    Parameters
    ----------
    job, test
        Where, and what.
    ranks, stride
        How many ranks take part, and by how many the items of each phase are shifted.
    name
        Under which the files are known; None: the items are directories.

    Attributes
    ----------
    each
        Items of a rank that there are room for.
    first
        The number of the first as a file.
    """

    def __init__(
        self, job: Job, test: MdtestTest, ranks: int, stride: int, name: str | None
    ) -> None:
        self.each = test.rank_items
        self._shared = test.shared_file and name is not None
        owners = np.zeros(1, np.int64) if self._shared else np.arange(ranks)
        # With -u and -N mdtest makes the items of a rank in the tree of its neighbour.
        shared, place = not test.unique, np.repeat((owners + stride) % ranks, self.each)
        if name is None or test.make_node or not len(place):
            self.first = job.filesystem.allocate_names(
                len(place), shared_directory=shared, directories=place
            )
            return
        size = 0 if test.create else max(test.write_bytes, test.read_bytes)
        made = job.filesystem.allocate(
            len(place),
            striping_of(test, job.striping),
            size=size,
            direct=test.direct_io,
            shared_directory=shared,
            directories=place,
        )
        job.files[name] = made
        self.first = made.first

    def number(self, rank: Integers, item: Integers) -> Integers:
        """Return the numbers of items of ranks, each counted from 0, as files."""
        owner = np.zeros_like(rank) if self._shared else rank
        numbers: Integers = self.first + owner * self.each + item
        return numbers


class Names:
    """The names in one test directory of mdtest.

    Parameters
    ----------
    filesystem
        Where they are.
    test
        Says how the trees look.
    tasks
        How many ranks take part.

    Attributes
    ----------
    trees
        The directories.
    items
        The items so far, by the name under which they are known; None: directories.
    """

    def __init__(self, filesystem: FileSystem, test: MdtestTest, tasks: int) -> None:
        self.trees = Trees(filesystem, test, tasks if test.unique else 1)
        self.items: dict[str | None, Items] = {}


Namespace: TypeAlias = dict[str, Names]
"""What mdtest has made, by the path of the test directory."""
