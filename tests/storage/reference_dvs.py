"""DVS clients and the service nodes behind them as plain SimPy.

Slow and meant to be obviously right: what ``xc40io.storage.dvs`` and the fields of
``xc40io.config.parts.storage.Service`` say, over Python lists. The compiled DVS has to agree with
it, block for block and to the last bit, on a machine whose network takes no time (``SIMPLE``), and
whose other times and rates are binary fractions: sums of them are exact.

Left out: the network between the nodes, service nodes that move files of their own (stage-in and
stage-out), files that are moved to other service nodes, locks of ranges, and all metadata but
fsync, truncate and unlink.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import simpy
from reference_client import SIMPLE as NO_NETWORK
from reference_client import Station, Steps
from small_plane import KIB, Program, Step

from xc40io.config.machine import Machine
from xc40io.plane.operations import Op

SIMPLE: dict[str, object] = NO_NETWORK | {
    "home__block_size": 64 * KIB,
    "home__blocks_in_flight": 3,
    "home__client_read_rate": 2**30,
    "home__client_write_rate": 2**29,
    "home__read_rate": 2**28,
    "home__write_rate": 2**27,
    "home__shared_read_rate": 2**28,
    "home__shared_write_rate": 2**27,
    "home__file_write_time": 16339 / 2**28,
    "home__request_time": 2767 / 2**28,
    "home__read_latency": 22543 / 2**28,
    "home__write_latency": 12979 / 2**28,
    "home__message_latency": 3253 / 2**28,
    "home__open_time": 4919 / 2**28,
    "home__sync_time": 9811 / 2**28,
}
"""The machine's values, ``__`` in place of the dot. Odd numerators keep most events apart."""

TOGETHER = 32  # stripes of a call are sent together


class BlockStart(NamedTuple):
    """What the tests compare of a block: who began to send it to whom, and when."""

    time: float
    node: int
    server: int
    file: int
    size: int
    write: bool


@dataclass
class File:
    """A file whose stripes go round over some service nodes."""

    servers: Sequence[int]
    stripe_size: int
    end: int = 0


