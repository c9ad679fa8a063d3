"""The OSC: the part of a client node that talks to one OST, and the life of a bulk (BRW) RPC.

Bytes that are to move wait in the OSC as runs of an object; the OSC cuts them into RPCs that never
cross an RPC-size boundary of the object (Lustre 2.7 osc_cache.c) and keeps at most
``max_rpcs_in_flight`` of them under way, reads and writes together.

A write RPC: the request goes to the OSS, which fetches the bulk from the client (LNetGet) in LNET
messages of at most 1 MiB; once it has the whole bulk it submits the block I/O; when that is
complete it replies. A read RPC: request, block I/O, bulk to the client (LNetPut). There is no
write-back cache on the server (Lustre 2.7 osd_io.c: the reply waits for the bios).
"""

from __future__ import annotations

from sim.engine.calendar import schedule
from sim.engine.jit import njit
from sim.engine.network import hop, serve, travelling
from sim.engine.pool import give, take
from sim.lustre.lnet import (
    choose_gateway,
    enter_aries_homeward,
    enter_aries_outward,
    enter_infiniband_homeward,
    enter_infiniband_outward,
)
from sim.lustre.tables import Cause, Lustre, StationKind

MESSAGE_EVENT = 0
PROGRAM_EVENT = 1
REQUEST_EVENT = 2

# Stages of a message: what it does when it acts next.
_WRITE_START = 0  # leave the client
_WRITE_ARIES = 1  # leave the router
_WRITE_IB = 2  # go to disk
_WRITE_REPLY = 3  # tell the client
_READ_START = 4  # go to disk
_READ_DISK = 5  # become bulk
_READ_BULK = 6  # leave the OSS
_READ_IB = 7  # leave the router
_READ_ARIES = 8  # arrive at the client

_OST = int(StationKind.OST)
_OSC = int(Cause.OSC)
_TRANSFER = int(Cause.TRANSFER)
GONE = -1.0
"""Answer of a handler whose entity has no further event for now."""


@njit
def submit(
    lustre: Lustre, program: int, object_id: int, offset: int, size: int, write: int, now: float
) -> None:
    """Queue ``size`` bytes from ``offset`` of an object in the OSC of the program's node."""
    node = lustre.programs[program].node
    channel_id = node * lustre.limits.osts + lustre.objects[object_id]
    work_id = take(lustre.spare_works)
    work = lustre.works[work_id]
    work.offset = offset
    work.left = size
    work.program = program
    work.write = write
    work.next = -1
    channel = lustre.channels[channel_id]
    if channel.head < 0:
        channel.head = work_id
    else:
        lustre.works[channel.tail].next = work_id
    channel.tail = work_id
    _pump(lustre, channel_id, now)


@njit
def _pump(lustre: Lustre, channel_id: int, now: float) -> None:
    """Start RPCs while the OSC may have more in flight and has bytes waiting."""
    channel = lustre.channels[channel_id]
    rpc_size = lustre.limits.rpc_size
    while channel.in_flight < lustre.limits.rpcs_in_flight and channel.head >= 0:
        work_id = channel.head
        work = lustre.works[work_id]
        size = min(work.left, rpc_size - work.offset % rpc_size)
        _start_rpc(lustre, channel_id, work.program, size, work.write, now)
        work.offset += size
        work.left -= size
        if work.left == 0:
            channel.head = work.next
            give(lustre.spare_works, work_id)


@njit
def _start_rpc(
    lustre: Lustre, channel_id: int, program: int, size: int, write: int, now: float
) -> None:
    """Send the request of a BRW RPC and schedule what follows at its arrival."""
    rpc_id = take(lustre.spare_rpcs)
    rpc = lustre.rpcs[rpc_id]
    rpc.channel = channel_id
    rpc.program = program
    rpc.bytes = size
    rpc.write = write
    rpc.parts = 0
    rpc.start = now
    lustre.channels[channel_id].in_flight += 1
    lustre.counts[1] += 1
    lustre.counts[2] += size
    latency = lustre.limits.control_latency
    if write:
        # The request to the OSS, then the OSS's LNetGet to the client: the bulk leaves after both.
        _split_bulk(lustre, rpc_id, -1, _WRITE_START, now + 2.0 * latency)
    else:
        message_id = _new_message(lustre, rpc_id, size, _READ_START)
        schedule(lustre.network.calendar, now + latency, MESSAGE_EVENT, message_id)


@njit
def _new_message(lustre: Lustre, rpc_id: int, size: int, stage: int) -> int:
    """Take a message for (a part of) the bulk of an RPC; nothing has delayed it yet."""
    message_id = take(lustre.network.spare)
    message = lustre.network.messages[message_id]
    message.owner = rpc_id
    message.bytes = size
    message.stage = stage
    message.position = 0
    message.final = -1
    lustre.network.waits[message_id, :] = 0.0
    return message_id


@njit
def _split_bulk(lustre: Lustre, rpc_id: int, origin: int, stage: int, time: float) -> None:
    """Cut the bulk of an RPC into LNET messages that act at ``time``.

    They inherit the waiting of message ``origin`` (-1: none).
    """
    rpc = lustre.rpcs[rpc_id]
    left = rpc.bytes
    while left > 0:
        size = min(left, lustre.limits.message_size)
        message_id = _new_message(lustre, rpc_id, size, stage)
        if origin >= 0:
            for kind in range(lustre.network.waits.shape[1]):
                lustre.network.waits[message_id, kind] = lustre.network.waits[origin, kind]
        schedule(lustre.network.calendar, time, MESSAGE_EVENT, message_id)
        rpc.parts += 1
        left -= size


