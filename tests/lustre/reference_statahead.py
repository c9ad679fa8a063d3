"""Statahead as plain SimPy: a process that lists a directory, and its thread.

Slow and meant to be obviously right: the rules of Lustre 2.7's llite/statahead.c in the words of
``xc40io.lustre.statahead``, over Python lists. The compiled statahead has to agree with it to the
last bit on a machine whose network takes no time but for the latency of a message.

Left out: files that others write, change or remove meanwhile, directories of which a node has two
listings, and that are read in several parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import simpy
from reference_client import Station, Steps
from small_plane import Program, Step

from xc40io.config.machine import Machine
from xc40io.plane.operations import Op

FIRST_AHEAD = 2  # LL_SA_RPC_MIN
OMITTED = 8  # SA_OMITTED_ENTRY_MAX


@dataclass(eq=False)
class Entry:
    """What a thread has asked for. It is ``known`` when nothing more comes."""

    file: int
    replied: simpy.Event
    known: simpy.Event
    sized: bool = False


@dataclass(eq=False)
class Listing:
    """A directory that a rank has open: the files from ``first`` to ``stop - 1``."""

    first: int
    stop: int
    wake: simpy.Event
    rank: int
    state: str = "listed"
    upcoming: int = 0
    ahead_max: int = 0
    entries: list[Entry] = field(default_factory=list)
    hits: int = 0
    misses: int = 0
    misses_in_a_row: int = 0


class Node:
    """Ranks of one node, each with a directory of its own; file ``i`` has OSTs ``osts[i]``."""

    def __init__(self, machine: Machine, osts: Sequence[Sequence[int]]) -> None:
        self.clock = clock = simpy.Environment()
        self.lustre, self.latency = machine.lustre, machine.network.message_latency
        self.mds_latency = machine.nodes.mds_message_latency or self.latency
        self.osts = osts
        self.mds = Station(clock)
        self.osses = [Station(clock) for _ in range(machine.lustre.osts)]
        self.opening, self.closing = simpy.Resource(clock), simpy.Resource(clock)
        self.mdc = simpy.Resource(clock, machine.lustre.mds.max_rpcs_in_flight)
        self.listings: dict[int, Listing] = {}
        self.hits: dict[int, int] = {}
        self.known: set[int] = set()  # files whose attributes the node has
        self.asked = self.glimpses = 0

    @property
    def tied(self) -> bool:
        """Whether requests of two ranks came at the same instant: nobody's rule who is first."""
        return self.mds.tied or any(oss.tied for oss in self.osses)

    def run(self, programs: Sequence[Program]) -> list[float]:
        """Run a program a rank; return when each ended."""
        ended = [0.0] * len(programs)

        def run_rank(rank: int) -> Steps:
            for step in programs[rank]:
                yield from self.step(rank, step)
            ended[rank] = self.clock.now

        for rank in range(len(programs)):
            self.clock.process(run_rank(rank))
        self.clock.run()
        return ended

    def step(self, rank: int, step: Step) -> Steps:
        mds = self.lustre.mds
        if step.kind == Op.THINK:
            yield self.clock.timeout(step.seconds)
        elif step.kind == Op.OPEN:
            with self.opening.request() as turn:
                yield turn
                yield from self.ask_mds(rank, 1 / mds.open_rate)
        elif step.kind == Op.READDIR:
            yield from self.ask_mds(rank, step.count / mds.readdir_rate)
            stop = step.first_entry + step.entries
            self.listings[rank] = Listing(step.first_entry, stop, self.clock.event(), rank)
        elif step.kind == Op.STAT:
            yield from self.stat(rank, step.file)
        else:
            if (listing := self.listings.pop(rank, None)) is not None:
                listing.state, listing.entries = "closed", []
                self.hits[rank] = listing.hits
            with self.closing.request() as turn:
                yield turn
                yield from self.ask_mds(rank, 1 / mds.close_rate)

    # ---------------------------------------------------------------------------- requests

    def ask_mds(self, rank: int, seconds: float) -> Steps:
        self.asked += 1
        yield self.clock.timeout(self.mds_latency)
        yield self.mds.serve(seconds, rank)
        yield self.clock.timeout(self.lustre.mds.op_latency + self.mds_latency)

    def glimpse(self, rank: int, file: int) -> Steps:
        """Ask every object of a file for its size, all at once."""

        def one(ost: int) -> Steps:
            self.glimpses += 1
            yield self.clock.timeout(self.latency)
            yield self.osses[ost].serve(self.lustre.oss_request_time, rank)
            yield self.clock.timeout(self.latency)

        yield self.clock.all_of([self.clock.process(one(ost)) for ost in self.osts[file]])

    # -------------------------------------------------------------------------- the process

    def stat(self, rank: int, file: int) -> Steps:
        listing = self.listings.get(rank)
        entry = None if listing is None else self.look_up(listing, file)
        if listing is None or entry is None:
            if file not in self.known:
                with self.mdc.request() as place:
                    yield place
                    yield from self.ask_mds(rank, 1 / self.lustre.mds.stat_rate)
                self.known.add(file)
            yield from self.glimpse(rank, file)
            return
        if not entry.replied.triggered:
            yield entry.replied
        self.take(listing, entry)
        self.known.add(file)
        if not entry.known.triggered:
            yield entry.known
        if not entry.sized:
            yield from self.glimpse(rank, file)

    def look_up(self, listing: Listing, file: int) -> Entry | None:
        """Return the entry that a stat finds; start or refuse a thread at the first."""
        if listing.state == "refused" or not listing.first <= file < listing.stop:
            return None
        if listing.state == "listed":
            listing.state = "running" if file == listing.first else "refused"
            if listing.state == "running":
                listing.upcoming = file + 1
                listing.ahead_max = min(FIRST_AHEAD, self.lustre.statahead_max)
                self.clock.process(self.thread(listing))
            return None
        for entry in listing.entries:
            if entry.file == file:
                return entry
        self.forget_old(listing)
        listing.misses += 1
        listing.misses_in_a_row += 1
        low = listing.hits > 7 and listing.hits < 4 * listing.misses
        if low or listing.misses_in_a_row > 8:
            listing.state = "stopped"
        self.wake(listing)
        return None

    def take(self, listing: Listing, entry: Entry) -> None:
        """Use an entry whose attributes are there."""
        listing.hits += 1
        listing.misses_in_a_row = 0
        listing.ahead_max = min(2 * listing.ahead_max, self.lustre.statahead_max)
        listing.entries.remove(entry)
        self.forget_old(listing)
        self.wake(listing)

    def forget_old(self, listing: Listing) -> None:
        """Forget what the process has left out, far behind."""
        listing.entries = [
            entry
            for entry in listing.entries
            if entry.file + listing.ahead_max + OMITTED >= listing.upcoming
        ]

    # --------------------------------------------------------------------------- the thread

    def wake(self, listing: Listing) -> None:
        if not listing.wake.triggered:
            listing.wake.succeed()

    def thread(self, listing: Listing) -> Steps:
        """Ask for entry after entry, while so many are ahead and the mdc has a place."""
        while listing.state == "running":
            if len(listing.entries) == listing.ahead_max or listing.upcoming == listing.stop:
                listing.wake = self.clock.event()
                yield listing.wake
                continue
            entry = Entry(listing.upcoming, self.clock.event(), self.clock.event())
            listing.entries.append(entry)
            listing.upcoming += 1
            place = self.mdc.request()
            yield place
            if entry in listing.entries:
                self.clock.process(self.ask(listing, entry, place))
            else:
                self.mdc.release(place)

    def ask(self, listing: Listing, entry: Entry, place: simpy.resources.resource.Request) -> Steps:
        """Ask for the attributes of an entry, and then for its size, if it is wanted still."""
        rank = listing.rank
        yield from self.ask_mds(rank, 1 / self.lustre.mds.stat_rate)
        self.mdc.release(place)
        entry.replied.succeed()
        wanted = listing.state == "running" and entry in listing.entries
        if self.lustre.statahead_agl and wanted:
            yield from self.glimpse(rank, entry.file)
            entry.sized = True
        entry.known.succeed()
