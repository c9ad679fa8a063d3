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

from sim.engine.calendar import schedule
from sim.engine.jit import njit
from sim.engine.network import begin_segment, serve
from sim.engine.pool import give, take
from sim.engine.queue import join, pop
from sim.lustre.events import GO_ON, GONE, MESSAGE_EVENT, PROGRAM_EVENT
from sim.lustre.lnet import enter_aries
from sim.lustre.requests import SERVER_REQUEST, send, wait_for
from sim.lustre.tables import (
    DVS_PARTS,
    DVS_START,
    MESSAGE_KINDS,
    Cause,
    Lustre,
    Op,
    Stat,
    StationKind,
)

_WRITE, _FSYNC, _UNLINK, _TRUNCATE = int(Op.WRITE), int(Op.FSYNC), int(Op.UNLINK), int(Op.TRUNCATE)
_DVS, _STORE, _TRANSFER = int(Cause.DVS), int(Cause.STORE), int(Cause.TRANSFER)
_METADATA, _SYNC = int(Cause.METADATA), int(Cause.SYNC)
_NO_SPACE = int(Stat.NO_SPACE_BYTES)

# Stages of a block: what it does when it acts next.
_LEAVE = DVS_START  # leave the client
_REACH_STORE = DVS_START + 1  # go to disk
_REPLY = DVS_START + 2  # tell the client
_FETCH = DVS_START + 3  # be read from disk
_RETURN = DVS_START + 4  # leave the service node
_ARRIVE = DVS_START + 5  # pass the client
_DELIVER = DVS_START + 6  # be there

# Where the queues of a block stand among the waits of its message: it meets no OSS and no OST.
_AT_CLIENT, _AT_STORE = int(StationKind.OSS), int(StationKind.OST)


@njit
def remote(lustre: Lustre, program_id: int, kind: int, now: float) -> float:
    """Take an operation on a file behind service nodes one step further."""
    program = lustre.programs[program_id]
    if kind <= _WRITE:
        if program.phase == 0:
            return _next_call(lustre, program_id, now)
        return _next_parts(lustre, program_id, now)
    if program.phase == 0:
        return _ask(lustre, program_id, kind, now)
    program.phase = 0
    program.op += 1
    if kind != _FSYNC:
        lustre.waits[program_id, _METADATA] += now - program.since
        return GO_ON
    file = lustre.files[lustre.operations[program.op - 1].file]
    seconds = lustre.servers[lustre.objects[file.first_object].ost].sync_time
    lustre.waits[program_id, _SYNC] += now - program.since + seconds
    return now + seconds


@njit
def _ask(lustre: Lustre, program_id: int, kind: int, now: float) -> float:
    """Send a small request to the file's first service node; an fsync to all of them."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    file = lustre.files[operation.file]
    if kind in (_UNLINK, _TRUNCATE):
        end = operation.offset if kind == _TRUNCATE else 0
        lustre.volumes[file.volume].used -= max(file.end - end, 0)
        file.end = end
    program.phase = 1
    program.since = now
    asked = file.stripe_count if kind == _FSYNC else 1
    wait_for(lustre, program_id, asked, now)
    for object_id in range(file.first_object, file.first_object + asked):
        server = lustre.objects[object_id].ost
        station = lustre.stations.server_requests + server
        service = lustre.servers[server].open_time
        send(lustre, program_id, SERVER_REQUEST, station, service, object_id, now)
    return GONE


@njit
def _next_call(lustre: Lustre, program_id: int, now: float) -> float:
    """Begin the next call of the run."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    file = lustre.files[operation.file]
    start = operation.offset + program.call * operation.stride
    program.done = 0
    program.length = operation.length
    if operation.kind == _WRITE:
        _take_room(lustre, program_id, start)
    else:
        program.length = max(min(program.length, file.end - start), 0)
    return _next_parts(lustre, program_id, now)


@njit
def _take_room(lustre: Lustre, program_id: int, start: int) -> None:
    """Take room of the allocation for what a write adds to its file; refuse what has none."""
    program = lustre.programs[program_id]
    file = lustre.files[lustre.operations[program.op].file]
    volume = lustre.volumes[file.volume]
    room = max(volume.capacity - volume.used, 0)
    stop = min(start + program.length, max(file.end, start) + room)
    refused = program.length - (stop - start)
    if refused > 0:
        lustre.refused[program_id, 0] += refused
        lustre.stats[_NO_SPACE] += refused
        program.length -= refused
    if program.length > 0 and stop > file.end:
        volume.used += stop - file.end
        file.end = stop


