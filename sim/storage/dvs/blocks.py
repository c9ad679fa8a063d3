"""Blocks: what a DVS client and a service node send each other, and what each passes on its way.

A write goes through the client of its node, over the network, to disk, and its reply back. A read
is asked for, read from disk, goes over the network, and through the client.
"""

from __future__ import annotations

from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import outlined
from xc40io.engine.network import begin_segment, serve
from xc40io.engine.pool import give, take
from xc40io.engine.queue import join, pop
from xc40io.network.aries import enter_aries
from xc40io.plane.causes import Cause
from xc40io.plane.programs import charge, wake
from xc40io.plane.registry import DVS, GO_ON, GONE, MESSAGE_EVENT, STAGES, on_message
from xc40io.plane.stations import MESSAGE_KINDS
from xc40io.storage.dvs.mounts import Dvs

_DVS, _STORE, _TRANSFER = int(Cause.DVS), int(Cause.STORE), int(Cause.TRANSFER)

# Stages of a block: what has happened, what it does next -> what follows. All are of the carrier
# DVS.
_READY = DVS * STAGES  # a write is through the client: goes to the service node -> _AT_SERVER
_AT_SERVER = _READY + 1  # it is at the service node: is written to disk, and told of -> _ENDED
_ASKED = _READY + 2  # the service node knows of a read: it comes from disk -> _FETCHED
_FETCHED = _READY + 3  # it is off the disk: goes to the node -> _AT_CLIENT; without a way -> _ENDED
_AT_CLIENT = _READY + 4  # it is at the node: passes the client -> _ENDED
_ENDED = _READY + 5  # the client knows of it: the block is gone


@outlined
def submit(
    dvs: Dvs, program_id: int, object_id: int, offset: int, size: int, write: int, now: float
) -> None:
    """Queue bytes of a program's call for a service node; ``offset`` is in the file."""
    node = dvs.programs.rows[program_id].node
    mount_id = node * len(dvs.servers) + dvs.files.objects[object_id].ost
    work_id = take(dvs.spare_works)
    work = dvs.works[work_id]
    work.offset = offset
    work.left = size
    work.program = program_id
    work.object = object_id
    work.write = write
    join(dvs.mounts[mount_id].works, dvs.works, work_id)
    _pump(dvs, mount_id, now)


@outlined
def _pump(dvs: Dvs, mount_id: int, now: float) -> None:
    """Send blocks to a service node while more may be under way."""
    mount = dvs.mounts[mount_id]
    server = dvs.servers[mount_id % len(dvs.servers)]
    while mount.works.head >= 0 and mount.in_flight < server.blocks_in_flight:
        work_id = mount.works.head
        work = dvs.works[work_id]
        size = min(work.left, server.block_size - work.offset % server.block_size)
        work.offset += size
        work.left -= size
        _start_block(dvs, mount_id, work_id, size, now)
        if work.left == 0:
            pop(mount.works, dvs.works)
            give(dvs.spare_works, work_id)


