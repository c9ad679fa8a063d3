"""The disk arrays of the OSTs: block I/O waits in line, and reads pay for heads that move.

An array reads at its full rate only what lies together. Its servers neither read ahead nor keep
what they have read (Sonexion switches the cache of the OSS off), but they sort what waits: the I/O
threads of an OSS hand their requests to the block layer, whose elevator merges those that lie
together and sorts the rest. So a read is *near* if the one before it in the object, or a little
apart, waits with it or is being served when it comes; what lies between the two passes below the
heads. Any other read waits for the heads of the disks that hold it, and for their rotation, also if
it continues what was read last but comes when that is over. One stream with several RPCs in flight
is near itself. Many streams that ask for one RPC after the other, and random reads, are not; hence
read-ahead, which keeps RPCs waiting, matters to the disks too.

The line itself is served in the order in which it formed: that an elevator changes it makes little
difference to when all of it has been served.

A RAID deals an object over disks in chunks, and the stripes that follow each other lie on the same
disks: as many heads move to a read as it has chunks, but no more than a stripe has. The array moves
the heads of all its disks at a time.

Writes pay for no heads: ldiskfs puts new blocks one behind the other, whatever their place in the
file. RAID stripes written in part cost more: the array reads what it needs to compute the parity
before it writes.
"""

from __future__ import annotations

import numpy as np

from sim.engine.calendar import schedule
from sim.engine.jit import inlined, njit
from sim.engine.network import serve
from sim.engine.queue import QUEUE, clear_all, join, pop
from sim.engine.randomness import pick
from sim.engine.types import Indices, Table, make_table
from sim.lustre.events import ARRAY_EVENT, GONE, MESSAGE_EVENT
from sim.lustre.tables import Lustre, Stat, StationKind

ARRAY = np.dtype(
    [
        ("unit", "i8"),  # the part of the object read last, in sizes of an RPC
        ("object", "i4"),  # read last; -1: written
        ("waiting", QUEUE),  # RPCs, of which the array's event takes the next; all else is at work
    ],
    align=True,
)

_FAR = 1 << 40  # bytes to a read that the heads must move to
_REACH = 4  # RPCs; what lies farther apart is not looked for
_SETS, _WAYS = 1024, 4  # places of an OST's waiting reads: each has its set
_MULTIPLIER = 0x9E3779B1  # 2^32 / golden ratio: spreads the objects

_OST = int(StationKind.OST)
_PARTIAL, _HEAD_MOVES = int(Stat.PARTIAL_STRIPES), int(Stat.HEAD_MOVES)


def make_arrays(osts: int) -> tuple[Table, Indices]:
    """Return idle arrays, and where their waiting reads can be looked up: 4,096 of each."""
    arrays = make_table(ARRAY, osts)
    arrays.object = -1
    clear_all(arrays.waiting)
    return arrays, np.full(osts * _SETS * _WAYS, -1, np.int32)


@njit
def _set_of(ost: int, object_id: int, unit: int) -> int:
    """Return the first place of the set of a read."""
    spread = (int(object_id) * _MULTIPLIER) >> 16
    return (ost * _SETS + ((spread + unit) & (_SETS - 1))) * _WAYS


@inlined
def block_io(lustre: Lustre, message_id: int, now: float) -> float:
    """Let the block I/O of a whole RPC begin or wait.

    Returns when the message acts next: see ``_begin``; ``GONE`` if it waits.
    """
    rpc_id = lustre.network.messages[message_id].owner
    rpc = lustre.rpcs[rpc_id]
    ost = rpc.channel % lustre.limits.osts
    array = lustre.arrays[ost]
    rpc.message = message_id
    rpc.arrived = now
    rpc.gap = _FAR
    if array.waiting.head < 0:
        free = lustre.network.stations[lustre.stations.ost + ost].free
        if free <= now:
            return _begin(lustre, rpc_id, ost, now)
        schedule(lustre.network.calendar, free, ARRAY_EVENT, ost)
    join(array.waiting, lustre.rpcs, rpc_id)
    if not rpc.write:
        _find_neighbours(lustre, ost, rpc_id)
        place = _place(lustre, ost, rpc_id, -1)
        if place >= 0:  # where its set is full, nobody finds it
            lustre.waiting_reads[place] = rpc_id
    return GONE


