"""How the files of a log lay on Lustre: known, or shown by what was done below MPI-IO."""

from __future__ import annotations

from typing import NamedTuple

from sim.config.striping import STRIPE_SIZE_LIMIT, STRIPE_SIZE_UNIT, StripeRequest
from sim.workloads.darshan_log.aggregators import striping_shown
from sim.workloads.darshan_log.counters import Counters
from sim.workloads.darshan_log.log import DarshanLog
from sim.workloads.darshan_log.mounts import LUSTRE, mount_of
from topology.text import format_count

DEFAULT_STRIPE = 2**20
"""Bytes of a stripe where the log does not say: what most file systems have."""


class Lay(NamedTuple):
    """How a file was striped, and how that is known: a sentence."""

    striping: StripeRequest
    why: str


def lay_of(
    log: DarshanLog,
    number: int,
    mpiio: Counters,
    below: Counters,
    told: StripeRequest | None = None,
) -> Lay:
    """Return the striping of a file: as told, by its LUSTRE record, or by its aggregators' calls.

    Parameters
    ----------
    log, number
        As read; which file.
    mpiio, below
        Its records of MPI-IO and of POSIX.
    told
        What is known besides, of all files.
    """
    lay = _lay_by_log(log, number, mpiio, below)
    if told is None or (told.count, told.size, told.offset) == (None, None, -1):
        return lay
    striping = StripeRequest(
        count=lay.striping.count if told.count is None else told.count,
        size=told.size or lay.striping.size,
        offset=told.offset if told.count or told.offset >= 0 else lay.striping.offset,
    )
    return Lay(striping, f"{_in_words(striping)}, as told (--recorded). By the log: {lay.why}")


def _lay_by_log(log: DarshanLog, number: int, mpiio: Counters, below: Counters) -> Lay:
    """Return the striping of a file: by its LUSTRE record, or by what its aggregators did."""
    recorded = recorded_striping(log, number)
    if recorded.count is not None:
        return Lay(recorded, f"{_in_words(recorded)}, by its LUSTRE record.")
    _, kind = mount_of(log, number)
    if kind not in ("", LUSTRE):
        return Lay(recorded, f"It lay on {kind}; striped by default, it is replayed on Lustre.")
    shown = striping_shown(mpiio, below, log.ranks)
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


def recorded_striping(log: DarshanLog, number: int) -> StripeRequest:
    """Return the striping of a file; nothing where the log has no LUSTRE record of it."""
    row = log.layout_of.get(number)
    if row is None:
        return StripeRequest()
    layouts, osts = log.layouts, log.layouts.osts[row]
    size = int(layouts.size[row])
    if size <= 0 or size % STRIPE_SIZE_UNIT or size >= STRIPE_SIZE_LIMIT:
        return StripeRequest()
    first = int(osts[0]) if len(osts) and osts[0] >= 0 else -1
    return StripeRequest(count=int(layouts.stripes[row]), size=size, offset=first)
