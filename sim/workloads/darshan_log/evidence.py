"""Which MPI-IO hints a job must have had, from what POSIX saw below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from sim.workloads.darshan_log.counters import SHARED, Counters
from sim.workloads.darshan_log.log import DarshanLog
from sim.workloads.darshan_log.mpiio import mpi_counted

_SPECIAL = str.maketrans(dict.fromkeys("*?[]:,=#", "?"))


class Evidence(NamedTuple):
    """Hints of a file, and what speaks for them: a sentence."""

    name: str
    hints: Mapping[str, str]
    why: str


def hints_shown(log: DarshanLog) -> list[Evidence]:
    """Return the hints that a log shows, file by file; those that are defaults are not told apart.

    * Fewer opens below than ranks that opened the file together: only aggregators opened it
      (deferred open), which is ``romio_no_indep_rw``.
    * The ranks that wrote below were so many: ``cb_nodes``, if that is not the stripe count, which
      is the default of Cray's MPI-IO. Only where the log has a record of each of them.
    """
    found = []
    for number in np.unique(log.mpiio.number):
        mpiio = log.mpiio.take(log.mpiio.number == number)
        below = log.posix.take(log.posix.number == number)
        opens = mpiio.total("COLL_OPENS")
        if not len(below) or not opens:
            continue
        hints: dict[str, str] = {}
        why = []
        if 2 * below.total("OPENS") <= opens:
            hints["romio_no_indep_rw"] = "true"
            why.append(f"{below.total('OPENS'):,} opens below for {opens:,} of MPI-IO")
        writers = _writers(mpiio, below)
        stripes = log.layout_of.get(int(number))
        if writers and stripes is not None and writers != int(log.layouts.stripes[stripes]):
            hints["cb_nodes"] = str(writers)
            why.append(f"{writers:,} ranks wrote below")
        if hints:
            found.append(Evidence(log.name_of(int(number)), hints, "; ".join(why)))
    return found


def _writers(mpiio: Counters, below: Counters) -> int:
    """Return how many ranks wrote for all others; 0 if the log does not tell."""
    known = mpi_counted(mpiio, "WRITE")
    if not known.collective or known.independent > known.collective or (below.rank == SHARED).any():
        return 0
    writers = len(np.unique(below.rank[below["BYTES_WRITTEN"] > 0]))
    return writers if writers < known.collective else 0


def as_hints(found: list[Evidence]) -> str:
    """Return hints as ``MPICH_MPIIO_HINTS`` has them."""
    return ",".join(
        ":".join(
            [
                evidence.name.translate(_SPECIAL),
                *(f"{name}={value}" for name, value in evidence.hints.items()),
            ]
        )
        for evidence in found
    )