class ServiceNodes:
    """Ranks that run programs on files behind service nodes, in one allocation."""

    def __init__(
        self, machine: Machine, nodes: int, per_node: int, files: Sequence[File], room: int
    ) -> None:
        assert machine.home is not None
        self.service = machine.home
        self.clock = clock = simpy.Environment()
        self.files, self.room = files, room
        self.used, self.refused = sum(file.end for file in files), 0
        self.per_node, self.ranks = per_node, nodes * per_node
        servers = range(self.service.nodes)
        self.clients = [Station(clock) for _ in range(nodes)]
        self.threads = [Station(clock) for _ in servers]
        self.disks = [Station(clock) for _ in servers]
        self.behind = Station(clock)  # all of them
        self.inodes = {(f, s): Station(clock) for f in range(len(files)) for s in servers}
        self.places = {
            (n, s): simpy.Resource(clock, self.service.blocks_in_flight)
            for n in range(nodes)
            for s in servers
        }
        self.starts: list[BlockStart] = []

    @property
    def tied(self) -> bool:
        """Whether blocks of two nodes came at the same instant: nobody's rule who is first."""
        return any(s.tied for s in (*self.threads, *self.disks, self.behind, *self.inodes.values()))

    def run(self, programs: Sequence[Program]) -> list[float]:
        """Run a program a rank; return when each ended."""
        ended = [0.0] * self.ranks

        def run_rank(rank: int) -> Steps:
            for step in programs[rank]:
                yield from self.step(rank // self.per_node, step)
            ended[rank] = self.clock.now

        for rank, program in enumerate(programs):
            if program:
                self.clock.process(run_rank(rank))
        self.clock.run()
        return ended

    def step(self, node: int, step: Step) -> Steps:
        if step.kind == Op.THINK:
            yield self.clock.timeout(step.seconds)
        elif step.kind in (Op.READ, Op.WRITE):
            for call in range(step.count):
                offset = step.offset + call * step.stride
                yield from self.call(node, step, offset)
        else:
            yield from self.small_request(node, step)

    def call(self, node: int, step: Step, offset: int) -> Steps:
        """Move the bytes of a call, some stripes at a time."""
        file = self.files[step.file]
        write = step.kind == Op.WRITE
        stop = (
            self.grow(file, offset, step.length) if write else min(offset + step.length, file.end)
        )
        stripes = list(self.stripes(file, offset, stop))
        while stripes:
            together, stripes = stripes[:TOGETHER], stripes[TOGETHER:]
            blocks = [
                (server, size)
                for server, start, end in together
                for size in self.blocks(start, end)
            ]
            yield self.clock.all_of(
                [
                    self.clock.process(self.block(node, server, step.file, size, write))
                    for server, size in blocks
                ]
            )

    def grow(self, file: File, start: int, length: int) -> int:
        """Let a file grow as far as its allocation has room; return where the write ends."""
        growth = max(start + length - file.end, 0)
        granted = min(growth, self.room - self.used)
        stop = max(start + length - (growth - granted), start)
        self.refused += start + length - stop
        if stop > start:
            self.used += granted
            file.end += granted
        return stop

    def stripes(self, file: File, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Yield service node, start and stop of the stripes of some bytes."""
        while start < stop:
            stripe = start // file.stripe_size
            end = min((stripe + 1) * file.stripe_size, stop)
            yield file.servers[stripe % len(file.servers)], start, end
            start = end

    def blocks(self, start: int, stop: int) -> Iterator[int]:
        """Yield the sizes of the blocks of a stripe; they end at whole blocks of the file."""
        size = self.service.block_size
        while start < stop:
            end = min((start // size + 1) * size, stop)
            yield end - start
            start = end

    def block(self, node: int, server: int, file: int, size: int, write: bool) -> Steps:
        """Move a block, when it has a place among those under way to its service node."""
        service, clock = self.service, self.clock
        with self.places[node, server].request() as place:
            yield place
            self.starts.append(BlockStart(clock.now, node, server, file, size, write))
            if write:
                yield self.clients[node].serve(size / service.client_write_rate)
                yield from self.write(node, server, file, size)
                yield clock.timeout(service.message_latency)
            else:
                yield clock.timeout(service.message_latency)
                yield from self.read(node, server, size)
                yield self.clients[node].serve(size / service.client_read_rate)

    def read(self, node: int, server: int, size: int) -> Steps:
        """Read from the disks of a service node, and at the same time from what is behind."""
        service = self.service
        disk = self.disks[server].serve(service.request_time + size / service.read_rate, node)
        yield disk & self.behind.serve(size / service.shared_read_rate, node)
        yield self.clock.timeout(service.read_latency)

    def write(self, node: int, server: int, file: int, size: int) -> Steps:
        """The same to write; meanwhile it has the inode of its file there for itself."""
        service = self.service
        on_disk = size / service.write_rate
        disk = self.disks[server].serve(service.request_time + on_disk, node)
        behind = self.behind.serve(size / service.shared_write_rate, node)
        alone = self.inodes[file, server].serve(service.file_write_time + on_disk, node)

        def stored() -> Steps:
            yield disk & behind
            yield self.clock.timeout(service.write_latency)

        yield self.clock.process(stored()) & alone

    def small_request(self, node: int, step: Step) -> Steps:
        """Ask the file's first service node for something; for an fsync, all of them."""
        file, service = self.files[step.file], self.service
        if step.kind in (Op.TRUNCATE, Op.UNLINK):
            end = step.offset if step.kind == Op.TRUNCATE else 0
            self.used -= max(file.end - end, 0)
            file.end = end

        def ask(server: int) -> Steps:
            yield self.clock.timeout(service.message_latency)
            yield self.threads[server].serve(service.open_time, node)
            yield self.clock.timeout(service.message_latency)

        asked = file.servers if step.kind == Op.FSYNC else file.servers[:1]
        yield self.clock.all_of([self.clock.process(ask(server)) for server in asked])
        if step.kind == Op.FSYNC:
            yield self.clock.timeout(service.sync_time)
