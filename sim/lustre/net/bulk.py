"""Bulk under way: the BRW RPCs between client nodes and OSTs, and their LNET messages."""

from __future__ import annotations

import numpy as np

from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import inlined, outlined
from xc40io.engine.component import Component, Demands
from xc40io.engine.network import Network
from xc40io.engine.pool import Pool, give, make_pool, next_row, take
from xc40io.engine.types import Indices, Table, enlarge_table, make_table
from xc40io.lustre.net.lnet import Lnet
from xc40io.plane.recorder import Recorder
from xc40io.plane.registry import MESSAGE_EVENT
from xc40io.plane.site import Site
from xc40io.plane.stations import METERS, StationKind

_NIC, _LINK, _LNET, _IB, _OSS = (
    int(StationKind[name]) for name in ("NIC", "LINK", "LNET", "IB", "OSS")
)

RPC = np.dtype(  # a BRW RPC and its bulk, in 64 bytes: one line of the cache
    [
        ("start", "f8"),
        ("arrived", "f8"),  # at the disk array
        ("unit", "i8"),  # where in the object it lies, in sizes of an RPC
        ("bytes", "i4"),
        ("partial", "i4"),  # work for RAID stripes that it writes in part, in bytes
        ("obd", "i4"),
        ("program", "i4"),  # who waits for it, or -1
        ("extents", "i4"),  # its first extent, or -1
        ("object", "i4"),
        ("message", "i4"),  # with which it goes on after the block I/O
        ("next", "i4"),  # in the line of the disk array
        ("parts", "i4"),  # LNET messages of its bulk that are still on the way
        ("write", "i1"),
        ("queued", "i1"),  # it began when another one of its OSC gave up its place
        ("gap", "i1"),  # RPCs from the read before it, of those that wait there, to this one
    ],
    align=True,
)


RPC_MARKS = np.dtype(  # what the recorder is to know of a BRW RPC besides
    [
        ("offset", "i8"),  # bytes: where in the object it begins
        ("left", "f8"),  # s: the bulk leaves its sender; infinity before
        ("routed", "f8"),  # an LNET router has stored the latest part of it
        ("begun", "f8"),  # block I/O begins
        ("served", "f8"),  # the array can turn to another
        ("in_flight", "i4"),  # RPCs of its OSC when it was sent, itself included
        ("pieces", "i4"),  # of the object in which its bytes lie, at most
    ],
    align=True,
)


class BulkRpcs(Component):
    """All bulk RPCs under way."""

    network: Network
    recorder: Recorder
    rpcs: Table  # `RPC` records
    marks: Table  # `RPC_MARKS` records beside them; none where nothing is recorded
    spare_rpcs: Pool
    osts: int  # OSTs of the machine, and MDTs that have data
    server_of: (
        Indices  # int32 (OSTs,): which OSS serves each, as xc40io.lustre.net.lnet.Lnet has it
    )
    parts: int  # LNET messages of the bulk of a whole RPC
    message_size: int  # bytes of the largest LNET message (the LNET MTU)

    @classmethod
    def build(cls, site: Site) -> BulkRpcs:
        """Return no RPCs."""
        lustre = site.machine.lustre
        return site.make(
            cls,
            rpcs=make_table(RPC, site.rows),
            marks=make_table(RPC_MARKS, site.rows if site.record else 0),
            spare_rpcs=make_pool(site.rows),
            osts=lustre.targets,
            server_of=site.part(Lnet).server_of,
            parts=site.bulk_parts,
            message_size=site.machine.message_size,
        )

    def grow(self, name: str, rows: int) -> None:
        """Make the table of RPCs longer, and what goes by its rows with it."""
        super().grow(name, rows)
        if len(self.marks):
            self.marks = enlarge_table(self.marks, rows)

    def demands(self) -> Demands:
        """Return the messages of the bulk of a whole RPC, which an OSS cuts it into."""
        return [(self.network.spare_messages, self.parts)]


