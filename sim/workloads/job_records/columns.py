"""What the columns of job tables are called, there and here."""

from __future__ import annotations

import datetime
import re
from typing import NamedTuple

from sim.config.errors import InputError

ALIASES = {
    "name": ("job", "jobid", "job_id", "id", "job_name"),
    "nodes": ("nodesused", "num_nodes", "nnodes", "nodes_used", "allocated_nodes"),
    "ranks": ("nprocs", "processes", "ntasks", "procs"),
    "start": ("submit", "submitted", "submission_time", "submissiontime", "queued_timestamp"),
    "began": ("started", "start_time", "starttime", "start_timestamp"),
    "walltime": ("walltime_seconds", "walltimeseconds", "requested", "timelimit"),
    "runtime": ("runtime_seconds", "runtimeseconds", "elapsed", "run_time"),
    "read": ("bytes_read", "readbytes", "read_bytes", "total_posix_bytes_read"),
    "written": ("bytes_written", "writtenbytes", "written_bytes", "total_posix_bytes_written"),
    "call": ("call_size", "transfer"),
    "layout": (),
    "read_seconds": ("readtimeseconds", "read_time"),
    "write_seconds": ("writetimeseconds", "write_time"),
    "metadata_seconds": ("metatimeseconds", "meta_time"),
}
"""Other names of columns, without regard to capitals. ``call`` and ``layout`` stand for both ways;
``began`` is when a job began, where ``start`` is when it was submitted."""

BOTH_WAYS = {
    "call": ("read_call", "write_call"),
    "layout": ("read_layout", "write_layout"),
}

DATES = ("start", "began")
"""Columns that may hold a date."""

_LARGE = 1e8
"""Seconds: what is larger counts from 1970."""

_CLOCK = re.compile(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)")


def own_name(column: str) -> str:
    """Return this project's name of a column."""
    low = column.strip().lower()
    return next((name for name, others in ALIASES.items() if low in others), low)


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


def clock_time(value: object) -> object:
    """Return seconds for ``[D-]HH:MM:SS`` as batch systems print it; anything else as it is."""
    found = _CLOCK.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return value
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def whole(value: object, place: str) -> object:
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
    if not number.is_integer():
        raise InputError(f"{place} = {value}; right would be a whole number")
    return int(number)
