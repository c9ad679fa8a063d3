"""What ranks waited for in a stretch, up to the end of the last of them."""

from __future__ import annotations

import numpy as np

from sim.engine.types import Floats
from sim.plane.causes import Cause
from sim.plane.waited import Waited
from sim.workloads.stretch import Stretch

_RANKS_AT_ONCE = 4096


def stretch_of(start: float, ended: Floats, waited: Waited) -> Stretch:
    """Return a stretch from what each of its ranks did.

    Parameters
    ----------
    start
        When the first rank began.
    ended
        float64 (ranks,): when each ended.
    waited
        What each waited for meanwhile.
    """
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


def _last(ended: Floats, waited: Waited) -> int:
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
