"""The MPI-IO module: what the ranks asked MPI-IO for, file by file and rank by rank."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

import numpy as np

from sim.plane.library_calls import LibraryOp
from sim.results.darshan_log.groups import Groups
from sim.results.darshan_log.layers import Calls
from sim.results.darshan_log.modules import WAYS, common_counters, frequent_sizes, records_of
from sim.results.darshan_log.records import Records, Values


def mpiio_records(calls: Calls, ranks: int, hinted: Collection[int]) -> Records:
    """Return the records of the MPI-IO module.

    ``calls``: ``LAYER_CALL`` records of MPI-IO. ``ranks``: of the job. ``hinted``: the numbers of
    files that the program opens with hints of its own.
    """
    return records_of(calls, ranks, partial(_count, hinted=hinted), frequent_sizes)


def _count(groups: Groups, hinted: Collection[int]) -> dict[str, Values]:
    """Return all counters but the most frequent sizes.

    A file view is counted where a rank must have set one: if it asked for several pieces at once.
    """
    calls = groups.calls
    op, together = calls["op"], calls["collective"] > 0
    opens = op == LibraryOp.OPEN
    counters = common_counters(groups, "SIZE_{}_AGG_")
    counters["COLL_OPENS"] = groups.number(opens & together)
    counters["INDEP_OPENS"] = groups.number(opens & ~together)
    for what, _, kind in WAYS:
        counters[f"COLL_{what}S"] = groups.number((op == kind) & together)
        counters[f"INDEP_{what}S"] = groups.number((op == kind) & ~together)
    counters["MODE"] = np.zeros(groups.count, np.int64)
    counters["MODE"][groups.of[opens]] = calls["mode"][opens]  # of several, that of the last open
    counters["SYNCS"] = groups.number(op == LibraryOp.SYNC)
    counters["HINTS"] = groups.number(opens & np.isin(calls["file"], list(hinted)))
    counters["VIEWS"] = (groups.number(calls["pieces"] > 1) > 0).astype(np.int64)
    return counters
