"""The calendar of the simulation: dates for programs that print them."""

from __future__ import annotations

from datetime import datetime, timedelta

from sim.config.errors import InputError

EPOCH = datetime(2020, 1, 1)
"""When every run begins on the simulated calendar, so that the same run prints the same dates."""


def moment(seconds: float) -> datetime:
    """Return the date of a simulated time.

    Raises
    ------
    InputError
        If the calendar has no such year.
    """
    try:
        return EPOCH + timedelta(seconds=seconds)
    except OverflowError as error:
        raise InputError(
            f"the run takes {seconds:.3g} s, more years than dates have; right would be shorter "
            "delays, or faster parts of the machine"
        ) from error
