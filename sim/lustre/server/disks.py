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
difference to when all of it has been served. How long that takes is another matter. A disk knows of
many reads, and turns to the one that it comes to first, seek and rotation together (tagged command
queueing). So it moves for the least of as many random moves as reads wait for it: with 16 of them
in 3.4 ms in place of 7.7. What a disk has passed over lies less well for its next choice; that
costs a tenth, and is left out.

A RAID deals an object over disks in chunks, and the stripes that follow each other lie on the same
disks: as many heads move to a read as it has chunks, but no more than a stripe has. The array moves
the heads of all its disks at a time, so that it is busy with a share of these moves. The read
itself ends when the slowest of its disks does, and waits longer the more of them it needs. How long
each takes depends on where its head is, where the data are, and where the platter stands then: all
three are drawn at random.

Writes pay for no heads: ldiskfs puts new blocks one behind the other, whatever their place in the
file. RAID stripes written in part cost more: the array computes the parity of a row, a page of each
disk, from all of its data, and reads first what of a row is not written (reconstruct-write; Linux
drivers/md/raid5.c). So a piece on one disk costs as if it lay on all, and none costs more than its
whole stripe does.
"""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from xc40io.config.parts.lustre import Lustre
from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import inlined, njit, outlined
from xc40io.engine.component import Component
from xc40io.engine.exact import exponential
from xc40io.engine.network import Network, serve
from xc40io.engine.queue import QUEUE, clear_all, join, pop
from xc40io.engine.randomness import pick, stream
from xc40io.engine.types import Floats, Indices, Table, make_table
from xc40io.lustre.net.bulk import BulkRpcs
from xc40io.lustre.net.lnet import Lnet
from xc40io.plane.counters import Stat
from xc40io.plane.programs import Programs, jitter_seed
from xc40io.plane.registry import ARRAY_EVENT, GONE, MESSAGE_EVENT, on_event
from xc40io.plane.site import Site
from xc40io.plane.stations import DISK_METER, LATENCY_METER, SEEK_METER, StationKind

ARRAY = np.dtype(
    [
        ("unit", "i8"),  # the part of the object read last, in sizes of an RPC
        ("object", "i4"),  # read last; -1: written
        ("waiting", QUEUE),  # RPCs, of which the array's event takes the next
        ("line", "i8"),  # bytes of these
        ("moves", "i8"),  # of heads, to the reads among them that are not near
    ],
    align=True,
)

_FACTORS = 4096
_MOVES = 1024  # how long the slowest of some heads takes, as that many quantiles
_BELOW = (np.arange(_MOVES) + 0.5) / _MOVES
_PLACES = 512  # of heads and platters, from which a disk's time is worked out
_SLOWEST = 0.1  # of the mean: a slower OST would be taken out of service

_FAR = 127  # RPCs to a read that the heads must move to
_REACH = 4  # RPCs; what lies farther apart is not looked for
_SETS, _WAYS = 1024, 4  # places of an OST's waiting reads: each has its set
_MULTIPLIER = 0x9E3779B1  # 2^32 / golden ratio: spreads the objects

_OST = int(StationKind.OST)
_PARTIAL, _HEAD_MOVES = int(Stat.PARTIAL_STRIPES), int(Stat.HEAD_MOVES)


class Disks(Component):
    """The disk arrays of all OSTs."""

    network: Network
    programs: Programs
    lnet: Lnet
    bulk: BulkRpcs
    arrays: Table  # `ARRAY` records
    waiting_reads: Indices  # int32: where reads that wait can be looked up, 4,096 of each array
    ost: int  # the station of the first
    # seconds, overhead: float64 (2, OSTs): what a byte costs at each OST, and what a BRW RPC costs
    # besides; read and write
    seconds: Floats
    overhead: Floats
    # bytes/s that the mean OST reads. Another is busy with moves of heads for as many times as long
    # as with bytes.
    read_rate: float
    # float64 (OSTs,): how many times as long as usual a read waits for heads that move: more than 1
    # while an OST is slow, as its disks then have others to serve besides
    moving: Floats
    write_latency: float  # seconds from a service of an OST to the reply
    # float64 (factors,): each service of an OST takes longer by one of these, drawn at random; mean
    # 1. Tabled to spare each RPC a logarithm, a cosine and an exponential.
    jitter: Floats
    seed: int  # of these draws
    # osts, rpc_size: how many there are, and bytes of a whole BRW RPC
    osts: int
    first_mdt: int  # from here on they are MDTs that have data, on SSDs
    rpc_size: int
    # raid_stripe, raid_chunk, ost_disks: bytes of a RAID stripe, and of the part of it on one disk;
    # disks of an OST
    raid_stripe: int
    raid_chunk: int
    ost_disks: int
    # work of a small part of a RAID stripe over what the same bytes cost in a whole one
    partial_stripe_factor: float
    # float64 (reads,): seconds to move the head of a disk, rotation included, to the one of 1, 2,
    # ... reads that wait for it which it comes to first: the mean.
    head_move: Floats
    # float64 (disks, moves): how long the slowest of 1, 2, ... heads takes to move, rotation
    # included, drawn at random from a row. Tabled, as one draw then stands for all of them.
    slowest: Floats
    alone: int  # whether nobody but the RPCs of programs uses them

    @classmethod
    def build(cls, site: Site) -> Disks:
        """Return the arrays of a machine, idle."""
        lustre = site.machine.lustre
        arrays, waiting_reads = make_arrays(lustre.targets)
        return site.make(
            cls,
            arrays=arrays,
            waiting_reads=waiting_reads,
            ost=site.book.add(
                StationKind.OST,
                lustre.targets,
                lambda i: f"OST {i}" if i < lustre.osts else f"MDT {i - lustre.osts} storage",
                watched=True,
            ),
            seconds=_with_mdts(lustre, byte_seconds(lustre, site.seed)),
            overhead=np.full((2, lustre.targets), lustre.ost_request_overhead),
            read_rate=lustre.ost_read_rate,
            moving=np.ones(lustre.targets),
            write_latency=lustre.ost_write_latency,
            jitter=_jitter(lustre.ost_jitter),
            seed=jitter_seed(site.seed),
            osts=lustre.targets,
            first_mdt=lustre.osts,
            rpc_size=lustre.rpc_size,
            raid_stripe=lustre.raid_stripe,
            raid_chunk=lustre.raid_chunk,
            ost_disks=lustre.ost_disks,
            partial_stripe_factor=lustre.partial_stripe_factor,
            head_move=first_of(lustre),
            slowest=slowest_of(lustre),
            alone=site.background.read == site.background.write == 0.0,
        )

    def serve_in_turn(self) -> None:
        """Promise nothing from now on: each RPC has the array when its turn comes."""
        self.alone = 0

    def waiting(self, ost: int) -> int:
        """Return the number of RPCs that wait at the array of an OST."""
        count, row = 0, int(self.arrays.waiting["head"][ost])
        while row >= 0:
            count, row = count + 1, int(self.bulk.rpcs.next[row])
        return count

    def pending(self) -> int:
        """Return the most events that can be pending: two an array.

        One is left over where all that waited at an array has been sent again.
        """
        return 2 * len(self.arrays)


def byte_seconds(lustre: Lustre, seed: int, repetition: int = 0) -> Floats:
    """Return the seconds a byte takes at each OST, read and write: (2, OSTs).

    The speeds of the OSTs spread around the mean of the machine; their sum is the machine's, less
    what those lose that are nearly full. They are drawn anew for each repetition of a run, from 0.
    """
    name = ("OST speed", repetition) if repetition else ("OST speed",)
    spread = stream(seed, *name).normal(1.0, lustre.ost_spread, lustre.osts)
    speed = np.maximum(spread, _SLOWEST)
    speed /= speed.mean()
    beyond = np.clip(
        (fullness_of(lustre, seed) - lustre.fullness_knee) / (1.0 - lustre.fullness_knee), 0.0, 1.0
    )
    speed *= 1.0 - lustre.fullness_loss * beyond
    return np.array([1.0 / (lustre.ost_read_rate * speed), 1.0 / (lustre.ost_write_rate * speed)])


def _with_mdts(lustre: Lustre, seconds: Floats) -> Floats:
    """Return the seconds a byte takes at each target: (2, targets), MDTs with data behind OSTs."""
    read, write = lustre.mds.mdt_read_rate or 1.0, lustre.mds.mdt_write_rate or 1.0
    mdts = np.repeat([[1.0 / read], [1.0 / write]], lustre.data_mdts, axis=1)
    return np.concatenate([seconds, mdts], axis=1)


def fullness_of(lustre: Lustre, seed: int) -> Floats:
    """Return the fullness of each OST at the start: float64 (OSTs,), around 0 to 1."""
    normal = stream(seed, "OST fullness")
    return normal.normal(lustre.ost_fullness, lustre.fullness_spread, lustre.osts)


class _HeadMoves(NamedTuple):
    """What head moves of a disk depend on, in seconds."""

    seek: float
    settle: float
    turn: float

    @classmethod
    def of(cls, lustre: Lustre) -> _HeadMoves:
        """Return those of the disks of a machine."""
        settle = min(lustre.disk_settle, lustre.disk_seek)
        return cls(lustre.disk_seek, settle, lustre.disk_turn)


# What follows takes longer than to build the rest of the arrays, and is the same in most runs. So
# runs share it, and nobody may write in it.
_KEPT = 8


def _shared(values: Floats) -> Floats:
    values.setflags(write=False)
    return values


@lru_cache(_KEPT)
def _jitter(spread: float) -> Floats:
    """Return by which factors services of an OST vary: float64 (4096,), lognormal with mean 1.

    Most services are a little faster than the mean, a few much slower. The factors are the
    distribution's quantiles in the middle of 4096 equal parts.
    """
    factors = exponential(spread * _normal_quantiles())
    return _shared(factors / factors.mean())


@lru_cache(maxsize=1)
def _normal_quantiles() -> Floats:
    """Return the standard normal distribution in the middle of equal parts: float64 (4096,)."""
    middles = (np.arange(_FACTORS) + 0.5) / _FACTORS
    return np.array([NormalDist().inv_cdf(middle) for middle in middles])


def slowest_of(lustre: Lustre) -> Floats:
    """Return how long the slowest of some heads takes to move: float64 (disks, 1024), in seconds.

    Row ``n - 1`` has the quantiles for ``n`` disks, up to those of a RAID stripe.
    """
    return _slowest_of(_HeadMoves.of(lustre), lustre.raid_stripe // lustre.raid_chunk)


@lru_cache(_KEPT)
def _slowest_of(moves: _HeadMoves, most: int) -> Floats:
    disks = np.arange(1, most + 1)
    # All of n take less than t as often as one does, to the n-th power.
    return _shared(_moves(moves, _BELOW ** (1.0 / disks[:, None])))


def first_of(lustre: Lustre) -> Floats:
    """Return how long a head takes to the nearest of some places: float64 (places,), in seconds.

    The mean, for 1, 2, ... places, up to as many as a disk chooses from. The nearest is where the
    head comes to first, rotation included.
    """
    return _first_of(_HeadMoves.of(lustre), lustre.disk_queue)


@lru_cache(_KEPT)
def _first_of(moves: _HeadMoves, most: int) -> Floats:
    places = np.arange(1, most + 1)
    # All of n take more than t as often as one does, to the n-th power.
    return _shared(_moves(moves, 1.0 - _BELOW ** (1.0 / places[:, None])).mean(axis=1))


def _moves(moves: _HeadMoves, below: Floats) -> Floats:
    """Return quantiles of how long one head takes to move: in the shape of ``below``, seconds."""
    one = _head_moves(*moves)
    return one[(below * len(one)).astype(np.int64)]


@lru_cache(_KEPT)
def _head_moves(seek: float, settle: float, turn: float) -> Floats:
    """Return how long one head takes to move: float64, ascending, each as likely, in seconds.

    A head is as likely at one place as at another, and so are the data. A seek takes as long as the
    square root of the way, as a head that speeds up over the first half and slows down over the
    second; the head has then to settle, however short the way was. ``seek`` is both on average.
    Then the platter turns up to once.
    """
    middles = (np.arange(_PLACES) + 0.5) / _PLACES
    ways = 1.0 - np.sqrt(1.0 - middles)  # between two random places of a stroke of 1
    seeks = np.sqrt(ways)
    seeks *= (seek - settle) / seeks.mean()
    seeks += settle
    return np.sort(np.add.outer(seeks, middles * turn), axis=None)


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
def block_io(disks: Disks, message_id: int, now: float) -> float:
    """Begin the block I/O of a whole RPC, or queue it.

    Returns when the message acts next: see ``_begin``; ``GONE`` if it waits.
    """
    rpc_id = disks.network.messages[message_id].owner
    rpc = disks.bulk.rpcs[rpc_id]
    ost = rpc.obd % disks.osts
    array = disks.arrays[ost]
    rpc.message = message_id
    rpc.arrived = now
    rpc.gap = _FAR
    if array.waiting.head < 0:
        free = disks.network.stations[disks.ost + ost].free
        if free <= now:
            return _begin(disks, rpc_id, ost, now)
        if disks.alone and rpc.write and array.object < 0:
            # It comes after writes, and nothing comes between: its turn needs no event. It counts
            # as one, since draws go by the number of events (start_programs).
            disks.programs.counts[0] += 1
            return _begin(disks, rpc_id, ost, free)
        schedule(disks.network.calendar, free, ARRAY_EVENT, ost)
    join(array.waiting, disks.bulk.rpcs, rpc_id)
    array.line += rpc.bytes
    if not rpc.write:
        array.moves += moving_heads(disks, rpc.bytes)
        _find_neighbours(disks, ost, rpc_id)
        place = _place(disks, ost, rpc_id, -1)
        if place >= 0:  # where its set is full, nobody finds it
            disks.waiting_reads[place] = rpc_id
    return GONE


@outlined
def _find_neighbours(disks: Disks, ost: int, rpc_id: int) -> None:
    """Note the gap before an arriving read, and its gap before the next read in the object."""
    rpc = disks.bulk.rpcs[rpc_id]
    array = disks.arrays[ost]
    for step in range(_REACH + 1):
        unit = rpc.unit - step
        at_work = array.object == rpc.object and array.unit == unit
        if at_work or _listed_read(disks, ost, rpc.object, unit) >= 0:
            _come_near(disks, ost, rpc_id, max(step - 1, 0))
            break
    # The read after it may have waited for one that had not come: now it is near.
    for step in range(1, _REACH + 1):
        other = _listed_read(disks, ost, rpc.object, rpc.unit + step)
        if other >= 0:
            _come_near(disks, ost, other, step - 1)
            break


@outlined
def _come_near(disks: Disks, ost: int, rpc_id: int, gap: int) -> None:
    """Note that a read lies so many RPCs behind another one, if it knows of no nearer."""
    rpc = disks.bulk.rpcs[rpc_id]
    if rpc.gap >= _FAR:  # no head will have to move to it
        disks.arrays[ost].moves -= moving_heads(disks, rpc.bytes)
    rpc.gap = min(rpc.gap, gap)


@on_event(Disks, ARRAY_EVENT)
@outlined
def on_array(disks: Disks, ost: int, now: float) -> float:
    """Begin the next RPC that waits at an array; return when the array can turn to another."""
    if disks.arrays[ost].waiting.head < 0:  # its OST was gone: they are sent again
        return GONE
    station = disks.ost + ost
    if disks.network.stations[station].free > now:  # others have come between
        return disks.network.stations[station].free
    rpc_id = leave(disks, ost)
    acts = _begin(disks, rpc_id, ost, now)
    schedule(disks.network.calendar, acts, MESSAGE_EVENT, disks.bulk.rpcs[rpc_id].message)
    if disks.arrays[ost].waiting.head < 0:
        return GONE
    return disks.network.stations[station].free


@outlined
def _begin(disks: Disks, rpc_id: int, ost: int, now: float) -> float:
    """Serve an RPC at an array; return when the OSS has the data or the client its reply.

    The array works at many RPCs at once, each of which takes it some time beyond its share of the
    disks: a read waits for the slowest of its heads, and parity is written before the OSS replies.
    """
    rpc = disks.bulk.rpcs[rpc_id]
    array = disks.arrays[ost]
    on_ssd = ost >= disks.first_mdt
    work = float(rpc.bytes)
    if not on_ssd:
        work += rpc.partial
    moving = transfer_seconds(disks, ost, rpc.write, work)
    heads = slowest = latency = reply = 0.0
    station = disks.ost + ost
    # Drawn by the number of the request at its OST, so that no other OST's traffic shifts it.
    request = disks.network.stations[station].requests
    if rpc.write:
        array.object = -1  # the heads are at the new blocks: no read is near what was read
        latency = 0.0 if on_ssd else disks.write_latency
        reply = disks.lnet.control_latency
        if rpc.partial > 0 and not on_ssd:
            disks.programs.stats[_PARTIAL] += 1
    elif not on_ssd:
        array.object = rpc.object
        array.unit = rpc.unit
        heads = move_seconds(disks, ost, rpc.bytes)
        if rpc.gap < _FAR:
            # The gap passes below the heads, unless it takes less time to move them.
            heads = min(int(rpc.gap) * disks.rpc_size * disks.seconds[0, ost], heads)
        else:
            disks.programs.stats[_HEAD_MOVES] += 1
            row = moving_heads(disks, rpc.bytes) - 1
            drawn = disks.slowest[row, pick(disks.seed, disks.osts + ost, request, _MOVES)]
            slowest = drawn * move_share(disks, ost) * disks.moving[ost]
    factor = disks.jitter[pick(disks.seed, ost, request, len(disks.jitter))]
    cost = (moving + heads) * factor
    start = serve(disks.network, station, now, rpc.bytes, cost)
    disks.network.stations[station].waiting += start - rpc.arrived
    spent = disks.network.spent
    spent[rpc.message, _OST] += start - rpc.arrived
    spent[rpc.message, DISK_METER] += moving * factor
    wait = max(slowest, heads * factor)  # the array may turn to others before it is over
    spent[rpc.message, SEEK_METER] += wait
    spent[rpc.message, LATENCY_METER] += latency
    if disks.programs.recorder.on:
        disks.bulk.marks[rpc_id].begun = start
        disks.bulk.marks[rpc_id].served = start + cost
    return start + moving * factor + wait + (latency + reply)


@outlined
def backlog(disks: Disks, ost: int, now: float) -> float:
    """Return the seconds until an array has served its present request and all that wait.

    What waits is reckoned by its bytes: where heads will move is known only when it begins.
    """
    free = disks.network.stations[disks.ost + ost].free
    return max(free - now, 0.0) + disks.arrays[ost].line * disks.seconds[1, ost]


@inlined
def transfer_seconds(disks: Disks, ost: int, write: int, work: float) -> float:
    """Return the seconds that an array is busy with a bulk RPC; ``work`` is in bytes."""
    return disks.overhead[write, ost] + work * disks.seconds[write, ost]


@outlined
def move_seconds(disks: Disks, ost: int, size: int) -> float:
    """Return how long an array is busy with moving heads to that many bytes elsewhere."""
    move = disks.head_move[0] * move_share(disks, ost)
    move *= disks.seconds[0, ost] * disks.read_rate
    return moving_heads(disks, size) * move / disks.ost_disks


@outlined
def move_share(disks: Disks, ost: int) -> float:
    """Return the share of a random move of a head that is left, as a disk chooses what is near."""
    others = disks.arrays[ost].moves / disks.ost_disks  # that wait for a disk, on average
    low = min(int(others), len(disks.head_move) - 1)
    high = min(low + 1, len(disks.head_move) - 1)
    alone = disks.head_move[0]
    if alone == 0.0:
        return 1.0
    move = disks.head_move[low] + (others - low) * (disks.head_move[high] - disks.head_move[low])
    return move / alone


@inlined
def moving_heads(disks: Disks, size: int) -> int:
    """Return the number of heads that move for a request: one for each chunk of its bytes."""
    return min(-(-size // disks.raid_chunk), disks.raid_stripe // disks.raid_chunk)


@outlined
def _place(disks: Disks, ost: int, rpc_id: int, holding: int) -> int:
    """Return the first place of a read's set that holds a number (-1: none); -1 if none does."""
    rpc = disks.bulk.rpcs[rpc_id]
    first = _set_of(ost, rpc.object, rpc.unit)
    for place in range(first, first + _WAYS):
        if disks.waiting_reads[place] == holding:
            return place
    return -1


