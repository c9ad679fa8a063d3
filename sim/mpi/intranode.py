"""Two-layer aggregation (TAM): the ranks of a node act through one or a few of them.

With many ranks on a node, every aggregator has to deal with messages and pieces of all of them. So
the ranks of a node form groups, and those of a group first hand what they have to the lowest of
them, their *local aggregator*, which sorts the pieces and joins those that touch; what neighbours
in the file have is often on one node. Two-phase then goes on among the local aggregators and the
aggregators alone, and the others wait. (Kang et al., "Improving MPI Collective I/O for High Volume
Non-Contiguous Requests With Intra-Node Aggregation", IEEE TPDS 2020.)

PnetCDF 1.14 does this above MPI-IO: ``nc_num_aggrs_per_node`` says how many groups a node has,
those of the first ranks larger by one where the ranks cannot be shared out evenly
(src/drivers/ncmpio/ncmpio_intra_node.c; later src/dispatchers/file.c, ``ina_init``). There the
others call MPI-IO with nothing; what that costs them they wait for here.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from xc40io.engine.types import Indices, Integers
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.communicator import Collectives
from xc40io.mpi.domains import CollectiveFile, sum_by, union
from xc40io.mpi.rounds import count_call, meet
from xc40io.mpi.stats import AccessCounts, Timer
from xc40io.mpi.twophase import (
    LIST_ENTRY,
    add_reads,
    add_writes,
    finish_cost,
    flattening_cost,
    plan_read,
    plan_write,
    planning_cost,
)
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op


def write_all(
    batch: Batch, target: CollectiveFile, accesses: Accesses, counts: AccessCounts
) -> None:
    """Write the pieces of all ranks in one collective call, by way of the local aggregators.

    The parameters are those of :func:`xc40io.mpi.twophase.write_all`.
    """
    layer = Layer(target)
    inner, joined = layer.target, layer.join(accesses)
    call = plan_write(inner, joined)
    meet(batch, target.communicator, flattening_cost(target, accesses), Timer.PLAN)
    layer.hand_over(batch, accesses)
    meet(batch, inner.communicator, planning_cost(inner, joined, call), Timer.PLAN)
    if call is not None:
        add_writes(batch, inner, call, counts.writes)
    meet(batch, target.communicator, finish_cost(target), Timer.FINISH)
    count_call(counts.writes, target, accesses, call)


def read_all(
    batch: Batch, target: CollectiveFile, accesses: Accesses, counts: AccessCounts
) -> None:
    """Read the pieces of all ranks in one collective call, by way of the local aggregators.

    The parameters are those of :func:`xc40io.mpi.twophase.read_all`.
    """
    layer = Layer(target)
    inner, joined = layer.target, layer.join(accesses)
    call = plan_read(inner, joined)
    meet(batch, target.communicator, flattening_cost(target, accesses), Timer.PLAN)
    meet(batch, inner.communicator, planning_cost(inner, joined, call), Timer.PLAN)
    if call is not None:
        add_reads(batch, inner, call, counts.reads)
    # Everyone waits, since the aggregators use the inner meeting until they have read everything.
    meet(batch, target.communicator, 0.0, Timer.FINISH)
    layer.hand_over(batch, accesses)
    meet(batch, target.communicator, 0.0, Timer.FINISH)
    count_call(counts.reads, target, accesses, call)


def groups_of(node: Indices, each: int) -> Integers:
    """Return the group of each rank, int64 (ranks,): at most ``each`` on a node, in its order."""
    order = np.argsort(node, kind="stable")
    _, first, where, members = np.unique(
        node[order], return_index=True, return_inverse=True, return_counts=True
    )
    groups = np.minimum(max(each, 1), members)
    local = np.arange(len(node)) - first[where]
    size, larger = members[where] // groups[where], members[where] % groups[where]
    behind = local - larger * (size + 1)
    number = np.where(behind < 0, local // (size + 1), larger + behind // size)
    found = np.empty(len(node), np.int64)
    found[order] = (np.cumsum(groups) - groups)[where] + number
    return found


class Layer:
    """The ranks that remain when every group of a node has its local aggregator.

    Its ``target`` is the file as local aggregators and aggregators have it open.
    """

    def __init__(self, target: CollectiveFile) -> None:
        outer = target.communicator
        self._group = groups_of(outer.node, target.hints.intra_node)
        _, self._local = np.unique(self._group, return_index=True)
        ranks = np.union1d(self._local, target.aggregators)
        inner = outer.part(ranks, target.inner_meeting)
        self._outer = target
        self._ranks = ranks
        self.target = replace(
            target,
            communicator=inner,
            aggregators=np.searchsorted(ranks, target.aggregators),
            costs=Collectives(target.mpi, inner.nodes, inner.size),
        )

    def join(self, accesses: Accesses) -> Accesses:
        """Return the accesses of the local aggregators: the joined pieces of their groups.

        Where ranks of one group give the same byte, one of them prevails.
        """
        if not len(accesses.rank):
            return accesses
        group = self._group[accesses.rank]
        span = int((accesses.offset + accesses.length).max()) + 1
        start, length = union(group * span + accesses.offset, accesses.length)
        group, offset = np.divmod(start, span)
        rank = np.searchsorted(self._ranks, self._local)[group]
        order = np.argsort(rank, kind="stable")
        return Accesses(rank[order], offset[order], length[order])

    def hand_over(self, batch: Batch, accesses: Accesses) -> None:
        """Pass data between the ranks of each group and their local aggregator, in memory.

        That one handles a message of each, reads its list, and merges or parts their pieces.
        """
        if not len(accesses.rank):
            return
        mpi, group = self._outer.mpi, self._group[accesses.rank]
        others = accesses.rank != self._local[group]
        pieces = np.bincount(group, minlength=len(self._local))
        lists = np.bincount(group[others], minlength=len(self._local)) * LIST_ENTRY
        senders = np.unique(accesses.rank[others])
        messages = np.bincount(self._group[senders], minlength=len(self._local))
        seconds = pieces * mpi.piece_time + messages * mpi.message_time + lists / mpi.copy_rate
        busy = np.flatnonzero(pieces)
        owners = self._outer.communicator.owners[self._local]
        batch.add(Op.WORK, owners[busy], seconds=seconds[busy], timer=Timer.EXCHANGE)
        if not others.any():
            return
        here, size = sum_by(group[others], accesses.length[others])
        place = self._outer.communicator.node[self._local[here]]
        first = batch.add_transfers(place, place, size)
        batch.add(
            Op.EXCHANGE,
            owners[here],
            transfer=first + np.arange(len(here)),
            received=1,
            timer=Timer.EXCHANGE,
        )