@njit
def _next_parts(lustre: Lustre, program_id: int, now: float) -> float:
    """Send the next stripes of a call, many of them together; end the call where there are none."""
    program = lustre.programs[program_id]
    operation = lustre.operations[program.op]
    if program.done == program.length:
        program.phase = 0
        program.call += 1
        program.calls += 1 if program.length > 0 else 0
        return GO_ON
    file = lustre.files[operation.file]
    start = operation.offset + program.call * operation.stride + program.done
    stop = min(
        start + program.length - program.done,
        (start // file.stripe_size + DVS_PARTS) * file.stripe_size,
    )
    program.phase = 1
    program.since = now
    program.pending = stop - start
    program.done += stop - start
    while start < stop:
        stripe = start // file.stripe_size
        row = stripe // file.stripe_count
        object_id = file.first_object + stripe - row * file.stripe_count
        size = min(stop, (stripe + 1) * file.stripe_size) - start
        _submit(lustre, program_id, object_id, start, size, operation.kind, now)
        start += size
    return GONE


@njit
def _submit(
    lustre: Lustre, program_id: int, object_id: int, offset: int, size: int, write: int, now: float
) -> None:
    """Queue bytes of a program's call for a service node; ``offset`` is in the file."""
    node = lustre.programs[program_id].node
    mount_id = node * len(lustre.servers) + lustre.objects[object_id].ost
    work_id = take(lustre.spare_works)
    work = lustre.works[work_id]
    work.offset = offset
    work.left = size
    work.program = program_id
    work.window = -1
    work.object = object_id
    work.write = write
    join(lustre.mounts[mount_id].works, lustre.works, work_id)
    _pump(lustre, mount_id, now)


@njit
def _pump(lustre: Lustre, mount_id: int, now: float) -> None:
    """Send blocks to a service node while more may be under way."""
    mount = lustre.mounts[mount_id]
    server = lustre.servers[mount_id % len(lustre.servers)]
    while mount.works.head >= 0 and mount.in_flight < server.blocks_in_flight:
        work_id = mount.works.head
        work = lustre.works[work_id]
        size = min(work.left, server.block_size - work.offset % server.block_size)
        work.offset += size
        work.left -= size
        _start_block(lustre, mount_id, work_id, size, now)
        if work.left == 0:
            pop(mount.works, lustre.works)
            give(lustre.spare_works, work_id)


@njit
def _start_block(lustre: Lustre, mount_id: int, work_id: int, size: int, now: float) -> None:
    """Let a block leave the client, or the request for one."""
    work = lustre.works[work_id]
    servers = len(lustre.servers)
    server = lustre.servers[mount_id % servers]
    rpc_id = take(lustre.spare_rpcs)
    rpc = lustre.rpcs[rpc_id]
    rpc.start = now
    rpc.bytes = size
    rpc.channel = mount_id
    rpc.program = work.program
    rpc.object = work.object
    rpc.write = work.write
    lustre.mounts[mount_id].in_flight += 1
    lustre.counts[1] += 1
    lustre.counts[2] += size
    message_id = take(lustre.network.spare)
    message = lustre.network.messages[message_id]
    message.owner = rpc_id
    message.bytes = size
    message.position = 0
    message.final = -1
    for kind in range(MESSAGE_KINDS):
        lustre.network.waits[message_id, kind] = 0.0
    near = lustre.nodes[mount_id // servers].serves
    then = now
    if work.write:
        message.stage = _LEAVE
        if not near:
            then = _through_client(
                lustre, message_id, mount_id // servers, server.client_write, now
            )
    else:
        message.stage = _FETCH
        then += 0.0 if near else server.latency
    schedule(lustre.network.calendar, then, MESSAGE_EVENT, message_id)


@njit
def _through_client(
    lustre: Lustre, message_id: int, node: int, seconds: float, now: float
) -> float:
    """Queue a block at the DVS client of a node; return when it is through."""
    size = lustre.network.messages[message_id].bytes
    held = size * seconds
    start = serve(lustre.network, lustre.stations.dvs + node, now, size, held)
    lustre.network.waits[message_id, _AT_CLIENT] += start - now
    return start + held


@njit
def _at_store(lustre: Lustre, message_id: int, now: float) -> float:
    """Queue a block at the disks of its service node; return when it is read or written."""
    rpc = lustre.rpcs[lustre.network.messages[message_id].owner]
    number = rpc.channel % len(lustre.servers)
    server = lustre.servers[number]
    seconds = server.write_seconds if rpc.write else server.read_seconds
    shared = server.shared_write if rpc.write else server.shared_read
    held = server.request_time + rpc.bytes * seconds
    start = serve(lustre.network, lustre.stations.store + number, now, rpc.bytes, held)
    done = start + held
    held = rpc.bytes * shared
    begun = serve(lustre.network, server.shared, start, rpc.bytes, held)
    done = max(done, begun + held)
    lustre.network.waits[message_id, _AT_STORE] += max(start, begun) - now
    if not rpc.write:
        return done + server.read_latency
    part = lustre.objects[rpc.object]  # of the file: what this service node has of it
    part.written = max(part.written, now) + rpc.bytes * server.file_write
    return max(done + server.write_latency, part.written)


@njit
def on_block(lustre: Lustre, message_id: int, now: float) -> float:
    """Let a block do what it does between two segments of its journey.

    Returns when it acts next, ``GONE``, or ``GO_ON`` if it stands before its next segment.
    """
    message = lustre.network.messages[message_id]
    rpc = lustre.rpcs[message.owner]
    server = lustre.servers[rpc.channel % len(lustre.servers)]
    near = lustre.nodes[rpc.channel // len(lustre.servers)].serves
    if message.stage == _LEAVE:
        message.stage = _REACH_STORE
        if near:
            return now
        _enter(lustre, message_id, rpc.channel, True, now)
        return GO_ON
    if message.stage == _REACH_STORE:
        message.stage = _REPLY
        return _at_store(lustre, message_id, now) + (0.0 if near else server.latency)
    if message.stage == _FETCH:
        message.stage = _RETURN
        return _at_store(lustre, message_id, now)
    if message.stage == _RETURN:
        message.stage = _DELIVER if near else _ARRIVE
        if near:
            return now
        _enter(lustre, message_id, rpc.channel, False, now)
        return GO_ON
    if message.stage == _ARRIVE:
        message.stage = _DELIVER
        node = rpc.channel // len(lustre.servers)
        return _through_client(lustre, message_id, node, server.client_read, now)
    return _finish(lustre, message_id, now)


@njit
def _enter(lustre: Lustre, message_id: int, mount_id: int, outward: bool, now: float) -> None:
    """Put a block before its way over the network, to its service node or back."""
    routing, stations = lustre.routing, lustre.stations
    node, server = mount_id // len(lustre.servers), mount_id % len(lustre.servers)
    router = routing.router_index[node]
    if outward:
        first, last = stations.nic_out + node, stations.server_in + server
        row = routing.to_server[router, server]
    else:
        first, last = stations.server_out + server, stations.nic_in + node
        row = routing.from_server[router, server]
    if row < 0:
        begin_segment(lustre.network, message_id, now, first, 0, 0, last)
    else:
        enter_aries(lustre, message_id, routing.peers[row], first, last, now)


@njit
def _finish(lustre: Lustre, message_id: int, now: float) -> float:
    """End a block at the client: tell who waits for it, and send the next one."""
    rpc_id = lustre.network.messages[message_id].owner
    rpc = lustre.rpcs[rpc_id]
    mount_id = rpc.channel
    lustre.mounts[mount_id].in_flight -= 1
    program = lustre.programs[rpc.program]
    program.pending -= rpc.bytes
    if program.pending == 0:
        _charge(lustre, message_id, now)
        schedule(lustre.network.calendar, now, PROGRAM_EVENT, rpc.program)
    give(lustre.network.spare, message_id)
    give(lustre.spare_rpcs, rpc_id)
    _pump(lustre, mount_id, now)
    return GONE


@njit
def _charge(lustre: Lustre, message_id: int, now: float) -> None:
    """Charge a program's wait to its causes, as the block that ended it met them."""
    rpc = lustre.rpcs[lustre.network.messages[message_id].owner]
    since = lustre.programs[rpc.program].since
    lustre.waits[rpc.program, _DVS] += rpc.start - since  # the blocks before it were under way
    transfer = now - rpc.start
    for kind in range(MESSAGE_KINDS):
        waited = min(lustre.network.waits[message_id, kind], transfer)
        cause = _DVS if kind == _AT_CLIENT else _STORE if kind == _AT_STORE else kind
        lustre.waits[rpc.program, cause] += waited
        transfer -= waited
    lustre.waits[rpc.program, _TRANSFER] += transfer
