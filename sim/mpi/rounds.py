"""Rounds of a collective call: who has what in each, and what the aggregators do, turn by turn.

A *turn* is what one aggregator does in one round: it moves the data of all ranks in and out of the
windows that it has in this round. Control works out all turns of a call at once, in arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.engine.types import Floats, Integers
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.communicator import Communicator
from xc40io.mpi.domains import (
    CollectiveFile,
    Domains,
    FileWindows,
    Requests,
    file_windows_of,
    requests_of,
    sum_by,
    union,
)
from xc40io.mpi.stats import DirectionCounts, Timer
from xc40io.plane.batch import Batch
from xc40io.plane.operations import ON_FILES, Op, Operations, join_operations, make_operations


class Turns(NamedTuple):
    """The rounds in which aggregators have windows: rows by aggregator, then round."""

    # domain, round: int64 (turns,): which aggregator, by position, and which round
    domain: Integers
    round: Integers
    of_window: Integers  # int64 (windows,): the turn of every window
    of_request: Integers  # int64 (requests,): the turn of every request

    @property
    def rounds(self) -> int:
        """How many rounds the call has."""
        return int(self.round.max()) + 1


def turns_of(windows: FileWindows, requests: Requests) -> Turns:
    """Return the turns that the windows of a call make."""
    rounds = int(windows.round.max()) + 1
    key, of_window = np.unique(windows.domain * rounds + windows.round, return_inverse=True)
    of_request = of_window[np.searchsorted(windows.number, requests.window)]
    return Turns(key // rounds, key % rounds, of_window, of_request)


class Shares(NamedTuple):
    """What each rank has in each turn: rows by turn, then rank."""

    # turn, rank: int64 (shares,)
    turn: Integers
    rank: Integers
    # bytes, pieces: int64: of it
    bytes: Integers
    pieces: Integers
    windows: Integers  # int64: of the turn, in which the rank has anything
    # int64: 1 where it must go to another rank as a message, 0 for the aggregator's own
    foreign: Integers


def shares_of(target: CollectiveFile, requests: Requests, turns: Turns) -> Shares:
    """Add up the requests of each rank in each turn."""
    ranks = target.communicator.size
    key, size, pieces, windows = sum_by(
        turns.of_request * ranks + requests.rank,
        requests.bytes,
        requests.pieces,
        np.ones_like(requests.bytes),
    )
    turn, rank = key // ranks, key % ranks
    foreign = (rank != target.aggregators[turns.domain[turn]]).astype(np.int64)
    return Shares(turn, rank, size, pieces, windows, foreign)


@dataclass(frozen=True, eq=False)
class Call:
    """The plan of a collective call in which somebody reads or writes something.

    ``accesses`` is what the ranks read or write. ``gaps``, int64 (gaps,): lengths in bytes of the
    holes between the call's first and last byte.
    """

    accesses: Accesses
    domains: Domains
    windows: FileWindows
    turns: Turns
    shares: Shares
    gaps: Integers


def plan_call(
    target: CollectiveFile, accesses: Accesses, domains: Domains, *, dense: bool = False
) -> Call:
    """Plan a collective call: the windows, the turns of the aggregators, the shares of the ranks.

    Parameters
    ----------
    target, accesses
        The file; what the ranks read or write there, at least one piece.
    domains
        How the file is cut into windows.
    dense
        Whether windows between the first and the last one count in which nobody has anything.
    """
    start, length = union(accesses.offset, accesses.length)
    windows = file_windows_of(start, length, domains)
    if dense:
        windows = windows.filled_up(domains)
    requests = requests_of(accesses, domains)
    turns = turns_of(windows, requests)
    gaps = start[1:] - (start + length)[:-1]
    return Call(accesses, domains, windows, turns, shares_of(target, requests, turns), gaps)


def count_call(
    counts: DirectionCounts, target: CollectiveFile, accesses: Accesses, call: Call | None
) -> None:
    """Count a collective call of the application, and the gaps that it leaves in the file."""
    counts.add_collective(
        target.communicator.size,
        accesses.bytes,
        aggregators=len(target.aggregators),
        active=0 if call is None else len(np.unique(call.windows.domain)),
    )
    if call is not None:
        counts.add_gaps(call.gaps)


class Script:
    """What the aggregators do round after round, put together step by step for all at once."""

    def __init__(self, target: CollectiveFile, rounds: int) -> None:
        self._target = target
        self._rounds = rounds
        self._keys: list[Integers] = []
        self._steps: list[Operations] = []

    def add(
        self,
        kind: Op,
        timer: Timer,
        step: int,
        domain: Integers,
        round_: Integers,
        **columns: npt.ArrayLike,
    ) -> None:
        """Add one operation of each aggregator in some of its rounds.

        Parameters
        ----------
        kind, timer
            What to do; what its time is added to.
        step
            Its place in the round, 0 to 15; operations of one step follow each other as added.
        domain, round_
            int64 (n,): the aggregators, by position, and the rounds.
        columns
            Columns of the operation, each a scalar or of shape (n,). The file is the target.
        """
        if kind in ON_FILES:
            columns["file"] = self._target.number
        self._keys.append((domain * self._rounds + round_) * 16 + step)
        self._steps.append(make_operations(kind, len(domain), timer=timer, **columns))

    def add_calls(
        self,
        kind: Op,
        timer: Timer,
        step: int,
        windows: FileWindows,
        which: npt.NDArray[np.bool_],
        low: Integers,
        high: Integers,
        seconds: npt.ArrayLike = 0.0,
    ) -> None:
        """Read or write some windows of the aggregators, each with one call.

        Parameters
        ----------
        kind, timer, step
            As in :meth:`add`.
        windows, which
            The windows, and which of them: (windows,).
        low, high
            int64 (windows,): from and to where in the file, in bytes.
        seconds
            What a byte costs more than its copy: float64 (windows,).
        """
        self.add(
            kind,
            timer,
            step,
            windows.domain[which],
            windows.round[which],
            offset=low[which],
            length=(high - low)[which],
            stride=(high - low)[which],
            count=1,
            seconds=np.broadcast_to(seconds, low.shape)[which],
        )

    def add_meetings(self, round_: Integers, step: int, seconds: float) -> None:
        """Add a collective in some rounds, for which the aggregators meet on behalf of all ranks.

        The others take part in it too, but what they have to do there they do in good time: the
        aggregators alone can be late, since they alone read and write.
        """
        aggregators = len(self._target.aggregators)
        self.add(
            Op.MEET,
            Timer.EXCHANGE,
            step,
            np.repeat(np.arange(aggregators), len(round_)),
            np.tile(round_, aggregators),
            meeting=self._target.inner_meeting,
            members=aggregators,
            within=1,
            seconds=seconds,
        )

    def emit(self, batch: Batch) -> None:
        """Add all operations to a batch."""
        keys = np.concatenate(self._keys)
        order = np.argsort(keys, kind="stable")
        owners = self._target.owners[keys[order] // (16 * self._rounds)]
        batch.add_operations(join_operations(self._steps)[order], owners)


def add_exchange(
    batch: Batch, target: CollectiveFile, call: Call, *, outward: bool
) -> tuple[Integers, Integers]:
    """Add the transfers of all turns: one from, or to, each node that has a share in a turn.

    ``outward`` is from the aggregators to the ranks, in place of the other way.

    Returns
    -------
    int64 (turns,), int64 (turns,)
        The number of the first transfer of each turn, and how many there are.
    """
    nodes = int(target.communicator.node.max()) + 1
    key, size = sum_by(
        call.shares.turn * nodes + target.communicator.node[call.shares.rank], call.shares.bytes
    )
    turn, node = key // nodes, key % nodes
    aggregator = target.nodes[call.turns.domain[turn]]
    first = batch.add_transfers(
        source=aggregator if outward else node, target=node if outward else aggregator, size=size
    )
    return ranges_of(call, turn, first)


def ranges_of(call: Call, turn: Integers, first: int) -> tuple[Integers, Integers]:
    """Return the first transfer of every turn, and how many there are: int64 (turns,) each.

    ``turn`` is that of each transfer, in order, and ``first`` the number of the first of all.
    """
    bounds = np.searchsorted(turn, np.arange(len(call.turns.round) + 1))
    return first + bounds[:-1], np.diff(bounds)


def others_share(target: CollectiveFile, call: Call, moved: Integers) -> Floats:
    """Return the share of the bytes of aggregators for ranks of other nodes: float64 (turns,).

    ``moved`` are the bytes of each turn: int64 (turns,).
    """
    shares, turns = call.shares, call.turns
    node = target.communicator.node[shares.rank]
    others = np.where(node != target.nodes[turns.domain[shares.turn]], shares.bytes, 0)
    size = np.bincount(shares.turn, others, len(turns.round))
    return np.minimum(size / np.maximum(moved, 1), 1.0)  # the rest is moved in another pass


def calling_costs(target: CollectiveFile, call: Call, moved: Integers) -> Floats:
    """Return the extra cost of a byte that aggregators read, beyond its copy: float64 (turns,).

    In a round of which other nodes have a share the calls of an aggregator take longer, however
    much they move (``round_time``). ``moved`` are the bytes of each turn: int64 (turns,).
    """
    return others_share(target, call, moved) * target.mpi.round_time / np.maximum(moved, 1)


def fetching_costs(target: CollectiveFile, call: Call, written: Integers) -> Floats:
    """Return the extra cost of a byte that aggregators write, beyond its copy: float64 (turns,).

    The same, and what other nodes have sent lies in memory alone: the core that copies it into the
    page cache has to fetch it from there. What ranks of the aggregator's node gave, or what was
    read to modify it, a core has just copied: that is in its cache.

    Parameters
    ----------
    target, call
        The file and the call.
    written
        int64 (turns,): bytes that each turn writes.

    Returns
    -------
    float64 (turns,)
        Seconds a byte.
    """
    fetched = others_share(target, call, written) / target.mpi.fetch_rate
    return fetched + calling_costs(target, call, written)


class RankTimes:
    """How long ranks are busy with their shares, round by round.

    ``seconds``, float64 (shares,), are what each share of the call costs its rank.
    """

    def __init__(self, call: Call, seconds: Floats) -> None:
        self._call, self._rounds = call, call.turns.rounds
        key = call.shares.rank * self._rounds + call.turns.round[call.shares.turn]
        keys = (int(call.shares.rank.max()) + 1) * self._rounds
        if keys <= 2 * len(key):  # a place for every rank and round is quicker than sorting
            self._keys, self._of_share = np.arange(keys), key
        else:
            self._keys, self._of_share = np.unique(key, return_inverse=True)
        self._seconds = np.bincount(self._of_share, seconds, len(self._keys))

    def slowest(self) -> Floats:
        """Return the seconds of the slowest rank with a share in a turn, in that round: (turns,).

        That is with its shares in the turns of all aggregators, one after the other.
        """
        slowest = np.zeros(len(self._call.turns.round))
        np.maximum.at(slowest, self._call.shares.turn, self._seconds[self._of_share])
        return slowest

    def of(self, rank: Integers) -> Floats:
        """Return the seconds of one rank for each turn, ``rank`` (turns,), in that round."""
        keys = rank * self._rounds + self._call.turns.round
        found = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[found] == keys, self._seconds[found], 0.0)


def meet(batch: Batch, communicator: Communicator, seconds: float, timer: Timer) -> None:
    """Add a collective of all ranks of a communicator that takes ``seconds``."""
    batch.add(
        Op.MEET,
        communicator.owners,
        meeting=communicator.meeting,
        members=communicator.size,
        seconds=seconds,
        timer=timer,
    )
