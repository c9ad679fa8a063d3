"""Many sorted lists over one set of rows: find, insert and remove in logarithmic time.

A skip list: every row is linked on level 0, about a quarter of them also on level 1, one in 16 on
level 2, a quarter of those on level 3, and so on. A search starts on the top level, goes right as
far as it may, and drops a level. How high a row reaches is a hash of its number, so that the same
run always builds the same lists. A row is in one list at a time; of equal keys in a list, the
earlier one is first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xc40io.engine.compiled import inlined, njit
from xc40io.engine.types import Indices, Integers, make_table, zeros

LEVELS = 8
"""Levels of a list; a quarter of the rows reach each next one, so 4**8 rows are served well."""

LOW = 2
"""Levels that every row may reach. Of `_BLOCK` rows one reaches more, and has its links apart."""

_BLOCK_BITS = 4
_BLOCK = 1 << _BLOCK_BITS

_WORD = 0xFFFF_FFFF


# A search looks at a row's key and, if that is small enough, at the row that follows: together in
# memory they cost one wait for it, not two.
_ROW = np.dtype([("key", "i8"), ("next", "i4", LOW)], align=True)


class SortedLists(NamedTuple):
    """The sorted lists."""

    # int32 (rows, LOW): the row that follows on each level on which a row is linked, or -1
    next: Indices
    upper: Indices  # int32 (blocks of rows, LEVELS - LOW): the same of the one that reaches higher
    # int32 (lists, LEVELS): 1 + the first row of each list on each level; 0: none
    heads: Indices
    keys: Integers  # int64 (rows,): what the lists are sorted by


def make_ordered(lists: int, rows: int) -> SortedLists:
    """Return empty lists over rows 0 to ``rows - 1``."""
    table = make_table(_ROW, rows)
    return SortedLists(table["next"], make_upper(rows), make_heads(lists), table["key"])


def make_heads(lists: int) -> Indices:
    """Return what empty lists begin with."""
    heads: Indices = zeros((lists, LEVELS), np.int32)
    return heads


def make_upper(rows: int) -> Indices:
    """Return the upper links of rows that are in no list."""
    upper: Indices = zeros(((rows + _BLOCK - 1) // _BLOCK, LEVELS - LOW), np.int32)
    return upper


def enlarge_ordered(ordered: SortedLists, lists: int, rows: int) -> SortedLists:
    """Return the same lists, with empty ones added up to ``lists`` and rows up to ``rows``."""
    larger = lists_beside(ordered, lists, ordered)
    if rows == len(ordered.next):
        return larger
    table, upper = make_table(_ROW, rows), make_upper(rows)
    table["next"][: len(ordered.next)] = ordered.next
    table["key"][: len(ordered.keys)] = ordered.keys
    upper[: len(ordered.upper)] = ordered.upper
    return SortedLists(table["next"], upper, larger.heads, table["key"])


def lists_beside(ordered: SortedLists, lists: int, known: SortedLists | None = None) -> SortedLists:
    """Return other lists over the rows of ``ordered``: a row is in one of either.

    They are empty, but for those that are ``known``: over the same rows before there were more.
    """
    heads = make_heads(lists)
    if known is not None:
        heads[: len(known.heads)] = known.heads
    return ordered._replace(heads=heads)


@inlined
def _hash(number: int) -> int:
    """Return 31 bits that tell little of a number below 2**31."""
    # Products of two 31-bit words stay within 63 bits, in compiled code and in Python alike.
    bits = ((int(number) + 1) * 0x1E35_A7BD) & _WORD
    bits = ((bits >> 15) ^ bits) & 0x7FFF_FFFF
    bits = (bits * 0x2545_F491) & _WORD
    return (bits ^ (bits >> 16)) & 0x7FFF_FFFF


@njit
def height_of(row: int) -> int:
    """Return on how many levels a row is linked: 1 for three of four, 2 for three of 16, ..."""
    bits = _hash(row >> _BLOCK_BITS)
    if (row ^ bits) & (_BLOCK - 1) != 0:
        return 2 if _hash(row) % 5 == 0 else 1
    bits >>= _BLOCK_BITS
    height = LOW + 1
    while height < LEVELS and bits & 3 == 0:
        height += 1
        bits >>= 2
    return height


@inlined
def _follower(ordered: SortedLists, row: int, level: int) -> int:
    """Return the row that follows another on a level."""
    if level < LOW:
        return ordered.next[row, level]
    return ordered.upper[row >> _BLOCK_BITS, level - LOW]


@njit
def _after(ordered: SortedLists, list_id: int, row: int, level: int) -> int:
    """Return the row that follows ``row`` on a level; row -1 stands before the first."""
    return ordered.heads[list_id, level] - 1 if row < 0 else _follower(ordered, row, level)


@inlined
def _set(ordered: SortedLists, row: int, level: int, follower: int) -> None:
    """Let a row be followed by another on a level."""
    if level < LOW:
        ordered.next[row, level] = follower
    else:
        ordered.upper[row >> _BLOCK_BITS, level - LOW] = follower


@njit
def _link(ordered: SortedLists, list_id: int, row: int, level: int, follower: int) -> None:
    """Link ``follower`` behind ``row`` on a level; row -1 stands before the first."""
    if row < 0:
        ordered.heads[list_id, level] = follower + 1
    else:
        _set(ordered, row, level, follower)


@njit
def _advance(ordered: SortedLists, list_id: int, row: int, level: int, key: int) -> int:
    """Go from ``row`` to the last row of a level whose key is at most ``key``."""
    follower = _after(ordered, list_id, row, level)
    while follower >= 0 and ordered.keys[follower] <= key:
        row = follower
        follower = _follower(ordered, row, level)
    return row


@njit
def insert(ordered: SortedLists, list_id: int, row: int, key: int) -> None:
    """Add a row to a list."""
    ordered.keys[row] = key
    height = height_of(row)
    before = -1
    for level in range(LEVELS - 1, -1, -1):
        before = _advance(ordered, list_id, before, level, key)
        if level < height:
            _set(ordered, row, level, _after(ordered, list_id, before, level))
            _link(ordered, list_id, before, level, row)


@njit
def remove(ordered: SortedLists, list_id: int, row: int) -> None:
    """Take a row out of the list that holds it."""
    smaller = ordered.keys[row] - 1
    height = height_of(row)
    before = -1
    for level in range(LEVELS - 1, -1, -1):
        before = _advance(ordered, list_id, before, level, smaller)
        if level < height:
            follower = _after(ordered, list_id, before, level)
            while follower != row:  # of the same key
                before = follower
                follower = _follower(ordered, before, level)
            _link(ordered, list_id, before, level, _follower(ordered, row, level))


@inlined
def empty(ordered: SortedLists, list_id: int) -> None:
    """Take all rows out of a list."""
    ordered.heads[list_id] = 0


@njit
def last_not_after(ordered: SortedLists, list_id: int, key: int) -> int:
    """Return the row with the largest key that is at most ``key``, or -1."""
    row = -1
    for level in range(LEVELS - 1, -1, -1):
        row = _advance(ordered, list_id, row, level, key)
    return row


@njit
def following(ordered: SortedLists, list_id: int, row: int) -> int:
    """Return the row that follows ``row`` in a list, or -1; the first one for row -1."""
    return _after(ordered, list_id, row, 0)
