"""A Lustre client's OSCs and page cache as plain SimPy, with the locks and OSTs that they talk to.

Slow and meant to be obviously right: the rules that the docstrings of ``xc40io.lustre.client``,
``osc`` and ``ldlm`` and of ``xc40io.node.page_cache`` state, over Python lists. Bytes and pages are
bits of integers: one integer for what is cached of an object, and one for each extent. The compiled
client has to agree with it on a machine (``SIMPLE``) whose network takes no time but for the
latency of a small message, and whose other times and rates are binary fractions: sums of them are
exact, so that the two agree to the last bit.

Left out: the tree of a file's pages, the node's memory, routers and links (their times are zero),
disks whose heads move, journals (a commit takes no time), the lock LRU, group locks and lock-ahead,
reads beyond the end of a file (glimpses), and metadata but for fsync.

What has come to pass that the compiled client may do otherwise stands in ``Clients.excuses``:
things of two nodes, or replies of two OSTs, that come at the same instant, of which no rule says
which is first; and what the compiled client knows less exactly.
"""

from __future__ import annotations

import bisect
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import simpy
from reference_locks import EOF, PR, PW, Lock, PlainLocks, Request
from small_plane import PAGE, Program, Step

from xc40io.config.machine import Machine
from xc40io.plane.operations import Op

Event = simpy.Event
Steps = Generator[Event, Any, Any]

FAST = 1e29  # bytes/s: so little time vanishes beside any other
SIMPLE: dict[str, object] = {
    "network__message_latency": 16339 / 2**28,
    "nodes__mds_message_latency": 14293 / 2**28,
    "network__nic_latency": 0,
    "network__hop_latency": 0,
    "network__nic_rate": FAST,
    "network__green_rate": FAST,
    "network__black_rate": FAST,
    "network__blue_rate": FAST,
    "lnet__routers_per_group": 1,
    "lnet__router_latency": 0,
    "lnet__ib_latency": 0,
    "lnet__ib_link_rate": FAST,
    "nodes__cores": 4,
    "nodes__write_copy_rate": 2**29,
    "nodes__read_copy_rate": 2**30,
    "nodes__read_page_time": 0,
    "nodes__node_copy_rate": FAST,
    "nodes__node_hit_rate": FAST,
    "nodes__call_time": 3253 / 2**28,
    "nodes__tree_page_time": 0,
    "nodes__spinlock_handover_time": 0,
    "nodes__rpc_thread_rate": 2**31,
    "nodes__lock_thread_time": 12979 / 2**28,
    "lustre__oss_rate": FAST,
    "lustre__oss_request_time": 4919 / 2**28,
    "lustre__ost_write_rate": 2**27,
    "lustre__ost_read_rate": 2**28,
    "lustre__ost_request_overhead": 2767 / 2**28,
    "lustre__ost_write_latency": 22543 / 2**28,
    "lustre__ost_spread": 0,
    "lustre__fullness_loss": 0,
    "lustre__raid_stripe": 16 << 10,
    "lustre__journal_commit": 0,
    "lustre__mds__journal_commit": 0,
    "lustre__mds__sync_rate": 2**14,
    "lustre__mds__op_latency": 9811 / 2**28,
}
"""The machine's values, ``__`` in place of the dot. Odd numerators keep most events apart."""

CALM, URGENT, PRESSING = 0, 1, 2
DIRTY, WRITING, READING = "dirty", "being written", "being read"

SEEK = 8 * PAGE
SMALL_FILE = 2 << 20
LARGEST_RPC = 4 << 20


def span(start: int, stop: int) -> int:
    """Return the bits from ``start`` to ``stop - 1``."""
    return (1 << max(stop, start)) - (1 << start)


