"""Whose each element of an array is that ranks share: NumPy's own slices say it."""

from __future__ import annotations

from math import prod

import numpy as np

from xc40io.engine.types import Integers
from xc40io.workloads.skeleton.blocks import Grid


def owners(grid: Grid) -> Integers:
    """Whose each element is, by NumPy's own slices: the rank's position in its file."""
    owner = np.empty(grid.dims, np.int64)
    numbers = np.arange(prod(grid.ranks)).reshape(grid.ranks, order="F" if grid.turned else "C")
    for cell in np.ndindex(*grid.ranks):
        sides = zip(cell, grid.dims, grid.ranks, strict=True)
        owner[tuple(slice(at * n // parts, (at + 1) * n // parts) for at, n, parts in sides)] = (
            numbers[cell]
        )
    return owner
