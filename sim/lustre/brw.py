"""The life of a bulk (BRW) RPC between an OSC and an OST.

A write RPC: the request goes to the OSS, which fetches the bulk from the client (LNetGet) in LNET
messages of at most 1 MiB; once it has the whole bulk it submits the block I/O; when that is
complete it replies. A read RPC: request, block I/O, bulk to the client (LNetPut). There is no
write-back cache on the server (Lustre 2.7 osd_io.c: the reply waits for the bios).
"""

from __future__ import annotations

import numpy as np

from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import inlined, outlined
from xc40io.engine.component import Component
from xc40io.engine.network import Network
from xc40io.engine.pool import give, take
from xc40io.engine.types import Floats, zeros
from xc40io.lustre.net.bulk import (
    BulkRpcs,
    is_last_part,
    mark_left,
    mark_routed,
    mark_sent,
    new_message,
    split_bulk,
)
from xc40io.lustre.net.lnet import (
    Lnet,
    choose_gateway,
    enter_aries_from_server,
    enter_aries_homeward,
    enter_aries_outward,
    enter_aries_to_server,
    enter_infiniband_homeward,
    enter_infiniband_outward,
)
from xc40io.lustre.server.disks import Disks, block_io
from xc40io.node.nodes import Nodes, rpc_thread
from xc40io.plane.causes import Cause
from xc40io.plane.programs import Programs
from xc40io.plane.registry import GO_ON, GONE, MESSAGE_EVENT
from xc40io.plane.site import Site
from xc40io.plane.stations import LATENCY_METER, MESSAGE_KINDS, METERS

# Stages of a message of a bulk RPC (carrier BRW); first a write's, then a read's.
WRITE_FETCHED = 0  # the OSS has asked for the bulk: it leaves the client -> WRITE_AT_ROUTER, or,
# where there are no routers, -> WRITE_AT_OSS
WRITE_AT_ROUTER = 1  # goes on over InfiniBand -> WRITE_AT_OSS
WRITE_AT_OSS = 2  # the last part of the bulk goes to disk -> _WRITE_REPLIED
_WRITE_REPLIED = 3  # the client has the reply: the RPC ends
READ_REQUESTED = 4  # the OSS has the request: it goes to disk -> _READ_ON_OSS
_READ_ON_OSS = 5  # is cut into parts -> READ_CUT; or leaves as it is -> READ_AT_ROUTER
READ_CUT = 6  # the part leaves the OSS -> READ_AT_ROUTER, or, without routers, -> READ_AT_CLIENT
READ_AT_ROUTER = 7  # goes on over Aries -> READ_AT_CLIENT
READ_AT_CLIENT = 8  # the last part ends the RPC

LAST_STAGES = _WRITE_REPLIED, READ_AT_CLIENT
"""The stages of a message that comes to the client."""

AT_CLIENT = -4.0
"""The answer of :func:`travel` for a message whose RPC is done."""

_OSC, _DISK, _WRITERS = int(Cause.OSC), int(Cause.DISK), int(Cause.WRITERS)
_RECENT = 8.0  # RPCs of an OSC of which the mean is remembered


class Brw(Component):
    """Bulk RPCs, and all that they meet on their way."""

    network: Network
    programs: Programs
    nodes: Nodes
    lnet: Lnet
    bulk: BulkRpcs
    disks: Disks
    # float64 (2 * OSCs, meters + 1): what the latest RPCs of each OSC have spent on average, by
    # meter and in all; those of all writes stand behind those of all reads
    lives: Floats
    freed: Floats  # float64 (OSCs,): when the latest RPC of each ended

    @classmethod
    def build(cls, site: Site) -> Brw:
        """Return it for a machine."""
        obds = site.nodes * site.machine.lustre.targets
        lives = zeros((2 * obds, METERS + 1), np.float64)
        return site.make(cls, lives=lives, freed=np.full(obds, -1.0))


