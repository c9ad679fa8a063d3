"""The ranks of a job, and the programs that stand for them in the data plane."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sim.engine.types import Integers
from sim.machine.plane import Plane
from sim.plane.batch import Batch
from sim.plane.causes import Cause
from sim.plane.operations import Op
from sim.plane.waited import Waited


@dataclass(frozen=True)
class Ranks:
    """The ranks of a job.

    Attributes
    ----------
    programs
        int64 (ranks,): the program of each.
    per_node
        Ranks on a node; neighbours share a node.
    threads
        I/O threads of a rank. One is the rank itself; several are the programs that follow its
        own, and its calls are dealt to them in turn.
    """

    programs: Integers
    per_node: int
    threads: int = 1

    def __len__(self) -> int:
        return len(self.programs)

    def first(self, count: int) -> Ranks:
        """Return the first so many of the ranks."""
        return replace(self, programs=self.programs[:count])

    @property
    def all(self) -> Integers:
        """Every rank: int64 (ranks,), which is also its position in a batch of them all."""
        return np.arange(len(self.programs))

    @property
    def followers(self) -> Integers:
        """The programs of the threads where a rank has several: int64 (ranks, threads)."""
        return self.programs[:, None] + 1 + np.arange(self.threads)

    def batch(self, *, threads: bool = True) -> Batch:
        """Return an empty batch of all ranks, their threads resting unless it has none."""
        if self.threads == 1 or not threads:
            return Batch(self.programs)
        batch = Batch(np.concatenate([self.programs, self.followers.ravel()]))
        batch.add(Op.PARK, np.arange(len(self.programs), len(batch.programs)))
        return batch

    def waited(self, plane: Plane) -> Waited:
        """Return what each rank has waited for so far.

        What its threads waited for, on average, stands in place of the rank's wait for them.
        """
        own = plane.waited(self.programs)
        if self.threads > 1:
            followers = plane.waited(self.followers.ravel())
            for waits, of_threads in zip(own, followers, strict=True):
                mean = of_threads.reshape(len(waits), self.threads, -1).mean(axis=1)
                waits += mean
                waits[:, Cause.THREADS] -= mean.sum(axis=1)
        return own
