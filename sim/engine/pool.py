"""Pools: which rows of a table are free to be taken."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sim.engine.jit import inlined
from sim.engine.types import Indices, Integers


class Pool(NamedTuple):
    """Stack of free row numbers: ``rows[: left[0]]`` are free."""

    rows: Indices
    left: Integers


def make_pool(size: int) -> Pool:
    """Return a pool in which rows 0 to ``size - 1`` are free; 0 is handed out first."""
    return Pool(np.arange(size - 1, -1, -1, dtype=np.int32), np.array([size], np.int64))


def enlarge_pool(pool: Pool, size: int) -> Pool:
    """Return the pool with rows up to ``size - 1`` added; rows in use stay in use."""
    old = len(pool.rows)
    free = pool.rows[: pool.left[0]]
    rows = np.zeros(size, np.int32)
    added = size - old
    rows[:added] = np.arange(size - 1, old - 1, -1)
    rows[added : added + len(free)] = free
    return Pool(rows, np.array([added + len(free)], np.int64))


@inlined
def take(pool: Pool) -> int:
    """Take a free row; the caller has made sure that there is one."""
    pool.left[0] -= 1
    return pool.rows[pool.left[0]]


@inlined
def give(pool: Pool, row: int) -> None:
    """Return a row that is no longer in use."""
    pool.rows[pool.left[0]] = row
    pool.left[0] += 1
