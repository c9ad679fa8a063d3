"""Data on their way from rank to rank, and ranks that meet.

Collective buffering moves data between the ranks and the aggregators before the aggregators write,
or after they have read. Such a *transfer* goes from node to node in messages, several of them under
way at a time, through the same NICs and links as the file traffic of the node. Within a node it is
a copy, which the core of the receiving rank makes.

A rank that takes part in several rounds waits for its sends of one round before it turns to the
next (ROMIO ad_lustre_wrcoll.c, ADIOI_LUSTRE_W_Exchange_data). So the transfers of a node stand
before *gates*, one a round: the next gate opens when all transfers of the one before have ended.
Only ranks that have sent before wait there; the others have been ready all the time. Aggregators
send in their own rounds: what those of a node send in a round stands before a gate that they open
by coming there, and they go on only when it has ended as well as what they receive.

At a *meeting* programs wait for each other: every MPI collective is one. They go on as much later
than the last of them as the collective itself takes, one a little before the other
(``xc40io.plane.lateness``).

Tables of transfers only grow while programs are at work. Every now and then those that have ended
are dropped (``drop_transfers``), and what refers to the rest is told its new number.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import inlined, outlined
from xc40io.engine.component import Component, Demands
from xc40io.engine.network import Network, begin_segment, serve
from xc40io.engine.pool import EVENTS_A_LOOK, give, reserve, take
from xc40io.engine.types import Indices, Integers, Table, make_table
from xc40io.network.aries import Aries, enter_aries
from xc40io.node.nodes import Nodes
from xc40io.plane.batch import Transfers
from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.lateness import end_meeting, leave_meeting
from xc40io.plane.operations import POSTS, Op
from xc40io.plane.programs import Programs, charge, count_down
from xc40io.plane.registry import (
    FULL,
    GO_ON,
    GONE,
    MESSAGE_EVENT,
    PEER,
    STAGES,
    on_message,
    performs,
)
from xc40io.plane.site import Site

_MEETING, _EXCHANGE = int(Cause.MEETING), int(Cause.EXCHANGE)
_SENT_BYTES, _LOCAL_BYTES = int(Stat.EXCHANGED_BYTES), int(Stat.LOCAL_BYTES)

# States of a program at a meeting: what has happened, what it does next -> what may follow.
_CALLED = 0  # nothing yet: waits for the others; the last to come wakes them all -> _MET
_MET = 1  # all have come, and the collective is done: goes on -> _CALLED

# States of a program in an exchange.
_CAME = 0  # nothing yet: begins its transfers and waits for their end -> _EXCHANGED
_EXCHANGED = 1  # all transfers that it receives or sends have ended: goes on -> _CAME

# Stages of a message between ranks: what has happened, what it does next -> what follows. All are
# of the carrier PEER.
_READY = PEER * STAGES  # its turn has come: leaves the node -> _SENT
_SENT = _READY + 1  # it has arrived: becomes the next one of its transfer -> _READY; or is gone
_COPIED = _READY + 2  # no message but a copy within the node, which is made: is gone


TRANSFER = np.dtype(  # bytes that go from one node to another for a program
    [
        ("left", "i8"),  # bytes not yet sent
        ("source", "i4"),  # nodes
        ("target", "i4"),
        ("route", "i4"),  # its candidate routes over Aries; -1: both nodes are on one router
        ("gate", "i4"),  # whose turn it belongs to, or -1
        ("after", "i4"),  # it may begin only when its gate is open
        ("program", "i4"),  # who waits for it
        ("under_way", "i4"),  # messages
        ("next", "i4"),  # the next before the same gate
    ],
    align=True,
)

MEETING = np.dtype([("arrived", "i4"), ("head", "i4")], align=True)  # programs that wait there

GATE = np.dtype(  # before the transfers of one turn of a node
    [
        ("left", "i4"),  # transfers that have not ended
        ("head", "i4"),  # transfers that wait for it to open
        ("following", "i4"),  # the node's next one, which opens when all of this have ended; or -1
        ("programs", "i4"),  # that opened it and wait for the end of all transfers
        ("shut", "i4"),  # what must come before it opens: the turn before, or programs that send
    ],
    align=True,
)


class Exchange(Component):
    """What ranks send each other, and where they meet."""

    network: Network
    programs: Programs
    aries: Aries
    nodes: Nodes
    # transfers, gates, meetings: records of these names
    transfers: Table
    gates: Table
    meetings: Table
    message_size: int  # bytes of a message
    peer_messages: int  # messages of one transfer that are under way at once
    at_once: int  # transfers that begin together at most

    @classmethod
    def build(cls, site: Site) -> Exchange:
        """Return no transfers."""
        return site.make(
            cls,
            transfers=make_table(TRANSFER, 0),
            gates=make_table(GATE, 0),
            meetings=make_table(MEETING, 0),
            message_size=site.machine.message_size,
            peer_messages=site.machine.mpi.messages_under_way,
            at_once=0,
        )

    def demands(self) -> Demands:
        """Return the messages of all transfers that begin together."""
        together = min(self.at_once, -(-len(self.transfers) // EVENTS_A_LOOK))
        return [(self.network.spare_messages, together * self.peer_messages)]


@performs(Exchange, Op.MEET)
@outlined
def meet(exchange: Exchange, program_id: int, now: float) -> float:
    """Wait at a meeting until all have come; then go on when the collective is done."""
    program = exchange.programs.rows[program_id]
    if program.phase == _CALLED:
        operation = exchange.programs.operations[program.op]
        meeting = exchange.meetings[operation.meeting]
        meeting.arrived += 1
        if operation.within == POSTS and meeting.arrived < operation.members:
            program.op += 1
            return GO_ON
        program.phase = _MET
        program.since = now
        if meeting.arrived < operation.members:
            program.next = meeting.head
            meeting.head = program_id
            return GONE
        waiting = meeting.head
        meeting.arrived = 0
        meeting.head = -1
        return end_meeting(exchange.programs, waiting, program_id, operation.seconds, now)
    charge(exchange.programs, program_id, _MEETING, now)
    if exchange.programs.operations[program.op].within == 0:
        leave_meeting(exchange.programs, program_id)
    program.phase = _CALLED
    program.op += 1
    return GO_ON


@performs(Exchange, Op.EXCHANGE)
@outlined
def send_and_receive(exchange: Exchange, program_id: int, now: float) -> float:
    """Begin the transfers of an operation, and wait for the end of all of them."""
    program = exchange.programs.rows[program_id]
    if program.phase == _CAME:
        operation = exchange.programs.operations[program.op]
        messages = operation.received * exchange.peer_messages
        if not reserve(exchange.network.spare_messages, messages):
            return FULL
        program.phase = _EXCHANGED
        program.since = now
        program.pending = operation.received + operation.sent
        if operation.sent > 0:
            gate_id = exchange.transfers[operation.sent_first].gate
            program.next = exchange.gates[gate_id].programs
            exchange.gates[gate_id].programs = program_id
            _open(exchange, gate_id, now)
        for transfer_id in range(operation.transfer, operation.transfer + operation.received):
            transfer = exchange.transfers[transfer_id]
            transfer.program = program_id
            if transfer.after == 0 or transfer.gate < 0 or exchange.gates[transfer.gate].shut == 0:
                _begin(exchange, transfer_id, now)
            else:
                transfer.next = exchange.gates[transfer.gate].head
                exchange.gates[transfer.gate].head = transfer_id
        if program.pending > 0:
            return GONE
    charge(exchange.programs, program_id, _EXCHANGE, now)
    program.phase = _CAME
    program.op += 1
    return GO_ON


@outlined
def _open(exchange: Exchange, gate_id: int, now: float) -> None:
    """Count down a gate (-1: none); at zero begin the transfers that wait behind it."""
    while gate_id >= 0:
        gate = exchange.gates[gate_id]
        gate.shut -= 1
        if gate.shut > 0:
            return
        waiting = gate.head
        while waiting >= 0:
            _begin(exchange, waiting, now)
            waiting = exchange.transfers[waiting].next
        if gate.left > 0:
            return
        gate_id = gate.following  # all of this turn had ended before


@outlined
def _begin(exchange: Exchange, transfer_id: int, now: float) -> None:
    """Send the first messages of a transfer, or copy it within the node."""
    transfer = exchange.transfers[transfer_id]
    if transfer.source == transfer.target:
        _copy(exchange, transfer_id, now)
        return
    while transfer.left > 0 and transfer.under_way < exchange.peer_messages:
        message_id = take(exchange.network.spare_messages)
        message = exchange.network.messages[message_id]
        message.owner = transfer_id
        message.stage = _READY
        message.position = 1  # beyond its last station: it enters a segment first
        message.final = 0
        transfer.under_way += 1
        message.bytes = min(transfer.left, exchange.message_size)
        transfer.left -= min(transfer.left, exchange.message_size)
        schedule(exchange.network.calendar, now, MESSAGE_EVENT, message_id)


@outlined
def _copy(exchange: Exchange, transfer_id: int, now: float) -> None:
    """Copy a transfer within the node, on the core of the program that waits for it."""
    transfer = exchange.transfers[transfer_id]
    seconds = transfer.left * exchange.nodes.memory_copy
    core = exchange.programs.rows[transfer.program].core
    start = serve(exchange.network, core, now, transfer.left, seconds)
    exchange.programs.stats[_LOCAL_BYTES] += transfer.left
    message_id = take(exchange.network.spare_messages)
    message = exchange.network.messages[message_id]
    message.owner = transfer_id
    message.stage = _COPIED
    message.position = 1  # beyond its last station: nothing to travel
    message.final = 0
    transfer.under_way = 1
    transfer.left = 0
    schedule(exchange.network.calendar, start + seconds, MESSAGE_EVENT, message_id)


@on_message(Exchange, PEER)
@inlined
def on_peer_message(exchange: Exchange, message_id: int, now: float) -> float:
    """Send a message of a transfer on its way, or take it as arrived and send the next one.

    Returns ``GO_ON`` if it stands before a segment, else ``GONE``.
    """
    message = exchange.network.messages[message_id]
    transfer = exchange.transfers[message.owner]
    if message.stage == _SENT:
        exchange.programs.stats[_SENT_BYTES] += int(message.bytes)
        if transfer.left > 0:  # its row takes the next bytes: none is freed and taken anew
            message.bytes = min(transfer.left, exchange.message_size)
            transfer.left -= min(transfer.left, exchange.message_size)
            message.stage = _READY
    if message.stage == _READY:
        message.stage = _SENT
        _leave(exchange, message_id, now)
        return GO_ON
    give(exchange.network.spare_messages, message_id)
    transfer.under_way -= 1
    if transfer.under_way == 0:
        _end(exchange, message.owner, now)
    return GONE


@outlined
def _leave(exchange: Exchange, message_id: int, now: float) -> None:
    """Send a message from the NIC of one node to that of another."""
    transfer = exchange.transfers[exchange.network.messages[message_id].owner]
    first = exchange.aries.nic_out + transfer.source
    last = exchange.aries.nic_in + transfer.target
    if transfer.route < 0:  # both nodes are on one Aries router: no links
        begin_segment(exchange.network, message_id, now, first, 0, 0, last)
    else:
        enter_aries(
            exchange.aries, message_id, exchange.aries.peers[transfer.route], first, last, now
        )


@outlined
def _end(exchange: Exchange, transfer_id: int, now: float) -> None:
    """Count a transfer as ended: for the program that waits for it, and for its gate."""
    transfer = exchange.transfers[transfer_id]
    count_down(exchange.programs, transfer.program, now)
    if transfer.gate < 0:
        return
    gate = exchange.gates[transfer.gate]
    gate.left -= 1
    # Who has opened the gate waits for every transfer behind it, besides what it receives.
    program_id = gate.programs
    while program_id >= 0:
        count_down(exchange.programs, program_id, now)
        program_id = exchange.programs.rows[program_id].next
    if gate.left == 0 and gate.shut == 0:
        _open(exchange, gate.following, now)


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
