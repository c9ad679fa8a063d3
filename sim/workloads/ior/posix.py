"""IOR's POSIX backend: every rank, or each of its I/O threads, by itself."""

from __future__ import annotations

import numpy as np

from sim.engine.types import Floats, Integers
from sim.plane.batch import Batch
from sim.plane.operations import Op
from sim.workloads.ior.backend import Task, add_calls


class PosixBackend:
    """The calls of POSIX.

    Parameters
    ----------
    task
        What to do.
    """

    counted = True

    def __init__(self, task: Task) -> None:
        self._task = task
        self.pieces = 1

    def open(self, batch: Batch) -> None:
        """Let every rank open its file; whoever is first to open a new one creates it."""
        task = self._task
        creates = np.zeros(len(task.file), bool)
        if task.fresh:
            creates[np.unique(task.file, return_index=True)[1]] = True
        batch.add(np.where(creates, Op.CREATE, Op.OPEN), task.ranks.all, file=task.file)

    def transfer(
        self, batch: Batch, begin: Integers, end: Integers, *, limit: float | None = None
    ) -> None:
        """Let rank r make its calls ``begin[r]`` to ``end[r] - 1``, by itself or by its threads."""
        task = self._task
        ranks, threads = len(task.ranks), task.ranks.threads
        rank, turn, offset = task.calls(begin, end)
        workers = np.arange(ranks) if threads == 1 else np.arange(ranks, ranks * (1 + threads))
        worker = rank if threads == 1 else ranks + rank * threads + turn % threads
        if limit is not None:
            batch.add(Op.LIMIT, workers, seconds=limit)
        if threads > 1:
            batch.add(Op.FORK, task.ranks.all, count=threads)
        order = np.argsort(worker, kind="stable")
        add_calls(batch, task, worker[order], task.file[rank[order]], offset[order])
        if threads > 1:
            batch.add(Op.JOIN, task.ranks.all)

    def sync(self, batch: Batch) -> None:
        """Let every rank call fsync."""
        batch.add(Op.FSYNC, self._task.ranks.all, file=self._task.file)

    def close(self, batch: Batch) -> None:
        """Let every rank close its file."""
        batch.add(Op.CLOSE, self._task.ranks.all, file=self._task.file)

    def recount(self, calls: Integers) -> None:
        """Do nothing: nobody but the data plane counts the calls."""

    def record(self, timers: Floats) -> None:
        """Return nothing: MPI-IO takes no part."""