@outlined
def _start_block(dvs: Dvs, mount_id: int, work_id: int, size: int, now: float) -> None:
    """Send a block that is written, or the request for one that is read."""
    work = dvs.works[work_id]
    servers = len(dvs.servers)
    server = dvs.servers[mount_id % servers]
    block_id = take(dvs.spare_blocks)
    block = dvs.blocks[block_id]
    block.start = now
    block.at_client = block.at_store = 0.0
    block.bytes = size
    block.mount = mount_id
    block.program = work.program
    block.object = work.object
    block.write = work.write
    dvs.mounts[mount_id].in_flight += 1
    dvs.programs.counts[1] += 1
    dvs.programs.counts[2] += size
    message_id = take(dvs.network.spare_messages)
    message = dvs.network.messages[message_id]
    message.owner = block_id
    message.bytes = size
    message.position = 0
    message.final = -1
    for kind in range(MESSAGE_KINDS):
        dvs.network.spent[message_id, kind] = 0.0
    near = dvs.nodes.rows[mount_id // servers].serves  # the disks are the program's own
    then = now
    if work.write:
        message.stage = _READY
        if not near:
            then = _through_client(dvs, block_id, mount_id // servers, server.client_write, now)
    else:
        message.stage = _ASKED
        then += 0.0 if near else server.latency
    schedule(dvs.network.calendar, then, MESSAGE_EVENT, message_id)


@outlined
def _through_client(dvs: Dvs, block_id: int, node: int, seconds: float, now: float) -> float:
    """Queue a block at the DVS client of a node; return when it is through."""
    block = dvs.blocks[block_id]
    size = block.bytes
    held = size * seconds
    start = serve(dvs.network, dvs.client + node, now, size, held)
    block.at_client += start + held - now
    return start + held


@on_message(Dvs, DVS)
@outlined
def on_block(dvs: Dvs, message_id: int, now: float) -> float:
    """Take a block from one stage of its journey to the next.

    Returns when it acts next, ``GONE``, or ``GO_ON`` if it stands before its next segment.
    """
    message = dvs.network.messages[message_id]
    block = dvs.blocks[message.owner]
    server = dvs.servers[block.mount % len(dvs.servers)]
    near = dvs.nodes.rows[block.mount // len(dvs.servers)].serves
    if message.stage == _READY:
        message.stage = _AT_SERVER
        if near:
            return now
        _enter(dvs, message_id, block.mount, True, now)
        return GO_ON
    if message.stage == _AT_SERVER:
        message.stage = _ENDED
        return _at_store(dvs, message_id, now) + (0.0 if near else server.latency)
    if message.stage == _ASKED:
        message.stage = _FETCHED
        return _at_store(dvs, message_id, now)
    if message.stage == _FETCHED:
        message.stage = _ENDED if near else _AT_CLIENT
        if near:
            return now
        _enter(dvs, message_id, block.mount, False, now)
        return GO_ON
    if message.stage == _AT_CLIENT:
        message.stage = _ENDED
        node = block.mount // len(dvs.servers)
        return _through_client(dvs, message.owner, node, server.client_read, now)
    return _finish(dvs, message_id, now)


@outlined
def _at_store(dvs: Dvs, message_id: int, now: float) -> float:
    """Queue a block at the disks of its service node; return when it is read or written."""
    block = dvs.blocks[dvs.network.messages[message_id].owner]
    number = block.mount % len(dvs.servers)
    server = dvs.servers[number]
    seconds = server.write_seconds if block.write else server.read_seconds
    shared = server.shared_write if block.write else server.shared_read
    held = server.request_time + block.bytes * seconds
    start = serve(dvs.network, dvs.store + number, now, block.bytes, held)
    done = start + held
    # What stands behind all service nodes moves the block while the disks here do. It is asked at
    # once: blocks that wait for busy disks must not keep it from those for idle ones.
    held = block.bytes * shared
    begun = serve(dvs.network, server.shared, now, block.bytes, held)
    done = max(done, begun + held)
    if not block.write:
        block.at_store += done + server.read_latency - now
        return done + server.read_latency
    # The inode lock of the local file system: writes to the part of the file that is here exclude
    # each other, beside the disks, which serve others meanwhile.
    part = dvs.files.objects[block.object]
    part.written = max(part.written, now) + server.file_write_time + block.bytes * seconds
    done = max(done + server.write_latency, part.written)
    block.at_store += done - now
    return done


@outlined
def _enter(dvs: Dvs, message_id: int, mount_id: int, outward: bool, now: float) -> None:
    """Put a block before its way over the network, to its service node or back."""
    node, server = mount_id // len(dvs.servers), mount_id % len(dvs.servers)
    router = dvs.aries.router_index[node]
    if outward:
        first, last = dvs.aries.nic_out + node, dvs.server_in + server
        row = dvs.to_server[router, server]
    else:
        first, last = dvs.server_out + server, dvs.aries.nic_in + node
        row = dvs.from_server[router, server]
    if row < 0:  # on one Aries router: no links
        begin_segment(dvs.network, message_id, now, first, 0, 0, last)
    else:
        enter_aries(dvs.aries, message_id, dvs.aries.peers[row], first, last, now)


@outlined
def _finish(dvs: Dvs, message_id: int, now: float) -> float:
    """End a block at the client: tell who waits for it, and send the next one."""
    block_id = dvs.network.messages[message_id].owner
    block = dvs.blocks[block_id]
    mount_id = block.mount
    dvs.mounts[mount_id].in_flight -= 1
    program = dvs.programs.rows[block.program]
    program.pending -= block.bytes
    if program.pending == 0:
        _charge(dvs, message_id, now)
        wake(dvs.programs, block.program, now)
    give(dvs.network.spare_messages, message_id)
    give(dvs.spare_blocks, block_id)
    _pump(dvs, mount_id, now)
    return GONE


@outlined
def _charge(dvs: Dvs, message_id: int, now: float) -> None:
    """Charge a program's wait to its causes, as the block that ended it met them."""
    block = dvs.blocks[dvs.network.messages[message_id].owner]
    since = dvs.programs.rows[block.program].since
    charge(dvs.programs, block.program, _TRANSFER, now)
    behind = dvs.programs.behind
    behind[_DVS, block.program] += block.start - since  # the blocks before it were under way
    # Blocks of a call overlap: the one that ended it stands for all, and its times at different
    # stations may sum to more than passed, as messages cut through.
    left = now - block.start
    for kind in range(MESSAGE_KINDS):
        part = min(dvs.network.spent[message_id, kind], left)
        behind[kind, block.program] += part
        left -= part
    for cause, spent in ((_DVS, block.at_client), (_STORE, block.at_store)):
        part = min(spent, left)
        behind[cause, block.program] += part
        left -= part
