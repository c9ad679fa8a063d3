"""Rings that are folded, so that no cable is longer than two places."""

from __future__ import annotations

import numpy as np

from xc40io.topology.arrays import Int64Array


def folded(place: Int64Array, extent: int) -> Int64Array:
    """Where the members of a folded ring stand: out over the even places, back over the odd ones.

    >>> folded(np.arange(5), 5).tolist()
    [0, 2, 4, 3, 1]
    """
    where: Int64Array = np.where(2 * place < extent, 2 * place, 2 * (extent - place) - 1)
    return where