@inlined
def new_message(bulk: BulkRpcs, rpc_id: int, size: int, stage: int) -> int:
    """Take a message for (a part of) the bulk of an RPC; nothing has delayed it yet."""
    network = bulk.network
    message_id = take(network.spare_messages)
    message = network.messages[message_id]
    obd_id = bulk.rpcs[rpc_id].obd
    message.owner = rpc_id
    message.node = obd_id // bulk.osts
    message.server = bulk.server_of[obd_id % bulk.osts]
    message.bytes = size
    message.stage = stage
    message.position = 0
    message.final = -1
    for meter in range(METERS):  # a fixed number: the compiler unrolls it
        network.spent[message_id, meter] = 0.0
    return message_id


@outlined
def mark_sent(bulk: BulkRpcs, rpc_id: int, offset: int, in_flight: int) -> None:
    """Note the columns that only the record of an RPC needs, when it is sent."""
    marks = bulk.marks[rpc_id]
    marks.offset = offset
    marks.in_flight = in_flight
    marks.pieces = 1
    marks.left = marks.routed = marks.begun = marks.served = np.inf
    bulk.rpcs[rpc_id].arrived = np.inf


@outlined
def mark_left(bulk: BulkRpcs, message_id: int, now: float) -> None:
    """Note that a part of a bulk leaves its sender; all parts do at one time."""
    bulk.marks[bulk.network.messages[message_id].owner].left = now


@outlined
def mark_routed(bulk: BulkRpcs, message_id: int, now: float) -> None:
    """Note that an LNET router has stored a part of a bulk; the time of the last one stays."""
    bulk.marks[bulk.network.messages[message_id].owner].routed = now


@outlined
def add_rpc(bulk: BulkRpcs, message_id: int, now: float) -> None:
    """Record an RPC when the client has the reply, or all of the data."""
    message = bulk.network.messages[message_id]
    rpc, marks = bulk.rpcs[message.owner], bulk.marks[message.owner]
    recorder = bulk.recorder
    row = recorder.rpcs[next_row(recorder.spare_rpcs, len(recorder.rpcs))]
    row.node = rpc.obd // bulk.osts
    row.ost = rpc.obd % bulk.osts
    row.object = rpc.object
    row.write = rpc.write
    row.in_flight = marks.in_flight
    row.gateway = message.gateway
    row.pieces = marks.pieces
    row.bytes = rpc.bytes
    row.offset = marks.offset
    row.start = rpc.start
    row.left = marks.left
    row.routed = marks.routed
    row.arrived = rpc.arrived
    row.begun = marks.begun
    row.served = marks.served
    row.ended = now
    spent = bulk.network.spent[message_id]
    row.at_nic = spent[_NIC]
    row.at_link = spent[_LINK]
    row.at_lnet = spent[_LNET]
    row.at_ib = spent[_IB]
    row.at_oss = spent[_OSS]


@outlined
def split_bulk(bulk: BulkRpcs, rpc_id: int, origin: int, stage: int, time: float) -> None:
    """Cut the bulk of an RPC into LNET messages that act at ``time``.

    They inherit what message ``origin`` (-1: none) has spent.
    """
    rpc = bulk.rpcs[rpc_id]
    left = rpc.bytes
    while left > 0:
        size = min(left, bulk.message_size)
        message_id = new_message(bulk, rpc_id, size, stage)
        if origin >= 0:
            for meter in range(METERS):
                bulk.network.spent[message_id, meter] = bulk.network.spent[origin, meter]
        schedule(bulk.network.calendar, time, MESSAGE_EVENT, message_id)
        rpc.parts += 1
        left -= size


@inlined
def is_last_part(bulk: BulkRpcs, message_id: int) -> bool:
    """Count a part of a bulk as arrived; give back its row unless it is the last one."""
    rpc = bulk.rpcs[bulk.network.messages[message_id].owner]
    rpc.parts -= 1
    if rpc.parts > 0:
        give(bulk.network.spare_messages, message_id)
        return False
    return True
