"""How long the I/O of a job took by its log."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xc40io.engine.types import Floats
from xc40io.workloads.darshan.log import DarshanLog
from xc40io.workloads.darshan.module_counters import SHARED, Counters


class IoTime(NamedTuple):
    """Seconds in calls that read, write, open, close and ask for files, by a log."""

    all_ranks: float  # of all ranks together
    slowest: float
    """Of the rank that spent most: with it the job waits for its I/O, as far as ranks meet.

    Darshan's own estimate (``agg_time_by_slowest``): of files of one rank its sum, of each file
    that all ranks share the seconds of its slowest rank. Never more than the job took.
    """


def io_time(log: DarshanLog) -> IoTime:
    """Return how long the I/O took: of each file in the layer that the program called."""
    inside = ~np.isin(log.posix.number, log.mpiio.number)
    layers = log.posix.take(inside), log.mpiio, log.stdio
    by_rank = np.zeros(log.ranks)
    together = shared = 0.0
    for records in layers:
        took = _seconds(records)
        together += float(took.sum())
        alone = records.rank != SHARED
        by_rank += np.bincount(records.rank[alone], took[alone], log.ranks)
        slowest = np.maximum(records["F_SLOWEST_RANK_TIME"], took / log.ranks)
        shared += float(slowest[~alone].sum())
    ended = max(log.run_time, log.last_call)
    slowest_rank = float(by_rank.max()) + shared
    return IoTime(together, min(slowest_rank, ended) if ended > 0.0 else slowest_rank)


def _seconds(records: Counters) -> Floats:
    """Return the seconds of each record: float64 (records,)."""
    names = ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME")
    took: Floats = np.sum([np.maximum(records[name], 0.0) for name in names], axis=0)
    return took
