"""What MPI-IO prints in the course of a job, as its environment asks for it; and as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from enum import Enum
from typing import Any

import numpy as np

from xc40io.mpi.communicator import host_name
from xc40io.mpi.known_hints import read_displays
from xc40io.mpi.stats import DirectionCounts, MpiRecord, Timer
from xc40io.results.mpiio.mpiio_hints import format_aggregators, format_hints, format_settings
from xc40io.results.mpiio.mpiio_stats import Direction, stats_text, timers_text


def mpiio_blocks(records: Iterable[MpiRecord], environment: Mapping[str, str]) -> list[str]:
    """Return the output of MPI-IO, in blocks that end with a newline.

    When the first file is opened its settings; whenever one is opened the hints in force and where
    the aggregators are; whenever one is closed the access counts and the times. Where each rank had
    a file of its own, the first rank's stands for all.

    ``records``: of the files, in the order in which they were opened. ``environment``: environment
    variables of the job, which say what is printed (:class:`~xc40io.mpi.known_hints.Displays`).
    """
    displays = read_displays(environment)
    blocks = []
    for number, record in enumerate(records):
        if displays.hints and number == 0:
            blocks.append(format_settings(environment))
        if displays.hints:
            blocks.append(format_hints(record.file_name, record.in_force))
        if displays.placement:
            blocks.append(_aggregators(record))
        closing = list(_closing(record, stats=displays.stats, timers=displays.timers))
        blocks += [f"{text}\n" for text in closing if text]
        if record.files > 1 and (displays.hints or displays.placement or closing):
            blocks.append(f"# The same for {record.files - 1:,} more files like this one\n")
    return blocks


def _aggregators(record: MpiRecord) -> str:
    """List where the aggregators of a file are."""
    stride = record.in_force.hints.aggregator_placement_stride
    host = record.communicator.host
    return format_aggregators(record.file_name, record.aggregators, host, stride)


def _closing(record: MpiRecord, *, stats: bool, timers: bool) -> Iterator[str]:
    """Yield the access counts and the times of a file."""
    if stats:
        yield stats_text(record.file_name, record.counts)
    if timers:
        direction: Direction = "write" if record.writing else "read"
        yield timers_text(record.file_name, direction, record.counts, record.timers)


def mpiio_data(record: MpiRecord) -> dict[str, Any]:
    """Arrange what MPI-IO has to tell of a file, all of it, as JSON can hold it.

    Returns
    -------
    dict
        ``file``, ``files`` (so many of which the same could be told), ``access``, ``hints`` (for
        each its value and its origin), ``ignored`` (what was given in vain), ``aggregators`` (rank
        and node of each), ``writes`` and ``reads`` (the access counts), ``timers`` (for each part
        of the I/O the least, the mean and the most seconds of a rank).
    """
    hints = record.in_force.hints
    return {
        "file": record.file_name,
        "files": record.files,
        "access": "write" if record.writing else "read",
        "hints": {
            field.name: {
                "value": _plain(getattr(hints, field.name)),
                "origin": record.in_force.origin[field.name],
            }
            for field in fields(hints)
        },
        "ignored": list(record.in_force.ignored),
        "aggregators": [
            {"rank": rank, "node": host_name(host)}
            for rank, host in zip(
                record.aggregators.tolist(),
                record.communicator.host[record.aggregators].tolist(),
                strict=True,
            )
        ],
        "writes": _counts(record.counts.writes),
        "reads": _counts(record.counts.reads),
        "timers": _timers(record),
    }


def _plain(value: object) -> object:
    """Return a value as JSON can hold it."""
    return value.value if isinstance(value, Enum) else value


def _counts(counts: DirectionCounts) -> dict[str, Any]:
    """Return access counts; of the ranks that made independent calls only how many there are."""
    found = asdict(counts)
    return found | {"ranks": len(counts.ranks), "active": counts.active.tolist()}


def _timers(record: MpiRecord) -> dict[str, dict[str, float]]:
    """Return the least, the mean and the most seconds of each timer that ran."""
    return {
        timer.name.lower(): {
            "min": float(seconds.min()),
            "mean": float(seconds.mean()),
            "max": float(seconds.max()),
        }
        for timer in Timer
        if timer is not Timer.NONE and np.any(seconds := record.timers[:, timer])
    }
