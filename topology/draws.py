"""Random integers for pairs of routers that do not depend on what else is drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xc40io.topology.arrays import Int64Array


class Draws:
    """Random integers for pairs of routers, each a hash of seed, pair and purpose.

    Parameters
    ----------
    seed : int
        Another seed gives other numbers.
    source, target : int64[P]
        Routers.
    """

    def __init__(self, seed: int, source: Int64Array, target: Int64Array) -> None:
        pair = source.astype(np.uint64) << np.uint64(32) | target.astype(np.uint64)
        whole_seed = np.array([seed % 2**64], dtype=np.uint64)
        self._state = _scramble(_scramble(whole_seed) ^ pair)

    def __call__(self, *purpose: int) -> Int64Array:
        """Draw int64[P] from 0 to 2**63 - 1; another purpose gives independent numbers."""
        state = self._state
        for part in purpose:
            state = _scramble(state + np.uint64((part + 1) * 0x9E3779B97F4A7C15 % 2**64))
        return (state >> np.uint64(1)).astype(np.int64)


def _scramble(number: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix 64 bits thoroughly: the finaliser of Steele, Lea and Flood's SplitMix64 (2014)."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))
