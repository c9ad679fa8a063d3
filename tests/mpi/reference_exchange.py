"""The exchange between ranks as plain SimPy: who sends in which round, and when it is over.

Slow and meant to be obviously right: the rule of ``xc40io.mpi.exchange`` in events, one each time
something is over. A node sends what it owes in a round when all that it owed in the round before
has arrived; whoever sends for the first time need not wait for that. What aggregators send in a
round waits until those of their node that send then have all come, and they go on when all of it
has arrived, and what they receive.

The compiled exchange has to agree with it to the last bit where messages do not wait for each
other: on NICs and links that take no time, but for a fixed one that every message needs.

Left out: NICs and links that are busy, and the plan, which ``test_twophase.py`` holds against
bookkeeping byte by byte: what goes from whom to whom is given here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import simpy
from reference_client import Station, Steps


class Transfer(NamedTuple):
    """Bytes from node to node in a round; see ``xc40io.plane.batch.Transfers``."""

    source: int
    target: int
    size: int
    turn: int
    after: bool
    senders: int


class Round(NamedTuple):
    """What a rank does in one round: thinks, then receives some transfers and sends others."""

    thinks: float
    receives: Sequence[int]
    sends: Sequence[int]


@dataclass(frozen=True)
class Costs:
    """Seconds of a message between nodes, and of a byte that is copied within one."""

    message: float
    copied_byte: float
    message_size: int
    under_way: int  # messages of one transfer


class Exchanges:
    """Ranks that go through rounds; ``ended`` has when each transfer was over."""

    def __init__(self, costs: Costs, transfers: Sequence[Transfer]) -> None:
        self.costs, self.transfers = costs, transfers
        self.clock = clock = simpy.Environment()
        self.over = [clock.event() for _ in transfers]
        self.ended = [0.0] * len(transfers)
        self.came: dict[tuple[int, int], list[simpy.Event]] = {}
        """By node and round: one event for each aggregator that is to send there."""
        self.copied: dict[Station, tuple[float, bool]] = {}
        """When a core was last to copy, and whether its rank had waited for that."""
        self.tied = False
        """Whether two copies that a rank waited for could begin at once: nobody's rule which."""

    def run(self, programs: Sequence[Sequence[Round]]) -> list[float]:
        """Run the rounds of every rank; return when each rank ended."""
        for transfer in self.transfers:
            if transfer.senders:
                key = transfer.source, transfer.turn
                self.came[key] = [self.clock.event() for _ in range(transfer.senders)]
        ended = [0.0] * len(programs)

        def rank(number: int) -> Steps:
            core = Station(self.clock)
            for round_ in programs[number]:
                yield self.clock.timeout(round_.thinks)
                yield from self.exchange(round_, core)
            ended[number] = self.clock.now

        for number in range(len(programs)):
            self.clock.process(rank(number))
        self.clock.run()
        return ended

    def exchange(self, round_: Round, core: Station) -> Steps:
        """Come to an exchange, and leave it when all that one has to do with is over."""
        if round_.sends:
            one = self.transfers[round_.sends[0]]
            next(e for e in self.came[one.source, one.turn] if not e.triggered).succeed()
        for number in round_.receives:
            self.clock.process(self.transfer(number, core))
        yield self.clock.all_of([self.over[i] for i in (*round_.receives, *round_.sends)])

    def transfer(self, number: int, core: Station) -> Steps:
        """Move what a rank that has come is to receive, as soon as its sender may send it."""
        one = self.transfers[number]
        before = self.before(one)
        waits = not all(event.processed for event in before)
        yield self.clock.all_of(before)
        if one.source == one.target:
            time, waited = self.copied.get(core, (-1.0, False))
            self.tied |= time == self.clock.now and (waits or waited)
            self.copied[core] = self.clock.now, waits
            yield core.serve(one.size * self.costs.copied_byte)
        else:
            messages = -(-one.size // self.costs.message_size)
            for _ in range(-(-messages // self.costs.under_way)):
                yield self.clock.timeout(self.costs.message)
        self.ended[number] = self.clock.now
        self.over[number].succeed()

    def before(self, one: Transfer) -> list[simpy.Event]:
        """Return what has to come to pass before a transfer can begin."""
        if one.senders:
            return self.came[one.source, one.turn]
        if one.turn < 0 or not one.after:
            return []
        return [
            over
            for over, other in zip(self.over, self.transfers, strict=True)
            if other.source == one.source and not other.senders and 0 <= other.turn < one.turn
        ]
