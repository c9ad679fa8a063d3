"""Write-back to the SSD of a node as plain SimPy: dirty limits, the flusher, and the device.

Slow and meant to be obviously right: what the docstrings of ``xc40io.storage.ssd`` say, over Python
lists. Blocks of bytes are bits of integers. The compiled SSD has to agree with it to the last bit
where the copies of cores do not wait for each other, with times that are binary fractions
(``SIMPLE``).

Left out: reads and what is cached clean, a node's memory that cores wait for, lost devices.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import simpy
from reference_client import FAST, Steps
from reference_client import SIMPLE as NO_NETWORK
from small_plane import KIB, Program, Step

from xc40io.config.machine import Machine
from xc40io.plane.operations import Op

PIECE = 1 << 20  # a writer looks at the limits again after so many bytes
DIRECT = 4 << 20  # bytes of direct I/O that are queued together

SIMPLE: dict[str, object] = NO_NETWORK | {
    "ssd__write_spread": 0.0,
    "ssd__read_rate": 2**28,
    "ssd__write_rate": 2**27,
    "ssd__request_size": 128 * KIB,
    "ssd__request_time": 2767 / 2**28,
    "ssd__read_latency": 22543 / 2**28,
    "ssd__write_latency": 12979 / 2**28,
    "ssd__queue_depth": 3,
    "ssd__sync_time": 9811 / 2**28,
    "ssd__open_time": 3253 / 2**28,
    "ssd__cache_write_rate": 2**29,
    "ssd__cache_node_rate": FAST,
    "ssd__tree_page_time": 0,
    "ssd__dirty_background_ratio": 1 / 16,
    "ssd__dirty_ratio": 1 / 8,
    "ssd__dirty_expire": 1638405 / 2**28,
    "ssd__writeback_size": 768 * KIB,
}
"""The machine's values, ``__`` in place of the dot. Odd numerators keep most events apart."""


class WriteBack(NamedTuple):
    """What the tests compare of the flusher's turns: bytes of a file, and when they are written."""

    done: float
    file: int
    size: int


@dataclass(eq=False)
class File:
    """A file on the SSD. ``room`` and ``dirty`` are blocks, as bits."""

    number: int
    direct: bool = False
    room: int = 0
    dirty: int = 0
    under_way: int = 0  # blocks that the flusher writes
    synced: list[simpy.Event] = field(default_factory=list)

    @property
    def outstanding(self) -> int:
        return self.dirty.bit_count() + self.under_way


