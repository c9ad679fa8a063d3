"""The names that mdtest is about, in which order a rank turns to them, and what it does with each.

The directories of a tree are numbered level after level: the root is 0, the branches of directory
d are ``d * branches + 1`` and those that follow. Items are numbered directory after directory.
mdtest creates and removes by walking down the tree, depth first; it stats and reads by number.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from xc40io.config.file_names import NamesOfTrees
from xc40io.engine.randomness import stream
from xc40io.engine.types import Integers
from xc40io.machine.filesystem import FileSystem
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op, mix_operations
from xc40io.workloads.job import Job
from xc40io.workloads.mdtest.checks import striping_of
from xc40io.workloads.mdtest.parameters import MdtestTest, Operation


class Trees:
    """The trees of directories: one for all ranks, or one for each."""

    def __init__(self, filesystem: FileSystem, test: MdtestTest, trees: int) -> None:
        self.count = trees  # how many there are
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

    The items of each phase are shifted by ``stride`` ranks. The files are known under ``name``;
    without one the items are directories. ``first`` is the number of the first item as a file.
    """

    def __init__(
        self, job: Job, test: MdtestTest, ranks: int, stride: int, name: str | None
    ) -> None:
        self.each = test.rank_items  # items of a rank that there is room for
        self._shared = test.shared_file and name is not None
        owners = np.zeros(1, np.int64) if self._shared else np.arange(ranks)
        # With -u and -N mdtest makes the items of a rank in the tree of its neighbour.
        shared, place = not test.unique, np.repeat((owners + stride) % ranks, self.each)
        if shared:  # they are dealt to the directories of the one tree
            of_loop = test.each * test.item_directories
            place = np.tile(np.arange(self.each) % of_loop // test.each, len(owners))
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
        job.files[name] = made._replace(naming=_naming(test, ranks, stride, name))
        self.first = made.first

    def number(self, rank: Integers, item: Integers) -> Integers:
        """Return the numbers of items of ranks, each counted from 0, as files."""
        owner = np.zeros_like(rank) if self._shared else rank
        numbers: Integers = self.first + owner * self.each + item
        return numbers


def _naming(test: MdtestTest, ranks: int, stride: int, name: str) -> NamesOfTrees:
    """Return the rule by which mdtest names its files (mdtest.c, create_file).

    ``name`` is that of all files in the first of the test's directories.
    """
    folder = name.rpartition("/")[0].rpartition("/")[2].rpartition("-")[0]
    return NamesOfTrees(
        folders=tuple(f"{path}/{folder}" for path in test.paths),
        ranks=ranks,
        each=test.each,
        first_directory=test.tree_directories - test.item_directories,
        directories=test.item_directories,
        loops=test.loops,
        branches=test.branches,
        own_trees=test.unique,
        stride=stride,
        shared=test.shared_file,
    )


class Names:
    """The names in one test directory of mdtest, which so many ranks work on."""

    def __init__(self, filesystem: FileSystem, test: MdtestTest, tasks: int) -> None:
        self.trees = Trees(filesystem, test, tasks if test.unique else 1)
        self.items: dict[str | None, Items] = {}  # by the name they are known under


Namespace: TypeAlias = dict[str, Names]
"""What mdtest has made, by the path of the test directory."""


def walk(test: MdtestTest) -> Integers:
    """Return the directories of a tree, depth first: int64 (directories,)."""
    order, stack, limit = [], [0], test.tree_directories
    while stack:
        directory = stack.pop()
        order.append(directory)
        first = directory * test.branches + 1
        if test.depth and first < limit:
            stack.extend(range(first + test.branches - 1, first - 1, -1))
    return np.array(order)


def walked_items(test: MdtestTest) -> Integers:
    """Return the items of a rank in the order in which it makes them: int64 (items,), from 0."""
    directories = walk(test) - (test.tree_directories - test.item_directories)
    directories = directories[directories >= 0]
    inside = (directories[:, None] * test.each + np.arange(test.each)).ravel()
    loop = np.arange(test.loops) * test.each * test.item_directories
    order: Integers = (loop[:, None] + inside).ravel()
    return order


def ordered_items(test: MdtestTest, ranks: int, items: int, seed: int) -> Integers:
    """Return the items of each rank in the order in which it stats or reads them.

    That is by number or at random; the seed draws, unless the command has one of its own. The
    result is int64 (ranks, items), from 0.
    """
    order = np.tile(np.arange(items), (ranks, 1))
    if not test.shuffles:
        return order
    draws = stream(test.random_seed or seed, "mdtest random order")
    shuffled: Integers = draws.permuted(order, axis=1)
    return shuffled


OF_NAMES = {
    Operation.TREE_CREATION: Op.MKDIR,
    Operation.DIRECTORY_CREATION: Op.MKDIR,
    Operation.DIRECTORY_STAT: Op.STAT,
    Operation.DIRECTORY_RENAME: Op.RENAME,
    Operation.DIRECTORY_REMOVAL: Op.UNLINK,
    Operation.FILE_STAT: Op.STAT,
    Operation.FILE_REMOVAL: Op.UNLINK,
    Operation.TREE_REMOVAL: Op.UNLINK,
}
"""The phases in which a rank does one thing with each name."""


class Steps(NamedTuple):
    """The operations of each item, all on one file."""

    kinds: tuple[Op, ...]  # which, in order; none stands there twice
    columns: dict[Op, dict[str, Any]]  # what they have besides the file, by kind

    @property
    def calls(self) -> int:
        """Reads and writes of an item."""
        return sum(kind in (Op.READ, Op.WRITE) for kind in self.kinds)


def name_steps(operation: Operation) -> Steps:
    """Return what a phase does with each name."""
    return Steps((OF_NAMES[operation],), {})


def create_steps(test: MdtestTest, opening: Op = Op.CREATE) -> Steps:
    """Return how a file is made: opened so that it is there, written if asked for, and closed.

    A node that ``mknod`` makes is a name as a directory's is: its objects come when it is opened.
    """
    if test.make_node:
        return Steps((Op.MKDIR,), {})
    kinds, columns = [opening], {}
    if test.write_bytes:
        kinds.append(Op.WRITE)
        columns[Op.WRITE] = _one_call(test.write_bytes)
        if test.sync_file:
            kinds.append(Op.FSYNC)
        if test.verify_write:
            kinds.append(Op.READ)
            columns[Op.READ] = _one_call(test.write_bytes)
    return Steps((*kinds, Op.CLOSE), columns)


def read_steps(test: MdtestTest) -> Steps:
    """Return how a file is read: opened, read from its beginning, and closed."""
    if not test.read_bytes:
        return Steps((Op.OPEN, Op.CLOSE), {})
    return Steps((Op.OPEN, Op.READ, Op.CLOSE), {Op.READ: _one_call(test.read_bytes)})


def _one_call(size: int) -> dict[str, Any]:
    return {"length": size, "stride": size, "count": 1}


def add_steps(batch: Batch, rank: Integers, file: Integers, steps: Steps) -> None:
    """Let ranks do the steps with files, one file after the other.

    ``rank`` and ``file`` are int64 (items,), the items of a rank in order.
    """
    count = len(steps.kinds)
    kind = np.tile(np.array(steps.kinds, np.int64), len(file))
    files = np.repeat(file, count)
    columns = {one: {"file": files, **steps.columns.get(one, {})} for one in steps.kinds}
    batch.add_operations(mix_operations(kind, columns), np.repeat(rank, count))


def add_steps_until(
    batch: Batch, rank: Integers, file: Integers, steps: Steps, *, mark: int, seconds: float
) -> None:
    """Let ranks do the steps with files until so many seconds have passed since a mark.

    Who has begun an item ends it. The calls of a program then count its items, too.
    """
    count = 1 + len(steps.kinds)
    items = np.bincount(rank)
    done = np.concatenate([np.arange(n) for n in items])
    rest = (items[rank] - done) * count - 1
    begins = {"mark": mark, "seconds": seconds, "count": np.repeat(rest, count)}
    kind = np.tile(np.array([Op.ITEM, *steps.kinds], np.int64), len(file))
    files = np.repeat(file, count)
    columns: dict[Op, dict[str, Any]] = {Op.ITEM: begins}
    columns |= {one: {"file": files, **steps.columns.get(one, {})} for one in steps.kinds}
    batch.add_operations(mix_operations(kind, columns), np.repeat(rank, count))
