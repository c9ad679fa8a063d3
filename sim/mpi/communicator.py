"""A communicator: ranks that act together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sim.config.kept import kept
from sim.engine.types import Indices, Integers


@kept
@dataclass(frozen=True, eq=False)
class Communicator:
    """Ranks that act together.

    Attributes
    ----------
    owners
        int64 (ranks,): the position of each rank's program in the batches of the job.
    node
        int32 (ranks,): the node of the job on which each runs.
    meeting
        The number of its meeting in the data plane, where ``MEET`` operations wait.
    placement
        int32 (nodes of the job,): which compute node of the machine each of them is; those with the
        same numbers unless given.
    """

    owners: Integers
    node: Indices
    meeting: int
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
    """Return what a compute node of the machine is called, in ``cb_config_list`` and in listings.

    Compute nodes are counted from 0, as in a list for ``--placement``; Cray's numbers (nid) count
    the service nodes as well.
    """
    return f"nid{node:05d}"
