"""The calendar of the simulation: dates for programs that print them."""

from __future__ import annotations

from datetime import datetime, timedelta

EPOCH = datetime(2020, 1, 1)
"""When every run begins on the simulated calendar, so that the same run prints the same dates."""


def moment(seconds: float) -> datetime:
    """Return the date of a simulated time."""
    return EPOCH + timedelta(seconds=seconds)
