"""The names that mdtest is about, in which order a rank turns to them, and what it does with each.

The directories of a tree are numbered level after level: the root is 0, the branches of directory
d are ``d * branches + 1`` and those that follow. Items are numbered directory after directory.
mdtest creates and removes by walking down the tree, depth first; it stats and reads by number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

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
    """The trees of directories in each test directory: one for all ranks, or one for each."""

    def __init__(
        self, filesystem: FileSystem, test: MdtestTest, trees: int, naming: NamesOfTrees
    ) -> None:
        self.count = trees  # how many there are in each
        self._below = below = test.tree_directories - 1
        every = trees * test.loops

        def name(tree: int, number: int) -> str:
            loop, tree = divmod(tree, trees)
            return naming.directory(tree, number, loop)

        # The roots of all ranks' trees stand in one directory; what is below is a rank's alone.
        self._root = filesystem.allocate_names(
            every, shared_directory=test.unique, name=lambda index: name(index, 0)
        )
        tree = np.repeat(np.arange(every), below)
        self._branch = self._root
        if below:
            self._branch = filesystem.allocate_names(
                len(tree),
                shared_directory=False,
                directories=tree,
                name=lambda index: name(index // below, index % below + 1),
            )

    def number(self, tree: Integers, directory: Integers) -> Integers:
        """Return the numbers of directories of trees, each counted from 0, as files.

        The trees of the next test directory follow those of the one before.
        """
        below = self._branch + tree * self._below + directory - 1
        numbers: Integers = np.where(directory == 0, self._root + tree, below)
        return numbers


class Items:
    """The files, or the directories, that the ranks make.

    The files are known under ``name``; without one the items are directories. ``first`` is the
    number of the first item as a file.
    """

    def __init__(
        self, job: Job, test: MdtestTest, ranks: int, naming: NamesOfTrees, name: str | None
    ) -> None:
        self.each = test.rank_items  # items of a rank that there is room for
        self._shared = test.shared_file and name is not None
        self._loops, self._of_loop = test.loops, test.each * test.item_directories
        owners = np.zeros(1, np.int64) if self._shared else np.arange(ranks)
        # With -u and -N mdtest makes the items of a rank in the tree of its neighbour.
        shared, place = not test.unique, np.repeat((owners + naming.stride) % ranks, self.each)
        if shared:  # they are dealt to the directories of the one tree
            place = np.tile(np.arange(self.each) % self._of_loop // test.each, len(owners))
        if name is None and len(place):  # each rank puts its first directory aside to rename
            self._aside = len(place)
            place = np.concatenate([place, place[:: self._of_loop]])
        if name is None or test.make_node or not len(place):
            self.first = job.filesystem.allocate_names(
                len(place),
                shared_directory=shared,
                directories=place,
                name=partial(self._name, naming) if name is None else naming.name,
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
        job.files[name] = made._replace(naming=naming)
        self.first = made.first

    def _name(self, naming: NamesOfTrees, index: int) -> str:
        """Return the name of a directory, or of one that is put aside."""
        if index < self._aside:
            return naming.name(index, "dir")
        return naming.name((index - self._aside) * self._of_loop, "dir") + "-XX"

    def renamed(self, rank: Integers) -> Integers:
        """Return the directories in the order in which ranks rename them: int64 (ranks, items).

        The first goes aside, each goes to the place before it, and the first to the last but one.
        """
        loop, item = np.arange(self._loops)[:, None], np.arange(self._of_loop)
        order = np.broadcast_to((loop * self._of_loop + item).ravel(), (len(rank), self.each))
        found = self.number(rank[:, None], order).reshape(len(rank), self._loops, self._of_loop)
        found[:, :, -1] = self.first + self._aside + rank[:, None] * self._loops + loop.T
        return found.reshape(len(rank), -1)

    def number(self, rank: Integers, item: Integers) -> Integers:
        """Return the numbers of items of ranks, each counted from 0, as files."""
        owner = np.zeros_like(rank) if self._shared else rank
        numbers: Integers = self.first + owner * self.each + item
        return numbers


def naming_of(test: MdtestTest, ranks: int, stride: int, iteration: int) -> NamesOfTrees:
    """Return the rule by which mdtest names its directories and files (mdtest.c, create_file).

    The items of each phase are shifted by ``stride`` ranks.
    """
    return NamesOfTrees(
        folders=tuple(f"{path}/test-dir.{iteration}" for path in test.paths),
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
    """The names in the test directories of an iteration, which so many ranks work on."""

    def __init__(
        self, filesystem: FileSystem, test: MdtestTest, tasks: int, naming: NamesOfTrees
    ) -> None:
        self.naming = naming
        self.trees = Trees(filesystem, test, tasks if test.unique else 1, naming)
        self.items: dict[str | None, Items] = {}  # by the name they are known under


@dataclass(frozen=True)
class Namespace:
    """What commands of mdtest have made."""

    names: dict[str, Names] = field(default_factory=dict)  # by the path of the test directory
    folders: dict[str, int] = field(default_factory=dict)  # their numbers, by their paths


def walk(test: MdtestTest, *, upwards: bool = False) -> Integers:
    """Return the directories of a tree, depth first: int64 (directories,).

    ``upwards``, each comes behind those that are in it.
    """
    order, stack, limit = [], [0], test.tree_directories
    while stack:
        directory = stack.pop()
        order.append(directory)
        first = directory * test.branches + 1
        if test.depth and first < limit:
            within = range(first, first + test.branches)
            stack.extend(within if upwards else reversed(within))
    return np.array(order[::-1] if upwards else order)


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
