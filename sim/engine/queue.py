"""Queues of rows: who came first goes first.

A queue is a field of some record and knows its first and its last row; the rows themselves, of any
table with a column ``next``, know who follows them. A row is in one queue at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xc40io.engine.compiled import njit
from xc40io.engine.types import Table

QUEUE = np.dtype([("head", "i4"), ("tail", "i4")], align=True)

LINK = np.dtype(  # a row's neighbours in a list that it may leave from anywhere
    [("previous", "i4"), ("next", "i4")], align=True
)

TURN = np.dtype(  # something that one row, or so many, have at a time, and those that wait for it
    [("taken", "i4"), ("waiting", QUEUE)], align=True
)

EMPTY = (-1, -1)
"""A queue in which nobody waits."""

UNTAKEN = (0, EMPTY)
"""A turn that nobody has, nor waits for."""


def clear_all(queues: Table) -> None:
    """Empty the queues of a column of a table."""
    queues["head"] = queues["tail"] = -1


@njit
def clear(queue: Any) -> None:
    """Empty a queue."""
    queue.head = -1
    queue.tail = -1


@njit
def join(queue: Any, table: Table, row: int) -> None:
    """Put a row at the end of a queue."""
    table[row].next = -1
    if queue.head < 0:
        queue.head = row
    else:
        table[queue.tail].next = row
    queue.tail = row


@njit
def leave(queue: Any, table: Table, row: int, previous: int) -> None:
    """Remove a row from a queue; ``previous`` is the row before it, or -1."""
    after = table[row].next
    if previous < 0:
        queue.head = after
    else:
        table[previous].next = after
    if queue.tail == row:
        queue.tail = previous


@njit
def pop(queue: Any, table: Table) -> int:
    """Take the first row out of a queue and return it; -1 if there is none."""
    row = queue.head
    if row >= 0:
        queue.head = table[row].next  # the tail of an empty queue is never looked at
    return row


@njit
def length(queue: Any, table: Table) -> int:
    """Return how many rows are in a queue."""
    count = 0
    row = queue.head
    while row >= 0:
        count += 1
        row = table[row].next
    return count


@njit
def take_turn(turn: Any, table: Table, row: int) -> bool:
    """Take a turn for a row; if another has it, enqueue the row and say False."""
    return take_one_of(turn, 1, table, row)


@njit
def take_one_of(turn: Any, turns: int, table: Table, row: int) -> bool:
    """Take one of so many turns for a row; if others have all, enqueue the row and say False."""
    if turn.taken < turns:
        turn.taken += 1
        return True
    join(turn.waiting, table, row)
    return False


@njit
def pass_turn(turn: Any, table: Table) -> int:
    """Give up a turn; return the row that has it now, -1 if nobody waits."""
    heir = pop(turn.waiting, table)
    if heir < 0:
        turn.taken -= 1
    return heir


@njit
def append(queue: Any, links: Table, row: int) -> None:
    """Put a row at the end of a doubly linked list; ``links`` are the ``LINK`` of every row."""
    links[row].previous = queue.tail
    links[row].next = -1
    if queue.tail < 0:
        queue.head = row
    else:
        links[queue.tail].next = row
    queue.tail = row


@njit
def unlink(queue: Any, links: Table, row: int) -> None:
    """Take a row out of a doubly linked list, wherever in it it is."""
    link = links[row]
    if link.previous < 0:
        queue.head = link.next
    else:
        links[link.previous].next = link.next
    if link.next < 0:
        queue.tail = link.previous
    else:
        links[link.next].previous = link.previous
