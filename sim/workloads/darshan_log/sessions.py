"""When a file was open: the opens and closes of a record as sessions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sim.engine.types import Floats
from sim.workloads.darshan_log.counters import Counters


class Sessions(NamedTuple):
    """Times at which each rank opened and closed a file: float64 (sessions,), in seconds.

    ``took`` is what an open, a close or a stat took on average; ``closes`` whether it was closed.
    """

    opened: Floats
    closed: Floats
    took: float
    closes: bool


def sessions_of(record: Counters, count: int, calls: int) -> Sessions:
    """Return the sessions of a record.

    Darshan keeps when the first open began and the last one ended, and the same of the closes: the
    others are spread evenly between them.

    Parameters
    ----------
    record
        The counters.
    count
        Opens of each rank; at least one session is returned.
    calls
        Operations that the recorded metadata time is for: of all ranks.
    """
    count = max(1, count)
    took = record.seconds("F_META_TIME") / max(1, calls)
    io = [window for what in ("READ", "WRITE") if (window := record.window(what))]
    begin = min((window[0] for window in io), default=0.0)
    end = max((window[1] for window in io), default=begin)
    first, last_open = record.window("OPEN") or (begin, begin)
    closing = record.window("CLOSE")
    opened = np.linspace(first, max(first, last_open - took if count > 1 else first), count)
    first_close, last_close = closing or (end, end)
    first_close = last_close if count == 1 else min(first_close, last_close - took)
    closed = np.linspace(first_close, max(first_close, last_close - took), count)
    closed[:-1] = np.minimum(closed[:-1], opened[1:])
    closed[-1] = max(closed[-1], end)
    return Sessions(opened, np.maximum(closed, opened), took, closing is not None)
