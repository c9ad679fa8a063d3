"""Files behind service nodes: burst buffers and home directories, reached over Cray's DVS.

The client of a compute node has no cache. It cuts a call at the stripes of the file, and each part
into blocks, which go to the service nodes over the high-speed network, straight, without LNET
routers; it keeps at most so many blocks under way to one service node, and the call ends with the
last of them. All blocks of a node pass its one DVS client; those of a service node its disks, and
whatever all service nodes share behind these. Writes to one file on one service node exclude each
other there (the inode lock of its local file system), so that many writers of one file are slower
than as many files.

A service node that moves its own files, as stage-in and stage-out do, has them on its own disks: no
network and no DVS client are in the way.

Bytes take room of an allocation when the file grows over them; where there is none left, the call
ends with ENOSPC.
"""

from __future__ import annotations

import numpy as np

from sim.engine.calendar import schedule
from sim.engine.component import Component, Demands
from sim.engine.jit import outlined
from sim.engine.network import Network, begin_segment, serve
from sim.engine.pool import Pool, give, make_pool, take
from sim.engine.queue import QUEUE, join, pop
from sim.engine.types import Indices, Table, make_table
from sim.lustre.requests import SERVER_REQUEST, Requests, may_send, send
from sim.network.aries import Aries, enter_aries
from sim.node.nodes import Nodes
from sim.plane.calls import begin_call, call_is_due, clip_to_file, start_of_call
from sim.plane.causes import Cause
from sim.plane.counters import Stat
from sim.plane.events import DVS, FULL, GO_ON, GONE, MESSAGE_EVENT, STAGES
from sim.plane.files import Backend, Files, chunk_at
from sim.plane.operations import Op
from sim.plane.programs import Programs, charge, wait_for, wake
from sim.plane.registry import on_message, performs
from sim.plane.site import Site
from sim.plane.stations import MESSAGE_KINDS, StationKind
from sim.storage.servers import make_servers, services_of

_WRITE, _FSYNC, _UNLINK, _TRUNCATE = int(Op.WRITE), int(Op.FSYNC), int(Op.UNLINK), int(Op.TRUNCATE)
_DVS, _STORE, _TRANSFER = int(Cause.DVS), int(Cause.STORE), int(Cause.TRANSFER)
_METADATA, _SYNC = int(Cause.METADATA), int(Cause.SYNC)
_NO_SPACE = int(Stat.NO_SPACE_BYTES)

# Where a program is in an operation.
_NEXT_CALL = 0  # before a call, or a request
_UNDER_WAY = 1  # waits for its blocks, or for replies

# Stages of a block: what it does when it acts next. All are of the carrier DVS.
_LEAVE = DVS * STAGES  # leave the client
_REACH_STORE = _LEAVE + 1  # go to disk
_REPLY = _LEAVE + 2  # tell the client
_FETCH = _LEAVE + 3  # be read from disk
_RETURN = _LEAVE + 4  # leave the service node
_ARRIVE = _LEAVE + 5  # pass the client
_DELIVER = _LEAVE + 6  # be there


MOUNT = np.dtype(  # what a node's DVS client has to do with one service node: node * servers + it
    [("in_flight", "i4"), ("works", QUEUE)], align=True
)

VOLUME = np.dtype([("used", "i8"), ("capacity", "i8")], align=True)  # an allocation, in bytes


DVS_PARTS = 32
"""Stripes of a call that a DVS client sends together."""

WORK = np.dtype(  # a part of a call that waits to be sent to one service node
    [
        ("offset", "i8"),
        ("left", "i8"),
        ("program", "i4"),
        ("object", "i4"),
        ("write", "i4"),
        ("next", "i4"),
    ],
    align=True,
)

BLOCK = np.dtype(
    [
        ("start", "f8"),
        ("bytes", "i8"),
        ("at_client", "f8"),  # seconds that it queued at the DVS client of its node
        ("at_store", "f8"),  # and at the disks of its service node
        ("mount", "i4"),
        ("program", "i4"),
        ("object", "i4"),
        ("write", "i4"),
    ],
    align=True,
)


