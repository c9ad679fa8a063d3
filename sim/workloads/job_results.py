"""What a job leaves, whatever its workload: rows of a table, waits of its ranks, troubles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from xc40io.config.kept import kept
from xc40io.engine.types import Floats
from xc40io.plane.causes import Cause, WaitSeconds

_RANKS_AT_ONCE = 4096


@kept
class Figure(NamedTuple):
    """One more number of a row, with its unit."""

    value: float
    unit: Literal["bytes", "seconds", "bytes/s", ""]


@kept
@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of a workload's table: one phase of one step."""

    step: str  # as the workload calls it: "3", "16 MiB"
    phase: str  # what was done: "open", "write"
    start: float  # of the first rank, in simulated seconds
    end: float  # of the last one
    longest: float  # seconds of the rank that took longest
    bytes: int = 0  # of all ranks; 0 where the phase moves no data of theirs
    figures: Mapping[str, Figure] = field(default_factory=dict)
    """What else the workload tells, by name; the same names in all rows of one phase."""
    part: int = 0  # of the workload, from 0: the test in an IOR command
    operations: float = 0.0  # calls/s, where the workload counts them

    @property
    def seconds(self) -> float:
        """From the first rank's begin to the last one's end."""
        return self.end - self.start

    @property
    def bandwidth(self) -> float | None:
        """Bytes/s over this time; None where there are no bytes."""
        return self.bytes / self.seconds if self.bytes and self.seconds > 0.0 else None


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class Stretch:
    """The period in which the ranks did one thing, and what they waited for in it.

    ``waits`` and ``last_waits`` each sum to ``end - start``: whoever has ended waits for the last,
    and so for what kept that one longer.
    """

    start: float  # of the first rank, in simulated seconds
    end: float  # of the last one
    doing: Floats  # (``COARSE``,): seconds that a rank waited on average, by what it was at
    waits: Floats  # (causes,): seconds by the cause behind them, on average
    last_waits: Floats  # the same of the rank that ended last


@kept
class Activity(NamedTuple):
    """All stretches of a run in which its ranks did the same thing."""

    part: int  # of the workload, from 0: the test in an IOR command
    name: str  # what they did: "write"
    stretches: tuple[Stretch, ...]  # in order


def phase_title(part: int, name: str, *, several: bool) -> str:
    """Return the title of a kind of phase, with its part where there are several."""
    return f"test {part}, {name}" if several else name


def stretch_of(start: float, ended: Floats, waited: WaitSeconds) -> Stretch:
    """Return a stretch that began at ``start``; each rank ended at ``ended``: float64 (ranks,)."""
    last = _last(ended, waited)
    end = float(ended.max())
    total = np.zeros(waited.causes.shape[1])
    for first in range(0, len(ended), _RANKS_AT_ONCE):  # some at a time: they are many
        some = waited.causes[first : first + _RANKS_AT_ONCE]
        total += _until(end - start, some, waited.causes[last]).sum(axis=0)
    return Stretch(
        start=start,
        end=end,
        doing=waited.doing.mean(axis=0),
        waits=total / len(ended),
        last_waits=_until(end - start, waited.causes[last][None], waited.causes[last])[0],
    )


def _last(ended: Floats, waited: WaitSeconds) -> int:
    """Return the rank that held up the others.

    Of those that ended last it is the one that waited least for others to come.
    """
    last = np.flatnonzero(ended == ended.max())
    return int(last[waited.doing[last, Cause.MEETING].argmin()])


def _until(seconds: float, causes: Floats, last: Floats) -> Floats:
    """Return what ranks waited for until the last of them had ended: float64 (ranks, causes).

    A rank that has ended waits for what kept the last one longer, by each cause; what that does not
    explain comes from the start, as ranks come out of a barrier one after the other.
    """
    missing = np.maximum(seconds - causes.sum(axis=1), 0.0)
    longer = np.maximum(last - causes, 0.0)
    more = longer.sum(axis=1)
    share = np.minimum(np.divide(missing, more, out=np.zeros_like(more), where=more > 0.0), 1.0)
    until: Floats = causes + share[:, None] * longer
    until[:, Cause.START] += missing - share * more
    return until


@kept
class Trouble(NamedTuple):
    """One thing that went wrong with the bytes of a job.

    ``ENOSPC``: writes that found no room; ``EIO``: reads and writes of a lost device, or of an
    evicted client; ``LOST``: files that were on the device, or dirty data; ``UNSAFE``: files that
    were not yet on Lustre when the job ended.
    """

    name: str
    bytes: int
    ranks: int  # that met it; 0 where it happened to nodes or to the whole job
    text: str  # a sentence for a person
