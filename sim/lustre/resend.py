"""What is sent again: bulk RPCs that a lost OST has not served, messages lost with a router.

When a target is back and all its clients have connected anew, each sends again what was not
answered (ptlrpc's resend after recovery): the request and, of a write, the whole bulk. An LNET
message that a dead router had, or was to get, is sent again when its sender notices.
"""

from __future__ import annotations

from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import entry
from xc40io.engine.pool import NoRowLeftError, give
from xc40io.engine.types import Integers
from xc40io.lustre.brw import (
    READ_AT_CLIENT,
    READ_CUT,
    READ_REQUESTED,
    WRITE_AT_OSS,
    WRITE_AT_ROUTER,
    WRITE_FETCHED,
    Brw,
)
from xc40io.lustre.net.bulk import new_message, split_bulk
from xc40io.lustre.server.disks import leave
from xc40io.plane.registry import MESSAGE_EVENT
from xc40io.plane.stations import METERS, StationKind

_LNET, _OST = int(StationKind.LNET), int(StationKind.OST)


@entry(raises=NoRowLeftError)
def resend(brw: Brw, ost: int, now: float) -> None:
    """Send all RPCs again that wait at the array of an OST."""
    network, disks, latency = brw.network, brw.disks, brw.lnet.control_latency
    while disks.arrays[ost].waiting.head >= 0:
        rpc_id = leave(disks, ost)
        rpc = brw.bulk.rpcs[rpc_id]
        message_id = rpc.message
        # The server that was not there kept it waiting; its way again is counted as such.
        network.spent[message_id, _OST] += now - rpc.arrived
        network.stations[disks.ost + ost].waiting += now - rpc.arrived
        if rpc.write:
            split_bulk(brw.bulk, rpc_id, message_id, WRITE_FETCHED, now + 2.0 * latency)
            give(network.spare_messages, message_id)
        else:
            network.messages[message_id].stage = READ_REQUESTED
            network.messages[message_id].server = brw.bulk.server_of[ost]
            schedule(network.calendar, now + latency, MESSAGE_EVENT, message_id)


@entry(raises=NoRowLeftError)
def lose(brw: Brw, messages: Integers, now: float, again: float) -> None:
    """Lose messages on the way to an LNET router; their senders send them again at ``again``.

    Parameters
    ----------
    brw
        The RPCs.
    messages
        int64 (n,): rows of messages of writes that come from clients, or of reads from OSSs.
    now, again
        When they are lost and sent again, in seconds.
    """
    network, bulk, lnet = brw.network, brw.bulk, brw.lnet
    for i in range(len(messages)):
        lost = messages[i]
        message = network.messages[lost]
        write = message.stage == WRITE_AT_ROUTER
        sender = message.node if write else lnet.first_oss + message.server
        lnet.queued[sender, message.gateway] -= message.bytes
        stage = WRITE_FETCHED if write else READ_CUT
        copy_id = new_message(bulk, message.owner, int(message.bytes), stage)
        for meter in range(METERS):
            network.spent[copy_id, meter] = network.spent[lost, meter]
        network.spent[copy_id, _LNET] += again - now
        schedule(network.calendar, again, MESSAGE_EVENT, copy_id)
        # Its event is still to come. As one part more of the bulk, and not the last one, what is
        # left of it ends there.
        bulk.rpcs[message.owner].parts += 1
        message.stage = WRITE_AT_OSS if write else READ_AT_CLIENT
        message.position = 1
        message.final = 0