class Dvs(Component):
    """The service nodes behind DVS, and the clients' parts that talk to them.

    Attributes
    ----------
    servers
        ``SERVER`` records, one a service node.
    mounts
        ``MOUNT`` records; none before the first file there.
    volumes
        ``VOLUME`` records: allocations.
    works, blocks
        Records of these names.
    client
        The first station of the nodes' DVS clients.
    server_in, server_out, server_requests, store
        The first station of the service nodes' interfaces, of their threads for small requests and
        of their disks.
    to_server, from_server
        int32 (rows, service nodes): the rows of ``Aries.peers`` with the routes from a client node
        to a service node and back; -1 where both are on one router, or where no file has led there
        yet.
    """

    network: Network
    files: Files
    programs: Programs
    aries: Aries
    nodes: Nodes
    requests: Requests
    servers: Table
    mounts: Table
    volumes: Table
    works: Table
    spare_works: Pool
    blocks: Table
    spare_blocks: Pool
    client: int
    server_in: int
    server_out: int
    server_requests: int
    store: int
    to_server: Indices
    from_server: Indices

    @classmethod
    def build(cls, site: Site) -> Dvs:
        """Return the service nodes of a machine at rest."""
        book, services = site.book, services_of(site.machine)
        names = [f"{name} node {i}" for name, service in services for i in range(service.nodes)]
        shared = [f"what stands behind the {name} nodes" for name, _ in services]
        clients = site.nodes if services else 0
        routers = len(np.unique(site.fabric.node_router[site.occupants.nodes]))
        label = "{} small requests".format
        stations = {
            "client": book.add(
                StationKind.DVS, clients, lambda i: f"DVS client of {site.node_name(i)}"
            ),
            "server_in": site.add_interfaces(len(names), lambda i: f"NIC into {names[i]}"),
            "server_out": site.add_interfaces(len(names), lambda i: f"NIC out of {names[i]}"),
            "server_requests": book.add(StationKind.SERVICE, len(names), lambda i: label(names[i])),
            "store": book.add(
                StationKind.STORE, len(names), lambda i: f"disks of {names[i]}", watched=True
            ),
        }
        behind = book.add(StationKind.STORE, len(shared), lambda i: shared[i], watched=True)
        rows = site.rows if services else 1
        return site.make(
            cls,
            servers=make_servers(site.machine, behind),
            mounts=make_table(MOUNT, 0),
            volumes=make_table(VOLUME, 0),
            works=make_table(WORK, rows),
            spare_works=make_pool(rows),
            blocks=make_table(BLOCK, rows),
            spare_blocks=make_pool(rows),
            to_server=np.full((routers, len(names)), -1, np.int32),
            from_server=np.full((routers, len(names)), -1, np.int32),
            **stations,
        )

    def demands(self) -> Demands:
        """Return what the parts of a call take that a client sends together."""
        if not len(self.mounts):
            return []
        under_way = int(self.servers.blocks_in_flight.max())
        blocks = DVS_PARTS * under_way + 1
        spare = self.spare_works, self.spare_blocks, self.network.spare_messages
        return [(spare[0], DVS_PARTS), (spare[1], blocks), (spare[2], blocks)]


@performs(Dvs, Op.READ, Op.WRITE, on=Backend.DVS)
@outlined
def transfer(dvs: Dvs, program_id: int, now: float) -> float:
    """Take a run of reads or writes one step further."""
    if dvs.programs.rows[program_id].phase > _NEXT_CALL:
        return _next_parts(dvs, program_id, now)
    if not call_is_due(dvs.programs, program_id, now):
        return GO_ON
    return _next_call(dvs, program_id, now)


@performs(
    Dvs,
    *(Op.OPEN, Op.CREATE, Op.CLOSE, Op.STAT, Op.UNLINK, Op.MKDIR, Op.TRUNCATE, Op.FSYNC),
    on=Backend.DVS,
)
@outlined
def metadata(dvs: Dvs, program_id: int, now: float) -> float:
    """Take an operation one step further that is a small request, or an fsync."""
    program = dvs.programs.rows[program_id]
    operation = dvs.programs.operations[program.op]
    if program.phase == _NEXT_CALL:
        return _ask(dvs, program_id, operation.kind, now)
    program.phase = _NEXT_CALL
    program.op += 1
    if operation.kind != _FSYNC:
        charge(dvs.programs, program_id, _METADATA, now)
        return GO_ON
    file = dvs.files.rows[operation.file]
    seconds = dvs.servers[dvs.files.objects[file.first_object].ost].sync_time
    dvs.programs.waits[program_id, _SYNC] += now - program.since + seconds
    return now + seconds


@outlined
def _ask(dvs: Dvs, program_id: int, kind: int, now: float) -> float:
    """Send a small request to the file's first service node; an fsync to all of them."""
    program = dvs.programs.rows[program_id]
    operation = dvs.programs.operations[program.op]
    file = dvs.files.rows[operation.file]
    asked = file.stripe_count if kind == _FSYNC else 1
    if not may_send(dvs.requests, asked):
        return FULL
    if kind in (_UNLINK, _TRUNCATE):
        end = operation.offset if kind == _TRUNCATE else 0
        dvs.volumes[file.volume].used -= max(file.end - end, 0)
        file.end = end
    program.phase = _UNDER_WAY
    program.since = now
    wait_for(dvs.programs, program_id, asked, now)
    for object_id in range(file.first_object, file.first_object + asked):
        server = dvs.files.objects[object_id].ost
        station = dvs.server_requests + server
        service = dvs.servers[server].open_time
        send(dvs.requests, program_id, SERVER_REQUEST, station, service, object_id, now)
    return GONE


@outlined
def _next_call(dvs: Dvs, program_id: int, now: float) -> float:
    """Begin the next call of the run."""
    program = dvs.programs.rows[program_id]
    operation = dvs.programs.operations[program.op]
    begin_call(dvs.programs, program_id)
    if operation.kind == _WRITE:
        _take_room(dvs, program_id, start_of_call(dvs.programs, program_id))
    else:
        clip_to_file(dvs.programs, program_id)
    return _next_parts(dvs, program_id, now)


