"""Where a job writes: Lustre, the SSDs of its nodes, a burst buffer, or the home directories."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from xc40io.config.errors import InputError
from xc40io.engine.types import Indices
from xc40io.storage.service_nodes import dealt

Kind = Literal["lustre", "ssd", "bb", "home"]

LOCAL_STRIPE = 16 << 20
"""What MPI-IO takes for the stripe of a local file: its collective buffer (ROMIO, 16 MiB)."""


class Storage(NamedTuple):
    """A place for files."""

    kind: Kind = "lustre"  # which
    # int32 (n,): the service nodes of the allocation; none for Lustre and SSDs
    servers: Indices = np.zeros(0, np.int32)
    volume: int = -1  # number of the allocation behind them; -1 where there is none
    stripe_size: int = 0  # bytes that go to one service node before the next one's turn
    width: int = 1  # service nodes of a file
    # whether each compute node has files of its own there, on one service node, which no other
    # compute node sees
    private: bool = False

    @property
    def of_one_node(self) -> bool:
        """Whether a file can be reached from one compute node alone."""
        return self.kind == "ssd" or self.private

    def deal(self, files: int, first: int) -> Indices:
        """Return the service nodes of new files; ``first`` is how many files there were before."""
        return dealt(files, self.width, self.servers, first)


LUSTRE = Storage()


def out_of_reach(kind: str, home: int, node: int) -> InputError:
    """Return the error of a file that is used on a node that cannot reach it."""
    where = "the SSD of a node" if kind == "ssd" else "a private burst buffer"
    return InputError(
        f"target {kind}: a file that nodes {home} and {node} of the job share cannot be on "
        f"{where}, which only the node itself reaches; right would be a file per process that is "
        "read where it was written (IOR: -F without -C and -Z), or another target"
    )
