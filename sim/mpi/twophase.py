"""Two-phase collective buffering: ranks exchange data with aggregators, aggregators do the I/O.

The rules are those of ROMIO's Lustre driver (MPICH ad_lustre_wrcoll.c) and, for reads, of its
generic driver (ad_read_coll.c); Cray's MPI descends from both. First all ranks plan: they gather
each other's offsets, exchange counts in one alltoall, and send lists of offsets and lengths to the
aggregators. Then, round after round, every aggregator collects what belongs into its windows and
writes it. It does not write while it collects, and nobody sends for a round before its sends of the
round before are done, so the slower of the two sets the pace of both. Nobody waits for those with
whom it exchanges nothing (ROMIO sends messages; MPI_Alltoallv leaves out the empty ones): ranks
whose data belong into later rounds are ready from the start, and an aggregator may be rounds ahead
of another, but for the data that these give each other. A last collective makes sure that no rank
goes on before the file is written.

A rank waits for its sends of one round before it turns to the next, and an aggregator for the end
of its write too (ROMIO ad_lustre_wrcoll.c, ADIOI_LUSTRE_Exch_and_write). The ranks of a node share
the way out of it, so that a node has up to three transfers for a turn, one a :class:`Line`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.engine.types import Floats, Integers
from xc40io.mpi.accesses import Accesses, runs_of
from xc40io.mpi.domains import (
    CollectiveFile,
    FileWindows,
    cut,
    even_domains,
    striped_domains,
    sum_by,
)
from xc40io.mpi.hints import Switch
from xc40io.mpi.rounds import (
    Call,
    RankTimes,
    Script,
    add_exchange,
    calling_costs,
    count_call,
    fetching_costs,
    meet,
    plan_call,
    ranges_of,
)
from xc40io.mpi.stats import AccessCounts, DirectionCounts, Timer
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op

LIST_ENTRY = 16
"""Bytes of an offset and a length, as request lists carry them."""

LOCK_AHEAD_EXTENTS = 500
"""Extents that lock-ahead asks for at a time (MPICH ad_lustre_hints.c)."""


def write_all(
    batch: Batch, target: CollectiveFile, accesses: Accesses, counts: AccessCounts
) -> None:
    """Write the pieces of all ranks of a communicator in one collective call.

    Parameters
    ----------
    batch
        Takes the operations: few of every rank, those of the aggregators round by round.
    target
        The file.
    accesses
        What the ranks write; ranks without a piece take part all the same.
    counts
        Takes the counts of the call and of its calls to the file system.
    """
    call = plan_write(target, accesses)
    count_call(counts.writes, target, accesses, call)
    meet(batch, target.communicator, planning_cost(target, accesses, call), Timer.PLAN)
    if call is not None:
        add_writes(batch, target, call, counts.writes)
    meet(batch, target.communicator, finish_cost(target), Timer.FINISH)


def read_all(
    batch: Batch, target: CollectiveFile, accesses: Accesses, counts: AccessCounts
) -> None:
    """Read the pieces of all ranks of a communicator in one collective call.

    The parameters are those of :func:`write_all`. No collective ends the call. What each rank
    receives is not followed rank by rank: the call ends for all when the last has its data.
    """
    call = plan_read(target, accesses)
    count_call(counts.reads, target, accesses, call)
    meet(batch, target.communicator, planning_cost(target, accesses, call), Timer.PLAN)
    if call is not None:
        add_reads(batch, target, call, counts.reads)
    meet(batch, target.communicator, 0.0, Timer.FINISH)


def plan_write(target: CollectiveFile, accesses: Accesses) -> Call | None:
    """Work out a collective write; None if nobody writes anything."""
    if not len(accesses.rank):
        return None
    return plan_call(target, accesses, striped_domains(target, accesses))


def plan_read(target: CollectiveFile, accesses: Accesses) -> Call | None:
    """Work out a collective read; None if nobody reads anything."""
    if not len(accesses.rank):
        return None
    if target.mpi.library == "cray":
        return plan_call(target, accesses, striped_domains(target, accesses))
    return plan_call(target, accesses, even_domains(target, accesses))


def flattening_cost(target: CollectiveFile, accesses: Accesses) -> float:
    """Return the seconds in which the last rank has made a list of pieces of its datatype."""
    return int(np.bincount(accesses.rank, minlength=1).max()) * target.mpi.piece_time


def gathering_cost(target: CollectiveFile, accesses: Accesses) -> float:
    """Return the seconds until all ranks know each other's first and last offsets.

    Each has to flatten its datatype for that. ``ROMIO_TUNEGATHER`` chooses one allreduce of a
    vector with two entries for each rank, in place of two allgathers.
    """
    seconds = flattening_cost(target, accesses)
    if target.hints.tune_gather:
        return seconds + target.costs.allreduce(LIST_ENTRY * target.communicator.size)
    return seconds + 2 * target.costs.allgather(LIST_ENTRY // 2)


def planning_cost(target: CollectiveFile, accesses: Accesses, call: Call | None) -> float:
    """Return the seconds that phase 0 takes, from when the last rank has come.

    The ranks flatten their datatypes and gather their offsets; every rank cuts its pieces at the
    windows, and an alltoall says how many go where; the lists of offsets and lengths go to the
    aggregators, which look through them; two allreduces find the range of all. Each step waits for
    the slowest of the step before, so that their times add up. The lists are not transfers of their
    own: a piece costs its aggregator many times longer than its 16 bytes take on the way. Offsets
    and lengths are two messages before MPICH 3.3 (ADIOI_Calc_others_req; MPICH pull 3013).
    """
    mpi, costs = target.mpi, target.costs
    seconds = gathering_cost(target, accesses) + costs.alltoall(4) + 2 * costs.allreduce(8)
    if call is None:
        return seconds
    aggregators = len(target.aggregators)
    key, pieces = sum_by(
        call.shares.rank * aggregators + call.turns.domain[call.shares.turn], call.shares.pieces
    )
    sender, domain = key // aggregators, key % aggregators
    messages = (sender != target.aggregators[domain]) * (1 if mpi.is_romio_4 else 2)
    on_the_way = pieces * (LIST_ENTRY / mpi.step_rate)
    sent = np.bincount(sender, pieces * mpi.piece_time + messages * mpi.message_time)
    receiving = messages * (mpi.message_time + mpi.handling_time)
    received = np.bincount(domain, pieces * mpi.piece_time + receiving + on_the_way)
    return seconds + float(sent.max()) + float(received.max())


def finish_cost(target: CollectiveFile) -> float:
    """Return the seconds of the collective that ends a write: it tells all how it went."""
    if len(target.aggregators) == 1:
        return target.costs.bcast(4)
    return target.costs.allreduce(4)


def exchange_work(target: CollectiveFile, call: Call) -> Floats:
    """Return the CPU seconds that turns take their aggregators besides moving data: (turns,).

    All ranks look through the whole communicator in every round, also in those in which an
    aggregator has nothing to do. It then handles its pieces and messages, and its own to others;
    the other ranks do so at the same time, and the slowest of them may keep it waiting. For each
    message it makes a datatype of where the pieces lie (ADIOI_LUSTRE_W_Exchange_data).
    """
    mpi, turns, shares = target.mpi, call.turns, call.shares
    seconds = shares.pieces * mpi.piece_time + shares.foreign * mpi.message_time
    handling = seconds + shares.foreign * mpi.handling_time
    handled = np.bincount(shares.turn, handling, len(turns.round))
    times = RankTimes(call, seconds)
    own = times.of(target.aggregators[turns.domain])
    same = np.diff(turns.domain, prepend=-1) == 0
    passed = turns.round - np.where(same, np.roll(turns.round, 1), -1)
    scanned = passed.astype(np.float64) * (target.communicator.size * mpi.scan_time)
    return scanned + np.maximum(handled + own, times.slowest())


def add_writes(batch: Batch, target: CollectiveFile, call: Call, counts: DirectionCounts) -> None:
    """Add the rounds of a collective write, and count what they do to the file system."""
    turns, windows = call.turns, call.windows
    high = written_up_to(target, windows)
    holes = have_holes(call, high)
    sieved = holes & (target.hints.romio_lustre_ds_in_coll is Switch.ENABLE)
    script = Script(target, turns.rounds)
    work = exchange_work(target, call)
    script.add(Op.WORK, Timer.EXCHANGE, 0, turns.domain, turns.round, seconds=work)
    script.add_calls(Op.READ, Timer.MODIFY_READ, 1, windows, sieved, windows.low, high)
    add_exchanges(script, 2, batch, target, call)
    if target.hints.cray_cb_write_lock_mode == 2:
        add_lock_ahead(script, target, windows)
    calls = runs_of(writes_of(windows, sieved | ~holes, high))
    turn = turns.of_window[calls.rank]
    written = np.bincount(turn, calls.length * calls.count, len(turns.round))
    script.add(
        Op.WRITE,
        Timer.RAW_WRITE,
        4,
        windows.domain[calls.rank],
        windows.round[calls.rank],
        offset=calls.offset,
        length=calls.length,
        stride=calls.stride,
        count=calls.count,
        seconds=fetching_costs(target, call, written)[turn],
    )
    counts.add_system(calls.length, target.layout, calls.count)
    script.emit(batch)
    size = (high - windows.low)[sieved]
    rewritten = int((size - windows.covered[sieved]).sum())
    counts.add_modified(len(size), read_bytes=int(size.sum()), rewritten_bytes=rewritten)


def written_up_to(target: CollectiveFile, windows: FileWindows) -> Integers:
    """Return where the data of windows end, in bytes, as the aggregator that writes them sees it.

    It takes every window to reach to the end of the stripe, but the last one of its domain, of
    which it knows where it ends: bytes at the end of a stripe that nobody gives are a hole.
    """
    last = np.zeros(len(target.aggregators), np.int64)
    np.maximum.at(last, windows.domain, windows.high)
    return np.minimum(target.layout.stripe_start(windows.number + 1), last[windows.domain])


def have_holes(call: Call, high: Integers) -> npt.NDArray[np.bool_]:
    """Tell in which windows, up to ``high``, an aggregator sees holes.

    It sees one between two runs of bytes, and where it is sent less than the window has. Bytes that
    several ranks send are counted for each, and may hide a hole at the end: the window is then
    written whole, unread. Or it sees a hole that is none, where a piece that lies over the next
    ones ends behind them (ROMIO's ad_lustre_wrcoll.c, ADIOI_LUSTRE_W_Exchange_data).
    """
    windows, shares, turn = call.windows, call.shares, call.turns.of_window
    sent = np.bincount(shares.turn, shares.bytes, len(call.turns.round))[turn]
    has_one = np.bincount(turn)[turn] == 1
    given = np.where(has_one, sent, windows.covered)
    holes = (high - windows.low > given) | (np.diff(windows.first_run) > 1)
    unsure = np.flatnonzero(~holes & (given > windows.covered))
    if len(unsure):
        holes[unsure] = _seem_to_have_holes(call, windows.number[unsure])
    return holes


def _seem_to_have_holes(call: Call, numbers: Integers) -> list[bool]:
    """Tell of windows, by number, in which pieces lie over each other, whether a hole is seen.

    It is between two pieces that follow each other when the ranks' lists are merged.
    """
    parts, window = cut(call.accesses, call.domains)
    found = []
    for number in numbers:
        mine = window == number
        lists: dict[int, deque[tuple[int, int]]] = {}
        columns = parts.rank[mine], parts.offset[mine], (parts.offset + parts.length)[mine]
        for rank, offset, end in zip(*(column.tolist() for column in columns), strict=True):
            lists.setdefault(rank, deque()).append((offset, end))
        merged = list(_merged([lists[rank] for rank in sorted(lists)]))
        found.append(any(before[1] < after[0] for before, after in pairwise(merged)))
    return found


def _merged(heap: list[deque[tuple[int, int]]]) -> Iterator[tuple[int, int]]:
    """Merge lists of pieces, each in order, as ROMIO does (ADIOI_Heap_merge).

    Which of two pieces comes first that begin at one place follows from the heap.
    """
    for root in reversed(range(len(heap) // 2)):
        _sift(heap, root)
    while heap:
        yield heap[0].popleft()
        if not heap[0]:
            heap[0] = heap[-1]
            heap.pop()
        _sift(heap, 0)


def _sift(heap: list[deque[tuple[int, int]]], root: int) -> None:
    """Let the list at the root of a part of the heap sink to its place."""
    while True:
        least = root
        for child in (2 * root + 1, 2 * root + 2):
            if child < len(heap) and heap[child][0][0] < heap[least][0][0]:
                least = child
        if least == root:
            return
        heap[root], heap[least] = heap[least], heap[root]
        root = least


def writes_of(windows: FileWindows, whole: npt.NDArray[np.bool_], high: Integers) -> Accesses:
    """Return the writes of each window, as pieces whose "rank" is the window's row.

    Some windows are written whole, up to ``high``; of the others, every contiguous run.
    """
    every = np.arange(len(whole))
    window = np.repeat(every, np.diff(windows.first_run))
    apart = ~whole[window]
    window = np.concatenate((every[whole], window[apart]))
    offset = np.concatenate((windows.low[whole], windows.run_offset[apart]))
    length = np.concatenate(((high - windows.low)[whole], windows.run_length[apart]))
    order = np.argsort(window, kind="stable")
    return Accesses(window[order], offset[order], length[order])


def add_lock_ahead(script: Script, target: CollectiveFile, windows: FileWindows) -> None:
    """Request locks on the stripes to come whenever an aggregator leaves the last ones.

    An aggregator asks for 500 of its stripes at once, from the one that it is to write, when that
    lies outside what it asked for the last time (MPICH ad_lustre_wrcoll.c, ad_lustre_lock.c). It
    does so however short the call is, and beyond the end of the file: ROMIO does not look where
    the call ends, and the calls to come may write there.
    """
    layout, step = target.layout, len(target.aggregators)
    asked: list[int] = []
    order = np.argsort(windows.domain, kind="stable")
    bounds = np.searchsorted(windows.domain[order], np.arange(len(target.aggregators) + 1))
    for domain, (first, stop) in enumerate(pairwise(bounds.tolist())):
        low = windows.low[order[first:stop]]
        start, end = target.locked.get(domain, (0, -1))
        at = 0
        while at < len(low):
            if start <= low[at] <= end:
                at += int(np.searchsorted(low[at:], end, side="right"))
                continue
            asked.append(int(order[first + at]))
            stripe = layout.stripe_at(int(low[at]))
            start = layout.stripe_start(stripe)
            end = layout.stripe_start(stripe + (LOCK_AHEAD_EXTENTS - 1) * step + 1) - 1
        target.locked[domain] = start, end
    window = np.array(asked, np.int64)
    script.add(
        Op.LOCK_AHEAD,
        Timer.LOCK,
        3,
        windows.domain[window],
        windows.round[window],
        offset=layout.stripe_start(windows.number[window]),
        length=layout.stripe_size,
        stride=step * layout.stripe_size,
        count=LOCK_AHEAD_EXTENTS,
    )


def add_reads(batch: Batch, target: CollectiveFile, call: Call, counts: DirectionCounts) -> None:
    """Add the rounds of a collective read, and count what they do to the file system.

    All ranks meet in every round, for an alltoall by which they learn how much they are to receive
    (MPICH ad_read_coll.c, ADIOI_R_Exchange_data). Lustre's driver writes in a loop of its own that
    has no such meeting, but reads by ROMIO's generic one (ad_lustre.c: ADIOI_GEN_ReadStridedColl).
    """
    turns, windows = call.turns, call.windows
    low, high = read_extents(target, call)
    first, transfers = add_exchange(batch, target, call, outward=True)
    script = Script(target, turns.rounds)
    every = np.ones(len(windows.number), bool)
    read = np.bincount(turns.of_window, high - low, len(turns.round))
    costs = calling_costs(target, call, read)[turns.of_window]
    script.add_calls(Op.READ, Timer.RAW_READ, 0, windows, every, low, high, costs)
    script.add_meetings(np.arange(turns.rounds), 1, target.costs.alltoall(4))
    place, work = (turns.domain, turns.round), exchange_work(target, call)
    script.add(Op.WORK, Timer.EXCHANGE, 2, *place, seconds=work)
    script.add(Op.EXCHANGE, Timer.EXCHANGE, 3, *place, transfer=first, received=transfers)
    script.emit(batch)
    counts.add_system(high - low, target.layout)


def read_extents(target: CollectiveFile, call: Call) -> tuple[Integers, Integers]:
    """Return from and to where each window of a collective read is read, holes and all.

    In stripe-cyclic domains that is from the first to the last byte that somebody asks for. Plain
    ROMIO fills its buffer wherever somebody asks for any of it, but for the domain's last one.
    """
    windows = call.windows
    if target.mpi.library == "cray":
        return windows.low, windows.high
    low = call.domains.start_of(windows.number)
    last = np.zeros(len(target.aggregators), np.int64)
    np.maximum.at(last, windows.domain, windows.high)
    return low, np.minimum(low + target.hints.cb_buffer_size, last[windows.domain])


class Line(IntEnum):
    """What a transfer waits for before it begins."""

    FIRST = 0  # nothing: its ranks send for the first time
    NEXT = 1  # the node's transfers of rounds before
    AGGREGATORS = 2  # the aggregators that send it, which come when they have written


class Sends(NamedTuple):
    """The shares of a call as sends."""

    # node, round, line: int64 (shares,): from which node, in which round, and what it waits for.
    # What an aggregator gives itself it has: that waits for nothing.
    node: Integers
    round: Integers
    line: Integers
    rank: Integers  # int64 (shares,)


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
    """What the aggregators of a node send together in a round."""

    key: Integers  # int64 (groups,): `node * rounds + round`
    # parts, one: int64 (groups,): how many transfers that is, and the number of one of them
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
