"""What calls of POSIX below MPI-IO show: aggregators, the striping of files, hints.

With collective buffering a few ranks, the aggregators, read and write for all: as many as the file
has stripes on a Cray unless hints say otherwise, each a stripe at a time, and each its own stripes.
Without it every rank does what it was asked for itself, in one call of POSIX for each of MPI-IO.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from xc40io.config.setstripe import STRIPE_SIZE_LIMIT, STRIPE_SIZE_UNIT
from xc40io.config.striping import StripeRequest
from xc40io.config.units import format_bytes
from xc40io.topology.text import format_count
from xc40io.workloads.darshan.log import DarshanLog, Layout
from xc40io.workloads.darshan.module_counters import (
    SHARED,
    Counters,
    Direction,
    active_ranks,
    counted,
    mpi_counted,
)
from xc40io.workloads.darshan.place import LUSTRE, mount_of

_WAYS: Sequence[Direction] = ("WRITE", "READ")
_WORKING = 0.01  # of the bytes of the busiest: a rank with fewer did not work for others
_WITHOUT = 0.02  # by which calls above and below may differ without collective buffering
_EVERYBODY = 0.9  # of the ranks
_COMMON = 0.1  # of the calls below: a size that so many have is that of a stripe


class Below(NamedTuple):
    """What was done below the collective reads or writes of a file."""

    asked: int  # collective calls, that of each rank counted
    calls: int  # of POSIX for them
    members: int  # ranks that took part
    workers: int  # ranks that read or wrote below
    # Whether each of these has a record of its own; else their number follows from the variance of
    # the ranks' bytes.
    counted: bool

    @property
    def without_buffering(self) -> bool:
        """Whether every rank did for itself what it was asked for."""
        alike = abs(self.calls - self.asked) <= _WITHOUT * self.asked
        return alike and self.members > 1 and self.workers >= _EVERYBODY * self.members

    @property
    def why(self) -> str:
        """What the log has to tell, in a few words."""
        how = "" if self.counted else " (by the variance of their bytes)"
        return f"{self.workers:,} of {self.members:,} ranks{how}"


def below_collective(
    mpiio: Counters, below: Counters, direction: Direction, ranks: int
) -> Below | None:
    """Return what was done below collective calls; None if there are none, or records are missing.

    ``mpiio`` and ``below`` are the records of a file, of MPI-IO and POSIX; the job has ``ranks``.
    """
    known, found = mpi_counted(mpiio, direction), counted(below, direction)
    if not known.collective or known.independent > known.collective or not found.bytes:
        return None
    if direction == "WRITE" and found.bytes < 0.99 * known.bytes:
        return None  # what is written above is written below: the log has lost records
    shared = bool((below.rank == SHARED).any())
    if shared:
        workers = len(active_ranks(below.take(below.rank == SHARED), ranks))
    else:
        moved = below["BYTES_READ" if direction == "READ" else "BYTES_WRITTEN"]
        workers = len(np.unique(below.rank[moved > _WORKING * moved.max()]))
    members = len(mpiio.members(ranks))
    return Below(known.collective, found.calls - known.independent, members, workers, not shared)


def unbuffered_directions(mpiio: Counters, below: Counters, ranks: int) -> frozenset[Direction]:
    """Return the directions in which collective buffering was off."""
    found: dict[Direction, Below | None]
    found = {way: below_collective(mpiio, below, way, ranks) for way in _WAYS}
    return frozenset(way for way, of in found.items() if of is not None and of.without_buffering)


def striping_shown(
    mpiio: Counters, below: Counters, ranks: int
) -> tuple[StripeRequest, str] | None:
    """Return the striping that the aggregators of a file had, and what shows it; None if nothing.

    A stripe is the largest frequent size of their calls; from one stripe of an aggregator to its
    next there are as many as the file has, if it has as many aggregators.
    """
    for direction in _WAYS:
        found = below_collective(mpiio, below, direction, ranks)
        if found is None or found.without_buffering or found.workers == found.members:
            continue
        size = _stripe_size(below, found.calls)
        stripes = _by_strides(below, size, found.workers) if size else 0
        said = f"{found.why} {'wrote' if direction == 'WRITE' else 'read'} for all"
        said += f" in calls of {format_bytes(size)}" if size else ""
        if stripes:
            said += f", each {format_bytes((stripes - 1) * size)} after the end of the last"
        return StripeRequest(count=stripes or found.workers, size=size or None), said
    return None


def _stripe_size(below: Counters, calls: int) -> int:
    """Return the largest size that many calls have and a stripe can have; 0 if there is none."""
    can_be = (
        (size, count)
        for size, count in below.common("ACCESS").items()
        if 0 < size < STRIPE_SIZE_LIMIT and size % STRIPE_SIZE_UNIT == 0
    )
    return max((size for size, count in can_be if count >= _COMMON * calls), default=0)


def _by_strides(below: Counters, size: int, workers: int) -> int:
    """Return how many stripes apart the calls of an aggregator are: 0 if strides do not tell.

    Darshan counts the bytes between the end of a call and the begin of the next. Where several
    distances are frequent, that is taken which is the number of aggregators.
    """
    votes: dict[int, int] = {}
    for gap, count in below.common("STRIDE").items():
        if gap and gap % size == 0:
            stripes = gap // size + 1
            votes[stripes] = votes.get(stripes, 0) + count
    if workers in votes:
        return workers
    return max(votes, key=lambda stripes: votes[stripes], default=0)


DEFAULT_STRIPE = 2**20
"""Bytes of a stripe where the log does not say: what most file systems have."""


class Lay(NamedTuple):
    """How a file was striped, and how that is known: a sentence."""

    striping: StripeRequest
    why: str


def lay_of(log: DarshanLog, number: int, told: StripeRequest | None = None) -> Lay:
    """Return the striping of a file: as ``told`` of all files, or as the log has or shows it."""
    lay = _lay_by_log(log, number)
    if told is None or (told.count, told.size, told.offset) == (None, None, -1):
        return lay
    striping = StripeRequest(
        count=lay.striping.count if told.count is None else told.count,
        size=told.size or lay.striping.size,
        offset=told.offset if told.count or told.offset >= 0 else lay.striping.offset,
    )
    return Lay(striping, f"{_in_words(striping)}, as told (--recorded). By the log: {lay.why}")


def _lay_by_log(log: DarshanLog, number: int) -> Lay:
    """Return the striping of a file: by its LUSTRE record, or by what its aggregators did."""
    recorded = _recorded_striping(log.layouts.get(number))
    if recorded.count is not None:
        return Lay(recorded, f"{_in_words(recorded)}, by its LUSTRE record.")
    _, kind = mount_of(log, number)
    if kind not in ("", LUSTRE):
        return Lay(recorded, f"It lay on {kind}; striped by default, it is replayed on Lustre.")
    shown = striping_shown(log.mpiio.of_file(number), log.posix.of_file(number), log.ranks)
    if shown is None:
        return Lay(recorded, "No LUSTRE record, and nothing shows the striping: the default.")
    striping, why = shown
    return Lay(striping, f"No LUSTRE record. {_in_words(striping)}, since {why}.")


def _in_words(striping: StripeRequest) -> str:
    """Return the count and the size of stripes in words."""
    size = "" if striping.size is None else f", {striping.size:,} bytes a stripe"
    if striping.count in (None, 0):
        return f"Striped over OSTs by default{size}"
    osts = "all OSTs" if striping.count == -1 else format_count(striping.count or 0, "OST")
    return f"Striped over {osts}{size}"


def _recorded_striping(layout: Layout | None) -> StripeRequest:
    """Return the striping that a LUSTRE record says; nothing if it says what cannot be."""
    if layout is None:
        return StripeRequest()
    size, osts = layout
    if size <= 0 or size % STRIPE_SIZE_UNIT or size >= STRIPE_SIZE_LIMIT:
        return StripeRequest()
    first = int(osts[0]) if len(osts) and osts[0] >= 0 else -1
    return StripeRequest(count=len(osts), size=size, offset=first)


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
    shown = (
        hints_of_file(log, number, lay_of(log, number).striping.count)
        for number in log.mpiio.rows_of_file
    )
    return [evidence for evidence in shown if evidence is not None]


def hints_of_file(log: DarshanLog, number: int, stripes: int | None) -> Evidence | None:
    """Return the hints that a file of so many stripes, if that is known, shows; None if none."""
    mpiio, below = log.mpiio.of_file(number), log.posix.of_file(number)
    opens, above = below.total("OPENS"), mpiio.total("COLL_OPENS")
    if not len(below) or not above:
        return None
    said: list[tuple[str, str, str]] = []  # hint, value, why
    if 2 * opens <= above:
        why = f"{opens:,} opens below for {above:,} of MPI-IO"
        said.append(("romio_no_indep_rw", "true", why))
    for direction in _WAYS:
        found = below_collective(mpiio, below, direction, log.ranks)
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
    if not said:
        return None
    why = "; ".join(why for *_, why in said)
    return Evidence(log.name_of(number), {hint: value for hint, value, _ in said}, why)


def _other(found: Below, stripes: int | None) -> bool:
    """Tell whether there were other than one aggregator a stripe."""
    if stripes is None or found.workers == stripes:
        return False
    return found.counted or abs(found.workers - stripes) > _ROUGH * stripes


def as_hints(found: list[Evidence]) -> str:
    """Return hints as ``MPICH_MPIIO_HINTS`` has them."""
    return ",".join(
        ":".join([one.name.translate(_SPECIAL), *(f"{key}={of}" for key, of in one.hints.items())])
        for one in found
    )
