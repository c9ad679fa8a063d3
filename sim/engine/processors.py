"""How many processors there are for this process."""

from __future__ import annotations

import os


def processors() -> int:
    """Return how many processes can work at a time here."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
