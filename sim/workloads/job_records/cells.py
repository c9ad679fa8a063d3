"""Cells of tables of jobs: dates, times and numbers as batch systems print them."""

from __future__ import annotations

import datetime
import math
import re
from pathlib import PurePosixPath
from typing import NamedTuple

from xc40io.config.reading import Cursor

_LARGE = 1e8
"""Seconds: what is larger counts from 1970."""

_CLOCK = re.compile(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)")

_NOTHING = ("", "nan", "na", "n/a", "unknown", "none", "unlimited", "partition_limit", "invalid")
"""What says that nothing is known or set; the last five are Slurm's words for it."""


def is_empty(value: object) -> bool:
    """Tell whether a cell says nothing."""
    if isinstance(value, float) and math.isnan(value):
        return True
    return value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING)


class Date(NamedTuple):
    """A point in time: seconds, and whether they count from 1970 or from any other time."""

    seconds: float
    of_1970: bool


def date_of(value: object) -> Date | None:
    """Return what a date or a number means; None if it is neither: a time with its unit."""
    if isinstance(value, datetime.datetime):
        return Date(_since_1970(value), of_1970=True)
    text = str(value).strip()
    try:
        return Date(float(text), of_1970=float(text) > _LARGE)
    except ValueError:
        pass
    try:
        return Date(_since_1970(datetime.datetime.fromisoformat(text)), of_1970=True)
    except ValueError:
        return None


def _since_1970(date: datetime.datetime) -> float:
    if date.tzinfo is None:
        date = date.replace(tzinfo=datetime.UTC)
    return date.timestamp()


def clock_time(value: object, field: str, at: Cursor) -> object:
    """Return seconds for ``[D-]HH:MM:SS`` as batch systems print it; anything else as it is."""
    found = _CLOCK.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return value
    days, hours, minutes, seconds = (at.count(field, part or "0") for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def whole(value: object, field: str, at: Cursor) -> object:
    """Return a whole number for a text or a float that is one; anything else as it is.

    Raises
    ------
    InputError
        If it is a number, and no whole one.
    """
    if isinstance(value, bool) or not isinstance(value, str | float):
        return value
    try:
        number = float(str(value).replace(",", ""))
    except ValueError:
        return value
    return at.count(field, number)


def program_of(line: str) -> str:
    """Return what a job is called, or of a path with words behind it the program's own name."""
    first = line.split()[0] if line.split() else ""
    return PurePosixPath(first).name if "/" in first else line.strip()
