"""A map from pairs of numbers to rows of a table: open addressing with linear probing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.engine.compiled import njit
from xc40io.engine.types import Indices, Integers

PAIR_BITS = 31
"""Bits of the second number of a pair."""

_EMPTY = -1
_MULTIPLIER = -7046029254386353131  # 2^64 / golden ratio, as a signed number: spreads the keys

_SHIFT = PAIR_BITS + 1
"""Low bits of a product that are left out: the first number of a pair has no part in them."""


class HashMap(NamedTuple):
    """``keys[i]`` maps to ``rows[i]``; the size is a power of two, ``used`` of it are taken."""

    keys: Integers
    rows: Indices
    used: Integers


def make_map(size: int) -> HashMap:
    """Return an empty map with room for ``size`` keys: at least twice the pairs to come."""
    room = 1 << (size - 1).bit_length()
    return HashMap(np.full(room, _EMPTY, np.int64), np.zeros(room, np.int32), np.zeros(1, np.int64))


def enlarge_map(table: HashMap, size: int) -> HashMap:
    """Return the same map with room for ``size`` keys: at least twice the pairs to come."""
    if size <= len(table.keys):
        return table
    larger = make_map(size)
    taken = np.flatnonzero(table.keys != _EMPTY)
    _fill(larger, table.keys[taken], table.rows[taken])
    return larger


def _fill(table: HashMap, keys: Integers, rows: Indices) -> None:
    """Give keys their rows in an empty map, all at once.

    They are put in by where their search begins: each comes there, or next to the one before it.
    """
    mask = len(table.keys) - 1
    home = ((keys * _MULTIPLIER) >> _SHIFT) & mask  # as `_home` says of one: products may overflow
    order = np.argsort(home, kind="stable")
    keys, rows, number = keys[order], rows[order], np.arange(len(keys))
    slot = np.maximum.accumulate(home[order] - number) + number
    within = slot <= mask
    table.keys[slot[within]] = keys[within]
    table.rows[slot[within]] = rows[within]
    table.used[0] = np.count_nonzero(within)
    for key, row in zip(keys[~within].tolist(), rows[~within].tolist(), strict=True):
        put(table, key, row)  # round the end


@njit
def pair_key(first: int, second: int) -> int:
    """Return the key of two numbers of at most 31 bits."""
    return (int(first) << PAIR_BITS) | int(second)


@njit
def _home(table: HashMap, key: int) -> int:
    """Return the slot where the search for a key begins."""
    return ((int(key) * _MULTIPLIER) >> _SHIFT) & (len(table.keys) - 1)


@njit
def _slot(table: HashMap, key: int) -> int:
    """Return where a key is, or the free slot where it would be."""
    mask = len(table.keys) - 1
    slot = _home(table, key)
    while table.keys[slot] != key and table.keys[slot] != _EMPTY:
        slot = (slot + 1) & mask
    return slot


def keys_with(table: HashMap, second: npt.NDArray[np.bool_]) -> Integers:
    """Return the keys of pairs by their second number: int64 (n,), in ascending order.

    ``second`` says of every such number whether its pairs are asked for.
    """
    keys = table.keys[table.keys != _EMPTY]
    found: Integers = np.sort(keys[second[keys & ((1 << PAIR_BITS) - 1)]])
    return found


@njit
def find(table: HashMap, key: int) -> int:
    """Return the row of a key; -1 when it has none."""
    slot = _slot(table, key)
    return table.rows[slot] if table.keys[slot] == key else -1


@njit
def put(table: HashMap, key: int, row: int) -> None:
    """Give a new key its row."""
    slot = _slot(table, key)
    table.keys[slot] = key
    table.rows[slot] = row
    table.used[0] += 1


@njit
def discard(table: HashMap, key: int) -> int:
    """Take a key out of the map; return its row, or -1 if it had none.

    The keys behind it move up, so that none stands behind a gap on its way from where it belongs
    (D. Knuth, The Art of Computer Programming 3, 6.4, algorithm R).
    """
    gap = _slot(table, key)
    if table.keys[gap] != key:
        return -1
    row = table.rows[gap]
    mask = len(table.keys) - 1
    at = (gap + 1) & mask
    while table.keys[at] != _EMPTY:
        home = _home(table, table.keys[at])
        if (at - home) & mask >= (at - gap) & mask:
            table.keys[gap] = table.keys[at]
            table.rows[gap] = table.rows[at]
            gap = at
        at = (at + 1) & mask
    table.keys[gap] = _EMPTY
    table.used[0] -= 1
    return row
