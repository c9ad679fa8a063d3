"""The layout lock of a file with a composite layout, as plain SimPy.

Slow and meant to be obviously right: every rank, every node's ``lli_layout_mutex`` and slots for
RPCs that modify, the MDT's threads and its lock on the layout as they are in Lustre 2.12, each a
resource or a process. The compiled one has to agree with it to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import simpy
from reference_client import Steps


class Use(NamedTuple):
    """A call: when it comes at the earliest, up to where it writes (0: it reads), for how long.

    ``after``: seconds from the end of the rank's call before it, at least.
    """

    begin: float
    end: int
    seconds: float
    after: float


class Times(NamedTuple):
    """Seconds of the parts."""

    message: float
    read: float  # of the MDT for a request for the layout
    write: float  # and for a write intent
    each_object: float
    latency: float
    callback: float


@dataclass
class Node:
    """A client: what it knows of the layout, and who uses that."""

    mutex: simpy.Resource
    slots: simpy.Resource
    callbacks: simpy.Resource
    known: bool = False
    cached: bool = False
    granted: bool = False
    generation: int = 0
    calls: int = 0
    idle: list[simpy.Event] = field(default_factory=list)


class Layout:
    """A file of components with these ends and object counts; ``begun`` has when calls begin."""

    def __init__(
        self, ends: Sequence[int], objects: Sequence[int], nodes: int, slots: int, times: Times
    ) -> None:
        self.clock = simpy.Environment()
        self.ends, self.objects, self.times = ends, objects, times
        self.ready = self.generation = 1
        self.mdt = simpy.Resource(self.clock)
        self.lock = simpy.Resource(self.clock)
        one = [simpy.Resource(self.clock) for _ in range(3 * nodes)]
        self.nodes = [
            Node(one[3 * i], simpy.Resource(self.clock, slots), one[3 * i + 1])
            for i in range(nodes)
        ]
        self.intents = self.fetches = self.cancels = 0

    def run(self, ranks: Sequence[tuple[int, Sequence[Use]]]) -> list[list[float]]:
        """Let ranks, each on a node, make their calls; return when each of these begins."""
        begun: list[list[float]] = [[] for _ in ranks]
        for number, (node, uses) in enumerate(ranks):
            self.clock.process(self.rank(self.nodes[node], uses, begun[number]))
        self.clock.run()
        return begun

    def rank(self, node: Node, uses: Sequence[Use], begun: list[float]) -> Steps:
        for use in uses:
            yield self.clock.timeout(max(use.begin - self.clock.now, use.after))
            while not (node.known and use.end <= self.ends[self.ready - 1]):
                yield from self.learn(node, use.end)
            node.calls += 1
            begun.append(self.clock.now)
            yield self.clock.timeout(use.seconds)
            node.calls -= 1
            if node.calls == 0:
                while node.idle:
                    node.idle.pop().succeed()

    def learn(self, node: Node, end: int) -> Steps:
        if node.known:
            with node.slots.request() as slot:
                if not slot.triggered:  # who need not wait goes on at once
                    yield slot
                self.intents += 1
                yield from self.ask(node, self.times.write, end)
            return
        with node.mutex.request() as turn:
            if not turn.triggered:
                yield turn
            while not node.known:
                if not node.cached:
                    self.fetches += 1
                    yield from self.ask(node, self.times.read, 0)
                elif node.generation != self.generation and node.calls:
                    node.idle.append(self.clock.event())
                    yield node.idle[-1]
                else:
                    node.known, node.generation = True, self.generation

    def ask(self, node: Node, seconds: float, end: int) -> Steps:
        yield self.clock.timeout(self.times.message)
        with self.mdt.request() as thread:
            yield thread
            yield self.clock.timeout(seconds)
        yield self.clock.timeout(self.times.latency)
        with self.lock.request() as mode:
            yield mode
            if end:
                yield self.clock.all_of(
                    [self.clock.process(self.revoke(one)) for one in self.nodes if one.granted]
                )
                new = [self.ready]
                self.generation += self.ends[self.ready - 1] < end
                while self.ends[self.ready - 1] < end:
                    self.ready += 1
                count = sum(self.objects[new[0] : self.ready])
                if count:
                    with self.mdt.request() as thread:
                        yield thread
                        yield self.clock.timeout(count * self.times.each_object)
            node.granted = True
        yield self.clock.timeout(self.times.message)
        node.cached = True

    def revoke(self, node: Node) -> Steps:
        node.granted = False
        yield self.clock.timeout(self.times.message)
        node.known = node.cached = False
        self.cancels += 1
        yield from self.handle(node)
        yield self.clock.timeout(self.times.message)

    def handle(self, node: Node) -> Steps:
        with node.callbacks.request() as thread:
            yield thread
            yield self.clock.timeout(self.times.callback)
