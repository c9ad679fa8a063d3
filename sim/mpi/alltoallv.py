"""``MPI_Alltoallv``: each rank sends the others of its group bytes of its own, to each its part.

MPICH posts receives and sends together, and none where there is nothing
(alltoallv_intra_scattered.c), so that a rank waits for what it gets, and for nothing else. The data
go from node to node like those of a collective buffer (:mod:`xc40io.mpi.exchange`); what stays on a
node is copied.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xc40io.config.parts.mpi import Mpi
from xc40io.engine.types import Integers
from xc40io.mpi.communicator import Communicator
from xc40io.mpi.domains import sum_by
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op


class Messages(NamedTuple):
    """What ranks send, also to themselves: a row for each pair of them with something to send."""

    # sender, receiver, size: int64 (messages,): ranks of a communicator; bytes
    sender: Integers
    receiver: Integers
    size: Integers

    def back(self) -> Messages:
        """Return the same bytes on their way back."""
        return Messages(self.receiver, self.sender, self.size)


def alltoallv(
    batch: Batch,
    world: Communicator,
    mpi: Mpi,
    messages: Messages,
    group: Integers,
    meetings: Integers,
    pieces: Integers | None = None,
) -> None:
    """Let the ranks of groups send each other what they have.

    Parameters
    ----------
    batch
        Takes the operations.
    world, mpi
        The ranks, and what messages cost them.
    messages
        What they send; each message is within a group.
    group
        int64 (ranks,): the group of each rank.
    meetings
        int64 (groups,): the number of a meeting for each: what a rank gets comes no sooner than
        its sender.
    pieces
        int64 (messages,): in how many pieces each is described to MPI, at both ends; in one unless
        given.
    """
    members = np.bincount(group)[group]
    batch.add(Op.MEET, world.owners, meeting=meetings[group], members=members)
    seconds = np.where(messages.sender != messages.receiver, mpi.message_time, 0.0)
    if pieces is not None:
        seconds += pieces * mpi.piece_time
    both = np.concatenate([messages.sender, messages.receiver])
    busy = np.bincount(both, np.tile(seconds, 2), world.size)
    batch.add(Op.WORK, world.owners, seconds=busy)
    nodes = int(world.node.max()) + 1
    key, size = sum_by(messages.receiver * nodes + world.node[messages.sender], messages.size)
    receiver, node = key // nodes, key % nodes
    first = batch.add_transfers(source=node, target=world.node[receiver], size=size)
    who, begin, count = np.unique(receiver, return_index=True, return_counts=True)
    batch.add(Op.EXCHANGE, world.owners[who], transfer=first + begin, received=count)


def permute(batch: Batch, world: Communicator, mpi: Mpi, size: Integers) -> None:
    """Let ranks bring so many bytes, int64 (ranks,), into another order in memory."""
    batch.add(Op.WORK, world.owners, seconds=size / mpi.copy_rate)
