"""Brigade aggregation of ADIOS 1: the blocks of a group pass from hand to hand to its first rank.

The ranks of a group stand in a line. Each sends its block to the one before it, and then passes on
what comes from behind, block after block; the first, the aggregator, writes its own block and then
each one that arrives (adios_mpi_amr.c, adios_mpi_amr_bg_close). A rank has one buffer for what
arrives: it takes the next block only when it has handed the last one on, and the sender waits for
that, since messages of this length are not sent ahead. The aggregator has two, and lets the next
block come while it writes one, if a thread of its own does the writing: without one nobody attends
to MPI meanwhile.

In the data plane a *hop* is an ``EXCHANGE`` of the rank that sends. Two neighbours tell each other
that a buffer is free, and that a block has come, at a meeting of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim.engine.types import Indices, Integers
from sim.mpi.timers import Timer
from sim.plane.batch import Batch
from sim.plane.operations import Op, mix_operations


class _Line(NamedTuple):
    """What the ranks of one group do, rank after rank and each in order: rows of shape (n,).

    ``place`` is the rank, counted from the aggregator; ``kind`` the operation; ``pair`` the
    neighbours that meet: the place of the one behind; ``block`` whose block is moved or written;
    ``hop`` numbers the hops, -1 where there is none.
    """

    place: Integers
    kind: Integers
    pair: Integers
    block: Integers
    hop: Integers


@dataclass(frozen=True)
class Brigade:
    """The groups of a communicator, of one size each.

    Attributes
    ----------
    leader
        int64 (groups,): the aggregators; the ranks that follow one are its group.
    members
        Ranks of every group.
    threaded
        Whether a thread of the aggregator writes.
    handshake
        Seconds that each of two neighbours is busy with telling the other, or hearing from it, that
        a buffer is free or a block has come.
    """

    leader: Integers
    members: int
    threaded: bool
    handshake: float

    @property
    def hops(self) -> int:
        """Messages of all groups: each block goes as many steps as its rank is from the first."""
        return len(self.leader) * self.members * (self.members - 1) // 2

    def close(
        self, batch: Batch, node: Indices, size: Integers, meeting: Integers, file: Integers
    ) -> None:
        """Gather and write the blocks of the groups.

        Parameters
        ----------
        batch
            Gets the operations; rank r has position r.
        node
            int32 (ranks,): the node of each rank.
        size
            int64 (ranks,): the bytes of each rank's block.
        meeting
            int64 (ranks,): where each rank meets the one before it.
        file
            int64 (groups,): the subfile of each group.
        """
        line = _line(self.members, threaded=self.threaded)
        groups = self.leader[:, None]
        rank, kind = groups + line.place, np.broadcast_to(line.kind, (len(groups), len(line.kind)))
        first = self._transfers(batch, node, size, line)
        each_hop = first + line.hop + np.arange(len(groups))[:, None] * (line.hop.max() + 1)
        block = groups + line.block
        offset = np.cumsum(size)[block] - size[block] - (np.cumsum(size) - size)[groups]
        # A group of one rank has no neighbours: no operation looks at what stands there.
        pair = meeting[np.minimum(groups + line.pair, len(meeting) - 1)]
        columns: dict[Op, dict[str, npt.ArrayLike]] = {
            Op.MEET: {
                "meeting": pair.ravel(),
                "members": 2,
                "timer": Timer.AGGREGATE,
            },
            Op.WORK: {"seconds": self.handshake, "timer": Timer.AGGREGATE},
            Op.WRITE: {
                "file": np.repeat(file, len(line.kind)),
                "offset": offset.ravel(),
                "length": size[block].ravel(),
                "stride": size[block].ravel(),
                "count": 1,
                "timer": Timer.RAW_WRITE,
            },
            Op.EXCHANGE: {
                "transfer": each_hop.ravel(),
                "received": 1,
                "timer": Timer.AGGREGATE,
            },
        }
        batch.add_operations(mix_operations(kind.ravel(), columns), rank.ravel())

    def _transfers(self, batch: Batch, node: Indices, size: Integers, line: _Line) -> int:
        """Add the hops of all groups, group after group; return the number of the first."""
        hops = line.hop >= 0
        sender = (self.leader[:, None] + line.place[hops]).ravel()
        block = (self.leader[:, None] + line.block[hops]).ravel()
        if not len(sender):
            return 0
        return batch.add_transfers(node[sender], node[sender - 1], size[block])


def _line(members: int, *, threaded: bool) -> _Line:
    """Return what the ranks of a group with so many members do."""
    place, block = np.triu_indices(members)
    last, own = block == members - 1, block == place
    first = place == 0
    # One row for each block that a rank handles, one column for each thing that it does with it.
    behind, before = place + 1, place
    meets = [
        (~own & ~first & (block >= place + 2), behind),  # my buffer is free again
        (~own & ~first, behind),  # it has come
        (~first & (~own | ((place == 1) & (not threaded))), before),  # the next buffer is free
    ]
    steps: list[tuple[npt.NDArray[np.bool_], Op, Integers]] = [
        *((asked, Op.MEET, pair) for asked, pair in meets),
        (first & ~last & (block > 0) & threaded, Op.MEET, behind),  # the aggregator's buffer
        (first, Op.WRITE, place),
        (first & ~last & (not threaded), Op.MEET, behind),
        (first & ~last, Op.MEET, behind),  # the next block has come
        (~first, Op.EXCHANGE, place),
        (~first, Op.MEET, before),  # it has gone
    ]
    columns = [
        (asked, kind, pair)
        for asked, step, pair in steps
        for kind in ((Op.MEET, Op.WORK) if step is Op.MEET else (step,))
    ]
    asked = np.stack([column[0] for column in columns], axis=1)
    kind = np.broadcast_to([int(column[1]) for column in columns], asked.shape)
    pair = np.stack([column[2] for column in columns], axis=1)
    row, _ = np.nonzero(asked)
    kinds = kind[asked].astype(np.int64)
    hop = np.where(kinds == Op.EXCHANGE, np.cumsum(kinds == Op.EXCHANGE) - 1, -1)
    return _Line(place[row], kinds, pair[asked], block[row], hop)
