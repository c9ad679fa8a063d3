"""Collective calls on small files: what they add to a batch, and what they ought to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from open_files import NUMBER, THETA, random_accesses

from xc40io.lustre.striping import Layout
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.communicator import Collectives, Communicator
from xc40io.mpi.domains import CollectiveFile
from xc40io.mpi.hints import Hints, Switch
from xc40io.mpi.stats import AccessCounts
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op

RANKS = 8
EVERYONE, INNER = 3, 4
"""Meetings of all ranks, and of a part of them."""


def collective_file(
    aggregators: list[int],
    *,
    node: list[int] | None = None,
    stripe_size: int = 64,
    library: str = "cray",
    release: str | None = None,
    **hints: Any,
) -> CollectiveFile:
    """Return a file that eight ranks have open, by default two on each of four nodes."""
    nodes = np.array(node or [rank // 2 for rank in range(RANKS)], np.int32)
    everyone = Communicator(np.arange(RANKS)[::-1].copy(), nodes, EVERYONE)
    mpi = THETA.with_changes({"mpi.library": library, "mpi.release": release}).mpi
    return CollectiveFile(
        number=NUMBER,
        layout=Layout.striped(stripe_size, range(4)),
        communicator=everyone,
        aggregators=np.array(aggregators),
        hints=Hints(**hints),
        mpi=mpi,
        costs=Collectives(mpi, everyone.nodes, everyone.size),
        inner_meeting=INNER,
    )


@st.composite
def collective_files(draw: st.DrawFn, **hints: Any) -> CollectiveFile:
    """Draw files with any aggregators, on any nodes, with any stripes and buffers."""
    return collective_file(
        draw(st.permutations(range(RANKS)))[: draw(st.integers(1, RANKS))],
        node=[draw(st.integers(0, 3)) for _ in range(RANKS)],
        stripe_size=draw(st.sampled_from([7, 16, 50, 128, 1000])),
        library=draw(st.sampled_from(["cray", "romio"])),
        **{
            "cb_buffer_size": draw(st.sampled_from([16, 100, 256, 3000])),
            "romio_lustre_ds_in_coll": draw(st.sampled_from(Switch)),
            **hints,
        },
    )


def files_and_accesses(**hints: Any) -> st.SearchStrategy[tuple[CollectiveFile, Accesses]]:
    """Draw files, and what the ranks access there."""
    return st.tuples(collective_files(**hints), random_accesses(RANKS))


class Transfer(NamedTuple):
    """What goes from node to node for an exchange; see ``xc40io.plane.batch.Transfers``."""

    source: int
    target: int
    size: int
    turn: int
    after: bool
    senders: int


class Step(NamedTuple):
    """An operation: its calls as first bytes and ones past their ends; or who sends what where.

    ``transfers`` are those that an exchange receives; it sends ``sends`` more, of which
    ``one_sent`` is one.
    """

    kind: Op
    timer: int
    seconds: float
    meeting: int = -1
    members: int = 0
    calls: Sequence[tuple[int, int]] = ()
    transfers: Sequence[Transfer] = ()
    sends: int = 0
    one_sent: Transfer | None = None


@dataclass
class Plan:
    """What a collective call adds to a batch, and what it counts.

    ``steps`` holds those of every rank, ``transfers`` all transfers.
    """

    target: CollectiveFile
    steps: list[list[Step]]
    transfers: list[Transfer]
    counts: AccessCounts

    def of_aggregator(self, position: int, kind: Op) -> list[Step]:
        """Return what an aggregator does of one kind."""
        rank = int(self.target.aggregators[position])
        return [step for step in self.steps[rank] if step.kind is kind]

    def calls(self, kind: Op, timer: int | None = None) -> list[list[tuple[int, int]]]:
        """Return the calls of one kind of every aggregator, and that nobody else makes any."""
        for rank, steps in enumerate(self.steps):
            if rank not in self.target.aggregators:
                assert not any(step.kind is kind for step in steps)
        return [
            [
                call
                for step in self.of_aggregator(position, kind)
                if timer is None or step.timer == timer
                for call in step.calls
            ]
            for position in range(len(self.target.aggregators))
        ]

    def meetings(self, number: int) -> list[list[tuple[float, int]]]:
        """Return for every rank when it is at a meeting, as seconds and members."""
        return [
            [(step.seconds, step.members) for step in steps if step.meeting == number]
            for steps in self.steps
        ]


Method = Callable[[Batch, CollectiveFile, Accesses, AccessCounts], None]


def plan(method: Method, target: CollectiveFile, accesses: Accesses) -> Plan:
    """Make one collective call, and look at what it adds."""
    counts = AccessCounts.of(target.layout, len(target.aggregators))
    batch = Batch(np.arange(RANKS))
    method(batch, target, accesses, counts)
    transfers = [
        Transfer(*row)
        for part in batch.transfers
        for row in zip(*(column.tolist() for column in part), strict=True)
    ]
    operations, bounds = batch.listing()
    steps = []
    for owner in target.communicator.owners.tolist():
        own = operations[bounds[owner] : bounds[owner + 1]]
        steps.append([_step(one, transfers) for one in own])
    return Plan(target, steps, transfers, counts)


def _step(one: Any, transfers: list[Transfer]) -> Step:
    step = Step(Op(one["kind"]), int(one["timer"]), float(one["seconds"]))
    if step.kind in (Op.READ, Op.WRITE, Op.LOCK_AHEAD):
        assert one["file"] == NUMBER
        starts = (int(one["offset"]) + i * int(one["stride"]) for i in range(one["count"]))
        return step._replace(calls=[(start, start + int(one["length"])) for start in starts])
    if step.kind is Op.MEET:
        return step._replace(meeting=int(one["meeting"]), members=int(one["members"]))
    if step.kind is Op.EXCHANGE:
        first, sends = int(one["transfer"]), int(one["sent"])
        return step._replace(
            transfers=transfers[first : first + int(one["received"])],
            sends=sends,
            one_sent=transfers[int(one["sent_first"])] if sends else None,
        )
    return step


def bytes_of(calls: list[tuple[int, int]]) -> list[int]:
    """Return all bytes of ranges; one that is in several of them comes several times."""
    return [byte for start, stop in calls for byte in range(start, stop)]


def pieces_of(accesses: Accesses) -> list[tuple[int, int, int]]:
    """Return pieces as rank, first byte and the one past the end."""
    rows = zip(*(column.tolist() for column in accesses), strict=True)
    return [(rank, offset, offset + length) for rank, offset, length in rows]


def given_bytes(accesses: Accesses) -> set[int]:
    """Return the bytes that any rank accesses."""
    return {byte for _, start, stop in pieces_of(accesses) for byte in range(start, stop)}


def gaps_between(given: set[int]) -> tuple[int, int]:
    """Return how many gaps there are between bytes, and how many bytes they have."""
    places = sorted(given)
    holes = [b - a - 1 for a, b in pairwise(places) if b > a + 1]
    return len(holes), sum(holes)


def stripes_of(given: set[int], stripe_size: int) -> dict[int, set[int]]:
    """Return the bytes in each stripe that has any."""
    stripes = defaultdict(set)
    for byte in given:
        stripes[byte // stripe_size].add(byte)
    return dict(stripes)


def rounds_by_hand(
    target: CollectiveFile, accesses: Accesses, *, one_sided: bool = False
) -> Callable[[int], int]:
    """Return what tells in which round a stripe is written."""
    first = min(accesses.offset.tolist(), default=0) // target.layout.stripe_size
    buffers = 1
    if one_sided and target.mpi.library == "romio":
        buffers = max(1, target.hints.cb_buffer_size // target.layout.stripe_size)
    return lambda stripe: (stripe - first) // (len(target.aggregators) * buffers)


def exchanged(
    target: CollectiveFile, accesses: Accesses, *, one_sided: bool = False
) -> Counter[tuple[int, int, int]]:
    """Return how many bytes go from each node to each aggregator, by position, in each round."""
    amounts: Counter[tuple[int, int, int]] = Counter()
    round_of = rounds_by_hand(target, accesses, one_sided=one_sided)
    origin = min(accesses.offset.tolist(), default=0) // target.layout.stripe_size * one_sided
    for rank, start, stop in pieces_of(accesses):
        node = int(target.communicator.node[rank])
        for byte in range(start, stop):
            stripe = byte // target.layout.stripe_size
            position = (stripe - origin) % len(target.aggregators)
            amounts[node, position, round_of(stripe)] += 1
    return amounts