@njit
def _block_io(lustre: Lustre, message_id: int, now: float) -> float:
    """Queue the block I/O of a whole RPC at its OST; return when it is complete."""
    rpc = lustre.rpcs[lustre.network.messages[message_id].owner]
    ost = rpc.channel % lustre.limits.osts
    cost = lustre.ost_overhead[rpc.write, ost] + rpc.bytes * lustre.ost_seconds[rpc.write, ost]
    start = serve(lustre.network, lustre.stations.ost + ost, now, rpc.bytes, cost)
    lustre.network.waits[message_id, _OST] += start - now
    return start + cost


@njit
def on_message(lustre: Lustre, message_id: int, now: float) -> float:
    """Take a message of a BRW RPC one step further.

    Returns when it acts next, or ``GONE``.
    """
    if travelling(lustre.network, message_id):
        return hop(lustre.network, message_id, now)
    rpc = lustre.rpcs[lustre.network.messages[message_id].owner]
    node = rpc.channel // lustre.limits.osts
    oss = rpc.channel % lustre.limits.osts // lustre.limits.osts_per_oss
    if rpc.write:
        return _on_write(lustre, message_id, node, oss, now)
    return _on_read(lustre, message_id, node, oss, now)


@njit
def _on_write(lustre: Lustre, message_id: int, node: int, oss: int, now: float) -> float:
    """Take a message of a write to the next part of its journey."""
    message = lustre.network.messages[message_id]
    if message.stage == _WRITE_START:
        message.stage = _WRITE_ARIES
        message.gateway = choose_gateway(lustre.routing, node, oss, message.bytes)
        enter_aries_outward(lustre, message_id, node, now)
        return hop(lustre.network, message_id, now)
    if message.stage == _WRITE_ARIES:
        message.stage = _WRITE_IB
        lustre.routing.queued[node, message.gateway] -= message.bytes
        enter_infiniband_outward(lustre, message_id, oss, now)
        return hop(lustre.network, message_id, now)
    if message.stage == _WRITE_REPLY:
        return _finish_rpc(lustre, message_id, now)
    if not _is_last_part(lustre, message_id):
        return GONE
    message.stage = _WRITE_REPLY
    return _block_io(lustre, message_id, now) + lustre.limits.control_latency


@njit
def _on_read(lustre: Lustre, message_id: int, node: int, oss: int, now: float) -> float:
    """Take a message of a read to the next part of its journey."""
    message = lustre.network.messages[message_id]
    sender = lustre.limits.nodes + oss
    if message.stage == _READ_START:
        message.stage = _READ_DISK
        return _block_io(lustre, message_id, now)
    if message.stage == _READ_DISK:
        _split_bulk(lustre, message.owner, message_id, _READ_BULK, now)
        give(lustre.network.spare, message_id)
        return GONE
    if message.stage == _READ_BULK:
        message.stage = _READ_IB
        message.gateway = choose_gateway(lustre.routing, sender, oss, message.bytes)
        enter_infiniband_homeward(lustre, message_id, oss, now)
        return hop(lustre.network, message_id, now)
    if message.stage == _READ_IB:
        message.stage = _READ_ARIES
        lustre.routing.queued[sender, message.gateway] -= message.bytes
        enter_aries_homeward(lustre, message_id, node, now)
        return hop(lustre.network, message_id, now)
    if not _is_last_part(lustre, message_id):
        return GONE
    return _finish_rpc(lustre, message_id, now)


@njit
def _is_last_part(lustre: Lustre, message_id: int) -> bool:
    """Count a part of a bulk as arrived; let it go unless it is the last one."""
    rpc = lustre.rpcs[lustre.network.messages[message_id].owner]
    rpc.parts -= 1
    if rpc.parts > 0:
        give(lustre.network.spare, message_id)
        return False
    return True


@njit
def _finish_rpc(lustre: Lustre, message_id: int, now: float) -> float:
    """End an RPC at the client: tell its program, and let the OSC start the next."""
    rpc_id = lustre.network.messages[message_id].owner
    rpc = lustre.rpcs[rpc_id]
    program = lustre.programs[rpc.program]
    program.pending -= rpc.bytes
    if program.pending == 0:
        _charge(lustre, rpc.program, message_id, rpc.start, now)
        schedule(lustre.network.calendar, now, PROGRAM_EVENT, rpc.program)
    channel_id = rpc.channel
    lustre.channels[channel_id].in_flight -= 1
    give(lustre.network.spare, message_id)
    give(lustre.spare_rpcs, rpc_id)
    _pump(lustre, channel_id, now)
    return GONE


@njit
def _charge(lustre: Lustre, program: int, message_id: int, start: float, now: float) -> None:
    """Charge a program's wait to its causes, as the RPC that ended it met them."""
    since = lustre.programs[program].since
    lustre.waits[program, _OSC] += start - since
    transfer = now - start
    for kind in range(lustre.network.waits.shape[1]):
        waited = lustre.network.waits[message_id, kind]
        lustre.waits[program, kind] += waited
        transfer -= waited
    lustre.waits[program, _TRANSFER] += transfer
