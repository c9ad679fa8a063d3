"""What one item is in a phase: the operations that a rank does with it, one after the other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sim.engine.types import Integers
from sim.plane.batch import Batch
from sim.plane.operations import Op, mix_operations
from sim.workloads.mdtest.parameters import MdtestTest, Operation

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
    """The operations of each item, all on one file.

    Attributes
    ----------
    kinds
        Which, in order; none stands there twice.
    columns
        What they have besides the file, by kind.
    """

    kinds: tuple[Op, ...]
    columns: dict[Op, dict[str, Any]]

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

    Parameters
    ----------
    batch
        Of all ranks.
    rank, file
        int64 (items,): who does it, and with which file; those of a rank in order.
    steps
        What is done.
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
