"""Where the items of a rank lie, and in which order they are turned to.

The directories of a tree are numbered level after level: the root is 0, the branches of directory
d are ``d * branches + 1`` and those that follow. Items are numbered directory after directory.
mdtest creates and removes by walking down the tree, depth first; it stats and reads by number.
"""

from __future__ import annotations

import numpy as np

from sim.engine.randomness import stream
from sim.engine.types import Integers
from sim.workloads.mdtest.parameters import MdtestTest


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

    Parameters
    ----------
    test
        Says whether that is by number or at random.
    ranks, items
        How many ranks there are, and items of each.
    seed
        Of the scenario: it draws, unless the command has a seed of its own.

    Returns
    -------
    numpy.ndarray
        int64 (ranks, items), from 0.
    """
    order = np.tile(np.arange(items), (ranks, 1))
    if not test.shuffles:
        return order
    draws = stream(test.random_seed or seed, "mdtest random order")
    shuffled: Integers = draws.permuted(order, axis=1)
    return shuffled
