"""How many processors there are for this process."""

from __future__ import annotations

import os

_GIVEN = "PYTHON_CPU_COUNT"
"""The variable with which Python 3.13 and later are told how many processors they have."""


def processors() -> int:
    """Return how many processes can work at a time here.

    These are as many as ``PYTHON_CPU_COUNT`` says, if it is a number from 1 on, with any version of
    Python: where several programs share a computer, it keeps each of them from taking all of it.
    """
    given = os.environ.get(_GIVEN, "")
    if given.isascii() and given.isdecimal() and int(given):
        return int(given)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
