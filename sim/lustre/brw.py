"""The life of a bulk (BRW) RPC between an OSC and an OST.

A write RPC: the request goes to the OSS, which fetches the bulk from the client (LNetGet) in LNET
messages of at most 1 MiB; once it has the whole bulk it submits the block I/O; when that is
complete it replies. A read RPC: request, block I/O, bulk to the client (LNetPut). There is no
write-back cache on the server (Lustre 2.7 osd_io.c: the reply waits for the bios).
"""

from __future__ import annotations

from sim.engine.calendar import schedule
from sim.engine.compiled import inlined, outlined
from sim.engine.component import Component
from sim.engine.network import Network
from sim.engine.pool import give, take
from sim.lustre.net.bulk import BulkRpcs, is_last_part, mark_sent, new_message, split_bulk
from sim.lustre.net.lnet import (
    Lnet,
    choose_gateway,
    enter_aries_homeward,
    enter_aries_outward,
    enter_infiniband_homeward,
    enter_infiniband_outward,
)
from sim.lustre.server.disks import Disks, block_io
from sim.node.nodes import Nodes, rpc_thread
from sim.plane.causes import Cause
from sim.plane.events import GO_ON, GONE, MESSAGE_EVENT
from sim.plane.programs import Programs
from sim.plane.recorder import record_span
from sim.plane.site import Site
from sim.plane.stations import MESSAGE_KINDS

# Stages of a message of a bulk RPC (carrier BRW); first a write's, then a read's.
_WRITE_FETCHED = 0  # the OSS has asked for the bulk: it leaves the client -> _WRITE_AT_ROUTER
_WRITE_AT_ROUTER = 1  # goes on over InfiniBand -> _WRITE_AT_OSS
_WRITE_AT_OSS = 2  # the last part of the bulk goes to disk -> _WRITE_REPLIED
_WRITE_REPLIED = 3  # the client has the reply: the RPC ends
_READ_REQUESTED = 4  # the OSS has the request: it goes to disk -> _READ_ON_OSS
_READ_ON_OSS = 5  # is cut into parts -> _READ_CUT; or leaves as it is -> _READ_AT_ROUTER
_READ_CUT = 6  # the part leaves the OSS -> _READ_AT_ROUTER
_READ_AT_ROUTER = 7  # goes on over Aries -> _READ_AT_CLIENT
_READ_AT_CLIENT = 8  # the last part ends the RPC

LAST_STAGES = _WRITE_REPLIED, _READ_AT_CLIENT
"""The stages of a message that comes to the client."""

AT_CLIENT = -4.0
"""The answer of :func:`travel` for a message whose RPC is done."""

_OSC, _TRANSFER = int(Cause.OSC), int(Cause.TRANSFER)


class Brw(Component):
    """Bulk RPCs, and all that they meet on their way."""

    network: Network
    programs: Programs
    nodes: Nodes
    lnet: Lnet
    bulk: BulkRpcs
    disks: Disks

    @classmethod
    def build(cls, site: Site) -> Brw:
        """Return it for a machine."""
        return site.make(cls)