def pages(start: int, stop: int) -> int:
    """Return the pages, as bits, that hold some of the bytes from ``start`` to ``stop - 1``."""
    return span(start // PAGE, -(-stop // PAGE))


class File(NamedTuple):
    """A file of ``size`` bytes; object ``i`` of it is number ``first + i`` of all."""

    first: int
    osts: Sequence[int]
    stripe_size: int
    size: int
    direct: bool


class RpcStart(NamedTuple):
    """What the tests compare of a BRW RPC. ``unit`` is its place in the object, in RPC sizes."""

    time: float
    node: int
    object: int
    unit: int
    size: int
    write: bool


class ServerLocks(PlainLocks):
    """The locks of one object, whose blocking ASTs leave in the order of the compiled ones."""

    def in_turn(self, asked: Iterable[Lock]) -> list[Lock]:
        """Writers as their locks lie, then readers, the latest first, then who waits."""
        granted = [lock for lock in asked if lock in self.granted]
        writers = sorted(
            (lock for lock in granted if lock.request.mode == PW), key=lambda lock: lock.start
        )
        readers = [lock for lock in reversed(self.granted) if lock in granted]
        waiters = [lock for lock in self.waiting if lock in set(asked)]
        return list(dict.fromkeys(writers + readers + waiters))


@dataclass(eq=False)
class Station:
    """Serves one after the other, in the order of their coming.

    ``tied`` notes whether requests of two nodes came at the same instant: who is first then is
    nobody's rule.
    """

    clock: simpy.Environment
    free: float = 0.0
    latest: tuple[float, int] = (-1.0, 0)
    tied: bool = False

    def serve(self, seconds: float, node: int = 0) -> Event:
        time, other = self.latest
        self.tied |= time == self.clock.now and other != node
        self.latest = self.clock.now, node
        self.free = max(self.free, self.clock.now) + seconds
        return self.clock.timeout(self.free - self.clock.now)


@dataclass(eq=False)
class OscExtent:
    """The bytes of one aligned RPC's worth of an object that are dirty or on their way."""

    start: int  # where in the object it begins
    state: str
    bits: int  # bytes, counted from its start
    urgency: int = CALM

    @property
    def size(self) -> int:
        return self.bits.bit_count()

    @property
    def low(self) -> int:
        return self.start + (self.bits & -self.bits).bit_length() - 1

    @property
    def high(self) -> int:
        return self.start + self.bits.bit_length()

    @property
    def has_holes(self) -> bool:
        return self.size < self.high - self.low

    def overlaps(self, start: int, stop: int) -> bool:
        return self.low < stop and start < self.high


@dataclass(eq=False)
class ClientLock:
    """A lock as its client knows it; ``lock`` is what the server knows."""

    mode: int
    users: int = 1
    held: bool = False
    blocked: bool = False
    lock: Lock | None = None

    def serves(self, mode: int, start: int, end: int) -> bool:
        if not self.held or self.blocked or self.lock is None:
            return False
        covers = self.lock.start <= start and end <= self.lock.end
        return covers and self.mode in (mode, PW)


class Reader(NamedTuple):
    """Who waits for pages: those that are still to come, in a list of one, and how to wake it."""

    missing: list[int]
    come: Event


class Waiter(NamedTuple):
    """Who waits for room to write bytes; ``room`` tells up to where it has some."""

    low: int
    high: int
    room: Event


class Return(NamedTuple):
    """A lock that is to be returned when nothing below it is on its way: ``clean`` then happens."""

    lock: Lock
    clean: Event


@dataclass(eq=False)
class OscObject:
    """An object as one node sees it."""

    node: Node
    object: int
    osc: Osc
    inode: Inode
    cached: int = 0  # pages
    extents: list[OscExtent] = field(default_factory=list)  # in the order of the object
    readers: list[Reader] = field(default_factory=list)
    locks: list[ClientLock] = field(default_factory=list)
    returning: list[Return] = field(default_factory=list)  # the latest first

    def add(self, extent: OscExtent) -> None:
        bisect.insort(self.extents, extent, key=lambda other: other.start)

    def remove(self, extent: OscExtent) -> None:
        """Take out an extent that is done; locks can go below which nothing is on its way."""
        self.extents.remove(extent)
        for lock, clean in list(self.returning):
            if not self.busy(lock):
                self.returning.remove(Return(lock, clean))
                clean.succeed()

    def busy(self, lock: Lock) -> bool:
        """Tell whether bytes below a lock are dirty or on their way."""
        return any(extent.overlaps(lock.start, lock.end + 1) for extent in self.extents)

    def dirty(self, urgency: int = CALM) -> list[OscExtent]:
        return [w for w in self.extents if w.state == DIRTY and w.urgency >= urgency]

    @property
    def unsent(self) -> int:
        return sum(extent.size for extent in self.dirty())

    @property
    def outstanding(self) -> list[OscExtent]:
        return [extent for extent in self.extents if extent.state != READING]

    def hurry(self, start: int, stop: int, urgency: int) -> None:
        """Let dirty extents with bytes between two offsets go sooner."""
        for extent in self.dirty():
            if extent.overlaps(start, stop):
                extent.urgency = max(extent.urgency, urgency)


@dataclass(eq=False)
class Inode:
    """A file as one node has it open."""

    mutex: simpy.Resource
    writing: list[tuple[int, int]] = field(default_factory=list)  # ranges of bytes
    range_free: list[Event] = field(default_factory=list)
    flushed: list[Event] = field(default_factory=list)  # who waits until nothing is dirty
    osc_objects: list[OscObject] = field(default_factory=list)


@dataclass(eq=False)
class Node:
    number: int
    cores: list[Station]
    callbacks: Station
    next_core: int = 0
    osc_objects: dict[int, OscObject] = field(default_factory=dict)
    inodes: dict[int, Inode] = field(default_factory=dict)
    oscs: dict[int, Osc] = field(default_factory=dict)
    eviction: list[OscObject] = field(default_factory=list)  # in the order of their coming
    came: tuple[float, OscObject | None] = (-1.0, None)  # when pages came last, and of which
    evicted: float = -1.0  # when pages were evicted last
    coming: int = 0  # bytes on their way into its cache

    @property
    def dirty(self) -> int:
        return sum(osc.dirty for osc in self.oscs.values())

    @property
    def cached(self) -> int:
        return PAGE * sum(osc_object.cached.bit_count() for osc_object in self.osc_objects.values())


class Work(NamedTuple):
    """Bytes of an object to be moved by RPCs; ``done`` is called after each with its size."""

    osc_object: OscObject
    start: int
    stop: int
    write: bool
    done: Callable[[int], None]


@dataclass(eq=False)
class Osc:
    """The part of a node that talks to one OST."""

    client: Clients
    node: Node
    ost: int
    grant: int
    dirty: int = 0  # bytes dirty or being written
    in_flight: int = 0
    osc_objects: list[OscObject] = field(default_factory=list)  # with unsent bytes, in turn
    works: deque[Work] = field(default_factory=deque)
    waiters: deque[Waiter] = field(default_factory=deque)  # for room
    coming: int = 0  # bytes that have room and are being copied
    woken: float = -1.0  # when some of them were woken last

    @property
    def room(self) -> int:
        """Bytes that may get dirty; who has nothing dirty may write whatever its grant."""
        lustre = self.client.machine.lustre
        if self.dirty == 0:
            return max(lustre.max_dirty, lustre.rpc_size)
        most = self.client.machine.nodes.memory // 2 - self.node.dirty
        return max(min(lustre.max_dirty - self.dirty, most, self.grant), 0)

    def reserve(self, low: int, high: int) -> int:
        """Take room for dirty bytes, for whole pages at the end; return up to where there is any.

        Page by page, as Lustre does, which comes to the same.
        """
        end = low
        room = self.room
        while end < high:
            after = min((end // PAGE + 1) * PAGE, high)
            if after - low > room:
                break
            end = after
        self.dirty += end - low
        self.coming += end - low
        self.grant = max(self.grant - (end - low), 0)
        return end

    def wake(self) -> None:
        """Deal the room there is to those who wait for it: a page to each in turn."""
        if not self.waiters:
            return
        pages = self.room // len(self.waiters) // PAGE
        while self.waiters:
            waiter = self.waiters[0]
            stop = (waiter.low // PAGE + max(pages, 1)) * PAGE
            end = self.reserve(waiter.low, min(waiter.high, stop))
            if end == waiter.low:
                return
            self.waiters.popleft().room.succeed(end)
            self.woken = self.client.clock.now

    def pump(self) -> None:
        """Start RPCs while there may be more in flight and there is something to send."""
        limit = self.client.machine.lustre.max_rpcs_in_flight
        while self.in_flight < limit + any(
            osc_object.dirty(PRESSING) for osc_object in self.osc_objects
        ):
            osc_object = self.osc_object_to_write()
            if osc_object is not None:
                self.write_back(osc_object)
            elif self.works:
                self.move()
            else:
                return

    def osc_object_to_write(self) -> OscObject | None:
        """Return the next osc_object that makes an RPC; first those that lock holders wait for."""
        pressing = [osc_object for osc_object in self.osc_objects if osc_object.dirty(PRESSING)]
        starving = self.waiters and self.coming == 0  # all room has been used
        making = pressing or [
            osc_object
            for osc_object in self.osc_objects
            if starving or osc_object.dirty(URGENT) or self.has_an_rpc(osc_object)
        ]
        return making[0] if making else None

    def full(self, osc_object: OscObject) -> list[OscExtent]:
        rpc_size = self.client.machine.lustre.rpc_size
        return [extent for extent in osc_object.dirty() if extent.size == rpc_size]

    def has_an_rpc(self, osc_object: OscObject) -> bool:
        """Tell whether dirty bytes are as many as an RPC has; or those of one extent are."""
        lustre = self.client.machine.lustre
        if lustre.full_extents_first:
            return bool(self.full(osc_object))
        return osc_object.unsent >= lustre.rpc_size

    def write_back(self, osc_object: OscObject) -> None:
        """Send the most urgent extent, with as many of the dirty ones behind it as fit an RPC."""
        urgency = max(extent.urgency for extent in osc_object.dirty())
        first = osc_object.dirty(urgency)[0]
        if urgency == CALM and self.client.machine.lustre.full_extents_first:
            first = next(iter(self.full(osc_object)), first)
        chosen: list[OscExtent] = []
        for extent in osc_object.dirty()[osc_object.dirty().index(first) :]:
            if sum(w.size for w in chosen) + extent.size > self.client.machine.lustre.rpc_size:
                break
            chosen.append(extent)
        for extent in chosen:
            extent.state = WRITING
        self.osc_objects.remove(osc_object)
        if osc_object.unsent > 0:
            self.osc_objects.append(osc_object)
        size = sum(extent.size for extent in chosen)
        partial = sum(self.client.partial(w.low, w.high, w.size) for w in chosen)
        written = self.client.written
        self.client.start(
            self, osc_object, first.low, size, partial, True, lambda: written(osc_object, chosen)
        )

    def move(self) -> None:
        """Cut the next RPC from what is to be read or moved directly."""
        work = self.works.popleft()
        rpc_size = self.client.machine.lustre.rpc_size
        stop = min(work.stop, (work.start // rpc_size + 1) * rpc_size)
        size = stop - work.start
        if stop < work.stop:
            self.works.appendleft(work._replace(start=stop))
        partial = self.client.partial(work.start, stop, size) if work.write else 0
        done = work.done
        self.client.start(
            self, work.osc_object, work.start, size, partial, work.write, lambda: done(size)
        )


@dataclass(eq=False)
class Rank:
    """A reader or writer, and what it knows of its own reads."""

    node: Node
    core: Station
    length: int = 0  # of its call
    next_read: int = -1
    gap: int = 0
    striding: bool = False
    ahead: int = 0
    ahead_done: int = 0


class Clients:
    """Client nodes whose ranks run programs, and the OSTs of their files."""

    def __init__(self, machine: Machine, nodes: int, per_node: int, files: Sequence[File]) -> None:
        self.machine = machine
        self.clock = clock = simpy.Environment()
        self.files = files
        osts = range(machine.lustre.osts)
        self.disks = [Station(clock) for _ in osts]
        self.request_threads = [Station(clock) for _ in osts]
        self.mds = Station(clock)
        self.locks: dict[int, ServerLocks] = {}
        self.latency = machine.network.message_latency
        self.nodes = [
            Node(i, [Station(clock) for _ in range(machine.nodes.cores)], Station(clock))
            for i in range(nodes)
        ]
        for node in self.nodes:
            grant = machine.lustre.initial_grant
            node.oscs = {ost: Osc(self, node, ost, grant) for ost in osts}
        self.ranks = [Rank(node, core) for node in self.nodes for core in node.cores[:per_node]]
        self.starts: list[RpcStart] = []
        self.hits = self.misses = self.read_ahead = self.evicted = self.flushed = 0
        self.excuses: set[str] = set()
        """What has come to pass that the compiled client may do otherwise."""

    def run(self, programs: Sequence[Program]) -> list[float]:
        """Run a program a rank; return when each ended."""
        ended = [0.0] * len(self.ranks)

        def run_rank(i: int) -> Steps:
            for step in programs[i]:
                yield from self.step(self.ranks[i], step)
            ended[i] = self.clock.now

        for i, program in enumerate(programs):
            if program:
                self.clock.process(run_rank(i))
        self.clock.run()
        if any(station.tied for station in (*self.disks, *self.request_threads, self.mds)):
            self.excuses.add("requests of two nodes at the same instant")
        return ended

    def step(self, rank: Rank, step: Step) -> Steps:
        if step.kind == Op.THINK:
            yield self.clock.timeout(step.seconds)
        elif step.kind == Op.FSYNC:
            yield from self.fsync(rank, step.file)
        else:
            act = self.write if step.kind == Op.WRITE else self.read
            for call in range(step.count):
                yield from act(rank, step.file, step.offset + call * step.stride, step.length)

    # --------------------------------------------------------------------------------- RPCs

    def start(
        self,
        osc: Osc,
        osc_object: OscObject,
        low: int,
        size: int,
        partial: int,
        write: bool,
        done: Callable[[], None],
    ) -> None:
        """Start a BRW RPC; ``done`` is called when its reply has come."""
        unit = low // self.machine.lustre.rpc_size
        node = osc.node
        self.starts.append(
            RpcStart(self.clock.now, node.number, osc_object.object, unit, size, write)
        )
        osc.in_flight += 1
        core = node.cores[node.next_core]
        node.next_core = (node.next_core + 1) % len(node.cores)
        sent = core.serve(size / self.machine.nodes.rpc_thread_rate)

        def journey() -> Steps:
            lustre = self.machine.lustre
            rate = lustre.ost_write_rate if write else lustre.ost_read_rate
            yield sent
            # A write: the request, and the server's question for the bulk.
            yield self.clock.timeout(2 * self.latency if write else self.latency)
            work = size + partial
            yield self.disks[osc.ost].serve(lustre.ost_request_overhead + work / rate, node.number)
            if write:
                yield self.clock.timeout(lustre.ost_write_latency + self.latency)
            osc.in_flight -= 1
            done()
            osc.pump()

        self.clock.process(journey())

    def partial(self, low: int, high: int, size: int) -> int:
        """Return what RAID stripes that the bytes do not fill cost beyond these, in bytes.

        Each costs as its bytes do on all disks, up to all of it. With holes between the bytes, none
        is known to be full.
        """
        stripe, factor = self.machine.lustre.raid_stripe, self.machine.lustre.partial_stripe_factor
        touched = range(low // stripe, -(-high // stripe))
        if size < high - low:
            return int(min(factor * size, len(touched) * stripe)) - size
        parts = [min(high, (s + 1) * stripe) - max(low, s * stripe) for s in touched]
        return sum(int(min(factor * part, stripe)) - part for part in parts)

    # --------------------------------------------------------------------------------- locks

    def lock(self, osc_object: OscObject, mode: int, start: int, stop: int) -> Steps:
        """Use a lock of the node that covers whole pages, or ask for one."""
        first, end = start // PAGE * PAGE, -(-stop // PAGE) * PAGE - 1
        for own in reversed(osc_object.locks):
            if own.serves(mode, first, end):
                own.users += 1
                return own
        own = ClientLock(mode)
        osc_object.locks.append(own)
        manager = self.locks.setdefault(osc_object.object, ServerLocks(self.clock))
        yield self.clock.timeout(self.latency)
        yield self.serve_request(osc_object)
        own.lock = manager.enqueue(Request(osc_object.node.number, mode, first, end))
        self.clock.process(self.answer_blocking(osc_object, own, own.lock))
        at_once = own.lock.granted.triggered
        yield own.lock.granted
        yield self.clock.timeout(self.latency)
        if not at_once:
            yield self.callback(osc_object)
        own.held = True
        return own

    def serve_request(self, osc_object: OscObject) -> Event:
        """Let a thread of the OSS turn to a small request."""
        seconds = self.machine.lustre.oss_request_time
        return self.request_threads[osc_object.osc.ost].serve(seconds, osc_object.node.number)

    def callback(self, osc_object: OscObject) -> Event:
        """Let the node's thread handle a callback."""
        return osc_object.node.callbacks.serve(self.machine.nodes.lock_thread_time)

    def answer_blocking(self, osc_object: OscObject, own: ClientLock, lock: Lock) -> Steps:
        """Let no more of the node use a lock that another wants; give it up if nobody does."""
        yield lock.blocking
        if own.held:
            yield self.clock.timeout(self.latency)
            yield self.callback(osc_object)
            own.blocked = True
            if own.users == 0:
                self.give_up(osc_object, own, lock)
        own.blocked = True  # else the news comes with the grant

    def release(self, osc_object: OscObject, own: ClientLock) -> None:
        own.users -= 1
        if own.users == 0 and own.blocked and own.lock is not None:
            self.give_up(osc_object, own, own.lock)

    def give_up(self, osc_object: OscObject, own: ClientLock, lock: Lock) -> None:
        """Write back what is dirty below a lock, at once; return the lock when that is done."""
        stop = lock.end + 1
        osc_object.locks.remove(own)
        self.flushed += sum(w.size for w in osc_object.outstanding if w.overlaps(lock.start, stop))
        osc_object.hurry(lock.start, stop, PRESSING)
        clean = self.clock.event()
        if osc_object.busy(lock):
            osc_object.returning.insert(0, Return(lock, clean))
            osc_object.osc.pump()
        else:
            clean.succeed()
        self.clock.process(self.return_lock(osc_object, lock, clean))

    def return_lock(self, osc_object: OscObject, lock: Lock, clean: Event) -> Steps:
        """Drop what is cached below a lock that has been given up, and return it."""
        yield clean
        stop = lock.end + 1
        last = osc_object.cached.bit_length() if lock.end == EOF else stop // PAGE
        below = osc_object.cached & span(lock.start // PAGE, last)
        if below:
            osc_object.cached &= ~below
            yield self.clock.timeout(0)  # one by one, through the tree's lock
        yield self.clock.timeout(self.latency)
        yield self.serve_request(osc_object)
        self.locks[osc_object.object].cancel(lock)

    # --------------------------------------------------------------------------------- calls

    def chunks(self, number: int, start: int, length: int) -> Iterator[tuple[int, int, int, int]]:
        """Cut bytes of a file at its stripes: object, and where in it; and where in the file."""
        file = self.files[number]
        stop = start + length
        while start < stop:
            stripe, inside = divmod(start, file.stripe_size)
            row, column = divmod(stripe, len(file.osts))
            size = stop - start
            if len(file.osts) > 1:  # a file of one stripe is never cut
                size = min(size, file.stripe_size - inside)
            offset = row * file.stripe_size + inside
            yield file.first + column, offset, size, start
            start += size

    def pieces(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Cut bytes of an object at the boundaries of its RPCs."""
        rpc_size = self.machine.lustre.rpc_size
        while start < stop:
            end = min(stop, (start // rpc_size + 1) * rpc_size)
            yield start, end
            start = end

    def inode(self, node: Node, number: int) -> Inode:
        if number not in node.inodes:
            node.inodes[number] = Inode(simpy.Resource(self.clock))
        return node.inodes[number]

    def osc_object(self, node: Node, number: int, object_id: int) -> OscObject:
        if object_id not in node.osc_objects:
            file, inode = self.files[number], self.inode(node, number)
            osc = node.oscs[file.osts[object_id - file.first]]
            osc_object = OscObject(node, object_id, osc, inode)
            node.osc_objects[object_id] = osc_object
            inode.osc_objects.append(osc_object)
        return node.osc_objects[object_id]

    def move_directly(self, osc_object: OscObject, start: int, size: int, write: bool) -> Steps:
        """Hand bytes to the OSC, and wait until all have been moved."""
        left, moved = [size], self.clock.event()

        def done(part: int) -> None:
            left[0] -= part
            if left[0] == 0:
                moved.succeed()

        osc_object.osc.works.append(Work(osc_object, start, start + size, write, done))
        osc_object.osc.pump()
        yield moved

    # --------------------------------------------------------------------------------- writes

    def write(self, rank: Rank, number: int, start: int, length: int) -> Steps:
        """Write bytes of a file; who writes some of the same on the node has ended before."""
        yield rank.core.serve(self.machine.nodes.call_time)
        inode = self.inode(rank.node, number)
        while any(low < start + length and start < high for low, high in inode.writing):
            inode.range_free.append(self.clock.event())
            yield inode.range_free[-1]
        inode.writing.append((start, start + length))
        for object_id, offset, size, _ in self.chunks(number, start, length):
            osc_object = self.osc_object(rank.node, number, object_id)
            lock = yield from self.lock(osc_object, PW, offset, offset + size)
            if self.files[number].direct:
                yield from self.move_directly(osc_object, offset, size, True)
            else:
                yield from self.fill_partial_pages(osc_object, offset, offset + size)
                for low, high in self.pieces(offset, offset + size):
                    yield from self.write_piece(rank, osc_object, low, high)
            self.release(osc_object, lock)
        inode.writing.remove((start, start + length))
        waiting, inode.range_free = inode.range_free, []
        for event in waiting:
            event.succeed()

    def fill_partial_pages(self, osc_object: OscObject, start: int, stop: int) -> Steps:
        """Read the pages that bytes within the file have only a part of, one after the other."""
        ends = [place // PAGE * PAGE for place in (start, stop) if place % PAGE]
        while ends:
            asked, missing = self.ask_for_pages(osc_object, ends[0], ends[0] + PAGE)
            self.misses += asked
            if missing:
                reader = Reader([missing], self.clock.event())
                osc_object.readers.insert(0, reader)
                yield reader.come
                continue
            ends.pop(0)

    def write_piece(self, rank: Rank, osc_object: OscObject, low: int, high: int) -> Steps:
        """Copy bytes into the cache once there is room for them; then they are dirty."""
        osc = osc_object.osc
        if osc.woken == self.clock.now:
            self.excuses.add("a writer that comes at the instant at which others are woken")
        while low < high:
            end = osc.reserve(low, high)
            if end == low:
                osc.waiters.append(Waiter(low, high, self.clock.event()))
                room = osc.waiters[-1].room
                osc.pump()
                end = yield room
            size = end - low
            yield rank.core.serve(size / self.machine.nodes.write_copy_rate)
            osc.coming -= size
            osc.dirty -= size - self.soil(osc_object, low, end)  # dirty before: they had their room
            osc.pump()
            low = end

    def soil(self, osc_object: OscObject, low: int, high: int) -> int:
        """Let bytes be dirty; return how many were not."""
        rpc_size = self.machine.lustre.rpc_size
        start = low // rpc_size * rpc_size
        extent = next((w for w in osc_object.dirty() if w.start == start), None)
        if extent is None:
            extent = OscExtent(start, DIRTY, 0)
            osc_object.add(extent)
        added = span(low - start, high - start) & ~extent.bits
        if extent.bits and extent.has_holes and added.bit_count() < high - low:
            self.excuses.add("a write over part of what is dirty in an extent with holes")
        extent.bits |= added
        if osc_object.inode.flushed:
            osc_object.hurry(low, high, URGENT)
        if osc_object not in osc_object.osc.osc_objects:
            osc_object.osc.osc_objects.append(osc_object)
        self.cache(osc_object, pages(low, high))
        return added.bit_count()

    def written(self, osc_object: OscObject, extents: list[OscExtent]) -> None:
        """Let what an RPC has written be clean; its OST promises to take more."""
        osc, lustre = osc_object.osc, self.machine.lustre
        osc.dirty -= sum(extent.size for extent in extents)
        wish = lustre.max_dirty - osc.dirty - osc.grant
        osc.grant += max(min(wish, lustre.grant_chunk), 0)
        for extent in extents:
            osc_object.remove(extent)
        if not any(other.outstanding for other in osc_object.inode.osc_objects):
            waiting, osc_object.inode.flushed = osc_object.inode.flushed, []
            for event in waiting:
                event.succeed()
        osc.wake()

    def fsync(self, rank: Rank, number: int) -> Steps:
        """Write back; then, one rank of the node after another: MDS_SYNC, and all OST_SYNCs."""
        node, file, inode = rank.node, self.files[number], self.inode(rank.node, number)
        if any(osc_object.outstanding for osc_object in inode.osc_objects):
            inode.flushed.insert(0, self.clock.event())
            flushed = inode.flushed[0]
            for object_id in range(file.first, file.first + len(file.osts)):
                osc_object = node.osc_objects.get(object_id)
                if osc_object is not None and osc_object.unsent > 0:
                    osc_object.hurry(0, EOF, URGENT)
                    osc_object.osc.pump()
            yield flushed
        with inode.mutex.request() as turn:
            yield turn
            mds, latency = self.machine.lustre.mds, self.machine.nodes.mds_message_latency
            yield self.clock.timeout(latency)
            yield self.mds.serve(1 / mds.sync_rate, node.number)
            yield self.clock.timeout(mds.op_latency + latency)
            yield self.clock.all_of([self.clock.process(self.sync(node, ost)) for ost in file.osts])

    def sync(self, node: Node, ost: int) -> Steps:
        """Ask an OST to make an object durable: there is nothing left to commit."""
        yield self.clock.timeout(self.latency)
        seconds = self.machine.lustre.oss_request_time
        yield self.request_threads[ost].serve(seconds, node.number)
        yield self.clock.timeout(self.latency)

    # ---------------------------------------------------------------------------------- reads

    def read(self, rank: Rank, number: int, start: int, length: int) -> Steps:
        """Read bytes of a file: out of the cache, once its pages are there."""
        yield rank.core.serve(self.machine.nodes.call_time)
        self.note_order(rank, start, length)
        for object_id, offset, size, here in self.chunks(number, start, length):
            osc_object = self.osc_object(rank.node, number, object_id)
            lock = yield from self.lock(osc_object, PR, offset, offset + size)
            if self.files[number].direct:
                yield from self.move_directly(osc_object, offset, size, False)
            else:
                yield from self.read_chunk(
                    rank, number, osc_object, offset, size, here, start + length
                )
            self.release(osc_object, lock)

    def read_chunk(
        self,
        rank: Rank,
        number: int,
        osc_object: OscObject,
        offset: int,
        size: int,
        here: int,
        end: int,
    ) -> Steps:
        """Ask for the pages of a chunk and beyond; copy each piece when its pages have come.

        The chunk is at ``offset`` of its object and ``here`` in the file; the call ends at ``end``.
        """
        stop = offset + size
        self.hits += size

        def ask(start: int, begun: bool) -> int:
            """Ask for the rest of the chunk, as far as pages are asked for at once.

            ``begun``: what lies right before the rest has been asked for with it.
            """
            at = here + start - offset
            sure = ((at - begun) // LARGEST_RPC + 1) * LARGEST_RPC
            limit = self.asked_at_once(rank, number, at, here + size, end, sure)
            gone = False
            for low, high in self.pieces(start, min(stop, start + limit - at)):
                gone |= self.are_gone(osc_object, low, min(high, rank.ahead_done - here + offset))
                asked, _ = self.ask_for_pages(osc_object, low, high)
                self.count_misses(asked)
            if gone:
                rank.striding, rank.ahead, rank.ahead_done = False, 0, 0
                return min(limit, end)
            return limit

        limit = ask(offset, False)
        self.read_beyond(rank, number, here + size, end, limit)
        for low, high in self.pieces(offset, stop):
            asked, missing = self.ask_for_pages(osc_object, low, high)
            self.count_misses(asked)
            if asked and high < stop:  # evicted since, or too far to be asked for before
                ask(high, True)
            if missing:
                reader = Reader([missing], self.clock.event())
                osc_object.readers.insert(0, reader)
                yield reader.come
            yield rank.core.serve((high - low) / self.machine.nodes.read_copy_rate)

    def are_gone(self, osc_object: OscObject, low: int, high: int) -> bool:
        """Tell whether the first page that is not cached is not on its way either."""
        absent = pages(low, high) & ~osc_object.cached if low < high else 0
        start = ((absent & -absent).bit_length() - 1) * PAGE
        reading = [w for w in osc_object.extents if w.state == READING]
        return absent > 0 and not any(w.overlaps(start, start + PAGE) for w in reading)

    def count_misses(self, size: int) -> None:
        self.misses += size
        self.hits -= size

    def ask_for_pages(self, osc_object: OscObject, low: int, high: int) -> tuple[int, int]:
        """Ask for what is not cached of a piece, from the first such page to the last.

        Returns the bytes asked for, none if all those pages are on their way already; and the
        pages. They count at the node until they have come.
        """
        absent = pages(low, high) & ~osc_object.cached
        if not absent:
            return 0, 0
        first, stop = (absent & -absent).bit_length() - 1, absent.bit_length()
        wanted = span(first, stop)
        start, end = first * PAGE, stop * PAGE
        reading = [w for w in osc_object.extents if w.state == READING]
        covering = [w for w in reading if w.low <= start and end <= w.high]
        rpc_size = self.machine.lustre.rpc_size
        origin = start // rpc_size * rpc_size
        if covering:
            return 0, wanted
        extent = OscExtent(origin, READING, span(start - origin, end - origin))
        osc_object.add(extent)
        osc_object.node.coming += extent.size
        done = self.arrived(osc_object, extent)
        osc_object.osc.works.append(Work(osc_object, start, end, False, done))
        osc_object.osc.pump()
        return min(high, end) - max(low, start), wanted

    def arrived(self, osc_object: OscObject, extent: OscExtent) -> Callable[[int], None]:
        """Return what happens when an extent has been read."""

        def done(_: int) -> None:
            osc_object.node.coming -= extent.size
            come = pages(extent.low, extent.high)
            self.cache(osc_object, come)
            osc_object.remove(extent)
            for reader in list(osc_object.readers):
                reader.missing[0] &= ~come
                if not reader.missing[0]:
                    osc_object.readers.remove(reader)
                    reader.come.succeed()

        return done

    def note_order(self, rank: Rank, start: int, length: int) -> None:
        """Read further ahead of who reads in order or in equal strides, not at all of others."""
        lustre = self.machine.lustre
        jump = start - rank.next_read
        in_order = abs(jump) <= SEEK
        first = rank.next_read < 0
        if not first and (in_order or jump == rank.gap > 0):
            rank.ahead = min(rank.ahead + lustre.readahead_step, lustre.readahead)
            rank.striding = not in_order
        else:
            rank.gap = 0 if first else jump
            rank.striding, rank.ahead, rank.ahead_done = False, 0, 0
        rank.length, rank.next_read = length, start + length

    def asked_at_once(
        self, rank: Rank, number: int, at: int, chunk_end: int, end: int, sure: int
    ) -> int:
        """Return up to where in the file a reader asks for pages that stands at ``at``.

        To the end of its call, beyond ``sure`` as far as the budget of its node allows; or to that
        of its extent, which begins at a whole step; down to a boundary between the largest RPCs,
        if there is one between. A small file is read whole.
        """
        size, lustre = self.files[number].size, self.machine.lustre
        limit = min(end, chunk_end + lustre.readahead)
        if limit > sure:
            granted = at + self.granted(rank, limit - at)
            if granted < limit:
                return max(sure, granted - granted % LARGEST_RPC)
        if rank.ahead and not rank.striding:
            if size <= SMALL_FILE:
                return size
            extent = min(rank.length + rank.ahead, lustre.readahead)
            start = end - rank.length
            limit = max(limit, min(start - start % lustre.readahead_step + extent, size))
        boundary = limit // LARGEST_RPC * LARGEST_RPC
        return boundary if boundary > max(rank.ahead_done, at) else limit

    def granted(self, rank: Rank, size: int) -> int:
        """Return how much of ``size`` the budget of the node has left: nothing below an RPC."""
        left = self.machine.lustre.readahead - rank.node.coming
        return min(size, left) if left >= min(size, LARGEST_RPC) else 0

    def read_beyond(self, rank: Rank, number: int, chunk_end: int, end: int, limit: int) -> None:
        """Read ahead to the end of the call, then up to a limit, and then in strides."""
        size = self.files[number].size
        at = max(rank.ahead_done, chunk_end)
        if not self.ask_ahead(rank, number, at, min(end, limit)):
            return
        at = max(at, min(end, limit))
        if at < limit:
            stop = at + self.granted(rank, limit - at)
            boundary = stop - stop % LARGEST_RPC
            stop = boundary if boundary > at else stop
            if not self.ask_ahead(rank, number, at, stop):
                return
        left, length = self.granted(rank, rank.ahead) if rank.striding else 0, rank.length
        start = rank.next_read + rank.gap
        while left > 0 and start < size:
            stop = min(start + min(length, left), size)
            left -= stop - start
            if not self.ask_ahead(rank, number, max(rank.ahead_done, start), stop):
                return
            start += length + rank.gap

    def ask_ahead(self, rank: Rank, number: int, at: int, limit: int) -> bool:
        """Ask for pages ahead; say False at the first without a lock."""
        for object_id, offset, size, here in self.chunks(number, at, max(limit - at, 0)):
            osc_object = rank.node.osc_objects.get(object_id)
            for low, high in self.pieces(offset, offset + size):
                if osc_object is None or not any(
                    own.serves(PR, low, high - 1) for own in osc_object.locks
                ):
                    return False
                asked, _ = self.ask_for_pages(osc_object, low, high)
                self.read_ahead += asked
                rank.ahead_done = here + high - offset
        return True

    # ---------------------------------------------------------------------------------- cache

    def cache(self, osc_object: OscObject, some: int) -> None:
        """Put pages into the cache; drop clean ones if the node has too many.

        The osc_object that has been in the cache longest loses all its clean pages at once; its
        dirty ones stay, and it is the last then.
        """
        if not some & ~osc_object.cached:
            return
        osc_object.cached |= some
        node = osc_object.node
        if osc_object not in node.eviction:
            node.eviction.append(osc_object)
        full = self.machine.nodes.memory // 2
        came, node.came = node.came, (self.clock.now, osc_object)
        at_once = came[0] == self.clock.now and came[1] is not osc_object
        if at_once and (node.cached > full or node.evicted == self.clock.now):
            self.excuses.add("pages of two objects that come at the same instant and do not fit")
        for old in list(node.eviction):
            if node.cached <= full:
                return
            kept = 0
            for extent in old.outstanding:
                kept |= pages(extent.low, extent.high)
            self.evicted += (old.cached & ~kept).bit_count() * PAGE
            node.evicted = self.clock.now
            old.cached &= kept
            node.eviction.remove(old)
            if old.outstanding:
                node.eviction.append(old)