@outlined
def _listed_read(disks: Disks, ost: int, object_id: int, unit: int) -> int:
    """Return a waiting read of a place; -1 if there is none."""
    first = _set_of(ost, object_id, unit)
    for place in range(first, first + _WAYS):
        rpc_id = disks.waiting_reads[place]
        if rpc_id >= 0:
            rpc = disks.bulk.rpcs[rpc_id]
            if rpc.object == object_id and rpc.unit == unit:
                return rpc_id
    return -1


@outlined
def leave(disks: Disks, ost: int) -> int:
    """Take the first RPC out of the line, and return it."""
    rpc_id = pop(disks.arrays[ost].waiting, disks.bulk.rpcs)
    rpc = disks.bulk.rpcs[rpc_id]
    disks.arrays[ost].line -= rpc.bytes
    if rpc.write:
        return rpc_id
    if rpc.gap >= _FAR:
        disks.arrays[ost].moves -= moving_heads(disks, rpc.bytes)
    place = _place(disks, ost, rpc_id, rpc_id)
    if place >= 0:
        disks.waiting_reads[place] = -1
    return rpc_id


@outlined
def parity_work(disks: Disks, low: int, high: int, size: int) -> int:
    """Return the work, in bytes, that ``size`` bytes between two offsets cost beyond their own.

    That is of RAID stripes that they fill in part. Where the bytes have holes between them, no
    stripe is known to be full.
    """
    stripe = disks.raid_stripe
    if size < high - low:
        touched = -(-high // stripe) - low // stripe
        return _beyond(disks, size, touched)
    head = min(-(-low // stripe) * stripe, high) - low
    tail = high - max(high // stripe * stripe, low + head)
    return _beyond(disks, head, 1) + _beyond(disks, tail, 1)


@inlined
def _beyond(disks: Disks, size: int, stripes: int) -> int:
    """Return the work beyond their own of bytes in so many RAID stripes: at most all of these."""
    return int(min(disks.partial_stripe_factor * size, float(stripes * disks.raid_stripe))) - size
