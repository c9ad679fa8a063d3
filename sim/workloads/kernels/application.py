"""An application between its outputs: it computes in cycles, and its ranks exchange borders.

In a cycle each rank computes on its core. Then all meet, as where a time step is agreed on, and
each sends half of its bytes to the rank of its place on the next node, and half to that on the node
before: a domain cut along one axis. What else the cores, the network interfaces and the links have
to do meanwhile makes a cycle longer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from xc40io.plane.operations import Op

if TYPE_CHECKING:
    from xc40io.plane.batch import Batch
    from xc40io.workloads.job import Job, Waiting


class Application:
    """What ranks do between their outputs.

    Parameters
    ----------
    job
        Whose ranks.
    cycle
        Seconds that each computes until the next exchange; 0: there is one behind all computing.
    rate
        Bytes that each sends for a second of computing.
    """

    def __init__(self, job: Job, cycle: float, rate: float) -> None:
        self._job, self._cycle, self._rate = job, cycle, rate

    def compute(self, seconds: float) -> Waiting:
        """Compute for so many seconds of a core each, in cycles."""
        for each in self._cycles(seconds):
            yield from self.cycle(each)

    def cycle(self, seconds: float) -> Waiting:
        """Compute for so many seconds, and exchange what belongs to them."""
        batch = self._job.batch()
        batch.add(Op.COMPUTE, seconds=seconds)
        half = round(self._rate * seconds / 2)
        if half:
            self._job.barrier(batch)
            self._exchange(batch, half)
        yield self._job.filesystem.run(batch)

    def _cycles(self, seconds: float) -> Iterator[float]:
        """Yield the seconds of each cycle: they are as long, up to as long as was asked for."""
        count = math.ceil(seconds / self._cycle) if self._cycle else int(seconds > 0.0)
        for _ in range(count):
            yield seconds / count

    def _exchange(self, batch: Batch, size: int) -> None:
        """Let each rank receive so many bytes from the ranks of its place on two other nodes."""
        world = self._job.world
        rank, each = np.arange(world.size), world.size // world.nodes
        senders = np.stack([rank - each, rank + each], axis=-1).ravel() % world.size
        first = batch.add_transfers(world.node[senders], np.repeat(world.node, 2), size)
        batch.add(Op.EXCHANGE, transfer=first + 2 * rank, received=2)