@njit
def _find_neighbours(lustre: Lustre, ost: int, rpc_id: int) -> None:
    """Note how far before a read that comes the next other lies, and tell the next one after it."""
    rpc = lustre.rpcs[rpc_id]
    array = lustre.arrays[ost]
    size = lustre.limits.rpc_size
    for step in range(_REACH + 1):
        unit = rpc.unit - step
        at_work = array.object == rpc.object and array.unit == unit
        if at_work or _listed_read(lustre, ost, rpc.object, unit) >= 0:
            rpc.gap = max(step - 1, 0) * size
            break
    for step in range(1, _REACH + 1):
        other = _listed_read(lustre, ost, rpc.object, rpc.unit + step)
        if other >= 0:
            lustre.rpcs[other].gap = min(lustre.rpcs[other].gap, (step - 1) * size)
            break


@njit
def on_array(lustre: Lustre, ost: int, now: float) -> float:
    """Let the next RPC begin that waits at an array; return when there is something to do again."""
    station = lustre.stations.ost + ost
    if lustre.network.stations[station].free > now:  # others have come between
        return lustre.network.stations[station].free
    rpc_id = _leave(lustre, ost)
    acts = _begin(lustre, rpc_id, ost, now)
    schedule(lustre.network.calendar, acts, MESSAGE_EVENT, lustre.rpcs[rpc_id].message)
    if lustre.arrays[ost].waiting.head < 0:
        return GONE
    return lustre.network.stations[station].free


@njit
def _begin(lustre: Lustre, rpc_id: int, ost: int, now: float) -> float:
    """Let an array serve an RPC; return when the OSS has the data or the client its reply.

    The array works at many RPCs at once, each of which takes it some time beyond its share of the
    disks: heads move, and parity is written before the OSS replies.
    """
    rpc = lustre.rpcs[rpc_id]
    limits = lustre.limits
    array = lustre.arrays[ost]
    work = rpc.bytes + (limits.partial_stripe_factor - 1.0) * rpc.partial
    cost = transfer_seconds(lustre, ost, rpc.write, work)
    after = lustre.ost_latency[rpc.write]
    if rpc.write:
        array.object = -1
        after += limits.control_latency
        if rpc.partial > 0:
            lustre.stats[_PARTIAL] += 1
    else:
        array.object = rpc.object
        array.unit = rpc.unit
        cost += min(rpc.gap * lustre.ost_seconds[0, ost], move_seconds(lustre, rpc.bytes))
        if rpc.gap < _FAR:
            after = 0.0
        else:
            lustre.stats[_HEAD_MOVES] += 1
    station = lustre.stations.ost + ost
    request = lustre.network.stations[station].requests
    cost *= lustre.ost_jitter[pick(limits.jitter_seed, ost, request, len(lustre.ost_jitter))]
    start = serve(lustre.network, station, now, rpc.bytes, cost)
    lustre.network.stations[station].waiting += start - rpc.arrived
    lustre.network.waits[rpc.message, _OST] += start - rpc.arrived
    return start + cost + after


@inlined
def transfer_seconds(lustre: Lustre, ost: int, write: int, work: float) -> float:
    """Return how long an array is busy with a bulk RPC that is as much work as so many bytes."""
    return lustre.ost_overhead[write, ost] + work * lustre.ost_seconds[write, ost]


@njit
def move_seconds(lustre: Lustre, size: int) -> float:
    """Return how long an array is busy with moving heads to that many bytes elsewhere."""
    limits = lustre.limits
    heads = min(-(-size // limits.raid_chunk), limits.raid_stripe // limits.raid_chunk)
    return heads * limits.head_move / limits.ost_disks


@njit
def _place(lustre: Lustre, ost: int, rpc_id: int, holding: int) -> int:
    """Return the first place of a read's set that holds a number (-1: none); -1 if none does."""
    rpc = lustre.rpcs[rpc_id]
    first = _set_of(ost, rpc.object, rpc.unit)
    for place in range(first, first + _WAYS):
        if lustre.waiting_reads[place] == holding:
            return place
    return -1


@njit
def _listed_read(lustre: Lustre, ost: int, object_id: int, unit: int) -> int:
    """Return a waiting read of a place; -1 if there is none."""
    first = _set_of(ost, object_id, unit)
    for place in range(first, first + _WAYS):
        rpc_id = lustre.waiting_reads[place]
        if rpc_id >= 0:
            rpc = lustre.rpcs[rpc_id]
            if rpc.object == object_id and rpc.unit == unit:
                return rpc_id
    return -1


@njit
def _leave(lustre: Lustre, ost: int) -> int:
    """Take the first RPC out of the line, and return it."""
    rpc_id = pop(lustre.arrays[ost].waiting, lustre.rpcs)
    rpc = lustre.rpcs[rpc_id]
    if rpc.write:
        return rpc_id
    place = _place(lustre, ost, rpc_id, rpc_id)
    if place >= 0:
        lustre.waiting_reads[place] = -1
    return rpc_id