@outlined
def start_rpc(
    brw: Brw,
    channel_id: int,
    program: int,
    windows: int,
    object_id: int,
    offset: int,
    size: int,
    partial: int,
    write: int,
    in_flight: int,
    now: float,
) -> None:
    """Send the request of a BRW RPC by a ptlrpcd thread, and schedule its arrival.

    Parameters
    ----------
    brw
        The RPCs.
    channel_id
        The OSC that sends it.
    program, windows
        The program that waits for it, or the first window that it carries; the other is -1.
    object_id, offset, size
        What it reads or writes, in bytes.
    partial
        Bytes in RAID stripes that it writes in part.
    write
        1 for a write, 0 for a read.
    in_flight
        RPCs of the OSC with it.
    now
        The time.
    """
    rpc_id = take(brw.bulk.spare_rpcs)
    rpc = brw.bulk.rpcs[rpc_id]
    rpc.start = now
    rpc.unit = offset // brw.disks.rpc_size
    rpc.bytes = size
    rpc.partial = partial
    rpc.channel = channel_id
    rpc.program = program
    rpc.windows = windows
    rpc.object = object_id
    rpc.parts = 0
    rpc.write = write
    if brw.programs.recorder.on:
        mark_sent(brw.bulk, rpc_id, offset, in_flight)
    brw.programs.counts[1] += 1
    brw.programs.counts[2] += size
    sent = rpc_thread(brw.nodes, channel_id // brw.bulk.osts, size, now)
    latency = brw.lnet.control_latency
    if write:
        # The request to the OSS, then the OSS's LNetGet to the client: the bulk leaves after both.
        split_bulk(brw.bulk, rpc_id, -1, _WRITE_FETCHED, sent + 2.0 * latency)
    else:
        message_id = new_message(brw.bulk, rpc_id, size, _READ_REQUESTED)
        schedule(brw.network.calendar, sent + latency, MESSAGE_EVENT, message_id)


@inlined
def travel(brw: Brw, message_id: int, now: float) -> float:
    """Send a message of a BRW RPC on its next segment.

    Returns when it acts next, ``GONE``, ``GO_ON`` if it stands before its next segment, or
    ``AT_CLIENT`` if the whole RPC is done there.
    """
    # All that it takes to send a message on is in its own row: its RPC's would be one wait for the
    # memory more, at each segment.
    if brw.network.messages[message_id].stage <= _WRITE_REPLIED:
        return _on_write(brw, message_id, now)
    return _on_read(brw, message_id, now)


@inlined
def _on_write(brw: Brw, message_id: int, now: float) -> float:
    """Send a message of a write on its next segment, or to disk."""
    message = brw.network.messages[message_id]
    node, oss = message.node, message.server
    if message.stage == _WRITE_FETCHED:
        message.stage = _WRITE_AT_ROUTER
        message.gateway = choose_gateway(brw.lnet, node, oss, message.bytes)
        enter_aries_outward(brw.lnet, message_id, node, now)
        return GO_ON
    if message.stage == _WRITE_AT_ROUTER:
        message.stage = _WRITE_AT_OSS
        # Its router has stored it: it no longer counts when senders compare routers.
        brw.lnet.queued[node, message.gateway] -= message.bytes
        enter_infiniband_outward(brw.lnet, message_id, oss, now)
        return GO_ON
    if message.stage == _WRITE_REPLIED:
        return AT_CLIENT
    if not is_last_part(brw.bulk, message_id):
        return GONE
    message.stage = _WRITE_REPLIED
    return block_io(brw.disks, message_id, now)


@inlined
def _on_read(brw: Brw, message_id: int, now: float) -> float:
    """Send a message of a read on its next segment, or to disk."""
    message = brw.network.messages[message_id]
    node, oss = message.node, message.server
    sender = brw.lnet.first_oss + oss
    if message.stage == _READ_REQUESTED:
        message.stage = _READ_ON_OSS
        return block_io(brw.disks, message_id, now)
    if message.stage == _READ_ON_OSS:
        if message.bytes > brw.bulk.message_size:
            split_bulk(brw.bulk, message.owner, message_id, _READ_CUT, now)
            give(brw.network.spare_messages, message_id)
            return GONE
        brw.bulk.rpcs[message.owner].parts = 1  # small enough to be a part itself
        message.stage = _READ_CUT
    if message.stage == _READ_CUT:
        message.stage = _READ_AT_ROUTER
        message.gateway = choose_gateway(brw.lnet, sender, oss, message.bytes)
        enter_infiniband_homeward(brw.lnet, message_id, oss, now)
        return GO_ON
    if message.stage == _READ_AT_ROUTER:
        message.stage = _READ_AT_CLIENT
        brw.lnet.queued[sender, message.gateway] -= message.bytes
        enter_aries_homeward(brw.lnet, message_id, node, now)
        return GO_ON
    if not is_last_part(brw.bulk, message_id):
        return GONE
    return AT_CLIENT


@outlined
def charge_rpc(brw: Brw, program_id: int, message_id: int, start: float, now: float) -> None:
    """Charge a program's wait to its causes, as the RPC that ended it met them.

    ``start`` is when the RPC began, or when the program began to wait for an RPC under way.
    """
    waits, recorder = brw.programs.waits, brw.programs.recorder
    since = brw.programs.rows[program_id].since
    waits[program_id, _OSC] += start - since
    record_span(recorder, program_id, _OSC, since, start)
    transfer = now - start
    for kind in range(MESSAGE_KINDS):
        # Who joins a read under way waited for the rest of it alone: its latest queues.
        waited = min(brw.network.waits[message_id, kind], transfer)
        waits[program_id, kind] += waited
        # One after the other, as it met them; moving, which was in between, comes last.
        record_span(recorder, program_id, kind, now - transfer, now - transfer + waited)
        transfer -= waited
    waits[program_id, _TRANSFER] += transfer
    record_span(recorder, program_id, _TRANSFER, now - transfer, now)