class Node:
    """Ranks of a node that write files on its SSD. Sizes are in blocks of ``block`` bytes."""

    def __init__(self, machine: Machine, block: int, files: Sequence[File]) -> None:
        assert machine.ssd is not None
        self.ssd = machine.ssd
        self.clock = clock = simpy.Environment()
        self.block, self.files = block, files
        self.capacity = self.ssd.capacity // block
        memory = machine.nodes.memory
        self.background = int(memory * self.ssd.dirty_background_ratio) // block
        self.limit = int(memory * self.ssd.dirty_ratio) // block
        self.copying = self.refused = self.throttled = 0
        self.line: list[File] = []  # with dirty blocks, in turn
        self.waiters: deque[simpy.Event] = deque()
        self.writing = self.expired = self.timer = False
        self.queue = simpy.Resource(clock, self.ssd.queue_depth)
        self.flash = simpy.Resource(clock, 1)
        self.write_backs: list[WriteBack] = []
        self.tied = False
        """Whether two ranks' fsyncs ended at the same instant: nobody's rule who goes on first."""

    @property
    def dirty(self) -> int:
        return self.copying + sum(file.outstanding for file in self.files)

    @property
    def used(self) -> int:
        return sum(file.room.bit_count() for file in self.files)

    def run(self, programs: Sequence[Program]) -> list[float]:
        """Run a program a rank; return when each ended."""
        ended = [0.0] * len(programs)

        def rank(number: int) -> Steps:
            for step in programs[number]:
                yield from self.step(step)
            ended[number] = self.clock.now

        for number in range(len(programs)):
            self.clock.process(rank(number))
        self.clock.run()
        return ended

    def step(self, step: Step) -> Steps:
        file = self.files[step.file]
        if step.kind == Op.THINK:
            yield self.clock.timeout(step.seconds)
        elif step.kind == Op.WRITE:
            start = step.offset // self.block
            yield from self.write(file, start, start + step.length // self.block)
        elif step.kind == Op.FSYNC:
            yield from self.fsync(file)
        else:
            self.cut(file, step.offset // self.block if step.kind == Op.TRUNCATE else 0)
            yield self.clock.timeout(self.ssd.open_time)

    # ------------------------------------------------------------------------------- writers

    def pieces(self, start: int, stop: int, size: int) -> Iterator[tuple[int, int, int]]:
        """Yield first block, one past the last, and the blocks as bits, of each piece."""
        while start < stop:
            end = min((start // size + 1) * size, stop)
            yield start, end, (1 << end) - (1 << start)
            start = end

    def write(self, file: File, start: int, stop: int) -> Steps:
        size = (DIRECT if file.direct else PIECE) // self.block
        for low, high, bits in self.pieces(start, stop, size):
            while True:
                if self.used + (bits & ~file.room).bit_count() > self.capacity:
                    self.refused += stop - low
                    self.wake(1)  # who waits for room among the dirty blocks has its turn instead
                    return
                full = self.dirty > 0 and self.dirty + high - low > self.limit
                if file.direct or not full:
                    break
                self.throttled += high - low
                self.waiters.append(self.clock.event())
                self.wake_flusher()
                yield self.waiters[-1]
            file.room |= bits
            if file.direct:
                file.dirty &= ~bits
                yield self.device((high - low) * self.block)
            else:
                self.copying += high - low
                yield self.clock.timeout((high - low) * self.block / self.ssd.cache_write_rate)
                self.copying -= high - low
                file.dirty |= bits
                self.note_dirty(file)

    def wake(self, count: int) -> None:
        for _ in range(min(count, len(self.waiters))):
            self.waiters.popleft().succeed()

    def note_dirty(self, file: File) -> None:
        if file not in self.line:
            self.line.append(file)
        if self.waiters or self.dirty > self.background or any(f.synced for f in self.files):
            self.wake_flusher()
        if not self.timer:
            self.timer = True
            self.clock.process(self.expire())

    def expire(self) -> Steps:
        """When the first dirty block is old, all that is dirty is taken for old."""
        yield self.clock.timeout(self.ssd.dirty_expire)
        self.timer = False
        if self.dirty > 0:
            self.expired = True
            self.wake_flusher()

    def fsync(self, file: File) -> Steps:
        if file.outstanding > 0:
            file.synced.append(self.clock.event())
            self.wake_flusher()
            yield file.synced[-1]
        yield self.clock.timeout(self.ssd.sync_time)

    def cut(self, file: File, start: int) -> None:
        """Drop the blocks of a file from ``start`` on."""
        kept = (1 << start) - 1
        file.room &= kept
        file.dirty &= kept
        self.wake_synced(file)

    def wake_synced(self, file: File) -> None:
        if file.outstanding == 0:
            self.tied |= len(file.synced) > 1
            for event in file.synced:
                event.succeed()
            file.synced = []

    # ------------------------------------------------------------------------------- flusher

    def wake_flusher(self) -> None:
        if not self.writing:
            self.next_turn()

    def next_turn(self) -> None:
        """Begin to write the first run of the file whose turn it is, if any has to be written."""
        if self.dirty == 0:
            self.expired = False
        while (file := self.whose_turn()) is not None:
            self.line.remove(file)
            if file.dirty:
                first = (file.dirty & -file.dirty).bit_length() - 1
                run = file.dirty >> first
                length = (run ^ (run + 1)).bit_length() - 1
                length = min(length, self.ssd.writeback_size // self.block)
                file.dirty &= ~(((1 << length) - 1) << first)
                file.under_way = length
                if file.dirty:
                    self.line.append(file)
                self.writing = True
                self.clock.process(self.write_back(file, self.device(length * self.block)))
                return

    def whose_turn(self) -> File | None:
        for file in self.line:
            if file.synced:
                return file
        if self.waiters or self.expired or self.dirty > self.background:
            return next(iter(self.line), None)
        return None

    def write_back(self, file: File, done: simpy.Event) -> Steps:
        size = file.under_way
        yield done
        self.write_backs.append(WriteBack(self.clock.now, file.number, size * self.block))
        self.writing = False
        file.under_way = 0
        self.wake_synced(file)
        self.wake(-(-max(self.limit - self.dirty, 0) * self.block // PIECE))
        self.next_turn()

    def device(self, size: int) -> simpy.Event:
        """Return what happens when the device has answered all requests of a write."""
        sizes: Iterable[int] = (
            min(self.ssd.request_size, size - at) for at in range(0, size, self.ssd.request_size)
        )
        return self.clock.all_of([self.clock.process(self.request(one)) for one in sizes])

    def request(self, size: int) -> Steps:
        """Hold one of the places of the queue to the end, and the flash for a while."""
        with self.queue.request() as place:
            yield place
            with self.flash.request() as turn:
                yield turn
                yield self.clock.timeout(self.ssd.request_time + size / self.ssd.write_rate)
            yield self.clock.timeout(self.ssd.write_latency)
