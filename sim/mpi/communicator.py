"""A communicator: ranks that act together, and what MPI's collectives cost them.

The costs are a latency-bandwidth model fitted to measurements. The ranks of a node first combine
what they have in memory; one rank of each node then talks to the others, in as many steps as the
number of nodes has binary digits (binomial tree, recursive doubling or dissemination); at the end
the ranks of a node share the result. Each step costs a latency and the time of its bytes. Every
collective waits for its slowest rank, and the more nodes take part the later that one comes
(*straggling*): what the measurements show beyond the logarithm grows with the number of nodes.

The algorithms are those of MPICH (Thakur, Rabenseifner and Gropp, "Optimization of Collective
Communication Operations in MPICH", 2005), of two that serve a purpose the quicker one; the
parameters are the section ``mpi`` of the machine file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from xc40io.config.kept import kept
from xc40io.config.parts.mpi import Mpi
from xc40io.config.units import KIB
from xc40io.engine.types import Indices, Integers


@kept
@dataclass(frozen=True, eq=False)
class Communicator:
    """Ranks that act together."""

    # int64 (ranks,): the position of each rank's program in the batches of the job
    owners: Integers
    node: Indices  # int32 (ranks,): the node of the job on which each runs
    meeting: int  # the number of its meeting in the data plane, where `MEET` operations wait
    # int32 (nodes of the job,): which compute node of the machine each of them is; those with the
    # same numbers unless given
    placement: Indices | None = None

    @property
    def size(self) -> int:
        """How many ranks there are."""
        return len(self.owners)

    @cached_property
    def nodes(self) -> int:
        """How many nodes they are on."""
        return len(np.unique(self.node))

    @property
    def host(self) -> Indices:
        """The compute node of the machine on which each rank runs: int32 (ranks,)."""
        return self.node if self.placement is None else self.placement[self.node]

    def part(self, ranks: Integers, meeting: int) -> Communicator:
        """Return some ranks, int64, as a communicator; they meet at ``meeting``."""
        return replace(self, owners=self.owners[ranks], node=self.node[ranks], meeting=meeting)


def host_name(node: int) -> str:
    """Return the name of a compute node, in ``cb_config_list`` and in listings.

    Compute nodes are counted from 0, as in a list for ``--placement``; Cray's numbers (nid) count
    the service nodes as well.
    """
    return f"nid{node:05d}"


_FITTED = 4 * KIB  # bytes of the vectors whose allreduce was measured on Theta


def _steps(members: int) -> int:
    return (members - 1).bit_length()


@dataclass(frozen=True)
class Collectives:
    """Costs, in seconds from the arrival of the last rank, of the collectives of a communicator."""

    mpi: Mpi  # parameters of the MPI library
    # nodes, ranks: how many nodes the communicator is on, and how many ranks it has
    nodes: int
    ranks: int

    @cached_property
    def _per_node(self) -> int:
        """Most ranks on a node."""
        return -(-self.ranks // self.nodes)

    @cached_property
    def _within(self) -> float:
        """Seconds in which a word passes from one rank of a node to all others, or back."""
        return _steps(self._per_node) * self.mpi.local_latency

    @cached_property
    def _straggling(self) -> float:
        """Seconds by which the slowest of several nodes is late."""
        return self.mpi.straggling * self.nodes if self.nodes > 1 else 0.0

    def _tree(self, size: int, per_byte: float) -> float:
        """Return the seconds of steps over the nodes that move ``size`` bytes each."""
        return _steps(self.nodes) * (self.mpi.step_latency + size * per_byte) + self._straggling

    def barrier(self) -> float:
        """Return the seconds of a barrier (dissemination)."""
        return 2 * self._within + self._tree(0, 0.0)

    def bcast(self, size: int) -> float:
        """Return the seconds of a broadcast of ``size`` bytes.

        By a binomial tree; where that is quicker, the message is scattered and gathered again.
        """
        rate = self.mpi.step_rate
        tree = self._tree(size, 1 / rate)
        pieces = 2 * self._tree(0, 0.0) - self._straggling + 2 * size / rate
        shared = self._within + (size / self.mpi.copy_rate if self._per_node > 1 else 0.0)
        return shared + min(tree, pieces)

    def allreduce(self, size: int) -> float:
        """Return the seconds of an allreduce of vectors of ``size`` bytes.

        By recursive doubling: every step sends the vector and adds up what has come. Or, of long
        vectors, by a reduce-scatter and an allgather (Rabenseifner), if that is quicker: the vector
        is moved twice and added up once, whatever the ranks. It is the doubling that is fitted to
        what an allreduce of 4 KiB took, so no longer vector takes less than that.
        """
        doubling = self._doubling(size)
        if size <= _FITTED:
            return doubling
        halving = 2 * self._gathering(size) + size / self.mpi.reduce_rate
        return min(doubling, max(self._doubling(_FITTED), halving))

    def _doubling(self, size: int) -> float:
        """Return the seconds of an allreduce by recursive doubling."""
        reduce = 1 / self.mpi.reduce_rate
        within = 2 * self._within + _steps(self._per_node) * size * reduce
        return within + self._tree(size, 1 / self.mpi.step_rate + reduce)

    def gather(self, size: int) -> float:
        """Return the seconds that a rank spends in a gather of ``size`` bytes from each.

        It sends and goes on; when the root has everything, :meth:`gatherv` tells.
        """
        across = self.mpi.gather_latency + self._straggling if self.nodes > 1 else 0.0
        return self._within + across + size / self.mpi.step_rate

    def gatherv(self, total: int) -> float:
        """Return the seconds until the root has ``total`` bytes from all ranks together."""
        return self.gather(0) + total / self.mpi.step_rate

    def allgather(self, size: int) -> float:
        """Return the seconds in which each rank gets ``size`` bytes of every rank.

        By recursive doubling over the nodes; every rank then copies all of it.
        """
        return self._gathering(size * self.ranks)

    def _gathering(self, total: int) -> float:
        """Return the seconds in which all ranks get ``total`` bytes, of each its equal share."""
        foreign = total * (self.nodes - 1) / self.nodes
        within = 2 * self._within + (total / self.mpi.copy_rate if self._per_node > 1 else 0.0)
        return within + self._tree(0, 0.0) + foreign / self.mpi.step_rate

    def alltoall(self, size: int) -> float:
        """Return the seconds in which each rank sends ``size`` bytes to every rank.

        By Bruck's algorithm, in which every rank passes on half of all blocks in each step, packed
        and unpacked in memory, or pair by pair, each block once. The ranks of a node share its
        network interface.
        """
        if self.ranks == 1:
            return 0.0
        return min(self._bruck(size), self._pairwise(size)) + self._straggling

    def _bruck(self, size: int) -> float:
        """Return the seconds of an alltoall by Bruck's algorithm."""
        mpi, steps = self.mpi, _steps(self.ranks)
        sent = size * self.ranks / 2
        packing = 2 * sent / mpi.copy_rate
        # A step of 2**k ranks leaves the node with all blocks, or, if shorter than the node, with
        # those of the 2**k ranks at its end.
        leaving = sum(min(2**step, self._per_node) for step in range(steps))
        crossing = leaving * sent / mpi.node_rate if self.nodes > 1 else 0.0
        latency = _steps(self._per_node) * mpi.local_latency + _steps(self.nodes) * mpi.step_latency
        return steps * packing + crossing + latency

    def _pairwise(self, size: int) -> float:
        """Return the seconds of an alltoall by one message for each pair of ranks."""
        mpi, others = self.mpi, self.ranks - 1
        leaving = self._per_node * (self.ranks - self._per_node) * size
        within = self._per_node * size / mpi.copy_rate
        return others * mpi.message_time + within + leaving / mpi.node_rate
