"""Transfers between ranks: the gates before which they wait, and forgetting those that have ended.

Tables of transfers only grow while programs are at work. Every now and then those that have ended
are dropped, and what refers to the rest is told its new number.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sim.engine.types import Indices, Integers, Table, make_table
from sim.mpi.exchange import GATE, Exchange
from sim.plane.batch import Transfers
from sim.plane.events import PEER, STAGES
from sim.plane.operations import Op
from sim.plane.programs import Programs


def gates_of(transfers: Transfers) -> tuple[Table, Indices]:
    """Return the gates of some transfers, and the gate of each: int32, -1 for none.

    A gate is the turn of a node, and ``following`` the node's next; or it is a turn of programs of
    the node, which open it.
    """
    gate = np.full(len(transfers.size), -1, np.int32)
    in_turn = np.flatnonzero(transfers.turn >= 0)
    if not len(in_turn):
        return make_table(GATE, 0), gate
    turns = int(transfers.turn.max()) + 1
    senders = transfers.senders[in_turn]
    nodes = int(transfers.source.max()) + 1
    # Two lines a node: turns that open one after another, and turns that programs open by coming.
    line = transfers.source[in_turn] + nodes * (senders > 0)
    key = line * turns + transfers.turn[in_turn]
    keys, first, inverse, count = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    gate[in_turn] = inverse
    gates = make_table(GATE, len(keys))
    gates.left, gates.head, gates.following, gates.programs = count, -1, -1, -1
    gates.shut = senders[first]
    # Keys are sorted, so that a turn's next one in its line stands behind it.
    follows = (senders[first[1:]] == 0) & (keys[1:] // turns == keys[:-1] // turns)
    gates.following[:-1][follows] = np.flatnonzero(follows) + 1
    gates.shut[1:][follows] = 1
    return gates, gate


def drop_transfers(exchange: Exchange, used: int, held: Iterable[tuple[int, int]]) -> Integers:
    """Drop the transfers that have ended, and their gates.

    A gate goes with the last of its transfers: it has then opened the next one of its node, or
    its program has gone on.

    Parameters
    ----------
    exchange
        Its transfers and gates are replaced; operations and messages get the new numbers.
    used
        How many rows of the operations are in use.
    held
        Ranges of transfers, first and one past the last, that operations yet to come refer to.

    Returns
    -------
    int64 (transfers + 1,)
        How many of the transfers before each, and in all, are left: the new number of one that is.
    """
    transfers, gates, programs = exchange.transfers, exchange.gates, exchange.programs
    operations = programs.operations
    exchanges = _exchanges(programs, used)
    offset, count = operations.transfer[exchanges], operations.received[exchanges]
    # Up where a range begins, down where it ends: the running sum counts who still refers to a row.
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
    operations.transfer[exchanges] = number[offset]
    operations.sent_first[exchanges] = number[operations.sent_first[exchanges]]
    _renumber_messages(exchange.network.messages, new)
    exchange.transfers, exchange.gates = left, left_gates
    return number


def _numbers(kept: npt.NDArray[np.bool_]) -> Integers:
    """Return the new number of each old one; -1 for dropped rows and for -1: (rows + 1,)."""
    return np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int64)


def _exchanges(programs: Programs, used: int) -> Integers:
    """Return the rows of ``EXCHANGE`` operations that are under way or yet to come."""
    active = np.flatnonzero(programs.rows.active)
    rows = np.flatnonzero(programs.operations.kind[:used] == int(Op.EXCHANGE))
    steps = np.zeros(used + 1, np.int64)
    np.add.at(steps, programs.rows.op[active], 1)
    np.add.at(steps, programs.rows.stop[active], -1)
    return rows[np.cumsum(steps)[rows] > 0]


def _renumber_messages(messages: Table, new: Integers) -> None:
    """Tell messages between ranks the new numbers of their transfers.

    Rows of messages that have arrived still say what they were; what they say is of no account.
    """
    known = np.flatnonzero((messages.stage // STAGES == PEER) & (messages.owner < len(new) - 1))
    messages.owner[known] = np.maximum(new[messages.owner[known]], 0)