@outlined
def start_rpc(
    brw: Brw,
    obd_id: int,
    program: int,
    extents: int,
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
    obd_id
        The OSC that sends it.
    program, extents
        The program that waits for it, or the first extent that it carries; the other is -1.
    object_id, offset, size
        What it reads or writes, in bytes.
    partial
        What RAID stripes that it writes in part cost beyond its own bytes, in bytes.
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
    rpc.obd = obd_id
    rpc.program = program
    rpc.extents = extents
    rpc.object = object_id
    rpc.parts = 0
    rpc.write = write
    rpc.queued = brw.freed[obd_id] == now
    if brw.programs.recorder.on:
        mark_sent(brw.bulk, rpc_id, offset, in_flight)
    brw.programs.counts[1] += 1
    brw.programs.counts[2] += size
    sent = rpc_thread(brw.nodes, obd_id // brw.bulk.osts, size, now)
    latency = brw.lnet.control_latency
    if write:
        # The request to the OSS, then the OSS's LNetGet to the client: the bulk leaves after both.
        split_bulk(brw.bulk, rpc_id, -1, WRITE_FETCHED, sent + 2.0 * latency)
    else:
        message_id = new_message(brw.bulk, rpc_id, size, READ_REQUESTED)
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
    if message.stage == WRITE_FETCHED:
        if brw.programs.recorder.on:
            mark_left(brw.bulk, message_id, now)
        if not brw.lnet.routed:
            message.stage = WRITE_AT_OSS
            enter_aries_to_server(brw.lnet, message_id, node, oss, now)
            return GO_ON
        message.stage = WRITE_AT_ROUTER
        message.gateway = choose_gateway(brw.lnet, node, oss, message.bytes)
        enter_aries_outward(brw.lnet, message_id, node, now)
        return GO_ON
    if message.stage == WRITE_AT_ROUTER:
        message.stage = WRITE_AT_OSS
        if brw.programs.recorder.on:
            mark_routed(brw.bulk, message_id, now)
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
    if message.stage == READ_REQUESTED:
        message.stage = _READ_ON_OSS
        return block_io(brw.disks, message_id, now)
    if message.stage == _READ_ON_OSS:
        if message.bytes > brw.bulk.message_size:
            split_bulk(brw.bulk, message.owner, message_id, READ_CUT, now)
            give(brw.network.spare_messages, message_id)
            return GONE
        brw.bulk.rpcs[message.owner].parts = 1  # small enough to be a part itself
        message.stage = READ_CUT
    if message.stage == READ_CUT:
        if brw.programs.recorder.on:
            mark_left(brw.bulk, message_id, now)
        if not brw.lnet.routed:
            message.stage = READ_AT_CLIENT
            enter_aries_from_server(brw.lnet, message_id, node, oss, now)
            return GO_ON
        message.stage = READ_AT_ROUTER
        message.gateway = choose_gateway(brw.lnet, sender, oss, message.bytes)
        enter_infiniband_homeward(brw.lnet, message_id, oss, now)
        return GO_ON
    if message.stage == READ_AT_ROUTER:
        message.stage = READ_AT_CLIENT
        if brw.programs.recorder.on:
            mark_routed(brw.bulk, message_id, now)
        brw.lnet.queued[sender, message.gateway] -= message.bytes
        enter_aries_homeward(brw.lnet, message_id, node, now)
        return GO_ON
    if not is_last_part(brw.bulk, message_id):
        return GONE
    return AT_CLIENT


@inlined
def _cause_of(meter: int) -> int:
    """Return the cause that a meter of a message stands for."""
    return meter if meter < MESSAGE_KINDS else _DISK + meter - MESSAGE_KINDS


@inlined
def _life_of(brw: Brw, obd_id: int, write: int) -> int:
    """Return the row of ``lives`` that an OSC's reads or writes have."""
    return obd_id + (len(brw.freed) if write else 0)


@outlined
def remember_life(brw: Brw, rpc_id: int, message_id: int, now: float) -> None:
    """Remember the time of an RPC by cause, for the RPCs that waited behind it in the OSC."""
    rpc = brw.bulk.rpcs[rpc_id]
    life, spent = brw.lives[_life_of(brw, rpc.obd, rpc.write)], brw.network.spent[message_id]
    brw.freed[rpc.obd] = now
    left = now - rpc.start
    life[METERS] += (left - life[METERS]) / _RECENT
    for meter in range(METERS):
        part = min(spent[meter], left)
        life[meter] += (part - life[meter]) / _RECENT
        left -= part


@outlined
def charge_rpc(brw: Brw, program_id: int, message_id: int, now: float) -> None:
    """Charge a program's wait to its causes, as the RPC that ended it met them.

    What the program waited before that RPC was sent, it waited behind others of the OSC, if there
    was no place for it. Else there was no need of it yet: others of the node still wrote the file.
    """
    rpc = brw.bulk.rpcs[brw.network.messages[message_id].owner]
    since = brw.programs.rows[program_id].since
    behind, spent = brw.programs.behind, brw.network.spent[message_id]
    left = now - max(rpc.start, since)
    for meter in range(METERS):
        # Who joins an RPC under way waits for the rest of it alone.
        part = min(spent[meter], left)
        behind[_cause_of(meter), program_id] += part
        left -= part
    if rpc.start <= since:
        return
    if rpc.queued:
        charge_queue(brw, program_id, rpc.obd, rpc.write, rpc.start - since)
    else:
        behind[_WRITERS, program_id] += rpc.start - since


@outlined
def charge_queue(brw: Brw, program_id: int, obd_id: int, write: int, seconds: float) -> None:
    """Charge a program's wait behind RPCs of an OSC to the causes that delayed the latest one.

    While they merely travel, and the disks have answered, more in flight would help: it is their
    limit that the program waits for.
    """
    behind, life = brw.programs.behind, brw.lives[_life_of(brw, obd_id, write)]
    left = seconds
    if life[METERS] > 0.0:
        share = seconds / life[METERS]
        for meter in range(LATENCY_METER):
            behind[_cause_of(meter), program_id] += share * life[meter]
            left -= share * life[meter]
    behind[_OSC, program_id] += left
