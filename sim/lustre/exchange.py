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

At a *meeting* programs wait for each other: every MPI collective is one. All go on together, as
much later than the last of them as the collective itself takes.
"""

from __future__ import annotations

from sim.engine.calendar import schedule
from sim.engine.jit import inlined, njit
from sim.engine.network import begin_segment, serve
from sim.engine.pool import give, take
from sim.lustre.events import GO_ON, GONE, MESSAGE_EVENT, PROGRAM_EVENT
from sim.lustre.lnet import enter_aries
from sim.lustre.tables import PEER_COPY, PEER_SENT, PEER_START, Cause, Lustre, Stat

_MEETING, _EXCHANGE = int(Cause.MEETING), int(Cause.EXCHANGE)
_SENT, _COPIED = int(Stat.EXCHANGED_BYTES), int(Stat.LOCAL_BYTES)


@njit
def meet(lustre: Lustre, program_id: int, now: float) -> float:
    """Wait at a meeting until all have come; then go on when the collective is done."""
    program = lustre.programs[program_id]
    if program.phase == 0:
        operation = lustre.operations[program.op]
        meeting = lustre.meetings[operation.file]
        program.phase = 1
        program.since = now
        meeting.arrived += 1
        if meeting.arrived < operation.count:
            program.next = meeting.head
            meeting.head = program_id
            return GONE
        end = now + operation.seconds
        waiting = meeting.head
        meeting.arrived = 0
        meeting.head = -1
        while waiting >= 0:
            schedule(lustre.network.calendar, end, PROGRAM_EVENT, waiting)
            waiting = lustre.programs[waiting].next
        return end
    lustre.waits[program_id, _MEETING] += now - program.since
    program.phase = 0
    program.op += 1
    return GO_ON


@njit
def exchange(lustre: Lustre, program_id: int, now: float) -> float:
    """Let the transfers of an operation begin, and wait for all of them."""
    program = lustre.programs[program_id]
    if program.phase == 0:
        operation = lustre.operations[program.op]
        program.phase = 1
        program.since = now
        program.pending = operation.count + operation.length
        if operation.length > 0:
            gate_id = lustre.transfers[operation.stride].gate
            program.next = lustre.gates[gate_id].programs
            lustre.gates[gate_id].programs = program_id
            _open(lustre, gate_id, now)
        for transfer_id in range(operation.offset, operation.offset + operation.count):
            transfer = lustre.transfers[transfer_id]
            transfer.program = program_id
            if transfer.after == 0 or transfer.gate < 0 or lustre.gates[transfer.gate].shut == 0:
                _begin(lustre, transfer_id, now)
            else:
                transfer.next = lustre.gates[transfer.gate].head
                lustre.gates[transfer.gate].head = transfer_id
        if program.pending > 0:
            return GONE
    lustre.waits[program_id, _EXCHANGE] += now - program.since
    program.phase = 0
    program.op += 1
    return GO_ON


@njit
def _open(lustre: Lustre, gate_id: int, now: float) -> None:
    """Note one of those that a gate (-1: none) waits for; after the last, let begin what waits."""
    while gate_id >= 0:
        gate = lustre.gates[gate_id]
        gate.shut -= 1
        if gate.shut > 0:
            return
        waiting = gate.head
        while waiting >= 0:
            _begin(lustre, waiting, now)
            waiting = lustre.transfers[waiting].next
        if gate.left > 0:
            return
        gate_id = gate.following  # all of this turn had ended before


@njit
def _begin(lustre: Lustre, transfer_id: int, now: float) -> None:
    """Let the first messages of a transfer leave, or copy it within the node."""
    transfer = lustre.transfers[transfer_id]
    if transfer.source == transfer.target:
        _copy(lustre, transfer_id, now)
        return
    while transfer.left > 0 and transfer.under_way < lustre.limits.peer_messages:
        message_id = take(lustre.network.spare)
        message = lustre.network.messages[message_id]
        message.owner = transfer_id
        message.stage = PEER_START
        message.position = 1
        message.final = 0
        transfer.under_way += 1
        message.bytes = min(transfer.left, lustre.limits.message_size)
        transfer.left -= min(transfer.left, lustre.limits.message_size)
        schedule(lustre.network.calendar, now, MESSAGE_EVENT, message_id)


@njit
def _copy(lustre: Lustre, transfer_id: int, now: float) -> None:
    """Let the core of the waiting program copy a transfer within the node."""
    transfer = lustre.transfers[transfer_id]
    seconds = transfer.left * lustre.limits.memory_copy
    core = lustre.programs[transfer.program].core
    start = serve(lustre.network, core, now, transfer.left, seconds)
    lustre.stats[_COPIED] += transfer.left
    message_id = take(lustre.network.spare)
    message = lustre.network.messages[message_id]
    message.owner = transfer_id
    message.stage = PEER_COPY
    message.position = 1
    message.final = 0
    transfer.under_way = 1
    transfer.left = 0
    schedule(lustre.network.calendar, start + seconds, MESSAGE_EVENT, message_id)


@inlined
def on_peer_message(lustre: Lustre, message_id: int, now: float) -> float:
    """Send a message of a transfer on its way, or take it as arrived and send the next one.

    Returns ``GO_ON`` if it stands before a segment, else ``GONE``.
    """
    message = lustre.network.messages[message_id]
    transfer = lustre.transfers[message.owner]
    if message.stage == PEER_SENT:
        lustre.stats[_SENT] += int(message.bytes)
        if transfer.left > 0:
            message.bytes = min(transfer.left, lustre.limits.message_size)
            transfer.left -= min(transfer.left, lustre.limits.message_size)
            message.stage = PEER_START
    if message.stage == PEER_START:
        message.stage = PEER_SENT
        _leave(lustre, message_id, now)
        return GO_ON
    give(lustre.network.spare, message_id)
    transfer.under_way -= 1
    if transfer.under_way == 0:
        _end(lustre, message.owner, now)
    return GONE


@njit
def _leave(lustre: Lustre, message_id: int, now: float) -> None:
    """Put a message before its way from the NIC of one node to that of another."""
    transfer = lustre.transfers[lustre.network.messages[message_id].owner]
    first = lustre.stations.nic_out + transfer.source
    last = lustre.stations.nic_in + transfer.target
    if transfer.route < 0:
        begin_segment(lustre.network, message_id, now, first, 0, 0, last)
    else:
        enter_aries(lustre, message_id, lustre.routing.peers[transfer.route], first, last, now)


@njit
def _end(lustre: Lustre, transfer_id: int, now: float) -> None:
    """Count a transfer as ended: for the program that waits for it, and for its gate."""
    transfer = lustre.transfers[transfer_id]
    _count_down(lustre, transfer.program, now)
    if transfer.gate < 0:
        return
    gate = lustre.gates[transfer.gate]
    gate.left -= 1
    program_id = gate.programs
    while program_id >= 0:
        after = lustre.programs[program_id].next
        _count_down(lustre, program_id, now)
        program_id = after
    if gate.left == 0 and gate.shut == 0:
        _open(lustre, gate.following, now)


@njit
def _count_down(lustre: Lustre, program_id: int, now: float) -> None:
    """Let a program wait for one transfer less; wake it after the last."""
    program = lustre.programs[program_id]
    program.pending -= 1
    if program.pending == 0:
        schedule(lustre.network.calendar, now, PROGRAM_EVENT, program_id)
