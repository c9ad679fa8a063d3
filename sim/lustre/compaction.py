"""Forgetting what is over: operations that are done, transfers between ranks that have ended.

A batch is entered while other programs are at work, so that tables only grow. Every now and then
what nobody will look at again is dropped, and what refers to the rest is told its new number.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sim.engine.types import Integers, Table
from sim.lustre.tables import PEER_START, Lustre, Op


def keep_operations(programs: Table, operations: Table) -> Integers:
    """Return which operations are still to be done: int64 rows; tell the programs their new places.

    The one that a program was at last is kept until its time has been added to its timer, and
    where somebody may go back to a ``MARK``, what follows the latest of each program.

    Parameters
    ----------
    programs
        The programs; those that are active get the places that their operations have when the
        rows returned are all there are.
    operations
        The operations so far.
    """
    active = np.flatnonzero(programs.active)
    op, timed = programs.op[active], programs.timed[active]
    first = np.where(timed >= 0, np.minimum(op, timed), op)
    if (operations.kind == int(Op.REPEAT)).any():
        first = np.minimum(first, programs.loop[active])
    count = programs.stop[active] - first
    shift = first - (np.cumsum(count) - count)
    programs.op[active] = op - shift
    programs.timed[active] = np.where(timed >= 0, timed - shift, -1)
    programs.loop[active] -= shift
    programs.stop[active] -= shift
    return np.repeat(shift, count) + np.arange(int(count.sum()))


def drop_transfers(
    tables: Lustre, used: int, held: Iterable[tuple[int, int]]
) -> tuple[Lustre, Integers]:
    """Drop the transfers that have ended, and their gates.

    A gate goes with the last of its transfers: it has then opened the next one of its node, or
    its program has gone on.

    Parameters
    ----------
    tables
        Everything; operations and messages get the new numbers in place.
    used
        How many rows of the operations are in use.
    held
        Ranges of transfers, first and one past the last, that operations yet to come refer to.

    Returns
    -------
    Lustre, int64 (transfers + 1,)
        The tables with those of transfers and gates replaced; and how many of the transfers before
        each, and in all, are left, which is the new number of one that is.
    """
    transfers, gates = tables.transfers, tables.gates
    exchanges = _exchanges(tables, used)
    offset, count = tables.operations.offset[exchanges], tables.operations.count[exchanges]
    steps = np.zeros(len(transfers) + 1, np.int64)
    np.add.at(steps, offset, 1)
    np.add.at(steps, offset + count, -1)
    for first, stop in held:
        steps[first] += 1
        steps[stop] -= 1
    kept = np.cumsum(steps)[:-1] > 0
    number = np.concatenate(([0], np.cumsum(kept)))
    of_gate = transfers.gate[kept]
    kept_gates = np.bincount(of_gate[of_gate >= 0], minlength=len(gates)) > 0
    left, left_gates = transfers[kept], gates[kept_gates]
    new, new_gate = _numbers(kept), _numbers(kept_gates)
    left.next, left.gate = new[left.next], new_gate[left.gate]
    left_gates.head = new[left_gates.head]
    left_gates.following = new_gate[left_gates.following]
    tables.operations.offset[exchanges] = number[offset]
    tables.operations.stride[exchanges] = number[tables.operations.stride[exchanges]]
    _renumber_messages(tables.network.messages, new)
    return tables._replace(transfers=left, gates=left_gates), number


def _numbers(kept: npt.NDArray[np.bool_]) -> Integers:
    """Return new numbers by old ones, -1 for what is dropped and for -1 itself: (rows + 1,)."""
    return np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int64)


def _exchanges(tables: Lustre, used: int) -> Integers:
    """Return the rows of ``EXCHANGE`` operations that are under way or yet to come."""
    programs = tables.programs
    active = np.flatnonzero(programs.active)
    rows = np.flatnonzero(tables.operations.kind[:used] == int(Op.EXCHANGE))
    steps = np.zeros(used + 1, np.int64)
    np.add.at(steps, programs.op[active], 1)
    np.add.at(steps, programs.stop[active], -1)
    return rows[np.cumsum(steps)[rows] > 0]


def _renumber_messages(messages: Table, new: Integers) -> None:
    """Tell messages between ranks the new numbers of their transfers.

    Rows of messages that have arrived still say what they were; what they say is of no account.
    """
    known = np.flatnonzero((messages.stage >= PEER_START) & (messages.owner < len(new) - 1))
    messages.owner[known] = np.maximum(new[messages.owner[known]], 0)
