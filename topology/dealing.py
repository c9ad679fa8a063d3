"""Dealing things out evenly, as one deals cards."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def turns(owner: NDArray[np.int32]) -> NDArray[np.int64]:
    """Say for each element whether it is its owner's first, second, third ...

    Parameters
    ----------
    owner : int32[n]
        Which set each element belongs to.

    Returns
    -------
    int64[n]
        How many elements before this one have the same owner.

    Examples
    --------
    >>> turns(np.array([7, 7, 2, 7, 2])).tolist()
    [0, 1, 0, 2, 1]
    """
    by_owner = np.argsort(owner, kind="stable")
    grouped = owner[by_owner]
    turn = np.empty(len(owner), dtype=np.int64)
    turn[by_owner] = np.arange(len(owner)) - np.searchsorted(grouped, grouped)
    return turn


def deal(order: NDArray[np.int64], owner: NDArray[np.int32]) -> NDArray[np.int64]:
    """Reorder ``order`` so that its owners take turns.

    Parameters
    ----------
    order : int64[m]
        Elements in an order of preference.
    owner : int32[n]
        Which set each possible element belongs to (indexed by element).

    Returns
    -------
    int64[m]
        First the preferred element of every owner, then the second of every owner, and so on.
        Within one turn the order of preference stands.
    """
    return order[np.argsort(turns(owner[order]), kind="stable")]
