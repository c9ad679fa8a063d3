"""What ranks send to the aggregators of a collective write, and what each send waits for.

A rank waits for its sends of one round before it turns to the next, and an aggregator for the end
of its write too (ROMIO ad_lustre_wrcoll.c, ADIOI_LUSTRE_Exch_and_write). The ranks of a node share
the way out of it, so that a node has up to three transfers for a turn, one a :class:`Line`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from sim.engine.types import Integers
from sim.mpi.domains import CollectiveFile, sum_by
from sim.mpi.rounds import Call, Script, ranges_of
from sim.mpi.timers import Timer
from sim.plane.batch import Batch
from sim.plane.operations import Op


class Line(IntEnum):
    """What a transfer waits for before it begins."""

    FIRST = 0  # nothing: its ranks send for the first time
    NEXT = 1  # the node's transfers of rounds before
    AGGREGATORS = 2  # the aggregators that send it, which come when they have written


class Sends(NamedTuple):
    """The shares of a call as sends.

    Attributes
    ----------
    node, round, line
        int64 (shares,): from which node, in which round, and what it waits for. What an aggregator
        gives itself it has: that waits for nothing.
    rank
        int64 (shares,).
    """

    node: Integers
    round: Integers
    line: Integers
    rank: Integers


def sends_of(target: CollectiveFile, call: Call) -> Sends:
    """Return the shares that go to other ranks, and for each whether its rank has sent before."""
    rank, foreign = call.shares.rank, call.shares.foreign > 0
    round_ = call.turns.round[call.shares.turn]
    since = np.full(target.communicator.size, call.turns.rounds)
    np.minimum.at(since, rank, round_)
    writes = np.isin(rank, target.aggregators)
    line = np.where(foreign & (since[rank] < round_), Line.NEXT, Line.FIRST).astype(np.int64)
    line[foreign & writes] = Line.AGGREGATORS
    return Sends(target.communicator.node[rank].astype(np.int64), round_, line, rank)


class Groups(NamedTuple):
    """What the aggregators of a node send together in a round.

    Attributes
    ----------
    key
        int64 (groups,): ``node * rounds + round``.
    parts, one
        int64 (groups,): how many transfers that is, and the number of one of them.
    """

    key: Integers
    parts: Integers
    one: Integers


def add_exchanges(
    script: Script, step: int, batch: Batch, target: CollectiveFile, call: Call
) -> None:
    """Add the exchanges of rounds in which a rank waits only for its own sends and receives.

    Parameters
    ----------
    script, step
        Takes the exchanges, at this place of every round.
    batch, target, call
        Takes the transfers; the file and the call.
    """
    turns, rounds = call.turns, call.turns.rounds
    sends = sends_of(target, call)
    own = sends.line == Line.AGGREGATORS
    group_and_rank = np.unique(
        (sends.node[own] * rounds + sends.round[own]) * target.communicator.size + sends.rank[own]
    )
    sender_group, sender = np.divmod(group_and_rank, target.communicator.size)
    first, count, groups = _add_transfers(batch, target, call, sends, sender_group)
    position = np.zeros(target.communicator.size, np.int64)
    position[target.aggregators] = np.arange(len(target.aggregators))
    receives = turns.domain * rounds + turns.round
    gives = position[sender] * rounds + sender_group % rounds
    every = np.union1d(receives, gives)
    transfer, received, sent, one = np.zeros((4, len(every)), np.int64)
    place = np.searchsorted(every, receives)
    transfer[place], received[place] = first, count
    place, group = np.searchsorted(every, gives), np.searchsorted(groups.key, sender_group)
    sent[place], one[place] = groups.parts[group], groups.one[group]
    script.add(
        Op.EXCHANGE,
        Timer.EXCHANGE,
        step,
        every // rounds,
        every % rounds,
        transfer=transfer,
        received=received,
        sent=sent,
        sent_first=one,
    )


def _add_transfers(
    batch: Batch, target: CollectiveFile, call: Call, sends: Sends, sender_group: Integers
) -> tuple[Integers, Integers, Groups]:
    """Add the transfers; ``sender_group`` has the group of each aggregator that sends in a round.

    Returns
    -------
    int64 (turns,), int64 (turns,), Groups
        The number of the first transfer of each turn, how many there are, and which of all the
        transfers aggregators send together.
    """
    turns, lines = call.turns, len(Line)
    nodes = int(target.communicator.node.max()) + 1
    key, size = sum_by(
        (call.shares.turn * nodes + sends.node) * lines + sends.line, call.shares.bytes
    )
    turn, source, line = key // lines // nodes, key // lines % nodes, key % lines
    own = np.flatnonzero(line == Line.AGGREGATORS)
    group, one, row, parts = np.unique(
        source[own] * turns.rounds + turns.round[turn[own]],
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    senders = np.zeros(len(key), np.int64)
    senders[own] = np.bincount(np.searchsorted(group, sender_group), minlength=len(group))[row]
    first = batch.add_transfers(
        source=source,
        target=target.nodes[turns.domain[turn]],
        size=size,
        turn=turns.round[turn],
        after=line != Line.FIRST,
        senders=senders,
    )
    return *ranges_of(call, turn, first), Groups(group, parts, first + own[one])
