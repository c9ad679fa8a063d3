"""A job that writes again and again: what of its time that is, and what faster I/O would save."""

from __future__ import annotations

from typing import NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.units import format_seconds, parse_seconds
from xc40io.telling.units import figure

DAY, HOUR, MINUTE = 86400.0, 3600.0, 60.0
"""Seconds."""


def read_time(option: str, text: str | None) -> float | None:
    """Return the seconds that an option says, if it was typed: ``--every 20 min``.

    Raises
    ------
    InputError
        If it is no time, or none at all.
    """
    if text is None:
        return None
    try:
        period = parse_seconds(text)
    except InputError as error:
        raise InputError(f"{option} {text}: {error}") from error
    if period <= 0.0:
        raise InputError(f"{option} {text}: right would be more than 0 s, as in 20 min")
    return period


class OutputCost(NamedTuple):
    """What the I/O of a job costs that writes once in a period."""

    period: float  # seconds from the begin of one output to that of the next
    share: float  # of the job's time; more than 1: it does nothing else
    node_hours_a_day: float
    advised_share: float | None = None  # with what is advised, if anything is
    saved_a_day: float | None = None  # node-hours

    @property
    def words(self) -> str:
        """In a sentence or two."""
        every = f"Every {clock(self.period)}"
        if self.share > 1.0:
            return (
                f"{every} is too often: the I/O takes "
                f"{format_seconds(self.share * self.period, 3)}, and the job does nothing else."
            )
        told = (
            f"{every} the I/O is {_per_cent(self.share)} of the job's time, "
            f"{figure(self.node_hours_a_day, 2)} node-hours a day."
        )
        if self.advised_share is None or self.saved_a_day is None:
            return told
        return (
            f"{told} With what is advised it is {_per_cent(self.advised_share)}: "
            f"{figure(self.saved_a_day, 2)} node-hours a day saved."
        )


def output_cost(
    period: float, now: tuple[int, float], advised: tuple[int, float] | None = None
) -> OutputCost:
    """Return what I/O costs.

    Parameters
    ----------
    period
        Seconds from the begin of one output to that of the next.
    now, advised
        Nodes of the job, and seconds of its I/O: as it is, and with what is advised.
    """
    cost = _a_day(period, *now)
    if advised is None:
        return OutputCost(period, now[1] / period, cost)
    saved = cost - _a_day(period, *advised)
    return OutputCost(period, now[1] / period, cost, advised[1] / period, saved)


def _a_day(period: float, nodes: int, seconds: float) -> float:
    return nodes * (seconds / period) * DAY / HOUR


def clock(seconds: float) -> str:
    """Write a period as one says it: ``34 min``, ``2.5 h``."""
    if seconds >= 2 * HOUR:
        return f"{figure(seconds / HOUR, 3)} h"
    if seconds >= MINUTE:
        return f"{figure(seconds / MINUTE, 2 if seconds < 100 * MINUTE else 3)} min"
    return format_seconds(seconds, 2)


def _per_cent(share: float) -> str:
    return f"{figure(100.0 * share, 2)} %"
