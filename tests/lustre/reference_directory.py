"""One directory of one node as plain SimPy: its mutex, the places of the mdc, and the server.

Slow and meant to be obviously right: who stats, makes or removes files of a directory in which
order. The compiled metadata servers have to agree with it to the last bit on a machine whose
network takes no time but for the latency of a message.

Left out: opens, several nodes, files that others write, and locks that a node gives up.
"""

from __future__ import annotations

from collections.abc import Sequence

import simpy
from reference_client import Station, Steps
from small_plane import Program, Step

from xc40io.config.machine import Machine
from xc40io.plane.operations import Op


class Node:
    """Ranks of one node; ``directory`` says in which directory each file is."""

    def __init__(self, machine: Machine, directory: Sequence[int]) -> None:
        self.clock = clock = simpy.Environment()
        self.machine, self.mds = machine, machine.lustre.mds
        self.parallel = machine.nodes.parallel_lookups
        self.directory = directory
        self.mutex = [simpy.Resource(clock) for _ in range(1 + max(directory))]
        self.places = simpy.Resource(clock, self.mds.max_rpcs_in_flight)
        self.turn = simpy.Resource(clock, self.mds.modifying_rpcs or 1)
        self.server = Station(clock)
        self.oss = [Station(clock) for _ in range(machine.lustre.osts)]
        self.known: set[int] = set()  # names of which the node has the lock
        self.looked: set[int] = set()  # files whose attributes it has
        self.changing: list[int] = []  # files that the server is about to change

    @property
    def tied(self) -> bool:
        """Whether requests of two ranks came at the same instant: nobody's rule who is first."""
        return self.server.tied or any(oss.tied for oss in self.oss)

    def run(self, programs: Sequence[Program]) -> list[float]:
        """Run a program a rank; return when each ended."""
        ended = [0.0] * len(programs)

        def run_rank(rank: int) -> Steps:
            for step in programs[rank]:
                if step.kind == Op.THINK:
                    yield self.clock.timeout(step.seconds)
                elif step.kind == Op.STAT:
                    yield from self.stat(rank, step.file)
                else:
                    yield from self.change(rank, step)
            ended[rank] = self.clock.now

        for rank in range(len(programs)):
            self.clock.process(run_rank(rank))
        self.clock.run()
        return ended

    def stat(self, rank: int, file: int) -> Steps:
        """A look-up below the mutex, unless the name is known; the size is asked for behind it."""
        mutex = None
        if file not in self.known and not self.parallel:
            mutex = self.mutex[self.directory[file]].request()
            yield mutex
        if not (file in self.looked & self.known and file not in self.changing):
            with self.places.request() as place:
                yield place
                yield from self.ask(rank, 1 / self.mds.stat_rate)
            self.known.add(file)
            self.looked.add(file)
        if mutex is not None:
            self.mutex[self.directory[file]].release(mutex)
        latency = self.machine.network.message_latency
        yield self.clock.timeout(latency)
        yield self.oss[file % len(self.oss)].serve(self.machine.lustre.oss_request_time, rank)
        yield self.clock.timeout(latency)

    def change(self, rank: int, step: Step) -> Steps:
        """A create or an unlink, all of it below the mutex; an unlink needs to know the name."""
        with self.mutex[self.directory[step.file]].request() as mutex:
            yield mutex
            if step.kind == Op.UNLINK and step.file not in self.known:
                with self.places.request() as place:
                    yield place
                    yield from self.ask(rank, 1 / self.mds.stat_rate)
            rate = self.mds.create_rate if step.kind == Op.CREATE else self.mds.unlink_rate
            with self.turn.request() as turn:
                yield turn
                yield from self.ask(rank, 1 / rate + self.mds.stripe_time, changed=step.file)
        if step.kind == Op.CREATE:
            self.known.add(step.file)
        else:
            self.known.discard(step.file)
        self.looked.discard(step.file)

    def ask(self, rank: int, seconds: float, changed: int | None = None) -> Steps:
        """Send the server a request, which may change a file, and wait for its reply."""
        yield self.clock.timeout(self.machine.nodes.mds_message_latency)
        if changed is not None:
            self.changing.append(changed)
        yield self.server.serve(seconds, rank)
        yield self.clock.timeout(self.mds.op_latency)
        if changed is not None:
            yield self.clock.timeout(self.mds.change_latency)
            self.changing.remove(changed)
            self.looked.discard(changed)
        yield self.clock.timeout(self.machine.nodes.mds_message_latency)
