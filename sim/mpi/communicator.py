"""A communicator: ranks that act together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sim.engine.types import Indices, Integers


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
    """

    owners: Integers
    node: Indices
    meeting: int

    @property
    def size(self) -> int:
        """How many ranks there are."""
        return len(self.owners)

    @cached_property
    def nodes(self) -> int:
        """How many nodes they are on."""
        return len(np.unique(self.node))
