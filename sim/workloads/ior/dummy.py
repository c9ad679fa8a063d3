"""IOR's DUMMY backend: no file, no I/O; each call sleeps as long as it is told (aiori-DUMMY.c)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim.engine.types import Floats, Integers
from sim.plane.batch import Batch
from sim.plane.operations import Op, mix_operations
from sim.workloads.ior.backend import Task
from sim.workloads.job import LAST_MARK


class DummyBackend:
    """The calls of DUMMY.

    Parameters
    ----------
    task
        What to do.
    """

    counted = True
    pieces = 1

    def __init__(self, task: Task) -> None:
        self._task = task

    def open(self, batch: Batch) -> None:
        """Sleep if the file would be created; every rank does that before it writes."""
        if self._task.writes:
            self._sleep(batch, self._task.test.dummy_create)

    def transfer(
        self, batch: Batch, begin: Integers, end: Integers, *, limit: float | None = None
    ) -> None:
        """Let rank r sleep through its calls ``begin[r]`` to ``end[r] - 1``."""
        task, test = self._task, self._task.test
        rank, turn, _ = task.calls(begin, end)
        syncs = test.dummy_sync if test.fsync_per_write and task.writes else 0.0
        seconds = self._delays(test.dummy_transfer + syncs) + test.call_delay
        calls = np.maximum(end - begin, 0)
        left = 2 * (calls[rank] - turn) - 1  # operations of the rank behind the one that counts
        kind = np.tile(np.array([Op.ITEM, Op.THINK], np.int64), len(rank))
        columns: dict[Op, dict[str, npt.ArrayLike]] = {
            Op.ITEM: {
                "mark": LAST_MARK,
                "seconds": np.inf if limit is None else limit,
                "count": np.repeat(left, 2),
            },
            Op.THINK: {"seconds": np.repeat(seconds[rank], 2)},
        }
        batch.add(Op.MARK, task.ranks.all, mark=LAST_MARK)
        batch.add_operations(mix_operations(kind, columns), np.repeat(rank, 2))

    def sync(self, batch: Batch) -> None:
        """Sleep as for an fsync."""
        self._sleep(batch, self._task.test.dummy_sync)

    def close(self, batch: Batch) -> None:
        """Sleep as for a close."""
        self._sleep(batch, self._task.test.dummy_close)

    def recount(self, calls: Integers) -> None:
        """Do nothing: nobody but the data plane counts the calls."""

    def record(self, timers: Floats) -> None:
        """Return nothing: MPI-IO takes no part."""

    def _sleep(self, batch: Batch, seconds: float) -> None:
        batch.add(Op.THINK, self._task.ranks.all, seconds=self._delays(seconds))

    def _delays(self, seconds: float) -> Floats:
        """Return how long each rank sleeps: float64 (ranks,)."""
        ranks = self._task.ranks.all
        if self._task.test.dummy_first_only:
            return np.where(ranks == 0, seconds, 0.0)
        return np.full(len(ranks), seconds)