@outlined
def _take_room(dvs: Dvs, program_id: int, start: int) -> None:
    """Take room of the allocation for what a write adds to its file; refuse what has none."""
    program = dvs.programs.rows[program_id]
    file = dvs.files.rows[dvs.programs.operations[program.op].file]
    volume = dvs.volumes[file.volume]
    room = max(volume.capacity - volume.used, 0)
    stop = min(start + program.length, max(file.end, start) + room)
    refused = program.length - (stop - start)
    if refused > 0:
        dvs.programs.refused[program_id, 0] += refused
        dvs.programs.stats[_NO_SPACE] += refused
        program.length -= refused
    if program.length > 0 and stop > file.end:
        volume.used += stop - file.end
        file.end = stop


@outlined
def _next_parts(dvs: Dvs, program_id: int, now: float) -> float:
    """Send the next stripes of a call, many of them together; end the call where there are none."""
    program = dvs.programs.rows[program_id]
    operation = dvs.programs.operations[program.op]
    if program.done == program.length:
        program.phase = _NEXT_CALL
        program.call += 1
        program.calls += 1 if program.length > 0 else 0
        return GO_ON
    file = dvs.files.rows[operation.file]
    start = start_of_call(dvs.programs, program_id) + program.done
    stop = min(
        start + program.length - program.done,
        (start // file.stripe_size + DVS_PARTS) * file.stripe_size,
    )
    program.phase = _UNDER_WAY
    program.since = now
    program.pending = stop - start
    program.done += stop - start
    while start < stop:
        chunk = chunk_at(file, start)
        size = min(stop - start, chunk.left)
        _submit(dvs, program_id, chunk.object_id, start, size, operation.kind, now)
        start += size
    return GONE


@outlined
def _submit(
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
    """Let a block leave the client, or the request for one."""
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
        dvs.network.waits[message_id, kind] = 0.0
    near = dvs.nodes.rows[mount_id // servers].serves
    then = now
    if work.write:
        message.stage = _LEAVE
        if not near:
            then = _through_client(dvs, block_id, mount_id // servers, server.client_write, now)
    else:
        message.stage = _FETCH
        then += 0.0 if near else server.latency
    schedule(dvs.network.calendar, then, MESSAGE_EVENT, message_id)


@outlined
def _through_client(dvs: Dvs, block_id: int, node: int, seconds: float, now: float) -> float:
    """Queue a block at the DVS client of a node; return when it is through."""
    block = dvs.blocks[block_id]
    size = block.bytes
    held = size * seconds
    start = serve(dvs.network, dvs.client + node, now, size, held)
    block.at_client += start - now
    return start + held


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
    held = block.bytes * shared
    begun = serve(dvs.network, server.shared, start, block.bytes, held)
    done = max(done, begun + held)
    block.at_store += max(start, begun) - now
    if not block.write:
        return done + server.read_latency
    part = dvs.files.objects[block.object]  # of the file: what this service node has of it
    part.written = max(part.written, now) + block.bytes * server.file_write
    return max(done + server.write_latency, part.written)


@on_message(Dvs, DVS)
@outlined
def on_block(dvs: Dvs, message_id: int, now: float) -> float:
    """Let a block do what it does between two segments of its journey.

    Returns when it acts next, ``GONE``, or ``GO_ON`` if it stands before its next segment.
    """
    message = dvs.network.messages[message_id]
    block = dvs.blocks[message.owner]
    server = dvs.servers[block.mount % len(dvs.servers)]
    near = dvs.nodes.rows[block.mount // len(dvs.servers)].serves
    if message.stage == _LEAVE:
        message.stage = _REACH_STORE
        if near:
            return now
        _enter(dvs, message_id, block.mount, True, now)
        return GO_ON
    if message.stage == _REACH_STORE:
        message.stage = _REPLY
        return _at_store(dvs, message_id, now) + (0.0 if near else server.latency)
    if message.stage == _FETCH:
        message.stage = _RETURN
        return _at_store(dvs, message_id, now)
    if message.stage == _RETURN:
        message.stage = _DELIVER if near else _ARRIVE
        if near:
            return now
        _enter(dvs, message_id, block.mount, False, now)
        return GO_ON
    if message.stage == _ARRIVE:
        message.stage = _DELIVER
        node = block.mount // len(dvs.servers)
        return _through_client(dvs, message.owner, node, server.client_read, now)
    return _finish(dvs, message_id, now)


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
    if row < 0:
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
    waits = dvs.programs.waits
    waits[block.program, _DVS] += block.start - since  # the blocks before it were under way
    transfer = now - block.start
    for kind in range(MESSAGE_KINDS):
        waited = min(dvs.network.waits[message_id, kind], transfer)
        waits[block.program, kind] += waited
        transfer -= waited
    for cause, queued in ((_DVS, block.at_client), (_STORE, block.at_store)):
        waited = min(queued, transfer)
        waits[block.program, cause] += waited
        transfer -= waited
    waits[block.program, _TRANSFER] += transfer
