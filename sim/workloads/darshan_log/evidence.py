"""Which MPI-IO hints a job must have had, from what POSIX saw below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from sim.workloads.darshan_log.aggregators import DIRECTIONS, Below, below_collective
from sim.workloads.darshan_log.counters import Counters
from sim.workloads.darshan_log.layout import lay_of
from sim.workloads.darshan_log.log import DarshanLog

_ROUGH = 0.15
"""How far the number of aggregators may be off where it follows from a variance."""

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
    * As many calls below as above, by all ranks: collective buffering was off, which is
      ``romio_cb_write`` or ``romio_cb_read``.
    * The ranks that wrote below, or if none did, read, were so many: ``cb_nodes``, if that is not
      the stripe count, which is the default of Cray's MPI-IO.
    """
    found = []
    for number in np.unique(log.mpiio.number):
        mpiio = log.mpiio.take(log.mpiio.number == number)
        below = log.posix.take(log.posix.number == number)
        stripes = lay_of(log, int(number), mpiio, below).striping.count
        shown = hints_of_file(log.name_of(int(number)), mpiio, below, log.ranks, stripes)
        found += [] if shown is None else [shown]
    return found


def hints_of_file(
    name: str, mpiio: Counters, below: Counters, ranks: int, stripes: int | None
) -> Evidence | None:
    """Return the hints of one file; None if it shows none.

    Parameters
    ----------
    name
        Of the file.
    mpiio, below
        Its records of MPI-IO and of POSIX.
    ranks
        Of the job.
    stripes
        Of the file; None if unknown.
    """
    if not len(below) or not mpiio.total("COLL_OPENS"):
        return None
    said = _deferred_open(mpiio, below) + _buffering(mpiio, below, ranks, stripes)
    if not said:
        return None
    why = "; ".join(why for *_, why in said)
    return Evidence(name, {hint: value for hint, value, _ in said}, why)


_Said = list[tuple[str, str, str]]  # hint, value, why


def _deferred_open(mpiio: Counters, below: Counters) -> _Said:
    """Say whether only aggregators opened a file."""
    opens, above = below.total("OPENS"), mpiio.total("COLL_OPENS")
    if 2 * opens > above:
        return []
    return [("romio_no_indep_rw", "true", f"{opens:,} opens below for {above:,} of MPI-IO")]


def _buffering(mpiio: Counters, below: Counters, ranks: int, stripes: int | None) -> _Said:
    """Say where collective buffering was off, or how many aggregators there were."""
    said: _Said = []
    for direction in DIRECTIONS:
        found = below_collective(mpiio, below, direction, ranks)
        if found is None:
            continue
        kind = f"{direction.lower()}s"
        if found.without_buffering:
            why = (
                f"{found.calls:,} {kind} below for {found.asked:,} collective ones, by {found.why}"
            )
            said.append((f"romio_cb_{direction.lower()}", "disable", why))
        elif not any(name == "cb_nodes" for name, *_ in said) and _other(found, stripes):
            verb = "wrote" if direction == "WRITE" else "read"
            said.append(("cb_nodes", str(found.workers), f"{found.why} {verb} below"))
    return said


def _other(found: Below, stripes: int | None) -> bool:
    """Tell whether there were other than one aggregator a stripe."""
    if stripes is None or found.workers == stripes:
        return False
    return found.counted or abs(found.workers - stripes) > _ROUGH * stripes


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
